/* SPDX-License-Identifier: Apache-2.0
 *
 * The stage of a device. If the device fails, the attempt fails with DEVICE, and the conversion runs again on the CPU.
 */
#include "mill/convert/gpu_stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* A result whose pieces are lent to the encoders. */
typedef struct lent {
    txm_gpu_stage *stage;
    txm_gpu_result *result;
    atomic_uint references;
} lent;

struct txm_gpu_stage {
    txm_gpu_stage_setup setup;
    const txm_gpu_jobs *jobs;
    txm_gpu_job *job;
    size_t raw_row, stored_row;
    /* The chunk that is being filled. */
    uint8_t *chunk;
    uint32_t rows;
    bool conformed;
    unsigned on_device; /* chunks that were submitted and not collected */
    atomic_uint lent;   /* results that encoders still read */
    txm_status failed;  /* how the device did */
};

txm_status txm_gpu_stage_open(const txm_gpu_stage_setup *setup, txm_gpu_stage **out, txm_error *err)
{
    txm_gpu_lease lease = setup->lease;
    const txm_gpu_plan *plan = &lease.plan;
    txm_gpu_stage *s = txm_calloc(1, sizeof *s);
    txm_status status = s ? lease.jobs->open(lease.device, plan, &s->job, err) : txm_no_memory(err, NULL);
    if (status) {
        txm_gpus_return(&lease, status);
        free(s);
        return status;
    }
    s->setup = *setup;
    s->jobs = lease.jobs;
    s->raw_row = (size_t)plan->width * plan->conform.src_channels * txm_type_bytes(plan->type);
    s->stored_row = (size_t)plan->width * plan->channels * txm_type_bytes(plan->type);
    *out = s;
    return TXM_OK;
}

const char *txm_gpu_stage_close(txm_gpu_stage **stage)
{
    txm_gpu_stage *s = stage ? *stage : NULL;
    if (!s)
        return NULL;
    const char *note = txm_gpus_note(s->setup.lease.gpus);
    s->jobs->close(&s->job);
    txm_gpus_return(&s->setup.lease, s->failed);
    free(s);
    *stage = NULL;
    return note;
}

bool txm_gpu_stage_failed_again(const txm_gpu_stage *s)
{
    return s && s->failed && !txm_gpus_is_news(&s->setup.lease);
}

bool txm_gpu_stage_holds_rows(const txm_gpu_stage *s)
{
    return s->setup.lease.plan.slots > 2 && s->setup.lease.plan.chunk_rows >= TXM_HASH_BLOCK_ROWS;
}

/* Whatever the device's failure is, the file can be made without it; the status says so to the caller. */
static bool device_failed(txm_gpu_stage *s, const txm_error *cause)
{
    txm_error err = {0};
    s->failed = cause->status;
    txm_fail(&err, TXM_STATUS_DEVICE, "%s: %s", s->setup.lease.label, cause->message);
    txm_job_fail(s->setup.job, &err);
    return false;
}

/* Called on the thread that drops the last band of a result. */
static void give_back(void *owner)
{
    lent *l = owner;
    if (atomic_fetch_sub(&l->references, 1) != 1)
        return;
    txm_gpu_stage *s = l->stage;
    s->jobs->release(s->job, l->result);
    free(l);
    /* This must come last: the stage may be closed afterwards. */
    atomic_fetch_sub(&s->lent, 1);
}

/* Each band holds a reference to the result that it is part of. */
static txm_band *lend(lent *l, uint32_t level, uint32_t y, uint32_t rows, size_t stride, const uint8_t *bytes)
{
    atomic_fetch_add(&l->references, 1);
    txm_band *band = txm_band_lend(level, y, rows, stride, bytes, give_back, l);
    if (!band)
        give_back(l);
    return band;
}

/* Hashes rows of level 0 in the same pieces as on the CPU. */
static bool hash_rows(txm_gpu_stage *s, lent *l, const uint8_t *rows)
{
    uint32_t px = s->setup.lease.plan.tile_px;
    bool ok = true;
    for (uint32_t y = 0; ok && y < l->result->rows; y += px) {
        uint32_t n = l->result->rows - y < px ? l->result->rows - y : px;
        txm_band *band = lend(l, 0, l->result->y + y, n, s->stored_row, rows + y * s->stored_row);
        ok = band && txm_hash_stage_take(*s->setup.hash, band);
        txm_band_drop(band);
    }
    return ok;
}

/* Adds sums row by row, as the CPU does. */
static void add_stats(txm_gpu_stage *s, const txm_gpu_result *r)
{
    const txm_gpu_plan *plan = &s->setup.lease.plan;
    txm_stats *st = s->setup.stats;
    uint32_t channels = plan->conform.channels;
    txm_gpu_pixel first = txm_gpu_load(plan->type, channels, st->first);
    for (uint32_t y = 0; y < r->rows; y++) {
        const txm_gpu_row_stats *row = &r->stats[y];
        for (uint32_t c = 0; c < channels; c++) {
            st->sum[c] += row->sum[c];
            const float v = (float)first.v[c];
            st->varies |= row->min[c] != v || row->max[c] != v;
        }
        st->grey = st->grey && row->grey;
    }
}

/* A result may also have statistics; its memory returns to the device when its last piece is encoded. */
static bool use(txm_gpu_stage *s, txm_gpu_result *r)
{
    const txm_gpu_plan *plan = &s->setup.lease.plan;
    lent *l = malloc(sizeof *l);
    if (!l) {
        s->jobs->release(s->job, r);
        return txm_job_no_memory(s->setup.job);
    }
    *l = (lent){.stage = s, .result = r};
    atomic_init(&l->references, 1);
    atomic_fetch_add(&s->lent, 1);
    bool ok = true;
    if (r->stats)
        add_stats(s, r);
    /* Rows that conforming does not change are hashed as they were submitted; changed ones are among the pieces.
     * Bands that came conformed were hashed by the feeder's sink. */
    if (r->stats && !plan->rows)
        ok = hash_rows(s, l, r->submitted);
    for (size_t i = 0; ok && i < r->piece_count; i++) {
        const txm_gpu_piece *p = &r->pieces[i];
        txm_band *const nobody[TXM_BANDS_AROUND] = {NULL};
        if (p->kind == TXM_GPU_ROWS) {
            ok = hash_rows(s, l, p->bytes);
            continue;
        }
        txm_band *band = lend(l, p->level, p->y, p->rows, 0, p->bytes);
        if ((ok = band != NULL)) {
            band->ready = true;
            band->packed = p->packed;
            ok = p->kind == TXM_GPU_TILES ? txm_encode_queue_tiles(s->setup.queue, band)
                                          : txm_encode_queue_borders(s->setup.queue, band, nobody);
        }
        txm_band_drop(band);
    }
    give_back(l);
    return ok || txm_job_no_memory(s->setup.job);
}

/* Collects the oldest chunk if it is finished, or waits for it if `wait`: while the device works, this thread does
 * other work of the pool, and where there is none, another thread may begin the next file. */
static bool collect(txm_gpu_stage *s, bool wait)
{
    txm_gpu_result *r = NULL;
    txm_error err = {0};
    txm_pool *pool = s->setup.job->pool;
    bool helped = false, ok = true;
    if (!s->on_device)
        return true;
    do {
        unsigned long long clock = txm_job_clock(s->setup.job);
        ok = s->jobs->collect(s->job, false, &r, &err) == TXM_OK;
        txm_job_book(s->setup.job, TXM_STAGE_PYRAMID, clock);
        helped = ok && !r && wait && txm_pool_help(pool);
    } while (helped);
    unsigned long long clock = txm_job_clock(s->setup.job);
    if (ok && !r && wait) {
        txm_pool_leave(pool);
        ok = s->jobs->collect(s->job, true, &r, &err) == TXM_OK;
        txm_pool_return(pool);
    }
    if (!ok) {
        device_failed(s, &err);
    } else if (r) {
        s->on_device--;
        ok = use(s, r);
    }
    txm_job_book(s->setup.job, TXM_STAGE_PYRAMID, clock);
    return ok;
}

/* Results that are finished are passed on at once. */
static bool submit(txm_gpu_stage *s)
{
    txm_error err = {0};
    if (!s->rows)
        return true;
    unsigned long long clock = txm_job_clock(s->setup.job);
    bool ok = s->jobs->submit(s->job, s->rows, s->conformed, &err) == TXM_OK || device_failed(s, &err);
    txm_job_book(s->setup.job, TXM_STAGE_PYRAMID, clock);
    s->on_device += ok;
    s->chunk = NULL;
    s->rows = 0;
    return ok && collect(s, false);
}

/* The device has as many slots as planned; if all are lent it would be idle. */
static bool some_came_back(void *arg)
{
    txm_gpu_stage *s = arg;
    return atomic_load(&s->lent) < s->setup.lease.plan.slots || atomic_load(&s->setup.job->stopped);
}

/* Memory for `rows` more rows, of one of the two formats, in the chunk. While there is no buffer to fill, finished
 * results are collected and encoded. */
static uint8_t *room_for_rows(txm_gpu_stage *s, uint32_t rows, bool conformed)
{
    bool full = s->rows + rows > s->setup.lease.plan.chunk_rows || s->conformed != conformed;
    if (s->rows && full && !submit(s))
        return NULL;
    while (!s->chunk && !(s->chunk = s->jobs->place(s->job))) {
        if (!txm_job_runs(s->setup.job))
            return NULL;
        if (!s->on_device)
            txm_pool_wait_until(s->setup.job->pool, some_came_back, s);
        else if (!collect(s, true))
            return NULL;
    }
    s->conformed = conformed;
    return s->chunk + s->rows * (conformed ? s->stored_row : s->raw_row);
}

uint8_t *txm_gpu_stage_place(txm_gpu_stage *s, uint32_t rows)
{
    return room_for_rows(s, rows, false);
}

bool txm_gpu_stage_take(txm_gpu_stage *s, uint32_t rows)
{
    s->rows += rows;
    return s->rows < s->setup.lease.plan.chunk_rows ? collect(s, false) : submit(s);
}

/* The rows of images that the CPU conforms are copied once. */
bool txm_gpu_stage_band(txm_gpu_stage *s, const txm_band *band)
{
    uint8_t *at = room_for_rows(s, band->rows, true);
    if (!at)
        return false;
    memcpy(at, band->pixels, band->rows * s->stored_row);
    return txm_gpu_stage_take(s, band->rows);
}

bool txm_gpu_stage_end(txm_gpu_stage *s)
{
    bool ok = submit(s);
    while (ok && s->on_device)
        ok = collect(s, true);
    return ok;
}
