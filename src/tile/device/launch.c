/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch: changes, lookups and their kernel are queued, and then results and requests are fetched.
 *
 * A device has one stream, in which a launch queues, in this order: the table's piece and its kernel, which also zeroes
 * the notes; the tiles' piece and its kernel; the lookups; their kernel; and the copies of results and notes back. No
 * step of the queue waits for the processor, and the processor waits once, in txm_device_collect.
 */
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "tile/device/device_impl.h"
#include "tile/sample/filter.h"

enum { BEGIN, PLACED, LOOKED, FETCHED };

/* ---- memory ---- */

txm_status txm_device_check(txm_device *d, int code, const char *what, txm_error *err)
{
    if (!code)
        return TXM_OK;
    if (d->call->out_of_memory(code))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no %s", d->name, what);
    d->lost = true;
    d->stats.lost = 1;
    txm_fail(&d->why, TXM_STATUS_DEVICE, "%s: %s: %s", d->name, what, d->call->text(code));
    return txm_fail_as(err, &d->why);
}

void txm_passage_free(txm_device *d, txm_passage *p)
{
    if (p->pinned)
        d->call->free_pinned(p->pinned);
    if (p->memory)
        d->call->free(p->memory);
    *p = (txm_passage){0};
}

/* The old contents are lost. Takes a quarter more than is needed, so that it seldom grows again. */
txm_status txm_passage_room(txm_device *d, txm_passage *p, size_t bytes, bool memory, txm_error *err)
{
    const size_t wanted = (bytes + bytes / 4 + 4095) & ~(size_t)4095;
    txm_status status = TXM_OK;
    if (bytes > p->pinned_bytes) {
        if (p->pinned)
            d->call->free_pinned(p->pinned);
        p->pinned = NULL;
        p->pinned_bytes = 0;
        status = txm_device_check(d, d->call->alloc_pinned(&p->pinned, wanted), "memory to copy through", err);
        p->pinned_bytes = status == TXM_OK ? wanted : 0;
    }
    if (status == TXM_OK && memory && bytes > p->memory_bytes) {
        if (p->memory)
            d->call->free(p->memory);
        p->memory = NULL;
        p->memory_bytes = 0;
        status = txm_device_check(d, d->call->alloc(&p->memory, wanted), "memory of the device", err);
        p->memory_bytes = status == TXM_OK ? wanted : 0;
    }
    return status;
}

/* ---- what goes in ---- */

/* Selects the lookups of the batch that take part. */
static bool pick(txm_device_launch *l)
{
    const txm_device_batch *b = &l->batch;
    l->picked.count = 0;
    if (!txm_words_room(&l->picked, b->count))
        return false;
    for (size_t i = 0; i < b->count; i++)
        if (!b->again || b->result[i] == TXM_LOOKUP_MISS)
            txm_words_add(&l->picked, (uint32_t)i);
    return true;
}

/* Packs the samplers, then the lookups. If the batch has no random numbers, chance is switched off in the samplers. */
static txm_status pack_lookups(txm_device_launch *l, txm_device_lookup *args, txm_error *err)
{
    const txm_device_batch *b = &l->batch;
    const size_t sampler_bytes = b->sampler_count * sizeof(txm_sampler), count = l->picked.count;
    const size_t bytes = sampler_bytes + count * sizeof(txm_device_in);
    txm_status status = txm_passage_room(l->device, &l->in, bytes, true, err);
    if (status)
        return status;
    txm_sampler *samplers = l->in.pinned;
    for (uint32_t i = 0; i < b->sampler_count; i++) {
        samplers[i] = b->samplers[i];
        if (!b->random)
            samplers[i].chance = TXM_CHANCE_NONE;
    }
    txm_device_in *in = (txm_device_in *)(void *)((uint8_t *)l->in.pinned + sampler_bytes);
    for (size_t k = 0; k < count; k++) {
        const uint32_t i = l->picked.items[k];
        in[k] = (txm_device_in){b->at[i], b->texture ? b->texture[i] : b->one_texture, b->how ? b->how[i] : 0,
                                b->random ? b->random[i] : 0};
        /* Whether its base texture serves a set depends on levels, so it is decided here rather than on the device. */
        if (!l->in_view && in[k].texture < l->view.texture_count && l->view.textures[in[k].texture].udim_rows &&
            txm_mirror_has_base(l->device->cache, in[k].texture))
            in[k].texture = txm_cache_resolve(l->device->cache, in[k].texture, &samplers[in[k].how], &in[k].at);
    }
    args->lookups_at = (uint32_t)(sampler_bytes / 4);
    l->device->stats.lookup_bytes += bytes;
    return TXM_OK;
}

/* ---- in line ---- */

static size_t result_bytes(const txm_device_launch *l)
{
    return l->picked.count * (sizeof(txm_device_out) + (l->batch.du ? sizeof(txm_device_slopes) : 0));
}

/* The bins that lookups of the launch may be in. Only the rest has derivatives. */
static uint32_t bins_of(const txm_device_launch *l)
{
    const txm_device_batch *b = &l->batch;
    uint32_t bins = 1u << TXM_BIN_REST, types = l->device->types;
    if (!b->texture && b->one_texture < l->extent.textures && !l->view.textures[b->one_texture].udim_rows)
        types = 1u << l->view.textures[b->one_texture].type;
    for (uint32_t i = 0; !b->du && i < b->sampler_count; i++) {
        const uint32_t bin = txm_bin_of_filter(b->samplers[i].filter);
        bins |= bin != TXM_BIN_REST ? types << bin : 0;
    }
    return bins;
}

static size_t note_words(const txm_device_launch *l)
{
    return (size_t)TXM_NOTES + l->capacity + l->touched_words;
}

/* Queues the copies of the table's and the tiles' pieces, each followed by the kernel that distributes it. The table's
 * kernel always runs, because it also zeroes the notes. */
static int place(txm_device_launch *l, const txm_update *u)
{
    txm_device *d = l->device;
    const txm_device_lookups *call = d->call;
    const txm_device_place table = {u->table_runs, 1, (uint32_t)note_words(l)};
    const txm_device_place tiles = {u->tile_runs, TXM_DEVICE_UNIT_BYTES / 4, 0};
    void *const to_table[] = {l->updates.memory, l->table, l->notes.memory};
    void *const to_places[] = {l->tiles.memory, d->near_places.memory, d->far_places.memory};
    int code = 0;
    if (u->table_bytes)
        code = call->upload(l->updates.memory, 0, l->updates.pinned, u->table_bytes, d->stream);
    if (!code)
        code = call->place(&table, to_table, d->stream);
    if (!code && u->tile_bytes)
        code = call->upload(l->tiles.memory, 0, l->tiles.pinned, u->tile_bytes, d->stream);
    if (!code && u->tile_bytes)
        code = call->place(&tiles, to_places, d->stream);
    d->stats.table_copies += u->table_bytes != 0;
    d->stats.tile_copies += u->tile_bytes != 0;
    d->stats.table_bytes += u->table_bytes;
    d->stats.tile_bytes += u->tile_bytes;
    d->stats.tiles_copied += u->tile_runs;
    return code;
}

static int put_in_line(txm_device_launch *l, const txm_update *u, const txm_device_lookup *args)
{
    txm_device *d = l->device;
    const txm_device_lookups *call = d->call;
    void *const memories[] = {l->table,     d->near_places.memory, d->far_places.memory,
                              l->in.memory, l->out.memory,         l->notes.memory};
    const size_t in_bytes = (size_t)args->lookups_at * 4 + args->count * sizeof(txm_device_in);
    int code = call->record(l->events[BEGIN], d->stream);
    if (!code)
        code = place(l, u);
    if (!code)
        code = call->upload(l->in.memory, 0, l->in.pinned, in_bytes, d->stream);
    if (!code)
        code = call->record(l->events[PLACED], d->stream);
    if (!code)
        code = call->lookup(args, memories, d->stream);
    if (!code)
        code = call->record(l->events[LOOKED], d->stream);
    if (!code)
        code = call->download(l->out.pinned, l->out.memory, 0, result_bytes(l), d->stream);
    if (!code)
        code = call->download(l->notes.pinned, l->notes.memory, 0, note_words(l) * 4, d->stream);
    return code ? code : call->record(l->events[FETCHED], d->stream);
}

/* Waits for a launch that was queued only in part: its first commands still read memory that the next launch is about
 * to write. */
static void finish_line(txm_device_launch *l)
{
    txm_device *d = l->device;
    bool reached;
    if (!d->lost && !d->call->record(l->events[FETCHED], d->stream))
        (void)d->call->reach(l->events[FETCHED], true, &reached);
}

/* Makes room for everything that the launch needs besides its table. */
static txm_status make_ready(txm_device_launch *l, txm_device_lookup *args, txm_error *err)
{
    txm_device *d = l->device;
    /* The list is copied back with every launch, so a launch of few lookups has a short list. */
    enum { LEAST = 256, EACH = 4 };
    const uint64_t some = LEAST + EACH * (uint64_t)l->picked.count;
    l->capacity = some < d->options.max_requests ? (uint32_t)some : d->options.max_requests;
    l->touched_words = (l->extent.tiles + 31) / 32;
    txm_status status = pack_lookups(l, args, err);
    args->bins = bins_of(l);
    const uint32_t quick = args->bins & ~(1u << TXM_BIN_REST);
    args->sorted = (quick & (quick - 1)) != 0;
    args->lists_at = (uint32_t)(result_bytes(l) / 4);
    const size_t lists = args->sorted ? (size_t)__builtin_popcount(args->bins) : quick != 0;
    if (status == TXM_OK)
        status = txm_passage_room(d, &l->out, result_bytes(l) + lists * l->picked.count * sizeof(uint32_t), true, err);
    if (status == TXM_OK)
        status = txm_passage_room(d, &l->notes, note_words(l) * 4, true, err);
    const uint32_t out_words = (uint32_t)(l->picked.count * sizeof(txm_device_out) / 4);
    args->count = (uint32_t)l->picked.count;
    args->texture_count = l->extent.textures;
    args->udims_at = l->texture_room * (uint32_t)(sizeof(txm_view_texture) / 4);
    args->leaves_at = args->udims_at + l->udim_room;
    args->slots_at = args->leaves_at + l->leaf_room;
    args->slopes_at = l->batch.du ? out_words : 0;
    args->capacity = l->capacity;
    args->near_units = d->near_places.units;
    l->requested = (uint16_t)((l->requested + 1u) % UINT16_MAX);
    args->launch = l->requested;
    args->round = l->view.round;
    args->stand_ins = l->in_view;
    args->rejection = l->in_view ? 0 : l->view.rejection;
    return status;
}

/* Discards a launch that could not be queued. Its updates are sent again by the next one, since an unknown part of them
 * arrived. */
static txm_status not_begun(txm_device_launch *l, uint32_t number, txm_status status)
{
    txm_copies_forget(l->device, number);
    txm_table_forget(l);
    return status;
}

/* Takes an idle launch for the batch; NULL, with the reason, if there is none. */
static txm_device_launch *take_launch(txm_device *d, const txm_device_batch *batch, txm_error *err)
{
    txm_device_launch *l = NULL;
    for (int i = 0; i < TXM_DEVICE_LAUNCHES && !l; i++)
        l = d->launches[i].busy ? NULL : &d->launches[i];
    txm_error_clear(err);
    if (d->lost) {
        txm_fail_as(err, &d->why);
        return NULL;
    }
    if (!l)
        txm_fail(err, TXM_STATUS_USAGE, "%s: %d launches are under way: collect one first", d->name,
                 TXM_DEVICE_LAUNCHES);
    else if (batch->count > UINT32_MAX / 64)
        txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: more than %u lookups in a launch", d->name, UINT32_MAX / 64);
    else if (l->batch = *batch, !pick(l))
        txm_no_memory(err, NULL);
    else
        return l;
    return NULL;
}

static txm_status begin_launch(txm_device_launch *l, txm_error *err)
{
    txm_device *d = l->device;
    txm_device_lookup args = {0};
    txm_update update;
    txm_status status = txm_device_check(d, d->call->use(d->index), "device", err);
    d->clock++;
    if (status == TXM_OK)
        status = txm_table_update(l, &update, err);
    if (status)
        return status;
    status = make_ready(l, &args, err);
    if (status == TXM_OK && d->options.fail_launches == d->clock) {
        d->lost = true;
        d->stats.lost = 1;
        status = txm_fail(&d->why, TXM_STATUS_DEVICE, "%s: lost, for a test", d->name);
        txm_fail_as(err, &d->why);
    }
    if (status == TXM_OK)
        status = txm_device_check(d, put_in_line(l, &update, &args), "launch", err);
    if (status) {
        finish_line(l);
        return not_begun(l, d->clock, status);
    }
    l->number = d->clock;
    l->busy = true;
    d->stats.launches++;
    d->stats.lookups += args.count;
    return TXM_OK;
}

txm_status txm_device_submit(txm_device *d, const txm_device_batch *batch, txm_device_launch **launch, txm_error *err)
{
    txm_error why = {0};
    txm_device_launch *l = take_launch(d, batch, &why);
    txm_error_clear(err);
    *launch = NULL;
    if (!l)
        return txm_fail_as(err, &why);
    l->in_view = false;
    txm_status status = l->viewer ? TXM_OK : txm_cache_viewer_new(d->cache, &l->viewer, err);
    if (status == TXM_OK)
        status = begin_launch(l, err);
    *launch = status == TXM_OK ? l : NULL;
    return status;
}

txm_status txm_launch_in_view(txm_device *d, const txm_view *view, const txm_cache_extent *extent,
                              const txm_device_batch *batch, txm_device_launch **launch, txm_error *err)
{
    txm_error why = {0};
    txm_device_launch *l = take_launch(d, batch, &why);
    *launch = NULL;
    if (!l)
        return txm_fail_as(err, &why);
    l->in_view = true;
    l->view = *view;
    l->extent = *extent;
    txm_status status = begin_launch(l, err);
    *launch = status == TXM_OK ? l : NULL;
    return status;
}

/* ---- what comes out ---- */

/* Copies the colours of this launch; *missed counts the lookups without one. Random states of missed lookups are not
 * advanced, so their next attempt uses the same numbers. In a caller's view results are final, and states are always
 * advanced. */
static void take_results(txm_device_launch *l, size_t *missed)
{
    const txm_device_batch *b = &l->batch;
    const txm_device_out *out = l->out.pinned;
    const size_t count = l->picked.count;
    const txm_device_slopes *slopes =
        (const txm_device_slopes *)(const void *)((const uint8_t *)l->out.pinned + count * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        const uint32_t i = l->picked.items[k];
        memcpy(b->out[i], out[k].color, sizeof out[k].color);
        b->result[i] = (uint8_t)out[k].result;
        if (b->du) {
            memcpy(b->du[i], slopes[k].du, sizeof slopes[k].du);
            memcpy(b->dv[i], slopes[k].dv, sizeof slopes[k].dv);
        }
        *missed += b->result[i] == TXM_LOOKUP_MISS;
        if (b->random && (l->in_view || b->result[i] != TXM_LOOKUP_MISS))
            b->random[i] = out[k].random;
    }
}

/* Records which tiles were touched, for the device's own eviction order and in the cache's view, in which 0 is not an
 * epoch. */
static void take_marks(txm_device_launch *l, uint32_t epoch)
{
    txm_device *d = l->device;
    const uint32_t *touched = (const uint32_t *)l->notes.pinned + TXM_NOTES + l->capacity;
    for (uint32_t w = 0; w < l->touched_words; w++)
        for (uint32_t bits = touched[w]; bits; bits &= bits - 1) {
            const uint32_t entry = w * 32 + (uint32_t)__builtin_ctz(bits);
            if (entry >= l->extent.tiles)
                break;
            const uint32_t slot = l->view.tiles[entry].slot;
            if (epoch)
                __atomic_store_n(&l->view.tiles[entry].mark, epoch, __ATOMIC_RELAXED);
            if (slot < d->copy_count)
                d->copies[slot].used = l->number;
        }
}

/* Notes the requested tiles, which are copied with the next launch that finds them in the cache. */
static bool want_requests(txm_device_launch *l, uint32_t *listed)
{
    txm_device *d = l->device;
    const uint32_t *notes = l->notes.pinned, *requests = notes + TXM_NOTES;
    *listed = notes[TXM_NOTE_LISTED] < l->capacity ? notes[TXM_NOTE_LISTED] : l->capacity;
    if (!txm_words_room(&d->wanted, *listed))
        return false;
    for (uint32_t i = 0; i < *listed; i++)
        if (requests[i] >> TXM_LEAF_SHIFT < l->extent.leaves)
            txm_words_add(&d->wanted, requests[i]);
    d->stats.requests += *listed;
    return true;
}

/* Passes the requests of the whole launch to the cache in one list. */
static txm_status hand_over(txm_device_launch *l, txm_ticket **ticket, txm_error *err)
{
    uint32_t *notes = l->notes.pinned, count;
    if (!want_requests(l, &count))
        return txm_no_memory(err, NULL);
    txm_lookup_state lane = {.capacity = l->capacity,
                             .count = count,
                             .requests = notes + TXM_NOTES,
                             .asked = notes[TXM_NOTE_ASKED],
                             .rejected = notes[TXM_NOTE_REJECTED],
                             .full = notes[TXM_NOTE_FULL]};
    txm_lookup_state *const lanes[] = {&lane};
    return txm_cache_viewer_process(l->viewer, lanes, 1, ticket, err);
}

static void note_times(txm_device_launch *l)
{
    txm_device *d = l->device;
    double before = 0, kernel = 0, after = 0;
    if (d->call->elapsed(l->events[BEGIN], l->events[PLACED], &before) ||
        d->call->elapsed(l->events[PLACED], l->events[LOOKED], &kernel) ||
        d->call->elapsed(l->events[LOOKED], l->events[FETCHED], &after))
        return;
    d->stats.copy_seconds += before + after;
    d->stats.kernel_seconds += kernel;
}

/* All lookups of a lost device count as missed. */
static txm_status give_up(txm_device_launch *l, txm_status status, size_t *missed)
{
    for (size_t k = 0; k < l->picked.count; k++)
        l->batch.result[l->picked.items[k]] = TXM_LOOKUP_MISS;
    *missed = l->picked.count;
    return not_begun(l, l->number, status);
}

/* Waits until results and requests have arrived. */
static txm_status wait_for_launch(txm_device_launch *l, txm_error *err)
{
    txm_device *d = l->device;
    bool reached = false;
    l->busy = false;
    txm_status status = txm_device_check(d, d->call->use(d->index), "device", err);
    if (status == TXM_OK)
        status = txm_device_check(d, d->call->reach(l->events[FETCHED], true, &reached), "launch", err);
    d->stats.syncs++;
    if (status)
        return status;
    note_times(l);
    d->stats.result_bytes += result_bytes(l) + note_words(l) * 4;
    d->rest += ((const uint32_t *)l->notes.pinned)[TXM_NOTE_BINS + TXM_BIN_REST];
    return TXM_OK;
}

txm_status txm_device_collect(txm_device_launch **launch, txm_ticket **ticket, size_t *missed, txm_error *err)
{
    txm_device_launch *l = *launch;
    txm_error_clear(err);
    *launch = NULL;
    *ticket = NULL;
    *missed = 0;
    txm_status status = wait_for_launch(l, err);
    if (status)
        return give_up(l, status, missed);
    take_results(l, missed);
    l->device->stats.lookups_missed += *missed;
    take_marks(l, l->view.epoch);
    if (*missed)
        return hand_over(l, ticket, err);
    txm_cache_viewer_close(l->viewer);
    return TXM_OK;
}

/* Lookups of a launch that requested tiles may have found coarser ones and marked those instead, so only a launch
 * without requests has the sampler's results. */
txm_status txm_launch_end_in_view(txm_device_launch **launch, bool *complete, txm_error *err)
{
    txm_device_launch *l = *launch;
    uint32_t listed;
    size_t missed = 0;
    *launch = NULL;
    *complete = false;
    txm_status status = wait_for_launch(l, err);
    if (status)
        return not_begun(l, l->number, status);
    const uint32_t *notes = l->notes.pinned;
    *complete = !notes[TXM_NOTE_ASKED] && !notes[TXM_NOTE_LISTED];
    take_marks(l, *complete ? l->view.epoch : 0);
    l->device->wanted.count = 0;
    if (*complete)
        take_results(l, &missed);
    else if (!want_requests(l, &listed))
        return txm_no_memory(err, NULL);
    return TXM_OK;
}
