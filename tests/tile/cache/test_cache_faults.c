/* SPDX-License-Identifier: Apache-2.0
 *
 * The texture cache while the system fails: this program's open, mmap, malloc, calloc and realloc replace the C
 * library's and fail at their n-th call, once or from then on, for every n of a run of lookups. A lookup has its
 * colour, bit for bit, or is magenta; what failed is counted and not tried again; memory stays in the budget, and
 * nothing is left open.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "util_cache.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_sample.h"
#include "util_tx.h"

/* ---- faults of files; those of memory are in util_faults.h ---- */

/* The C library uses these names for the functions with 64-bit offsets. */
int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list rest;
    va_start(rest, flags);
    if (flags & O_CREAT)
        mode = va_arg(rest, mode_t);
    va_end(rest);
    if (fails(FAULT_OPEN)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (fd >= 0 && fails(FAULT_MMAP)) {
        errno = EAGAIN; /* without memory for a map, the file would be copied */
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset); // NOLINT
}

/* ---- lookups ---- */

enum { LOOKS = 40, BUDGET = 1 << 20 };

typedef struct answers {
    txm_lookup_result result[LOOKS];
    float color[LOOKS][4];
} answers;

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Looks up in two files, in a cache made for them, with the fault armed while the cache is used. */
static void run(char *const paths[2], answers *a, fault kind, long at, bool lasting, long *failed)
{
    counted memory = {0};
    txm_cache_options o;
    txm_cache_options_init(&o);
    o.max_bytes = BUDGET;
    o.policy = TXM_CACHE_POLICY_LRU;
    o.threads = 1;
    o.max_open = 1; /* so files are opened again and again */
    o.allocator = count_in(&memory);
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    uint32_t ids[2];
    for (int i = 0; i < 2; i++)
        ids[i] = add_texture(c, paths[i], TXM_EXTENSION_REPEAT);
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    uint64_t seed = 11;
    faults.kind = kind;
    faults.lasting = lasting;
    faults.left = at;
    faults.failed = 0;
    for (int i = 0; i < LOOKS; i++) {
        float u = unit(&seed), v = unit(&seed);
        float step = exp2f((float)(i % 4)) / 150.0f;
        txm_lookup at_place = {u, v, step, 0, 0, step};
        faults.armed = at > 0;
        a->result[i] = txm_cache_sample(t, ids[i % 2], &how, &at_place, NULL, a->color[i]);
        faults.armed = false;
    }
    *failed = faults.failed;
    txm_cache_stats s = stats_of(c);
    int magenta = 0;
    for (int i = 0; i < LOOKS; i++)
        magenta += a->result[i] == TXM_LOOKUP_FAILURE;
    ck_assert_msg(!magenta || s.tiles_failed + s.textures_failed > 0, "%d lookups failed, and nothing is counted",
                  magenta);
    /* A tile that failed once is read again. A tile that goes on failing is not read again for every lookup. */
    ck_assert_uint_le(s.tiles_failed, lasting ? 4 * LOOKS : 2 * 12);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    ck_assert_uint_eq(memory.now, 0);
    ck_assert_uint_le(memory.most, 2 * BUDGET);
}

/* _i gives the kind of fault, and whether it lasts. */
TESTS(what_is_refused_costs_tiles_alone, 2 * FAULTS)
{
    fault kind = (fault)(_i / 2);
    bool lasting = _i % 2;
    char *paths[2] = {write_cached("a.tx", 150, 140, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                      write_cached("b.tx", 130, 150, 4, TXM_TYPE_HALF, MADE_NOISE, 2)};
    if (kind == FAULT_MEMORY && !REFUSES_MEMORY) {
        free(paths[0]);
        free(paths[1]);
        return;
    }
    static answers right, a;
    long failed, runs = 0;
    run(paths, &right, kind, 0, false, &failed);
    for (int i = 0; i < LOOKS; i++)
        ck_assert_int_eq(right.result[i], TXM_LOOKUP_HIT);
    int files = open_files(), magenta = 0;
    for (long n = 1; n < 3000; n++, runs++) {
        run(paths, &a, kind, n, lasting, &failed);
        if (!failed)
            break;
        for (int i = 0; i < LOOKS; i++) {
            const float *c = a.color[i];
            if (a.result[i] == TXM_LOOKUP_HIT)
                ck_assert_msg(memcmp(c, right.color[i], sizeof a.color[i]) == 0, "call %ld, lookup %d", n, i);
            else
                ck_assert_msg(a.result[i] == TXM_LOOKUP_FAILURE && c[0] == 1 && c[1] == 0 && c[2] == 1 && c[3] == 1,
                              "call %ld, lookup %d", n, i);
            magenta += a.result[i] == TXM_LOOKUP_FAILURE;
        }
        ck_assert_int_eq(open_files(), files);
    }
    ck_assert_int_gt(runs, 1);
    ck_assert_int_lt(runs, 2999);
    ck_assert(magenta > 0 || !lasting); /* a tile that failed once may succeed when a lookup needs it again */
    free(paths[0]);
    free(paths[1]);
}

/* Returns the address at which a file is mapped. */
static uint8_t *map_of(const char *path)
{
    char line[1024];
    uintptr_t begin = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (!begin && fgets(line, sizeof line, maps))
        if (strstr(line, path))
            begin = (uintptr_t)strtoull(line, NULL, 16);
    fclose(maps);
    ck_assert(begin);
    return (uint8_t *)begin; // NOLINT(performance-no-int-to-ptr)
}

/* A file is cut short in place while the cache has it open, or the disk or file server fails to deliver a page of it.
 * The program's handler receives SIGBUS and passes the address on. Tiles in memory stay, others fail and give the
 * reason, and other files are not affected. A page that could not be read is tried again. */
TESTS(a_file_that_is_lost_while_it_is_open, 2)
{
    static const char *const causes[] = {"victim.tx: became shorter", "victim.tx: a part of it cannot be read"};
    FREED char *victim = write_cached("victim.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 3);
    FREED char *other = write_cached("other.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 4);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    uint32_t a = add_texture(c, victim, TXM_EXTENSION_REPEAT), b = add_texture(c, other, TXM_EXTENSION_REPEAT);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup here = {0.1f, 0.1f, 1.0f / 512, 0, 0, 1.0f / 512},
                     there = {0.9f, 0.9f, 1.0f / 512, 0, 0, 1.0f / 512};
    float first[4], out[4];
    txm_cache_texture_stats s;
    ck_assert_int_eq(txm_cache_sample(t, a, &how, &here, NULL, first), TXM_LOOKUP_HIT);
    ck_assert(!txm_tx_catch_fault(&how));
    if (_i)
        ck_assert(txm_tx_catch_fault(map_of(victim) + 40000));
    else
        ck_assert_int_eq(truncate(victim, 5000), 0);
    for (int i = 0; i < 5; i++) {
        txm_lookup_result look = txm_cache_sample(t, a, &how, &there, NULL, out);
        ck_assert_int_eq(look, _i && i ? TXM_LOOKUP_HIT : TXM_LOOKUP_FAILURE);
        ck_assert(look == TXM_LOOKUP_HIT || (out[0] == 1 && out[1] == 0 && out[2] == 1 && out[3] == 1));
        ck_assert_int_eq(txm_cache_sample(t, a, &how, &here, NULL, out), TXM_LOOKUP_HIT);
        ck_assert(memcmp(out, first, sizeof out) == 0);
        ck_assert_int_eq(txm_cache_sample(t, b, &how, i % 2 ? &here : &there, NULL, out), TXM_LOOKUP_HIT);
    }
    ck_assert_uint_eq(stats_of(c).tiles_failed, 1);
    ck_assert_int_eq(txm_cache_texture_stats_of(c, a, &s, NULL), TXM_OK);
    ck_assert_msg(strstr(s.message, causes[_i]), "%s", s.message);
    ck_assert_int_eq(txm_cache_replace(c, a, _i ? NULL : other, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_sample(t, a, &how, &there, NULL, out), TXM_LOOKUP_HIT);
}

/* The functions return a complete report or none. */
TESTS(reports_are_whole, 2)
{
    FREED char *path = write_cached("a.tx", 150, 140, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    for (int i = 0; i < 8; i++)
        add_texture(c, path, TXM_EXTENSION_REPEAT);
    FREED char *whole = txm_cache_report(c, (txm_cache_report_format)_i);
    ck_assert_ptr_nonnull(whole);
    bool refused = REFUSES_MEMORY;
    long n = 1;
    for (; refused && n < 1000; n++) {
        refuse_memory(n);
        FREED char *report = txm_cache_report(c, (txm_cache_report_format)_i);
        refused = memory_was_refused();
        ck_assert_msg(refused == !report, "allocation %ld", n);
        ck_assert(!report || strcmp(report, whole) == 0);
    }
    ck_assert(n > 2 || !REFUSES_MEMORY);
}
