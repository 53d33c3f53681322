/* SPDX-License-Identifier: Apache-2.0
 *
 * Output files of commands.
 *
 * Data is written to a path or to "-". On commit the file appears complete under its name; otherwise the old one is
 * unchanged. Errors of any write are kept and reported by the commit, so callers that print need not check each call.
 */
#include "txmill/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "base/path.h"
#include "base/whole.h"
#include "mill/write/publish.h"
#include "mill/write/seal.h"

struct txm_out_file {
    char *path;
    txm_publish *publish; /* NULL: data is written directly to `fd` */
    int fd;               /* the temporary's, owned by `publish`, or a device's; -1: standard output */
    FILE *stream;
    int sys_errno; /* errno of the first write that failed */
};

/* stdio does not keep the reason for a failed write; this write function does. */
static ssize_t write_output_bytes(void *cookie, const char *data, size_t bytes)
{
    txm_out_file *file = cookie;
    if (!file->sys_errno)
        file->sys_errno = txm_write_all(file->fd, data, bytes);
    return file->sys_errno ? 0 : (ssize_t)bytes;
}

/* Devices, pipes and standard output are written to directly, everything else through a temporary file. */
txm_status txm_out_file_begin(const char *path, bool make_folder, txm_out_file **out, txm_error *err)
{
    txm_error_clear(err);
    static const cookie_io_functions_t functions = {.write = write_output_bytes};
    *out = NULL;
    txm_out_file *file = txm_calloc(1, sizeof *file);
    if (file)
        file->fd = -1;
    txm_status status = TXM_OK;
    if (!file || !(file->path = txm_strdup(path)))
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", path);
    bool to_stdout = strcmp(path, "-") == 0;
    struct stat st;
    if (status == TXM_OK && !to_stdout && stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (file->fd < 0)
            status = txm_fail_errno(err, errno, "%s: cannot open it for writing", path);
    } else if (status == TXM_OK && !to_stdout) {
        txm_sweep_beside(path);
        status = txm_publish_begin(path, make_folder ? TXM_PUBLISH_IN_NEW_FOLDER : TXM_PUBLISH_IN_FOLDER,
                                   &file->publish, err);
        file->fd = status == TXM_OK ? txm_publish_fd(file->publish) : -1;
    }
    if (status == TXM_OK && !(file->stream = to_stdout ? stdout : fopencookie(file, "w", functions)))
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", path);
    if (status == TXM_OK)
        *out = file;
    else
        txm_out_file_abort(&file);
    return status;
}

FILE *txm_out_file_stream(const txm_out_file *file)
{
    return file->stream;
}

txm_status txm_out_file_status(const txm_out_file *file, txm_error *err)
{
    txm_error_clear(err);
    return file->sys_errno ? txm_fail_errno(err, file->sys_errno, "%s: cannot write", file->path) : TXM_OK;
}

static void close_all(txm_out_file *file)
{
    if (file->stream && file->stream != stdout && fclose(file->stream) != 0 && !file->sys_errno)
        file->sys_errno = errno;
    if (!file->publish && file->fd >= 0 && close(file->fd) != 0 && !file->sys_errno && errno != EINTR)
        file->sys_errno = errno;
    file->stream = NULL;
    file->fd = -1;
}

/* stdio has to be closed, but must not write anything more. */
static void discard(txm_out_file *file)
{
    file->sys_errno = ECANCELED; /* makes stdio drop the data that it still holds */
    close_all(file);
    txm_publish_abort(&file->publish);
    free(file->path);
    free(file);
}

txm_status txm_out_file_commit(txm_out_file **out, txm_error *err)
{
    txm_error_clear(err);
    txm_out_file *file = *out;
    struct timespec now;
    *out = NULL;
    close_all(file);
    txm_status status = txm_out_file_status(file, err);
    now = txm_clock_today();
    if (status == TXM_OK && file->publish)
        status = txm_seal_file(txm_publish_fd(file->publish), file->path, err);
    if (status == TXM_OK && file->publish)
        status = txm_publish_commit(&file->publish, &now, err);
    discard(file);
    return status;
}

txm_status txm_out_file_check(const char *path, bool *unchanged, txm_error *err)
{
    txm_error_clear(err);
    *unchanged = false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0)
        return errno == ENOENT ? TXM_OK : txm_fail_errno(err, errno, "%s: cannot be opened", path);
    const int error = fstat(fd, &st) != 0 ? errno : 0;
    txm_status status = error ? txm_fail_errno(err, error, "%s: cannot be examined", path) : TXM_OK;
    if (status == TXM_OK && S_ISREG(st.st_mode))
        status = txm_seal_check(fd, path, unchanged, err);
    close(fd);
    return status;
}

void txm_out_file_abort(txm_out_file **out)
{
    if (out && *out) {
        discard(*out);
        *out = NULL;
    }
}

txm_status txm_out_file_write(const char *path, const void *data, size_t bytes, txm_error *err)
{
    txm_error_clear(err);
    txm_out_file *file = NULL;
    txm_status status = txm_out_file_begin(path, false, &file, err);
    if (status != TXM_OK)
        return status;
    fwrite(data, 1, bytes, file->stream);
    return txm_out_file_commit(&file, err);
}
