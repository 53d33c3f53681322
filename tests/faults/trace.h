/* SPDX-License-Identifier: Apache-2.0
 * Runs a command with one fault, under ptrace and seccomp. */
#ifndef FAULTS_TRACE_H
#define FAULTS_TRACE_H
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"

/* A command that goes on after a failure is ended if its output is not there after GIVE_UP_SECONDS. */
enum { FAULT_SECONDS = 20, GIVE_UP_SECONDS = 4, TRACE_CALLS = 96 };

typedef struct run_request {
    char *const *argv;  /* ends with NULL; argv[0] is the program */
    const char *folder; /* the folder in which it runs */
    const char *out, *err;
    const char *library, *shared; /* inject.so, and the file that is shared with it */
    const char *decoder;          /* the program of the decoder that the command starts, or NULL */
    fault fault;
    unsigned peers;    /* this many more processes run the same command beside it, without faults */
    const char *until; /* a glob for paths below the folder: SIGTERM ends the command when one exists; or NULL */
    bool explain;
} run_request;

typedef struct run_result {
    int status;        /* as waitpid gives it */
    bool peers_failed; /* the exit code of a peer was not 0 */
    bool hung;         /* it, or a process that it started, was ended after FAULT_SECONDS */
    bool given_up;     /* no file matched `until`, so SIGTERM ended it */
    bool struck;       /* the fault has happened */
    uint64_t allocations;
    unsigned counts[TRACE_CALLS]; /* for each of fault_calls, if it was traced */
    char where[1024];             /* the path or descriptor of the call that failed */
} run_result;

/* If it was called for another command or environment before, call trace_end in between. */
run_result trace_run(const run_request *request);
/* Call this before the first run; it creates the file that is shared. */
void trace_prepare(const char *shared);
/* Ends the processes from which trace_run forks commands (inject.c). */
void trace_end(void);
#endif
