/* SPDX-License-Identifier: Apache-2.0
 * Shared by the benchmarks of lookups: clocks and the places that are looked up. */
#ifndef TXM_BENCH_LOOKUP_UTIL_H
#define TXM_BENCH_LOOKUP_UTIL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline double bench_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* When a thread worked, by the clock. Threads take their own times, because the thread that started them may be
 * scheduled late, when half of the work is done. */
typedef struct bench_span {
    double begin, end;
} bench_span;

static inline void bench_span_add(bench_span *all, bench_span one)
{
    bool none = all->end == 0;
    all->begin = none || one.begin < all->begin ? one.begin : all->begin;
    all->end = none || one.end > all->end ? one.end : all->end;
}

/* A random number from 0 to below 1, by xorshift: the same places in every run. */
static inline float bench_unit(void)
{
    static uint64_t random = 88172645463325252u;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return (float)(random >> 40) / 16777216.0f;
}
#endif
