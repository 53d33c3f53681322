/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts of pixels in memory, and how they get there: small textures that are packed, opaque ones of three channels,
 * files that are read and not mapped. The bits are those of a set of textures, which does none of this.
 */
#include <fcntl.h>
#include <math.h>

#include "tile/cache/flow/mirror.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

/* Writes a file of four channels that claims to be opaque. Unless `truly`, a pixel of its second level is not. */
static char *write_opaque(const char *name, uint32_t width, uint32_t height, txm_type type, bool truly)
{
    static const uint8_t one[4][4] = {{0xFF}, {0xFF, 0xFF}, {0x00, 0x3C}, {0x00, 0x00, 0x80, 0x3F}};
    char *path = strdup(temp_file(name));
    SCOPED(free_image) made_image m = make_image(width, height, 4, type, 64, (txm_compression){0}, MADE_NOISE);
    const size_t sample = txm_type_bytes(type);
    for (uint32_t l = 0; l < txm_level_count(width, height); l++)
        for (size_t i = 0; i < (size_t)txm_level_size(width, l) * txm_level_size(height, l); i++)
            memcpy(m.levels[l] + (4 * i + 3) * sample, one[type], sample);
    if (!truly)
        memset(m.levels[1] + 3 * sample, 0, sample);
    SCOPED(close_descriptor) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    txm_tx_metadata metadata = made_metadata();
    txm_tx_summary summary = made_summary();
    summary.average[3] = 1.0f;
    ck_assert_int_eq(write_image(fd, &m, &metadata, &summary, NULL, NULL), TXM_OK);
    return path;
}

/* Compares single lookups of all kinds, with and without slopes, and batches, in a cache that evicts tiles it is about
 * to use. */
static void compare(const char *path, txm_extension extension, const txm_cache_options *o, txm_view_texture *shape)
{
    enum { COUNT = 64 };
    SCOPED(txm_cache_free) txm_cache *c = new_cache(o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_texture(c, path, extension);
    SCOPED(txm_texture_set_free) txm_texture_set *set = NULL;
    uint32_t truth, random[2][COUNT];
    uint64_t state = 99 + (uint64_t)extension;
    float in[6][COUNT], out[2][4][COUNT];
    ck_assert_int_eq(txm_texture_set_new(&set, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_add(set, path, extension, &truth, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_load_all(set, truth, NULL), TXM_OK);
    const txm_view *view = txm_texture_set_view(set);
    const txm_view_texture *v = &view->textures[truth];
    for (int n = 0; n < 10; n++) {
        const txm_sampler how = sample_random_sampler(&state);
        for (int i = 0; i < COUNT; i++) {
            txm_lookup at = sample_random_lookup(&state, v->width, v->height, 1);
            sample_give_level(&state, &how, &at);
            const float place[6] = {at.u, at.v, at.dudx, at.dvdx, at.dudy, at.dvdy};
            for (int k = 0; k < 6; k++)
                in[k][i] = place[k];
            uint32_t seed = sample_random(&state) | 1;
            txm_lookup_state lane = {.random = seed};
            random[0][i] = random[1][i] = seed;
            float got[12] = {0}, want[12] = {0};
            if (i % 2) {
                txm_cache_sample(t, id, &how, &at, &seed, got);
                txm_sample(view, truth, &how, &at, &lane, want);
            } else {
                txm_cache_sample_d(t, id, &how, &at, &seed, got, got + 4, got + 8);
                txm_sample_d(view, truth, &how, &at, &lane, want, want + 4, want + 8);
            }
            ck_assert_msg(memcmp(got, want, sizeof got) == 0 && seed == lane.random,
                          "%ux%u, %u channels, extension %d, rule %u mode %u filter %u: %a %a %a %a for %a %a %a %a",
                          v->width, v->height, v->channels, (int)extension, how.rule, how.mode, how.filter,
                          (double)got[0], (double)got[1], (double)got[2], (double)got[3], (double)want[0],
                          (double)want[1], (double)want[2], (double)want[3]);
        }
        txm_lookups b[2];
        for (int k = 0; k < 2; k++)
            b[k] = (txm_lookups){COUNT, in[0], in[1],     in[2], in[3],
                                 in[4], in[5], random[k], NULL,  {out[k][0], out[k][1], out[k][2], out[k][3]},
                                 NULL};
        txm_lookup_state lane = {0};
        txm_cache_sample_n(t, id, &how, &b[0]);
        txm_sample_n(view, truth, &how, &b[1], &lane);
        ck_assert(memcmp(out[0], out[1], sizeof out[0]) == 0 && memcmp(random[0], random[1], sizeof random[0]) == 0);
    }
    ck_assert_int_eq(txm_cache_open(c, id, shape, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).tiles_failed, 0);
}

static txm_cache_options layout_options(void)
{
    txm_cache_options o = budget_options(1 << 20, TXM_CACHE_POLICY_LRU);
    txm_spurious = 0.003f;
    return o;
}

TESTS(small_textures_are_packed, 4)
{
    static const uint32_t sizes[][2] = {{16, 16}, {32, 32}, {1, 1}, {31, 2}, {3, 32}, {33, 8}, {17, 23}};
    const txm_type type = (txm_type)(_i % 4);
    txm_cache_options o = layout_options();
    for (uint32_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (int extension = TXM_EXTENSION_REPEAT; extension <= TXM_EXTENSION_MIRROR; extension++) {
            const uint32_t channels = type == TXM_TYPE_U8 && n % 3 == 2 ? 3 : n % 3 ? 4 : 1;
            FREED char *path = write_cached("small.tx", sizes[n][0], sizes[n][1], channels, type, MADE_NOISE, n);
            txm_view_texture shape;
            o.keep_rgb = n & 1;
            compare(path, (txm_extension)extension, &o, &shape);
            const bool packed = sizes[n][0] <= 32 && !(channels == 3 && extension == TXM_EXTENSION_CLIP);
            ck_assert_int_eq(shape.tile_shift == TXM_SHIFT_PACKED, packed);
        }
}

TESTS(opaque_textures_keep_three_channels, 4)
{
    const txm_type type = (txm_type)(_i % 4);
    txm_cache_options o = layout_options();
    o.keep_rgb = 1;
    for (int n = 0; n < 4; n++)
        for (int extension = TXM_EXTENSION_REPEAT; extension <= TXM_EXTENSION_MIRROR; extension++) {
            const uint32_t size = n & 2 ? 30 : 200;
            FREED char *path = write_opaque("opaque.tx", size, size / 2, type, n & 1);
            txm_view_texture shape;
            compare(path, (txm_extension)extension, &o, &shape);
            ck_assert_uint_eq(shape.channels, n & 1 && extension != TXM_EXTENSION_CLIP ? 3 : 4);
        }
    if (type == TXM_TYPE_U8 || type == TXM_TYPE_U16) {
        FREED char *path = write_cached("rgb.tx", 300, 100, 3, type, MADE_NOISE, 1);
        txm_view_texture shape;
        compare(path, TXM_EXTENSION_MIRROR, &o, &shape);
        ck_assert_uint_eq(shape.channels, 3);
    }
}

/* With a border section and without, of every type; half of the other properties, unless thorough. */
TESTS(files_that_are_read, 4)
{
    const txm_type type = (txm_type)(_i % 4);
    txm_cache_options o = layout_options();
    txm_view_texture shape;
    o.read_files = 1;
    o.max_open = 1;
    for (uint32_t channels = 1; channels <= 4; channels += channels == 1 ? 3 : 1) {
        FREED char *path = write_cached("read.tx", 500, 300, channels, type, MADE_NOISE, channels);
        if (thorough() || (channels + (uint32_t)_i) % 2)
            compare(path, TXM_EXTENSION_REPEAT, &o, &shape);
        if (thorough() || (channels + (uint32_t)_i) % 2 == 0)
            compare(path, TXM_EXTENSION_EXTEND, &o, &shape);
    }
    if (type >= TXM_TYPE_HALF)
        for (int compression = thorough() ? 0 : _i % 2; compression < 6; compression += thorough() ? 1 : 2) {
            const char *path = temp_file("foreign.exr.tx");
            SCOPED(free_image) made_image m = make_image(200, 130, 4, type, 64, (txm_compression){0}, MADE_SMOOTH);
            SCOPED(txm_tx_close) txm_tx *tx = NULL;
            write_foreign_exr(path, &m, compression);
            if (txm_tx_open(path, &tx, NULL) == TXM_OK)
                compare(path, TXM_EXTENSION_REPEAT, &o, &shape);
        }
}

/* No handler is installed, so a signal would end the test. */
TESTS(files_that_are_read_raise_no_signal, 2)
{
    const bool exr = _i & 1;
    FREED char *path = write_cached("cut.tx", 1024, 1024, 4, exr ? TXM_TYPE_HALF : TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    o.read_files = 1;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    txm_lookup at = at_level(0.01f, 0.99f, 0, 1024);
    uint32_t counts[3] = {0};
    float out[4];
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
    ck_assert_int_eq(truncate(path, 20000), 0);
    for (int i = 0; i < 200; i++) {
        at = at_level((float)(i % 16) / 16 + 0.01f, (float)(i / 16) / 16 + 0.01f, 0, 1024);
        counts[txm_cache_sample(t, id, &how, &at, NULL, out)]++;
    }
    ck_assert_uint_eq(counts[TXM_LOOKUP_MISS], 0);
    ck_assert_uint_gt(counts[TXM_LOOKUP_FAILURE], 150);
}

/* All that the cache keeps for a million textures of 16x16 px, apart from their names, takes at most 1.3 times the
 * memory of their pixels. The functions below add fewer, from callbacks and from files, and look up in each. */
enum { ICON_PIXELS = (256 + 64 + 16 + 4 + 1) * 4 };

static txm_status describe_icon(void *user, txm_tile_shape *shape, txm_error *err)
{
    (void)user, (void)err;
    shape->width = shape->height = shape->tile_px = 16;
    shape->levels = 5;
    shape->channels = 4;
    return TXM_OK;
}

static txm_status read_icon(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                            void *pixels, size_t row_stride_bytes, txm_error *err)
{
    (void)level, (void)x, (void)y, (void)err;
    for (uint32_t row = 0; row < height; row++)
        memset((uint8_t *)pixels + row * row_stride_bytes, (int)(size_t)user & 255, 4 * (size_t)width);
    return TXM_OK;
}

static void look_up_icon(txm_cache_thread *t, uint32_t id, float out[4])
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    const txm_lookup at = at_level(0.4f, 0.3f, 0.5f, 16);
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
}

static void compare_icons(txm_cache *c, uint32_t count, uint64_t name_bytes)
{
    const txm_cache_stats s = stats_of(c);
    const uint64_t unused =
        s.slab_bytes - s.tile_bytes; /* part of the last huge page, a thousandth of a million icons */
    const double ratio = (double)(s.allocated_bytes - unused - name_bytes) / count / ICON_PIXELS;
    ck_assert_uint_eq(s.tiles, count);
    ck_assert_uint_lt(unused, (2 << 20) + s.tile_bytes / 100);
    ck_assert_msg(ratio < 1.3, "%.3f times the pixels", ratio);
}

TEST(icons_from_callbacks)
{
    static const char name[] = "icon";
    enum { ICONS = 50000 };
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    for (size_t i = 0; i < ICONS; i++) {
        const txm_tile_source source = {
            .struct_size = sizeof source, .user = (void *)i, .describe = describe_icon, .read = read_icon};
        uint32_t id;
        float out[4];
        ck_assert_int_eq(txm_cache_add_source(c, name, &source, TXM_EXTENSION_REPEAT, &id, NULL), TXM_OK);
        look_up_icon(t, id, out);
        ck_assert_float_eq_tol(out[0], (float)(i & 255) * (1.0f / 255.0f), 1e-5f);
    }
    compare_icons(c, ICONS, ICONS * sizeof name);
}

/* Copies of one file, with different SHA-1s in their metadata. */
TEST(icons_from_files)
{
    enum { ICONS = 5000, SHA1_DIGITS = 40 };
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    char *made = write_cached("icon.tx", 16, 16, 4, TXM_TYPE_U8, MADE_NOISE, 1), sha1[SHA1_DIGITS + 1];
    size_t bytes;
    FREED uint8_t *data = load_file(made, &bytes);
    snprintf(sha1, sizeof sha1, "%040X", 16 * 7919 + 16 * 13 + 4 * 3 + 100003);
    uint8_t *digits = memmem(data, bytes, sha1, SHA1_DIGITS);
    ck_assert_ptr_nonnull(digits);
    uint64_t name_bytes = 0;
    float first[4], out[4];
    for (uint32_t i = 0; i < ICONS; i++) {
        char name[32];
        snprintf(name, sizeof name, "icon-%05u.tx", i);
        snprintf(sha1, sizeof sha1, "%040X", i);
        memcpy(digits, sha1, SHA1_DIGITS);
        const char *path = temp_file(name);
        save_file(path, data, bytes);
        name_bytes += strlen(path) + 1;
        look_up_icon(t, add_texture(c, path, TXM_EXTENSION_REPEAT), i ? out : first);
        ck_assert(!i || memcmp(out, first, sizeof out) == 0);
        unlink(path);
    }
    compare_icons(c, ICONS, name_bytes);
    free(made);
}
