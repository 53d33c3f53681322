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
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/path.h"
#include "mill/convert/context.h"
#include "mill/pyramid/border.h"
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

/* ---- making -------------------------------------------------------------------------------------------------------
 */

/* The borders of a row of tiles need its own pixels, two rows above and two below, wrapped around the level: at most
 * five bands (rows of tiles) at a time, if the last band is one pixel high. Bands are decoded when they are first
 * needed and kept while there is room, so that nearly all tiles are decoded once instead of nine times. */
enum { BANDS = 5, JOBS_PER_THREAD = 3 };

typedef struct band {
    uint32_t index; /* row of tiles; UINT32_MAX: none */
    uint64_t used;  /* when it was last used */
    uint8_t *pixels;
} band;

struct borders;

/* One job's share of the tiles of a band, which it decodes, or whose borders it encodes into `encoded`. */
typedef struct share {
    struct borders *r;
    uint32_t first, count; /* tile columns */
    txm_border_encoder *encoder;
    uint8_t *border;
    txm_bytes encoded; /* payloads one after the other */
    size_t *sizes;     /* sizes of the payloads */
    txm_status status;
    txm_error err;
} share;

typedef struct borders {
    txm_tx *tx;
    txm_group *group; /* NULL: no pool */
    const volatile int *cancel;
    txm_section_writer *writer;
    size_t pixel_bytes, row_bytes; /* row_bytes: of the widest level */
    uint32_t level, tile_y;
    const txm_tx_level *shape;
    band bands[BANDS];
    band *target; /* being decoded */
    uint64_t clock;
    share *shares;
    unsigned share_count;
} borders;

/* Tiles are decoded into rows of the full width; shares write different columns, so they need no lock. */
static void decode_share(void *arg)
{
    share *s = arg;
    const borders *r = s->r;
    const txm_tx_info *info = txm_tx_info_of(r->tx);
    for (uint32_t x = s->first; s->status == TXM_OK && x < s->first + s->count; x++)
        s->status =
            txm_tx_read_tile(r->tx,
                             &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                               .level = r->level,
                                               .tile_x = x,
                                               .tile_y = r->target->index,
                                               .pixels = r->target->pixels + (size_t)x * info->tile_w * r->pixel_bytes,
                                               .pixel_stride_bytes = r->pixel_bytes,
                                               .row_stride_bytes = r->row_bytes},
                             &s->err);
}

/* A txm_row_fn: returns a row of the level from the decoded bands. */
static const uint8_t *row_of(void *context, uint32_t y)
{
    const borders *r = context;
    uint32_t tile_h = txm_tx_info_of(r->tx)->tile_h;
    for (int i = 0; i < BANDS; i++)
        if (r->bands[i].index == y / tile_h)
            return r->bands[i].pixels + (size_t)(y % tile_h) * r->row_bytes;
    return NULL; /* cannot happen: need_bands decoded it */
}

/* Bands are only read here, so shares need no lock. Payloads stay in the order of the tiles, for add_band. */
static void encode_share(void *arg)
{
    share *s = arg;
    borders *r = s->r;
    const txm_tx_info *info = txm_tx_info_of(r->tx);
    uint32_t y0 = r->tile_y * info->tile_h, left_h = r->shape->height - y0;
    uint32_t h = left_h < info->tile_h ? left_h : info->tile_h;
    s->encoded.size = 0;
    for (uint32_t i = 0; s->status == TXM_OK && i < s->count; i++) {
        uint32_t x0 = (s->first + i) * info->tile_w, left_w = r->shape->width - x0;
        uint32_t w = left_w < info->tile_w ? left_w : info->tile_w;
        const void *encoded;
        txm_border_gather(row_of, r, r->shape->width, r->shape->height, r->pixel_bytes, x0, y0, w, h, s->border);
        s->status = txm_border_encode(s->encoder, s->border, row_of(r, y0) + (size_t)x0 * r->pixel_bytes, r->row_bytes,
                                      w, h, &encoded, &s->sizes[i], &s->err);
        if (s->status == TXM_OK && !txm_bytes_add(&s->encoded, encoded, s->sizes[i]))
            s->status = txm_no_memory(&s->err, NULL);
    }
}

/* Runs `fn` over all tiles of a band, in shares; one that cannot be queued runs on this thread. The failure that is
 * returned is that of the leftmost share, not of the first in time, so that it does not depend on threads. */
static txm_status run_over_tiles(borders *r, txm_job_fn fn, txm_error *err)
{
    uint32_t tiles = r->shape->tiles_x;
    for (unsigned i = 0; i < r->share_count; i++) {
        share *s = &r->shares[i];
        s->first = (uint32_t)((uint64_t)tiles * i / r->share_count);
        s->count = (uint32_t)((uint64_t)tiles * (i + 1) / r->share_count) - s->first;
        if (s->count && (!r->group || !txm_group_submit(r->group, false, fn, s)))
            fn(s);
    }
    if (r->group)
        txm_group_wait(r->group, 0);
    for (unsigned i = 0; i < r->share_count; i++)
        if (r->shares[i].status != TXM_OK)
            return txm_fail_with(err, r->shares[i].status, &r->shares[i].err);
    return TXM_OK;
}

/* Makes sure that the band which holds row `y` of the level is decoded. It replaces the band that was used longest ago.
 * All threads decode one band at a time. */
static txm_status need_row(borders *r, uint32_t y, txm_error *err)
{
    uint32_t index = y / txm_tx_info_of(r->tx)->tile_h;
    band *oldest = &r->bands[0];
    for (band *b = r->bands; b < r->bands + BANDS; b++) {
        if (b->index == index) {
            b->used = ++r->clock;
            return TXM_OK;
        }
        if (b->used < oldest->used)
            oldest = b;
    }
    oldest->index = index;
    oldest->used = ++r->clock;
    r->target = oldest;
    return run_over_tiles(r, decode_share, err);
}

static txm_status need_bands(borders *r, uint32_t y0, uint32_t h, txm_error *err)
{
    txm_status status = need_row(r, y0, err);
    int64_t level_h = r->shape->height;
    for (int64_t i = 1; status == TXM_OK && i <= TXM_BORDER_PX; i++) {
        int64_t above = ((int64_t)y0 - i) % level_h, below = ((int64_t)y0 + h - 1 + i) % level_h;
        status = need_row(r, (uint32_t)(above < 0 ? above + level_h : above), err);
        if (status == TXM_OK)
            status = need_row(r, (uint32_t)below, err);
    }
    return status;
}

/* The bands of the previous level are forgotten, but their memory is kept, since no later level is wider. */
static txm_status make_level(borders *r, uint32_t level, txm_error *err)
{
    uint32_t tile_h = txm_tx_info_of(r->tx)->tile_h;
    txm_status status = TXM_OK;
    r->level = level;
    r->shape = txm_tx_level_of(r->tx, level);
    for (int i = 0; i < BANDS; i++)
        r->bands[i].index = UINT32_MAX;
    for (r->tile_y = 0; status == TXM_OK && r->tile_y < r->shape->tiles_y; r->tile_y++) {
        uint32_t y0 = r->tile_y * tile_h, left = r->shape->height - y0;
        if (txm_is_cancelled(r->cancel))
            return txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request");
        status = need_bands(r, y0, left < tile_h ? left : tile_h, err);
        if (status == TXM_OK)
            status = run_over_tiles(r, encode_share, err);
        /* Payloads are added in the order of the tiles, in which the section is written. */
        uint32_t tile = r->tile_y * r->shape->tiles_x;
        for (unsigned i = 0; i < r->share_count; i++) {
            const share *s = &r->shares[i];
            const char *at = s->encoded.data;
            for (uint32_t k = 0; status == TXM_OK && k < s->count; at += s->sizes[k++])
                status = txm_section_writer_add(r->writer, r->level, tile++, at, s->sizes[k], err);
        }
    }
    return status;
}

/* Shares are made for the widest level; in narrower ones some are empty. Each thread has several, so that a slow tile
 * does not hold up the others. */
static txm_status make_shares(borders *r, const txm_tx_layout *layout, txm_pool *pool, txm_error *err)
{
    uint32_t widest = txm_tx_level_of(r->tx, 0)->tiles_x;
    unsigned threads = pool ? txm_pool_threads(pool) : 1, most = threads > 1 ? threads * JOBS_PER_THREAD : 1;
    r->share_count = widest < most ? widest : most;
    r->shares = txm_calloc(r->share_count, sizeof *r->shares);
    for (unsigned i = 0; r->shares && i < r->share_count; i++) {
        share *s = &r->shares[i];
        s->r = r;
        s->border = txm_alloc_pixels(txm_border_pixels(layout->tile_px, layout->tile_px), r->pixel_bytes);
        s->sizes = txm_calloc(widest / r->share_count + 1, sizeof *s->sizes);
        if (!s->border || !s->sizes)
            return txm_no_memory(err, NULL);
        txm_status status = txm_border_encoder_new(layout, &s->encoder, err);
        if (status != TXM_OK)
            return status;
    }
    return r->shares ? TXM_OK : txm_no_memory(err, NULL);
}

static txm_status make_borders(txm_tx *tx, txm_context *context, txm_section_writer *writer, txm_error *err)
{
    txm_pool *pool = txm_context_pool(context);
    const txm_tx_info *info = txm_tx_info_of(tx);
    txm_tx_layout layout = {info->width, info->height, info->levels,      info->channels,
                            info->type,  info->tile_w, {TXM_CODEC_ZIP, 0}};
    borders r = {.tx = tx, .writer = writer, .pixel_bytes = info->channels * txm_type_bytes(info->type)};
    r.row_bytes = info->width * r.pixel_bytes;
    r.cancel = context ? context->cancel : NULL;
    txm_status status = make_shares(&r, &layout, pool, err);
    if (status == TXM_OK && pool && txm_pool_threads(pool) > 1 && !(r.group = txm_group_new(pool)))
        status = txm_no_memory(err, NULL);
    for (int i = 0; status == TXM_OK && i < BANDS; i++) {
        /* A band is not higher than its level. */
        uint32_t rows = info->height < info->tile_h ? info->height : info->tile_h;
        if (!(r.bands[i].pixels = txm_alloc_pixels(rows, r.row_bytes)))
            status = txm_no_memory(err, NULL);
    }
    for (uint32_t i = 0; status == TXM_OK && i < info->levels; i++)
        status = make_level(&r, i, err);
    txm_group_free(r.group); /* first, because that waits for its jobs */
    for (unsigned i = 0; r.shares && i < r.share_count; i++) {
        txm_border_encoder_free(&r.shares[i].encoder);
        txm_bytes_free(&r.shares[i].encoded);
        free(r.shares[i].border);
        free(r.shares[i].sizes);
    }
    free(r.shares);
    for (int i = 0; i < BANDS; i++)
        free(r.bands[i].pixels);
    return status;
}

/* ---- adding and stripping -----------------------------------------------------------------------------------------
 */

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
        status = make_borders(e->tx, context, writer, err);
    if (status == TXM_OK &&
        (status = txm_section_writer_finish(writer, txm_publish_fd(e->publish), info->image_bytes, err)))
        txm_error_prefix(err, "%s", e->path);
    txm_section_writer_free(&writer);
    free(dir);
    return status;
}

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
        txm_pool *pool = txm_context_pool(context);
        const unsigned threads = pool ? txm_pool_threads(pool) : 1;
        txm_group *group = threads > 1 ? txm_group_new(pool) : NULL;
        for (c.level = 0; c.status == TXM_OK && c.level < info->levels; c.level++) {
            atomic_store(&c.next_row, 0);
            for (unsigned i = 1; group && i < threads; i++)
                txm_group_submit(group, false, check_rows, &c);
            check_rows(&c); /* checks all rows alone if no job could be queued */
            if (group)
                txm_group_wait(group, 0);
        }
        txm_group_free(group);
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
