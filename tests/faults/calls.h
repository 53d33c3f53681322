/* SPDX-License-Identifier: Apache-2.0
 * The system calls that are made to fail, and how each can. */
#ifndef FAULTS_CALLS_H
#define FAULTS_CALLS_H
#include <stdbool.h>

typedef enum fault_kind {
    FAULT_NONE,
    FAULT_ERROR,      /* the call is not made and fails */
    FAULT_ERROR_ON,   /* so do all later calls of the same name: a disk that stays full */
    FAULT_ERROR_LATE, /* the call is made, and fails all the same: a reply that a server lost */
    FAULT_HALF,       /* it transfers half of what was asked for */
    FAULT_ONE,        /* one byte */
    FAULT_ZERO,       /* nothing: the file ends here */
    FAULT_KILL,       /* SIGKILL in place of the call */
    FAULT_TERM,       /* SIGTERM comes at the call */
    FAULT_ALLOCATION, /* one allocation is refused */
    FAULT_ALLOCATIONS /* and all that follow */
} fault_kind;

typedef struct fault {
    fault_kind kind;
    int call;    /* in fault_calls, -1 for allocations */
    unsigned at; /* the N-th such call, the N-th allocation, from 1 */
    int error;
} fault;

typedef struct fault_call {
    const char *name;
    int number;
    int path; /* which argument is the path, which a descriptor; -1: none. Arguments count from 0 */
    int descriptor;
    int size;             /* which argument says how many bytes; -1: none, so that it cannot be shortened */
    const int *errors;    /* what it fails with once, ends with 0 */
    const int *errors_on; /* what it keeps failing with */
    const int *errors_late;
    bool writes; /* it cannot transfer nothing and call that a success */
} fault_call;

extern const fault_call fault_calls[];
extern const int fault_call_count;

/* "openat:12:EIO", "read:3:half", "alloc:7:one", as in the identifiers of cases. */
enum { FAULT_TEXT = 64 };
void fault_print(const fault *f, char text[FAULT_TEXT]);
bool fault_parse(const char *text, fault *f);
const char *fault_error_name(int error);
bool fault_is_death(const fault *f);
bool fault_is_allocation(const fault *f);
/* Whether the same call may well succeed a moment later. */
bool fault_is_passing(const fault *f);
#endif
