/* SPDX-License-Identifier: Apache-2.0
 *
 * Queued batches form a list in the order of the file; the thread that finishes the first one starts writing it and all
 * finished ones that follow, while the others continue to encode.
 *
 * The file must have level 0 first, row by row, as readers and Blender expect. Tiles of other levels are ready long
 * before level 0 is complete: they go to a spill and are appended at the end. Borders go to the section writer, which
 * has an order of its own.
 */
#include "mill/convert/encode_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/encode/tile.h"
#include "mill/gpu/pack.h"
#include "mill/pyramid/border.h"
#include "mill/write/spill.h"

enum {
    CACHE_LINE = 64,
    BATCH_PIXELS = 64 * 64 * 16, /* pixels of a batch: at least a quarter of a millisecond of encoding */
    SPILL_MEMORY_BYTES = 1 << 20 /* memory for upper levels' tiles before they go to disk */
};

typedef struct batch {
    struct batch *next; /* next in the list in order of the file, or in a list of spare batches */
    txm_encode_queue *queue;
    bool borders, done;
    uint32_t tile_x, tiles; /* index of the first tile, and number of tiles */
    txm_band *band, *around[TXM_BANDS_AROUND];
    uint8_t *bytes; /* the encoded tiles, one after the other */
    size_t bytes_used, bytes_capacity;
    uint32_t *sizes; /* size of each */
} batch;

/* One thread's encoders, which a batch borrows while it runs. */
typedef struct encoders {
    struct encoders *next;
    txm_tile_encoder *tile;
    txm_border_encoder *border;
    uint8_t *border_pixels;
} encoders;

typedef struct upper_level {
    uint64_t *offsets; /* offset of each tile in the spill */
    uint32_t *sizes;
    uint32_t tiles;
} upper_level;

struct txm_encode_queue {
    txm_job *job;
    txm_tx_layout layout;
    size_t pixel_bytes;
    txm_tx_writer *writer;
    txm_section_writer *section;
    txm_spill *spill;
    txm_strand *commits;
    uint32_t batch_tiles;
    upper_level upper[TXM_MAX_LEVELS];

    pthread_mutex_t lock; /* guards the members below */
    batch *first, **last; /* queued, in the order of the file */
    batch *spare[2];      /* spare batches for tiles and for borders, which need only a tenth of the memory */
    encoders *idle;
};

txm_status txm_encode_queue_new(txm_job *job, const txm_tx_layout *layout, txm_tx_writer *writer,
                                txm_section_writer *section, const char *spill_dir, txm_encode_queue **out,
                                txm_error *err)
{
    txm_encode_queue *q = txm_calloc(1, sizeof *q);
    if (!q)
        return txm_no_memory(err, NULL);
    q->job = job;
    q->layout = *layout;
    q->pixel_bytes = txm_type_bytes(layout->type) * layout->channels;
    q->writer = writer;
    q->section = section;
    q->last = &q->first;
    pthread_mutex_init(&q->lock, NULL);
    q->batch_tiles = BATCH_PIXELS / (layout->tile_px * layout->tile_px);
    if (q->batch_tiles == 0)
        q->batch_tiles = 1;
    q->commits = txm_strand_new_writer(job->group);
    q->spill = txm_spill_new(spill_dir, SPILL_MEMORY_BYTES);
    bool ok = q->commits && q->spill;
    for (uint32_t l = 1; ok && l < layout->levels; l++) {
        upper_level *u = &q->upper[l];
        u->tiles = txm_layout_tiles_x(layout, l) * txm_layout_tiles_y(layout, l);
        u->offsets = txm_calloc(u->tiles, sizeof *u->offsets);
        u->sizes = txm_calloc(u->tiles, sizeof *u->sizes);
        ok = u->offsets && u->sizes;
    }
    if (!ok) {
        txm_encode_queue_free(&q);
        return txm_no_memory(err, NULL);
    }
    *out = q;
    return TXM_OK;
}

/* Bands are dropped as soon as a batch is encoded, because they take most of the memory. */
static void drop_bands(batch *b)
{
    txm_band_drop(b->band);
    b->band = NULL;
    for (int i = 0; i < TXM_BANDS_AROUND; i++) {
        txm_band_drop(b->around[i]);
        b->around[i] = NULL;
    }
}

static void free_batches(batch *b)
{
    while (b) {
        batch *next = b->next;
        drop_bands(b);
        free(b->bytes);
        free(b->sizes);
        free(b);
        b = next;
    }
}

static void free_encoders(encoders *e)
{
    while (e) {
        encoders *next = e->next;
        txm_tile_encoder_free(&e->tile);
        txm_border_encoder_free(&e->border);
        free(e->border_pixels);
        free(e);
        e = next;
    }
}

void txm_encode_queue_free(txm_encode_queue **queue)
{
    txm_encode_queue *q = queue ? *queue : NULL;
    if (!q)
        return;
    free_batches(q->first);
    free_batches(q->spare[false]);
    free_batches(q->spare[true]);
    free_encoders(q->idle);
    for (uint32_t l = 1; l < TXM_MAX_LEVELS; l++) {
        free(q->upper[l].offsets);
        free(q->upper[l].sizes);
    }
    txm_spill_free(&q->spill);
    txm_strand_free(q->commits);
    pthread_mutex_destroy(&q->lock);
    free(q);
    *queue = NULL;
}

/* Encoders have megabytes of tables, so they are created when first needed and then reused: there are as many as
 * threads ever encoded at once. */
static txm_status take_encoders(txm_encode_queue *q, encoders **out, txm_error *err)
{
    pthread_mutex_lock(&q->lock);
    encoders *e = q->idle;
    if (e)
        q->idle = e->next;
    pthread_mutex_unlock(&q->lock);
    if (e) {
        *out = e;
        return TXM_OK;
    }
    const txm_tile_format format = {q->layout.type, q->layout.channels, q->layout.tile_px, q->layout.compression};
    txm_status status = TXM_STATUS_NO_MEMORY;
    if (!(e = txm_calloc(1, sizeof *e)))
        goto fail;
    if ((status = txm_tile_encoder_new(&format, &e->tile, err)))
        goto fail;
    if (q->section) {
        if ((status = txm_border_encoder_new(&q->layout, &e->border, err)))
            goto fail;
        status = TXM_STATUS_NO_MEMORY;
        e->border_pixels = txm_alloc_pixels(txm_border_pixels(q->layout.tile_px, q->layout.tile_px), q->pixel_bytes);
        if (!e->border_pixels)
            goto fail;
    }
    *out = e;
    return TXM_OK;
fail:
    free_encoders(e);
    return txm_fail(err, status, "out of memory for an encoder");
}

static const uint8_t *border_row(void *context, uint32_t y)
{
    const batch *b = context;
    return txm_band_row_near(b->band, b->around, y);
}

static txm_status encode_one(batch *b, encoders *e, uint32_t tile_x, const void **encoded, size_t *size, txm_error *err)
{
    const txm_encode_queue *q = b->queue;
    uint32_t px = q->layout.tile_px, level_w = txm_level_size(q->layout.width, b->band->level);
    uint32_t x = tile_x * px, w = level_w - x < px ? level_w - x : px, h = b->band->rows;
    if (b->band->packed) {
        const txm_gpu_packed *p = &b->band->packed[tile_x];
        *encoded = b->band->pixels + p->at;
        *size = p->size;
        return p->encoded ? TXM_OK : txm_tile_encode_filtered(e->tile, *encoded, w, h, encoded, size, err);
    }
    if (b->band->ready && !b->borders)
        return txm_tile_encode_filtered(e->tile, b->band->pixels + tile_x * txm_tile_raw_bytes(e->tile, px, h), w, h,
                                        encoded, size, err);
    if (b->band->ready) {
        /* A device made a border record, followed by the tile's edges. All tiles of a row except the last are full, so
         * each begins at a multiple of the full size. */
        size_t border = txm_border_pixels(w, h) * q->pixel_bytes;
        size_t full = (txm_border_pixels(px, h) + 2 * ((size_t)px + h)) * q->pixel_bytes;
        const uint8_t *record = b->band->pixels + tile_x * full, *top = record + border,
                      *left = top + 2 * w * q->pixel_bytes;
        const txm_border_edges edges = {top, top + w * q->pixel_bytes, left, left + h * q->pixel_bytes, q->pixel_bytes};
        return txm_border_encode_edges(e->border, record, &edges, w, h, encoded, size, err);
    }
    const uint8_t *pixels = b->band->pixels + (size_t)x * q->pixel_bytes;
    if (!b->borders)
        return txm_tile_encode(e->tile, pixels, b->band->stride_bytes, w, h, encoded, size, err);
    uint32_t level_h = txm_level_size(q->layout.height, b->band->level);
    txm_border_gather(border_row, b, level_w, level_h, q->pixel_bytes, x, b->band->y, w, h, e->border_pixels);
    return txm_border_encode(e->border, e->border_pixels, pixels, b->band->stride_bytes, w, h, encoded, size, err);
}

/* The buffer grows by a quarter, since tiles have similar sizes. */
static bool append(batch *b, const void *encoded, size_t size_bytes)
{
    if (size_bytes > b->bytes_capacity - b->bytes_used) {
        size_t capacity = b->bytes_used + size_bytes + b->bytes_capacity / 4;
        uint8_t *bytes = realloc(b->bytes, capacity);
        if (!bytes)
            return false;
        b->bytes = bytes;
        b->bytes_capacity = capacity;
    }
    memcpy(b->bytes + b->bytes_used, encoded, size_bytes);
    b->bytes_used += size_bytes;
    return true;
}

/* Fetches into the cache what the next tile or border of the batch will read. Its rows are a level's width apart, so
 * processors do not prefetch them, and each would have to be waited for. Of a border, only the columns at the right are
 * new. */
static void prefetch(const batch *b, uint32_t tile_x)
{
    const txm_encode_queue *q = b->queue;
    size_t tile_bytes = q->layout.tile_px * q->pixel_bytes, begin = tile_x * tile_bytes, end = begin + tile_bytes;
    if (b->borders) {
        begin = end - CACHE_LINE;
        end += CACHE_LINE;
    }
    if (end > b->band->stride_bytes || b->band->ready)
        return;
    for (uint32_t y = 0; y < b->band->rows; y++)
        for (size_t i = begin; i < end; i += CACHE_LINE)
            __builtin_prefetch(b->band->pixels + y * b->band->stride_bytes + i, 0, 2);
}

/* Writes the finished batches at the head of the list; runs on the strand, one at a time. */
static void commit_ready(void *arg)
{
    txm_encode_queue *q = arg;
    for (;;) {
        pthread_mutex_lock(&q->lock);
        batch *b = q->first;
        if (b && b->done) {
            q->first = b->next;
            if (!q->first)
                q->last = &q->first;
        } else {
            b = NULL;
        }
        pthread_mutex_unlock(&q->lock);
        if (!b)
            return;
        uint32_t level = b->band->level,
                 tile = b->band->y / q->layout.tile_px * txm_layout_tiles_x(&q->layout, level) + b->tile_x;
        const uint8_t *bytes = b->bytes;
        txm_error err = {0};
        unsigned long long clock = txm_job_clock(q->job);
        for (uint32_t i = 0; txm_job_runs(q->job) && i < b->tiles; bytes += b->sizes[i++]) {
            txm_status status;
            if (b->borders) {
                status = txm_section_writer_add(q->section, level, tile + i, bytes, b->sizes[i], &err);
            } else if (level == 0) {
                status = txm_tx_writer_add(q->writer, bytes, b->sizes[i], &err);
            } else {
                q->upper[level].offsets[tile + i] = txm_spill_size(q->spill);
                q->upper[level].sizes[tile + i] = b->sizes[i];
                status = txm_spill_add(q->spill, bytes, b->sizes[i], &err);
            }
            if (status)
                txm_job_fail(q->job, &err);
        }
        txm_job_book(q->job, TXM_STAGE_WRITE, clock);
        drop_bands(b);
        pthread_mutex_lock(&q->lock);
        b->next = q->spare[b->borders];
        q->spare[b->borders] = b;
        pthread_mutex_unlock(&q->lock);
    }
}

static void run_batch(void *arg)
{
    batch *b = arg;
    txm_encode_queue *q = b->queue;
    if (txm_job_runs(q->job)) {
        encoders *e = NULL;
        txm_error err = {0};
        unsigned long long clock = txm_job_clock(q->job);
        txm_status status = take_encoders(q, &e, &err);
        for (uint32_t i = 0; !status && i < b->tiles; i++) {
            const void *encoded = NULL;
            size_t size = 0;
            if (i + 1 < b->tiles)
                prefetch(b, b->tile_x + i + 1);
            status = encode_one(b, e, b->tile_x + i, &encoded, &size, &err);
            if (!status && !append(b, encoded, size))
                status = txm_no_memory(&err, NULL);
            b->sizes[i] = (uint32_t)size;
        }
        if (e) {
            pthread_mutex_lock(&q->lock);
            e->next = q->idle;
            q->idle = e;
            pthread_mutex_unlock(&q->lock);
        }
        if (status)
            txm_job_fail(q->job, &err);
        txm_job_book(q->job, b->borders ? TXM_STAGE_BORDERS : TXM_STAGE_ENCODE, clock);
    }
    pthread_mutex_lock(&q->lock);
    b->done = true;
    bool head = q->first == b;
    pthread_mutex_unlock(&q->lock);
    /* The thread that finishes the head starts writing, which includes later batches that were finished before. */
    if (head && !txm_strand_submit(q->commits, commit_ready, q))
        txm_job_no_memory(q->job);
}

/* Batches enter the list under the lock, in the order of calls, which is the order of the file. */
static bool queue_batches(txm_encode_queue *q, txm_band *band, txm_band *const around[TXM_BANDS_AROUND])
{
    uint32_t tiles = txm_layout_tiles_x(&q->layout, band->level);
    for (uint32_t x = 0; x < tiles; x += q->batch_tiles) {
        const bool borders = around != NULL;
        pthread_mutex_lock(&q->lock);
        batch *b = q->spare[borders];
        if (b)
            q->spare[borders] = b->next;
        pthread_mutex_unlock(&q->lock);
        if (!b && (b = txm_calloc(1, sizeof *b)) && !(b->sizes = txm_calloc(q->batch_tiles, sizeof *b->sizes))) {
            free(b);
            b = NULL;
        }
        if (!b)
            return false;
        b->next = NULL;
        b->queue = q;
        b->borders = borders;
        b->done = false;
        b->bytes_used = 0;
        b->tile_x = x;
        b->tiles = tiles - x < q->batch_tiles ? tiles - x : q->batch_tiles;
        b->band = txm_band_keep(band);
        for (int i = 0; around && i < TXM_BANDS_AROUND; i++)
            b->around[i] = txm_band_keep(around[i]);
        pthread_mutex_lock(&q->lock);
        *q->last = b;
        q->last = &b->next;
        pthread_mutex_unlock(&q->lock);
        if (!txm_group_submit(q->job->group, false, run_batch, b))
            return false;
    }
    return true;
}

bool txm_encode_queue_tiles(txm_encode_queue *q, txm_band *band)
{
    return queue_batches(q, band, NULL);
}

bool txm_encode_queue_borders(txm_encode_queue *q, txm_band *band, txm_band *const around[TXM_BANDS_AROUND])
{
    return queue_batches(q, band, around);
}

/* All jobs must have ended. The spill is read once, from start to end. */
txm_status txm_encode_queue_finish(txm_encode_queue *q, txm_error *err)
{
    const uint8_t *tile = NULL;
    txm_status status = TXM_OK;
    unsigned long long clock = txm_job_clock(q->job);
    for (uint32_t l = 1; !status && l < q->layout.levels; l++) {
        const upper_level *u = &q->upper[l];
        for (uint32_t t = 0; !status && t < u->tiles; t++) {
            status = txm_spill_view(q->spill, u->offsets[t], u->sizes[t], &tile, err);
            if (!status)
                status = txm_tx_writer_add(q->writer, tile, u->sizes[t], err);
        }
    }
    txm_job_book(q->job, TXM_STAGE_WRITE, clock);
    return status;
}
