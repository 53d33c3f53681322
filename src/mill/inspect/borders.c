/* SPDX-License-Identifier: Apache-2.0
 *
 * Adding, stripping and checking border sections of finished files.
 *
 * An edit copies the image part of the file into a temporary file, appends a section or none, takes over times, mode
 * and owner, and renames the temporary over the file. If the file was replaced meanwhile, the edit fails with CHANGED
 * and leaves it alone.
 */
#include "txmill/borders.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/path.h"
#include "mill/convert/context.h"
#include "mill/inspect/borders_make.h"
#include "mill/write/publish.h"
#include "mill/write/section_writer.h"
#include "tile/reader/section.h"

/* A file that is being replaced. */
typedef struct edit {
    char *path; /* path without symbolic links: the rename must hit the file itself */
    struct stat st;
    txm_tx *tx;
    txm_publish *publish;
} edit;

/* May be called at any stage: an edit that was not committed is discarded, and the file keeps its content. */
static void edit_end(edit *e)
{
    txm_publish_abort(&e->publish);
    txm_tx_close(&e->tx);
    free(e->path);
}

/* The identity of the file is recorded before it is opened, so that edit_commit can see whether it was replaced. */
static txm_status edit_begin(edit *e, const char *path, txm_error *err)
{
    e->path = realpath(path, NULL);
    if (!e->path || stat(e->path, &e->st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot open", path);
    return txm_tx_open(e->path, &e->tx, err);
}

/* Starts the new file with a copy of the image part and with the mode and owner of the old one. */
static txm_status edit_copy_image(edit *e, txm_error *err)
{
    txm_status status = txm_publish_begin(e->path, TXM_PUBLISH_IN_FOLDER, &e->publish, err);
    if (status != TXM_OK)
        return status;
    int fd = txm_publish_fd(e->publish);
    /* Where it may not be given away it belongs to the user, as after saving in an editor. */
    const int rc = txm_file_set_owner(fd, e->st.st_uid, e->st.st_gid);
    if (rc)
        return txm_fail_errno(err, rc, "%s: cannot keep the owner", e->path);
    if (fchmod(fd, e->st.st_mode & 07777) != 0)
        return txm_fail_errno(err, errno, "%s: cannot keep the mode", e->path);
    return txm_section_copy_image(e->tx, fd, err);
}

/* Another writer may still replace the file between this check and the rename: the window is short, but not closed. The
 * new file gets the old one's time, by which Cycles decides whether it is up to date. */
static txm_status edit_commit(edit *e, txm_error *err)
{
    struct stat now;
    bool there = stat(e->path, &now) == 0;
    if (!there && errno != ENOENT)
        return txm_fail_errno(err, errno, "%s: cannot be examined again", e->path);
    if (!there)
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: disappeared while its borders were being written", e->path);
    if (now.st_ino != e->st.st_ino || now.st_dev != e->st.st_dev || now.st_size != e->st.st_size ||
        now.st_mtim.tv_sec != e->st.st_mtim.tv_sec || now.st_mtim.tv_nsec != e->st.st_mtim.tv_nsec)
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: was replaced while its borders were being written; run again",
                        e->path);
    return txm_publish_commit(&e->publish, &e->st.st_mtim, err);
}

/* The new file already has the image part; the section is appended to it. Borders are read from the old file, which
 * does not change. */
static txm_status append_section(edit *e, txm_context *context, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(e->tx);
    txm_tx_layout layout = {info->width, info->height, info->levels,      info->channels,
                            info->type,  info->tile_w, {TXM_CODEC_ZIP, 0}};
    txm_section_writer *writer = NULL;
    char *dir = txm_path_dir(e->path);
    txm_status status = dir ? txm_section_writer_new(&layout, dir, &writer, err)
                            : txm_fail(err, TXM_STATUS_NO_MEMORY, "memory is exhausted");
    if (status == TXM_OK)
        status = txm_borders_make(e->tx, context, writer, err);
    if (status == TXM_OK &&
        (status = txm_section_writer_finish(writer, txm_publish_fd(e->publish), info->image_bytes, err)))
        txm_error_prefix(err, "%s", e->path);
    txm_section_writer_free(&writer);
    free(dir);
    return status;
}

/* Measures the file after the edit. */
static txm_status measure_borders(const edit *e, txm_borders_result *result, txm_error *err)
{
    struct stat now;
    if (stat(e->path, &now) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined again", e->path);
    result->file_bytes = (uint64_t)now.st_size;
    result->section_bytes = result->file_bytes - txm_tx_info_of(e->tx)->image_bytes;
    return TXM_OK;
}

/* A section of a newer version is kept, because the program that wrote it may rely on it. Any other section that is not
 * valid is replaced. */
txm_status txm_borders_add(txm_context *context, const char *path, txm_borders_result *result, txm_error *err)
{
    edit e = {0};
    txm_error_clear(err);
    *result = (txm_borders_result){0};
    txm_status status = edit_begin(&e, path, err);
    if (status != TXM_OK)
        goto end;
    const txm_tx_info *info = txm_tx_info_of(e.tx);
    result->before = info->section;
    if (info->section == TXM_SECTION_STATE_NEWER) {
        status = txm_fail(err, TXM_STATUS_NEWER, "%s: %s; strip it first", path, info->section_reason);
        goto end;
    }
    if (info->tile_w != info->tile_h) {
        status = txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: tiles of %ux%u pixels; borders are made for square tiles",
                          path, info->tile_w, info->tile_h);
        goto end;
    }
    if (info->section != TXM_SECTION_STATE_VALID) {
        status = edit_copy_image(&e, err);
        if (status == TXM_OK)
            status = append_section(&e, context, err);
        if (status == TXM_OK)
            status = edit_commit(&e, err);
        result->changed = status == TXM_OK;
    }
    if (status == TXM_OK)
        status = measure_borders(&e, result, err);
end:
    edit_end(&e);
    return status;
}

/* Everything after the image part is cut off, whether it is valid, damaged or of a newer version. A file without a
 * section is not touched. */
txm_status txm_borders_strip(txm_context *context, const char *path, txm_borders_result *result, txm_error *err)
{
    edit e = {0};
    (void)context;
    txm_error_clear(err);
    *result = (txm_borders_result){0};
    txm_status status = edit_begin(&e, path, err);
    if (status == TXM_OK) {
        result->before = txm_tx_info_of(e.tx)->section;
        if (txm_tx_info_of(e.tx)->section != TXM_SECTION_STATE_NONE) {
            status = edit_copy_image(&e, err);
            if (status == TXM_OK)
                status = edit_commit(&e, err);
            result->changed = status == TXM_OK;
        }
    }
    if (status == TXM_OK)
        status = measure_borders(&e, result, err);
    edit_end(&e);
    return status;
}

/* ---- check ----------------------------------------------------------------------------------------------------- */

typedef struct check {
    txm_tx *tx;
    const volatile int *cancel;
    uint32_t level;
    atomic_uint next_row; /* next row of tiles to take */
    atomic_ullong tiles, bad;
    pthread_mutex_t lock;
    char *finding;     /* the first finding, in TXM_MESSAGE_BYTES */
    txm_status status; /* a failure that is not a finding (the file shrank, memory is exhausted) */
    txm_error err;
} check;

/* Each thread takes the next row of tiles until all are checked. */
static void check_rows(void *arg)
{
    check *c = arg;
    const txm_tx_level *l = txm_tx_level_of(c->tx, c->level);
    for (uint32_t y; !txm_is_cancelled(c->cancel) && (y = atomic_fetch_add(&c->next_row, 1)) < l->tiles_y;)
        for (uint32_t x = 0; x < l->tiles_x; x++) {
            txm_error err = {0};
            txm_status status = txm_tx_check_border(c->tx, c->level, x, y, &err);
            atomic_fetch_add(&c->tiles, 1);
            if (status == TXM_OK)
                continue;
            pthread_mutex_lock(&c->lock);
            if (status != TXM_STATUS_CORRUPT)
                c->status = txm_fail_with(&c->err, status, &err);
            else if (!atomic_fetch_add(&c->bad, 1))
                snprintf(c->finding, TXM_MESSAGE_BYTES, "%s", err.message);
            pthread_mutex_unlock(&c->lock);
        }
}

static void check_level(check *c, txm_pool *pool)
{
    unsigned threads = pool ? txm_pool_threads(pool) : 1;
    txm_group *group = threads > 1 ? txm_group_new(pool) : NULL;
    atomic_store(&c->next_row, 0);
    for (unsigned i = 1; group && i < threads; i++)
        txm_group_submit(group, false, check_rows, c);
    check_rows(c); /* checks all rows alone if no job could be queued */
    if (group)
        txm_group_wait(group, 0);
    txm_group_free(group);
}

/* TXM_OK with a finding means that the file is wrong; a failure means that it could not be checked. Which of several
 * wrong tiles is named depends on the threads, but their number does not. */
txm_status txm_borders_check(txm_context *context, const char *path, txm_borders_result *result, txm_error *err)
{
    check c = {
        .cancel = context ? context->cancel : NULL, .finding = result->finding, .lock = PTHREAD_MUTEX_INITIALIZER};
    txm_error_clear(err);
    *result = (txm_borders_result){0};
    txm_status status = txm_tx_open(path, &c.tx, err);
    if (status != TXM_OK)
        return status;
    const txm_tx_info *info = txm_tx_info_of(c.tx);
    result->before = info->section;
    result->file_bytes = info->file_bytes;
    result->section_bytes = info->section_bytes;
    if (info->section == TXM_SECTION_STATE_VALID) {
        for (c.level = 0; c.status == TXM_OK && c.level < info->levels; c.level++)
            check_level(&c, txm_context_pool(context));
        result->tiles = c.tiles;
        result->bad_tiles = c.bad;
        if (c.status != TXM_OK)
            status = txm_fail_as(err, &c.err);
        else if (txm_is_cancelled(c.cancel))
            status = txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request");
    } else {
        snprintf(result->finding, sizeof result->finding, "%s: %s", path,
                 info->section == TXM_SECTION_STATE_NONE ? "no border section" : info->section_reason);
    }
    pthread_mutex_destroy(&c.lock);
    txm_tx_close(&c.tx);
    return status;
}
