/* SPDX-License-Identifier: Apache-2.0
 * Threads that keep no handle themselves: threads that end before the cache, after it and at the same time, many
 * caches, forks, destructors, and allocations that fail. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "util_cache.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_tx.h"

static const char *path; /* a texture of 200 px */

static void write_texture(void)
{
    path = write_cached("current.tx", 200, 200, 4, TXM_TYPE_U8, MADE_NOISE, 0);
}

static void free_texture(void)
{
    free((char *)path);
}
FIXTURE(write_texture, free_texture)

static txm_cache_thread *current(txm_cache *c)
{
    txm_error err;
    txm_cache_thread *t;
    ck_assert_msg(txm_cache_thread_current(c, &t, &err) == TXM_OK, "%s", err.message);
    ck_assert_ptr_nonnull(t);
    return t;
}

/* Looks up in the cache's only texture with a thread that the caller made; the others are compared with this. */
static void look(txm_cache *c, float out[4])
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    const txm_lookup at = at_level(0.3f, 0.6f, 0.5f, 200);
    ck_assert_int_eq(txm_cache_sample(current(c), 0, &how, &at, NULL, out), TXM_LOOKUP_HIT);
}

static txm_cache *cache_with_texture(void)
{
    txm_cache *c = new_cache(NULL);
    ck_assert_uint_eq(add_texture(c, path, TXM_EXTENSION_REPEAT), 0);
    return c;
}

/* ---- one thread ------------------------------------------------------------------------------------------------- */

/* Each cache has its own thread, and finds it again however many caches there are. The colours are those of a thread
 * that was made explicitly. */
TEST(one_for_each_cache)
{
    enum { CACHES = 40 };
    txm_cache *caches[CACHES];
    txm_cache_thread *threads[CACHES], *own;
    float want[4], got[4];
    const txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    const txm_lookup at = at_level(0.3f, 0.6f, 0.5f, 200);
    for (int i = 0; i < CACHES; i++) {
        caches[i] = cache_with_texture();
        threads[i] = current(caches[i]);
        for (int k = 0; k < i; k++)
            ck_assert_ptr_ne(threads[k], threads[i]);
    }
    own = new_thread(caches[0]);
    txm_cache_sample(own, 0, &how, &at, NULL, want);
    txm_cache_thread_free(&own);
    for (int i = 0; i < CACHES; i++) {
        ck_assert_ptr_eq(current(caches[i]), threads[i]);
        look(caches[i], got);
        ck_assert_mem_eq(got, want, sizeof got);
    }
    for (int i = 0; i < CACHES; i += 2)
        txm_cache_free(&caches[i]);
    for (int i = 1; i < CACHES; i += 2) {
        ck_assert_ptr_eq(current(caches[i]), threads[i]);
        txm_cache_free(&caches[i]);
    }
}

/* A new cache at the address of an old one is a different cache, and what threads kept for caches that have ended is
 * freed. */
TEST(caches_one_after_the_other)
{
    float out[4];
    for (int i = 0; i < 10; i++) {
        SCOPED(txm_cache_free) txm_cache *c = cache_with_texture();
        look(c, out);
    }
    refuse_memory(1L << 40); /* from here on, what is allocated and not freed is counted */
    for (int i = 0; i < 1000; i++) {
        SCOPED(txm_cache_free) txm_cache *c = NULL;
        txm_cache_thread *t;
        if (txm_cache_new(NULL, &c, NULL) || txm_cache_thread_current(c, &t, NULL))
            abort();
    }
    memory_was_refused();
    ck_assert_int_le(faults.live, 1);
}

static txm_status make_one(void *user)
{
    SCOPED(txm_cache_free) txm_cache *c = NULL;
    txm_cache_thread *t = (txm_cache_thread *)user;
    const txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    txm_status status = txm_cache_new(&o, &c, NULL);
    if (status == TXM_OK) {
        status = txm_cache_thread_current(c, &t, NULL);
        if (status != TXM_OK && t)
            abort();
    }
    return status;
}

TEST(refused_memory)
{
    refuse_each(make_one, NULL);
}

/* Once there is memory again, the same cache works for the same thread. */
TEST(after_refused_memory)
{
    counted count = {.refuse_in = 1};
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    txm_cache_thread *t;
    txm_error err;
    o.allocator = count_in(&count);
    txm_cache *c = new_cache(&o);
    ck_assert_int_eq(txm_cache_thread_current(c, &t, &err), TXM_STATUS_NO_MEMORY);
    ck_assert_ptr_null(t);
    count.refuse_in = 0;
    t = current(c);
    ck_assert_ptr_eq(current(c), t);
    txm_cache_free(&c);
    ck_assert_uint_eq(count.now, 0);
}

/* ---- threads that end ------------------------------------------------------------------------------------------- */

static void *look_once(void *cache)
{
    float out[4];
    look(cache, out);
    return NULL;
}

/* What threads have allocated is freed when they end, while the cache lives on; their counts stay. */
TEST(threads_end_first)
{
    enum { THREADS = 8 };
    counted count = {0};
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    pthread_t threads[THREADS];
    o.allocator = count_in(&count);
    txm_cache *c = new_cache(&o);
    add_texture(c, path, TXM_EXTENSION_REPEAT);
    look_once(c);
    uint64_t before = stats_of(c).allocated_bytes;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look_once, c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(stats_of(c).lookups, THREADS + 1);
    ck_assert_uint_eq(stats_of(c).allocated_bytes, before);
    txm_cache_free(&c);
    ck_assert_uint_eq(count.now, 0);
}

typedef struct meeting {
    txm_cache *caches[2];
    pthread_barrier_t looked, freed;
} meeting;

static void *outlive(void *user)
{
    meeting *m = user;
    float out[4];
    look(m->caches[0], out);
    look(m->caches[1], out);
    pthread_barrier_wait(&m->looked);
    pthread_barrier_wait(&m->freed);
    look(m->caches[1], out);
    return NULL;
}

/* The first cache is freed while all threads live. They go on with the second one, which is freed after they have
 * ended. */
TEST(a_cache_ends_first)
{
    enum { THREADS = 4 };
    meeting m = {.caches = {cache_with_texture(), cache_with_texture()}};
    pthread_t threads[THREADS];
    pthread_barrier_init(&m.looked, NULL, THREADS + 1);
    pthread_barrier_init(&m.freed, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, outlive, &m), 0);
    pthread_barrier_wait(&m.looked);
    txm_cache_free(&m.caches[0]);
    pthread_barrier_wait(&m.freed);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(stats_of(m.caches[1]).lookups, 2 * THREADS);
    txm_cache_free(&m.caches[1]);
    pthread_barrier_destroy(&m.looked);
    pthread_barrier_destroy(&m.freed);
}

typedef struct race {
    txm_cache *cache;
    atomic_int looked;
} race;

static void *look_and_end(void *user)
{
    race *r = user;
    look_once(r->cache);
    atomic_fetch_add(&r->looked, 1);
    return NULL;
}

/* Threads end while the cache is being freed. */
TEST(both_end_at_once)
{
    enum { THREADS = 4, TIMES = 100 };
    for (int n = 0; n < TIMES; n++) {
        race r = {.cache = cache_with_texture()};
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, look_and_end, &r), 0);
        while (atomic_load(&r.looked) < THREADS)
            ;
        txm_cache_free(&r.cache);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
}

static pthread_key_t late_key;

static void look_late(void *cache)
{
    look_once(cache);
}

static void *end_with_a_look(void *cache)
{
    pthread_setspecific(late_key, cache);
    look_once(cache);
    return NULL;
}

/* Another library's destructor may look up while the thread ends, before or after our destructor has run. */
TESTS(a_look_while_a_thread_ends, 2)
{
    counted count = {0};
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    pthread_t thread;
    if (_i == 0)
        ck_assert_int_eq(pthread_key_create(&late_key, look_late), 0);
    o.allocator = count_in(&count);
    txm_cache *c = new_cache(&o);
    add_texture(c, path, TXM_EXTENSION_REPEAT);
    look_once(c);
    if (_i == 1)
        ck_assert_int_eq(pthread_key_create(&late_key, look_late), 0);
    uint64_t before = stats_of(c).allocated_bytes;
    ck_assert_int_eq(pthread_create(&thread, NULL, end_with_a_look, c), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(stats_of(c).lookups, 3);
    ck_assert_uint_eq(stats_of(c).allocated_bytes, before);
    txm_cache_free(&c);
    ck_assert_uint_eq(count.now, 0);
}

/* ---- forks ------------------------------------------------------------------------------------------------------ */

static atomic_bool enough;

static void *make_and_free(void *unused)
{
    while (!atomic_load(&enough)) {
        SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
        current(c);
    }
    return unused;
}

/* Keeps the cache's lock held most of the time. */
static void *ask_for_a_budget(void *cache)
{
    while (!atomic_load(&enough))
        for (int i = 0; i < 1000; i++)
            txm_cache_set_max_bytes(cache, 0, NULL);
    return NULL;
}

/* This key was made after the library's, so its destructor runs after the library's. What the child leaves allocated is
 * not a leak. */
static void end_child(void *unused)
{
    (void)unused;
    _exit(0);
}

/* A child that was forked while other threads held locks makes its own cache and ends its thread without waiting for
 * anybody. */
TEST(children)
{
    pthread_t threads[2];
    pthread_key_t end;
    SCOPED(txm_cache_free) txm_cache *c = cache_with_texture();
    look_once(c);
    ck_assert_int_eq(pthread_key_create(&end, end_child), 0);
    ck_assert_int_eq(pthread_create(&threads[0], NULL, make_and_free, NULL), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, ask_for_a_budget, c), 0);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t child = fork();
        if (!child) {
            txm_cache *own;
            txm_cache_thread *t;
            alarm(20);
            if (txm_cache_new(NULL, &own, NULL) || txm_cache_thread_current(own, &t, NULL))
                _exit(1);
            if (i & 1)
                txm_cache_free(&own);
            pthread_setspecific(end, c);
            pthread_exit(NULL);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(status == 0, "the child ended with status %x", (unsigned)status);
        look_once(c);
    }
    atomic_store(&enough, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

enum { OPEN_FILES = 1000 };

/* Opens and closes tx files, as a cache does that uses more files than it may keep open. With 1,000 others open, each
 * takes a while. */
static void *open_and_close(void *unused)
{
    while (!atomic_load(&enough)) {
        txm_tx *tx;
        if (txm_tx_open(path, &tx, NULL) == TXM_OK)
            txm_tx_close(&tx);
    }
    return unused;
}

/* A child that was forked while other threads opened files opens files itself. */
TEST(children_open_files)
{
    static txm_tx *held[OPEN_FILES];
    pthread_t threads[2];
    for (int i = 0; i < OPEN_FILES; i++)
        ck_assert_int_eq(txm_tx_open(path, &held[i], NULL), TXM_OK);
    txm_tx_close(&held[0]); /* so that the threads take places at the end of a long list */
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
    for (int i = 0; i < 100; i++) {
        int status;
        pid_t child = fork();
        if (!child) {
            float color[4];
            alarm(20);
            look(cache_with_texture(), color);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(status == 0, "the child ended with status %x", (unsigned)status);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < OPEN_FILES; i++)
        txm_tx_close(&held[i]);
}
