/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache object: its options, its creation and end, its threads and its budget.
 *
 * This file sets up the state that all other files of the room work on: the budget and policy from the caller's
 * options, one lock, and later one pool of threads for loading. Textures are handled in catalog.c, tiles in slab.c,
 * lookups in look.c.
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
#include "tile/cache/cache_impl.h"
#include "tile/ops/ops.h"

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
    if (!(o->launch_seconds >= 0.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: launch_seconds is %g, and must be 0 or more",
                        (double)o->launch_seconds);
    if (!(o->resolution > 0.0f && o->resolution <= 1.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: resolution is %g, and must be over 0 and at most 1",
                        (double)o->resolution);
    if (o->coalesce & ~(uint32_t)(TXM_COALESCE_CONSTANT | TXM_COALESCE_DUPLICATE))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: unknown bits in `coalesce`: %u", o->coalesce);
    if (!(o->spurious >= 0.0f && o->spurious <= 1.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "cache: spurious is %g, and must be 0 to 1", (double)o->spurious);
    if (o->stand_in > TXM_STAND_IN_KIND_TILE)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: unknown kind of stand-ins: %u", o->stand_in);
    if (!o->allocator.allocate != !o->allocator.release)
        return txm_fail(err, TXM_STATUS_USAGE, "cache: an allocator needs both functions");
    return TXM_OK;
}

/* Shared tiles are rarely evicted, and each may keep a slab in use, so there may be one per 8 MiB of the budget. */
static uint32_t constants_of(uint64_t max_bytes)
{
    uint64_t n = max_bytes >> 23;
    return !max_bytes || n > TXM_CONSTANTS ? TXM_CONSTANTS : (uint32_t)n;
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
    c->bias = o.resolution < 1.0f ? -log2f(o.resolution) : 0.0f;
    c->allocated = c->stats.allocated_bytes_peak = sizeof *c;
    c->store.constants_most = constants_of(o.max_bytes);
    c->fences = !txm_barrier_possible();
    atomic_init(&c->epoch, 1);
    atomic_init(&c->retry_seconds, INFINITY);
    txm_table_init(&c->table);
    c->store.retired_first = TXM_NO_SLOT;
    atomic_init(&c->watched, o.spurious > 0.0f);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
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
    if (c->viewers.own)
        txm_viewer_free(c->viewers.own);
    pthread_mutex_unlock(&c->lock);
    txm_textures_free(c);
    txm_slabs_free(c);
    txm_cache_release(c, c->catalog.textures, c->catalog.texture_capacity * sizeof *c->catalog.textures);
    txm_cache_release(c, c->catalog.view_textures, c->catalog.view_capacity * sizeof *c->catalog.view_textures);
    txm_table_free(c);
    txm_cache_release(c, c->catalog.udims, c->catalog.udim_capacity * sizeof *c->catalog.udims);
    txm_cache_release(c, c->catalog.quick_udims, c->catalog.quick_udim_capacity * sizeof *c->catalog.quick_udims);
    txm_cache_release(c, c->queue.spare_jobs, c->queue.spare_room * sizeof *c->queue.spare_jobs);
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
    txm_own_view_ends(c);
    __atomic_store_n(&c->options.max_bytes, max_bytes, __ATOMIC_RELAXED); /* many.c reads it without the lock */
    c->store.constants_most = constants_of(max_bytes);
    c->files.more_bytes = 0;
    for (txm_cache_viewer *v = c->viewers.first; v; v = v->next)
        txm_viewer_unpin(v);
    txm_make_room(c, 0);
    pthread_mutex_unlock(&c->lock);
    return TXM_OK;
}

/* ---- threads ---- */

/* The thread's memory counts towards the budget. It begins with room for one lookup's requests; many.c gets more when
 * it looks up many at a time. The number seeds the generator of spurious misses, so a test can be repeated. */
txm_status txm_cache_thread_new(txm_cache *c, txm_cache_thread **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    txm_cache_thread *t = txm_cache_allocate(c, sizeof *t, _Alignof(txm_cache_thread));
    if (t) {
        memset(t, 0, sizeof *t);
        t->cache = c;
        atomic_init(&t->asks_of, UINT64_MAX);
        t->requests = t->few_requests;
        t->requests_most = TXM_LOOKUP_TILES;
        t->jobs = t->few_jobs;
        t->chance = t->number = ++c->thread_count;
        t->next = c->threads;
        c->threads = t;
        txm_learn(t);
        atomic_fetch_add(&c->live_threads, 1);
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
    txm_cache_thread **at = &c->threads;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    atomic_fetch_sub(&c->live_threads, 1);
    txm_unpin(c, &t->pins);
    txm_cache_release(c, t->pins.items, t->pins.capacity * sizeof *t->pins.items);
    txm_cache_release(c, t->unwidened, t->unwidened_bytes);
    txm_cache_release(c, t->many, t->many_bytes);
    c->stats.lookups += atomic_load(&t->quick.lookups);
    c->stats.lookups_missed += atomic_load(&t->missed);
    txm_cache_release(c, t, sizeof *t);
    pthread_mutex_unlock(&c->lock);
    *thread = NULL;
}
