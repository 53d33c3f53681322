/* SPDX-License-Identifier: Apache-2.0
 *
 * Differences between two files, level by level: largest and mean error, PSNR, the number of samples that differ and
 * the worst tile; for level 0, on request, a map. Each file is a tx file or any image that can be converted; their
 * types may differ.
 *
 * Bands of rows are compared on all threads. Their sums are added up in the order of the rows, so that the result does
 * not depend on the number of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/convert/context.h"
#include "mill/convert/job.h"
#include "mill/source/source.h"
#include "txmill/inspect.h"
#include "txtile/reader.h"

/* ---- rows ----------------------------------------------------------------------------------------------------------
 */

/* One side of a comparison: either a tx file or a source. Zero-initialise. */
typedef struct pixel_rows {
    txm_tx *tx;
    txm_source *source;
    uint32_t levels, channels, tile_h;
    txm_type type;
} pixel_rows;

/* Memory for some rows of any level, for one thread. Zero-initialise. */
typedef struct row_buffer {
    float *values; /* the rows: `channels` floats per pixel, tight */
    uint8_t *raw;  /* the same as stored */
} row_buffer;

/* It tries to open a tx file first, since a tx file would also open as a TIFF or EXR image with level 0 only. */
static txm_status rows_open(const txm_context *context, const char *path, pixel_rows *out, txm_error *err)
{
    txm_error tx_error = {0}, source_error = {0};
    txm_status status = txm_tx_open(path, &out->tx, &tx_error);
    if (status == TXM_OK) {
        const txm_tx_info *i = txm_tx_info_of(out->tx);
        out->levels = i->levels;
        out->channels = i->channels;
        out->tile_h = i->tile_h;
        out->type = i->type;
        return TXM_OK;
    }
    /* A damaged tx file must be reported as such, and not as an unknown image. */
    if (txm_path_has_ext(path, "tx") ||
        (status != TXM_STATUS_CORRUPT && status != TXM_STATUS_UNSUPPORTED && status != TXM_STATUS_TOO_LARGE))
        return txm_fail_as(err, &tx_error);
    const txm_source_options options = {.max_memory_bytes = context->max_memory_bytes};
    status = txm_source_open(path, &options, &out->source, &source_error);
    if (status)
        return txm_fail_as(err, &source_error);
    const txm_source_info *i = txm_source_info_of(out->source);
    out->levels = 1;
    out->channels = i->channels;
    out->tile_h = TXM_DEFAULT_TILE_PX;
    out->type = i->type;
    return TXM_OK;
}

static void rows_size(const pixel_rows *rows, uint32_t level, uint32_t *width, uint32_t *height)
{
    *width = *height = 0;
    if (level >= rows->levels)
        return;
    if (rows->tx) {
        const txm_tx_level *l = txm_tx_level_of(rows->tx, level);
        *width = l->width;
        *height = l->height;
    } else {
        *width = txm_source_info_of(rows->source)->width;
        *height = txm_source_info_of(rows->source)->height;
    }
}

/* Rows of plain images must be read in order from the top, each once. */
static txm_status rows_read(const pixel_rows *r, const txm_ops *ops, uint32_t level, uint32_t y, uint32_t count,
                            row_buffer *buffer, txm_error *err)
{
    if (r->tx) {
        /* Decodes the rows of tiles in which the wanted rows are, one at a time, and copies the rows out of them. */
        const txm_tx_info *i = txm_tx_info_of(r->tx);
        const txm_tx_level *l = txm_tx_level_of(r->tx, level);
        size_t px = i->channels * txm_type_bytes(i->type), stride = (size_t)l->width * px;
        size_t samples = (size_t)l->width * i->channels;
        for (uint32_t ty = y / i->tile_h; ty * i->tile_h < y + count; ty++) {
            uint32_t top = ty * i->tile_h, first = top > y ? top : y;
            uint32_t bottom = top + i->tile_h, end = bottom < y + count ? bottom : y + count;
            for (uint32_t tx = 0; tx < l->tiles_x; tx++) {
                txm_status status =
                    txm_tx_read_tile(r->tx,
                                     &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                       .level = level,
                                                       .tile_x = tx,
                                                       .tile_y = ty,
                                                       .pixels = buffer->raw + (size_t)tx * i->tile_w * px,
                                                       .pixel_stride_bytes = px,
                                                       .row_stride_bytes = stride},
                                     err);
                if (status)
                    return status;
            }
            for (uint32_t row = first; row < end; row++)
                ops->to_float(i->type, buffer->raw + (row - top) * stride, buffer->values + (row - y) * samples,
                              samples);
        }
        return TXM_OK;
    }
    size_t samples = (size_t)txm_source_info_of(r->source)->width * r->channels;
    size_t stride = samples * txm_type_bytes(r->type);
    txm_status status = txm_source_read(r->source, y, count, buffer->raw, stride, err);
    for (uint32_t row = 0; !status && row < count; row++)
        ops->to_float(r->type, buffer->raw + row * stride, buffer->values + row * samples, samples);
    return status;
}

/* ---- comparing ------------------------------------------------------------------------------------------------------
 */

enum { MAP_MAX_PX = 2048, MAX_BANDS = 64, BANDS_BYTES = 256 << 20 };

/* The sums of one band. */
typedef struct part {
    uint64_t different;
    double max, peak, square_sum, error_sum;
    uint32_t worst_x, worst_y;
} part;

typedef struct comparison comparison;

/* A band that is being read or compared. */
typedef struct band {
    comparison *c;
    struct band *next; /* next in the list of free bands */
    uint32_t level, y, count;
    row_buffer side[2];
    float *map; /* a row of the map; NULL if no map is made */
    part *part;
} band;

struct comparison {
    txm_context *context;
    txm_job job;
    pixel_rows side[2];
    txm_difference *out;
    uint32_t band_rows;
    band bands[MAX_BANDS];
    unsigned band_count;
    band *free;
    pthread_mutex_t lock; /* guards `free` and the map */
};

/* ---- one band --------------------------------------------------------------------------------------------------- */

/* Channel c of a pixel as RGBA: grey counts for all three colours, and a missing alpha is 1. */
static float as_rgba(const float *pixel, uint32_t channels, uint32_t c)
{
    if (c == 3)
        return channels == 4 ? pixel[3] : channels == 2 ? pixel[1] : 1.0f;
    return pixel[channels < 3 ? 0 : c];
}

static double add_pixel(const comparison *c, part *p, const float *a, const float *b, uint32_t channels)
{
    double worst = 0;
    for (uint32_t k = 0; k < channels; k++) {
        bool same = c->side[0].channels == c->side[1].channels;
        float va = same ? a[k] : as_rgba(a, c->side[0].channels, k);
        float vb = same ? b[k] : as_rgba(b, c->side[1].channels, k);
        /* Two NaNs are equal, and so are two equal infinities; the error of a NaN against a number is infinite. */
        const double distance = fabs((double)va - (double)vb);
        double error = va == vb || (isnan(va) && isnan(vb)) ? 0
                       : isnan(distance)                    ? (double)INFINITY
                                                            : distance,
               size = fmax(fabs((double)va), fabs((double)vb));
        p->peak = size > p->peak ? size : p->peak;
        if (error > 0) {
            p->different++;
            p->error_sum += error;
            p->square_sum += error * error;
            worst = error > worst ? error : worst;
        }
    }
    return worst;
}

/* Each band has its own sums (part), so that this loop needs no lock. */
static void compare_band_row(const band *b, uint32_t row)
{
    comparison *c = b->c;
    uint32_t width = c->out->level[b->level].width[0], na = c->side[0].channels, nb = c->side[1].channels;
    const float *va = b->side[0].values + (size_t)row * width * na, *vb = b->side[1].values + (size_t)row * width * nb;
    bool mapped = !b->level && b->map, differs = false;
    for (uint32_t x = 0; x < width; x++, va += na, vb += nb) {
        double worst = add_pixel(c, b->part, va, vb, na == nb ? na : 4);
        if (worst > b->part->max) {
            b->part->max = worst;
            b->part->worst_x = x;
            b->part->worst_y = b->y + row;
        }
        if (worst > 0 && mapped) {
            float *place = &b->map[x / c->out->map_block];
            *place = worst > (double)*place ? (float)worst : *place;
            differs = true;
        }
    }
    if (!differs)
        return;
    /* The rows of another band may belong to the same blocks of the map. */
    float *to = c->out->map + (size_t)((b->y + row) / c->out->map_block) * c->out->map_width;
    pthread_mutex_lock(&c->lock);
    for (uint32_t x = 0; x < c->out->map_width; x++)
        to[x] = b->map[x] > to[x] ? b->map[x] : to[x];
    pthread_mutex_unlock(&c->lock);
    memset(b->map, 0, c->out->map_width * sizeof *b->map);
}

/* Tx files are read here, on many threads. The rows of a plain image were already read by the thread that queues bands,
 * since its reader goes from top to bottom. */
static void run_band(void *arg)
{
    band *b = arg;
    comparison *c = b->c;
    txm_error err = {0};
    txm_status status = TXM_OK;
    for (int s = 0; s < 2 && !status && txm_job_runs(&c->job); s++)
        if (c->side[s].tx)
            status = rows_read(&c->side[s], c->context->ops, b->level, b->y, b->count, &b->side[s], &err);
    if (status)
        txm_job_fail(&c->job, &err);
    for (uint32_t row = 0; row < b->count && txm_job_runs(&c->job); row++)
        compare_band_row(b, row);
    pthread_mutex_lock(&c->lock);
    b->next = c->free;
    c->free = b;
    pthread_mutex_unlock(&c->lock);
}

/* ---- one level -------------------------------------------------------------------------------------------------- */

/* Rows of a plain image are read here, in order; those of a tx file are read by the job. */
static void queue_band(comparison *c, uint32_t level, uint32_t y, uint32_t count, part *p)
{
    txm_error err = {0};
    txm_status status = TXM_OK;
    /* Waits until a band is free; their number bounds the memory. */
    txm_group_wait(c->job.group, c->band_count - 1);
    pthread_mutex_lock(&c->lock);
    band *b = c->free;
    c->free = b->next;
    pthread_mutex_unlock(&c->lock);
    b->level = level;
    b->y = y;
    b->count = count;
    b->part = p;
    for (int s = 0; s < 2 && !status; s++)
        if (c->side[s].source)
            status = rows_read(&c->side[s], c->context->ops, level, y, count, &b->side[s], &err);
    if (!status && txm_group_submit(c->job.group, false, run_band, b))
        return;
    if (!status)
        txm_fail(&err, TXM_STATUS_NO_MEMORY, "out of memory for %u rows", count);
    txm_job_fail(&c->job, &err);
    run_band(b); /* returns at once because the job has failed, and frees the band */
}

/* Levels of different size are marked as not compared, which every threshold treats as a difference. */
static txm_status compare_level(comparison *c, uint32_t level, txm_error *err)
{
    txm_level_error *e = &c->out->level[level];
    for (int s = 0; s < 2; s++)
        rows_size(&c->side[s], level, &e->width[s], &e->height[s]);
    if (!e->width[0] || e->width[0] != e->width[1] || e->height[0] != e->height[1])
        return TXM_OK;
    uint32_t count = (e->height[0] - 1) / c->band_rows + 1;
    part *parts = txm_calloc(count, sizeof *parts);
    if (!parts)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for level %u", level);
    for (uint32_t n = 0; n < count && txm_job_runs(&c->job); n++) {
        uint32_t y = n * c->band_rows, left = e->height[0] - y;
        queue_band(c, level, y, left < c->band_rows ? left : c->band_rows, &parts[n]);
    }
    txm_group_wait(c->job.group, 0);
    bool whole = txm_job_runs(&c->job);
    if (whole) {
        /* Adds up the bands from the top: floating-point sums depend on their order, and must not depend on the number
         * of threads. PSNR is relative to 1 for integers, and to the largest value for floats. */
        bool floats = txm_type_is_float(c->side[0].type) || txm_type_is_float(c->side[1].type);
        uint32_t na = c->side[0].channels, nb = c->side[1].channels;
        double error_sum = 0, square_sum = 0, peak = 0;
        for (uint32_t n = 0; n < count; n++) {
            const part *p = &parts[n];
            e->different += p->different;
            error_sum += p->error_sum;
            square_sum += p->square_sum;
            peak = p->peak > peak ? p->peak : peak;
            if (p->max > e->max) {
                e->max = p->max;
                e->worst_x = p->worst_x;
                e->worst_y = p->worst_y;
            }
        }
        e->compared = true;
        e->samples = (uint64_t)e->width[0] * e->height[0] * (na == nb ? na : 4);
        double mean_square = square_sum / (double)e->samples, most = floats ? peak : 1.0;
        e->mean = error_sum / (double)e->samples;
        e->psnr = mean_square > 0 ? 10 * log10(most * most / mean_square) : (double)INFINITY;
    }
    free(parts);
    return whole ? TXM_OK : txm_fail_as(err, &c->job.error);
}

/* ---- before and after ------------------------------------------------------------------------------------------- */

/* There are two bands per thread, so that one can be read while the other is compared; fewer if they are wide. */
static txm_status start_bands(comparison *c, uint32_t width, txm_error *err)
{
    unsigned wanted = 2 * txm_pool_threads(c->context->pool);
    size_t bytes = (size_t)width * c->band_rows * (c->side[0].channels + c->side[1].channels) * 2 * sizeof(float);
    if (wanted > MAX_BANDS)
        wanted = MAX_BANDS;
    if (wanted > BANDS_BYTES / bytes)
        wanted = (unsigned)(BANDS_BYTES / bytes);
    while (c->band_count < wanted || !c->band_count) {
        band *b = &c->bands[c->band_count++];
        bool ok = true;
        b->c = c;
        for (int s = 0; s < 2; s++) {
            const pixel_rows *rows = &c->side[s];
            const uint32_t whole =
                c->band_rows > rows->tile_h ? c->band_rows : rows->tile_h; /* a tx file is read by tiles */
            uint32_t own, height;
            rows_size(rows, 0, &own, &height);
            b->side[s].values = txm_alloc_pixels(txm_mul((size_t)own * rows->channels, c->band_rows), sizeof(float));
            b->side[s].raw = txm_alloc_pixels(txm_mul((size_t)own * rows->channels, whole), txm_type_bytes(rows->type));
            ok = ok && b->side[s].values && b->side[s].raw;
        }
        if (c->out->map)
            ok = (b->map = txm_calloc(c->out->map_width, sizeof *b->map)) && ok;
        if (!ok)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for %u rows", c->band_rows);
        b->next = c->free;
        c->free = b;
    }
    return TXM_OK;
}

/* If one file is a plain image, only level 0 is compared. */
static txm_status run_diff(comparison *c, const char *const paths[2], bool with_map, txm_error *err)
{
    uint32_t width, height;
    txm_status status = txm_job_init(&c->job, c->context->pool, c->context->cancel, false, err);
    for (int s = 0; s < 2 && !status; s++)
        status = rows_open(c->context, paths[s], &c->side[s], err);
    if (status)
        return status;
    txm_difference *d = c->out;
    const pixel_rows *a = &c->side[0], *b = &c->side[1];
    d->plain = !a->tx || !b->tx || a->levels == 1 || b->levels == 1;
    d->levels = d->plain ? 1 : a->levels > b->levels ? a->levels : b->levels;
    if (d->levels > TXM_MAX_LOOKUP_LEVELS)
        d->levels = TXM_MAX_LOOKUP_LEVELS;
    d->tile_px = a->tile_h;
    c->band_rows = a->tile_h > b->tile_h ? a->tile_h : b->tile_h;
    rows_size(a, 0, &width, &height);
    if (with_map) {
        /* Level 0 is divided into at most 2048 x 2048 blocks. */
        d->map_block = ((width > height ? width : height) - 1) / MAP_MAX_PX + 1;
        d->map_width = (width - 1) / d->map_block + 1;
        d->map_height = (height - 1) / d->map_block + 1;
        d->map = txm_calloc(txm_mul(d->map_width, d->map_height), sizeof *d->map);
        if (!d->map)
            return txm_no_memory(err, NULL);
    }
    status = start_bands(c, width, err);
    for (uint32_t l = 0; !status && l < d->levels; l++)
        status = compare_level(c, l, err);
    return status;
}

/* A file that changes while it is read is a failure, not a difference. */
txm_status txm_diff(txm_context *context, const char *a, const char *b, bool with_map, txm_difference *out,
                    txm_error *err)
{
    txm_error_clear(err);
    const char *const paths[2] = {a, b};
    comparison c = {.context = context, .out = out};
    memset(out, 0, sizeof *out);
    if (!a || !b)
        return txm_fail(err, TXM_STATUS_USAGE, "no tx file given: its path is NULL");
    pthread_mutex_init(&c.lock, NULL);
    txm_status status = run_diff(&c, paths, with_map, err);
    for (int s = 0; s < 2 && !status; s++)
        if (c.side[s].tx)
            status = txm_tx_check(c.side[s].tx, err);
    for (unsigned n = 0; n < c.band_count; n++) {
        for (int s = 0; s < 2; s++)
            free(c.bands[n].side[s].values), free(c.bands[n].side[s].raw);
        free(c.bands[n].map);
    }
    for (int s = 0; s < 2; s++) {
        txm_tx_close(&c.side[s].tx);
        txm_source_close(&c.side[s].source);
    }
    txm_job_destroy(&c.job);
    pthread_mutex_destroy(&c.lock);
    if (status)
        txm_difference_clear(out);
    return status;
}

void txm_difference_clear(txm_difference *difference)
{
    if (difference) {
        free(difference->map);
        *difference = (txm_difference){0};
    }
}
