/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies pixels: decodes level 0 once, band by band, and feeds each band to the hash, the statistics and the
 * pyramid. The levels that the pyramid makes are compared with those of the file as they appear, so that memory holds
 * a few bands and not the image.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/convert/context.h"
#include "mill/convert/hash_stage.h"
#include "mill/convert/tiler.h"
#include "mill/inspect/level_diff.h"
#include "mill/inspect/verify_impl.h"
#include "mill/pyramid/border.h"
#include "tile/terms/releases.h"

typedef struct pixel_check {
    txm_verification *v;
    txm_tx *expected; /* a file of the same shape, with which every tile is compared; NULL: with the bands */
    txm_job job;
    size_t pixel_bytes;
    pthread_mutex_t lock; /* guards diffs */
    txm_level_diff diffs[TXM_MAX_LEVELS];
} pixel_check;

/* A run of neighbouring tiles in a row, which is the work of one job. */
typedef struct tile_run {
    pixel_check *check;
    uint32_t level, tile_y, first, count;
} tile_run;

enum {
    RUN_PIXELS = 1 << 16, /* takes a few hundred microseconds: 16 of Blender's tiles */
    TOLD_TILES = 64,
    MAX_QUEUED = 256 /* jobs: the queue must not hold one for each tile of a huge file */
};

typedef struct run {
    tile_run tiles;
    txm_band *band, *around[TXM_BANDS_AROUND];
    atomic_uint *left; /* if it is decoded into the band: the number of runs that are not */
} run;

/* The number of tiles in a run, which may have 16 to 1024 px: enough work to be worth a job. */
static uint32_t run_length(const pixel_check *check)
{
    const txm_tx_info *i = check->v->info;
    uint32_t tiles = RUN_PIXELS / (i->tile_w * i->tile_h);
    return tiles ? tiles : 1;
}

static bool no_memory(pixel_check *check)
{
    txm_error err = {0};
    txm_no_memory(&err, check->v->path);
    txm_job_fail(&check->job, &err);
    return false;
}

/* A finding has its place beside the text. */
static const char *without_place(const txm_error *err)
{
    return txm_error_detail(err) + (err->place_bytes ? err->place_bytes + 2 : 0);
}

/* If a tile cannot be decoded, that is a finding, and *ok is false. Returns false for failures that end the
 * verification.
 */
static bool decode_tile(pixel_check *check, uint32_t level, uint32_t tile_x, uint32_t tile_y, uint8_t *dst,
                        size_t stride, uint32_t *w, uint32_t *h, bool *ok)
{
    txm_verification *v = check->v;
    txm_error err = {0};
    txm_status status = txm_tx_read_tile(v->tx,
                                         &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                           .level = level,
                                                           .tile_x = tile_x,
                                                           .tile_y = tile_y,
                                                           .pixels = dst,
                                                           .pixel_stride_bytes = check->pixel_bytes,
                                                           .row_stride_bytes = stride,
                                                           .width = w,
                                                           .height = h},
                                         &err);
    *ok = status == TXM_OK;
    if (check->expected)
        return true; /* damage was found before */
    /* A level of an image of 16384 px has 65536 tiles. */
    const uint64_t done = atomic_fetch_add(&v->tiles_done, 1) + 1;
    if (v->context && v->context->part && done % TOLD_TILES == 0)
        v->context->part(v->context->part_user, done < v->tiles ? done : v->tiles, v->tiles);
    if (txm_status_is_finding(status)) {
        atomic_store(&v->damaged[level], true);
        txm_find(v->findings, TXM_FINDING_TILE, (txm_place){(int)level, (int)tile_x, (int)tile_y}, "%s",
                 without_place(&err));
        return true;
    }
    if (status)
        txm_job_fail(&check->job, &err);
    return status == TXM_OK;
}

/* ---- decoding and comparing ------------------------------------------------------------------------------------- */

static void finish_run(run *r)
{
    txm_band_drop(r->band);
    for (int i = 0; i < TXM_BANDS_AROUND; i++)
        txm_band_drop(r->around[i]);
    if (r->left)
        atomic_fetch_sub(r->left, 1);
    free(r);
}

/* Decodes each tile of the run and compares it with that of the other file or of the band, if there is one. */
static void check_tiles(void *arg)
{
    run *r = arg;
    pixel_check *c = r->tiles.check;
    const txm_tx_info *i = c->v->info;
    size_t stride = i->tile_w * c->pixel_bytes;
    uint8_t *pixels = txm_alloc_pixels(2 * (size_t)i->tile_h, stride),
            *other = pixels ? pixels + i->tile_h * stride : NULL;
    txm_level_diff diff = {0};
    bool ok = false, going = pixels != NULL;
    if (!pixels)
        no_memory(c);
    for (uint32_t n = 0; going && n < r->tiles.count && txm_job_runs(&c->job); n++) {
        uint32_t x = r->tiles.first + n, w = 0, h = 0;
        txm_error err = {0};
        const txm_tx_request wanted = {.struct_size = sizeof wanted,
                                       .level = r->tiles.level,
                                       .tile_x = x,
                                       .tile_y = r->tiles.tile_y,
                                       .pixels = other,
                                       .pixel_stride_bytes = c->pixel_bytes,
                                       .row_stride_bytes = stride};
        if (c->expected && txm_tx_read_tile(c->expected, &wanted, &err) != TXM_OK) {
            txm_job_fail(&c->job, &err);
            break;
        }
        going = decode_tile(c, r->tiles.level, x, r->tiles.tile_y, pixels, stride, &w, &h, &ok);
        if (going && ok && (c->expected || r->band))
            txm_level_diff_tile(&diff, i->type, i->channels,
                                c->expected ? other : r->band->pixels + (size_t)x * i->tile_w * c->pixel_bytes,
                                c->expected ? stride : r->band->stride_bytes, pixels, stride, w, h, x, r->tiles.tile_y);
    }
    pthread_mutex_lock(&c->lock);
    txm_level_diff_merge(&c->diffs[r->tiles.level], &diff);
    pthread_mutex_unlock(&c->lock);
    free(pixels);
    finish_run(r);
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

/* A row for gathering a border, which reaches into the bands above and below. */
static const uint8_t *band_row(void *context, uint32_t y)
{
    const run *r = context;
    return txm_band_row_near(r->band, r->around, y);
}

/* Whether the stored border has the pixels of the bands. false does not mean that it is wrong: within parity,
 * recomputed levels may differ from the file's. */
static bool border_fits(run *r, uint32_t tile_x, uint8_t *gathered)
{
    const tile_run *t = &r->tiles;
    const txm_tx_info *i = t->check->v->info;
    size_t px = t->check->pixel_bytes;
    const txm_tx_level *level = txm_tx_level_of(t->check->v->tx, t->level);
    uint32_t x0 = tile_x * i->tile_w, y0 = t->tile_y * i->tile_h;
    uint32_t w = level->width - x0 < i->tile_w ? level->width - x0 : i->tile_w;
    uint32_t h = level->height - y0 < i->tile_h ? level->height - y0 : i->tile_h;
    txm_border_gather(band_row, r, level->width, level->height, px, x0, y0, w, h, gathered);
    return txm_tx_border_is(t->check->v->tx, t->level, tile_x, t->tile_y, r->band->pixels + x0 * px,
                            r->band->stride_bytes, gathered);
}

/* Lets the reader compare the border, which decodes the tile and its neighbours again. */
static bool check_border_in_file(const tile_run *t, uint32_t tile_x)
{
    pixel_check *c = t->check;
    txm_error err = {0};
    txm_status status = txm_tx_check_border(c->v->tx, t->level, tile_x, t->tile_y, &err);
    if (txm_status_is_finding(status)) {
        /* A neighbour that cannot be decoded was already reported. */
        if (!atomic_load(&c->v->damaged[t->level]))
            txm_find(c->v->findings, TXM_FINDING_BORDER, (txm_place){(int)t->level, (int)tile_x, (int)t->tile_y}, "%s",
                     without_place(&err));
        return true;
    }
    if (status)
        txm_job_fail(&c->job, &err);
    return status == TXM_OK;
}

/* Compares with the recomputed pixels in memory, and if that fails, with those of the file. */
static void check_borders(void *arg)
{
    run *r = arg;
    pixel_check *c = r->tiles.check;
    const txm_tx_info *i = c->v->info;
    uint8_t *gathered = txm_alloc_pixels(txm_border_pixels(i->tile_w, i->tile_h), c->pixel_bytes);
    bool going = gathered != NULL;
    if (!going)
        no_memory(c);
    for (uint32_t n = 0; going && n < r->tiles.count && txm_job_runs(&c->job); n++) {
        uint32_t x = r->tiles.first + n;
        going = (r->band && border_fits(r, x, gathered)) || check_border_in_file(&r->tiles, x);
    }
    free(gathered);
    finish_run(r);
}

/* ---- queueing --------------------------------------------------------------------------------------------------- */

/* Queues jobs for a whole row of tiles, which hold their own references to bands: check_tiles, check_borders, which
 * reads pixels of the file if `band` is NULL, or decode, which counts `left` down. False if memory is exhausted. */
static bool submit(pixel_check *c, uint32_t level, uint32_t tile_y, txm_band *band, txm_band *const *around,
                   atomic_uint *left, txm_job_fn fn)
{
    uint32_t tiles = txm_tx_level_of(c->v->tx, level)->tiles_x, length = run_length(c);
    bool ok = true;
    for (uint32_t first = 0; first < tiles; first += length) {
        run *r = ok ? txm_calloc(1, sizeof *r) : NULL;
        ok = r != NULL;
        if (!r) {
            if (left)
                atomic_fetch_sub(left, 1);
            continue;
        }
        r->tiles = (tile_run){c, level, tile_y, first, tiles - first < length ? tiles - first : length};
        r->band = txm_band_keep(band);
        r->left = left;
        for (int i = 0; around && i < TXM_BANDS_AROUND; i++)
            r->around[i] = txm_band_keep(around[i]);
        /* Jobs that compare with a band are urgent, since they release memory. */
        ok = txm_group_submit(c->job.group, band && !left, fn, r);
        if (!ok)
            finish_run(r);
    }
    return ok;
}

/* Checks the tiles of the levels from `first`, without bands, and with `borders` the borders of all. */
static void check_levels(pixel_check *c, uint32_t first, bool borders)
{
    bool ok = true;
    for (uint32_t l = 0; l < c->v->info->levels; l++)
        for (uint32_t y = 0; ok && y < txm_tx_level_of(c->v->tx, l)->tiles_y && txm_job_runs(&c->job); y++) {
            txm_group_wait(c->job.group, MAX_QUEUED);
            ok = l < first || submit(c, l, y, NULL, NULL, NULL, check_tiles);
            if (ok && borders)
                ok = submit(c, l, y, NULL, NULL, NULL, check_borders);
        }
    if (!ok)
        no_memory(c);
    txm_group_wait(c->job.group, 0);
}

txm_status txm_verify_tiles(txm_verification *v, txm_tx *expected, txm_error *err)
{
    pixel_check c = {.v = v, .expected = expected};
    txm_status status = txm_job_init(&c.job, v->context->pool, v->context->cancel, false, err);
    if (status)
        return status;
    pthread_mutex_init(&c.lock, NULL);
    c.pixel_bytes = v->info->channels * txm_type_bytes(v->info->type);
    check_levels(&c, 0, false);
    /* The work may have been cancelled after the last job ended. */
    if (!txm_job_runs(&c.job))
        status = txm_fail_as(err, &c.job.error);
    for (uint32_t l = 0; expected && !status && l < v->info->levels; l++)
        txm_report_level(v, TXM_FINDING_DEEP_PIXELS, l, &c.diffs[l]);
    txm_job_destroy(&c.job);
    pthread_mutex_destroy(&c.lock);
    return status;
}

/* ---- the pixels ----------------------------------------------------------------------------------------------------
 */

enum {
    /* The bands that the tiler holds, one in transit, and one in reserve. */
    BASE_BANDS = 5,
    HELD_FOR_HASH_BYTES = 16 << 20,
    MAX_PENDING = 8
};

/* A band of level 0 whose tiles are being decoded. */
typedef struct pending {
    txm_band *band;
    atomic_uint left; /* runs of tiles not yet decoded */
} pending;

typedef struct course {
    pixel_check check;
    bool recomputes; /* levels are recomputed from level 0 */
    bool hashes;     /* the SHA-1 is computed as txmill or Blender does */
    txm_tiler *tiler;
    txm_pixel_hash *hash;
    txm_hash_stage *hash_stage;
    txm_strand *pyramid_strand, *stats_strand;
    txm_stats stats;
    atomic_uint alive; /* number of bands of level 0 in memory */
    unsigned limit;    /* its bound */
    pending queue[MAX_PENDING];
    unsigned first, count, depth; /* first entry and number of entries of the queue, and its bound */
} course;

typedef struct delivery {
    course *c;
    txm_band *band;
} delivery;

/* ---- the tiler's sink ------------------------------------------------------------------------------------------- */

/* The sink of the tiler, which in a conversion encodes bands; here they are compared. */
static bool take_tiles(void *context, txm_band *band)
{
    course *c = context;
    /* Level 0 came from the file itself, and missing levels were reported before. */
    return !band->level || band->level >= c->check.v->info->levels ||
           submit(&c->check, band->level, band->y / c->check.v->info->tile_h, band, NULL, NULL, check_tiles);
}

/* Missing levels were reported with the header. */
static bool take_borders(void *context, txm_band *band, txm_band *const around[4])
{
    course *c = context;
    const txm_tx_info *i = c->check.v->info;
    return band->level >= i->levels ||
           submit(&c->check, band->level, band->y / i->tile_h, band, around, NULL, check_borders);
}

/* ---- the checks of a band of level 0 ---------------------------------------------------------------------------- */

/* Runs on a strand, since bands must reach the pyramid in order, one at a time. */
static void run_pyramid(void *arg)
{
    delivery *d = arg;
    if (txm_job_runs(&d->c->check.job))
        txm_tiler_push(d->c->tiler, d->band);
    txm_band_drop(d->band);
    free(d);
}

/* Runs on a strand of its own, in parallel with the pyramid's. */
static void run_stats(void *arg)
{
    delivery *d = arg;
    const txm_tx_info *i = d->c->check.v->info;
    for (uint32_t y = 0; y < d->band->rows && txm_job_runs(&d->c->check.job); y++)
        d->c->check.v->context->ops->stats(i->type, i->channels, d->band->pixels + y * d->band->stride_bytes, i->width,
                                           &d->c->stats);
    txm_band_drop(d->band);
    free(d);
}

static bool submit_band(course *c, txm_strand *strand, txm_job_fn fn, txm_band *band)
{
    delivery *d = malloc(sizeof *d);
    if (!d)
        return false;
    *d = (delivery){c, txm_band_keep(band)};
    if (txm_strand_submit(strand, fn, d))
        return true;
    txm_band_drop(band);
    free(d);
    return false;
}

/* ---- decoding level 0 ------------------------------------------------------------------------------------------- */

/* Decodes a run of tiles into its place in the band. Damaged tiles are reported and cleared. */
static void decode(void *arg)
{
    run *r = arg;
    pixel_check *check = r->tiles.check;
    const txm_tx_info *i = check->v->info;
    for (uint32_t n = 0; n < r->tiles.count && txm_job_runs(&check->job); n++) {
        uint32_t x = r->tiles.first + n, left = i->width - x * i->tile_w;
        size_t at = (size_t)x * i->tile_w * check->pixel_bytes;
        bool ok = false;
        if (!decode_tile(check, 0, x, r->tiles.tile_y, r->band->pixels + at, r->band->stride_bytes, NULL, NULL, &ok))
            break;
        /* A tile that cannot be decoded becomes zeros; whatever is computed from them is not reported. */
        for (uint32_t y = 0; !ok && y < r->band->rows; y++)
            memset(r->band->pixels + y * r->band->stride_bytes + at, 0,
                   (left < i->tile_w ? left : i->tile_w) * check->pixel_bytes);
    }
    finish_run(r);
}

static bool is_decoded(void *arg)
{
    return atomic_load((atomic_uint *)arg) == 0;
}

/* It is also true if the job was stopped, so that no thread waits for room forever. */
static bool has_room(void *arg)
{
    course *c = arg;
    return atomic_load(&c->alive) < c->limit || atomic_load(&c->check.job.stopped);
}

static bool deliver_oldest(course *c)
{
    pending *p = &c->queue[c->first];
    txm_pool_wait_until(c->check.job.pool, is_decoded, &p->left);
    bool ok = !c->tiler || submit_band(c, c->pyramid_strand, run_pyramid, p->band);
    if (c->hashes)
        ok = ok && txm_hash_stage_take(c->hash_stage, p->band) && submit_band(c, c->stats_strand, run_stats, p->band);
    if (!ok)
        no_memory(&c->check);
    txm_band_drop(p->band);
    c->first = (c->first + 1) % MAX_PENDING;
    c->count--;
    return ok;
}

/* Several bands are decoded at the same time; they leave the queue in order. */
static bool queue_band(course *c, uint32_t tile_y)
{
    pixel_check *check = &c->check;
    const txm_tx_info *i = check->v->info;
    uint32_t y = tile_y * i->tile_h, left = i->height - y;
    txm_band *band = txm_band_new(check->job.bands, 0, y, left < i->tile_h ? left : i->tile_h,
                                  i->width * check->pixel_bytes, &c->alive);
    if (!band)
        return no_memory(&c->check);
    pending *p = &c->queue[(c->first + c->count++) % MAX_PENDING];
    p->band = band;
    atomic_init(&p->left, (txm_tx_level_of(check->v->tx, 0)->tiles_x - 1) / run_length(check) + 1);
    if (!submit(check, 0, tile_y, band, NULL, &p->left, decode))
        no_memory(check); /* the other runs still end before the band is passed on */
    return true;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

/* The file states six significant digits, and the sums were added in another order. */
static bool close_enough(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fmax(fabs(a), fabs(b)) + 1e-9;
}

/* Checks that could not be made are reported with the reason, so that they do not look passed. */
static txm_status conclude(course *c, txm_error *err)
{
    txm_verification *v = c->check.v;
    const txm_tx_description *d = &v->description;
    const char *why = atomic_load(&v->damaged[0])   ? "level 0 has damaged tiles"
                      : v->maker == TXM_MAKER_OTHER ? "another program made the file, with options of its own"
                      : txm_verify_narrowed(v)      ? "Blender cut bits off level 0 after it had made the others"
                      : !c->recomputes              ? "levels, tiles or channels are not of the usual shape"
                                                    : NULL;
    if (why)
        txm_find(v->findings, TXM_FINDING_NOT_RECOMPUTED, TXM_NO_PLACE, "%s", why);
    if (why || !c->hashes)
        return TXM_OK;
    /* The digest and average of latitude-longitude images are of level 0 before its poles and edges were closed. */
    txm_status status = TXM_OK;
    if (!v->description.envlatl) {
        char sha1[TXM_SHA1_HEX];
        status = txm_pixel_hash_finish(c->hash, sha1, err);
        if (!status && *v->description.sha1 && txm_casecmp(sha1, v->description.sha1))
            txm_find(v->findings, TXM_FINDING_SHA1, (txm_place){0, -1, -1}, "stated %s, found %s", v->description.sha1,
                     sha1);
        /* Blender adds float32 in an order that is not known, so the average need not be equal. */
        for (unsigned n = 0; n < d->average_count && n < v->info->channels; n++) {
            const double average = c->stats.sum[n] / ((double)v->info->width * v->info->height);
            if (close_enough(average, (double)d->average[n]))
                continue;
            txm_find(v->findings, TXM_FINDING_AVERAGE, TXM_NO_PLACE, "channel %u: stated %.6g, found %.6g", n,
                     (double)d->average[n], average);
            break;
        }
    }
    /* If a file states a constant colour, a render shows that colour, even if pixels differ. */
    float first[4];
    bool same = !d->constant_count || !c->stats.varies;
    v->context->ops->to_float(v->info->type, c->stats.first, first, v->info->channels);
    for (unsigned n = 0; n < d->constant_count && n < v->info->channels; n++)
        same = same && close_enough((double)first[n], (double)d->constant[n]);
    if (!same)
        txm_find(v->findings, TXM_FINDING_CONSTANT, TXM_NO_PLACE, "%s",
                 c->stats.varies ? "the pixels differ from one another" : "the pixels have another colour");
    for (uint32_t l = 1; l < v->info->levels; l++) {
        /* Poles and edges of level 0 were rounded for the file, but not for the levels above it. */
        if (v->description.envlatl && v->info->type != TXM_TYPE_FLOAT)
            c->check.diffs[l].rounded =
                2 * v->info->channels *
                ((uint64_t)txm_level_size(v->info->width, l) + txm_level_size(v->info->height, l));
        txm_report_level(v, TXM_FINDING_LEVEL, l, &c->check.diffs[l]);
    }
    return status;
}

/* ---- before and after ------------------------------------------------------------------------------------------- */

/* Uses the tiler and pyramid of a conversion, so that both compute the same pixels. */
static txm_status set_up_tiler(course *c, txm_error *err)
{
    const txm_verification *v = c->check.v;
    const txm_tx_info *i = v->info;
    const txm_tx_layout layout = {.width = i->width,
                                  .height = i->height,
                                  .levels = txm_level_count(i->width, i->height),
                                  .channels = i->channels,
                                  .type = i->type,
                                  .tile_px = i->tile_h};
    const txm_curve curve = strcmp(v->description.detected, "scene_linear_srgb") ? TXM_CURVE_NONE
                            : v->description.has_alpha_type && v->description.alpha == TXM_ALPHA_CHANNEL_PACKED &&
                                    !TXM_RELEASE(v->release, packed_levels_divide)
                                ? TXM_CURVE_SRGB_PACKED
                                : TXM_CURVE_SRGB;
    const txm_pyramid_spec spec = {i->width, i->height, i->channels, i->type, curve, v->description.envlatl, true, 0};
    const txm_tiler_sink sink = {c, take_tiles, i->section == TXM_SECTION_STATE_VALID ? take_borders : NULL};
    return txm_tiler_new(&c->check.job, &spec, &layout, v->context->ops, &sink, &c->tiler, err);
}

/* Decides what can be checked: hashing needs a native file; recomputing needs regular levels and a known class of
 * colours. */
static txm_status set_up(course *c, txm_error *err)
{
    txm_verification *v = c->check.v;
    const txm_tx_info *i = v->info;
    txm_status status = txm_job_init(&c->check.job, v->context->pool, v->context->cancel, false, err);
    if (status)
        return status;
    unsigned threads = txm_pool_threads(v->context->pool);
    bool native = i->channels == 1 || i->channels == 4;
    c->check.pixel_bytes = i->channels * txm_type_bytes(i->type);
    c->hashes = native && v->maker != TXM_MAKER_OTHER;
    c->recomputes =
        c->hashes && !txm_verify_narrowed(v) && v->regular && i->tile_w == i->tile_h && *v->description.detected;
    c->depth = threads + 1 < MAX_PENDING ? threads + 1 : MAX_PENDING;
    c->limit = BASE_BANDS + c->depth;
    c->pyramid_strand = txm_strand_new(c->check.job.group);
    c->stats_strand = txm_strand_new(c->check.job.group);
    if (!c->pyramid_strand || !c->stats_strand)
        return txm_no_memory(err, v->path);
    if (c->hashes) {
        /* Pairs of blocks are hashed together if the bands between them fit into a bound of memory. */
        const uint64_t held = txm_hash_held_bands(i->tile_h),
                       held_bytes = held * i->tile_h * i->width * c->check.pixel_bytes;
        const bool pairs =
            i->tile_h >= TXM_MIN_TILE_PX && TXM_HASH_BLOCK_ROWS % i->tile_h == 0 && held_bytes <= HELD_FOR_HASH_BYTES;
        status = txm_pixel_hash_new(i->width, i->height, i->channels, i->type, v->context->ops, &c->hash, err);
        if (!status)
            status = txm_hash_stage_new(&c->check.job, c->hash, pairs, &c->hash_stage, err);
        c->limit += pairs ? (unsigned)held : 0;
        if (status)
            return status;
    }
    return c->recomputes ? set_up_tiler(c, err) : TXM_OK;
}

txm_status txm_verify_pixels(txm_verification *v, txm_error *err)
{
    course *c = txm_calloc(1, sizeof *c);
    if (!c)
        return txm_no_memory(err, v->path);
    c->check.v = v;
    pthread_mutex_init(&c->check.lock, NULL);
    txm_status status = set_up(c, err);
    if (!status) {
        /* All bands of level 0 are decoded in order, `depth` of them at a time. */
        uint32_t rows = txm_tx_level_of(c->check.v->tx, 0)->tiles_y;
        for (uint32_t y = 0; y < rows && txm_job_runs(&c->check.job); y++) {
            while (c->count && (c->count >= c->depth || !has_room(c)))
                deliver_oldest(c);
            txm_pool_wait_until(c->check.job.pool, has_room, c);
            if (!queue_band(c, y))
                break;
        }
        while (c->count)
            deliver_oldest(c);
        if (!c->recomputes) /* the tiles of the other levels are only decoded */
            check_levels(&c->check, 1, v->info->section == TXM_SECTION_STATE_VALID);
        txm_group_wait(c->check.job.group, 0);
        status = c->check.job.error.status;
        if (status)
            txm_fail_as(err, &c->check.job.error);
        else
            status = conclude(c, err);
    }
    if (c->check.job.group)
        txm_group_wait(c->check.job.group, 0); /* for jobs that still use what is freed */
    txm_tiler_free(&c->tiler);
    txm_hash_stage_free(&c->hash_stage);
    txm_pixel_hash_free(&c->hash);
    txm_strand_free(c->pyramid_strand);
    txm_strand_free(c->stats_strand);
    txm_job_destroy(&c->check.job);
    pthread_mutex_destroy(&c->check.lock);
    free(c);
    return status;
}
