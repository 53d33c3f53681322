/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache object: its options, its creation and end, its threads and its budget.
 *
 * This file sets up the rooms of tiles and of the catalog, and says what happens in the one when tiles of the other
 * lose their slots (tiles_lost).
 *
 * A thread object serves one thread of the renderer at a time; it holds that thread's view, counters and pins. The
 * cache keeps a list of all of them, because it must visit them when it stops the world.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/options.h"
#include "base/os/barrier.h"
#include "base/os/machine.h"
#include "tile/cache/flow/flow.h"
#include "tile/cache/flow/mirror.h"
#include "tile/ops/ops.h"

enum { MOST_THREADS = 1024 };

static void open_options(txm_cache_options *options, size_t struct_size, txm_cache_policy policy)
{
    const txm_cache_options all = {.struct_size = struct_size,
                                   .max_bytes = 1u << 30,
                                   .policy = policy,
                                   .keep_epochs = 1,
                                   .max_requests = 8192,
                                   .max_queued = 8192,
                                   .max_open = 128,
                                   .resolution = 1.0f,
                                   .coalesce = TXM_COALESCE_CONSTANT | TXM_COALESCE_DUPLICATE};
    txm_options_open(options, struct_size, &all, sizeof all);
}

void txm_cache_options_init_sized(txm_cache_options *options, size_t struct_size)
{
    open_options(options, struct_size, TXM_CACHE_POLICY_LRU);
}

void txm_cache_options_init_cycles_sized(txm_cache_options *options, size_t struct_size)
{
    open_options(options, struct_size, TXM_CACHE_POLICY_RENDER_TILES);
}

/* Checks the options one by one, with a message for each. Comparisons of floats are negated because NaN must fail them.
 */
static txm_status check(const txm_cache_options *o, txm_error *err)
{
    if (!txm_cache_policy_words_of((txm_cache_policy)o->policy))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: unknown policy %u", o->policy);
    if (o->keep_epochs < 1 || o->keep_epochs > 2)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: keep_epochs is %u, and must be 1 or 2", o->keep_epochs);
    if (!o->max_requests || !o->max_queued || !o->max_open)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: max_requests, max_queued and max_open must be 1 or more");
    if (!(o->show_seconds >= 0.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: show_seconds is %g, and must be 0 or more",
                        (double)o->show_seconds);
    if (o->reject > TXM_REJECT_UNIQUE)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: unknown kind of rejection: %u", o->reject);
    if (o->threads > MOST_THREADS)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: threads is %u, and must be at most %d", o->threads,
                        MOST_THREADS);
    if (!(o->launch_seconds >= 0.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: launch_seconds is %g, and must be 0 or more",
                        (double)o->launch_seconds);
    if (!(o->resolution > 0.0f && o->resolution <= 1.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: resolution is %g, and must be over 0 and at most 1",
                        (double)o->resolution);
    if (o->coalesce & ~(uint32_t)(TXM_COALESCE_CONSTANT | TXM_COALESCE_DUPLICATE))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: unknown bits in `coalesce`: %u", o->coalesce);
    if (o->stand_in > TXM_STAND_IN_KIND_TILE)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: unknown kind of stand-ins: %u", o->stand_in);
    if (!o->allocator.allocate != !o->allocator.release)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: an allocator needs both functions");
    return TXM_OK;
}

/* Called by the tiles with the lock held. Lookups must not find the tiles any more, nor be reading them, when this
 * returns. */
static void tiles_lost(void *owner, txm_loss why, const uint32_t *slots, const uint32_t *to, uint32_t count)
{
    txm_cache *c = owner;
    for (uint32_t i = 0; i < count; i++)
        txm_entry_set(&c->catalog, txm_slot_at(&c->tiles, to ? to[i] : slots[i])->held.tile,
                      to ? to[i] : TXM_SLOT_NONE);
    switch (why) {
    case TXM_LOSS_EVICTED:
        txm_entries_hidden(&c->catalog);
        break;
    case TXM_LOSS_MOVED:
        txm_wait_quiescent(&c->world);
        break;
    case TXM_LOSS_SHARED:
        txm_shared_forget(&c->catalog);
        break;
    case TXM_LOSS_SHORT:
        txm_table_trim(&c->catalog);
        break;
    }
}

/* The object is aligned because its hot and cold members have cache lines of their own. A resolution below 1 is
 * converted here to a bias of the level: half the resolution is one level. If the kernel refuses membarrier(2), as some
 * sandboxes do, lookups use a full fence instead (quiescent.c). */
txm_status txm_cache_new(const txm_cache_options *options, txm_cache **out, txm_error *err)
{
    txm_cache_options o;
    txm_error_clear(err);
    txm_cache_options_init(&o);
    *out = NULL;
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_cache_options", err);
    if (status == TXM_OK)
        status = check(&o, err);
    if (status != TXM_OK)
        return status;
    void *memory;
    if (posix_memalign(&memory, _Alignof(txm_cache), sizeof(txm_cache)))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a texture cache");
    txm_cache *c = memset(memory, 0, sizeof(txm_cache));
    c->options = o;
    c->id = txm_next_cache_id();
    c->options.threads = o.threads ? o.threads : txm_cpu_count();
    c->world.bias = o.resolution < 1.0f ? -log2f(o.resolution) : 0.0f;
    c->spurious = atomic_load(&txm_spurious);
    c->world.watched = c->spurious > 0.0f;
    c->world.stale = txm_find_stale;
    c->world.fences = !txm_barrier_possible();
    atomic_init(&c->world.epoch, 1);
    atomic_init(&c->world.retry_seconds, INFINITY);
    c->tiles = (txm_tiles){.world = &c->world,
                           .stats = &c->stats,
                           .allocator = o.allocator,
                           .max_bytes = o.max_bytes,
                           .keeps_all = txm_policy_of(c)->keeps_all,
                           .owner = c,
                           .lost = tiles_lost,
                           .order = txm_policy_order};
    c->catalog = (txm_catalog){.tiles = &c->tiles, .world = &c->world, .stats = &c->stats, .options = &c->options};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (!txm_tiles_init(&c->tiles) || !txm_catalog_init(&c->catalog)) {
        txm_cache_free(&c);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a texture cache");
    }
    c->tiles.allocated += sizeof *c;
    c->stats.allocated_bytes_peak = c->tiles.allocated;
    txm_files_set_budget(&c->catalog);
    *out = c;
    return TXM_OK;
}

/* No lookup may be running, and threads of the cache must have been freed. A trace that is still being written is
 * dropped: to keep it, stop it first. */
void txm_cache_free(txm_cache **cache)
{
    txm_cache *c = cache ? *cache : NULL;
    if (!c)
        return;
    txm_end_current(c);
    txm_cache_trace_drop(c);
    txm_group_free(c->queue.group);
    txm_pool_free(c->queue.pool);
    pthread_mutex_lock(&c->lock);
    if (c->own_viewer)
        txm_viewer_free(c->own_viewer);
    pthread_mutex_unlock(&c->lock);
    txm_catalog_free(&c->catalog);
    txm_release(&c->tiles, c->queue.spare_jobs, c->queue.spare_room * sizeof *c->queue.spare_jobs);
    txm_tiles_free(&c->tiles);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
    *cache = NULL;
}

/* A smaller budget takes effect at once. Tiles that lookups have pinned, and those of batches that no view has shown,
 * stay until they are unpinned, so the budget may be exceeded for a moment. */
txm_status txm_cache_set_max_bytes(txm_cache *c, uint64_t max_bytes, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_own_view_allows(c, "txm_cache_set_max_bytes", err);
    if (status != TXM_OK) {
        pthread_mutex_unlock(&c->lock);
        return status;
    }
    __atomic_store_n(&c->options.max_bytes, max_bytes, __ATOMIC_RELAXED); /* many.c reads it without the lock */
    txm_tiles_set_budget(&c->tiles, max_bytes);
    txm_files_set_budget(&c->catalog);
    for (txm_cache_viewer *v = c->viewers; v; v = v->next)
        txm_viewer_unpin(v);
    txm_make_room(&c->tiles, 0);
    pthread_mutex_unlock(&c->lock);
    return TXM_OK;
}

/* ---- threads ---- */

static bool may_be_quick(const txm_cache *c)
{
    return !atomic_load_explicit(&c->world.watched, memory_order_relaxed) &&
           !atomic_load_explicit(&c->world.fences, memory_order_relaxed);
}

/* Takes the place of the sampler after a change. The first lookup then renews the thread's copy of the cache's state,
 * so the next ones are quick again. If lookups of this cache cannot be quick, the copy is not renewed here. */
txm_lookup_result txm_find_stale(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                 uint32_t *random, float out[4])
{
    txm_cache_thread *t = txm_thread_of(quick);
    /* This must come before the lock, because the thread that holds it may be waiting for this one. */
    atomic_store_explicit(&quick->active, 0, memory_order_release);
    if (may_be_quick(t->cache))
        txm_renew(t);
    return quick->missed(quick, texture, how, at, random, out);
}

/* In the view for quick lookups, sets with a base texture have no tiles, so their lookups take the general path. */
void txm_learn(txm_cache_thread *t)
{
    const txm_cache *c = t->cache;
    t->view = t->reader.quick.view = c->world.view;
    t->generation = atomic_load(&c->world.generation);
    t->view.launch = t->reader.quick.view.launch = TXM_LAUNCH_NONE;
    t->reader.quick.view.epoch = atomic_load(&c->world.epoch);
    t->reader.quick.view.round = (uint16_t)atomic_load(&c->world.round);
    if (c->catalog.quick_udims)
        t->reader.quick.view.udims = c->catalog.quick_udims;
    t->sample = txm_sample_ops_isa(txm_ops_best()->isa)->sample_guarded;
    t->reader.quick.missed = txm_lookup_again;
    atomic_store_explicit(&t->reader.quick.sample,
                          !may_be_quick(c)        ? txm_find_stale
                          : c->world.bias != 0.0f ? txm_lookup_biased
                                                  : t->sample,
                          memory_order_release);
}

void txm_renew(txm_cache_thread *t)
{
    pthread_mutex_lock(&t->cache->lock);
    txm_learn(t);
    pthread_mutex_unlock(&t->cache->lock);
}

/* The thread's memory counts towards the budget. It begins with room for one lookup's requests; many.c gets more when
 * it looks up many at a time. The number seeds the generator of spurious misses, so a test can be repeated. */
txm_status txm_cache_thread_new(txm_cache *c, txm_cache_thread **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    txm_cache_thread *t = txm_allocate(&c->tiles, sizeof *t, _Alignof(txm_cache_thread));
    if (t) {
        memset(t, 0, sizeof *t);
        t->cache = c;
        atomic_init(&t->reader.asks_of, UINT64_MAX);
        t->requests = t->few_requests;
        t->requests_most = TXM_LOOKUP_TILES;
        t->jobs = t->few_jobs;
        t->chance = t->number = ++c->thread_count;
        t->reader.next = c->world.readers;
        c->world.readers = &t->reader;
        txm_learn(t);
        atomic_fetch_add(&c->world.live_threads, 1);
    }
    pthread_mutex_unlock(&c->lock);
    if (!t)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a thread of the texture cache");
    *out = t;
    return TXM_OK;
}

/* The thread's counters are added to those of the cache, whose sums would otherwise decrease when a thread ends. */
void txm_cache_thread_free(txm_cache_thread **thread)
{
    txm_cache_thread *t = thread ? *thread : NULL;
    if (!t)
        return;
    txm_cache *c = t->cache;
    pthread_mutex_lock(&c->lock);
    txm_reader **at = &c->world.readers;
    while (*at != &t->reader)
        at = &(*at)->next;
    *at = t->reader.next;
    atomic_fetch_sub(&c->world.live_threads, 1);
    txm_unpin(c, &t->pins);
    txm_release(&c->tiles, t->pins.items, t->pins.capacity * sizeof *t->pins.items);
    txm_release(&c->tiles, t->many, t->many_bytes);
    c->stats.lookups += atomic_load(&t->reader.quick.lookups);
    c->stats.lookups_missed += atomic_load(&t->reader.missed);
    txm_release(&c->tiles, t, sizeof *t);
    pthread_mutex_unlock(&c->lock);
    *thread = NULL;
}
