/* SPDX-License-Identifier: Apache-2.0
 *
 * The C library does not wrap membarrier(2).
 */
#include "base/os/barrier.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/pages.h"

bool txm_barrier_possible(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool txm_barrier_everywhere(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* Every processor may have the page in its TLB, so unmapping it returns only after each was interrupted. */
void txm_barrier_by_force(void)
{
    static const struct timespec LONG = {.tv_nsec = 10000000};
    const size_t page = txm_page_bytes();
    unsigned char *p = txm_pages_new(page);
    if (p) {
        *(volatile unsigned char *)p = 1;
        txm_pages_free(p, page);
    }
    nanosleep(&LONG, NULL);
}

void txm_yield(void)
{
    sched_yield();
}
