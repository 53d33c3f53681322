/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks: the monotonic one for elapsed time, the thread's own for the cost of a stage of a conversion, and the time of
 * day. None can fail on Linux.
 *
 * Elsewhere: macOS has the same clocks. Windows has QueryPerformanceCounter, GetThreadTimes and
 * GetSystemTimePreciseAsFileTime.
 */
#ifndef TXM_BASE_OS_CLOCK_H
#define TXM_BASE_OS_CLOCK_H
#include <stdint.h>
#include <time.h>

/* Nanoseconds of `clock`; its origin is undefined. */
static inline uint64_t txm_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The time of day. */
static inline struct timespec txm_clock_today(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

/* Seconds of the monotonic clock, of which only differences are meaningful. */
static inline double txm_clock_seconds(void)
{
    return 1e-9 * (double)txm_clock_ns(CLOCK_MONOTONIC);
}
#endif
