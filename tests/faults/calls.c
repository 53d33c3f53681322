/* SPDX-License-Identifier: Apache-2.0
 * The table of system calls and of the errors that each can have. */
#include "calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define ERRORS(...) ((const int[]){__VA_ARGS__, 0})
static const int none[] = {0};

enum { NO = -1 };

/* A call with a folder's descriptor and a path is identified by the path alone. */
const fault_call fault_calls[] = {
    {"openat", SYS_openat, 1, NO, NO,
     ERRORS(EIO, EACCES, ENOENT, EMFILE, ENOMEM, ENOSPC, EROFS, ESTALE, ELOOP, EINTR, ENAMETOOLONG),
     ERRORS(EMFILE, ENOSPC, EIO), ERRORS(EIO), false},
    {"newfstatat", SYS_newfstatat, 1, 0, NO, ERRORS(EIO, EACCES, ENOENT, ENOMEM, ESTALE, ELOOP), ERRORS(EIO), none,
     false},
    {"fstat", SYS_fstat, NO, 0, NO, ERRORS(EIO, ESTALE, ENOMEM), ERRORS(EIO), none, false},
    {"stat", SYS_stat, 0, NO, NO, ERRORS(EIO, EACCES, ENOENT, ENOMEM, ESTALE), ERRORS(EIO), none, false},
    {"lstat", SYS_lstat, 0, NO, NO, ERRORS(EIO, EACCES, ENOENT, ENOMEM, ESTALE), ERRORS(EIO), none, false},
    {"statx", SYS_statx, 1, 0, NO, ERRORS(EIO, EACCES, ENOENT, ENOMEM, ESTALE), ERRORS(EIO), none, false},
    {"access", SYS_access, 0, NO, NO, ERRORS(EIO, EACCES, ENOENT), none, none, false},
    {"faccessat2", SYS_faccessat2, 1, NO, NO, ERRORS(EIO, EACCES, ENOENT), none, none, false},
    {"readlink", SYS_readlink, 0, NO, NO, ERRORS(EIO, EACCES, ENOENT), none, none, false},
    {"getcwd", SYS_getcwd, NO, NO, NO, ERRORS(ENOENT, EACCES, ENOMEM), none, none, false},
    {"read", SYS_read, NO, 0, 2, ERRORS(EIO, EINTR, ESTALE), ERRORS(EIO), none, false},
    {"pread64", SYS_pread64, NO, 0, 2, ERRORS(EIO, EINTR, ESTALE), ERRORS(EIO), none, false},
    {"readv", SYS_readv, NO, 0, NO, ERRORS(EIO, EINTR), none, none, false},
    {"preadv", SYS_preadv, NO, 0, NO, ERRORS(EIO, EINTR), none, none, false},
    {"write", SYS_write, NO, 0, 2, ERRORS(EIO, ENOSPC, EDQUOT, EINTR, EFBIG), ERRORS(ENOSPC, EIO), none, true},
    {"pwrite64", SYS_pwrite64, NO, 0, 2, ERRORS(EIO, ENOSPC, EDQUOT, EINTR, EFBIG), ERRORS(ENOSPC, EIO), none, true},
    {"writev", SYS_writev, NO, 0, NO, ERRORS(EIO, ENOSPC, EINTR), ERRORS(ENOSPC), none, false},
    {"pwritev", SYS_pwritev, NO, 0, NO, ERRORS(EIO, ENOSPC, EINTR), ERRORS(ENOSPC), none, false},
    {"lseek", SYS_lseek, NO, 0, NO, ERRORS(EIO, EINVAL), none, none, false},
    {"close", SYS_close, NO, 0, NO, none, none, ERRORS(EIO, ENOSPC, EDQUOT, EINTR), false},
    {"rename", SYS_rename, 1, NO, NO, ERRORS(EIO, ENOSPC, EACCES, EROFS, EDQUOT, ESTALE, EBUSY, ENOENT),
     ERRORS(EIO, ENOSPC), ERRORS(EIO), false},
    {"renameat2", SYS_renameat2, 3, NO, NO, ERRORS(EIO, ENOSPC, EINVAL, ENOSYS), none, none, false},
    {"link", SYS_link, 1, NO, NO, ERRORS(EIO, EPERM, EXDEV, EMLINK, EEXIST, ENOSPC, EOPNOTSUPP), ERRORS(EPERM),
     ERRORS(EEXIST), false},
    {"linkat", SYS_linkat, 3, NO, NO, ERRORS(EIO, EPERM, EXDEV, EMLINK, EEXIST, ENOSPC, EOPNOTSUPP), ERRORS(EPERM),
     ERRORS(EEXIST), false},
    {"symlink", SYS_symlink, 1, NO, NO, ERRORS(EIO, EPERM, ENOSPC), none, none, false},
    {"unlink", SYS_unlink, 0, NO, NO, ERRORS(EIO, EACCES, EBUSY, EROFS), ERRORS(EIO), ERRORS(ENOENT), false},
    {"unlinkat", SYS_unlinkat, 1, NO, NO, ERRORS(EIO, EACCES, EBUSY), none, none, false},
    {"mkdir", SYS_mkdir, 0, NO, NO, ERRORS(EIO, EACCES, ENOSPC, EROFS, EDQUOT, EMLINK), ERRORS(ENOSPC), ERRORS(EEXIST),
     false},
    {"rmdir", SYS_rmdir, 0, NO, NO, ERRORS(EIO, EACCES, ENOTEMPTY, EBUSY), none, none, false},
    {"ftruncate", SYS_ftruncate, NO, 0, NO, ERRORS(EIO, ENOSPC, EFBIG, EINTR, EPERM), ERRORS(EIO), none, false},
    {"fallocate", SYS_fallocate, NO, 0, NO, ERRORS(EOPNOTSUPP, ENOSPC, EIO, EINTR), ERRORS(EOPNOTSUPP), none, false},
    {"fsync", SYS_fsync, NO, 0, NO, ERRORS(EIO, ENOSPC, EDQUOT), ERRORS(EIO), none, false},
    {"fdatasync", SYS_fdatasync, NO, 0, NO, ERRORS(EIO, ENOSPC), none, none, false},
    {"utimensat", SYS_utimensat, 1, 0, NO, ERRORS(EIO, EPERM, EACCES, EROFS), ERRORS(EPERM), none, false},
    {"fchmod", SYS_fchmod, NO, 0, NO, ERRORS(EIO, EPERM), none, none, false},
    {"getdents64", SYS_getdents64, NO, 0, NO, ERRORS(EIO, ENOENT, ESTALE, ENOMEM), ERRORS(EIO), none, false},
    {"copy_file_range", SYS_copy_file_range, NO, 0, 4, ERRORS(EXDEV, EINVAL, ENOSYS, EIO, ENOSPC, EDQUOT, EPERM),
     ERRORS(EXDEV, ENOSPC), none, false},
    {"sendfile", SYS_sendfile, NO, 1, 3, ERRORS(EIO, EINVAL, ENOSPC), none, none, false},
    {"ioctl", SYS_ioctl, NO, 0, NO, ERRORS(EOPNOTSUPP, EIO, ENOSPC), ERRORS(EOPNOTSUPP), none, false},
    {"fcntl", SYS_fcntl, NO, 0, NO, ERRORS(ENOLCK, EINTR, EIO), none, none, false},
    {"flock", SYS_flock, NO, 0, NO, ERRORS(ENOLCK, EINTR, EIO), none, none, false},
    {"statfs", SYS_statfs, 0, NO, NO, ERRORS(EIO, ENOSYS), none, none, false},
    {"fstatfs", SYS_fstatfs, NO, 0, NO, ERRORS(EIO, ENOSYS), none, none, false},
    {"mmap", SYS_mmap, NO, 4, NO, ERRORS(ENOMEM, EAGAIN), ERRORS(ENOMEM), none, false},
    {"mremap", SYS_mremap, NO, NO, NO, ERRORS(ENOMEM), none, none, false},
    {"brk", SYS_brk, NO, NO, NO, ERRORS(ENOMEM), ERRORS(ENOMEM), none, false},
    {"clone3", SYS_clone3, NO, NO, NO, ERRORS(EAGAIN, ENOMEM), ERRORS(EAGAIN), none, false},
    {"clone", SYS_clone, NO, NO, NO, ERRORS(EAGAIN, ENOMEM), none, none, false},
    {"execve", SYS_execve, 0, NO, NO, ERRORS(ENOENT, EACCES, ENOMEM), none, none, false},
    {"socketpair", SYS_socketpair, NO, NO, NO, ERRORS(EMFILE, ENOMEM), none, none, false},
    {"sendmsg", SYS_sendmsg, NO, 0, NO, ERRORS(EINTR, EPIPE), none, none, false},
    {"recvmsg", SYS_recvmsg, NO, 0, NO, ERRORS(EINTR, EIO), none, none, false},
    {"sendto", SYS_sendto, NO, 0, NO, ERRORS(EINTR, EPIPE), none, none, false},
    {"recvfrom", SYS_recvfrom, NO, 0, NO, ERRORS(EINTR, EIO), none, none, false},
    {"pipe2", SYS_pipe2, NO, NO, NO, ERRORS(EMFILE), none, none, false},
    {"dup", SYS_dup, NO, 0, NO, ERRORS(EMFILE), none, none, false},
    {"poll", SYS_poll, NO, NO, NO, ERRORS(EINTR, ENOMEM), none, none, false},
    {"inotify_init1", SYS_inotify_init1, NO, NO, NO, ERRORS(EMFILE, ENOMEM), none, none, false},
    {"inotify_add_watch", SYS_inotify_add_watch, 1, NO, NO, ERRORS(ENOSPC, ENOENT, EACCES, ENOMEM), ERRORS(ENOSPC),
     none, false},
    {"getrandom", SYS_getrandom, NO, NO, NO, ERRORS(ENOSYS, EINTR), none, none, false},
    {"sysinfo", SYS_sysinfo, NO, NO, NO, ERRORS(EFAULT), none, none, false},
    {"uname", SYS_uname, NO, NO, NO, ERRORS(EFAULT), none, none, false},
    {"fadvise64", SYS_fadvise64, NO, 0, NO, ERRORS(EINVAL), none, none, false},
    {"madvise", SYS_madvise, NO, NO, NO, ERRORS(EINVAL), none, none, false},
};
const int fault_call_count = sizeof fault_calls / sizeof *fault_calls;

const char *fault_error_name(int error)
{
    return strerrorname_np(error);
}

static const struct {
    fault_kind kind;
    const char *word;
} words[] = {{FAULT_HALF, "half"}, {FAULT_ONE, "one-byte"},    {FAULT_ZERO, "zero"},     {FAULT_KILL, "kill"},
             {FAULT_TERM, "term"}, {FAULT_ALLOCATION, "once"}, {FAULT_ALLOCATIONS, "on"}};

void fault_print(const fault *f, char text[FAULT_TEXT])
{
    const char *name = f->call < 0 ? "alloc" : fault_calls[f->call].name, *how = NULL, *more = "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].kind == f->kind)
            how = words[i].word;
    if (f->kind == FAULT_NONE)
        name = "none";
    if (!how) {
        how = f->error ? fault_error_name(f->error) : "-";
        more = f->kind == FAULT_ERROR_ON ? "+" : f->kind == FAULT_ERROR_LATE ? "-late" : "";
    }
    snprintf(text, FAULT_TEXT, "%s:%u:%s%s", name, f->at, how, more);
}

static bool parse_how(const char *how, fault *f)
{
    char name[24];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, how) == 0) {
            f->kind = words[i].kind;
            return true;
        }
    size_t n = strcspn(how, "+-");
    snprintf(name, sizeof name, "%.*s", (int)n, how);
    f->kind = how[n] == '+' ? FAULT_ERROR_ON : how[n] == '-' ? FAULT_ERROR_LATE : FAULT_ERROR;
    for (f->error = 133; f->error > 0; f->error--)
        if (strerrorname_np(f->error) && strcmp(strerrorname_np(f->error), name) == 0)
            break;
    return f->error != 0;
}

bool fault_parse(const char *text, fault *f)
{
    char name[24], how[24];
    *f = (fault){.call = -1};
    if (strcmp(text, "none") == 0)
        return true;
    if (sscanf(text, "%23[^:]:%u:%23s", name, &f->at, how) != 3 || f->at == 0 || !parse_how(how, f))
        return false;
    for (int i = 0; i < fault_call_count; i++)
        if (strcmp(fault_calls[i].name, name) == 0)
            f->call = i;
    return f->call >= 0 ? !fault_is_allocation(f) : strcmp(name, "alloc") == 0 && fault_is_allocation(f);
}

bool fault_is_death(const fault *f)
{
    return f->kind == FAULT_KILL || f->kind == FAULT_TERM;
}

bool fault_is_allocation(const fault *f)
{
    return f->kind == FAULT_ALLOCATION || f->kind == FAULT_ALLOCATIONS;
}

bool fault_is_passing(const fault *f)
{
    switch (f->error) {
    case EIO:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENOMEM:
    case ESTALE:
    case EINTR:
    case EBUSY:
        return true;
    default:
        return false;
    }
}
