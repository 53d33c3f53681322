/* SPDX-License-Identifier: Apache-2.0
 *
 * Applying conversions: working spaces, extreme values, runs of any length, several threads at once.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "txmill/color.h"
#include "util_check.h"
#include "util_gamut.h"

static txm_color_config *load(const char *working_space)
{
    txm_color_options options = {
        .struct_size = sizeof(txm_color_options), .ignore_environment = true, .working_space = working_space};
    txm_color_config *config = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_load(&options, &config, &err) == TXM_OK, "%s", err.message);
    return config;
}

static const txm_color_space *find(const txm_color_config *config, const char *name)
{
    const txm_color_space *space = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_find(config, name, &space, &err) == TXM_OK, "%s", err.message);
    return space;
}

/* ---- working spaces ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *id;
    double from_xyz[9];
} working_spaces[] = {
    {"Linear Rec.709",
     "lin_rec709_scene",
     {3.24096994, -1.53738318, -0.49861076, -0.96924364, 1.87596750, 0.04155506, 0.05563008, -0.20397696, 1.05697151}},
    {"Linear Rec.2020",
     "lin_rec2020_scene",
     {1.71665119, -0.35567078, -0.25336628, -0.66668435, 1.61648124, 0.01576855, 0.01763986, -0.04277061, 0.94210312}},
    /* AP1 primaries, adapted from the white of ACES to D65 (Bradford). */
    {"ACEScg",
     "lin_ap1_scene",
     {1.66058533, -0.31529556, -0.24150933, -0.65992606, 1.60839147, 0.01729859, 0.00900257, -0.00356688, 0.91364331}},
};
enum { WORKING_SPACES = sizeof working_spaces / sizeof *working_spaces };

TESTS(working_space_is_scene_linear, WORKING_SPACES)
{
    SCOPED(txm_color_free) txm_color_config *config = load(working_spaces[_i].name);
    float to_rgb[12];
    ck_assert_str_eq(txm_color_role(config, "scene_linear"), working_spaces[_i].name);
    ck_assert_str_eq(txm_color_working_interop_id(config), working_spaces[_i].id);
    txm_color_xyz_to_scene_linear(config, to_rgb);
    for (int k = 0; k < 12; k++) {
        double want = k % 4 == 3 ? 0 : working_spaces[_i].from_xyz[k / 4 * 3 + k % 4];
        /* Cycles' matrix of ACES has six decimals. */
        ck_assert_msg(fabs(to_rgb[k] - want) < 5e-6, "%d: %.8g, not %.8g", k, to_rgb[k], want);
    }
    for (int other = 0; other < WORKING_SPACES; other++) {
        const txm_color_space *space = find(config, working_spaces[other].name);
        txm_color_class want = other == _i ? TXM_COLOR_CLASS_SCENE_LINEAR : TXM_COLOR_CLASS_OTHER;
        ck_assert_int_eq(txm_color_space_class(space), want);
        ck_assert_str_eq(txm_color_space_detected(space), other == _i ? "scene_linear" : working_spaces[other].name);
    }
    /* The other roles keep their spaces. */
    ck_assert_str_eq(txm_color_role(config, "default_byte"), "sRGB");
    ck_assert_str_eq(txm_color_role(config, "default_float"), "Linear Rec.709");
}

TEST(working_space_may_be_an_alias)
{
    SCOPED(txm_color_free) txm_color_config *config = load("lin_ap1_scene"), *by_name = load("ACEScg");
    ck_assert_str_eq(txm_color_role(config, "scene_linear"), "ACEScg");
    ck_assert_str_eq(txm_color_xyz_to_scene_linear_text(config), txm_color_xyz_to_scene_linear_text(by_name));
}

/* The sRGB curve counts as sRGB only over the primaries of the working space. */
TEST(srgb_is_of_the_working_space)
{
    txm_color_config *aces = load("ACEScg");
    ck_assert_int_eq(txm_color_space_class(find(aces, "sRGB")), TXM_COLOR_CLASS_OTHER);
    ck_assert_int_eq(txm_color_space_class(find(aces, "sRGB Encoded AP1")), TXM_COLOR_CLASS_SRGB);
    ck_assert_int_eq(txm_color_space_class(find(aces, "Non-Color")), TXM_COLOR_CLASS_DATA);
    txm_color_free(&aces);
    SCOPED(txm_color_free) txm_color_config *rec709 = load(NULL);
    ck_assert_int_eq(txm_color_space_class(find(rec709, "sRGB Encoded AP1")), TXM_COLOR_CLASS_OTHER);
    ck_assert_int_eq(txm_color_space_class(find(rec709, "Rec.1886")), TXM_COLOR_CLASS_OTHER);
    ck_assert_int_eq(txm_color_space_class(find(rec709, "Gamma 2.2 Encoded Rec.709")), TXM_COLOR_CLASS_OTHER);
}

/* Grey is grey in every space with the white of D65: 1 becomes 1. */
TESTS(white_stays_white, WORKING_SPACES)
{
    static const char *const spaces[] = {"sRGB", "Display P3", "Rec.1886", "Rec.2020", "Linear Rec.709", "ACEScg"};
    SCOPED(txm_color_free) txm_color_config *config = load(working_spaces[_i].name);
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
        const txm_color_space *space = find(config, spaces[s]);
        float rgba[4] = {1, 1, 1, 0.25f};
        if (txm_color_space_class(space) == TXM_COLOR_CLASS_OTHER)
            txm_color_apply(space, rgba, 1);
        for (int c = 0; c < 3; c++)
            ck_assert_msg(fabs(rgba[c] - 1.0) < OCIO_POWER_ERROR, "%s in %s: %.9g", spaces[s], working_spaces[_i].name,
                          rgba[c]);
        ck_assert_double_le(fabs(rgba[3] - 0.25), OCIO_POWER_ERROR);
    }
}

/* ---- values -------------------------------------------------------------------------------------------------- */

static const char *const curves[] = {"sRGB Encoded AP1",
                                     "Gamma 2.2 Encoded AP1",
                                     "Rec.1886",
                                     "ARRI LogC4",
                                     "Apple Log",
                                     "S-Log3 S-Gamut3",
                                     "ACEScct",
                                     "ACEScc",
                                     "DaVinci Intermediate WideGamut",
                                     "Rec.2100-PQ",
                                     "Rec.2100-HLG",
                                     "AgX Log",
                                     "CanonLog2 CinemaGamut D55",
                                     "ADX16",
                                     "Linear Rec.2020"};
enum { CURVES = sizeof curves / sizeof *curves };

/* Small values of either sign become neither NaN nor huge, and the curve is continuous at 0. */
TESTS(subnormals_are_like_zero, CURVES)
{
    SCOPED(txm_color_free) txm_color_config *config = load(NULL);
    const txm_color_space *space = find(config, curves[_i]);
    const float tiny[] = {FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MIN / 2, -FLT_MIN / 2, -0.0f};
    float zero[4] = {0, 0, 0, 1};
    txm_color_apply(space, zero, 1);
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
        float rgba[4] = {tiny[i], tiny[i], tiny[i], 1};
        txm_color_apply(space, rgba, 1);
        for (int c = 0; c < 3; c++)
            ck_assert_msg(fabsf(rgba[c] - zero[c]) < 1e-6f, "%s of %g: %g, not %g", curves[_i], tiny[i], rgba[c],
                          zero[c]);
    }
}

/* A NaN or infinity stays in its pixel, whose alpha may become NaN, as it does in Cycles. The neighbours get the same
 * bits as without it. */
TESTS(bad_pixels_do_not_spread, CURVES)
{
    SCOPED(txm_color_free) txm_color_config *config = load(NULL);
    const txm_color_space *space = find(config, curves[_i]);
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX};
    float alone[4] = {0.25f, 0.5f, 0.75f, 0.5f};
    txm_color_apply(space, alone, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float rgba[12] = {0.25f, 0.5f, 0.75f, 0.5f, bad[i], 0.5f, bad[i], 1, 0.25f, 0.5f, 0.75f, 0.5f};
        txm_color_apply(space, rgba, 3);
        ck_assert_mem_eq(rgba, alone, sizeof alone);
        ck_assert_mem_eq(rgba + 8, alone, sizeof alone);
    }
}

static void fill(float *rgba, size_t count)
{
    uint32_t seed = 12345;
    for (size_t i = 0; i < 4 * count; i++) {
        seed = seed * 1664525u + 1013904223u;
        rgba[i] = (float)(seed >> 8) / (float)(1 << 24) * 1.5f - 0.25f;
    }
}

/* Converting a run gives the same as converting its pixels one by one, so bands of any height give the same file. */
TESTS(runs_are_as_single_pixels, CURVES)
{
    enum { COUNT = 4099 };
    SCOPED(txm_color_free) txm_color_config *config = load(NULL);
    const txm_color_space *space = find(config, curves[_i]);
    FREED float *run = malloc(COUNT * 4 * sizeof *run), *single = malloc(COUNT * 4 * sizeof *single);
    ck_assert(run && single);
    fill(run, COUNT);
    memcpy(single, run, COUNT * 4 * sizeof *run);
    txm_color_apply(space, run, 0);
    ck_assert_mem_eq(run, single, COUNT * 4 * sizeof *run);
    txm_color_apply(space, run, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        txm_color_apply(space, single + 4 * i, 1);
    ck_assert_mem_eq(run, single, COUNT * 4 * sizeof *run);
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, PIXELS = 1000 };

typedef struct worker {
    pthread_t thread;
    const txm_color_config *config;
    const txm_color_space *found[CURVES];
    float rgba[CURVES][PIXELS * 4];
    bool failed;
} worker;

static void *work(void *p)
{
    worker *w = p;
    for (int i = 0; i < CURVES; i++) {
        fill(w->rgba[i], PIXELS);
        if (txm_color_find(w->config, curves[i], &w->found[i], NULL) != TXM_OK) {
            w->failed = true;
            return NULL;
        }
        txm_color_apply(w->found[i], w->rgba[i], PIXELS);
    }
    return NULL;
}

TEST(threads_share_a_config)
{
    SCOPED(txm_color_free) txm_color_config *config = load(NULL);
    FREED worker *workers = calloc(THREADS, sizeof *workers);
    ck_assert_ptr_nonnull(workers);
    for (int t = 0; t < THREADS; t++) {
        workers[t].config = config;
        ck_assert_int_eq(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        ck_assert(!workers[t].failed);
    }
    for (int t = 1; t < THREADS; t++) {
        ck_assert_mem_eq(workers[t].found, workers[0].found, sizeof workers[0].found);
        ck_assert_mem_eq(workers[t].rgba, workers[0].rgba, sizeof workers[0].rgba);
    }
}

int main(void)
{
    return run_tests_in_one_process();
}
