/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups in a view that the caller holds open, for frames that must not wait for tiles.
 *
 * The view's page table decides which lookups are missed, so a device needs only copies of the tiles that the view
 * shows. A launch that finds all of them on the device gives exactly the sampler's results, marks included. Otherwise
 * it reports the tiles that are missing, and is launched again. Each device therefore works on one range of the batch
 * at a time. The range is shortened if the device's memory is too small for the tiles it touches, and a lookup that
 * does not fit by itself is left to the processor.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/device/device_impl.h"

enum { PATIENCE = 2 }; /* launches until the missing tiles are there: the second one copies them */

/* A device's progress: lookups first to first + width - 1 are under way, and those up to `end` belong to it. */
typedef struct range {
    txm_device *device;
    txm_device_launch *launch;
    size_t first, width, end;
    uint32_t launches;
} range;

typedef struct viewing {
    const txm_view *view;
    const txm_cache_extent *extent;
    const txm_device_batch *batch;
    size_t next; /* the first lookup that has not been assigned to a device */
} viewing;

/* Looks up with the sampler itself. */
static void look_by_processor(const viewing *v, txm_device *of, size_t first, size_t end)
{
    const txm_device_batch *b = v->batch;
    for (size_t i = first; i < end; i++) {
        const uint32_t kind = b->how && !b->du ? b->how[i] & TXM_QUERY_KINDS : 0;
        txm_sampler how = b->samplers[b->how ? b->how[i] & ~TXM_QUERY_KINDS : 0];
        const uint32_t texture = b->texture ? b->texture[i] : b->one_texture;
        txm_lookup_state state = {.random = b->random ? b->random[i] : 0};
        if (!b->random)
            how.chance = TXM_CHANCE_NONE;
        b->result[i] =
            (uint8_t)(b->du ? txm_sample_d(v->view, texture, &how, &b->at[i], &state, b->out[i], b->du[i], b->dv[i])
                      : kind == TXM_QUERY_UDIM_BLEND
                          ? txm_sample_udim_blend(v->view, texture, &how, &b->at[i], &state, b->out[i])
                      : kind ? txm_sample_latlong(v->view, texture, &how, &b->at[i], &state, b->out[i])
                             : txm_sample(v->view, texture, &how, &b->at[i], &state, b->out[i]));
        if (b->random)
            b->random[i] = state.random;
    }
    if (of)
        of->stats.by_processor += end - first;
}

static txm_device_batch batch_of(const viewing *v, const range *r)
{
    txm_device_batch b = *v->batch;
    b.count = r->width;
    b.how = b.how ? b.how + r->first : NULL;
    b.texture = b.texture ? b.texture + r->first : NULL;
    b.at += r->first;
    b.random = b.random ? b.random + r->first : NULL;
    b.out += r->first;
    b.du = b.du ? b.du + r->first : NULL;
    b.dv = b.dv ? b.dv + r->first : NULL;
    b.result += r->first;
    b.again = false;
    return b;
}

static void finish_range(range *r, size_t first)
{
    r->first = first;
    r->width = r->width < r->end - first ? r->width : r->end - first;
    r->launches = 0;
}

static void leave_to_processor(const viewing *v, range *r, size_t end)
{
    look_by_processor(v, r->device, r->first, end);
    finish_range(r, end);
}

/* Halves a range that needs too much memory; the processor takes over if it cannot be halved. */
static void shorten(const viewing *v, range *r)
{
    if (r->width <= 1) {
        leave_to_processor(v, r, r->first + r->width);
        return;
    }
    r->width /= 2;
    r->launches = 0;
}

/* Returns false if there is nothing left for the device to do. */
static bool submit_range(viewing *v, range *r, size_t share, txm_status *status, txm_error *err)
{
    while (*status == TXM_OK && !r->device->lost) {
        if (r->first == r->end) {
            const size_t left = v->batch->count - v->next;
            *r = (range){.device = r->device, .first = v->next, .width = left < share ? left : share};
            v->next = r->end = r->first + r->width;
        }
        if (r->first == r->end)
            return false;
        const txm_device_batch b = batch_of(v, r);
        *status = txm_launch_in_view(r->device, v->view, v->extent, &b, &r->launch, err);
        if (*status == TXM_OK)
            return true;
        if (*status == TXM_STATUS_NO_MEMORY)
            shorten(v, r);
        if (*status == TXM_STATUS_NO_MEMORY || *status == TXM_STATUS_DEVICE)
            *status = TXM_OK;
    }
    leave_to_processor(v, r, r->end);
    return false;
}

static void collect_range(const viewing *v, range *r)
{
    bool complete = false;
    const txm_status status = txm_launch_end_in_view(&r->launch, &complete, NULL);
    txm_device_stats *s = &r->device->stats;
    r->launches++;
    s->longest = r->launches > s->longest ? r->launches : s->longest;
    if (complete)
        finish_range(r, r->first + r->width);
    else if (status == TXM_STATUS_DEVICE)
        leave_to_processor(v, r, r->end);
    else if (r->launches >= PATIENCE)
        shorten(v, r);
}

txm_status txm_device_sample_view(txm_device *const *devices, size_t count, const txm_view *view,
                                  const txm_cache_extent *extent, const txm_device_batch *batch, txm_error *err)
{
    viewing v = {view, extent, batch, 0};
    range *ranges = txm_calloc(count ? count : 1, sizeof *ranges);
    size_t share = count ? (batch->count + count - 1) / count : 0;
    txm_status status = TXM_OK;
    txm_error_clear(err);
    if (!ranges)
        return txm_no_memory(err, NULL);
    for (size_t i = 0; i < count; i++) {
        ranges[i].device = devices[i];
        devices[i]->session++;
        share = share < devices[i]->options.max_lookups ? share : devices[i]->options.max_lookups;
    }
    for (bool busy = true; busy;) {
        busy = false;
        for (size_t i = 0; i < count; i++)
            busy |= submit_range(&v, &ranges[i], share, &status, err);
        for (size_t i = 0; i < count; i++)
            if (ranges[i].launch)
                collect_range(&v, &ranges[i]);
    }
    /* Some lookups are left only if all devices were lost. */
    if (status == TXM_OK)
        look_by_processor(&v, count ? devices[0] : NULL, v.next, batch->count);
    free(ranges);
    return status;
}
