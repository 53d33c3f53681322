/* SPDX-License-Identifier: Apache-2.0
 * The system calls that are made to fail, and the ways in which each can fail. */
#ifndef FAULTS_CALLS_H
#define FAULTS_CALLS_H
#include <stdbool.h>

typedef enum fault_kind {
    FAULT_NONE,
    FAULT_ERROR,      /* the call is not made and fails */
    FAULT_ERROR_ON,   /* so do all later calls of this name, as on a disk that stays full */
    FAULT_ERROR_LATE, /* the call is made and fails nevertheless, as when a server's reply is lost */
    FAULT_HALF,       /* the call transfers half of the bytes */
    FAULT_ONE,        /* the call transfers one byte */
    FAULT_ZERO,       /* the call transfers nothing, as at the end of a file */
    FAULT_KILL,       /* SIGKILL replaces the call */
    FAULT_TERM,       /* SIGTERM arrives at the call */
    FAULT_ALLOCATION, /* one allocation fails */
    FAULT_ALLOCATIONS /* one allocation and all later ones fail */
} fault_kind;

typedef struct fault {
    fault_kind kind;
    int call;    /* index into fault_calls; -1 for allocations */
    unsigned at; /* number of the call or of the allocation, from 1 */
    int error;
} fault;

typedef struct fault_call {
    const char *name;
    int number;
    int path; /* index of the argument that is the path, and of the descriptor, from 0; -1: none */
    int descriptor;
    int size;             /* index of the argument that is the size; -1: none, so the call cannot be shortened */
    const int *errors;    /* errors that the call has once; the list ends with 0 */
    const int *errors_on; /* errors that the call goes on having */
    const int *errors_late;
    bool writes; /* the call cannot transfer nothing and still succeed */
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
/* Returns whether the same call may succeed a moment later. */
bool fault_is_passing(const fault *f);
#endif
