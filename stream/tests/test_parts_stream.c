/* SPDX-License-Identifier: Apache-2.0
 *
 * Between a scene and its pictures: words of its text, finding and binding textures, the two engines, what a picture
 * used of each image, memory over time. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "render/engine.h"
#include "render/scene_words.h"
#include "render/use.h"
#include "util_batch.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_tx.h"

/* ---- words of a scene's text ------------------------------------------------------------------------------------- */

static txm_error err;

static stm_words words_of(const char *line)
{
    err = (txm_error){0};
    return (stm_words){.file = "scene.txt", .at = line, .end = line + strlen(line), .line = 7, .err = &err};
}

START_TEST(words_become_values)
{
    static const char *const kinds[] = {"sun", "point", NULL};
    stm_words w = words_of("  at 1 -2.5e1\t3 point 12 \"a \\\"b\\\" c\" 0 0 -4 1 0 0 0 0 1 0 0 0 0 1 9 rest\r");
    ck_assert(!stm_take_if(&w, "to"));
    stm_take_keyword(&w, "at");
    txm_vec3 v = stm_take_vector(&w, "the place");
    ck_assert(v.x == 1.0f && v.y == -25.0f && v.z == 3.0f);
    ck_assert_int_eq(stm_take_choice(&w, "kind", kinds), 1);
    ck_assert_uint_eq(stm_take_count(&w, "the count", 1, 12), 12);
    char *text = stm_take_text(&w, "the title");
    ck_assert_str_eq(text, "a \"b\" c");
    free(text);
    v = stm_take_direction(&w, "the light");
    ck_assert(v.x == 0.0f && v.y == 0.0f && v.z == -1.0f);
    ck_assert(stm_take_matrix(&w).m[2][3] == 9.0f);
    const char *word;
    ck_assert_uint_eq(stm_take_word(&w, &word), 4);
    ck_assert(stm_is_word(word, 4, "rest") && !stm_is_word(word, 4, "res"));
    ck_assert(!stm_words_more(&w) && !w.failed);
    ck_assert_uint_eq(stm_take_word(&w, &word), 0);
}
END_TEST

START_TEST(wrong_words_are_named_with_their_line)
{
    static const char *const kinds[] = {"sun", NULL};
    static const struct {
        const char *line, *says;
    } cases[] = {{"", "x is missing"},          {"1x", "x must be a number, not '1x'"}, {"inf", "x must be a number"},
                 {"nan", "x must be a number"}, {"1e99", "x must be a number"},         {"0", "x must be above 0"},
                 {"-1", "x must be above 0"}};
    stm_words w;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        w = words_of(cases[i].line);
        stm_take_positive(&w, "x");
        ck_assert_msg(w.failed && strstr(err.message, "scene.txt:7: ") && strstr(err.message, cases[i].says), "%s",
                      err.message);
    }
    static const char *const counts[] = {"0", "13", "2.5", "-3", "1e30"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        w = words_of(counts[i]);
        ck_assert_uint_eq(stm_take_count(&w, "x", 1, 12), 1);
        ck_assert(w.failed);
    }
    static const char *const texts[] = {"wood", "\"open", "\"a\\q\"", "\"ends with \\", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        w = words_of(texts[i]);
        ck_assert_ptr_null(stm_take_text(&w, "x"));
        ck_assert(w.failed);
    }
    w = words_of("0 0 0");
    ck_assert(stm_take_direction(&w, "x").z == 1.0f && w.failed);
    /* The first failure counts, and nothing is accepted after it. */
    w = words_of("moon 5");
    ck_assert_int_eq(stm_take_choice(&w, "kind", kinds), 0);
    stm_take_keyword(&w, "at");
    ck_assert_ptr_null(stm_take_text(&w, "x"));
    ck_assert_ptr_nonnull(strstr(err.message, "'moon' is not a valid kind"));
    ck_assert(!stm_words_more(&w));
}
END_TEST

START_TEST(names_are_defined_before_they_are_used)
{
    stm_words w = words_of("wood stone wood wood stone oak");
    char *a = stm_define_name(&w, 'i', 0), *b = stm_define_name(&w, 'i', 1), *c = stm_define_name(&w, 'm', 5);
    ck_assert_str_eq(a, "wood");
    ck_assert_str_eq(b, "stone");
    ck_assert_str_eq(c, "wood"); /* a material may have the name of its image */
    ck_assert_uint_eq(stm_refer_to_name(&w, 'm', "material"), 5);
    ck_assert_uint_eq(stm_refer_to_name(&w, 'i', "image"), 1);
    ck_assert(!w.failed);
    ck_assert_uint_eq(stm_refer_to_name(&w, 'i', "image"), 0);
    ck_assert(w.failed);
    ck_assert_ptr_nonnull(strstr(err.message, "there is no image 'oak' above"));
    w.failed = false;
    err = (txm_error){0};
    w.at = "stone";
    w.end = w.at + 5;
    ck_assert_ptr_null(stm_define_name(&w, 'i', 2));
    ck_assert_ptr_nonnull(strstr(err.message, "'stone' is defined twice"));
    stm_words_free(&w);
    stm_words_free(&w);
    free(a);
    free(b);
    free(c);
}
END_TEST

/* ---- UDIM sets --------------------------------------------------------------------------------------------------- */

START_TEST(udim_tiles_are_those_that_are_there)
{
    static const char *const names[] = {"a.1001.png",  "a.1012.png",   "a.9999.png",  "a.1000.png",   "a.10010.png",
                                        "b_u1_v1.png", "b_u10_v1.png", "b_u2_v3.png", "b_u11_v1.png", "c.png"};
    err = (txm_error){0};
    batch_enter();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        batch_file(names[i], "");
    stm_scene_image a = {.path = (char *)"a.<UDIM>.png"};
    ck_assert_int_eq(stm_scene_find_udims(&a, &err), TXM_OK);
    ck_assert_uint_eq(a.udim_count, 3);
    ck_assert(a.udims[0] == 1001 && a.udims[1] == 1012 && a.udims[2] == 9999);
    free(a.udims);
    stm_scene_image b = {.path = (char *)"b_<uvtile>.png"};
    ck_assert_int_eq(stm_scene_find_udims(&b, &err), TXM_OK);
    ck_assert_uint_eq(b.udim_count, 3);
    ck_assert(b.udims[0] == 1001 && b.udims[1] == 1010 && b.udims[2] == 1022);
    free(b.udims);
    stm_scene_image none = {.path = (char *)"d.<UDIM>.png"};
    ck_assert_int_eq(stm_scene_find_udims(&none, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "d.<UDIM>.png"));
    ck_assert_ptr_null(none.udims);
    batch_leave();
}
END_TEST

/* ---- textures ---------------------------------------------------------------------------------------------------- */

enum { IMAGES = 3 };

/* There are three images: a tx file, a UDIM set of two, and a tx file of one channel. */
static stm_render_scene *scene_of_three(void)
{
    stm_render_scene *scene = stm_scene_new();
    static uint32_t udims[] = {1001, 1012};
    char *paths[IMAGES] = {write_cached("a.tx", 256, 128, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                           strdup(temp_file("u.<UDIM>.tx")),
                           write_cached("c.tx", 64, 64, 1, TXM_TYPE_HALF, MADE_NOISE, 2)};
    free(write_cached("u.1001.tx", 128, 128, 4, TXM_TYPE_U8, MADE_NOISE, 3));
    free(write_cached("u.1012.tx", 128, 128, 4, TXM_TYPE_U8, MADE_NOISE, 4));
    scene->images = calloc(IMAGES, sizeof *scene->images);
    scene->image_count = scene->image_capacity = IMAGES;
    for (int i = 0; i < IMAGES; i++)
        scene->images[i] = (stm_scene_image){.name = strdup("n"),
                                             .path = paths[i],
                                             .colorspace = strdup("sRGB"),
                                             .alpha = TXM_ALPHA_STRAIGHT,
                                             .filter = TXM_FILTER_LINEAR};
    scene->images[1].udims = memcpy(malloc(sizeof udims), udims, sizeof udims);
    scene->images[1].udim_count = 2;
    return scene;
}

static stm_render_options options_of(txm_cache_options *cache)
{
    stm_render_options o;
    stm_render_options_init(&o);
    txm_cache_options_init_cycles(cache);
    cache->threads = 1;
    o.cache = cache;
    return o;
}

START_TEST(images_are_bound_to_textures)
{
    stm_render_scene *scene = scene_of_three();
    txm_cache_options cache;
    stm_render_options o = options_of(&cache);
    err = (txm_error){0};
    for (int reference = 0; reference < 2; reference++) {
        stm_render_textures t;
        ck_assert_msg(stm_render_textures_new(scene, &o, reference, false, &t, &err) == TXM_OK, "%s", err.message);
        ck_assert_int_eq(t.cache == NULL, reference);
        ck_assert_int_eq(t.set == NULL, !reference);
        ck_assert(t.bound[0].width == 256 && t.bound[0].height == 128 && t.bound[1].width == 128);
        /* First come the two tiles, then the set of them, which has no file of its own. */
        static const uint32_t owners[] = {0, 1, 1, STM_SCENE_NONE, 2};
        ck_assert_uint_eq(t.count, 5);
        ck_assert_mem_eq(t.image_of, owners, sizeof owners);
        ck_assert_uint_eq(t.bound[1].texture, 3);
        ck_assert(t.bound[0].how.mip_bias == 0.0f);
        stm_render_textures_free(&t);
        stm_render_textures_free(&t);
    }
    /* Half the resolution is one level, whatever the engine: for a lookup that waits, the cache computes it. */
    cache.resolution = 0.5f;
    for (uint32_t engine = 0; engine < 2; engine++) {
        stm_render_textures t;
        o.engine = engine;
        ck_assert_int_eq(stm_render_textures_new(scene, &o, false, false, &t, &err), TXM_OK);
        ck_assert(t.bound[0].how.mip_bias == 1.0f);
        stm_render_textures_free(&t);
    }
    /* A missing file ends the run with an error that names it, and nothing leaks. */
    stm_render_textures t = {0};
    ck_assert_int_eq(unlink(scene->images[2].path), 0);
    ck_assert_int_eq(stm_render_textures_new(scene, &o, false, false, &t, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "c.tx"));
    ck_assert_ptr_null(t.bound);
    stm_render_scene_free(&scene);
}
END_TEST

/* ---- reads ------------------------------------------------------------------------------------------------------- */

START_TEST(uses_are_counted_by_image_and_level)
{
    stm_render_scene *scene = scene_of_three();
    txm_cache_options cache;
    stm_render_options o = options_of(&cache);
    err = (txm_error){0};
    for (int reference = 0; reference < 2; reference++) {
        stm_render_textures t;
        stm_render_image_use *uses = NULL;
        stm_render_image_cost *costs = NULL;
        stm_render_tile *tiles = NULL;
        stm_render_part *parts = NULL;
        txm_view view;
        size_t tile_count, part_count;
        ck_assert_int_eq(stm_render_textures_new(scene, &o, reference, reference, &t, &err), TXM_OK);
        /* Looks up once in each, in the middle of a tile of level 0. */
        txm_lookup at = {0.125f, 0.25f, 0, 0, 0, 0};
        if (reference) {
            view = *txm_texture_set_view(t.set);
            view.epoch = 1;
        }
        txm_cache_thread *thread = reference ? NULL : new_thread(t.cache);
        for (int i = 0; i < 2; i++) {
            float out[4];
            txm_lookup_state lane = {.capacity = 0, .requests = NULL};
            txm_sampler how = t.bound[i].how;
            how.mode = TXM_LEVEL_MODE_FLOOR;
            if (reference)
                txm_sample(&view, t.bound[i].texture, &how, &at, &lane, out);
            else
                txm_cache_sample(thread, t.bound[i].texture, &how, &at, NULL, out);
        }
        txm_cache_thread_free(&thread);
        ck_assert_int_eq(stm_render_uses_of(scene, &t, &uses, &err), TXM_OK);
        ck_assert_str_eq(uses[0].path, scene->images[0].path);
        ck_assert(uses[0].width == 256 && uses[0].height == 128 && uses[0].levels == 9);
        ck_assert(uses[0].level_tiles[0] == 8 && uses[0].level_used[0] == 1 && uses[0].level_used[1] == 0);
        ck_assert(uses[1].level_tiles[0] == 8 && uses[1].level_used[0] == 1); /* of both tiles of the set */
        ck_assert(uses[2].used_bytes == 0 && uses[2].virtual_bytes > 0);
        ck_assert_uint_eq(uses[0].used_bytes, 68 * 68 * 4);
        ck_assert_int_eq(stm_render_costs_of(scene, &t, &costs, &err), TXM_OK);
        ck_assert_uint_eq(costs[0].loads, !reference);
        ck_assert_uint_eq(costs[0].loaded_bytes, reference ? 0 : 68 * 68 * 4);
        ck_assert(costs[2].loads == 0 && costs[0].failures == 0 && costs[0].failure == TXM_OK);
        if (!reference)
            ck_assert_int_eq(txm_cache_prepare(t.cache, &view, NULL, &err), TXM_OK);
        ck_assert_int_eq(stm_render_parts_of(&t, &view, &parts, &part_count, &err), TXM_OK);
        ck_assert_uint_eq(part_count, 4);
        ck_assert(parts[1].image == 1 && parts[1].part == 0 && parts[2].image == 1 && parts[2].part == 1);
        ck_assert(parts[3].image == 2 && parts[3].part == 0);
        ck_assert_int_eq(stm_render_tiles_of(&t, &view, &tiles, &tile_count, &err), TXM_OK);
        ck_assert_uint_eq(tile_count, 2);
        ck_assert(tiles[0].image == 0 && tiles[0].level == 0 && tiles[1].image == 1 && tiles[1].part == 0);
        free(tiles);
        free(parts);
        free(costs);
        free(uses);
        stm_render_textures_free(&t);
    }
    stm_render_scene_free(&scene);
}
END_TEST

/* However many notes are made, the list has a fixed size, its moments are in order, and the peak is not lost. */
START_TEST(moments_keep_the_peaks)
{
    enum { NOTES = 3 * STM_MOMENTS + 7, PEAK_AT = 700 };
    txm_cache_options o;
    txm_cache_options_init_cycles(&o);
    o.threads = 1;
    txm_cache *c = new_cache(&o);
    stm_moments m;
    ck_assert(stm_moments_new(&m, 0));
    uint64_t least = 0;
    for (uint64_t i = 0; i < NOTES; i++) {
        txm_cache_thread *extra[64];
        for (int k = 0; i == PEAK_AT && k < 64; k++)
            extra[k] = new_thread(c);
        stm_moments_note(&m, c, i);
        for (int k = 0; i == PEAK_AT && k < 64; k++)
            txm_cache_thread_free(&extra[k]);
        if (i == 0)
            least = m.items[0].allocated_bytes;
        ck_assert_uint_le(m.count, STM_MOMENTS);
    }
    ck_assert_uint_ge(m.count, STM_MOMENTS / 4);
    ck_assert_uint_gt(m.every, 1);
    uint64_t most = 0;
    for (size_t i = 0; i < m.count; i++) {
        most = m.items[i].allocated_bytes > most ? m.items[i].allocated_bytes : most;
        ck_assert(!i || m.items[i].samples > m.items[i - 1].samples);
    }
    ck_assert_uint_gt(most, least + 64 * 100);
    free(m.items);
    txm_cache_free(&c);
}
END_TEST

/* ---- engines ----------------------------------------------------------------------------------------------------- */

enum { WIDTH = 48, HEIGHT = 27, PIXELS = WIDTH * HEIGHT };

/* Renders a picture with one engine alone. */
static void traced(const stm_render_scene *scene, stm_render_options *o, bool reference, const volatile int *cancel,
                   float rgb[3 * PIXELS], stm_render_counts *counts, txm_status *status)
{
    static float filter[STM_FILTER_TABLE];
    err = (txm_error){0};
    stm_scene_geometry geometry = {0};
    stm_render_job job = {.options = o, .threads = 2, .film = {.width = WIDTH, .rgb = rgb}};
    memset(rgb, 0, 3 * PIXELS * sizeof *rgb);
    o->cancel = cancel;
    ck_assert_msg(stm_scene_geometry_new(scene, 2, NULL, &geometry, &err) == TXM_OK, "%s", err.message);
    job.pool = stm_pool_new(2);
    ck_assert_msg(stm_render_textures_new(scene, o, reference, reference, &job.textures, &err) == TXM_OK, "%s",
                  err.message);
    ck_assert(reference || stm_moments_new(&job.moments, 0));
    stm_path_filter(o->filter_width, filter);
    job.world = stm_path_world_of(scene, &geometry, o, WIDTH, HEIGHT);
    job.world.images = job.textures.bound;
    job.world.filter = filter;
    job.samples_all = (uint64_t)PIXELS * o->samples;
    /* Renders two rectangles, which are independent of each other. */
    const stm_render_rect rects[] = {{0, 0, 20, HEIGHT}, {20, 0, WIDTH - 20, HEIGHT}};
    *status = TXM_OK;
    for (int i = 0; *status == TXM_OK && i < 2; i++)
        *status = o->engine == STM_RENDER_ENGINE_WAVE && !reference ? stm_engine_wave(&job, rects[i], &err)
                                                                    : stm_engine_paths(&job, rects[i], &err);
    *counts = job.counts;
    free(job.moments.items);
    stm_render_textures_free(&job.textures);
    stm_scene_geometry_free(&geometry);
    stm_pool_free(job.pool);
}

START_TEST(engines_trace_the_same_paths)
{
    static float expected[3 * PIXELS], found[3 * PIXELS];
    char *tx = write_cached("wall.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 9);
    const char *images[] = {tx};
    stm_render_scene *scene = NULL;
    txm_cache_options cache;
    stm_render_options o = options_of(&cache);
    stm_render_counts counts, other;
    err = (txm_error){0};
    txm_status status;
    o.samples = 2;
    o.bounces = 2;
    ck_assert_int_eq(stm_render_scene_builtin("room", images, 1, 0, &scene, &err), TXM_OK);
    traced(scene, &o, true, NULL, expected, &counts, &status);
    ck_assert_int_eq(status, TXM_OK);
    ck_assert_uint_eq(counts.paths, (uint64_t)PIXELS * 2);
    ck_assert_uint_gt(counts.rays, counts.paths);
    float sum = 0;
    for (int i = 0; i < 3 * PIXELS; i++)
        sum += expected[i];
    ck_assert(sum > 0);
    /* Over a cache that is too small, one path at a time and waves of any size give the same picture, bit for bit. */
    static const uint32_t lanes[] = {0, 1, 100, 4096};
    for (int i = 0; i < 4; i++) {
        o.engine = lanes[i] ? STM_RENDER_ENGINE_WAVE : STM_RENDER_ENGINE_BLOCKING;
        o.lanes = lanes[i] ? lanes[i] : 1;
        cache.max_bytes = 2 << 20;
        traced(scene, &o, false, NULL, found, &other, &status);
        ck_assert_int_eq(status, TXM_OK);
        ck_assert_mem_eq(found, expected, sizeof expected);
        ck_assert_uint_eq(other.paths, counts.paths);
        ck_assert_uint_eq(other.rays, counts.rays);
        ck_assert(lanes[i] != 4096 || other.relaunches > 0);
    }
    static const volatile int stop = 1;
    for (uint32_t engine = 0; engine < 2; engine++) {
        o.engine = engine;
        traced(scene, &o, false, &stop, found, &other, &status);
        ck_assert_int_eq(status, TXM_STATUS_CANCELLED);
    }
    stm_render_scene_free(&scene);
    free(tx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of render");
    temp_file(""); /* the folder belongs to this process and not to a test's */
    TCase *t = add_case(suite, "parts");
    tcase_set_timeout(t, 300);
    add_tests(t, words_become_values, wrong_words_are_named_with_their_line, names_are_defined_before_they_are_used);
    add_tests(t, udim_tiles_are_those_that_are_there, images_are_bound_to_textures, uses_are_counted_by_image_and_level,
              moments_keep_the_peaks, engines_trace_the_same_paths);
    return run_suite(suite);
}
