/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/whole.h"

int txm_file_sync(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* Not every file system can sync a folder, so failures are ignored. */
void txm_folder_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

int txm_file_keep_mode(int fd, const char *replaced)
{
    struct stat old, new;
    if (stat(replaced, &old) != 0)
        return errno == ENOENT ? 0 : errno;
    if (fstat(fd, &new) != 0)
        return errno;
    if ((old.st_mode & 0777) == (new.st_mode & 0777) || fchmod(fd, old.st_mode & 0777) == 0)
        return 0;
    return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
}

int txm_file_set_time(int fd, const struct timespec *mtime)
{
    const struct timespec times[2] = {mtime ? *mtime : (struct timespec){0}, mtime ? *mtime : (struct timespec){0}};
    return futimens(fd, mtime ? times : NULL) == 0 ? 0 : errno;
}

int txm_file_set_time_at(const char *path, const struct timespec *mtime)
{
    const struct timespec read[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    const struct timespec written[2] = {read[0], mtime ? *mtime : read[1]};
    return utimensat(AT_FDCWD, path, mtime ? written : read, 0) == 0 ? 0 : errno;
}

/* Only root may give files away, and not every file system has owners. */
int txm_file_set_owner(int fd, uid_t user, gid_t group)
{
    return fchown(fd, user, group) == 0 || errno == EPERM || errno == EINVAL ? 0 : errno;
}

int txm_file_link(const char *path, const char *name)
{
    return link(path, name) == 0 ? 0 : errno;
}

/* Some file systems can only link without replacing. */
int txm_file_rename_new(const char *path, const char *name)
{
    if (renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    return link(path, name) == 0 && unlink(path) == 0 ? 0 : errno;
}

int txm_file_symlink(const char *target, const char *path)
{
    return symlink(target, path) == 0 ? 0 : errno;
}

long txm_file_target(const char *path, char *out, size_t bytes)
{
    return (long)readlink(path, out, bytes);
}

/* Without openat2, folder by folder. */
static int open_by_steps(int root, const char *path)
{
    char name[NAME_MAX + 1];
    int folder = dup(root);
    for (const char *at = path; folder >= 0;) {
        const size_t n = strcspn(at, "/");
        const bool last = !at[n];
        const bool plain = n && n <= NAME_MAX && strncmp(at, "..", n + (n == 1));
        memcpy(name, at, plain ? n : 0);
        name[plain ? n : 0] = 0;
        const int next =
            plain
                ? openat(folder, name, (last ? O_NONBLOCK : O_DIRECTORY) | O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)
                : (errno = EXDEV, -1);
        int why = errno;
        struct stat st; /* a link that should be a folder is none, says the system */
        if (next < 0 && why == ENOTDIR && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            why = ELOOP;
        close(folder);
        errno = why;
        if (last || next < 0)
            return next;
        folder = next;
        at += n + 1;
    }
    return -1;
}

int txm_file_open_below(int root, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, root, path, &how, sizeof how);
    for (int tries = 0; fd < 0 && errno == EAGAIN && tries < 100; tries++) /* a folder was renamed meanwhile */
        fd = syscall(SYS_openat2, root, path, &how, sizeof how);
    return fd >= 0 || (errno != ENOSYS && errno != EPERM) ? (int)fd : open_by_steps(root, path);
}

int txm_file_temporary(char *path)
{
    return mkostemp(path, O_CLOEXEC);
}

bool txm_folder_temporary(char *path)
{
    return mkdtemp(path) != NULL;
}

bool txm_is_null_device(dev_t device)
{
    return device == makedev(1, 3);
}

bool txm_file_share(int to, int from)
{
    return ioctl(to, FICLONE, from) == 0;
}

/* Copies in the kernel if possible; read and write copy the rest, including on file systems where the kernel silently
 * copies nothing. */
int txm_file_copy(int from, int to, uint64_t size, uint64_t *done)
{
    char piece[64 << 10];
    *done = 0;
    while (*done < size) {
        ssize_t n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
        if (n == 0 || (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)))
            break;
        if (n < 0 && errno != EINTR)
            return errno;
        *done += n > 0 ? (uint64_t)n : 0;
    }
    for (int rc = 0;;) {
        ssize_t n = read(from, piece, sizeof piece);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0 && (rc = txm_write_all(to, piece, (size_t)n)))
            return rc;
        *done += n > 0 ? (uint64_t)n : 0;
    }
}

int txm_file_look(const char *path, int flags)
{
    const int fd = open(path, flags | O_NOATIME);
    return fd < 0 && errno == EPERM ? open(path, flags) : fd;
}

int txm_file_again(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

bool txm_file_is_own(uid_t owner)
{
    return owner == geteuid();
}
