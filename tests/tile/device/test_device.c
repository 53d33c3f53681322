/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups on devices have the bits of the sampler for everything that can be looked up, whatever memory the device has,
 * with several devices, and when devices are lost.
 *
 * The device is the processor, through a plug-in for tests; TXM_DEVICE=opencl or =cuda takes real devices, and
 * TXM_DEVICES=N, up to 3, runs only the tests of several devices. TXM_DEVICE_LOOKUPS is the number of random lookups of
 * the first test, and TXM_DEVICE_PART=N makes all other tests look up only an N-th of what they would.
 */

#include "tile/cache/flow/mirror.h"
#include "tile/device/device_impl.h"
#include "tile/sample/filter.h"
#include "tile/sample/view_file.h"
#include "txtile/device.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

enum {
    TYPES = 4,
    SHAPES = 2,
    EXTENSIONS = 4,
    LARGE = TYPES * SHAPES * EXTENSIONS,
    FILES = 2 * LARGE, /* the second half: small enough for the cache to pack */
    TEXTURES = FILES + 1,
    SAMPLERS = 64
};

static txm_texture_set *truth;
static uint32_t truths[TEXTURES];
static char *paths[FILES];

static txm_extension extension_of(uint32_t file)
{
    const uint32_t mode = file % LARGE / TYPES / SHAPES;
    return (txm_extension)(file & 1 ? 5 * mode % 16 : mode); /* one of two differs along u and v */
}

static void make_truth(void)
{
    uint32_t udims[3] = {1001, 1012, 1015}, parts[3];
    ck_assert_int_eq(txm_texture_set_new(&truth, NULL), TXM_OK);
    for (uint32_t i = 0; i < FILES; i++) {
        char name[32];
        const uint32_t colors = i / TYPES / SHAPES % 2 ? 3 : 4;
        const uint32_t channels = i / TYPES % SHAPES ? 1 : colors, extension = extension_of(i);
        const uint32_t width = i < LARGE ? 200 + 37 * i : 1 + 7 * i % 32,
                       height = i < LARGE ? 530 - 13 * i : 1 + 11 * i % 32;
        snprintf(name, sizeof name, "device-%u.tx", i);
        paths[i] = write_cached(name, width, height, channels, (txm_type)(i % TYPES), MADE_NOISE, i);
        ck_assert_int_eq(txm_texture_set_add(truth, paths[i], extension, &truths[i], NULL), TXM_OK);
        ck_assert_int_eq(txm_texture_set_load_all(truth, truths[i], NULL), TXM_OK);
    }
    parts[0] = truths[0];
    parts[1] = truths[9];
    parts[2] = truths[LARGE + 2];
    ck_assert_int_eq(txm_texture_set_add_udim(truth, udims, parts, 3, &truths[FILES], NULL), TXM_OK);
}

static void free_truth(void)
{
    txm_texture_set_free(&truth);
    for (int i = 0; i < FILES; i++)
        free(paths[i]);
}
FIXTURE_ONCE(make_truth, free_truth)

static txm_cache *cache_of(uint64_t bytes)
{
    txm_cache_options o = budget_options(bytes, TXM_CACHE_POLICY_LRU);
    txm_cache *c = new_cache(&o);
    uint32_t ids[TEXTURES], numbers[3] = {1001, 1012, 1015};
    for (uint32_t i = 0; i < FILES; i++) {
        ids[i] = add_texture(c, paths[i], extension_of(i));
        ck_assert_uint_eq(ids[i], truths[i]);
    }
    const uint32_t parts[3] = {ids[0], ids[9], ids[LARGE + 2]};
    const txm_cache_udim udim = {numbers, parts, 3, TXM_NO_TEXTURE, 0, 0};
    ck_assert_int_eq(txm_cache_add_udim(c, &udim, &ids[FILES], NULL), TXM_OK);
    ck_assert_uint_eq(ids[FILES], truths[FILES]);
    return c;
}

/* ---- random batches ---- */

typedef struct looks {
    size_t count;
    txm_sampler samplers[SAMPLERS];
    uint32_t *how, *texture, *random, *kept;
    txm_lookup *at;
    float (*out)[4], (*du)[4], (*dv)[4];
    uint8_t *result;
} looks;

static looks looks_of(size_t count, uint64_t seed, bool slopes)
{
    looks l = {.count = count};
    uint64_t state = seed;
    for (int i = 0; i < SAMPLERS; i++)
        l.samplers[i] = sample_random_sampler(&state);
    l.how = calloc(count, sizeof *l.how);
    l.texture = calloc(count, sizeof *l.texture);
    l.random = calloc(count, sizeof *l.random);
    l.kept = calloc(count, sizeof *l.kept);
    l.at = calloc(count, sizeof *l.at);
    l.out = calloc(count, sizeof *l.out);
    l.du = slopes ? calloc(count, sizeof *l.du) : NULL;
    l.dv = slopes ? calloc(count, sizeof *l.dv) : NULL;
    l.result = calloc(count, 1);
    for (size_t i = 0; i < count; i++) {
        const uint32_t kinds[] = {0, 0, 0, TXM_QUERY_UDIM_BLEND, TXM_QUERY_LATLONG};
        l.how[i] = sample_random(&state) % SAMPLERS;
        l.texture[i] = sample_random(&state) % (TEXTURES + 1); /* sometimes a number of no texture */
        l.kept[i] = l.random[i] = sample_random(&state) % 8 ? sample_random(&state) : 0;
        l.at[i] = sample_random_lookup(&state, 512, 256, 1);
        sample_give_level(&state, &l.samplers[l.how[i]], &l.at[i]);
        l.how[i] += kinds[sample_random(&state) % 5];
        if (l.how[i] & TXM_QUERY_UDIM_BLEND && sample_random(&state) % 4)
            l.texture[i] = FILES; /* the set */
    }
    return l;
}

static txm_device_batch batch_of(looks *l)
{
    return (txm_device_batch){.count = l->count,
                              .samplers = l->samplers,
                              .sampler_count = SAMPLERS,
                              .how = l->how,
                              .texture = l->texture,
                              .at = l->at,
                              .random = l->random,
                              .out = l->out,
                              .du = l->du,
                              .dv = l->dv,
                              .result = l->result};
}

static void free_looks(looks *l)
{
    void *all[] = {l->how, l->texture, l->random, l->kept, l->at, l->out, l->du, l->dv, l->result};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Compares each lookup with the sampler's, which has every tile in memory. */
static void are_true(const looks *l)
{
    for (size_t i = 0; i < l->count; i++) {
        txm_lookup_state lookup_state = {.random = l->kept[i]};
        float out[4], du[4], dv[4];
        const txm_sampler *how = &l->samplers[l->how[i] & ~TXM_QUERY_KINDS];
        const txm_view *view = txm_texture_set_view(truth);
        const txm_lookup_result result =
            l->du ? txm_sample_d(view, l->texture[i], how, &l->at[i], &lookup_state, out, du, dv)
                  : (l->how[i] & TXM_QUERY_UDIM_BLEND ? txm_sample_udim_blend
                     : l->how[i] & TXM_QUERY_LATLONG
                         ? txm_sample_latlong
                         : txm_sample)(view, l->texture[i], how, &l->at[i], &lookup_state, out);
        ck_assert_msg(result == l->result[i] && !memcmp(out, l->out[i], sizeof out) &&
                          lookup_state.random == l->random[i],
                      "lookup %zu of texture %u: %d (%g %g %g %g) %08X, not %d (%g %g %g %g) %08X; rule %u mode %u "
                      "filter %u",
                      i, l->texture[i], l->result[i], (double)l->out[i][0], (double)l->out[i][1], (double)l->out[i][2],
                      (double)l->out[i][3], l->random[i], result, (double)out[0], (double)out[1], (double)out[2],
                      (double)out[3], lookup_state.random, how->rule, how->mode, how->filter);
        if (l->du)
            ck_assert_msg(!memcmp(du, l->du[i], sizeof du) && !memcmp(dv, l->dv[i], sizeof dv),
                          "derivatives of lookup %zu", i);
    }
}

/* ---- the device ---- */

static const char *device_name = "cuda"; /* the processor as a device, for tests */

/* TXM_DEVICE names a real device. With TXM_DEVICES, only what takes several of them is tested. */
static bool is_named(void)
{
    const char *name = getenv("TXM_DEVICE");
    return name && *name;
}

static txm_device *open_device(txm_cache *c, int number, const txm_device_options *o)
{
    char name[32];
    txm_error err;
    txm_device *d = NULL;
    snprintf(name, sizeof name, "%s:%d", device_name, number);
    ck_assert_msg(txm_device_open(c, name, o, &d, &err) == TXM_OK, "%s", err.message);
    return d;
}

static size_t number_of(const char *variable, size_t usual)
{
    const char *n = getenv(variable);
    return n ? strtoull(n, NULL, 10) : usual;
}

/* How many lookups a test takes. */
static size_t part_of(size_t usual)
{
    return usual / number_of("TXM_DEVICE_PART", case_part());
}

/* Checks that at least half of the small textures are packed. The cache does not pack the others. */
static void has_packed(txm_cache *c)
{
    txm_view view;
    uint32_t packed = 0;
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    for (uint32_t i = 0; i < view.texture_count; i++)
        packed += txm_view_is_packed(&view.textures[i]);
    ck_assert_uint_ge(packed, LARGE / 2);
}

static void try_batches(uint64_t cache_bytes, const txm_device_options *o, int devices, bool slopes, size_t count)
{
    enum { PART = 100000 };
    SCOPED(txm_cache_free) txm_cache *c = cache_of(cache_bytes);
    txm_device *d[4] = {0};
    for (int i = 0; i < devices; i++)
        d[i] = open_device(c, i, o);
    for (size_t done = 0; done < count; done += PART) {
        SCOPED(free_looks) looks l = looks_of(count - done < PART ? count - done : PART, 77 + done, slopes);
        const txm_device_batch b = batch_of(&l);
        txm_error err;
        ck_assert_msg(txm_device_sample(d, (size_t)devices, &b, &err) == TXM_OK, "%s", err.message);
        are_true(&l);
    }
    for (int i = 0; i < devices; i++) {
        txm_device_stats s;
        txm_device_stats_of(d[i], &s);
        ck_assert_uint_le(s.table_copies, s.launches);
        ck_assert_uint_le(s.tile_copies, s.launches);
        ck_assert_uint_le(s.syncs, s.launches);
        ck_assert_uint_le(10 * s.tile_bytes, 11 * s.copied_pixels);
        txm_device_close(&d[i]);
    }
    has_packed(c);
}

TESTS(bits_are_the_samplers, !getenv("TXM_DEVICES"))
{
    const size_t count = number_of("TXM_DEVICE_LOOKUPS", part_of(20000));
    try_batches(64 << 20, NULL, 1, false, count);
    try_batches(64 << 20, NULL, 1, true, count);
}

TESTS(a_small_cache_is_right, !getenv("TXM_DEVICES"))
{
    txm_device_options o;
    txm_device_options_init(&o);
    o.max_lookups = 500; /* several launches */
    try_batches(4 << 20, &o, 1, true, part_of(10000));
    txm_spurious = 0.2f;
    try_batches(16 << 20, NULL, 1, false, part_of(10000));
}

/* The device has less memory than the cache: first with memory of the machine beside it, then with almost none. */
TESTS(a_small_device_is_right, !getenv("TXM_DEVICES"))
{
    txm_device_options o;
    txm_device_options_init(&o);
    o.memory_bytes = 1 << 20;
    try_batches(64 << 20, &o, 1, false, part_of(5000));
    o.host_bytes = 1 << 20;
    try_batches(64 << 20, &o, 1, false, part_of(3000));
    o.max_requests = 64;
    o.copy_bytes = 100000;
    try_batches(64 << 20, &o, 1, false, part_of(2000));
}

/* A tile takes the place of tiles that were used before the horizon, and of no others. */
TESTS(tiles_in_use_keep_their_places, !getenv("TXM_DEVICES"))
{
    SCOPED(txm_cache_free) txm_cache *c = cache_of(64 << 20);
    txm_device_options o;
    txm_device_options_init(&o);
    o.memory_bytes = 1 << 20;
    o.max_lookups = 100;
    txm_device *d = open_device(c, 0, &o);
    SCOPED(free_looks) looks l = looks_of(300, 12, false);
    const txm_device_batch b = batch_of(&l);
    ck_assert_int_eq(txm_device_sample(&d, 1, &b, NULL), TXM_OK);
    ck_assert_uint_gt(d->stats.tiles_dropped, 0);
    uint32_t slot = 0, units = d->near_places.chunk_units, unit = TXM_NO_PLACE;
    while (slot < d->copy_count && d->copies[slot].unit != TXM_NO_PLACE)
        slot++;
    ck_assert_uint_lt(slot, d->copy_count);
    for (uint32_t horizon = 1; unit == TXM_NO_PLACE; horizon++) {
        ck_assert_uint_le(horizon, d->clock + 1);
        FREED txm_copy *before = malloc(d->copy_count * sizeof *before);
        memcpy(before, d->copies, d->copy_count * sizeof *before);
        unit = txm_places_take(d, &d->near_places, slot, units, horizon);
        ck_assert(horizon > 1 || unit == TXM_NO_PLACE);
        for (uint32_t i = 0; i < d->copy_count; i++)
            ck_assert(before[i].used < horizon || before[i].unit == d->copies[i].unit);
    }
    txm_places_give(&d->near_places, unit);
    txm_device_close(&d);
}

TESTS(several_devices_read_tiles_once, !is_named() || getenv("TXM_DEVICES"))
{
    const int devices = (int)number_of("TXM_DEVICES", 3);
    txm_device_options o;
    txm_device_options_init(&o);
    o.max_lookups = 500; /* so each device gets some */
    o.memory_bytes = 32 << 20;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(256 << 20);
    txm_device *d[3];
    for (int i = 0; i < devices; i++)
        d[i] = open_device(c, i, &o);
    SCOPED(free_looks) looks l = looks_of(5000, 5, false);
    const txm_device_batch b = batch_of(&l);
    ck_assert_int_eq(txm_device_sample(d, (size_t)devices, &b, NULL), TXM_OK);
    are_true(&l);
    ck_assert_uint_eq(stats_of(c).tiles_reloaded, 0);
    for (int i = 0; i < devices; i++) {
        txm_device_stats s;
        txm_device_stats_of(d[i], &s);
        ck_assert_uint_gt(s.launches, 0);
        txm_device_close(&d[i]);
    }
}

TESTS(a_lost_device_leaves_its_work, !is_named() || getenv("TXM_DEVICES"))
{
    for (uint32_t when = 1; when < 5; when++)
        for (int others = 0; others < 2; others++) {
            SCOPED(txm_cache_free) txm_cache *c = cache_of(64 << 20);
            txm_device_options o;
            txm_device_options_init(&o);
            o.memory_bytes = 16 << 20;
            o.max_lookups = 500;
            txm_device *d[2] = {NULL, open_device(c, 1, &o)};
            o.fail_launches = when;
            d[0] = open_device(c, 0, &o);
            SCOPED(free_looks) looks l = looks_of(part_of(6000), when, false);
            const txm_device_batch b = batch_of(&l);
            ck_assert_int_eq(txm_device_sample(d, 1 + (size_t)others, &b, NULL), TXM_OK);
            are_true(&l);
            ck_assert(txm_device_is_lost(d[0]));
            ck_assert_int_eq(txm_device_sample(d, 1, &b, NULL), TXM_OK);
            txm_device_close(&d[0]);
            txm_device_close(&d[1]);
        }
}

/* Two launches run at once and a third is refused; tiles arrive with their ticket; marks reach the cache. */
TESTS(launches_by_hand, !getenv("TXM_DEVICES"))
{
    SCOPED(txm_cache_free) txm_cache *c = cache_of(64 << 20);
    SCOPED(txm_device_close) txm_device *d = open_device(c, 0, NULL);
    looks l[2] = {looks_of(part_of(5000), 1, false), looks_of(part_of(5000), 2, true)};
    txm_device_batch b[2] = {batch_of(&l[0]), batch_of(&l[1])};
    txm_device_launch *under_way[3];
    txm_ticket *ticket = NULL;
    size_t missed[2] = {1, 1};
    txm_error err;
    for (int round = 0; missed[0] || missed[1]; round++) {
        ck_assert_int_lt(round, 200);
        for (int i = 0; i < 2; i++) {
            ck_assert_msg(txm_device_submit(d, &b[i], &under_way[i], &err) == TXM_OK, "%s", err.message);
            b[i].again = true;
        }
        ck_assert_int_eq(txm_device_submit(d, &b[0], &under_way[2], &err), TXM_STATUS_USAGE);
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(txm_device_collect(&under_way[i], &ticket, &missed[i], &err), TXM_OK);
            ck_assert_ptr_null(under_way[i]);
            txm_ticket_wait(&ticket);
        }
    }
    for (int i = 0; i < 2; i++) {
        are_true(&l[i]);
        free_looks(&l[i]);
    }
}

/* Launches that need nothing new: how many entries and textures of the table each compares. */
static void compares(txm_device *d, const txm_device_batch *b, uint64_t most)
{
    for (int i = 0; i < 2 * TXM_DEVICE_LAUNCHES; i++) {
        const uint64_t before = d->compared, copies = d->stats.table_copies;
        txm_device_launch *launches[TXM_DEVICE_LAUNCHES];
        txm_ticket *ticket;
        size_t missed;
        for (int k = 0; k < TXM_DEVICE_LAUNCHES; k++)
            ck_assert_int_eq(txm_device_submit(d, b, &launches[k], NULL), TXM_OK);
        for (int k = 0; k < TXM_DEVICE_LAUNCHES; k++) {
            ck_assert_int_eq(txm_device_collect(&launches[k], &ticket, &missed, NULL), TXM_OK);
            ck_assert_uint_eq(missed, 0);
        }
        if (i) {
            ck_assert_uint_eq(d->compared, before);
            ck_assert_uint_eq(d->stats.table_copies, copies);
        } else if (most) {
            ck_assert_uint_gt(d->compared, before);
            ck_assert_uint_le(d->compared - before, most * TXM_DEVICE_LAUNCHES);
        }
    }
}

/* A launch after which nothing has changed compares nothing with what was sent; otherwise as much as has changed. */
TESTS(only_changes_are_compared, !getenv("TXM_DEVICES"))
{
    enum { MOST = 4 * TXM_MIRROR_GROUP }; /* one tile: its entry, the level's, the texture and the coarser level's */
    txm_cache *c = cache_of(64 << 20);
    txm_device *d = open_device(c, 0, NULL);
    looks l = looks_of(500, 3, false);
    txm_device_batch b = batch_of(&l);
    txm_cache_thread *thread;
    txm_view view;
    txm_cache_extent extent;
    float color[4];
    b.random = NULL;
    ck_assert_int_eq(txm_device_sample(&d, 1, &b, NULL), TXM_OK);
    compares(d, &b, 0);

    /* With all tiles there, the kernel of the rest has the unusual lookups only. */
    const uint64_t rest = d->rest, launches = d->stats.launches;
    compares(d, &b, 0);
    uint64_t usual = 0;
    for (size_t i = 0; i < l.count; i++)
        usual += l.texture[i] < LARGE && l.how[i] < SAMPLERS && l.samplers[l.how[i]].rule != TXM_LEVEL_RULE_PROBES &&
                 txm_bin_of_filter(l.samplers[l.how[i]].filter) != TXM_BIN_REST;
    ck_assert_uint_gt(usual, l.count / 16);
    ck_assert_uint_gt(d->rest, rest);
    ck_assert_uint_le(d->rest - rest, (l.count - usual) * (d->stats.launches - launches));
    ck_assert_uint_gt(d->launches[0].extent.tiles, 4 * MOST);

    /* A tile that the processor loads, of a texture that is open. */
    const txm_lookup far_corner = {.u = 0.99f, .v = 0.99f};
    txm_sampler how;
    txm_sampler_init(&how);
    how.rule = TXM_LEVEL_RULE_GIVEN;
    const uint64_t loaded = stats_of(c).tiles_loaded;
    ck_assert_int_eq(txm_cache_thread_new(c, &thread, NULL), TXM_OK);
    for (uint32_t i = 0; i < LARGE && stats_of(c).tiles_loaded == loaded; i++)
        txm_cache_sample(thread, i, &how, &far_corner, NULL, color);
    txm_cache_thread_free(&thread);
    ck_assert_uint_gt(stats_of(c).tiles_loaded, loaded);
    compares(d, &b, MOST);

    /* Views of the caller: the first is another viewer's, the next is not. */
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(txm_cache_prepare(c, &view, &extent, NULL), TXM_OK);
        const uint64_t before = d->compared;
        for (int k = 0; k < 2; k++)
            ck_assert_int_eq(txm_device_sample_view(&d, 1, &view, &extent, &b, NULL), TXM_OK);
        ck_assert_uint_eq(d->compared - before, i ? 0 : extent.tiles + extent.leaves + extent.textures);
    }
    txm_device_close(&d);
    free_looks(&l);
    txm_cache_free(&c);
}

/* Copies to or from memory of the device, through pinned memory, and waits. */
static void transfer(txm_device *d, void *memory, uint64_t at, void *bytes, size_t count, bool up)
{
    const txm_device_lookups *call = d->call;
    void *pinned, *event;
    bool reached;
    ck_assert_int_eq(call->alloc_pinned(&pinned, count), 0);
    ck_assert_int_eq(call->event_new(&event), 0);
    memcpy(pinned, bytes, count);
    ck_assert_int_eq(up ? call->upload(memory, at, pinned, count, d->stream)
                        : call->download(pinned, memory, at, count, d->stream),
                     0);
    ck_assert_int_eq(call->record(event, d->stream), 0);
    ck_assert_int_eq(call->reach(event, true, &reached), 0);
    memcpy(bytes, pinned, count);
    call->event_free(event);
    call->free_pinned(pinned);
}

/* Arrays in memory of the device give the sampler's results, and nothing but tiles, table and notes is copied. */
TESTS(lookups_stay_on_the_device, !getenv("TXM_DEVICES"))
{
    enum { AT = 100 }; /* the offset of each array */
    txm_cache *c = cache_of(64 << 20);
    txm_device *d = open_device(c, 0, NULL);
    for (int slopes = 0; slopes < 2; slopes++) {
        SCOPED(free_looks) looks l = looks_of(part_of(5000), 21 + (uint64_t)slopes, slopes);
        FREED txm_device_query *queries = calloc(l.count, sizeof *queries);
        FREED txm_device_answer *answers = calloc(l.count, sizeof *answers);
        FREED txm_device_slopes *both = calloc(l.count, sizeof *both);
        const size_t bytes[] = {l.count * sizeof *queries, l.count * sizeof *answers, l.count * sizeof *both};
        void *memory[3];
        for (size_t i = 0; i < l.count; i++)
            queries[i] = (txm_device_query){l.at[i], l.texture[i], l.how[i], l.random[i]};
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(d->call->alloc(&memory[i], AT + bytes[i]), 0);
        transfer(d, memory[0], AT, queries, bytes[0], true);
        txm_device_arrays a = {sizeof a, l.count, l.samplers, SAMPLERS, false, memory[0], memory[1], NULL, AT, AT, AT};
        a.slopes = slopes ? memory[2] : NULL;
        size_t missed = 1;
        const uint64_t sent = d->stats.lookup_bytes, launches = d->stats.launches;
        txm_error err;
        for (int round = 0; missed; round++) {
            txm_device_launch *launch;
            txm_ticket *ticket;
            ck_assert_int_lt(round, 200);
            ck_assert_msg(txm_device_submit_arrays(d, &a, &launch, &err) == TXM_OK, "%s", err.message);
            ck_assert_int_eq(txm_device_collect(&launch, &ticket, &missed, &err), TXM_OK);
            txm_ticket_wait(&ticket);
            a.again = true;
        }
        ck_assert_uint_eq(d->stats.lookup_bytes - sent, (d->stats.launches - launches) * sizeof l.samplers);
        transfer(d, memory[1], AT, answers, bytes[1], false);
        if (slopes)
            transfer(d, memory[2], AT, both, bytes[2], false);
        for (size_t i = 0; i < l.count; i++) {
            memcpy(l.out[i], answers[i].color, sizeof l.out[i]);
            l.random[i] = answers[i].random;
            l.result[i] = (uint8_t)answers[i].result;
            if (slopes) {
                memcpy(l.du[i], both[i].du, sizeof l.du[i]);
                memcpy(l.dv[i], both[i].dv, sizeof l.dv[i]);
            }
        }
        are_true(&l);
        for (int i = 0; i < 3; i++)
            d->call->free(memory[i]);
    }
    txm_device_close(&d);
    txm_cache_free(&c);
}

/* Arrays and structs that are not as described are refused, and the device goes on. */
TESTS(wrong_arrays_are_refused, !getenv("TXM_DEVICES"))
{
    SCOPED(txm_cache_free) txm_cache *c = cache_of(1 << 20);
    SCOPED(txm_device_close) txm_device *d = open_device(c, 0, NULL);
    void *memory;
    ck_assert_int_eq(d->call->alloc(&memory, 4096), 0);
    txm_sampler how;
    txm_sampler_init(&how);
    const txm_device_arrays right = {sizeof right, 0, &how, 1, false, memory, memory, memory, 0, 1024, 2048};
    txm_device_arrays wrong[8];
    for (int i = 0; i < 8; i++)
        wrong[i] = right;
    wrong[0].struct_size = 0;
    wrong[1].samplers = NULL;
    wrong[2].sampler_count = 0;
    wrong[3].queries = NULL;
    wrong[4].answers = NULL;
    wrong[5].queries_at = 2;
    wrong[6].answers_at = 1ull << 34;
    wrong[7].slopes_at = 5;
    txm_device_launch *launch;
    txm_ticket *ticket;
    txm_error err;
    size_t missed;
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(txm_device_submit_arrays(d, &wrong[i], &launch, &err), TXM_STATUS_USAGE);
        ck_assert_ptr_null(launch);
    }
    txm_device_scope scope;
    txm_device_handles handles;
    txm_device_handles_of(d, &handles);
    ck_assert_ptr_nonnull(handles.queue);
    /* Launches without lookups, one of each kind. */
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(i ? txm_device_begin(d, 0, &scope, &launch, &err)
                           : txm_device_submit_arrays(d, &right, &launch, &err),
                         TXM_OK);
        ck_assert_int_eq(txm_device_collect(&launch, &ticket, &missed, &err), TXM_OK);
        ck_assert_uint_eq(missed, 0);
        ck_assert_ptr_null(ticket);
    }
    ck_assert(scope.table && scope.near_tiles && scope.notes);
    d->call->free(memory);
}

TESTS(what_is_wrong_is_said, !is_named())
{
    SCOPED(txm_cache_free) txm_cache *c = cache_of(1 << 20);
    txm_device *d;
    txm_error err;
    const char *const none[] = {"", "cuda:", "cuda:x", "cuda:1:2", ":1", "cpu:0", "averyveryverylongname:0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_int_eq(txm_device_open(c, none[i], NULL, &d, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_device_open(c, "cuda:4", NULL, &d, &err), TXM_STATUS_DEVICE);
    ck_assert_ptr_nonnull(strstr(err.message, "cuda:4"));
    ck_assert_ptr_null(d);
    ck_assert_int_eq(txm_device_open(c, "opencl:0", NULL, &d, &err), TXM_STATUS_DEVICE);
    txm_device_options o;
    txm_device_options_init(&o);
    o.max_lookups = 0;
    ck_assert_int_eq(txm_device_open(c, "cuda:0", &o, &d, &err), TXM_STATUS_USAGE);
}

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "600", 1);
    if (is_named()) {
        device_name = getenv("TXM_DEVICE");
    } else {
        use_test_devices();
        setenv("TXM_FAKE_DEVICES", "4", 1);
    }
    return run_tests();
}
