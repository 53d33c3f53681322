/* SPDX-License-Identifier: Apache-2.0
 *
 * Publishes a file through a temporary in the target's folder.
 *
 * Durability: by default the data is not forced to disk before the rename. A tx file is derived data that the next run
 * can make again, and fsync costs more than converting a small texture. However, a file must not appear complete while
 * its content is missing. ext4, XFS and Btrfs write a file's blocks before they let a rename replace an existing file;
 * if a crash still leaves an empty or short file, Cycles and the up-to-date check refuse it. Network file systems
 * report a full disk or a lost server only on close or sync, so the commit closes the file and checks the result before
 * it renames. For machines with frequent power failures, TXMILL_FSYNC=1 in the environment adds fsync of the file and
 * its folder.
 */
#include "mill/write/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/os/owner.h"
#include "base/path.h"
#include "base/text.h"

/* Open temporaries of this process, for abort_all. A signal handler can only use a fixed table of atomic pointers. If a
 * process publishes more files at once than there are slots, it still works; after an interruption the others are left
 * to the sweepers. */
enum { SLOTS = 1024 };
static _Atomic(char *) live[SLOTS];
static atomic_bool aborted;

struct txm_publish {
    int fd;
    char *target, *temp;
    int slot; /* index in `live`; -1: none was free */
    txm_publish_place place;
    bool durable; /* forced to disk before the rename */
};

/* Async-signal-safe; the process is about to end. */
void txm_publish_abort_all(void)
{
    atomic_store(&aborted, true);
    for (int i = 0; i < SLOTS; i++) {
        char *temp = atomic_load(&live[i]);
        if (temp)
            txm_owned_remove(temp);
    }
}

/* Removes the temporary's name from the table and frees it. A handler may still hold a name that it just loaded from
 * the table, so once an abort has begun, names stay in the table until the process ends. This is harmless, since no
 * name is used twice. */
static void drop_name(txm_publish *p)
{
    char *name = p->temp;
    if (p->slot >= 0) {
        atomic_store(&live[p->slot], NULL);
        if (atomic_load(&aborted)) {
            atomic_store(&live[p->slot], name);
            name = NULL;
        }
    }
    free(name);
    p->slot = -1;
    p->temp = NULL;
}

static void discard(txm_publish *p)
{
    drop_name(p);
    if (p->fd >= 0)
        close(p->fd);
    free(p->target);
    free(p);
}

static const char *advice(int sys_errno, txm_publish_place place)
{
    static const struct {
        int sys_errno;
        const char *in_cache, *elsewhere;
    } rows[] = {
        {ENOSPC, "free space on that file system or choose another folder with --cache-dir",
         "free space on that file system or write it elsewhere"},
        {EDQUOT, "the disk quota is used up: free space or choose another folder with --cache-dir",
         "the disk quota is used up: free space or write it elsewhere"},
        {EROFS, "choose another folder with --cache-dir or -o", "write it elsewhere"},
        {EACCES, "its folder is read-only for this user: make it writable, or choose another with --cache-dir or -o",
         "its folder is read-only for this user: make it writable, or write it elsewhere"},
        {ENOENT, "fix that or choose another folder with --cache-dir", "fix that or write it elsewhere"},
        {ENOTDIR, "a part of the path is not a folder", "a part of the path is not a folder"},
        {ENAMETOOLONG, "the name is too long for the file system: shorten the source's name",
         "the name is too long for the file system"},
    };
    const int known = sys_errno == EPERM ? EACCES : sys_errno == ELOOP ? ENOENT : sys_errno;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].sys_errno == known)
            return place == TXM_PUBLISH_IN_CACHE ? rows[i].in_cache : rows[i].elsewhere;
    return "the file was not written";
}

static txm_status fail_publishing(txm_error *err, int sys_errno, const txm_publish *p, const char *what)
{
    if (atomic_load(&aborted))
        return txm_fail(err, TXM_STATUS_CANCELLED, "%s: stopped on request", p->target);
    txm_error cause = {0};
    txm_status status = txm_fail_errno(&cause, sys_errno, "%s: %s", p->target, what);
    txm_error_advise(&cause, "%s", advice(sys_errno, p->place));
    txm_fail_as(err, &cause);
    return status;
}

/* Opens the temporary. Its name is entered in the table before the file exists, and the flag is read afterwards, so
 * whenever a signal arrives, either the handler or this function removes the file. */
static int open_temp(txm_publish *p)
{
    for (int tries = 0; tries < 8; tries++) {
        char *dir = txm_path_dir(p->target);
        p->temp = dir ? txm_owned_path(dir, txm_path_base(p->target), ".txm-tmp") : NULL;
        free(dir);
        if (!p->temp)
            return ENOMEM;
        for (int i = 0; i < SLOTS && p->slot < 0; i++) {
            char *none = NULL;
            if (atomic_compare_exchange_strong(&live[i], &none, p->temp))
                p->slot = i;
        }
        p->fd = open(p->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (p->fd >= 0 && atomic_load(&aborted)) {
            txm_owned_remove(p->temp);
            return ECANCELED;
        }
        if (p->fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
        drop_name(p);
    }
    return EEXIST;
}

/* Nothing is visible under the target's name before the commit. The folder is made, unless it has to exist already, and
 * targets that a rename could not replace are refused. The temporary is in the target's folder, since rename works
 * within one file system only. */
txm_status txm_publish_begin(const char *target, txm_publish_place place, txm_publish **out, txm_error *err)
{
    txm_publish *p = txm_calloc(1, sizeof *p);
    char *copy = txm_strdup(target);
    if (!p || !copy) {
        free(p);
        free(copy);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", target);
    }
    *p = (txm_publish){.fd = -1, .slot = -1, .target = copy, .place = place};
    struct stat st;
    txm_error own = {0};
    txm_status status = TXM_OK;
    if (place != TXM_PUBLISH_IN_FOLDER) {
        char *dir = txm_path_dir(target);
        status = dir ? txm_folders_make(dir, &own) : txm_fail_errno(&own, ENOMEM, "%s", target);
        free(dir);
    }
    bool there = status == TXM_OK && stat(target, &st) == 0;
    if (status != TXM_OK) {
        txm_error_advise(&own, "%s", advice(own.sys_errno, place));
        txm_fail_as(err, &own);
    } else if (there && !S_ISREG(st.st_mode)) {
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: a folder or device has the name of the file; move it away",
                          target);
    } else if (!there && errno == ENAMETOOLONG) {
        /* The name of the temporary was shortened, so a target name that is too long would only be noticed by the
         * rename, at the very end. */
        status = fail_publishing(err, errno, p, "cannot be created");
    }
    int rc = status == TXM_OK ? open_temp(p) : 0;
    if (rc)
        status = fail_publishing(err, rc, p, "cannot create a temporary file beside it");
    if (status == TXM_OK)
        *out = p;
    else
        discard(p);
    return status;
}

int txm_publish_fd(const txm_publish *publish)
{
    return publish->fd;
}

const char *txm_publish_temp_path(const txm_publish *publish)
{
    return publish->temp;
}

txm_status txm_publish_copy(const txm_publish *publish, int from, const char *name, txm_error *err)
{
    struct stat st;
    uint64_t done = 0;
    int rc = fstat(from, &st) == 0 ? 0 : errno;
    if (rc == 0)
        rc = txm_file_copy(from, publish->fd, (uint64_t)st.st_size, &done);
    if (rc)
        return fail_publishing(err, rc, publish, "copying failed");
    return done == (uint64_t)st.st_size
               ? TXM_OK
               : txm_fail(err, TXM_STATUS_CHANGED, "%s: its size changed while it was copied", name);
}

/* File systems round times, as FAT does, or cannot set them; a tx file with another time than its image is of no use.
 */
static txm_status check_time(const char *path, const struct stat *st, const struct timespec *wanted, txm_error *err)
{
    char kept[TXM_TIME_BYTES], asked[TXM_TIME_BYTES];
    if (st->st_mtim.tv_sec == wanted->tv_sec)
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                    "%s: its file system keeps the time %s as %s, and Cycles would not use the file; keep tx files and "
                    "images on one file system",
                    path, txm_time_text(wanted->tv_sec, asked), txm_time_text(st->st_mtim.tv_sec, kept));
}

txm_status txm_publish_settle(txm_publish *p, const struct timespec *mtime, txm_error *err)
{
    const char *env = getenv("TXMILL_FSYNC");
    struct stat st;
    int rc = 0, fd = p->fd;
    const char *what = "writing the temporary file failed";
    p->durable = env && !strcmp(env, "1");
    if ((rc = txm_file_keep_mode(fd, p->target)) != 0)
        what = "cannot give the temporary file the mode of the file that it replaces";
    if (rc == 0 && p->durable)
        rc = txm_file_sync(fd);
    if (rc == 0 && (rc = txm_file_set_time(fd, mtime)) != 0)
        what = "cannot set the time of the temporary file";
    const bool examined = rc == 0 && mtime && fstat(fd, &st) == 0;
    p->fd = -1;
    if (close(fd) != 0 && rc == 0 && errno != EINTR)
        rc = errno;
    if (rc)
        return fail_publishing(err, rc, p, what);
    return examined ? check_time(p->target, &st, mtime, err) : TXM_OK;
}

txm_status txm_publish_commit(txm_publish **publish, const struct timespec *mtime, txm_error *err)
{
    txm_publish *p = *publish;
    *publish = NULL;
    txm_status status = p->fd >= 0 ? txm_publish_settle(p, mtime, err) : TXM_OK;
    if (status == TXM_OK && rename(p->temp, p->target) != 0)
        status = fail_publishing(err, errno, p, "cannot rename the temporary file into place");
    char *dir = status == TXM_OK && p->durable ? txm_path_dir(p->target) : NULL;
    if (dir)
        txm_folder_sync(dir);
    free(dir);
    if (status != TXM_OK)
        txm_owned_remove(p->temp);
    discard(p);
    return status;
}

void txm_publish_abort(txm_publish **publish)
{
    if (publish && *publish) {
        txm_owned_remove((*publish)->temp);
        discard(*publish);
        *publish = NULL;
    }
}

txm_status txm_publish_time(const char *path, const struct timespec *time, txm_error *err)
{
    txm_publish *publish = NULL;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        txm_status failed = txm_fail_errno(err, errno, "%s: cannot be opened", path);
        if (fd >= 0)
            close(fd);
        return failed;
    }
    txm_status status = TXM_OK;
    const int rc = st.st_nlink == 1 ? txm_file_set_time_at(path, time) : EPERM;
    if (rc && rc != EPERM && rc != EACCES) {
        status = txm_fail_errno(err, rc, "%s: cannot set its time", path);
    } else if (!rc && fstat(fd, &st) == 0) {
        status = check_time(path, &st, time, err);
    } else if (rc) {
        status = txm_publish_begin(path, TXM_PUBLISH_IN_CACHE, &publish, err);
        if (status == TXM_OK && !txm_file_share(publish->fd, fd))
            status = txm_publish_copy(publish, fd, path, err);
        if (status == TXM_OK)
            status = txm_publish_commit(&publish, time, err);
        txm_publish_abort(&publish);
    }
    close(fd);
    return status;
}
