/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens source images: the first bytes choose a direct reader from the table of formats. If there is none, or it
 * returns UNSUPPORTED for this kind of file, OpenImageIO is used, which reads everything and takes longest to load.
 */
#include "mill/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/free_memory.h"
#include "mill/source/bound.h"
#include "mill/source/formats.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"

enum { HEAD_BYTES = 1024 };

struct txm_source {
    char *path;
    txm_source_info info;
    const txm_reader_ops *reader;
    void *self;
    uint32_t next_row;
};

void txm_source_forget(txm_source_info *info)
{
    for (size_t i = 0; i < info->attribute_count; i++) {
        free(info->attributes[i].name);
        free(info->attributes[i].value);
    }
    free(info->attributes);
    memset(info, 0, sizeof *info);
}

bool txm_source_keep(txm_source_info *info, const char *name, const char *value)
{
    if (!value || !*value)
        return true;
    txm_attribute *grown = realloc(info->attributes, (info->attribute_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    info->attributes = grown;
    txm_attribute *a = &grown[info->attribute_count];
    a->name = txm_strdup(name);
    a->value = txm_strdup(value);
    if (!a->name || !a->value) {
        free(a->name);
        free(a->value);
        return false;
    }
    info->attribute_count++;
    return true;
}

/* Examines the file before any decoder does, and reads its first bytes. Folders, pipes and devices must not be passed
 * to a decoder, since some decoders would wait forever. */
static txm_status look_at_image(const char *path, struct stat *st, uint8_t head[HEAD_BYTES], size_t *head_bytes,
                                txm_error *err)
{
    txm_source_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.fd < 0 && errno == ENXIO) /* a socket, or a device without a driver */
        return txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: is not a regular file", path);
    if (file.fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot be opened", path);
    txm_status status = TXM_OK;
    if (fstat(file.fd, st) != 0) {
        status = txm_fail_errno(err, errno, "%s: cannot be examined", path);
    } else if (S_ISDIR(st->st_mode)) {
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: is a folder, not an image", path);
    } else if (!S_ISREG(st->st_mode)) {
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: is not a regular file", path);
    } else if (st->st_size == 0) {
        status = txm_fail(err, TXM_STATUS_CORRUPT, "%s: the file is empty", path);
    } else {
        int64_t got = txm_source_file_read(&file, head, HEAD_BYTES, 0);
        *head_bytes = got > 0 ? (size_t)got : 0;
        status = txm_source_file_status(&file, path, err);
        if (status == TXM_OK && *head_bytes < HEAD_BYTES && (off_t)*head_bytes < st->st_size)
            status = txm_fail(err, TXM_STATUS_CHANGED, "%s: ended after %zu of %lld bytes while it was read", path,
                              *head_bytes, (long long)st->st_size);
    }
    txm_source_file_close(&file);
    return status;
}

/* *err has the message of the reader that was tried last. A caller or $TXMILL_READER can force OpenImageIO, to compare
 * the readers. */
static txm_status choose_reader(txm_source *s, const txm_source_options *options, const uint8_t *head,
                                size_t head_bytes, txm_error *err)
{
    const char *word = getenv("TXMILL_READER");
    const bool forced = options->force_oiio || (word && strcmp(word, "oiio") == 0);
    const txm_image_format *format = forced ? NULL : txm_format_of_head(head, head_bytes);
    txm_status status = TXM_STATUS_UNSUPPORTED;
    s->reader = NULL;
    if (format && format->reader) {
        status = format->reader->open(s->path, options, &s->info, &s->self, err);
        if (status == TXM_OK) {
            s->reader = format->reader;
            snprintf(s->info.format, sizeof s->info.format, "%s", format->name);
            snprintf(s->info.reader, sizeof s->info.reader, "%s", format->reader->name);
        }
    }
    if (status == TXM_STATUS_UNSUPPORTED && head_bytes >= 4 && !memcmp(head, "Ptex", 4))
        return txm_fail(
            err, status,
            "%s: a Ptex file has no texture coordinates; unwrap its mesh with 'txmill make' and, unless the "
            "mesh is in the file, --mesh FILE (OBJ or PLY)",
            s->path);
    if (status == TXM_STATUS_UNSUPPORTED) {
        txm_error_clear(err);
        txm_source_forget(&s->info);
        status = txm_oiio_reader.open(s->path, options, &s->info, &s->self, err);
        s->reader = status == TXM_OK ? &txm_oiio_reader : NULL;
    }
    if (status == TXM_OK)
        txm_density_drop_nonsense(&s->info.density);
    return status;
}

txm_status txm_source_check_size(const char *path, int64_t width, int64_t height, txm_error *err)
{
    return width <= TXM_MAX_SIZE_PX && height <= TXM_MAX_SIZE_PX
               ? TXM_OK
               : txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %lld x %lld px; the limit is %d px per side", path,
                          (long long)width, (long long)height, TXM_MAX_SIZE_PX);
}

/* The memory that there is matters only for images that take much. */
txm_status txm_source_afford(const char *path, const char *what, double need, uint64_t file_bytes,
                             const txm_source_options *options, txm_error *err)
{
    const double most = txm_bound_of_file(file_bytes, 0), mebibytes = need / 1048576;
    const double enough = mebibytes * 1.25 + 1;
    const uint64_t limit = options ? options->max_memory_bytes : 0;
    if (limit)
        return need <= (double)limit
                   ? TXM_OK
                   : txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %s needs %.1f MiB to decode, the limit is %.1f MiB", path,
                              what, mebibytes, (double)limit / 1048576);
    if (need > most)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, TXM_BOUND_FILE_TEXT, path, mebibytes, (unsigned long long)file_bytes,
                        most / 1048576, enough, enough);
    const double available = need > TXM_BOUND_FREE_MIB * 1048576.0 ? (double)txm_free_memory("") : need;
    return need <= available ? TXM_OK
                             : txm_fail(err, TXM_STATUS_NO_MEMORY, TXM_BOUND_MEMORY_TEXT, path, mebibytes,
                                        available / 1048576, enough, enough);
}

txm_status txm_source_open(const char *path, const txm_source_options *options, txm_source **out, txm_error *err)
{
    static const txm_source_options no_options;
    uint8_t head[HEAD_BYTES];
    size_t head_bytes = 0;
    struct stat st;
    /* The caller's error may have an earlier failure, so it is set only with the final result. */
    txm_error own = {0};
    *out = NULL;
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no image given: its path is NULL");
    txm_status status = look_at_image(path, &st, head, &head_bytes, err);
    if (status != TXM_OK)
        return status;
    if (txm_is_pointer(head, head_bytes))
        return txm_fail(err, TXM_STATUS_NOT_DOWNLOADED, TXM_POINTER_MESSAGE, path);
    txm_source *s = txm_calloc(1, sizeof *s);
    if (!s || !(s->path = txm_strdup(path))) {
        status = txm_no_memory(err, path);
        goto fail;
    }
    /* The variable is for commands without --max-memory. */
    txm_source_options used = options ? *options : no_options;
    const char *word = getenv(TXM_BOUND_VARIABLE);
    const long long megabytes = word ? strtoll(word, NULL, 10) : 0;
    if (!used.max_memory_bytes && megabytes > 0 && megabytes < 1LL << 32)
        used.max_memory_bytes = (uint64_t)megabytes << 20;
    status = choose_reader(s, &used, head, head_bytes, &own);
    if (status != TXM_OK) {
        txm_fail_as(err, &own);
        goto fail;
    }
    s->info.file_bytes = st.st_size;
    s->info.mtime = st.st_mtim;
    s->info.device = st.st_dev;
    s->info.inode = st.st_ino;
    *out = s;
    return TXM_OK;
fail:
    txm_source_close(&s);
    return status;
}

const txm_source_info *txm_source_info_of(const txm_source *source)
{
    return &source->info;
}

txm_status txm_source_read(txm_source *source, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes,
                           txm_error *err)
{
    const txm_source_info *info = &source->info;
    if (y != source->next_row || rows > info->height - y)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: rows %u to %u requested, row %u of %u is next", source->path, y,
                        y + rows, source->next_row, info->height);
    if (stride_bytes < (size_t)info->width * info->channels * txm_type_bytes(info->type))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: a stride of %zu bytes does not hold a row", source->path,
                        stride_bytes);
    if (rows == 0)
        return TXM_OK;
    txm_status status = source->reader->read(source->self, y, rows, dst, stride_bytes, err);
    if (status == TXM_OK)
        source->next_row = y + rows;
    return status;
}

const char *txm_source_warning(const txm_source *source)
{
    return source->reader->warning ? source->reader->warning(source->self) : NULL;
}

txm_status txm_source_as_half(txm_source *source, txm_error *err)
{
    if (!source->info.narrowed || source->next_row > 0)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: cannot be read as half", source->path);
    txm_status status = source->reader->as_half(source->self, err);
    if (status == TXM_OK) {
        source->info.type = TXM_TYPE_HALF;
        source->info.narrowed = false;
    }
    return status;
}

txm_status txm_source_rewind(txm_source *source, txm_error *err)
{
    txm_status status = source->reader->rewind ? source->reader->rewind(source->self, err) : TXM_OK;
    if (status == TXM_OK)
        source->next_row = 0;
    return status;
}

txm_status txm_source_check_unchanged(const txm_source *source, txm_error *err)
{
    const txm_source_info *info = &source->info;
    struct stat st;
    if (stat(source->path, &st) != 0)
        return errno == ENOENT
                   ? txm_fail(err, TXM_STATUS_CHANGED, "%s: the file disappeared while it was read", source->path)
                   : txm_fail_errno(err, errno, "%s: cannot be examined", source->path);
    if (st.st_size != info->file_bytes || st.st_mtim.tv_sec != info->mtime.tv_sec ||
        st.st_mtim.tv_nsec != info->mtime.tv_nsec || st.st_dev != info->device || st.st_ino != info->inode)
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: the file changed while it was read", source->path);
    return TXM_OK;
}

void txm_source_close(txm_source **source)
{
    txm_source *s = source ? *source : NULL;
    if (!s)
        return;
    if (s->reader)
        s->reader->close(s->self);
    txm_source_forget(&s->info);
    free(s->path);
    free(s);
    *source = NULL;
}
