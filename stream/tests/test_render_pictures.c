/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures: the same bits with every engine and device, what they used of each texture, and textures that fail
 * meanwhile.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "render/render.h"
#include "render/scene.h"
#include "tile/cache/flow/mirror.h"
#include "util_check.h"
#include "util_tx.h"

static txm_error err;

enum { IMAGES = 3 };
static char images[IMAGES][512];
static const char *paths[IMAGES];

static void make_noise_tx(const char *path, uint32_t width, uint32_t height, uint32_t channels)
{
    made_image image =
        make_image(width, height, channels, TXM_TYPE_U8, 64, (txm_compression){.codec = TXM_CODEC_ZSTD}, MADE_NOISE);
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    uint64_t bytes;
    SCOPED(close_descriptor) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write_image(fd, &image, &metadata, &summary, &bytes, &err) != TXM_OK) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        exit(1);
    }
    free_image(&image);
}

static void make_images(void)
{
    for (int i = 0; i < IMAGES; i++) {
        snprintf(images[i], sizeof images[i], "%s", temp_file(i == 0 ? "a.tx" : i == 1 ? "b.tx" : "c.tx"));
        paths[i] = images[i];
        make_noise_tx(images[i], 300 + 200 * (uint32_t)i, 260 + 100 * (uint32_t)i, 4);
    }
}

static void render(const char *scene, const stm_render_options *o, stm_render_picture *p)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = NULL;
    ck_assert_msg(stm_render_scene_builtin(scene, paths, IMAGES, 0.5f, &s, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(stm_render(s, o, p, &err) == TXM_OK, "%s", err.message);
}

/* For small(). */
static txm_cache_options cache;

static stm_render_options small(void)
{
    stm_render_options o;
    stm_render_options_init(&o);
    o.width = 96;
    o.height = 54;
    o.samples = 3;
    o.threads = 1;
    txm_cache_options_init_cycles(&cache);
    cache.threads = 1;
    o.cache = &cache;
    return o;
}

/* The bits are the same with other engines, lanes, threads, budgets, policies, render tiles, lookups that miss without
 * a reason, and devices. */
TESTS(same_bits, 5)
{
    static const char *const scenes[] = {"plane", "room", "grid", "sphere", "fly"};
    stm_render_options o = small();
    stm_render_picture reference, p;
    o.engine = STM_RENDER_ENGINE_REFERENCE;
    o.differentials = (uint32_t)_i % 3;
    render(scenes[_i], &o, &reference);
    double sum = 0;
    for (size_t i = 0; i < (size_t)96 * 54 * 3; i++)
        sum += (double)reference.rgb[i];
    ck_assert_msg(sum > 100.0, "the picture is black: %g", sum);
    const struct {
        uint32_t engine, lanes, threads, policy, tile;
        uint64_t bytes;
        float spurious;
        const char *devices;
    } ways[] = {
        {STM_RENDER_ENGINE_REFERENCE, 1, 3, 0, 32, 0, 0, NULL},
        {STM_RENDER_ENGINE_BLOCKING, 1, 1, TXM_CACHE_POLICY_RENDER_TILES, 0, 0, 0, NULL},
        {STM_RENDER_ENGINE_BLOCKING, 1, 4, TXM_CACHE_POLICY_LRU, 32, 1 << 20, 0.5f, NULL},
        {STM_RENDER_ENGINE_BLOCKING, 1, 2, TXM_CACHE_POLICY_RENDER_TILES, 0, 1 << 19, 0, NULL},
        {STM_RENDER_ENGINE_WAVE, 1 << 20, 1, TXM_CACHE_POLICY_RENDER_TILES, 0, 0, 0, NULL},
        {STM_RENDER_ENGINE_WAVE, 1000, 4, TXM_CACHE_POLICY_LRU, 20, 2 << 20, 0, NULL},
        {STM_RENDER_ENGINE_WAVE, 64, 2, TXM_CACHE_POLICY_RENDER_TILES, 0, 1 << 20, 0, NULL},
        {STM_RENDER_ENGINE_WAVE, 1 << 14, 2, TXM_CACHE_POLICY_NONE, 16, 0, 0, NULL},
        {STM_RENDER_ENGINE_WAVE, 3000, 2, TXM_CACHE_POLICY_LRU, 0, 2 << 20, 0, "cuda:0"},
        {STM_RENDER_ENGINE_WAVE, 1 << 20, 1, TXM_CACHE_POLICY_RENDER_TILES, 32, 1 << 20, 0.3f, "cuda:0,cuda:1"},
    };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        if (!thorough() && (w + (size_t)_i) % 2)
            continue; /* each scene is rendered in half of the ways, and each way is tried with two scenes or three */
        o.engine = ways[w].engine;
        o.lanes = ways[w].lanes;
        o.threads = cache.threads = ways[w].threads;
        cache.policy = ways[w].policy;
        o.render_tile = ways[w].tile;
        cache.max_bytes = ways[w].bytes;
        txm_spurious = ways[w].spurious;
        o.devices = ways[w].devices;
        if (o.devices)
            use_test_devices(); /* the module for rays is loaded */
        render(scenes[_i], &o, &p);
        ck_assert_uint_eq(p.device_count != 0, o.devices != NULL);
        for (size_t i = 0; i < p.device_count; i++)
            ck_assert(!p.devices[i].stats.lost && (i || p.devices[i].stats.launches)); /* one may do it all */
        ck_assert_msg(memcmp(p.rgb, reference.rgb, (size_t)96 * 54 * 3 * sizeof *p.rgb) == 0, "%s, way %zu", scenes[_i],
                      w);
        stm_render_picture_clear(&p);
    }
    stm_render_picture_clear(&reference);
}

/* The light of one pixel must not depend on its neighbours. A picture depends on its seed. */
TEST(seeds)
{
    stm_render_options o = small();
    stm_render_picture a, b;
    o.engine = STM_RENDER_ENGINE_REFERENCE;
    render("room", &o, &a);
    o.seed = 2;
    render("room", &o, &b);
    ck_assert(memcmp(a.rgb, b.rgb, (size_t)96 * 54 * 3 * sizeof *a.rgb) != 0);
    stm_render_picture_clear(&a);
    stm_render_picture_clear(&b);
}

/* Shaders look up the textures of all their parts, whichever of them scatters. */
TEST(parts_of_mixes)
{
    char text[2048];
    stm_render_options o = small();
    stm_render_budget b;
    o.bounces = 0;
    o.width = o.height = 32;
    for (uint32_t share = 0; share < 2; share++) {
        SCOPED(stm_render_scene_free) stm_render_scene *s = stm_scene_new();
        int n = snprintf(
            text, sizeof text,
            "txmill-scene 1\ncamera perspective half 0.3 0.3 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 3\n"
            "material a diffuse 1 1 1\nmaterial b glossy 1 1 1 roughness 0.2\nmaterial floor mix a b share %u\n",
            share);
        for (int i = 0; i < IMAGES; i++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "image %d \"%s\" colorspace \"sRGB\" alpha straight extension repeat interpolation linear\n"
                          "texture %s %d input \"Base Color\" uv \"\" transform 1 0 0 0 1 0\n",
                          i, images[i],
                          i == 0   ? "a"
                          : i == 1 ? "b"
                                   : "floor",
                          i);
        snprintf(text + n, sizeof text - (size_t)n, "quad floor -5 -5 0 10 0 0 0 10 0\n");
        ck_assert_msg(s && stm_scene_parse(s, "scene.txt", ".", text, strlen(text), &err) == TXM_OK, "%s", err.message);
        ck_assert_msg(stm_render_budget_of(s, &o, &b, &err) == TXM_OK, "%s", err.message);
        for (size_t i = 0; i < IMAGES; i++)
            ck_assert_msg(b.images[i].used_bytes > 0, "image %zu, share %u", i, share);
        stm_render_budget_clear(&b);
    }
}

/* A floor whose last lookup depends on `depth` others, each of which depends on the one before. The second image has
 * tiles of another size: if memory is short, they evict the others. */
static stm_render_scene *warped_floor(uint32_t depth)
{
    char text[4096], grey[512];
    snprintf(grey, sizeof grey, "%s", temp_file("grey.tx"));
    make_noise_tx(grey, 400, 300, 1);
    stm_render_scene *s = stm_scene_new();
    int n = snprintf(text, sizeof text,
                     "txmill-scene 1\ncamera perspective half 0.7 0.4 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 0.5 "
                     "-0.86 -2 0 0.86 0.5 1.5\n"
                     "light sun power 2 2 2 direction 0.3 0.2 -1 angle 0.1\nmaterial m diffuse 1 1 1\n"
                     "quad m -4 -4 0 8 0 0 0 8 0\n");
    for (uint32_t i = 0; i <= depth; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "image i%u \"%s\" colorspace \"sRGB\" alpha straight extension repeat interpolation linear\n"
                      "texture m i%u input \"%s\" uv \"\" transform 2 0 0 0 2 0%s\n",
                      i, i == 1 ? grey : images[i % IMAGES], i, i == depth ? "Base Color" : "", i ? " warp 0.3" : "");
    ck_assert_msg(s && stm_scene_parse(s, "scene.txt", ".", text, (size_t)n, &err) == TXM_OK, "%s", err.message);
    return s;
}

/* Lookups depend on others. The bits are the same whoever waits, and if files and levels are known there are as many
 * more launches as lookups depend on one another. A budget follows them to the same tiles. */
TESTS(dependent_lookups, 4)
{
    const uint32_t depth = (uint32_t)_i;
    SCOPED(stm_render_scene_free) stm_render_scene *s = warped_floor(depth);
    stm_render_picture reference, plain, p;
    stm_render_options o = small();
    stm_render_budget b;
    cache.coalesce = 0; /* an image may be used twice; its uses are counted separately */
    o.engine = STM_RENDER_ENGINE_REFERENCE;
    ck_assert_msg(stm_render(s, &o, &reference, &err) == TXM_OK, "%s", err.message);
    const struct {
        uint32_t engine, lanes, threads, tile;
        uint64_t bytes;
        float spurious;
        const char *devices;
    } ways[] = {{STM_RENDER_ENGINE_BLOCKING, 1, 2, 0, 0, 0, NULL},
                {STM_RENDER_ENGINE_BLOCKING, 1, 1, 32, 1 << 19, 0.5f, NULL},
                {STM_RENDER_ENGINE_WAVE, 1 << 20, 2, 0, 0, 0, NULL},
                {STM_RENDER_ENGINE_WAVE, 100, 1, 32, 1 << 20, 0, NULL},
                {STM_RENDER_ENGINE_WAVE, 500, 1, 0, 1 << 18, 0, NULL},
                {STM_RENDER_ENGINE_WAVE, 500, 1, 0, 1 << 20, 0.3f, "cuda:0"}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        o.engine = ways[w].engine;
        o.lanes = ways[w].lanes;
        o.threads = cache.threads = ways[w].threads;
        o.render_tile = ways[w].tile;
        cache.max_bytes = ways[w].bytes;
        txm_spurious = ways[w].spurious;
        o.devices = ways[w].devices;
        if (o.devices)
            use_test_devices();
        for (o.open_first = 0; o.open_first < 2; o.open_first++) {
            ck_assert_msg(stm_render(s, &o, &p, &err) == TXM_OK, "%s", err.message);
            ck_assert_msg(memcmp(p.rgb, reference.rgb, (size_t)96 * 54 * 3 * sizeof *p.rgb) == 0, "way %zu", w);
            if (o.lanes == 1 << 20) {
                ck_assert_msg(o.open_first ? p.counts.longest == 2 + depth : p.counts.longest > 2 + depth,
                              "%u launches", p.counts.longest);
                for (size_t i = 0; i < p.image_count; i++)
                    ck_assert_uint_eq(p.images[i].used_bytes, reference.images[i].used_bytes);
            }
            stm_render_picture_clear(&p);
        }
    }
    o = small();
    o.render_tile = 64;
    ck_assert_msg(stm_render_budget_of(s, &o, &b, &err) == TXM_OK, "%s", err.message);
    for (size_t i = 0; i < b.image_count; i++)
        for (uint32_t l = 0; l < b.images[i].levels; l++)
            ck_assert_uint_eq(b.images[i].level_used[l], reference.images[i].level_used[l]);
    stm_render_budget_clear(&b);
    /* The texture is moved, and not only requested. */
    for (size_t m = 0; depth && m < s->materials[0].texture_count; m++)
        s->materials[0].textures[m].warp = 0.0f;
    o.engine = STM_RENDER_ENGINE_REFERENCE;
    ck_assert_int_eq(stm_render(s, &o, &plain, &err), TXM_OK);
    ck_assert((memcmp(plain.rgb, reference.rgb, (size_t)96 * 54 * 3 * sizeof *plain.rgb) == 0) == !depth);
    stm_render_picture_clear(&plain);
    stm_render_picture_clear(&reference);
}

/* A budget lists the tiles that the picture uses. */
TEST(budget)
{
    stm_render_options o = small();
    stm_render_picture p;
    stm_render_budget b;
    stm_render_scene *s;
    o.engine = STM_RENDER_ENGINE_REFERENCE;
    o.bounces = 0;
    o.render_tile = 64;
    render("plane", &o, &p);
    ck_assert_int_eq(stm_render_scene_builtin("plane", paths, IMAGES, 0.0f, &s, &err), TXM_OK);
    ck_assert_msg(stm_render_budget_of(s, &o, &b, &err) == TXM_OK, "%s", err.message);
    uint64_t used = 0, tiles = 0;
    for (size_t i = 0; i < p.image_count; i++) {
        used += p.images[i].used_bytes;
        ck_assert_uint_eq(b.images[i].used_bytes, p.images[i].used_bytes);
        for (uint32_t l = 0; l < p.images[i].levels; l++) {
            ck_assert_uint_eq(b.images[i].level_used[l], p.images[i].level_used[l]);
            tiles += p.images[i].level_used[l];
        }
    }
    ck_assert_uint_eq(b.touched_bytes, used);
    ck_assert_uint_eq(b.tile_count, tiles);
    ck_assert_uint_eq(b.tile_px[1], 64);
    for (int i = 0; i < STM_BUDGET_TILES; i++)
        ck_assert(b.tile_peak[i] <= b.touched_bytes && b.tile_loaded[i] >= b.touched_bytes);
    ck_assert_uint_eq(b.resolution_bytes[0], used);
    ck_assert_uint_lt(b.resolution_bytes[1], used);
    ck_assert_uint_le(b.resolution_bytes[2], b.resolution_bytes[1]);
    stm_render_budget_clear(&b);
    stm_render_scene_free(&s);
    stm_render_picture_clear(&p);
}

TEST(refused)
{
    stm_render_options o = small();
    stm_render_scene *s;
    stm_render_picture p;
    ck_assert_int_eq(stm_render_scene_builtin("castle", NULL, 0, 0, &s, &err), TXM_STATUS_USAGE);
    const char *missing = "/nowhere/x.tx";
    ck_assert_int_eq(stm_render_scene_builtin("plane", &missing, 1, 0, &s, &err), TXM_OK);
    ck_assert_int_eq(stm_render(s, &o, &p, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_null(p.rgb);
    o.lanes = 0;
    ck_assert_int_eq(stm_render(s, &o, &p, &err), TXM_STATUS_USAGE);
    stm_render_scene_free(&s);
    int stop = 1;
    o = small();
    o.cancel = &stop;
    ck_assert_int_eq(stm_render_scene_builtin("plane", paths, IMAGES, 0, &s, &err), TXM_OK);
    ck_assert_int_eq(stm_render(s, &o, &p, &err), TXM_STATUS_CANCELLED);
    stm_render_scene_free(&s);
}

/* The marks, the counts and the moments of one picture agree. */
TESTS(took, 3)
{
    stm_render_options o = small();
    stm_render_picture p;
    o.engine = (uint32_t)_i;
    o.render_tile = 32;
    cache.max_bytes = 512 << 10;
    render("room", &o, &p);
    uint64_t used = 0, loads = 0, reloads = 0, listed[IMAGES] = {0};
    ck_assert_uint_eq(p.part_count, IMAGES);
    for (size_t i = 0; i < p.tile_count; i++) {
        const stm_render_tile *t = &p.tiles[i];
        const stm_render_part *part = &p.parts[t->image];
        ck_assert_uint_lt(t->level, part->levels);
        ck_assert_uint_lt(t->x * part->tile_px, txm_level_size(part->width, t->level));
        ck_assert_uint_lt(t->y * part->tile_px, txm_level_size(part->height, t->level));
        listed[t->image]++;
    }
    for (size_t i = 0; i < p.image_count; i++) {
        uint64_t tiles = 0;
        for (uint32_t l = 0; l < p.images[i].levels; l++)
            tiles += p.images[i].level_used[l];
        ck_assert_uint_eq(listed[i], tiles);
        ck_assert_uint_eq(p.costs[i].failures, 0);
        used += tiles;
        loads += p.costs[i].loads;
        reloads += p.costs[i].reloads;
        ck_assert(_i == STM_RENDER_ENGINE_REFERENCE || p.costs[i].load_seconds > 0);
    }
    ck_assert_uint_eq(used, p.tile_count);
    ck_assert_uint_eq(loads, p.cache.tiles_loaded);
    ck_assert_uint_eq(reloads, p.cache.tiles_reloaded);
    ck_assert_uint_eq(loads - reloads, _i == STM_RENDER_ENGINE_REFERENCE ? 0 : used);
    ck_assert_int_eq(p.moments != NULL, _i != STM_RENDER_ENGINE_REFERENCE);
    uint64_t most = 0;
    for (size_t i = 0; i < p.moment_count; i++) {
        most = p.moments[i].tile_bytes > most ? p.moments[i].tile_bytes : most;
        ck_assert(!i || (p.moments[i].seconds >= p.moments[i - 1].seconds &&
                         p.moments[i].samples >= p.moments[i - 1].samples));
    }
    ck_assert_uint_le(most, p.cache.tile_bytes_peak);
    if (p.moment_count) {
        ck_assert_uint_gt(most, 0);
        ck_assert_uint_eq(p.moments[p.moment_count - 1].samples, (uint64_t)96 * 54 * 3);
        ck_assert_uint_eq(p.moments[p.moment_count - 1].tiles_loaded, p.cache.tiles_loaded);
    }
    stm_render_picture_clear(&p);
}

/* However many moments there are, some hundreds are kept, and the peak is among them. */
TEST(many_moments)
{
    stm_render_options o = small();
    stm_render_picture p;
    o.lanes = 7;
    cache.max_bytes = 512 << 10;
    render("plane", &o, &p);
    ck_assert_uint_gt(p.counts.launches, 2048);
    ck_assert(p.moment_count >= 100 && p.moment_count <= 512);
    uint64_t most = 0;
    for (size_t i = 0; i < p.moment_count; i++)
        most = p.moments[i].tile_bytes > most ? p.moments[i].tile_bytes : most;
    ck_assert_uint_gt(most, p.cache.tile_bytes_peak / 2);
    stm_render_picture_clear(&p);
}

/* Cuts the file short when a third of the samples are done. Its first tiles have been read by then. */
static void cut(void *user, uint64_t done, uint64_t all)
{
    if (done * 3 > all && truncate(user, 100))
        exit(1);
}

/* A tx file is cut short while a picture is rendered: its tiles are magenta, the reason is reported, and the rest of
 * the picture is complete. */
TESTS(cut_short, 2)
{
    stm_render_options o = small();
    stm_render_picture p;
    snprintf(images[0], sizeof images[0], "%s", temp_file("cut.tx"));
    make_noise_tx(images[0], 300, 260, 4);
    o.engine = _i ? STM_RENDER_ENGINE_BLOCKING : STM_RENDER_ENGINE_WAVE;
    o.lanes = 64;
    o.render_tile = 8;
    cache.max_bytes = 256 << 10;
    o.progress = cut;
    o.progress_user = images[0];
    render("room", &o, &p);
    ck_assert_uint_gt(p.costs[0].failures, 0);
    ck_assert_uint_eq(p.costs[0].failures, p.cache.tiles_failed);
    /* It depends on the moment whether the file's size or its times are noticed first. */
    ck_assert_msg(strstr(p.costs[0].message, "cut.tx: became shorter") ||
                      strstr(p.costs[0].message, "cut.tx: was written to"),
                  "%s", p.costs[0].message);
    ck_assert_int_eq(p.costs[0].failure, TXM_STATUS_CHANGED);
    ck_assert_uint_eq(p.costs[1].failures + p.costs[2].failures, 0);
    ck_assert_str_eq(p.costs[1].message, "");
    stm_render_picture_clear(&p);
}

int main(void)
{
    make_images();
    return run_tests();
}
