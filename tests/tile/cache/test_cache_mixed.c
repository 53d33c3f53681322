/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes every call that cache.h allows, all at the same time: threads look up and block; wavefronts wait for their
 * batches, poll, cancel or drop them, in their own views and in the cache's; threads change budgets, textures, pins and
 * traces; one thread destroys files and restores them, while allocations and opens fail. Colours must be those of the
 * sampler with every tile in memory, and a lookup may fail only while something is made to fail. Afterwards every
 * texture recovers, and nothing is left allocated.
 *
 * TXM_MIXED_LOOKUPS is the number of lookups (default: 200,000), and TXM_MIXED_SEED gives other random numbers. With
 * more lookups, wavefronts and the threads that change and destroy pause longer, so that any run has some thousand
 * faults (make check-cache-stress).
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "txtile/reader.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

enum {
    FILES = 8,
    TEXTURES = FILES + 2, /* besides, one file a second time with another extension, and a UDIM set */
    SET = TEXTURES - 1,
    SET_TILES = 2,
    LOOKERS = 4,
    WAVES = 4, /* half of them have their own viewers */
    HANDS = 2, /* threads that change things */
    WAVE = 300,
    CALL = 5000,
    MOST_ADDED = 40
};

/* Holds a file as it was written, and its textures. */
typedef struct original {
    char *path;
    uint8_t *bytes;
    size_t count;
} original;

static original files[FILES];
static txm_cache *cache;
static txm_texture_set *reference;
static const txm_view *truth;
static uint32_t ids[TEXTURES], truths[TEXTURES];

/* Lookups in the cache's own view must not run beside the calls that cache.h lists: those calls write-lock this,
 * lookups read-lock it. Viewers need no lock. */
static pthread_rwlock_t view_lock;

static _Atomic bool stop, harmed; /* harmed: files are being destroyed, or allocations and opens fail */
static _Atomic uint32_t refuse;   /* of 1000 allocations and opens, this many fail */
static _Atomic uint64_t lookups, failed, wrong, cancelled, refused;
static _Atomic int64_t live;
static uint32_t pauses = 1; /* pauses last this many times as long as usual */

/* ---- calls that fail ---- */

/* All threads draw from one sequence, so allocations fail in a different order each time, which is intended. */
static bool is_refused(void)
{
    static _Atomic uint64_t calls;
    const uint32_t most = atomic_load(&refuse);
    uint64_t x = most ? atomic_fetch_add(&calls, 1) * 0x9E3779B97F4A7C15u : 0;
    if (!most || ((x ^ x >> 29) >> 8) % 1000 >= most)
        return false;
    atomic_fetch_add(&refused, 1);
    return true;
}

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    if (is_refused() ||
        posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes ? bytes : 1))
        return NULL;
    atomic_fetch_add(&live, (int64_t)bytes);
    return memory;
}

/* Memory is overwritten before it is freed, so that a use after free shows. */
static void give_back(void *user, void *memory, size_t bytes)
{
    (void)user;
    if (memory)
        memset(memory, 0xDD, bytes);
    atomic_fetch_sub(&live, memory ? (int64_t)bytes : 0);
    free(memory);
}

/* Replaces the C library's function, which the reader would call. */
int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    const size_t length = strlen(path);
    if (length > 3 && !strcmp(path + length - 3, ".tx") && !(flags & O_CREAT) && is_refused()) {
        errno = atomic_load(&refused) & 1 ? EMFILE : EIO;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* Does the same for files that are read instead of mapped. */
ssize_t pread64(int fd, void *buffer, size_t bytes, off64_t offset)
{
    if (is_refused()) {
        errno = EIO;
        return -1;
    }
    return (ssize_t)syscall(SYS_pread64, fd, buffer, bytes, offset);
}

/* Sleeps a random time of up to `most_nanoseconds` times `pauses`. */
static void rest(uint64_t *s, uint64_t most_nanoseconds)
{
    const uint64_t nanoseconds = sample_random(s) % most_nanoseconds * pauses;
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)},
        NULL);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!txm_tx_catch_fault(info->si_addr))
        signal(number, SIG_DFL);
}

/* ---- lookups ---- */

/* Returns a random sampler. */
static txm_sampler some_sampler(uint64_t *s)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.rule = (uint8_t)(sample_random(s) % 4);
    how.mode = (uint8_t)(sample_random(s) % 4);
    how.filter = (uint8_t)(sample_random(s) % 10);
    if (how.rule == TXM_LEVEL_RULE_GIVEN && how.filter == TXM_FILTER_STOCHASTIC_EWA)
        how.filter = TXM_FILTER_SMART;
    how.on_miss = (uint8_t)(sample_random(s) % 4);
    how.chance = (uint8_t)(sample_random(s) % 3);
    how.anisotropy = (uint8_t)(1 + sample_random(s) % 4);
    how.mip_bias = sample_random(s) % 4 ? 0.0f : 4.0f * unit(s) - 1.0f;
    return how;
}

/* Returns a lookup inside or outside of the texture with a footprint of any size, occasionally infinite or NaN. */
static txm_lookup somewhere(uint64_t *s)
{
    const float size = exp2f(10.0f * unit(s) - 10.0f);
    txm_lookup at = {2.0f * unit(s) - 0.5f,       2.0f * unit(s) - 0.5f,       size * (unit(s) - 0.5f),
                     size * (unit(s) - 0.5f) / 5, size * (unit(s) - 0.5f) / 5, size * (unit(s) - 0.5f)};
    const uint64_t odd = sample_random(s) % 4000;
    if (odd == 0)
        at.u = INFINITY;
    if (odd == 1)
        at.dudx = NAN;
    return at;
}

static bool same(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* Compares one lookup with the sampler's own result and prints the first few that differ. */
static void judge(const char *call, uint32_t texture, txm_lookup_result look, const float *got,
                  txm_lookup_result true_look, const float *want, size_t count)
{
    atomic_fetch_add_explicit(&lookups, 1, memory_order_relaxed);
    const bool may_fail = atomic_load(&harmed) || true_look == TXM_LOOKUP_FAILURE;
    if (look == TXM_LOOKUP_FAILURE && may_fail) {
        atomic_fetch_add_explicit(&failed, 1, memory_order_relaxed);
        return;
    }
    if (look == TXM_LOOKUP_HIT && same(got, want, count))
        return;
    if (atomic_fetch_add(&wrong, 1) < 10)
        fprintf(stderr, "%s, texture %u: lookup %d gives %a %a %a %a instead of %a %a %a %a\n", call, texture, look,
                got[0], got[1], got[2], got[3], want[0], want[1], want[2], want[3]);
}

/* A lookup that is to be made, for wavefronts again until it has its tiles. */
typedef struct step {
    uint32_t texture, random;
    txm_sampler how;
    txm_lookup at;
    bool done;
} step;

static step some_step(uint64_t *s)
{
    return (step){.texture = (uint32_t)(sample_random(s) % TEXTURES),
                  .random = sample_random(s) % 5 ? (uint32_t)sample_random(s) | 1 : 0,
                  .how = some_sampler(s),
                  .at = somewhere(s)};
}

/* A lookup beside another one, which needs the same tiles or their neighbours. */
static step beside(const step *p, uint64_t *s)
{
    step next = *p;
    next.done = false;
    next.random = (uint32_t)sample_random(s) | 1;
    next.at.u += 0.02f * (unit(s) - 0.5f);
    next.at.v += 0.02f * (unit(s) - 0.5f);
    return next;
}

static void look_once(txm_cache_thread *t, const step *p, bool derivatives)
{
    const uint32_t i = p->texture;
    float got[12] = {0}, want[12] = {0};
    uint32_t random = p->random;
    txm_lookup_state lane = {.random = random};
    if (!derivatives) {
        const txm_lookup_result look = txm_cache_sample(t, ids[i], &p->how, &p->at, &random, got);
        judge("sample", i, look, got, txm_sample(truth, truths[i], &p->how, &p->at, &lane, want), want, 4);
    } else {
        const txm_lookup_result look = txm_cache_sample_d(t, ids[i], &p->how, &p->at, &random, got, got + 4, got + 8);
        judge("sample_d", i, look, got,
              txm_sample_d(truth, truths[i], &p->how, &p->at, &lane, want, want + 4, want + 8), want, 12);
    }
}

/* One at a time: a few anywhere, or many about a place, as the rays of a renderer make them. */
static void look_singly(txm_cache_thread *t, uint64_t *s)
{
    enum { ANYWHERE = 30, ABOUT = 300 };
    const bool about = sample_random(s) % 2;
    step p = some_step(s);
    for (int n = 0; n < (about ? ABOUT : ANYWHERE); n++) {
        look_once(t, &p, sample_random(s) % 4 == 0);
        p = about ? beside(&p, s) : some_step(s);
    }
}

/* Looks up many at a time: small calls anywhere, large ones around one place, as renderers do. */
typedef struct call {
    txm_lookups batch;
    float in[6][CALL], out[4][CALL];
    uint32_t random[CALL];
    uint8_t result[CALL];
} call;

static void make_call(call *c, size_t count, uint64_t *s)
{
    txm_lookup at = somewhere(s);
    for (size_t k = 0; k < count; k++) {
        if (count < CALL)
            at = somewhere(s);
        const float near = count < CALL ? 0.0f : 0.03f;
        const float place[6] = {at.u + near * unit(s), at.v + near * unit(s), at.dudx, at.dvdx, at.dudy, at.dvdy};
        for (int n = 0; n < 6; n++)
            c->in[n][k] = place[n];
        c->random[k] = (uint32_t)sample_random(s) | 1;
    }
    c->batch = (txm_lookups){.count = count,
                             .u = c->in[0],
                             .v = c->in[1],
                             .dudx = c->in[2],
                             .dvdx = c->in[3],
                             .dudy = c->in[4],
                             .dvdy = c->in[5],
                             .random = c->random,
                             .result = c->result,
                             .out = {c->out[0], c->out[1], c->out[2], c->out[3]}};
}

static void look_often(txm_cache_thread *t, uint64_t *s, call *mine, call *true_one)
{
    static const size_t counts[] = {1, 7, 33, 100, CALL, CALL};
    const uint32_t i = (uint32_t)(sample_random(s) % TEXTURES);
    const txm_sampler how = some_sampler(s);
    const size_t count = counts[sample_random(s) % (sizeof counts / sizeof *counts)];
    uint64_t again = *s;
    txm_lookup_state lane = {0};
    make_call(mine, count, s);
    make_call(true_one, count, &again);
    txm_cache_sample_n(t, ids[i], &how, &mine->batch);
    txm_sample_n(truth, truths[i], &how, &true_one->batch, &lane);
    for (size_t k = 0; k < count; k++) {
        const float got[4] = {mine->out[0][k], mine->out[1][k], mine->out[2][k], mine->out[3][k]};
        const float want[4] = {true_one->out[0][k], true_one->out[1][k], true_one->out[2][k], true_one->out[3][k]};
        judge("sample_n", i, (txm_lookup_result)mine->result[k], got, (txm_lookup_result)true_one->result[k], want, 4);
    }
}

static txm_cache_thread *thread_of_cache(void)
{
    txm_cache_thread *t = NULL;
    while (txm_cache_thread_new(cache, &t, NULL) != TXM_OK)
        ck_assert(atomic_load(&harmed) || atomic_load(&refuse));
    return t;
}

static void *look_up(void *seed)
{
    uint64_t s = *(const uint64_t *)seed;
    FREED call *calls = malloc(2 * sizeof *calls);
    txm_cache_thread *t = thread_of_cache();
    for (uint32_t n = 1; !atomic_load(&stop); n++) {
        pthread_rwlock_rdlock(&view_lock);
        if (sample_random(&s) % 3)
            look_singly(t, &s);
        else
            look_often(t, &s, &calls[0], &calls[1]);
        pthread_rwlock_unlock(&view_lock);
        if (n % 500 == 0) { /* a renderer's threads come and go */
            txm_cache_thread_free(&t);
            t = thread_of_cache();
        }
    }
    txm_cache_thread_free(&t);
    return NULL;
}

/* ---- wavefronts ---- */

/* Runs one launch in the viewer's view or, without a viewer, the cache's. The lane's list then names the tiles that
 * were missing. Returns how many lookups are still to be done. */
static size_t launch(txm_cache_viewer *viewer, step *steps, txm_lookup_state *lane)
{
    txm_view view;
    size_t left = 0;
    while ((viewer ? txm_cache_viewer_prepare(viewer, &view, NULL, NULL)
                   : txm_cache_prepare(cache, &view, NULL, NULL)) != TXM_OK)
        ;
    lane->count = 0; /* the list belongs to an earlier view, so it is void */
    for (step *p = steps; p < steps + WAVE; p++) {
        float got[4], want[4];
        txm_lookup at = p->at;
        if (p->done)
            continue;
        const uint32_t shown = txm_cache_resolve(cache, ids[p->texture], &p->how, &at);
        lane->random = p->random;
        const txm_lookup_result look = txm_sample(&view, shown, &p->how, &at, lane, got);
        left += look == TXM_LOOKUP_MISS;
        if (look == TXM_LOOKUP_MISS)
            continue;
        p->done = true;
        txm_lookup_state own = {.random = p->random};
        const txm_lookup_result true_look = txm_sample(truth, truths[p->texture], &p->how, &p->at, &own, want);
        judge("wave", p->texture, look, got, true_look, want, 4);
    }
    return left;
}

/* Loads the missing tiles in one of several ways: waits for them, polls in the next launches, cancels at once or
 * half-way, or requests nothing. */
static void load(txm_cache_viewer *viewer, txm_lookup_state *lane, txm_ticket **polled, uint64_t *s)
{
    txm_lookup_state *lanes[] = {lane};
    txm_ticket *ticket = NULL;
    if (*polled && !txm_ticket_poll(*polled)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* the rest of a frame passes */
        return;
    }
    txm_ticket_wait(polled);
    if (sample_random(s) % 16 == 0) { /* the frame is dropped */
        atomic_fetch_add(&cancelled, 1);
        return;
    }
    if ((viewer ? txm_cache_viewer_process(viewer, lanes, 1, &ticket, NULL)
                : txm_cache_process(cache, lanes, 1, &ticket, NULL)) != TXM_OK)
        return;
    if (sample_random(s) % 4 == 0) {
        *polled = ticket;
        return;
    }
    const uint32_t total = txm_ticket_total(ticket);
    const uint64_t way = sample_random(s) % 16;
    if (way < 3) {
        for (int i = 0; way == 0 && i < 100 && txm_ticket_remaining(ticket) > total / 2; i++)
            nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
        atomic_fetch_add(&cancelled, 1);
        txm_ticket_cancel(&ticket);
    }
    txm_ticket_wait(&ticket);
}

static void *wave(void *seed)
{
    enum { REQUESTS = 20000, LAUNCHES = 20000 };
    uint64_t s = *(const uint64_t *)seed;
    step steps[WAVE];
    FREED uint32_t *requests = malloc(REQUESTS * sizeof *requests);
    txm_lookup_state lane = {.capacity = s & 2 ? REQUESTS : 64, .requests = requests};
    txm_ticket *polled = NULL;
    txm_cache_viewer *viewer = NULL;
    while (s & 1 && txm_cache_viewer_new(cache, &viewer, NULL) != TXM_OK)
        ;
    while (!atomic_load(&stop)) {
        steps[0] = some_step(&s);
        for (step *p = steps + 1; p < steps + WAVE; p++)
            *p = sample_random(&s) % 4 ? beside(p - 1, &s) : some_step(&s);
        size_t left = 1;
        for (int n = 0; left && !atomic_load(&stop); n++) {
            ck_assert_msg(n < LAUNCHES, "%zu lookups never get all of their tiles", left);
            if (!viewer)
                pthread_rwlock_wrlock(&view_lock);
            left = launch(viewer, steps, &lane);
            if (!viewer) {
                pthread_rwlock_unlock(&view_lock);
                pthread_rwlock_rdlock(&view_lock);
            }
            if (left)
                load(viewer, &lane, &polled, &s);
            if (!viewer) {
                txm_cache_close_view(cache); /* or changes would be refused */
                pthread_rwlock_unlock(&view_lock);
            } else if (sample_random(&s) % 8 == 0)
                txm_cache_viewer_close(viewer);
        }
        rest(&s, 1000000);
    }
    txm_ticket_cancel(&polled);
    txm_cache_viewer_free(&viewer);
    return NULL;
}

/* ---- threads that change things ---- */

/* Makes a call that is allowed at any time, also while others look up in a view. */
static void ask(uint64_t *s)
{
    txm_cache_stats stats;
    txm_cache_texture_stats of_texture;
    char *report;
    txm_lookup at = somewhere(s);
    const txm_sampler how = some_sampler(s);
    switch (sample_random(s) % 4) {
    case 0:
        txm_cache_stats_of(cache, &stats);
        break;
    case 1:
        txm_cache_texture_stats_of(cache, ids[sample_random(s) % TEXTURES], &of_texture, NULL);
        break;
    case 2:
        report = txm_cache_report(cache, (txm_cache_report_format)(sample_random(s) % 2));
        ck_assert(!report || !strchr(report, 0xDD)); /* paths are printed intact */
        free(report);
        break;
    default:
        txm_cache_resolve(cache, ids[SET], &how, &at);
    }
}

/* Only one of the two threads starts and ends traces, since lanes must be idle while a trace ends. */
static void trace(uint64_t *s)
{
    static bool on;
    if (!on && sample_random(s) % 4 == 0) {
        on = txm_cache_trace_start(cache, temp_file("mixed.trace"), (uint32_t)(1 + sample_random(s) % 3), NULL) ==
             TXM_OK;
        return;
    }
    if (!on || sample_random(s) % 4)
        return;
    pthread_rwlock_wrlock(&view_lock); /* nobody may look up meanwhile */
    const uint64_t way = sample_random(s) % 3;
    if (way == 0)
        txm_cache_trace_stop(cache, NULL);
    else if (way == 1)
        txm_cache_trace_stop_partial(cache, "half of it", NULL);
    else
        txm_cache_trace_drop(cache);
    on = false;
    pthread_rwlock_unlock(&view_lock);
}

/* Makes a call that changes what a view contains. */
static void change(uint64_t *s)
{
    static _Atomic uint32_t added;
    uint32_t more;
    const uint32_t i = (uint32_t)(sample_random(s) % FILES), id = ids[i];
    const txm_cache_part part = {
        (uint32_t)(sample_random(s) % 4), (uint32_t)(sample_random(s) % 8), unit(s), unit(s), unit(s), unit(s)};
    switch (sample_random(s) % 11) {
    case 0:
        txm_cache_set_max_bytes(cache, sample_random(s) % 20 ? (100 << 10) + sample_random(s) % (4 << 20) : 0, NULL);
        break;
    case 1:
        txm_cache_unload(cache, id, NULL);
        break;
    case 2:
        txm_cache_replace(cache, id, sample_random(s) % 2 ? files[i].path : NULL, NULL);
        break;
    case 3:
        txm_cache_end_epoch(cache);
        break;
    case 4:
        txm_cache_preload(cache, id, sample_random(s) % 4 ? &part : NULL, NULL);
        break;
    case 5:
        txm_cache_register(cache, id, NULL);
        break;
    case 6:
        txm_cache_open(cache, id, NULL, NULL);
        break;
    case 7:
        txm_cache_invalidate(cache, id, sample_random(s) % 4 ? &part : NULL, NULL);
        break;
    case 8:
        txm_cache_pin(cache, id, sample_random(s) % 4 ? &part : NULL, NULL);
        break;
    case 9:
        txm_cache_unpin(cache, id, sample_random(s) % 4 ? &part : NULL, NULL);
        break;
    default:
        if (atomic_fetch_add(&added, 1) < MOST_ADDED &&
            txm_cache_add(cache, files[i].path, TXM_EXTENSION_MIRROR, &more, NULL) == TXM_OK && sample_random(s) % 2) {
            const uint32_t numbers[] = {1001};
            txm_cache_add_udim(cache, &(txm_cache_udim){numbers, &more, 1, TXM_NO_TEXTURE, 0, 0}, &more, NULL);
        }
    }
}

static void *meddle(void *seed)
{
    uint64_t s = *(const uint64_t *)seed;
    const bool traces = s & 1;
    while (!atomic_load(&stop)) {
        rest(&s, 2000000);
        ask(&s);
        if (traces)
            trace(&s);
        pthread_rwlock_rdlock(&view_lock);
        change(&s);
        pthread_rwlock_unlock(&view_lock);
        if (atomic_load(&harmed))
            atomic_store(&refuse, sample_random(&s) % 3 ? 0 : (uint32_t)(sample_random(&s) % 300));
    }
    return NULL;
}

/* ---- files ---- */

static void write_whole(const char *path, const original *o)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert(fd >= 0 && write(fd, o->bytes, o->count) == (ssize_t)o->count);
    close(fd);
}

/* Restores a file as programs replace one: written under another name, then renamed. */
static void restore(const original *o)
{
    char other[600];
    snprintf(other, sizeof other, "%s.new", o->path);
    write_whole(other, o);
    ck_assert_int_eq(rename(other, o->path), 0);
}

/* Cuts, removes and replaces files while they are read. */
static void *destroy(void *seed)
{
    uint64_t s = *(const uint64_t *)seed;
    while (!atomic_load(&stop)) {
        rest(&s, 5000000);
        const uint32_t i = (uint32_t)(sample_random(&s) % FILES);
        const original *o = &files[i];
        switch (sample_random(&s) % 4) {
        case 0:
            ck_assert(truncate(o->path, (off_t)(sample_random(&s) % o->count)) == 0 || errno == ENOENT);
            break;
        case 1:
            unlink(o->path);
            break;
        default:
            restore(o);
        }
        if (sample_random(&s) % 3)
            continue;
        restore(o);
        pthread_rwlock_rdlock(&view_lock);
        txm_cache_replace(cache, ids[i], NULL, NULL);
        pthread_rwlock_unlock(&view_lock);
    }
    return NULL;
}

/* ---- the run ---- */

/* Adds the textures to the cache and to the set that gives the expected colours; their numbers differ. */
static void add_all(void)
{
    static const uint32_t numbers[SET_TILES] = {1001, 1012};
    ck_assert_int_eq(txm_texture_set_new(&reference, NULL), TXM_OK);
    for (uint32_t i = 0; i < TEXTURES - 1; i++) {
        const txm_extension extension = i % 16;
        ids[i] = add_texture(cache, files[i % FILES].path, extension);
        ck_assert_int_eq(txm_texture_set_add(reference, files[i % FILES].path, extension, &truths[i], NULL), TXM_OK);
        ck_assert_int_eq(txm_texture_set_load_all(reference, truths[i], NULL), TXM_OK);
    }
    const txm_cache_udim udim = {numbers, ids, SET_TILES, TXM_NO_TEXTURE, 0, 0};
    ck_assert_int_eq(txm_cache_add_udim(cache, &udim, &ids[SET], NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_add_udim(reference, numbers, truths, SET_TILES, &truths[SET], NULL), TXM_OK);
    truth = txm_texture_set_view(reference);
}

static void start(pthread_t *thread, void *(*work)(void *), uint64_t *seed)
{
    ck_assert_int_eq(pthread_create(thread, NULL, work, seed), 0);
}

/* Waits until `most` more lookups were made. If none is made for half a minute, the threads hang. */
static void wait_for_lookups(uint64_t most)
{
    enum { STEPS = 300 };
    const uint64_t end = atomic_load(&lookups) + most;
    uint64_t before = 0;
    for (int still = 0; atomic_load(&lookups) < end; still++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        const uint64_t now = atomic_load(&lookups);
        still = now == before ? still : 0;
        before = now;
        if (still > STEPS) {
            fprintf(stderr, "no lookup has ended for %d s\n", STEPS / 10);
            abort();
        }
    }
}

/* Whatever failed or was destroyed, all colours are there again afterwards. */
static void check_recovery(uint64_t seed)
{
    txm_cache_close_view(cache); /* of a wavefront that was stopped */
    for (uint32_t i = 0; i < FILES; i++) {
        restore(&files[i]);
        ck_assert_int_eq(txm_cache_replace(cache, ids[i], NULL, NULL), TXM_OK);
    }
    ck_assert_int_eq(txm_cache_replace(cache, ids[FILES], NULL, NULL), TXM_OK);
    atomic_store(&harmed, false);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(cache);
    for (int i = 0; i < 2000; i++) {
        const step p = some_step(&seed);
        look_once(t, &p, i % 4 == 0);
    }
}

/* In the first part no lookup may fail; then everything happens at once. */
static void run(const txm_cache_options *options, uint64_t most, uint64_t seed)
{
    pthread_t threads[LOOKERS + WAVES + HANDS + 1];
    uint64_t seeds[LOOKERS + WAVES + HANDS + 1];
    cache = new_cache(options);
    add_all();
    for (int calm = 1; calm >= 0; calm--) {
        int n = 0;
        atomic_store(&stop, false);
        atomic_store(&harmed, !calm);
        for (int i = 0; i < LOOKERS + WAVES + HANDS + 1; i++)
            seeds[i] = (seed * 1000003 + (uint64_t)i * 7919) << 1 | (i & 1);
        for (int i = 0; i < LOOKERS; i++, n++)
            start(&threads[n], look_up, &seeds[n]);
        for (int i = 0; i < WAVES; i++, n++)
            start(&threads[n], wave, &seeds[n]);
        for (int i = 0; i < HANDS; i++, n++)
            start(&threads[n], meddle, &seeds[n]);
        if (!calm) {
            start(&threads[n], destroy, &seeds[n]);
            n++;
        }
        wait_for_lookups(most / 2);
        atomic_store(&stop, true);
        alarm(300); /* a call did not return */
        while (n)
            pthread_join(threads[--n], NULL);
        alarm(0);
        atomic_store(&refuse, 0);
    }
    check_recovery(seed);
    txm_cache_trace_drop(cache);
    txm_cache_free(&cache);
    txm_texture_set_free(&reference);
}

static uint64_t number_of(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

TEST(all_calls_at_once)
{
    /* Sanitizers make our decoders slow, and the cache does not see the codec; hence most large files have another. */
    static const struct {
        uint32_t width, height, channels;
        txm_type type;
        txm_codec codec;
    } made[FILES] = {{700, 500, 4, TXM_TYPE_U8, TXM_CODEC_ZSTD},    {300, 300, 1, TXM_TYPE_HALF, TXM_CODEC_ZIP},
                     {512, 384, 4, TXM_TYPE_FLOAT, TXM_CODEC_NONE}, {640, 640, 3, TXM_TYPE_U8, TXM_CODEC_ZIP},
                     {257, 257, 4, TXM_TYPE_U16, TXM_CODEC_ZSTD},   {128, 1024, 4, TXM_TYPE_HALF, TXM_CODEC_NONE},
                     {20, 31, 4, TXM_TYPE_U8, TXM_CODEC_ZIP},       {16, 16, 3, TXM_TYPE_U16, TXM_CODEC_ZIP}};
    const uint64_t most = number_of("TXM_MIXED_LOOKUPS", 200000), seed = number_of("TXM_MIXED_SEED", 1);
    const struct sigaction catch = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    pthread_rwlockattr_t kind;
    pauses = most / 1000000 < 1 ? 1 : most / 1000000 < 100 ? (uint32_t)(most / 1000000) : 100;
    sigaction(SIGBUS, &catch, NULL);
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&view_lock, &kind);
    for (uint32_t i = 0; i < FILES; i++) {
        char name[20];
        snprintf(name, sizeof name, "m%u.tx", i);
        files[i].path = write_cached_as(name, made[i].width, made[i].height, made[i].channels, made[i].type, MADE_NOISE,
                                        i, made[i].codec);
        files[i].bytes = load_file(files[i].path, &files[i].count);
    }
    for (uint32_t k = 0; k < BOUNDED_POLICIES; k++) {
        const uint32_t policy = bounded_policy(k);
        txm_cache_options o = budget_options(1 << 20, policy);
        o.max_open = 3;
        o.keep_epochs = 1 + policy % 2;
        o.stand_in = policy % (TXM_STAND_IN_KIND_TILE + 1);
        o.reject = policy != 0;
        o.keep_rgb = policy & 1;
        o.read_files = policy == 1 || policy == 2;
        o.max_queued = policy == 1 ? 100 : 8192;
        o.launch_seconds = policy == 2 ? 0.005f : 0.0f;
        o.allocator = (txm_cache_allocator){allocate, give_back, NULL};
        run(&o, most / BOUNDED_POLICIES, seed + policy);
        ck_assert_int_eq(atomic_load(&live), 0);
    }
    fprintf(stderr, "%llu lookups, %llu failed, %llu frames cancelled, %llu calls refused\n",
            (unsigned long long)lookups, (unsigned long long)failed, (unsigned long long)cancelled,
            (unsigned long long)refused);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_gt(failed, 0);
    ck_assert_uint_gt(cancelled, 0);
    ck_assert_uint_gt(refused, 0);
    for (uint32_t i = 0; i < FILES; i++) {
        free(files[i].path);
        free(files[i].bytes);
    }
    pthread_rwlock_destroy(&view_lock);
    pthread_rwlockattr_destroy(&kind);
}

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "0", 1); /* it may be asked to go on for hours */
    return run_tests();
}
