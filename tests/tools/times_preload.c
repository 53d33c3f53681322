/* SPDX-License-Identifier: Apache-2.0
 *
 * LD_PRELOAD for cli_restore.sh: keeps the times of files as FAT does, to two seconds and from 1980 to 2107. $ROUND is
 * a part of the paths of such files.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool rounds(const char *path)
{
    const char *part = getenv("ROUND");
    return part && strstr(path, part);
}

/* Of the C library. */
static long (*real)(long number, ...);

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_openat2 && getenv("OLD_KERNEL")) {
        errno = ENOSYS;
        return -1;
    }
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int set(int folder, const char *path, const struct timespec *times, bool round)
{
    struct timespec kept[2] = {times ? times[0] : (struct timespec){.tv_nsec = UTIME_NOW},
                               times ? times[1] : (struct timespec){.tv_nsec = UTIME_NOW}};
    if (round && kept[1].tv_nsec != UTIME_OMIT && kept[1].tv_nsec != UTIME_NOW) {
        kept[1].tv_sec = kept[1].tv_sec < 315532800    ? 315532800
                         : kept[1].tv_sec > 4354819198 ? 4354819198
                                                       : kept[1].tv_sec;
        kept[1].tv_sec &= ~1L;
        kept[1].tv_nsec = 0;
    }
    return (int)syscall(SYS_utimensat, folder, path, kept, 0);
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags)
{
    (void)flags;
    return set(folder, path, times, rounds(path));
}

int futimens(int fd, const struct timespec times[2])
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return set(fd, NULL, times, rounds(path));
}
