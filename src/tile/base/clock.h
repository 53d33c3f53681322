/* SPDX-License-Identifier: Apache-2.0
 *
 * The clocks that durations are taken from: the monotonic one for what a person waits, the thread's own for what a
 * stage of a conversion costs. Neither can fail on Linux. Times of files come from elsewhere: batch/server_clock.h.
 */
#ifndef TXM_BASE_CLOCK_H
#define TXM_BASE_CLOCK_H
#include <stdint.h>
#include <time.h>

/* Nanoseconds of `clock`, from an origin of its own. */
static inline uint64_t txm_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Seconds of the monotonic clock: only differences mean something. */
static inline double txm_clock_seconds(void)
{
    return 1e-9 * (double)txm_clock_ns(CLOCK_MONOTONIC);
}
#endif
