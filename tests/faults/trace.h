/* SPDX-License-Identifier: Apache-2.0
 * Runs a command and lets a fault strike it, under ptrace and seccomp. */
#ifndef FAULTS_TRACE_H
#define FAULTS_TRACE_H
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"

/* A command that goes on after a failure is ended when what it was to make is not there after GIVE_UP_SECONDS. */
enum { FAULT_SECONDS = 20, GIVE_UP_SECONDS = 4, TRACE_CALLS = 96 };

typedef struct run_request {
    char *const *argv;  /* ends with NULL; argv[0] is the program */
    const char *folder; /* where it runs */
    const char *out, *err;
    const char *library, *shared; /* inject.so, and the file that it shares with us */
    const char *decoder;          /* the program that decodes, where the command starts it; or NULL */
    fault fault;
    unsigned peers;    /* so many more processes run the same command beside it, and no fault strikes them */
    const char *until; /* a pattern of paths below the folder: when one is there, SIGTERM ends the command; or NULL */
    bool explain;
} run_request;

typedef struct run_result {
    int status;        /* as waitpid gives it */
    bool peers_failed; /* one of the peers did not end with 0 */
    bool hung;         /* it, or a process that it began, had to be ended after FAULT_SECONDS */
    bool given_up;     /* what `until` waits for did not come: SIGTERM ended it all the same */
    bool struck;       /* the fault did */
    uint64_t allocations;
    unsigned counts[TRACE_CALLS]; /* of each of fault_calls, where it was traced */
    char where[1024];             /* the path or descriptor of the call that was struck */
} run_result;

/* Where it was called for another command or environment before, trace_end has to come between. */
run_result trace_run(const run_request *request);
/* To be called before the first run; the file that is shared is made. */
void trace_prepare(const char *shared);
/* Ends the processes that trace_run keeps to fork commands from (inject.c). */
void trace_end(void);
#endif
