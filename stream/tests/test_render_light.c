/* SPDX-License-Identifier: Apache-2.0
 *
 * Light from the world's image: directions are drawn by brightness with the probabilities that are returned, and a
 * floor receives what the image sends, in whichever way it is sampled.
 */
#include <fcntl.h>
#include <math.h>

#include "render/light.h"
#include "render/random.h"
#include "util_check.h"
#include "util_tx.h"

enum { WIDTH = 512, HEIGHT = 256 };
static const double pi = 3.141592653589793;
static txm_error err;
static char world[512];
static const char quarter_turn[] = "mapping 0 0 1 0 0 1 0 0 -1 0 0 0"; /* turns (x, y, z) into (z, y, -x) */

/* For scene_of(): materials before the floor's, and statements after the world's projection. */
static const char *parts = "", *mapping = "";

/* The sky is dim and has a bright patch of a few degrees, high up. */
static double sky(double u, double v)
{
    return u > 0.3 && u < 0.34 && v > 0.7 && v < 0.75 ? 60.0 : 0.2 + 0.1 * v;
}

/* Every level shows the sky as well as its pixels can. Rows begin at the top, where v is 1. */
static void make_world(void)
{
    made_image image =
        make_image(WIDTH, HEIGHT, 4, TXM_TYPE_FLOAT, 64, (txm_compression){TXM_CODEC_ZIP, 4}, MADE_CONSTANT);
    for (uint32_t level = 0; image.levels[level]; level++) {
        uint32_t w = txm_level_size(WIDTH, level), h = txm_level_size(HEIGHT, level);
        float *pixels = (float *)(void *)image.levels[level];
        for (uint32_t i = 0; i < w * h; i++) {
            float bright = (float)sky((i % w + 0.5) / w, 1.0 - (i / w + 0.5) / h);
            for (uint32_t c = 0; c < 4; c++)
                pixels[4 * (size_t)i + c] = c < 3 ? bright : 1.0f;
        }
    }
    txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    uint64_t bytes;
    metadata.detected_colorspace = "scene_linear"; /* so that nothing is decoded after a lookup */
    snprintf(world, sizeof world, "%s", temp_file("world.tx"));
    SCOPED(close_descriptor) int fd = open(world, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write_image(fd, &image, &metadata, &summary, &bytes, &err) != TXM_OK) {
        fprintf(stderr, "%s: %s\n", world, err.message);
        exit(1);
    }
    free_image(&image);
}

/* Computes the light that a floor gets from the sky, divided by pi, which is the radiance of a white one, by sums over
 * a fine grid. If `turned`, the image is looked up as quarter_turn says. */
static double expected(bool turned)
{
    enum { U = 1600, V = 800 };
    double sum = 0;
    for (int y = V / 2; y < V; y++)
        for (int x = 0; x < U; x++) {
            double latitude = ((y + 0.5) / V - 0.5) * pi;
            double longitude = (0.5 - (x + 0.5) / U) * 2.0 * pi, across = cos(latitude);
            double at[3] = {across * cos(longitude), across * sin(longitude), sin(latitude)};
            double u = 0.5 - (turned ? atan2(at[1], at[2]) : longitude) / (2.0 * pi);
            double v = 0.5 + asin(turned ? -at[0] : at[2]) / pi;
            sum += sky(u, v) * sin(latitude) * cos(latitude);
        }
    return sum * 2.0 * pi / U * pi / V / pi;
}

/* A camera looks down on a floor under a sky. */
static stm_render_scene *scene_of(const char *material)
{
    char text[2048];
    stm_render_scene *s = stm_scene_new();
    snprintf(text, sizeof text,
             "txmill-scene 1\nsize 32 32\ncamera perspective half 0.3 0.3 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 "
             "0 0 0 0 1 3\n"
             "image sky \"%s\" colorspace \"Linear Rec.709\" alpha straight extension repeat interpolation linear\n"
             "world sky projection latlong %s\n%smaterial floor %s\nquad floor -50 -50 0 100 0 0 0 100 0\n",
             world, mapping, parts, material);
    ck_assert(s && stm_scene_parse(s, "scene.txt", ".", text, strlen(text), &err) == TXM_OK);
    return s;
}

static double mean_of(const char *material, uint32_t bounces, uint32_t samples)
{
    stm_render_options o;
    stm_render_picture p;
    SCOPED(stm_render_scene_free) stm_render_scene *s = scene_of(material);
    double sum = 0;
    stm_render_options_init(&o);
    o.bounces = bounces;
    o.samples = samples;
    ck_assert_msg(stm_render(s, &o, &p, &err) == TXM_OK, "%s", err.message);
    for (size_t i = 0; i < (size_t)3 * p.width * p.height; i++)
        sum += (double)p.rgb[i];
    sum /= (double)(3 * p.width * p.height);
    stm_render_picture_clear(&p);
    return sum;
}

/* Sampling by the map alone, and shared between map and surface, gives the same light with few samples. */
TEST(floor_receives_what_the_sky_sends)
{
    const double wanted = 0.5 * expected(false);
    for (uint32_t bounces = 0; bounces < 2; bounces++) {
        double mean = mean_of("diffuse 0.5 0.5 0.5", bounces, 64);
        ck_assert_msg(fabs(mean / wanted - 1.0) < 0.03, "%u bounces: %g for %g", bounces, mean, wanted);
    }
}

/* A rough mirror gets the same light by the map alone as by both. */
TEST(glossy_floor_too)
{
    double by_map = mean_of("glossy 1 1 1 roughness 0.3", 0, 256),
           by_both = mean_of("glossy 1 1 1 roughness 0.3", 1, 256);
    ck_assert_msg(by_map > 0.05 && fabs(by_map / by_both - 1.0) < 0.04, "%g and %g", by_map, by_both);
}

/* The image is turned, and the map with it. The length of directions on the way does not matter. */
TEST(mapped_sky)
{
    static const char *const longer = "mapping 0 0 7 0 0 7 0 0 -7 0 0 0";
    const double wanted = 0.5 * expected(true);
    ck_assert_msg(fabs(wanted / (0.5 * expected(false)) - 1.0) > 0.2, "%g: both skies are alike", wanted);
    for (uint32_t bounces = 0; bounces < 2; bounces++) {
        mapping = quarter_turn;
        double mean = mean_of("diffuse 0.5 0.5 0.5", bounces, 64);
        mapping = longer;
        double same = mean_of("diffuse 0.5 0.5 0.5", bounces, 64);
        mapping = "";
        ck_assert_msg(fabs(mean / wanted - 1.0) < 0.03, "%u bounces: %g for %g", bounces, mean, wanted);
        ck_assert_msg(fabs(mean / same - 1.0) < 1e-3, "%g and %g", mean, same);
    }
}

/* A mix scatters what its parts scatter, in proportion to their shares, also if these are mixes themselves. */
TEST(mixed_floor)
{
    parts = "material dark diffuse 0.1 0.1 0.1\nmaterial bright diffuse 0.9 0.9 0.9\nmaterial rough glossy 1 1 1 "
            "roughness 0.5\n"
            "material half mix dark bright share 0.5\n";
    for (uint32_t bounces = 0; bounces < 2; bounces++) {
        double dark = mean_of("diffuse 0.1 0.1 0.1", bounces, 64), bright = mean_of("diffuse 0.9 0.9 0.9", bounces, 64);
        double rough = mean_of("glossy 1 1 1 roughness 0.5", bounces, 64),
               mean = mean_of("mix half rough share 0.2", bounces, 64);
        double wanted = 0.4 * dark + 0.4 * bright + 0.2 * rough;
        ck_assert_msg(fabs(mean / wanted - 1.0) < 0.03, "%u bounces: %g for %g", bounces, mean, wanted);
        ck_assert_msg(fabs(mean_of("mix dark bright share 1", bounces, 64) / bright - 1.0) < 1e-6, "%g", bright);
        ck_assert_msg(fabs(mean_of("mix dark bright share 0", bounces, 64) / dark - 1.0) < 1e-6, "%g", dark);
    }
    parts = "";
}

static stm_world_map *map_of(void)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = scene_of("diffuse 1 1 1");
    stm_bound_image bound = {.width = WIDTH, .height = HEIGHT};
    stm_world_map *map;
    txm_sampler_init(&bound.how);
    ck_assert_msg(stm_world_map_new(s, &bound, world, &map, &err) == TXM_OK, "%s", err.message);
    ck_assert_ptr_nonnull(map);
    return map;
}

/* Directions are as frequent as their probabilities say, and both functions give a direction the same probability. */
TEST(map_draws_what_it_says)
{
    enum { DRAWS = 200000 };
    stm_world_map *map = map_of();
    double inverse = 0, all = 0;
    unsigned bright = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        float r[4], p, u, v;
        stm_random_four(3, i, 0, 0, r);
        txm_vec3 d = stm_world_map_draw(map, r, &p);
        ck_assert(p > 0.0f && fabsf(txm_vec_length(d) - 1.0f) < 1e-5f);
        inverse += 1.0 / (double)p;
        stm_world_place(false, d, &u, &v);
        bright += sky((double)u, (double)v) > 1.0;
        /* rounding decides at the rim of a cell, and few directions are there */
        all += fabsf(stm_world_map_probability(map, d) / p - 1.0f) < 1e-3f;
    }
    /* The mean of 1 over the probability is the area of the sphere. */
    ck_assert_msg(fabs(inverse / DRAWS / (4.0 * pi) - 1.0) < 0.02, "%g of the sphere", inverse / DRAWS / (4.0 * pi));
    ck_assert_msg(all > 0.999 * DRAWS, "%g of %d", all, DRAWS);
    /* The patch is 0.002 of the image, and gives about a quarter of the light. */
    ck_assert_msg(bright > DRAWS / 8 && bright < DRAWS / 2, "%u", bright);
    stm_world_map_free(&map);
    ck_assert_ptr_null(map);
}

/* If there is nothing to choose from, there is no map, which is not a failure. */
TEST(no_map)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = scene_of("diffuse 1 1 1");
    stm_bound_image bound = {.width = WIDTH, .height = HEIGHT};
    stm_world_map *map;
    txm_sampler_init(&bound.how);
    ck_assert_int_eq(stm_world_map_new(s, &bound, NULL, &map, &err), TXM_OK);
    ck_assert_ptr_null(map);
    ck_assert_int_eq(stm_world_map_new(s, &bound, "/nowhere/x.tx", &map, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_null(map);
    s->world.image = STM_SCENE_NONE;
    ck_assert_int_eq(stm_world_map_new(s, &bound, world, &map, &err), TXM_OK);
    ck_assert_ptr_null(map);
}

int main(void)
{
    make_world();
    return run_tests();
}
