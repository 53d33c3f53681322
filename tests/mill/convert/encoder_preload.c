/* SPDX-License-Identifier: Apache-2.0
 *
 * LD_PRELOAD for cli_encoder.sh: makes txmill-oiio-worker fail from its first request on. $LACK is "threads" if no more
 * threads can be started, or N if the N-th allocation fails. The date in pictures is always the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);

static atomic_bool begun, alone;
static atomic_long left;

static bool is_worker(void)
{
    return strcmp(program_invocation_short_name, "txmill-oiio-worker") == 0;
}

/* Requests arrive on descriptor 3. */
ssize_t read(int fd, void *to, size_t bytes)
{
    union {
        void *symbol;
        ssize_t (*call)(int, void *, size_t);
    } next = {dlsym(RTLD_NEXT, "read")};
    const char *lack = getenv("LACK");
    ssize_t n = next.call(fd, to, bytes);
    if (fd == 3 && lack && is_worker() && !begun) {
        left = strtol(lack, NULL, 10);
        alone = strcmp(lack, "threads") == 0;
        begun = true;
    }
    return n;
}

void *malloc(size_t bytes)
{
    if (begun && left > 0 && atomic_fetch_sub(&left, 1) == 1) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(bytes);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user)
{
    union {
        void *symbol;
        int (*call)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    } next = {dlsym(RTLD_NEXT, "pthread_create")};
    return alone ? EAGAIN : next.call(thread, attributes, run, user);
}

time_t time(time_t *out)
{
    struct timespec now = {.tv_sec = 1600000000};
    if (!is_worker())
        clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
