/* SPDX-License-Identifier: Apache-2.0
 *
 * The kind of the image, which is passed on before the first band, is a guess until the last row: only then is it known
 * whether the image has one colour, and a grey image may still have a coloured pixel. Bands of one colour are therefore
 * counted and not passed on, and a grey image that turns out to be coloured is begun again by the caller.
 */
#include "mill/convert/feeder.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/pyramid/pyramid.h"

/* Several threads conform rows if the colour conversion makes that worth while. */
enum { CHUNKS = 16 };
/* Otherwise rows pass through all steps, this many at a time, while they are in the processor's cache. */
enum { CACHED_ROWS = 16 };

/* Halving a row of the image completes at most a few rows of level 0, and reading a band's worth of rows two bands. */
enum { HALVED_BANDS = 4 };

typedef struct state {
    txm_feed *feed;
    const txm_source_info *info;
    uint32_t width, height;       /* px of level 0 */
    size_t src_stride, row_bytes; /* sizes of the source's rows and of conformed rows */
    uint32_t channels;            /* channels of conformed rows */
    uint8_t *raw;                 /* rows as the source delivers them, if their layout has to change */
    /* For a limit of the image's sides: */
    txm_pyramid *halving;          /* NULL: the image has the size of level 0 */
    uint8_t *rows;                 /* conformed rows of the image */
    uint32_t read, halved;         /* number of rows of the image and of level 0 so far */
    txm_band *bands[HALVED_BANDS]; /* bands of level 0, the last one perhaps incomplete */
    uint32_t band_count;
    float *scratch[CHUNKS];
    bool started;
    bool both_zeros;  /* the rows so far are all equal, but some have 0 and others -0 */
    uint8_t last[16]; /* the last pixel of these rows */
} state;

static txm_status fail_no_memory(const state *s, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for bands of %u px", s->width);
}

/* Another stage stopped the job: its error is the one to report. */
static txm_status job_failed(const state *s, txm_error *err)
{
    return txm_fail_as(err, &s->feed->job->error);
}

typedef struct chunk {
    state *s;
    const uint8_t *src;
    uint8_t *dst;
    uint32_t rows, index;
} chunk;

/* Conforms a part of a band's rows: colour conversion is the most expensive part of reading, so threads share it. */
static void conform_chunk(void *arg)
{
    const chunk *c = arg;
    state *s = c->s;
    unsigned long long clock = txm_job_clock(s->feed->job);
    txm_conform_rows(s->feed->conform, c->src, s->src_stride, c->dst, s->row_bytes, c->rows, s->scratch[c->index]);
    txm_job_book(s->feed->job, s->feed->conform->space ? TXM_STAGE_COLOR : TXM_STAGE_CONFORM, clock);
}

/* Without colour conversion, one thread is as fast as memory. Otherwise the pieces have a group of their own, so that
 * only they are waited for. */
static txm_status conform(chunk all, txm_error *err)
{
    state *s = all.s;
    uint32_t pieces = s->feed->conform->space ? txm_pool_threads(s->feed->job->pool) : 1;
    pieces = pieces > CHUNKS ? CHUNKS : pieces > all.rows ? all.rows : pieces;
    if (pieces <= 1) {
        conform_chunk(&all);
        return TXM_OK;
    }
    chunk chunks[CHUNKS];
    txm_group *group = txm_group_new(s->feed->job->pool);
    bool ok = group != NULL;
    for (uint32_t i = 0; ok && i < pieces; i++) {
        uint32_t begin = all.rows * i / pieces, end = all.rows * (i + 1) / pieces;
        chunks[i] = (chunk){s, all.src + begin * s->src_stride, all.dst + begin * s->row_bytes, end - begin, i};
        ok = txm_group_submit(group, true, conform_chunk, &chunks[i]);
    }
    txm_group_free(group);
    return ok ? TXM_OK : fail_no_memory(s, err);
}

static void add_stats(state *s, const txm_band *band, uint32_t y, uint32_t rows)
{
    txm_feed *f = s->feed;
    unsigned long long clock = txm_job_clock(f->job);
    for (uint32_t i = 0; i < rows; i++)
        f->conform->ops->stats(f->conform->type, s->channels, band->pixels + (y + i) * band->stride_bytes, s->width,
                               &f->stats);
    txm_job_book(f->job, TXM_STAGE_CONFORM, clock);
}

/* Reads and conforms rows y to y+rows-1 of the image. */
static txm_status read_rows(state *s, uint32_t y, uint32_t rows, uint8_t *dst, txm_error *err)
{
    uint8_t *src = s->raw ? s->raw : dst;
    unsigned long long clock = txm_job_clock(s->feed->job);
    txm_status status = txm_source_read(s->feed->source, y, rows, src, s->src_stride, err);
    txm_job_book(s->feed->job, TXM_STAGE_DECODE, clock);
    if (!status)
        status = conform((chunk){s, src, dst, rows, 0}, err);
    return status;
}

/* The number of rows to read at once. Threads share the conversion of whole bands, and readers that do not say how many
 * rows they decode at once may have to copy fewer. */
static uint32_t rows_at_once(const state *s)
{
    uint32_t unit = s->info->unit_rows;
    if (!unit || s->feed->conform->space)
        return s->feed->band_rows;
    return unit < CACHED_ROWS ? (CACHED_ROWS + unit - 1) / unit * unit : unit;
}

static void *place_halved(void *context, uint32_t level, uint32_t y)
{
    state *s = context;
    txm_feed *f = s->feed;
    (void)level;
    if (y % f->band_rows == 0) {
        const uint32_t left = s->height - y, rows = left < f->band_rows ? left : f->band_rows;
        const size_t stride = s->width * s->channels * txm_type_bytes(f->conform->type);
        txm_band *band = s->band_count < HALVED_BANDS ? txm_band_new(f->job->bands, 0, y, rows, stride, NULL) : NULL;
        if (!band)
            return NULL;
        s->bands[s->band_count++] = band;
    }
    return txm_band_row(s->bands[s->band_count - 1], y);
}

static void placed_halved(void *context, uint32_t level, uint32_t y)
{
    state *s = context;
    const txm_band *band = s->bands[s->band_count - 1];
    (void)level;
    add_stats(s, band, y - band->y, 1);
    s->halved = y + 1;
}

/* Reads the rows of a band of level 0, or of the image until such a band is complete; that counts as alive from then
 * on. */
static txm_status read_band(state *s, uint32_t y, txm_band **out, txm_error *err)
{
    txm_feed *f = s->feed;
    txm_status status = TXM_OK;
    uint32_t step = rows_at_once(s);
    if (!s->halving) {
        const uint32_t left = s->height - y, rows = left < f->band_rows ? left : f->band_rows;
        txm_band *band = txm_band_new(f->job->bands, 0, y, rows, s->row_bytes, &f->alive);
        if (!band)
            return fail_no_memory(s, err);
        for (uint32_t done = 0; !status && done < rows; done += step) {
            const uint32_t some = rows - done < step ? rows - done : step;
            status = read_rows(s, y + done, some, band->pixels + done * s->row_bytes, err);
            if (!status)
                add_stats(s, band, done, some);
        }
        if (status)
            txm_band_drop(band);
        else
            *out = band;
        return status;
    }
    step = step < f->band_rows ? step : f->band_rows;
    while (!s->band_count || s->halved < s->bands[0]->y + s->bands[0]->rows) {
        const uint32_t left = s->info->height - s->read, rows = left < step ? left : step;
        if (!txm_job_runs(f->job))
            return job_failed(s, err);
        if ((status = read_rows(s, s->read, rows, s->rows, err)))
            return status;
        unsigned long long clock = txm_job_clock(f->job);
        const bool ok = txm_pyramid_push(s->halving, s->rows, s->row_bytes, rows);
        txm_job_book(f->job, TXM_STAGE_PYRAMID, clock);
        if (!ok)
            return fail_no_memory(s, err);
        s->read += rows;
    }
    *out = s->bands[0];
    s->band_count--;
    memmove(&s->bands[0], &s->bands[1], s->band_count * sizeof s->bands[0]);
    (*out)->alive = &f->alive;
    atomic_fetch_add(&f->alive, 1);
    return TXM_OK;
}

static bool few_alive(void *arg)
{
    const txm_feed *f = arg;
    return atomic_load(&f->alive) <= f->bands_in_flight;
}

/* Passes a band to the sink; if enough bands are in flight, works on queued jobs first, so that memory is bounded. */
static void give(state *s, txm_band *band)
{
    s->feed->sink.band(s->feed->sink.context, band);
    txm_pool_wait_until(s->feed->job->pool, few_alive, s->feed);
}

/* Passes on rows y .. y+rows-1 of level 0 in the constant colour, `width` pixels of `pixel_bytes`. */
static txm_status hand_on_constant(state *s, uint32_t width, uint32_t y, uint32_t rows, txm_error *err)
{
    txm_feed *f = s->feed;
    size_t pixel_bytes = txm_type_bytes(f->conform->type) * (f->grey ? 1 : s->channels);
    txm_band *band = txm_band_new(s->feed->job->bands, 0, y, rows, width * pixel_bytes, &s->feed->alive);
    if (!band)
        return fail_no_memory(s, err);
    for (size_t i = 0; i < (size_t)width * rows; i++)
        memcpy(band->pixels + i * pixel_bytes, f->stats.first, pixel_bytes);
    give(s, band);
    return TXM_OK;
}

static txm_status start_feeding(state *s, uint32_t width, uint32_t height, bool constant, txm_error *err)
{
    txm_feed *f = s->feed;
    /* The image is grey so far; sources with one channel have nothing to drop. */
    f->grey = f->may_be_grey && f->stats.grey;
    const txm_feed_start what = {width, height, f->grey ? 1 : s->channels, f->conform->type, constant};
    s->started = true;
    return f->sink.start(f->sink.context, &what) ? TXM_OK : job_failed(s, err);
}

static bool in_vain(const txm_feed *f)
{
    return f->not_grey || f->lost_zeros;
}

/* Bands of one colour are not kept, since they can be made again if another colour follows; but 0 and -0 are equal, so
 * whether all their bits are the same is noted, and the last pixel. */
static txm_status keep_band(state *s, txm_band *band, txm_error *err)
{
    txm_feed *f = s->feed;
    const txm_type type = f->conform->type;
    txm_status status = TXM_OK;
    if (!f->stats.varies && !f->keep_zeros) {
        const size_t pixel_bytes = txm_type_bytes(type) * s->channels;
        const uint8_t *row = band->pixels;
        for (uint32_t y = 0; y < band->rows && txm_type_is_float(type) && !s->both_zeros;
             y++, row += band->stride_bytes)
            s->both_zeros = memcmp(row, f->stats.first, pixel_bytes) != 0 ||
                            memcmp(row, row + pixel_bytes, (s->width - 1) * pixel_bytes) != 0;
        row = band->pixels + (band->rows - 1) * band->stride_bytes;
        memcpy(s->last, row + (s->width - 1) * pixel_bytes, pixel_bytes);
        txm_band_drop(band);
        return TXM_OK;
    }
    f->lost_zeros = s->both_zeros;
    if (!s->started && !f->lost_zeros) {
        /* The rows before this band have one colour, from which they are made now. */
        status = start_feeding(s, s->width, s->height, false, err);
        for (uint32_t y = 0; !status && y < band->y; y += f->band_rows)
            status = hand_on_constant(s, s->width, y, f->band_rows, err);
    }
    if (f->grey && !f->stats.grey)
        f->not_grey = true;
    if (status || in_vain(f)) {
        txm_band_drop(band);
        return status;
    }
    txm_band *out = band;
    if (f->grey && s->channels == 4) {
        out = txm_band_new(f->job->bands, 0, band->y, band->rows, band->stride_bytes / 4, &f->alive);
        for (uint32_t y = 0; out && y < band->rows; y++)
            f->conform->ops->take_first(type, band->pixels + y * band->stride_bytes,
                                        out->pixels + y * out->stride_bytes, s->width);
        txm_band_drop(band);
        if (!out)
            return fail_no_memory(s, err);
    }
    give(s, out);
    return TXM_OK;
}

/* A device that conforms rows has the decoder write directly into its buffers. */
static txm_status next_raw(state *s, uint32_t y, uint32_t *rows, txm_error *err)
{
    txm_feed *f = s->feed;
    uint32_t left = s->info->height - y;
    *rows = left < f->band_rows ? left : f->band_rows;
    uint8_t *place = txm_gpu_stage_place(f->device, *rows);
    if (!place)
        return job_failed(s, err);
    unsigned long long clock = txm_job_clock(f->job);
    txm_status status = txm_source_read(f->source, y, *rows, place, s->src_stride, err);
    txm_job_book(f->job, TXM_STAGE_DECODE, clock);
    if (!status && !txm_gpu_stage_take(f->device, *rows))
        status = job_failed(s, err);
    f->not_grey |= f->grey && !f->stats.grey;
    return status;
}

/* Runs until the last row, a failure, or a coloured pixel in a grey image. */
static txm_status feed_rows(state *s, txm_error *err)
{
    txm_feed *f = s->feed;
    txm_status status = TXM_OK;
    for (uint32_t y = 0; !status && y < s->height && !in_vain(f);) {
        uint32_t rows = 0;
        if (!txm_job_runs(f->job))
            return job_failed(s, err);
        txm_band *band = NULL;
        status = f->raw ? next_raw(s, y, &rows, err) : read_band(s, y, &band, err);
        if (band) {
            rows = band->rows;
            status = keep_band(s, band, err);
        }
        y += rows;
        if (!status && f->progress)
            f->progress(f->progress_user, y, s->height);
    }
    if (!status && !f->stats.varies && !in_vain(f)) {
        /* A constant image becomes one tile, as in Blender, with the zeros of its last pixel. */
        const uint32_t w = s->width < TXM_DEFAULT_TILE_PX ? s->width : TXM_DEFAULT_TILE_PX;
        const uint32_t h = s->height < TXM_DEFAULT_TILE_PX ? s->height : TXM_DEFAULT_TILE_PX;
        f->constant = true;
        memcpy(f->stats.first, s->last, sizeof s->last);
        status = start_feeding(s, w, h, true, err);
        for (uint32_t y = 0; !status && y < h; y += f->band_rows)
            status = hand_on_constant(s, w, y, h - y < f->band_rows ? h - y : f->band_rows, err);
    }
    if (status || in_vain(f))
        return status;
    if (f->device && !txm_gpu_stage_end(f->device))
        return job_failed(s, err);
    f->not_grey |= f->grey && !f->stats.grey; /* the statistics that a device took are complete now */
    return TXM_OK;
}

txm_status txm_feed_run(txm_feed *feed, txm_error *err)
{
    const txm_conform *c = feed->conform;
    state s = {.feed = feed, .info = txm_source_info_of(feed->source), .channels = c->channels};
    s.width = txm_level_size(s.info->width, feed->level);
    s.height = txm_level_size(s.info->height, feed->level);
    s.src_stride = (size_t)s.info->width * c->src_channels * txm_type_bytes(c->src_type);
    s.row_bytes = (size_t)s.info->width * c->channels * txm_type_bytes(c->type);
    memset(&feed->stats, 0, sizeof feed->stats);
    feed->not_grey = feed->lost_zeros = feed->grey = feed->constant = feed->raw = false;
    feed->device = NULL;
    bool ok = true;
    if (!txm_conform_in_place(c))
        ok = (s.raw = txm_alloc_pixels(feed->band_rows, s.src_stride)) != NULL;
    for (int i = 0; ok && i < (c->space ? CHUNKS : 1); i++)
        ok = (s.scratch[i] = txm_alloc_pixels(4 * (size_t)c->width, sizeof(float))) != NULL;
    if (ok && feed->level)
        ok = (s.rows = txm_alloc_pixels(feed->band_rows, s.row_bytes)) != NULL;
    txm_status status = ok ? TXM_OK : fail_no_memory(&s, err);
    const txm_pyramid_spec spec = {.width = s.info->width,
                                   .height = s.info->height,
                                   .channels = s.channels,
                                   .type = c->type,
                                   .curve = c->curve,
                                   .equiangular = feed->equiangular,
                                   .only = feed->level};
    const txm_pyramid_sink sink = {&s, place_halved, placed_halved};
    if (!status && feed->level)
        status = txm_pyramid_new(&spec, c->ops, &sink, &s.halving, err);
    if (!status)
        status = feed_rows(&s, err);
    if (status) {
        txm_error own = {0};
        if (err)
            txm_fail_with(&own, status, err);
        else
            own.status = status;
        txm_job_fail(feed->job, &own);
    }
    txm_group_wait(feed->job->group, 0);
    while (s.band_count)
        txm_band_drop(s.bands[--s.band_count]);
    txm_pyramid_free(&s.halving);
    free(s.rows);
    free(s.raw);
    for (int i = 0; i < CHUNKS; i++)
        free(s.scratch[i]);
    return status;
}
