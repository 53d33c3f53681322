/* SPDX-License-Identifier: Apache-2.0
 *
 * LD_PRELOAD for cli_restore.sh: keeps the times of files as FAT does, to two seconds and from 1980 to 2107. $ROUND is
 * a part of the paths of such files.
 */
#define _GNU_SOURCE
#include <fcntl.h>
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
