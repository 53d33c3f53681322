/* SPDX-License-Identifier: Apache-2.0
 *
 * The calling thread's txm_cache_thread of a cache, for renderers that keep no data per thread.
 *
 * Each thread has a list with one entry per cache. Only the thread itself walks it, so finding an entry takes no lock.
 * The numbers of caches are never reused, so the entry of a freed cache is not found again, even if another cache lies
 * at its address. Each cache has a list of the same entries. The thread or the cache, whichever ends first, frees the
 * txm_cache_thread; the entry itself belongs to its thread. Both lists are changed only under one lock of the process,
 * which is taken before a cache's lock.
 *
 * The child of a fork() has the list of the thread that forked, and no other threads. The caches in that list belong to
 * its parent and must not be touched, and a lock that another thread held would never be released. So entries hold the
 * number of the process that made them, and the child begins with a new lock. The list itself is intact, because only
 * the forking thread changes it.
 */
#include <pthread.h>
#include <stdlib.h>

#include "tile/cache/flow/flow.h"

typedef struct txm_current {
    uint64_t cache_id; /* constant, like `thread`: the owner reads both without the lock */
    txm_cache_thread *thread;
    struct txm_current *next; /* the thread's next entry */
    txm_cache *cache;         /* under the lock; NULL: the cache is gone, and `thread` too */
    struct txm_current *next_of_cache, **link;
    uint32_t process;
} txm_current;

static _Thread_local txm_current *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* has a destructor that frees a thread's list when the thread ends */
static atomic_bool has_key;
static uint32_t process; /* number of forks between this process and the first one */

/* With the lock held. */
static void take_from_cache(txm_current *e)
{
    *e->link = e->next_of_cache;
    if (e->next_of_cache)
        e->next_of_cache->link = e->link;
    e->cache = NULL;
    txm_cache_thread_free(&e->thread);
}

/* With the lock held: frees the entries of a thread whose caches are gone, or all of them. A child does not touch its
 * parent's caches; it frees only the entries. */
static void sweep(txm_current **list, bool all)
{
    for (txm_current **at = list; *at;) {
        txm_current *e = *at;
        const bool own = e->process == process;
        if (own && e->cache && !all) {
            at = &e->next;
            continue;
        }
        if (own && e->cache)
            take_from_cache(e);
        *at = e->next;
        free(e);
    }
}

/* If a thread looks up again while it ends (in another library's destructor), it begins a new list. */
static void end_thread(void *list)
{
    txm_current *entries = list;
    mine = NULL;
    pthread_mutex_lock(&lock);
    sweep(&entries, true);
    pthread_mutex_unlock(&lock);
}

static void begin_child(void)
{
    process++;
    pthread_mutex_init(&lock, NULL);
}

static void make_key(void)
{
    atomic_store(&has_key, !pthread_atfork(NULL, NULL, begin_child) && !pthread_key_create(&key, end_thread));
}

/* The library may be unloaded before a thread ends: then its destructor must not be called. */
__attribute__((destructor)) static void forget_key(void)
{
    if (atomic_exchange(&has_key, false))
        pthread_key_delete(key);
}

/* Inserts the entry at the front, so the latest cache is found first. */
static txm_status enlist(txm_cache *c, txm_cache_thread **out, txm_error *err)
{
    pthread_once(&once, make_key);
    txm_current *e = atomic_load(&has_key) ? malloc(sizeof *e) : NULL;
    txm_cache_thread *thread = NULL;
    if (!e || pthread_setspecific(key, e)) {
        free(e);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a thread of the texture cache");
    }
    txm_status status = txm_cache_thread_new(c, &thread, err);
    if (status == TXM_OK) {
        pthread_mutex_lock(&lock);
        sweep(&mine, false);
        *e = (txm_current){c->id, thread, mine, c, c->current, &c->current, process};
        if (c->current)
            c->current->link = &e->next_of_cache;
        mine = c->current = e;
        pthread_mutex_unlock(&lock);
    }
    pthread_setspecific(key, mine); /* cannot fail: the first call has allocated the memory */
    if (status != TXM_OK)
        free(e);
    *out = thread;
    return status;
}

txm_status txm_cache_thread_current(txm_cache *c, txm_cache_thread **out, txm_error *err)
{
    txm_error_clear(err);
    for (txm_current *e = mine; e; e = e->next)
        if (e->cache_id == c->id) {
            *out = e->thread;
            return TXM_OK;
        }
    *out = NULL;
    return enlist(c, out, err);
}

uint64_t txm_next_cache_id(void)
{
    static atomic_uint_least64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

void txm_end_current(txm_cache *c)
{
    pthread_mutex_lock(&lock);
    while (c->current)
        take_from_cache(c->current);
    pthread_mutex_unlock(&lock);
}
