/* SPDX-License-Identifier: Apache-2.0
 * Calls for renderers that come from OpenImageIO: sets by a pattern, whole sets, channels, texels, metadata, counts. */
#include "txtile/cache.h"
#include "txtile/trace.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_tx.h"

enum { SIZE = 256, TILE_BYTES = 68 * 68 * 4 };

/* ---- UDIM sets ---- */

/* A set of the tiles 1001, 1002 and 1011, found by their names among files that do not belong to it. */
static uint32_t set_of(txm_cache *c, char **pattern)
{
    static const char *const names[] = {"wood.1001.tx",     "wood.1002.tx", "wood.1011.tx", "wood.0999.tx",
                                        "wood.10011.tx",    "wood.10x1.tx", "wood.1003.t",  "good.1004.tx",
                                        "wood.1005.tx.bak", "wood.UDIM.tx"};
    uint32_t set = TXM_NO_TEXTURE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(write_cached(names[i], SIZE, SIZE, 4, TXM_TYPE_U8, MADE_NOISE, (unsigned)i + 1));
    *pattern = strdup(temp_file("wood.<UDIM>.tx"));
    ck_assert_int_eq(txm_cache_add(c, *pattern, TXM_EXTENSION_EXTEND, &set, NULL), TXM_OK);
    return set;
}

TEST(a_pattern_opens_the_set_on_disk)
{
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    FREED char *pattern = NULL;
    float out[4], want[4];
    txm_error err;
    uint32_t none;
    const uint32_t set = set_of(c, &pattern);
    ck_assert_uint_eq(stats_of(c).textures, 4);
    ck_assert_uint_eq(stats_of(c).udim_sets, 1);
    static const float places[][2] = {{0.3f, 0.3f}, {1.3f, 0.3f}, {0.3f, 1.3f}};
    for (uint32_t i = 0; i < 3; i++) {
        const txm_lookup at = {places[i][0], places[i][1], 0.001f, 0, 0, 0.001f},
                         own = {0.3f, 0.3f, 0.001f, 0, 0, 0.001f};
        ck_assert_int_eq(txm_cache_sample(t, set, &how, &at, NULL, out), TXM_LOOKUP_HIT);
        ck_assert_int_eq(txm_cache_sample(t, i, &how, &own, NULL, want), TXM_LOOKUP_HIT);
        for (int n = 0; n < 4; n++)
            ck_assert_float_eq_tol(out[n], want[n], 1e-4f);
    }
    const txm_lookup hole = {3.3f, 0.3f, 0.001f, 0, 0, 0.001f};
    ck_assert_int_eq(txm_cache_sample(t, set, &how, &hole, NULL, out), TXM_LOOKUP_FAILURE);
    ck_assert_int_eq(txm_cache_add(c, temp_file("iron.<UDIM>.tx"), TXM_EXTENSION_EXTEND, &none, &err),
                     TXM_STATUS_NOT_FOUND);
    ck_assert(strstr(err.message, "iron.<UDIM>.tx"));
    ck_assert_int_eq(txm_cache_add(c, "/nowhere/iron.<UDIM>.tx", TXM_EXTENSION_EXTEND, &none, &err),
                     TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_cache_add(c, temp_file("a<UDIM>/iron.tx"), TXM_EXTENSION_EXTEND, &none, &err),
                     TXM_STATUS_NOT_FOUND);
}

/* Parts of a set have its coordinates: the right half of its first tile and the left half of the second. */
TEST(parts_of_sets)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    o.coalesce = 0;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    FREED char *pattern = NULL;
    const uint32_t set = set_of(c, &pattern);
    const txm_cache_part middle = {0, 0, 0.55f, 0.0f, 1.45f, 1.0f};
    ck_assert_int_eq(txm_cache_preload(c, set, &middle, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).tiles, 2 * 4 * 2);
    ck_assert_uint_eq(stats_of(c).textures_opened, 2);
    ck_assert_int_eq(txm_cache_pin(c, set, &middle, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).kept_bytes, 2 * 4 * 2 * TILE_BYTES);
    ck_assert_int_eq(txm_cache_unpin(c, set, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).kept_bytes, 0);
    ck_assert_int_eq(txm_cache_invalidate(c, set, &middle, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).tiles, 0);
    ck_assert_int_eq(txm_cache_preload(c, set, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).textures_opened, 3);
    const uint64_t all = stats_of(c).tiles;
    ck_assert_uint_ge(all, 3 * (16 + 4 + 1));
    ck_assert_int_eq(txm_cache_invalidate_all(c, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).tiles, 0);
    ck_assert_int_eq(txm_cache_preload(c, set, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).tiles, all);
    ck_assert_int_eq(txm_cache_preload(c, 99, NULL, NULL), TXM_STATUS_USAGE);
}

/* ---- channels, texels, metadata ---- */

TEST(channels_of_choice)
{
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = {0.3f, 0.6f, 0.001f, 0, 0, 0.001f};
    for (uint32_t stored = 1; stored <= 4; stored += stored == 1 ? 2 : 1) {
        char name[20];
        snprintf(name, sizeof name, "of%u.tx", stored);
        FREED char *path = write_cached(name, SIZE, SIZE, stored, TXM_TYPE_U8, MADE_NOISE, stored);
        const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
        float whole[4];
        ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, whole), TXM_LOOKUP_HIT);
        for (uint32_t first = 0; first < 6; first++) {
            const txm_cache_channels want = {first, 6, 0.25f, NULL};
            float out[6];
            ck_assert_int_eq(txm_cache_sample_channels(t, id, &how, &at, NULL, &want, out), TXM_LOOKUP_HIT);
            for (uint32_t i = 0; i < 6; i++) {
                const uint32_t from = first + i;
                ck_assert_float_eq(out[i], from >= stored ? 0.25f : whole[from]);
            }
        }
    }
    /* What cannot be read is magenta, or of the caller's colour. */
    static const float missing[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f};
    FREED char *path = strdup(temp_file("gone.tx"));
    free(write_cached("gone.tx", SIZE, SIZE, 4, TXM_TYPE_U8, MADE_NOISE, 9));
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    ck_assert_int_eq(truncate(path, 100), 0);
    for (int chosen = 0; chosen < 2; chosen++) {
        const txm_cache_channels want = {0, 5, 0.25f, chosen ? missing : NULL};
        float out[5];
        ck_assert_int_eq(txm_cache_sample_channels(t, id, &how, &at, NULL, &want, out),
                         chosen ? TXM_LOOKUP_HIT : TXM_LOOKUP_FAILURE);
        ck_assert(chosen ? memcmp(out, missing, sizeof out) == 0 : magenta(out) && out[4] == 0.25f);
    }
    const txm_cache_channels rgba = {0, 4, 0, NULL};
    const txm_cache_area one = {0, 0, 0, 1, 1};
    float texel[4];
    txm_error err;
    ck_assert_int_ne(txm_cache_texels(c, id, &one, &rgba, texel, 4, &err), TXM_OK);
    ck_assert(strstr(err.message, "gone.tx"));
}

/* They are those of the file, in every level, at a resolution too, and what is outside is filled. */
TEST(texels_are_those_of_the_file)
{
    enum { WIDE = 300, HIGH = 70, EDGE = 3 };
    FREED char *path = write_cached("texels.tx", WIDE, HIGH, 4, TXM_TYPE_U8, MADE_NOISE, 5);
    txm_cache_options o = budget_options(1 << 20, TXM_CACHE_POLICY_LRU);
    o.resolution = 0.25f;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_texture_set_free) txm_texture_set *set = NULL;
    uint32_t truth;
    ck_assert_int_eq(txm_texture_set_new(&set, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_add(set, path, TXM_EXTENSION_EXTEND, &truth, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_load_all(set, truth, NULL), TXM_OK);
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    how.filter = TXM_FILTER_CLOSEST;
    how.rule = TXM_LEVEL_RULE_GIVEN;
    static float out[(HIGH + 2 * EDGE) * (WIDE + 2 * EDGE) * 3];
    for (uint32_t level = 0; level < 5; level++) {
        const uint32_t w = txm_level_size(WIDE, level), h = txm_level_size(HIGH, level);
        const txm_cache_area area = {level, -EDGE, -EDGE, w + 2 * EDGE, h + 2 * EDGE};
        const txm_cache_channels green_on = {1, 3, -1.0f, NULL};
        const size_t row = (size_t)area.width * 3;
        ck_assert_int_eq(txm_cache_texels(c, id, &area, &green_on, out, row, NULL), TXM_OK);
        for (int32_t y = -EDGE; y < (int32_t)h + EDGE; y++)
            for (int32_t x = -EDGE; x < (int32_t)w + EDGE; x++) {
                const float *texel = out + (size_t)(y + EDGE) * row + (size_t)(x + EDGE) * 3;
                float want[4] = {-1, -1, -1, -1};
                txm_lookup_state none = {0};
                const txm_lookup at = {
                    ((float)x + 0.5f) / (float)w, 1 - ((float)y + 0.5f) / (float)h, (float)level, 0, 0, 0};
                if (x >= 0 && y >= 0 && x < (int32_t)w && y < (int32_t)h)
                    ck_assert_int_eq(txm_sample(txm_texture_set_view(set), truth, &how, &at, &none, want),
                                     TXM_LOOKUP_HIT);
                ck_assert_msg(memcmp(texel, want + 1, 3 * sizeof *want) == 0, "level %u, (%d, %d)", level, x, y);
            }
    }
    ck_assert_uint_le(stats_of(c).allocated_bytes, 1 << 20);
    const txm_cache_area deep = {20, 0, 0, 1, 1};
    const txm_cache_channels rgba = {0, 4, 0, NULL};
    ck_assert_int_eq(txm_cache_texels(c, id, &deep, &rgba, out, 4, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_texels(c, 99, &deep, &rgba, out, 4, NULL), TXM_STATUS_USAGE);
}

typedef struct described {
    txm_tx_info info;
    uint32_t entries;
    bool has_name;
} described;

static void note_file(void *user, const txm_tx *tx)
{
    described *d = user;
    const char *name, *value;
    d->info = *txm_tx_info_of(tx);
    for (size_t i = 0; txm_tx_metadata_at(tx, i, &name, &value); i++) {
        d->entries++;
        d->has_name |= strcmp(name, "Software") == 0 && *value;
    }
}

static txm_status describe(void *user, txm_tile_shape *shape, txm_error *err)
{
    (void)user, (void)shape, (void)err;
    return TXM_STATUS_IO;
}

static txm_status read_nothing(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                               void *pixels, size_t row_stride_bytes, txm_error *err)
{
    (void)user, (void)level, (void)x, (void)y, (void)width, (void)height, (void)pixels, (void)row_stride_bytes,
        (void)err;
    return TXM_STATUS_IO;
}

TEST(metadata_comes_through_the_cache)
{
    txm_cache_options o = budget_options(1 << 20, TXM_CACHE_POLICY_LRU);
    o.max_open = 1;
    txm_cache *c = new_cache(&o);
    char *paths[] = {write_cached("m0.tx", SIZE, 128, 3, TXM_TYPE_U8, MADE_NOISE, 1),
                     write_cached("m1.tx", 64, 64, 1, TXM_TYPE_HALF, MADE_NOISE, 2)};
    const uint32_t ids[] = {add_texture(c, paths[0], TXM_EXTENSION_REPEAT),
                            add_texture(c, paths[1], TXM_EXTENSION_REPEAT)};
    described other = {.entries = 0};
    for (int i = 0; i < 4; i++) {
        described d = {.entries = 0};
        ck_assert_int_eq(txm_cache_with_file(c, ids[i & 1], note_file, &d, NULL), TXM_OK);
        ck_assert(i & 1 ? d.info.width == 64 && d.info.channels == 1 && d.info.type == TXM_TYPE_HALF
                        : d.info.width == SIZE && d.info.height == 128 && d.info.channels == 3);
        ck_assert(d.entries && d.has_name);
        ck_assert_uint_eq(stats_of(c).files_open, 1);
    }
    ck_assert_int_eq(txm_cache_with_file(c, ids[0], note_file, &other, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_with_file(c, 99, note_file, &other, NULL), TXM_STATUS_USAGE);
    const txm_tile_source source = {sizeof source, NULL, describe, read_nothing, NULL};
    uint32_t called;
    ck_assert_int_eq(txm_cache_add_source(c, "made", &source, TXM_EXTENSION_REPEAT, &called, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_with_file(c, called, note_file, &other, NULL), TXM_STATUS_UNSUPPORTED);
    ck_assert_int_eq(unlink(paths[1]), 0); /* it is not open */
    ck_assert_int_ne(txm_cache_with_file(c, ids[1], note_file, &other, NULL), TXM_OK);
    txm_cache_free(&c);
    free(paths[0]);
    free(paths[1]);
}

/* ---- counts ---- */

TEST(counts_begin_again)
{
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    FREED char *path = write_cached("counts.tx", SIZE, SIZE, 4, TXM_TYPE_U8, MADE_NOISE, 7);
    FREED char *trace = strdup(temp_file("counts.trace"));
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    txm_cache_texture_stats of;
    ck_assert_int_eq(txm_cache_trace_start(c, trace, TXM_TRACE_TILES, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_preload(c, id, NULL, NULL), TXM_OK);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    for (int round = 0; round < 3; round++) {
        const txm_cache_stats before = stats_of(c);
        for (int i = 0; i < 10; i++) {
            const txm_lookup at = {(float)i / 10, 0.5f, 0.001f, 0, 0, 0.001f};
            float out[4];
            ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
        }
        ck_assert_uint_eq(stats_of(c).lookups, before.lookups + 10);
        txm_cache_stats_reset(c);
        const txm_cache_stats s = stats_of(c);
        ck_assert(!s.lookups && !s.lookups_missed && !s.tiles_loaded && !s.loaded_bytes && !s.files_opened && !s.locks);
        ck_assert(s.tiles == before.tiles && s.tiles_peak == s.tiles && s.tile_bytes == before.tile_bytes);
        ck_assert(s.textures == 1 && s.textures_opened == 1 && s.allocated_bytes == s.allocated_bytes_peak);
        ck_assert_int_eq(txm_cache_texture_stats_of(c, id, &of, NULL), TXM_OK);
        ck_assert(!of.loads && !of.level[0].loads && of.level[0].resident == 16);
    }
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    SCOPED(txm_trace_free) txm_trace *read = NULL;
    ck_assert_int_eq(txm_trace_open(trace, &read, NULL), TXM_OK);
    ck_assert_uint_eq(txm_trace_info_of(read)->lookups, 30);
    ck_assert_uint_eq(txm_trace_info_of(read)->tiles_loaded, 16 + 4 + 1 + 1 + 1 + 1 + 1 + 1 + 1);
}
