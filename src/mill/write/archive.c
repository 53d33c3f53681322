/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes zip archives of stored files.
 *
 * In: files, piece by piece. Out: an archive as PKWARE's APPNOTE 6.3 describes it, with Info-ZIP's extended timestamp.
 * Checksums are only known after the bytes of a file, so that its header is patched then; no file is read twice, and
 * the sizes of large ones need no data descriptors, which readers of streams refuse for stored files.
 */
#include "txmill/archive.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "base/output.h"
#include "base/text.h"
#include "mill/write/archive.h"
#include "mill/write/publish.h"
#include "txmill/out_file.h"

enum {
    CRC_AT = 14,        /* in a local header */
    RECORD_BYTES = 112, /* more than any header, or what ends an archive, has */
    UTF8_NAME = 1 << 11,
    FOR_ZIP64 = 45, /* versions of zip that a reader needs */
    FOR_STORED = 10,
    MADE_BY_UNIX = 3 << 8 | FOR_ZIP64
};
static const uint64_t most = UINT32_MAX; /* the largest value of a field: "see the Zip64 extra field" */

struct txm_archive {
    char *path;
    txm_publish *publish;
    txm_output out;
    txm_bytes central; /* the directory, which follows the files */
    uint64_t count;
    char *name; /* of the current file, whose bytes follow; NULL: none */
    uint64_t header, bytes, left;
    int64_t time;
    uint32_t crc;
    bool too_much; /* it got more bytes than were announced */
};

typedef struct writer {
    uint8_t data[RECORD_BYTES];
    size_t size;
} writer;

static void put(writer *w, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        w->data[w->size++] = (uint8_t)(value >> 8 * i);
}

/* DOS has no times before 1980 and after 2107, and only even seconds, in local time. */
static uint32_t dos_time(int64_t seconds)
{
    struct tm t;
    const time_t time = (time_t)seconds;
    if (!localtime_r(&time, &t) || t.tm_year > 207)
        return seconds > 0 ? 0xFF9FBF7DU : 0x00210000U;
    return t.tm_year < 80 ? 0x00210000U
                          : (uint32_t)(t.tm_year - 80) << 25 | (uint32_t)(t.tm_mon + 1) << 21 |
                                (uint32_t)t.tm_mday << 16 | (uint32_t)t.tm_hour << 11 | (uint32_t)t.tm_min << 5 |
                                (uint32_t)(t.tm_sec < 60 ? t.tm_sec : 59) / 2;
}

int txm_archive_keeps(int64_t time)
{
    return time >= INT32_MIN && time <= INT32_MAX && dos_time(time) != 0x00210000U;
}

static bool add_part(txm_archive *a, bool central, const void *data, size_t bytes)
{
    return central ? txm_bytes_add(&a->central, data, bytes) : txm_output_append(&a->out, data, bytes);
}

/* Adds a local header or an entry of the directory, which share most fields: a fixed part, the name, extra fields. */
static bool add_header(txm_archive *a, bool central)
{
    const bool large = a->bytes >= most, far = central && a->header >= most;
    const char *name = a->name;
    for (size_t n; *name && (n = txm_utf8_sequence(name));)
        name += n;
    writer w = {.size = 0}, extra = {.size = 0};
    if (large || far) {
        put(&extra, 0x0001, 2);
        put(&extra, (large ? 16U : 0U) + (far ? 8U : 0U), 2);
        if (large) {
            put(&extra, a->bytes, 8);
            put(&extra, a->bytes, 8);
        }
        if (far)
            put(&extra, a->header, 8);
    }
    if (a->time >= INT32_MIN && a->time <= INT32_MAX) {
        put(&extra, 0x5455, 2);
        put(&extra, 5, 2);
        put(&extra, 1, 1); /* only when it was changed */
        put(&extra, (uint32_t)a->time, 4);
    }
    put(&w, central ? 0x02014B50 : 0x04034B50, 4);
    if (central)
        put(&w, MADE_BY_UNIX, 2);
    put(&w, large || far ? FOR_ZIP64 : FOR_STORED, 2);
    put(&w, *name ? 0 : UTF8_NAME, 2);
    put(&w, 0, 2); /* stored */
    put(&w, dos_time(a->time), 4);
    put(&w, a->crc, 4);
    put(&w, large ? most : a->bytes, 4);
    put(&w, large ? most : a->bytes, 4);
    put(&w, strlen(a->name), 2);
    put(&w, extra.size, 2);
    if (central) {
        put(&w, 0, 6); /* no comment, first disk, bytes and no text */
        put(&w, 0100644U << 16, 4);
        put(&w, far ? most : a->header, 4);
    }
    return add_part(a, central, w.data, w.size) && add_part(a, central, a->name, strlen(a->name)) &&
           add_part(a, central, extra.data, extra.size);
}

txm_status txm_archive_begin(const char *path, txm_archive **out, txm_error *err)
{
    txm_error own = {0};
    err = err ? err : &own;
    txm_error_clear(err);
    txm_archive *a = txm_calloc(1, sizeof *a);
    *out = NULL;
    if (!a || !(a->path = txm_strdup(path)))
        txm_no_memory(err, path);
    else if (txm_sweep_beside(path), txm_publish_begin(path, TXM_PUBLISH_IN_FOLDER, &a->publish, err) == TXM_OK &&
                                         txm_output_open(&a->out, txm_publish_fd(a->publish), 0, path, err) == TXM_OK) {
        *out = a;
        return TXM_OK;
    }
    txm_archive_abort(&a);
    return err->status;
}

/* Completes the current file, if there is one. */
static txm_status end_file(txm_archive *a, txm_error *err)
{
    uint8_t crc[4];
    if (!a->name)
        return txm_output_status(&a->out, err);
    if (a->left || a->too_much)
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: its size changed while it was stored in %s", a->name, a->path);
    txm_store_le32(crc, a->crc);
    if (txm_output_write(&a->out, a->header + CRC_AT, crc, sizeof crc) && !add_header(a, true))
        return txm_no_memory(err, a->path);
    a->count++;
    free(a->name);
    a->name = NULL;
    return txm_output_status(&a->out, err);
}

txm_status txm_archive_file(txm_archive *a, const char *name, uint64_t bytes, int64_t time, txm_error *err)
{
    txm_error_clear(err);
    const txm_status status = end_file(a, err);
    if (status != TXM_OK)
        return status;
    if (strlen(name) > UINT16_MAX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: its name is too long for a zip archive", name);
    if (!(a->name = txm_strdup(name)))
        return txm_no_memory(err, a->path);
    a->header = txm_output_end(&a->out);
    a->bytes = a->left = bytes;
    a->time = time;
    a->crc = 0;
    add_header(a, false);
    return txm_output_status(&a->out, err);
}

void txm_archive_data(txm_archive *a, const void *data, size_t bytes)
{
    a->too_much |= bytes > a->left;
    if (a->too_much)
        return;
    a->left -= bytes;
    a->crc = libdeflate_crc32(a->crc, data, bytes);
    txm_output_append(&a->out, data, bytes);
}

txm_status txm_archive_commit(txm_archive **archive, txm_error *err)
{
    txm_error own = {0};
    err = err ? err : &own;
    txm_error_clear(err);
    txm_archive *a = *archive;
    if (end_file(a, err) == TXM_OK) {
        const uint64_t at = txm_output_end(&a->out), size = a->central.size, end = at + size;
        const bool large = a->count >= UINT16_MAX || size >= most || at >= most;
        writer w = {.size = 0};
        char comment[TXM_ARCHIVE_COMMENT_BYTES + 1];
        if (large) {
            put(&w, 0x06064B50, 4);
            put(&w, 44, 8);
            put(&w, MADE_BY_UNIX, 2);
            put(&w, FOR_ZIP64, 2);
            put(&w, 0, 8);
            put(&w, a->count, 8);
            put(&w, a->count, 8);
            put(&w, size, 8);
            put(&w, at, 8);
            put(&w, 0x07064B50, 4); /* where that is */
            put(&w, 0, 4);
            put(&w, end, 8);
            put(&w, 1, 4);
        }
        put(&w, 0x06054B50, 4);
        put(&w, 0, 4);
        put(&w, large ? UINT16_MAX : a->count, 2);
        put(&w, large ? UINT16_MAX : a->count, 2);
        put(&w, large ? most : size, 4);
        put(&w, large ? most : at, 4);
        put(&w, TXM_ARCHIVE_COMMENT_BYTES, 2);
        snprintf(comment, sizeof comment, TXM_ARCHIVE_COMMENT,
                 (unsigned long long)(end + w.size + TXM_ARCHIVE_COMMENT_BYTES));
        txm_output_append(&a->out, a->central.data, size);
        txm_output_append(&a->out, w.data, w.size);
        txm_output_append(&a->out, comment, TXM_ARCHIVE_COMMENT_BYTES);
        txm_output_flush(&a->out);
        const struct timespec now = txm_clock_today();
        if (txm_output_status(&a->out, err) == TXM_OK)
            txm_publish_commit(&a->publish, &now, err);
    }
    txm_archive_abort(archive);
    return err->status;
}

void txm_archive_abort(txm_archive **archive)
{
    txm_archive *a = archive ? *archive : NULL;
    if (!a)
        return;
    txm_publish_abort(&a->publish);
    txm_output_free(&a->out);
    txm_bytes_free(&a->central);
    free(a->name);
    free(a->path);
    free(a);
    *archive = NULL;
}
