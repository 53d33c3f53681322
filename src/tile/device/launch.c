/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch: changes, lookups and their kernel are queued, and then results and requests are fetched.
 *
 * A device has two streams. In one of them a launch queues its copies to the device: the table's piece, the tiles'
 * piece and the lookups; this may run while the kernels of another launch do. The other stream waits for those copies
 * and then does, in this order: the table's kernel, which also zeroes the notes; the tiles' kernel; the lookups'
 * kernels; and the copies of results and notes back. No step of a queue waits for the processor, and the processor
 * waits once, in txm_device_collect.
 *
 * Lookups and results may also be arrays of the caller on the device, or be made by kernels of the caller's own, which
 * are queued between the second stream's kernels and its copies.
 */
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "tile/device/device_impl.h"
#include "tile/sample/filter.h"

enum { BEGIN, COPIED, PLACED, LOOKED, FETCHED };

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

/* Packs the samplers, then the lookups of a batch. If it has no random numbers, chance is switched off in the samplers.
 */
static txm_status pack_lookups(txm_device_launch *l, txm_error *err)
{
    const txm_device_batch *b = &l->batch;
    const bool batch = l->of == TXM_OF_BATCH;
    const uint32_t sampler_count = batch ? b->sampler_count : l->arrays.sampler_count;
    const size_t sampler_bytes = sampler_count * sizeof(txm_sampler);
    l->in_bytes = sampler_bytes + (batch ? l->count * sizeof(txm_device_query) : 0);
    txm_status status = txm_passage_room(l->device, &l->in, l->in_bytes, true, err);
    if (status)
        return status;
    txm_sampler *samplers = l->in.pinned;
    for (uint32_t i = 0; i < sampler_count; i++) {
        samplers[i] = batch ? b->samplers[i] : l->arrays.samplers[i];
        if (batch && !b->random)
            samplers[i].chance = TXM_CHANCE_NONE;
    }
    l->device->stats.lookup_bytes += l->in_bytes;
    if (!batch)
        return TXM_OK;
    txm_device_query *in = (txm_device_query *)(void *)((uint8_t *)l->in.pinned + sampler_bytes);
    for (size_t k = 0; k < l->count; k++) {
        const uint32_t i = l->picked.items[k];
        in[k] = (txm_device_query){b->at[i], b->texture ? b->texture[i] : b->one_texture, b->how ? b->how[i] : 0,
                                   b->random ? b->random[i] : 0};
        l->kinds |= (in[k].sampler & TXM_QUERY_KINDS) != 0;
        /* Whether its base texture serves a set depends on levels, so it is decided here rather than on the device. */
        if (!l->in_view && in[k].texture < l->view.texture_count && l->view.textures[in[k].texture].udim_rows &&
            txm_mirror_has_base(l->device->cache, in[k].texture))
            in[k].texture = txm_cache_resolve(l->device->cache, in[k].texture,
                                              &samplers[in[k].sampler & ~TXM_QUERY_KINDS], &in[k].at);
    }
    const size_t answers = l->count * sizeof(txm_device_answer),
                 bytes = answers + (b->du ? l->count * sizeof(txm_device_slopes) : 0);
    status = txm_passage_room(l->device, &l->out, bytes, true, err);
    l->arrays = (txm_device_arrays){.queries = l->in.memory,
                                    .queries_at = sampler_bytes,
                                    .answers = l->out.memory,
                                    .slopes = b->du ? l->out.memory : NULL,
                                    .slopes_at = answers};
    return status;
}

/* The bins that lookups of the launch may be in. Only the rest has derivatives. */
static uint32_t bins_of(const txm_device_launch *l)
{
    const txm_device_batch *b = l->of == TXM_OF_BATCH ? &l->batch : NULL;
    const txm_sampler *samplers = l->in.pinned;
    const uint32_t count = l->of == TXM_OF_BATCH ? b->sampler_count : l->arrays.sampler_count;
    uint32_t bins = 1u << TXM_BIN_REST, types = l->device->types;
    if (b && !b->texture && b->one_texture < l->extent.textures && !l->view.textures[b->one_texture].udim_rows)
        types = 1u << l->view.textures[b->one_texture].type;
    for (uint32_t i = 0; !l->arrays.slopes && i < count; i++) {
        const uint32_t bin = txm_bin_of_filter(samplers[i].filter);
        bins |= bin != TXM_BIN_REST ? types << bin : 0;
    }
    return bins;
}

/* ---- in line ---- */

/* What is copied back of a batch; arrays stay on the device. */
static size_t result_bytes(const txm_device_launch *l)
{
    const size_t each = sizeof(txm_device_answer) + (l->batch.du ? sizeof(txm_device_slopes) : 0);
    return l->of == TXM_OF_BATCH ? l->count * each : 0;
}

static size_t note_words(const txm_device_launch *l)
{
    return (size_t)TXM_NOTES + l->capacity + l->touched_words;
}

/* Queues the copies to the device, and the kernels that distribute the pieces of the table and of tiles. The table's
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
        code = call->upload(l->updates.memory, 0, l->updates.pinned, u->table_bytes, d->copies_stream);
    if (!code && u->tile_bytes)
        code = call->upload(l->tiles.memory, 0, l->tiles.pinned, u->tile_bytes, d->copies_stream);
    if (!code && l->in_bytes)
        code = call->upload(l->in.memory, 0, l->in.pinned, l->in_bytes, d->copies_stream);
    if (!code)
        code = call->record(l->events[COPIED], d->copies_stream);
    if (!code)
        code = call->follow(d->stream, l->events[COPIED]);
    if (!code)
        code = call->place(&table, to_table, d->stream);
    if (!code && u->tile_bytes)
        code = call->place(&tiles, to_places, d->stream);
    d->stats.table_copies += u->table_bytes != 0;
    d->stats.tile_copies += u->tile_bytes != 0;
    d->stats.table_bytes += u->table_bytes;
    d->stats.tile_bytes += u->tile_bytes;
    d->stats.tiles_copied += u->tile_runs;
    return code;
}

/* Queues the copies of results and notes, behind the lookups. */
static int fetch(txm_device_launch *l)
{
    txm_device *d = l->device;
    const txm_device_lookups *call = d->call;
    int code = call->record(l->events[LOOKED], d->stream);
    if (!code && result_bytes(l))
        code = call->download(l->out.pinned, l->out.memory, 0, result_bytes(l), d->stream);
    if (!code)
        code = call->download(l->notes.pinned, l->notes.memory, 0, note_words(l) * 4, d->stream);
    return code ? code : call->record(l->events[FETCHED], d->stream);
}

static int put_in_line(txm_device_launch *l, const txm_update *u, const txm_device_args *args)
{
    txm_device *d = l->device;
    const txm_device_lookups *call = d->call;
    void *const memories[TXM_MEMORIES] = {[TXM_MEMORY_TABLE] = l->table,
                                          [TXM_MEMORY_NEAR] = d->near_places.memory,
                                          [TXM_MEMORY_FAR] = d->far_places.memory,
                                          [TXM_MEMORY_SAMPLERS] = l->in.memory,
                                          [TXM_MEMORY_QUERIES] = l->arrays.queries,
                                          [TXM_MEMORY_ANSWERS] = l->arrays.answers,
                                          [TXM_MEMORY_SLOPES] = l->arrays.slopes,
                                          [TXM_MEMORY_NOTES] = l->notes.memory};
    int code = call->record(l->events[BEGIN], d->copies_stream);
    if (!code)
        code = place(l, u);
    if (!code)
        code = call->record(l->events[PLACED], d->stream);
    if (code || l->of == TXM_OF_KERNELS)
        return code;
    code = call->lookup(args, memories, d->stream);
    return code ? code : fetch(l);
}

/* Waits for a launch that was queued only in part: its first commands still read memory that the next launch is about
 * to write. */
static void finish_line(txm_device_launch *l)
{
    txm_device *d = l->device;
    bool reached;
    if (!d->lost && !d->call->record(l->events[COPIED], d->copies_stream))
        (void)d->call->reach(l->events[COPIED], true, &reached);
    if (!d->lost && !d->call->record(l->events[FETCHED], d->stream))
        (void)d->call->reach(l->events[FETCHED], true, &reached);
}

/* Makes room for everything that the launch needs besides its table. */
static txm_status make_ready(txm_device_launch *l, txm_device_args *args, txm_error *err)
{
    txm_device *d = l->device;
    /* The list is copied back with every launch, so a launch of few lookups has a short list. */
    enum { LEAST = 256, EACH = 4 };
    const uint64_t some = LEAST + EACH * (uint64_t)l->count;
    l->capacity = some < d->options.max_requests ? (uint32_t)some : d->options.max_requests;
    l->touched_words = (l->extent.tiles + 31) / 32;
    l->in_bytes = 0;
    l->kinds = l->of == TXM_OF_ARRAYS;
    txm_status status = l->of == TXM_OF_KERNELS ? TXM_OK : pack_lookups(l, err);
    if (status)
        return status;
    args->bins = l->of == TXM_OF_KERNELS ? 1u << TXM_BIN_REST : bins_of(l);
    const uint32_t quick = args->bins & ~(1u << TXM_BIN_REST);
    args->sorted = (quick & (quick - 1)) != 0;
    args->lists_at = (uint32_t)note_words(l);
    const size_t lists = args->sorted ? (size_t)__builtin_popcount(args->bins) : quick != 0;
    status = txm_passage_room(d, &l->notes, (note_words(l) + lists * l->count) * 4, true, err);
    args->count = l->count;
    args->texture_count = l->extent.textures;
    args->udims_at = l->texture_room * (uint32_t)(sizeof(txm_view_texture) / 4);
    args->leaves_at = args->udims_at + l->udim_room;
    args->slots_at = args->leaves_at + l->leaf_room;
    args->queries_at = (uint32_t)(l->arrays.queries_at / 4);
    args->answers_at = (uint32_t)(l->arrays.answers_at / 4);
    args->slopes_at = (uint32_t)(l->arrays.slopes_at / 4);
    args->with_slopes = l->arrays.slopes != NULL;
    args->kinds = l->kinds && !args->with_slopes;
    args->again = l->of == TXM_OF_ARRAYS && l->arrays.again;
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

/* Takes an idle launch for so many lookups; NULL, with the reason, if there is none. */
static txm_device_launch *take_launch(txm_device *d, size_t count, txm_error *err)
{
    txm_device_launch *l = NULL;
    for (int i = 0; i < TXM_DEVICE_LAUNCHES && !l; i++)
        l = d->launches[i].busy ? NULL : &d->launches[i];
    txm_error_clear(err);
    if (d->lost)
        txm_fail_as(err, &d->why);
    else if (!l)
        txm_fail(err, TXM_STATUS_USAGE, "%s: %d launches are under way: collect one first", d->name,
                 TXM_DEVICE_LAUNCHES);
    else if (count > UINT32_MAX / 64)
        txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: more than %u lookups in a launch", d->name, UINT32_MAX / 64);
    else
        return l->count = (uint32_t)count, l;
    return NULL;
}

/* Begins a launch in the caller's view or, if that is NULL, in the newest one of its own. */
static txm_status begin_launch(txm_device_launch *l, const txm_view *view, const txm_cache_extent *extent,
                               txm_device_args *args, txm_error *err)
{
    txm_device *d = l->device;
    txm_update update;
    *args = (txm_device_args){0};
    l->in_view = view != NULL;
    if (view) {
        l->view = *view;
        l->extent = *extent;
    }
    txm_status status = view || l->viewer ? TXM_OK : txm_cache_viewer_new(d->cache, &l->viewer, err);
    if (status)
        return status;
    status = txm_device_check(d, d->call->use(d->index), "device", err);
    d->clock++;
    if (status == TXM_OK)
        status = txm_table_update(l, &update, err);
    if (status)
        return status;
    status = make_ready(l, args, err);
    if (status == TXM_OK && d->options.fail_launches == d->clock) {
        d->lost = true;
        d->stats.lost = 1;
        status = txm_fail(&d->why, TXM_STATUS_DEVICE, "%s: lost, for a test", d->name);
        txm_fail_as(err, &d->why);
    }
    if (status == TXM_OK)
        status = txm_device_check(d, put_in_line(l, &update, args), "launch", err);
    if (status) {
        finish_line(l);
        return not_begun(l, d->clock, status);
    }
    l->number = d->clock;
    l->busy = true;
    d->stats.launches++;
    d->stats.lookups += l->count;
    return TXM_OK;
}

static txm_status begin_batch(txm_device *d, const txm_view *view, const txm_cache_extent *extent,
                              const txm_device_batch *batch, txm_device_launch **launch, txm_error *err)
{
    txm_error why = {0};
    txm_device_args args;
    txm_device_launch *l = take_launch(d, batch->count, &why);
    *launch = NULL;
    if (l && (l->of = TXM_OF_BATCH, l->batch = *batch, !pick(l))) {
        txm_no_memory(&why, NULL);
        l = NULL;
    }
    if (!l)
        return txm_fail_as(err, &why);
    l->count = (uint32_t)l->picked.count;
    txm_status status = begin_launch(l, view, extent, &args, err);
    *launch = status == TXM_OK ? l : NULL;
    return status;
}

txm_status txm_device_submit(txm_device *d, const txm_device_batch *batch, txm_device_launch **launch, txm_error *err)
{
    txm_error_clear(err);
    return begin_batch(d, NULL, NULL, batch, launch, err);
}

txm_status txm_launch_in_view(txm_device *d, const txm_view *view, const txm_cache_extent *extent,
                              const txm_device_batch *batch, txm_device_launch **launch, txm_error *err)
{
    return begin_batch(d, view, extent, batch, launch, err);
}

/* Whether an array lies at whole words that kernels can count to. */
static bool in_words(const void *memory, uint64_t at)
{
    return memory && at % 4 == 0 && at / 4 <= UINT32_MAX;
}

txm_status txm_device_submit_arrays(txm_device *d, const txm_device_arrays *given, txm_device_launch **launch,
                                    txm_error *err)
{
    txm_error why = {0};
    txm_device_args args;
    txm_device_arrays a = {.struct_size = sizeof a};
    txm_error_clear(err);
    *launch = NULL;
    txm_status status = txm_options_take(&a, sizeof a, given, "txm_device_arrays", err);
    if (status)
        return status;
    if (!a.samplers || !a.sampler_count || !in_words(a.queries, a.queries_at) || !in_words(a.answers, a.answers_at) ||
        (a.slopes && !in_words(a.slopes, a.slopes_at)))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s: arrays need samplers, lookups and answers, at offsets that are multiples of 4", d->name);
    txm_device_launch *l = take_launch(d, a.count, &why);
    if (!l)
        return txm_fail_as(err, &why);
    l->of = TXM_OF_ARRAYS;
    l->arrays = a;
    status = begin_launch(l, NULL, NULL, &args, err);
    *launch = status == TXM_OK ? l : NULL;
    return status;
}

txm_status txm_device_begin(txm_device *d, size_t lookups, txm_device_scope *scope, txm_device_launch **launch,
                            txm_error *err)
{
    txm_error why = {0};
    txm_error_clear(err);
    *launch = NULL;
    txm_device_launch *l = take_launch(d, lookups, &why);
    if (!l)
        return txm_fail_as(err, &why);
    l->of = TXM_OF_KERNELS;
    l->arrays = (txm_device_arrays){0};
    txm_status status = begin_launch(l, NULL, NULL, &scope->args, err);
    if (status)
        return status;
    scope->table = l->table;
    scope->near_tiles = d->near_places.memory;
    scope->far_tiles = d->far_places.memory;
    scope->notes = l->notes.memory;
    *launch = l;
    return TXM_OK;
}

/* ---- what comes out ---- */

/* Copies the colours of this launch; *missed counts the lookups without one. Random states of missed lookups are not
 * advanced, so their next attempt uses the same numbers. In a caller's view results are final, and states are always
 * advanced. */
static void take_results(txm_device_launch *l, size_t *missed)
{
    const txm_device_batch *b = &l->batch;
    const txm_device_answer *out = l->out.pinned;
    const size_t count = l->count;
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
    for (size_t k = 0; l->of == TXM_OF_BATCH && k < l->count; k++)
        l->batch.result[l->picked.items[k]] = TXM_LOOKUP_MISS;
    *missed = l->count;
    return not_begun(l, l->number, status);
}

/* Waits until results and requests have arrived. */
static txm_status wait_for_launch(txm_device_launch *l, txm_error *err)
{
    txm_device *d = l->device;
    bool reached = false;
    l->busy = false;
    txm_status status = txm_device_check(d, d->call->use(d->index), "device", err);
    if (status == TXM_OK && l->of == TXM_OF_KERNELS)
        status = txm_device_check(d, fetch(l), "launch", err);
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
    if (l->of == TXM_OF_BATCH)
        take_results(l, missed);
    else
        *missed = ((const uint32_t *)l->notes.pinned)[TXM_NOTE_MISSED];
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
