/* SPDX-License-Identifier: Apache-2.0
 *
 * LD_PRELOAD for cli_cut.sh: takes the file $CUT_FILE away while it is read, after the reader has checked that it is
 * complete. $CUT_AT is 0 for right after it was mapped, or N for after the N-th access to its map. $CUT_HOW: "short"
 * cuts the file itself, "io" leaves the file and makes the pages of its map unreadable, like a disk that fails.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long looks;
static struct {
    uint8_t *start;
    size_t bytes;
} maps[1024];
static size_t count;

static void *map_anyhow(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

static void cut(const char *path)
{
    if (strcmp(getenv("CUT_HOW"), "io")) {
        if (truncate(path, 0))
            abort();
    } else {
        int empty = memfd_create("empty", 0);
        for (size_t i = 0; i < count; i++)
            if (map_anyhow(maps[i].start, maps[i].bytes, PROT_READ, MAP_SHARED | MAP_FIXED, empty, 0) == MAP_FAILED)
                abort();
        close(empty);
    }
    if (truncate(getenv("CUT_MARK"), 1))
        abort();
}

static bool is_the_file(int fd, const char *path)
{
    char link[64], target[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    return n > 0 && (size_t)n == strlen(path) && !memcmp(target, path, (size_t)n);
}

static void *mapped(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    uint8_t *data = map_anyhow(at, bytes, protection, flags, fd, offset);
    const char *path = getenv("CUT_FILE");
    if (path && data != MAP_FAILED && fd >= 0 && is_the_file(fd, path)) {
        pthread_mutex_lock(&lock);
        maps[count].start = data;
        maps[count++].bytes = bytes;
        if (count == 1 && !strcmp(getenv("CUT_AT"), "0"))
            cut(path);
        pthread_mutex_unlock(&lock);
    }
    return data;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return mapped(at, bytes, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return mapped(at, bytes, protection, flags, fd, offset);
}

int munmap(void *at, size_t bytes)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (maps[i].start == at) {
            maps[i] = maps[--count];
            break;
        }
    int rc = (int)syscall(SYS_munmap, at, bytes);
    pthread_mutex_unlock(&lock);
    return rc;
}

int madvise(void *at, size_t bytes, int advice)
{
    int rc = (int)syscall(SYS_madvise, at, bytes, advice);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if ((uint8_t *)at >= maps[i].start && (uint8_t *)at < maps[i].start + maps[i].bytes &&
            ++looks == atol(getenv("CUT_AT"))) {
            cut(getenv("CUT_FILE"));
            break;
        }
    pthread_mutex_unlock(&lock);
    return rc;
}
