/* SPDX-License-Identifier: Apache-2.0
 * Allocations that fail on request. A program that includes this replaces the C library's malloc and related functions,
 * also for the libraries that it links. */
#ifndef TESTS_UTIL_FAULTS_H
#define TESTS_UTIL_FAULTS_H
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "txtile/status.h"

typedef enum fault { FAULT_OPEN, FAULT_MMAP, FAULT_MEMORY, FAULTS } fault;

/* State of this thread. */
static _Thread_local struct {
    bool armed, lasting;
    fault kind;
    long left; /* number of calls until one fails */
    long failed;
    long live; /* allocations since then that were not freed */
} faults;

static inline bool fails(fault kind)
{
    if (!faults.armed || faults.kind != kind)
        return false;
    bool now = --faults.left == 0 || (faults.lasting && faults.left < 0);
    faults.failed += now;
    return now;
}

/* Makes the n-th allocation from here on fail, once. */
static inline void refuse_memory(long n)
{
    faults.armed = true;
    faults.lasting = false;
    faults.kind = FAULT_MEMORY;
    faults.left = n;
    faults.failed = faults.live = 0;
}

/* Ends this; returns whether that many allocations were made. */
static inline bool memory_was_refused(void)
{
    faults.armed = false;
    return faults.failed > 0;
}

/* The C library's own functions under their internal names. Sanitizers bring allocators that must not be bypassed. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REFUSES_MEMORY 0
#endif
#endif
#if !defined(REFUSES_MEMORY) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define REFUSES_MEMORY 1
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static void *count_allocation(void *memory)
{
    faults.live += faults.armed && memory;
    return memory;
}

void *malloc(size_t bytes)
{
    return fails(FAULT_MEMORY) ? NULL : count_allocation(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
    return fails(FAULT_MEMORY) ? NULL : count_allocation(__libc_calloc(count, bytes));
}

void *realloc(void *memory, size_t bytes)
{
    if (fails(FAULT_MEMORY))
        return NULL;
    return memory ? __libc_realloc(memory, bytes) : count_allocation(__libc_malloc(bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails(FAULT_MEMORY) ? NULL : count_allocation(__libc_memalign(alignment, bytes));
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *memory = aligned_alloc(alignment, bytes);
    if (!memory)
        return ENOMEM;
    *out = memory;
    return 0;
}

void free(void *memory)
{
    faults.live -= faults.armed && memory;
    __libc_free(memory);
}
#elif !defined(REFUSES_MEMORY)
#define REFUSES_MEMORY 0
#endif

/* Allowed exceptions: to do without the memory, or, for libraries that fail in this way, not to free everything. */
enum { DOES_WITHOUT = 1, LEAKS = 2 };

/* Calls `call(user)` with its first, second and further allocations failing in turn, until there are no more. It must
 * return NO_MEMORY, or OK if it can do without, must not leak, and must return OK at the end. `call` frees what it
 * makes, and has no assertions, since Check allocates too. */
static inline void refuse_each_but(unsigned allowed, txm_status (*call)(void *user), void *user)
{
    ck_assert_int_eq(call(user), TXM_OK); /* allocates what libraries allocate once */
    for (long n = 1;; n++) {
        refuse_memory(n);
        txm_status status = call(user);
        bool refused = memory_was_refused();
        ck_assert_msg(faults.live == 0 || (refused && allowed & LEAKS),
                      "%ld pieces of memory are left after allocation %ld", faults.live, n);
        if (!refused) {
            ck_assert_int_eq(status, TXM_OK);
            ck_assert(n > 1 || !REFUSES_MEMORY);
            return;
        }
        ck_assert_msg(status == TXM_STATUS_NO_MEMORY || ((allowed & DOES_WITHOUT) && status == TXM_OK),
                      "status %d after allocation %ld", status, n);
    }
}

/* The same for calls that need every allocation. */
static inline void refuse_each(txm_status (*call)(void *user), void *user)
{
    refuse_each_but(0, call, user);
}
#endif
