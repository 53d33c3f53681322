/* SPDX-License-Identifier: Apache-2.0
 *
 * One attempt at a conversion opens the stages, connects them, and closes them in reverse order. It may turn out to be
 * wrong: the device fails, or an image that looked grey has a coloured pixel. The caller then runs another one with
 * that knowledge, which is why no file appears under its final name here.
 */
#include "mill/convert/attempt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/convert/encode_queue.h"
#include "mill/convert/gpu_stage.h"
#include "mill/convert/hash_stage.h"
#include "mill/convert/memory.h"
#include "mill/convert/tiler.h"
#include "mill/write/section_writer.h"
#include "mill/write/writer.h"

typedef struct attempt {
    const txm_attempt_request *request;
    txm_job job;
    txm_conform conform;
    txm_feed feed;
    txm_tx_layout layout;
    txm_publish *publish;
    txm_tx_writer *writer;
    txm_section_writer *section;
    txm_encode_queue *queue;
    txm_tiler *tiler;
    txm_pixel_hash *hash;
    txm_hash_stage *hash_stage;
    bool hash_pairs;
    txm_strand *pyramid_strand;
    uint64_t pinned_limit; /* the most memory that a device may pin, of what bands would take; 0: no bound */
    char device[16];       /* its name, for the report */
} attempt;

/* A band that is being passed to the pyramid. */
typedef struct delivery {
    attempt *a;
    txm_band *band;
} delivery;

static bool encode_tiles(void *context, txm_band *band)
{
    return txm_encode_queue_tiles(context, band);
}

static bool encode_borders(void *context, txm_band *band, txm_band *const around[4])
{
    return txm_encode_queue_borders(context, band, around);
}

/* Whether a device gets rows of level 0: those that OpenColorIO converts, and those that were halved for a limit. */
static bool conforms_here(const attempt *a)
{
    return a->conform.space || a->feed.level;
}

/* Leaves a->feed.device NULL if the CPU is to convert the image; the log says why. */
static void open_device(attempt *a, const txm_pyramid_spec *spec)
{
    const txm_attempt_request *r = a->request;
    const txm_conform *c = &a->conform;
    const bool floats = txm_type_is_float(spec->type);
    const bool wide = spec->width > TXM_MAX_LOOKUP_PX || spec->height > TXM_MAX_LOOKUP_PX;
    char why[TXM_MESSAGE_BYTES] = "latitude-longitude images are filtered there";
    txm_gpu_plan p = {.width = spec->width,
                      .height = spec->height,
                      .tile_px = a->layout.tile_px,
                      .type = spec->type,
                      .conform = {c->src_channels, c->channels, c->associate, c->set_opaque},
                      .channels = spec->channels,
                      .curve = spec->curve,
                      .filter = a->layout.compression.codec != TXM_CODEC_NONE,
                      .borders = a->section != NULL};
    if (a->layout.compression.codec == TXM_CODEC_ZIP && a->layout.compression.level <= TXM_LEVEL_SPARSE) {
        p.encoders = UINT32_MAX;
        p.level = a->layout.compression.level;
    }
    if (conforms_here(a))
        p.conform = (txm_gpu_conform){.src_channels = p.channels, .channels = p.channels};
    else
        p.rows = c->associate || c->set_opaque || c->src_channels != p.channels;
    if (floats)
        snprintf(why, sizeof why, "half and float images are converted there");
    else if (wide)
        snprintf(why, sizeof why, "images of more than %d px a side are converted there", TXM_MAX_LOOKUP_PX);
    txm_gpu_stage_setup setup = {.job = &a->job, .queue = a->queue, .hash = &a->hash_stage, .stats = &a->feed.stats};
    txm_gpu_choice choice = TXM_GPU_NONE;
    if (!spec->equiangular && !wide && !floats)
        choice = txm_gpus_lease(r->context->gpus, &p, a->pinned_limit, &setup.lease, why);
    const bool leased = choice == TXM_GPU_LEASED;
    txm_context_log(r->context, choice == TXM_GPU_REFUSED ? TXM_LOG_LEVEL_WARNING : TXM_LOG_LEVEL_INFO, "%s: on %s: %s",
                    r->target, leased ? setup.lease.label : "the CPU", why);
    txm_error err = {0};
    if (leased && txm_gpu_stage_open(&setup, &a->feed.device, &err))
        txm_context_log(r->context, txm_gpus_is_news(&setup.lease) ? TXM_LOG_LEVEL_WARNING : TXM_LOG_LEVEL_INFO,
                        "%s: on the CPU: %s: %s", r->target, setup.lease.label, err.message);
    if (a->feed.device)
        snprintf(a->device, sizeof a->device, "%s", setup.lease.label);
    a->feed.raw = a->feed.device && !conforms_here(a);
}

/* Called once the feeder has decided the size, type and channels of the file. */
static txm_status open_output(attempt *a, const txm_feed_start *what, txm_error *err)
{
    const txm_attempt_request *r = a->request;
    a->layout = (txm_tx_layout){.width = what->width,
                                .height = what->height,
                                .levels = txm_level_count(what->width, what->height),
                                .channels = what->channels,
                                .type = what->type,
                                .tile_px = r->settings->tile_px,
                                .compression = r->settings->compression};
    /* Halving has closed a latitude-longitude image. */
    const txm_pyramid_spec spec = {.width = what->width,
                                   .height = what->height,
                                   .channels = what->channels,
                                   .type = what->type,
                                   .curve = a->conform.curve,
                                   .equiangular = r->settings->equiangular,
                                   .closed = a->feed.level > 0 && !what->constant};
    const txm_ops *ops = r->context->ops;
    txm_status status;
    if ((status = txm_publish_begin(r->target, TXM_PUBLISH_IN_CACHE, &a->publish, err)))
        return status;
    char *folder = txm_path_dir(r->target);
    if (!folder)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", r->target);
    if ((status =
             txm_tx_writer_open(txm_publish_fd(a->publish), r->target, &a->layout, r->metadata, &a->writer, err)) ||
        (r->settings->borders && (status = txm_section_writer_new(&a->layout, folder, &a->section, err))) ||
        (status = txm_encode_queue_new(&a->job, &a->layout, a->writer, a->section, folder, &a->queue, err)) ||
        (status = txm_pixel_hash_new(what->width, what->height, what->channels, what->type, ops, &a->hash, err)))
        goto done;
    if (r->devices && r->context->gpus && !what->constant)
        open_device(a, &spec);
    const bool pairs = a->hash_pairs && (!a->feed.device || txm_gpu_stage_holds_rows(a->feed.device));
    const txm_tiler_sink sink = {a->queue, encode_tiles, a->section ? encode_borders : NULL};
    if (!(status = txm_hash_stage_new(&a->job, a->hash, pairs, &a->hash_stage, err)) && !a->feed.device)
        status = txm_tiler_new(&a->job, &spec, &a->layout, ops, &sink, &a->tiler, err);
done:
    free(folder);
    return status;
}

/* false stops the feeder; the job has the error. */
static bool start_stages(void *context, const txm_feed_start *what)
{
    attempt *a = context;
    txm_error err = {0};
    if (open_output(a, what, &err)) {
        txm_job_fail(&a->job, &err);
        return false;
    }
    return true;
}

/* A strand keeps the bands in order; between two bands its thread encodes. */
static void run_pyramid(void *arg)
{
    delivery *d = arg;
    if (txm_job_runs(&d->a->job))
        txm_tiler_push(d->a->tiler, d->band);
    txm_band_drop(d->band);
    free(d);
}

/* Passes each conformed band both to the pyramid or device and to the hash. Of latitude-longitude images the hash gets
 * a copy, because the tiler closes their poles and edges in place, and the digest is of the rows before that. */
static void pass_band(void *context, txm_band *band)
{
    attempt *a = context;
    const bool copies = a->request->settings->equiangular;
    txm_band *to_hash = copies ? txm_band_new(a->job.bands, 0, band->y, band->rows, band->stride_bytes, band->alive)
                               : txm_band_keep(band);
    if (copies && to_hash)
        memcpy(to_hash->pixels, band->pixels, band->rows * band->stride_bytes);
    bool ok = to_hash != NULL;
    if (ok && a->feed.device) {
        ok = txm_gpu_stage_band(a->feed.device, band);
    } else if (ok) {
        delivery *d = malloc(sizeof *d);
        if (d)
            *d = (delivery){a, txm_band_keep(band)};
        ok = d && txm_strand_submit(a->pyramid_strand, run_pyramid, d);
        if (d && !ok)
            txm_band_drop(band);
        if (!ok)
            free(d);
    }
    ok = ok && txm_hash_stage_take(a->hash_stage, to_hash);
    txm_band_drop(to_hash);
    txm_band_drop(band);
    if (!ok && txm_job_runs(&a->job))
        txm_job_no_memory(&a->job);
}

/* Memory is planned before anything is opened, so that a limit that is too low is refused with the amount that is
 * needed. */
static txm_status set_up(attempt *a, txm_error *err)
{
    const txm_attempt_request *r = a->request;
    txm_status status = txm_job_init(&a->job, r->context->pool, r->context->cancel, r->options->stages, err);
    if (status)
        return status;
    if (!(a->pyramid_strand = txm_strand_new(a->job.group)))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for a conversion");
    a->conform = txm_conform_plan(txm_source_info_of(r->source), r->resolved->space, r->resolved->alpha,
                                  txm_color_blender(r->context->color), r->context->ops);
    const txm_conform *c = &a->conform;
    unsigned threads = txm_pool_threads(r->context->pool), held = 0;
    uint64_t bound = r->context->max_memory_bytes, needed = 0;
    unsigned bands =
        txm_convert_bands(c, r->settings, threads, txm_source_info_of(r->source)->memory_bytes, bound, &held, &needed);
    if (!bands)
        return txm_convert_refuse(r->target, needed, err);
    a->hash_pairs = held > 0;
    bands += held;
    /* The buffers of a device replace the bands of level 0 and of the levels above. */
    if (bound)
        a->pinned_limit =
            txm_convert_memory(c, r->settings, bands, threads) - txm_convert_memory(c, r->settings, 1, threads);
    snprintf(a->device, sizeof a->device, "cpu");
    a->feed = (txm_feed){.job = &a->job,
                         .source = r->source,
                         .conform = &a->conform,
                         .band_rows = r->settings->tile_px,
                         .level = txm_limit_level(a->conform.width, a->conform.height, r->settings->limit_px),
                         .equiangular = r->settings->equiangular,
                         .may_be_grey = r->may_be_grey,
                         .keep_zeros = r->keep_zeros,
                         .sink = {a, start_stages, pass_band},
                         .bands_in_flight = bands,
                         .progress = r->options->progress,
                         .progress_user = r->options->progress_user};
    return TXM_OK;
}

/* Appends the levels above level 0 from the spill, then what is known only at the end (digest, averages), then the
 * section. The file is read back to check it. */
static txm_status finish(attempt *a, txm_attempt_result *result, txm_error *err)
{
    txm_status status = txm_encode_queue_finish(a->queue, err);
    if (status)
        return status;
    unsigned long long clock = txm_job_clock(&a->job);
    /* Averages are sums of the samples of level 0 in double, as in Blender's writer. Sums of integers are exact. */
    const txm_stats *st = &a->feed.stats;
    const txm_source_info *info = txm_source_info_of(a->request->source);
    const double pixels =
        (double)txm_level_size(info->width, a->feed.level) * txm_level_size(info->height, a->feed.level);
    txm_tx_summary *s = &result->summary;
    memset(s, 0, sizeof *s);
    for (uint32_t c = 0; c < a->layout.channels; c++)
        s->average[c] = (float)(st->sum[c] / pixels);
    s->opaque = !txm_type_is_float(a->layout.type) && a->layout.channels == 4 && st->sum[3] == pixels;
    s->constant = a->feed.constant;
    if (s->constant)
        a->request->context->ops->to_float(a->layout.type, st->first, s->constant_color, a->layout.channels);
    if ((status = txm_pixel_hash_finish(a->hash, s->sha1, err)))
        return status;
    int fd = txm_publish_fd(a->publish);
    if ((status = txm_tx_writer_finish(a->writer, &result->summary, &result->image_bytes, err)))
        return status;
    if (a->section && (status = txm_section_writer_finish(a->section, fd, result->image_bytes, err))) {
        txm_error_prefix(err, "%s", a->request->target);
        return status;
    }
    if ((status = txm_tx_read_back(fd, a->request->target, &a->layout, a->request->metadata, &result->summary,
                                   result->image_bytes, a->section != NULL, err)))
        return status;
    struct stat file;
    if (fstat(fd, &file))
        return txm_fail_errno(err, errno, "%s", a->request->target);
    txm_job_book(&a->job, TXM_STAGE_WRITE, clock);
    result->file_bytes = (uint64_t)file.st_size;
    result->layout = a->layout;
    result->grey = a->feed.grey;
    snprintf(result->device, sizeof result->device, "%s", a->device);
    double spent[TXM_STAGES];
    for (int i = 0; i < TXM_STAGES; i++)
        spent[i] = (double)atomic_load(&a->job.stage_ns[i]) * 1e-9;
    result->stages = (txm_stage_seconds){.decode = spent[TXM_STAGE_DECODE],
                                         .conform = spent[TXM_STAGE_CONFORM],
                                         .color = spent[TXM_STAGE_COLOR],
                                         .pyramid = spent[TXM_STAGE_PYRAMID],
                                         .hash = spent[TXM_STAGE_HASH],
                                         .encode = spent[TXM_STAGE_ENCODE],
                                         .borders = spent[TXM_STAGE_BORDERS],
                                         .write = spent[TXM_STAGE_WRITE]};
    return TXM_OK;
}

/* If all went well, the publication belongs to the caller, who decides when the file appears. */
txm_status txm_attempt_run(const txm_attempt_request *request, txm_publish **publish, txm_attempt_result *result,
                           txm_error *err)
{
    attempt *a = txm_calloc(1, sizeof *a);
    if (!a)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for a conversion");
    a->request = request;
    memset(result, 0, sizeof *result);
    txm_error own = {0};
    txm_status status = set_up(a, &own);
    if (!status)
        status = txm_feed_run(&a->feed, &own);
    /* The job has the first error of any thread, which is the one to report. */
    if (a->job.error.status)
        status = txm_fail_as(err, &a->job.error);
    else if (status)
        txm_fail_as(err, &own);
    result->not_grey = !status && a->feed.not_grey;
    result->lost_zeros = !status && a->feed.lost_zeros;
    bool in_vain = result->not_grey || result->lost_zeros;
    if (!status && !in_vain)
        status = finish(a, result, err);
    if (!status && !in_vain) {
        *publish = a->publish;
        a->publish = NULL;
    }
    result->failed_again = txm_gpu_stage_failed_again(a->feed.device);
    if (a->job.group)
        txm_group_wait(a->job.group, 0);
    txm_tiler_free(&a->tiler);
    txm_encode_queue_free(&a->queue);
    txm_hash_stage_free(&a->hash_stage);
    txm_pixel_hash_free(&a->hash);
    /* The device's buffers are the bands of all stages before this line. */
    const char *note = txm_gpu_stage_close(&a->feed.device);
    if (note)
        txm_context_log(request->context, TXM_LOG_LEVEL_WARNING, "%s: %s", a->device, note);
    txm_section_writer_free(&a->section);
    txm_tx_writer_close(&a->writer);
    txm_strand_free(a->pyramid_strand);
    txm_publish_abort(&a->publish);
    txm_job_destroy(&a->job);
    free(a);
    return status;
}
