/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver and the library preloaded into the tested program (inject.c) share: a small file that both map. The
 * driver names it in the environment variable FAULTS_SHARED.
 */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H
#include <stdatomic.h>
#include <stdint.h>

/* A serving process (inject.c) reads requests from this descriptor. */
enum { FAULTS_CALLS = 96, FAULTS_WORDS = 8192, FAULTS_SERVER_FD = 900 };

typedef struct faults_shared {
    _Atomic uint64_t allocations; /* since main began, in all threads and processes */
    uint64_t fail_at;             /* number of the allocation that fails, from 1; 0: none */
    uint32_t fail_all_after;      /* all later ones fail, too */
    _Atomic uint32_t failed;      /* an allocation has failed */
    _Atomic uint32_t loading;     /* threads inside dlopen, whose allocations belong to the loaded library */
    uint32_t explain;             /* print the stack at the fault on standard error */
    uint32_t call_count;          /* system calls at which the program stops for its tracer; 0: no filter */
    uint32_t calls[FAULTS_CALLS]; /* their numbers */
    _Atomic int32_t starting;     /* a process between execve and main */
    char words[FAULTS_WORDS];     /* the command: standard output, standard error, arguments; "" ends them */
} faults_shared;
#endif
