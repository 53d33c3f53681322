/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole batches on several devices: each device takes another part when it has finished one, and each part is launched
 * until none of its lookups misses.
 *
 * While the tiles of one part load, the device runs another. Colours that were found are kept, so each launch of a part
 * holds fewer lookups. If memory is too small for everything that a part needs at once, fewer lookups are launched
 * together, down to one. Lookups that still miss, or have no device left, are done by the processor, which waits for
 * tiles one by one.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/device/device_impl.h"

enum { PATIENCE = 4 }; /* launches in a row that may find nothing: opening files and loading tiles takes two */

/* A part of the batch that a device has taken. */
typedef struct part {
    size_t first, count, done; /* lookups before `done` have their colours */
    size_t width;              /* most lookups launched at once, counted from the first without a colour */
    uint32_t launches, idle;   /* launches in all, and those in a row that found nothing */
    bool active;
    size_t begun, under_way, missed_before; /* the launch that is under way */
    txm_device_launch *launch;
    txm_ticket *loading;
} part;

/* A device and its parts, one for each launch that may be under way. */
typedef struct worker {
    txm_device *device;
    part parts[TXM_DEVICE_LAUNCHES];
    int next; /* index of the part to collect next */
} worker;

/* Part of the batch that a lost device had, which must be done again. */
typedef struct left_over {
    size_t first, count;
} left_over;

typedef struct many {
    const txm_device_batch *batch;
    txm_cache *cache;
    worker *workers;
    size_t worker_count;
    size_t next, part_size; /* next: the first lookup that is in no part yet */
    left_over *left;
    size_t left_count, left_capacity;
} many;

/* A batch of elements first to first + count - 1, without those that have a colour. */
static txm_device_batch slice(const txm_device_batch *b, size_t first, size_t count)
{
    txm_device_batch s = *b;
    s.count = count;
    s.how = b->how ? b->how + first : NULL;
    s.texture = b->texture ? b->texture + first : NULL;
    s.at = b->at + first;
    s.random = b->random ? b->random + first : NULL;
    s.out = b->out + first;
    s.du = b->du ? b->du + first : NULL;
    s.dv = b->dv ? b->dv + first : NULL;
    s.result = b->result + first;
    s.again = true;
    return s;
}

txm_status txm_device_by_processor(txm_cache *cache, const txm_device_batch *b, size_t first, size_t count,
                                   txm_device *of, txm_error *err)
{
    txm_cache_thread *thread = NULL;
    while (count && b->result[first] != TXM_LOOKUP_MISS) {
        first++;
        count--;
    }
    txm_status status = count ? txm_cache_thread_new(cache, &thread, err) : TXM_OK;
    const float bias = txm_cache_bias(cache);
    for (size_t i = first; status == TXM_OK && i < first + count; i++) {
        if (b->result[i] != TXM_LOOKUP_MISS)
            continue;
        const uint32_t kind = b->how && !b->du ? b->how[i] & TXM_QUERY_KINDS : 0;
        txm_sampler how = b->samplers[b->how ? b->how[i] & ~TXM_QUERY_KINDS : 0];
        const uint32_t texture = b->texture ? b->texture[i] : b->one_texture;
        uint32_t *random = b->random ? &b->random[i] : NULL;
        how.mip_bias -= bias; /* txm_cache_sample adds the bias again */
        b->result[i] = (uint8_t)(b->du ? txm_cache_sample_d(thread, texture, &how, &b->at[i], random, b->out[i],
                                                            b->du[i], b->dv[i])
                                 : kind == TXM_QUERY_UDIM_BLEND
                                     ? txm_cache_sample_udim_blend(thread, texture, &how, &b->at[i], random, b->out[i])
                                 : kind ? txm_cache_sample_latlong(thread, texture, &how, &b->at[i], random, b->out[i])
                                        : txm_cache_sample(thread, texture, &how, &b->at[i], random, b->out[i]));
        if (of)
            of->stats.by_processor++;
    }
    txm_cache_thread_free(&thread);
    return status;
}

/* ---- parts ---- */

static bool take_part(many *m, part *p)
{
    if (m->left_count) {
        const left_over l = m->left[--m->left_count];
        *p = (part){.first = l.first, .count = l.count, .width = l.count, .active = true};
        return true;
    }
    if (m->next >= m->batch->count)
        return false;
    const size_t left = m->batch->count - m->next, count = left < m->part_size ? left : m->part_size;
    *p = (part){.first = m->next, .count = count, .width = count, .active = true};
    m->next += count;
    return true;
}

/* The number of lookups to launch now, from the first one of the part that has no colour. */
static size_t range_of(const many *m, part *p)
{
    while (p->done < p->count && m->batch->result[p->first + p->done] != TXM_LOOKUP_MISS)
        p->done++;
    const size_t left = p->count - p->done;
    return left < p->width ? left : p->width;
}

static txm_status hand_back(many *m, part *p, txm_error *err)
{
    txm_ticket_wait(&p->loading);
    p->active = false;
    if (m->left_count == m->left_capacity && !TXM_GROW(m->left, m->left_capacity, m->left_count))
        return txm_no_memory(err, NULL);
    m->left[m->left_count++] = (left_over){p->first, p->count};
    return TXM_OK;
}

/* If memory is too small for a launch, tries smaller ones. */
static txm_status launch_part(many *m, worker *w, part *p, txm_error *err)
{
    txm_ticket_wait(&p->loading);
    for (;;) {
        p->under_way = range_of(m, p);
        if (!p->under_way) {
            p->active = false;
            return TXM_OK;
        }
        p->begun = p->first + p->done;
        const txm_device_batch b = slice(m->batch, p->begun, p->under_way);
        p->missed_before = 0;
        for (size_t i = 0; i < b.count; i++)
            p->missed_before += b.result[i] == TXM_LOOKUP_MISS;
        txm_status status = txm_device_submit(w->device, &b, &p->launch, err);
        if (status == TXM_STATUS_DEVICE)
            return hand_back(m, p, err);
        if (status != TXM_STATUS_NO_MEMORY)
            return status;
        if (p->width <= 1)
            status = txm_device_by_processor(m->cache, m->batch, p->begun, p->under_way, w->device, err);
        else
            status = TXM_OK;
        if (status)
            return status;
        p->width = p->under_way > 1 ? p->under_way / 2 : 1;
    }
}

/* Launches fewer lookups at once after launches that found nothing, and more again after progress. */
static txm_status note_progress(many *m, worker *w, part *p, size_t missed, txm_error *err)
{
    if (missed < p->missed_before) {
        p->idle = 0;
        p->width = p->width < p->count / 2 ? p->width * 2 : p->count;
        return TXM_OK;
    }
    if (++p->idle <= PATIENCE)
        return TXM_OK;
    if (p->under_way > 1) {
        p->width = p->under_way / 2;
        return TXM_OK;
    }
    p->idle = 0;
    return txm_device_by_processor(m->cache, m->batch, p->begun, p->under_way, w->device, err);
}

static txm_status collect_part(many *m, worker *w, part *p, txm_error *err)
{
    size_t missed = 0;
    txm_status status = txm_device_collect(&p->launch, &p->loading, &missed, err);
    if (status == TXM_STATUS_DEVICE)
        return hand_back(m, p, err);
    p->launches++;
    txm_device_stats *s = &w->device->stats;
    s->longest = p->launches > s->longest ? p->launches : s->longest;
    if (status == TXM_STATUS_NO_MEMORY) /* the requests are lost, but the colours are not */
        status = TXM_OK;
    return status ? status : note_progress(m, w, p, missed, err);
}

/* One turn of a device: launches its idle parts, then collects the oldest launch. */
static txm_status turn(many *m, worker *w, bool *busy, txm_error *err)
{
    txm_status status = TXM_OK;
    for (int i = 0; status == TXM_OK && !w->device->lost && i < TXM_DEVICE_LAUNCHES; i++) {
        part *p = &w->parts[(w->next + i) % TXM_DEVICE_LAUNCHES];
        if (p->launch)
            continue;
        if (!p->active && !take_part(m, p))
            continue;
        status = launch_part(m, w, p, err);
    }
    part *p = &w->parts[w->next];
    w->next = (w->next + 1) % TXM_DEVICE_LAUNCHES;
    if (status == TXM_OK && p->launch)
        status = collect_part(m, w, p, err);
    for (int i = 0; i < TXM_DEVICE_LAUNCHES; i++) {
        if (status == TXM_OK && w->device->lost && w->parts[i].active && !w->parts[i].launch)
            status = hand_back(m, &w->parts[i], err);
        *busy |= w->parts[i].active || w->parts[i].launch;
    }
    return status;
}

/* Parts are small enough for every device to get some, and fit into a launch of any device. */
static size_t part_size(const many *m)
{
    size_t most = SIZE_MAX, share = m->batch->count;
    for (size_t i = 0; i < m->worker_count; i++)
        most = m->workers[i].device->options.max_lookups < most ? m->workers[i].device->options.max_lookups : most;
    share = m->worker_count
                ? (share + m->worker_count * TXM_DEVICE_LAUNCHES - 1) / (m->worker_count * TXM_DEVICE_LAUNCHES)
                : share;
    enum { LEAST = 4096 };
    share = share < LEAST ? LEAST : share;
    return share < most ? share : most;
}

/* Ends all launches, because none may be under way when the caller gets its arrays back. */
static void end_all(many *m)
{
    for (size_t i = 0; i < m->worker_count; i++)
        for (int k = 0; k < TXM_DEVICE_LAUNCHES; k++) {
            part *p = &m->workers[i].parts[k];
            size_t missed;
            if (p->launch) {
                txm_ticket_cancel(&p->loading);
                txm_device_collect(&p->launch, &p->loading, &missed, NULL);
            }
            txm_ticket_cancel(&p->loading);
        }
    free(m->workers);
    free(m->left);
}

txm_status txm_device_sample(txm_device *const *devices, size_t count, const txm_device_batch *batch, txm_error *err)
{
    many m = {.batch = batch, .cache = devices[0]->cache};
    txm_error_clear(err);
    m.workers = txm_calloc(count, sizeof *m.workers);
    if (!m.workers)
        return txm_no_memory(err, NULL);
    for (size_t i = 0; i < count; i++)
        if (!devices[i]->lost)
            m.workers[m.worker_count++].device = devices[i];
    for (size_t i = 0; !batch->again && i < batch->count; i++)
        batch->result[i] = TXM_LOOKUP_MISS;
    m.part_size = part_size(&m);
    txm_status status = TXM_OK;
    for (bool busy = true; status == TXM_OK && busy;) {
        busy = false;
        for (size_t i = 0; status == TXM_OK && i < m.worker_count; i++)
            status = turn(&m, &m.workers[i], &busy, err);
        for (size_t i = 0; i < m.worker_count; i++)
            busy |= !m.workers[i].device->lost && (m.left_count || m.next < batch->count);
    }
    if (status == TXM_OK)
        status = txm_device_by_processor(m.cache, batch, 0, batch->count, devices[0], err);
    end_all(&m);
    return status;
}
