/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups: tiles, whole levels and every variant of vector code give the same bits; misses, marks, failures; averages
 * of filters; derivatives; UDIM sets; keys. TXM_SAMPLE_LOOKUPS sets the number of random lookups (make check-sample:
 * 10^8).
 */
#include <fcntl.h>
#include <math.h>

#include "tile/ops/ops.h"
#include "tile/sample/lobes.h"
#include "tile/sample/stochastic.h"
#include "txtile/ray.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"
#include "util_whole.h"

static unsigned long lookups(void)
{
    const char *text = getenv("TXM_SAMPLE_LOOKUPS");
    return text ? strtoul(text, NULL, 10) : 400000;
}

static txm_texture_set *new_set(void)
{
    txm_texture_set *set = NULL;
    ck_assert_int_eq(txm_texture_set_new(&set, NULL), TXM_OK);
    return set;
}

static uint32_t add(txm_texture_set *set, const char *path, txm_extension extension, int load)
{
    uint32_t id;
    txm_error err = {0};
    ck_assert_msg(txm_texture_set_add(set, path, extension, &id, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(!load || txm_texture_set_load_all(set, id, &err) == TXM_OK, "%s", err.message);
    return id;
}

static const char *describe(const txm_sampler *how, const txm_lookup *at)
{
    static char text[300];
    snprintf(text, sizeof text, "rule %u mode %u filter %u anisotropy %u after %u, at %a %a, %a %a %a %a", how->rule,
             how->mode, how->filter, how->anisotropy, how->after, (double)at->u, (double)at->v, (double)at->dudx,
             (double)at->dvdx, (double)at->dudy, (double)at->dvdy);
    return text;
}

/* ---- tiles give the same as whole levels ---- */

static void compare_whole(const txm_view *view, uint32_t id, const whole_image *m, unsigned long count, uint64_t *state)
{
    txm_sampler how = sample_random_sampler(state);
    for (unsigned long i = 0; i < count; i++) {
        if (i % 16 == 0)
            how = sample_random_sampler(state);
        txm_lookup at = sample_random_lookup(state, m->width, m->height, 1);
        sample_give_level(state, &how, &at);
        txm_lookup_state lookup_state = {.random = sample_random(state) % 8 ? sample_random(state) : 0};
        uint32_t random = lookup_state.random;
        float out[3][4], want[3][4];
        int slopes = i % 8 == 0;
        txm_lookup_result result = slopes ? txm_sample_d(view, id, &how, &at, &lookup_state, out[0], out[1], out[2])
                                          : txm_sample(view, id, &how, &at, &lookup_state, out[0]);
        whole_sample(m, &how, &at, &random, want[0], slopes ? want[1] : NULL, want[2]);
        if (result != TXM_LOOKUP_HIT || memcmp(out, want, slopes ? sizeof out : sizeof out[0]))
            ck_abort_msg("%ux%u %s, extension %d: %s: %a %a %a %a for %a %a %a %a", m->width, m->height,
                         txm_type_name(m->type), (int)m->extension, describe(&how, &at), (double)out[0][0],
                         (double)out[0][1], (double)out[0][2], (double)out[0][3], (double)want[0][0],
                         (double)want[0][1], (double)want[0][2], (double)want[0][3]);
    }
}

static const uint32_t elongated[][2] = {{1, 500}, {900, 3}, {2048, 17}, {65, 1025}, {257, 257}, {640, 1}};

TESTS(tiles_equal_whole_levels, 8)
{
    const int images = (int)some_of(40);
    uint64_t state = 88172645463325252u + (uint64_t)_i * 977;
    unsigned long each = lookups() / (4 * (unsigned long)images * 8) + 1;
    for (int n = 0; n < images; n++) {
        uint32_t w = 1 + sample_random(&state) % 257, h = 1 + sample_random(&state) % 257, r = sample_random(&state);
        if (n % 4 == 0) {
            w = elongated[r % 6][0];
            h = elongated[r % 6][1];
        }
        SCOPED(free_image)
        made_image m = make_image(w, h, r & 64 ? 1 : 4, (txm_type)(_i % 4), r & 128 ? 16 : 64, (txm_compression){0},
                                  r & 256 ? MADE_SMOOTH : MADE_NOISE);
        const char *path = write_made(temp_file("made.tx"), &m);
        for (int e = n % 2; e < 16; e += 2) { /* all pairs of modes, half of them for each image */
            SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
            uint32_t id = add(set, path, (txm_extension)e, 1);
            SCOPED(whole_free) whole_image whole = whole_read(path, (txm_extension)e);
            compare_whole(txm_texture_set_view(set), id, &whole, each, &state);
        }
    }
}

TESTS(isas_equal_scalar, 3)
{
    const char *isa = txm_ops_isa_name((size_t)_i + 1);
    const txm_sample_ops *ops = isa ? txm_sample_ops_isa(isa) : NULL;
    if (!ops)
        return;
    int rounds = (int)(lookups() / 4000) + 20;
    const char *difference = sample_compare(ops, rounds, 12345);
    ck_assert_msg(!difference, "%s: %s", isa, difference);
}

/* ---- misses ---- */

TEST(misses_are_requested_once_and_cured)
{
    SCOPED(free_image) made_image m = make_image(300, 200, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    const char *path = write_made(temp_file("made.tx"), &m);
    SCOPED(txm_texture_set_free) txm_texture_set *lazy = new_set(), *full = new_set();
    uint32_t id = add(lazy, path, TXM_EXTENSION_REPEAT, 0), requests[64];
    ck_assert_uint_eq(add(full, path, TXM_EXTENSION_REPEAT, 1), id);
    txm_sampler how;
    txm_sampler_init(&how);
    how.mode = TXM_LEVEL_MODE_TRILINEAR;
    uint64_t state = 99;
    for (int i = 0; i < 2000; i++) {
        txm_lookup at = sample_random_lookup(&state, 300, 200, 0);
        txm_lookup_state lookup_state = {.capacity = 64, .requests = requests}, other = {0}, nobody = {0};
        float out[4], want[4];
        ck_assert_int_eq(txm_sample(txm_texture_set_view(full), id, &how, &at, &nobody, want), TXM_LOOKUP_HIT);
        txm_lookup_result result = txm_sample(txm_texture_set_view(lazy), id, &how, &at, &lookup_state, out);
        ck_assert_int_eq(result, lookup_state.count ? TXM_LOOKUP_MISS : TXM_LOOKUP_HIT);
        if (result == TXM_LOOKUP_MISS) {
            uint32_t asked = lookup_state.count;
            /* Another lookup misses the same tile, which is already on a list. */
            other.capacity = 64, other.requests = requests + 32;
            ck_assert_int_eq(txm_sample(txm_texture_set_view(lazy), id, &how, &at, &other, out), TXM_LOOKUP_MISS);
            ck_assert_uint_eq(other.count, 0);
            ck_assert_uint_le(asked, 2);
            ck_assert_int_eq(txm_texture_set_load(lazy, &lookup_state, NULL), TXM_OK);
            ck_assert_int_eq(txm_sample(txm_texture_set_view(lazy), id, &how, &at, &lookup_state, out), TXM_LOOKUP_HIT);
        }
        ck_assert_mem_eq(out, want, sizeof out);
    }
}

TEST(stand_ins_marks_and_failures)
{
    SCOPED(free_image) made_image m = make_image(300, 200, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
    uint32_t id = add(set, write_made(temp_file("made.tx"), &m), TXM_EXTENSION_EXTEND, 0), request;
    const txm_view *view = txm_texture_set_view(set);
    const txm_view_texture *t = view->textures + id;
    txm_sampler how;
    txm_lookup at = {0.1f, 0.1f, 0, 0, 0, 0};
    txm_lookup_state lookup_state = {.capacity = 1, .requests = &request}, nobody = {0};
    float out[4], coarse[4];
    txm_sampler_init(&how);
    how.mode = TXM_LEVEL_MODE_FLOOR;
    how.rule = TXM_LEVEL_RULE_ELLIPSE;
    /* With no tile in memory, the average is returned, whatever on_miss says. If the list is full, the tile is not
     * requested. */
    for (how.on_miss = TXM_ON_MISS_AVERAGE; how.on_miss <= TXM_ON_MISS_ONE; how.on_miss++) {
        ck_assert_int_eq(txm_sample(view, id, &how, &at, &nobody, out), TXM_LOOKUP_MISS);
        for (int c = 0; c < 4; c++)
            ck_assert(fabsf(out[c] - t->average[c]) < 1e-6f);
    }
    /* First only the coarsest level is in memory, then one between as well: COARSER takes the nearer one. */
    ck_assert_uint_eq(t->levels, 9);
    for (uint32_t level = 8; level; level = level == 8 ? 3 : 0) {
        txm_lookup far = at;
        far.dudx = far.dvdy = ldexpf(1.01f / 200, (int)level);
        lookup_state.count = 0;
        ck_assert_int_eq(txm_sample(view, id, &how, &far, &lookup_state, coarse), TXM_LOOKUP_MISS);
        ck_assert_int_eq(txm_texture_set_load(set, &lookup_state, NULL), TXM_OK);
        ck_assert_int_eq(txm_sample(view, id, &how, &far, &lookup_state, coarse), TXM_LOOKUP_HIT);
        how.on_miss = TXM_ON_MISS_COARSER;
        ck_assert_int_eq(txm_sample(view, id, &how, &at, &nobody, out), TXM_LOOKUP_MISS);
        ck_assert_mem_eq(out, coarse, sizeof out);
        how.on_miss = TXM_ON_MISS_ONE;
        ck_assert_int_eq(txm_sample(view, id, &how, &at, &nobody, out), TXM_LOOKUP_MISS);
        ck_assert(level == 3 || memcmp(out, coarse, sizeof out) == 0);
    }
    /* Only tiles that a lookup touches are marked with the epoch. */
    txm_view marked = *view;
    marked.epoch = 42;
    txm_lookup top = {0.5f, 0.5f, 8, 0, 0, 8};
    ck_assert_int_eq(txm_sample(&marked, id, &how, &top, &nobody, out), TXM_LOOKUP_HIT);
    uint32_t last = t->first + t->level_first[t->levels - 1];
    for (uint32_t i = 0; i <= last; i++)
        ck_assert_uint_eq(view->tiles[i].mark, i == last ? 42 : 0);
    /* Failed tiles stay failed and are magenta. */
    view->tiles[last].slot = TXM_SLOT_FAILED;
    ck_assert_int_eq(txm_sample(view, id, &how, &top, &lookup_state, out), TXM_LOOKUP_FAILURE);
    ck_assert(out[0] == 1 && out[1] == 0 && out[2] == 1 && out[3] == 1);
    ck_assert_int_eq(txm_sample(view, id + 1, &how, &top, &lookup_state, out), TXM_LOOKUP_FAILURE);
}

TEST(damaged_tiles_fail_alone)
{
    SCOPED(free_image) made_image m = make_image(200, 200, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    const char *path = write_made(temp_file("made.tx"), &m);
    size_t bytes;
    uint8_t *file = load_file(path, &bytes);
    /* This lookup is in level 0, whose tiles come first. */
    memset(file + 20000, 0xFF, 3000);
    save_file(path, file, bytes);
    free(file);
    SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
    uint32_t id = add(set, path, TXM_EXTENSION_CLIP, 0), failed = 0, good = 0;
    txm_error err = {0};
    ck_assert_int_eq(txm_texture_set_load_all(set, id, &err), TXM_STATUS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "made.tx"));
    const txm_view *view = txm_texture_set_view(set);
    txm_sampler how;
    txm_sampler_init(&how);
    for (int i = 0; i < 16; i++) {
        txm_lookup at = {(float)(i % 4) * 0.25f + 0.1f, (float)(i / 4) * 0.25f + 0.1f, 0, 0, 0, 0};
        txm_lookup_state lookup_state = {0};
        float out[4];
        txm_lookup_result result = txm_sample(view, id, &how, &at, &lookup_state, out);
        failed += result == TXM_LOOKUP_FAILURE;
        good += result == TXM_LOOKUP_HIT;
    }
    ck_assert(failed > 0 && good > 0 && failed + good == 16);
}

/* ---- UDIM ---- */

TEST(udim_sets_have_holes)
{
    static const uint32_t numbers[] = {1001, 1003, 1012};
    SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
    uint32_t ids[3], udim, bad;
    for (uint32_t i = 0; i < 3; i++) {
        SCOPED(free_image) made_image m = make_image(70 + i, 60, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
        ids[i] = add(set, write_made(temp_file("made.tx"), &m), TXM_EXTENSION_MIRROR, 1);
    }
    ck_assert_int_eq(txm_texture_set_add_udim(set, numbers, ids, 3, &udim, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_add_udim(set, (uint32_t[]){1000}, ids, 1, &bad, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_texture_set_add_udim(set, numbers, (uint32_t[]){77}, 1, &bad, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_texture_set_add_udim(set, numbers, &udim, 1, &bad, NULL), TXM_STATUS_USAGE);
    const txm_view *view = txm_texture_set_view(set);
    txm_sampler how;
    txm_sampler_init(&how);
    for (int y = -1; y < 4; y++)
        for (int x = -1; x < 12; x++) {
            uint32_t number = 1001 + 10 * (uint32_t)y + (uint32_t)x, own = TXM_NO_TEXTURE;
            for (int i = 0; x >= 0 && x < 10 && y >= 0 && i < 3; i++)
                own = numbers[i] == number ? ids[i] : own;
            txm_lookup at = {(float)x + 0.25f, (float)y + 0.75f, 0, 0, 0, 0}, inside = {0.25f, 0.75f, 0, 0, 0, 0};
            if (x == -1 || y == -1) { /* -1 < u < 0 is column 0, so take a place that is clearly outside */
                at.u = x == -1 ? -1.25f : at.u;
                at.v = y == -1 ? -1.25f : at.v;
            }
            txm_lookup_state lookup_state = {0};
            float out[4], want[4] = {1, 0, 1, 1};
            txm_lookup_result result = txm_sample(view, udim, &how, &at, &lookup_state, out);
            ck_assert_int_eq(result, own == TXM_NO_TEXTURE ? TXM_LOOKUP_FAILURE : TXM_LOOKUP_HIT);
            if (own != TXM_NO_TEXTURE)
                txm_sample(view, own, &how, &inside, &lookup_state, want);
            ck_assert_mem_eq(out, want, sizeof out);
        }
}

TEST(tile_keys)
{
    txm_tile_name names[] = {{0, 0, 0, 0}, {8388607, 32767, 16, 1048575}, {5, 6, 7, 8}};
    for (int i = 0; i < 3; i++) {
        txm_tile_name n = txm_tile_key_unpack(txm_tile_key_pack(names[i]));
        ck_assert_mem_eq(&n, &names[i], sizeof n);
    }
    ck_assert(txm_tile_key_pack((txm_tile_name){8388608, 0, 0, 0}) == 0);
    ck_assert(txm_tile_key_pack((txm_tile_name){0, 0, 0, 1048576}) == 0);
}

TEST(samplers_are_checked)
{
    txm_sampler how;
    txm_error err = {0};
    txm_sampler_init(&how);
    ck_assert_int_eq(txm_sampler_check(&how, &err), TXM_OK);
    uint8_t *members[] = {&how.rule, &how.mode, &how.filter, &how.on_miss, &how.anisotropy, &how.after};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        uint8_t kept = *members[i];
        *members[i] = 99;
        ck_assert_int_eq(txm_sampler_check(&how, NULL), TXM_STATUS_USAGE);
        *members[i] = kept;
    }
    how.mip_bias = NAN;
    ck_assert_int_eq(txm_sampler_check(&how, NULL), TXM_STATUS_USAGE);
    ck_assert_str_eq(txm_filter_name(TXM_FILTER_STOCHASTIC_MITCHELL), "mitchell");
    ck_assert_ptr_null(txm_filter_name((txm_filter)10));
    ck_assert_str_eq(txm_filter_about(TXM_FILTER_CUBIC), "16 pixels, a B-spline");
    ck_assert_ptr_null(txm_filter_about((txm_filter)10));
    for (unsigned i = 0; i <= 10; i++)
        ck_assert_int_eq(txm_filter_is_stochastic((txm_filter)i), i >= TXM_FILTER_STOCHASTIC_BOX && i < 10);
    ck_assert_str_eq(txm_level_rule_name(TXM_LEVEL_RULE_PROBES), "probes");
    ck_assert_str_eq(txm_level_mode_name(TXM_LEVEL_MODE_TRILINEAR), "trilinear");
}

/* ---- random numbers ---- */

TEST(logarithm)
{
    double worst = 0;
    for (uint32_t bits = 0x00800000; bits < 0x7F800000; bits += 977) {
        float x = txm_bits_float(bits);
        double exact = log2((double)x), error = fabs((double)txm_log2(x) - exact);
        worst = fmax(worst, error - fabs(exact) * 6e-8);
    }
    ck_assert_msg(worst < 1.2e-7, "%g", worst);
    for (int k = -126; k < 128; k++)
        ck_assert(txm_log2(ldexpf(1, k)) == (float)k);
    ck_assert(txm_log2(0) == -126 && txm_log2(NAN) == -126 && txm_log2(INFINITY) == 128);
}

/* The caller gives the random numbers. A small number selects the finer level and a large one the coarser, in the
 * proportions of Cycles' rule; without numbers the nearer level is taken. */
TEST(chance_of_the_caller)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.rule = TXM_LEVEL_RULE_GIVEN;
    how.chance = TXM_CHANCE_NUMBER;
    txm_lookup at = {0, 0, 2.5f, 0, 0, 0};
    for (int full = 0; full < 2; full++) {
        how.mode = full ? TXM_LEVEL_MODE_STOCHASTIC_FULL : TXM_LEVEL_MODE_STOCHASTIC;
        int coarser = 0;
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t number = i << 24, kept = number;
            coarser += (int)txm_level_of(1024, 1024, &how, &at, &number) == 3;
            ck_assert_uint_eq(number, kept);
        }
        ck_assert_int_eq(coarser, 128);
    }
    how.chance = TXM_CHANCE_NONE;
    uint32_t unread = 77;
    for (at.dudx = 0.0f; at.dudx < 5.0f; at.dudx += 0.125f) {
        ck_assert_int_eq((int)txm_level_of(1024, 1024, &how, &at, &unread), (int)(at.dudx + 0.5f));
        ck_assert_uint_eq(unread, 77);
    }
}

/* The cache and batches do this if they get NULL; single lookups in views use their state's random number. */
TEST(null_is_the_nearer_level)
{
    SCOPED(free_image) made_image m = make_image(64, 64, 4, TXM_TYPE_U8, 16, (txm_compression){0}, MADE_NOISE);
    txm_texture_set *set = new_set();
    const uint32_t id = add(set, write_made(temp_file("made.tx"), &m), TXM_EXTENSION_REPEAT, 1);
    const txm_view *view = txm_texture_set_view(set);
    txm_sampler how, floor;
    txm_sampler_init(&how);
    how.rule = TXM_LEVEL_RULE_GIVEN;
    floor = how;
    floor.mode = TXM_LEVEL_MODE_FLOOR;
    for (float level = 0.0f; level < 5.0f; level += 0.125f) {
        const float u = 0.3f, v = 0.7f, zero = 0.0f, nearer = floorf(level + 0.5f);
        float got[4], want[4];
        txm_lookup_state lookup_state = {0};
        const txm_lookups batch = {.count = 1,
                                   .u = &u,
                                   .v = &v,
                                   .dudx = &level,
                                   .dvdx = &zero,
                                   .dudy = &zero,
                                   .dvdy = &zero,
                                   .out = {got, got + 1, got + 2, got + 3}};
        ck_assert_int_eq(txm_sample_n(view, id, &how, &batch, &lookup_state), TXM_LOOKUP_HIT);
        ck_assert_int_eq(txm_sample(view, id, &floor, &(txm_lookup){u, v, nearer, 0, 0, 0}, &lookup_state, want),
                         TXM_LOOKUP_HIT);
        ck_assert_mem_eq(got, want, sizeof got);
    }
    txm_texture_set_free(&set);

    /* Nothing is loaded, so the lookup is magenta and requests its tiles. */
    set = new_set();
    add(set, write_made(temp_file("made.tx"), &m), TXM_EXTENSION_REPEAT, 0);
    float got[4];
    uint32_t requests[4];
    txm_lookup_state lookup_state = {.capacity = 4, .requests = requests};
    how.on_miss = TXM_ON_MISS_FAIL;
    ck_assert_int_eq(
        txm_sample(txm_texture_set_view(set), 0, &how, &(txm_lookup){0.5f, 0.5f, 0, 0, 0, 0}, &lookup_state, got),
        TXM_LOOKUP_MISS);
    ck_assert(got[0] == 1.0f && got[1] == 0.0f && got[2] == 1.0f && got[3] == 1.0f && lookup_state.count == 1);
    txm_error err;
    how.filter = TXM_FILTER_STOCHASTIC_EWA;
    ck_assert_int_eq(txm_sampler_check(&how, &err), TXM_STATUS_USAGE);
    how.filter = TXM_FILTER_LINEAR;
    ck_assert_int_eq(txm_sampler_check(&how, &err), TXM_OK);
    how.chance = 3;
    ck_assert_int_eq(txm_sampler_check(&how, &err), TXM_STATUS_USAGE);
    txm_texture_set_free(&set);
}

/* An ellipse's level does not change when the texture is rotated; Cycles' does. */
TEST(ellipses_turn)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.anisotropy = 8;
    uint32_t none = 0;
    for (int i = 0; i < 360; i++) {
        float s = sinf((float)i), c = cosf((float)i), a = 4.0f / 1024, b = 1.0f / 1024;
        txm_lookup at = {0, 0, a * c, a * s, -b * s, b * c};
        how.rule = TXM_LEVEL_RULE_ELLIPSE;
        ck_assert(fabsf(txm_level_of(1024, 1024, &how, &at, &none)) < 1e-5f);
        how.rule = TXM_LEVEL_RULE_PROBES;
        txm_footprint f = txm_footprint_of(&how, 1024, 1024, at.dudx, at.dvdx, at.dudy, at.dvdy);
        ck_assert_uint_eq(f.probes, 7);
        float length = hypotf(f.step_u, f.step_v) * 1024, along = fabsf(f.step_u * c + f.step_v * s) * 1024;
        ck_assert(fabsf(length - 1) < 1e-4f && fabsf(along - 1) < 1e-4f);
    }
}

/* Compares the weighted mean and variance of the jitter along each axis with the filter's, and checks the tables of
 * lobes. */
static double lanczos(double x)
{
    double a = M_PI * x;
    return x < 1e-9 ? 1 : x < 2 ? sin(a) / a * sin(a / 2) / (a / 2) : 0;
}

static double mitchell(double x)
{
    return x < 1   ? (7 * x * x * x - 12 * x * x + 16.0 / 3) / 6
           : x < 2 ? (-7.0 / 3 * x * x * x + 12 * x * x - 20 * x + 32.0 / 3) / 6
                   : 0;
}

static double integral(double (*f)(double), double a, double b)
{
    double sum = 0;
    for (int i = 0; i < 2000; i++)
        sum += f(a + (b - a) * (i + 0.5) / 2000);
    return sum * (b - a) / 2000;
}

TEST(lobes)
{
    static const struct {
        double (*f)(double);
        const float *plus, *minus;
        double mass_plus, mass_minus;
    } filters[] = {{lanczos, txm_lanczos_plus, txm_lanczos_minus, TXM_LANCZOS_PLUS, TXM_LANCZOS_MINUS},
                   {mitchell, txm_mitchell_plus, txm_mitchell_minus, TXM_MITCHELL_PLUS, TXM_MITCHELL_MINUS}};
    for (int i = 0; i < 2; i++) {
        double zero = filters[i].plus[TXM_LOBE_STEPS], plus = integral(filters[i].f, 0, zero),
               minus = -integral(filters[i].f, zero, 2);
        ck_assert(fabs(filters[i].f(zero)) < 1e-6);
        ck_assert(fabs(plus / (plus - minus) - filters[i].mass_plus) < 1e-5);
        ck_assert(fabs(minus / (plus - minus) - filters[i].mass_minus) < 1e-5);
        for (int k = 1; k < TXM_LOBE_STEPS; k++) {
            ck_assert(fabs(integral(filters[i].f, 0, filters[i].plus[k]) / plus - k / 64.0) < 2e-5);
            ck_assert(fabs(-integral(filters[i].f, zero, filters[i].minus[k]) / minus - k / 64.0) < 2e-5);
        }
    }
}

TEST(jitter_has_the_filters_moments)
{
    /* The variance of a box is 1/12 and of a tent 1/6; the others come from integration. */
    double moments[10] = {0};
    moments[TXM_FILTER_STOCHASTIC_BOX] = 1.0 / 12;
    moments[TXM_FILTER_STOCHASTIC_TENT] = moments[TXM_FILTER_STOCHASTIC_GAUSSIAN] = moments[TXM_FILTER_STOCHASTIC_EWA] =
        1.0 / 6;
    for (int f = TXM_FILTER_STOCHASTIC_LANCZOS; f <= TXM_FILTER_STOCHASTIC_MITCHELL; f++) {
        double second = 0, mass = 0;
        for (int i = 0; i < 4000; i++) {
            double x = (i + 0.5) / 2000, w = f == TXM_FILTER_STOCHASTIC_LANCZOS ? lanczos(x) : mitchell(x);
            second += w * x * x;
            mass += w;
        }
        moments[f] = second / mass;
    }
    for (int f = TXM_FILTER_STOCHASTIC_BOX; f <= TXM_FILTER_STOCHASTIC_MITCHELL; f++) {
        uint32_t state = 4711;
        double weight = 0, mean[2] = {0}, second[2] = {0}, cross = 0;
        enum { N = 400000 };
        for (int i = 0; i < N; i++) {
            txm_jitter j = txm_jitter_of(&(txm_sampler){.filter = (uint8_t)f}, &state);
            for (uint32_t k = 0; k < j.taps; k++) {
                double w = j.weight[k], x = j.x[k], y = j.y[k];
                weight += w / N;
                mean[0] += w * x / N, mean[1] += w * y / N;
                second[0] += w * x * x / N, second[1] += w * y * y / N;
                cross += w * x * y / N;
            }
        }
        ck_assert_msg(fabs(weight - 1) < 1e-6, "%d: weight %g", f, weight);
        ck_assert_msg(fabs(mean[0]) < 0.004 && fabs(mean[1]) < 0.004 && fabs(cross) < 0.004, "%d: %g %g %g", f, mean[0],
                      mean[1], cross);
        ck_assert_msg(fabs(second[0] - moments[f]) < 0.006 && fabs(second[1] - moments[f]) < 0.006, "%d: %g %g for %g",
                      f, second[0], second[1], moments[f]);
    }
}

/* The average of many random taps is the weighted filter's result. */
TEST(boxes_are_linear_on_average)
{
    SCOPED(free_image) made_image m = make_image(40, 30, 1, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
    uint32_t id = add(set, write_made(temp_file("made.tx"), &m), TXM_EXTENSION_REPEAT, 1);
    txm_sampler how, linear;
    txm_sampler_init(&how);
    linear = how;
    how.mode = TXM_LEVEL_MODE_FLOOR;
    how.filter = TXM_FILTER_STOCHASTIC_BOX;
    for (int i = 0; i < 10; i++) {
        txm_lookup at = {(float)i * 0.1317f, (float)i * 0.073f, 0, 0, 0, 0};
        txm_lookup_state lookup_state = {.random = 99}, none = {0};
        float out[4], want[4];
        double sum = 0;
        enum { N = 40000 };
        for (int k = 0; k < N; k++) {
            txm_sample(txm_texture_set_view(set), id, &how, &at, &lookup_state, out);
            sum += (double)out[0] / N;
        }
        txm_sample(txm_texture_set_view(set), id, &linear, &at, &none, want);
        ck_assert_msg(fabs(sum - (double)want[0]) < 0.01, "%g for %g", sum, (double)want[0]);
    }
}

/* Compares derivatives with differences of the lookup itself. */
TEST(derivatives_are_slopes)
{
    SCOPED(free_image) made_image m = make_image(60, 40, 4, TXM_TYPE_FLOAT, 64, (txm_compression){0}, MADE_SMOOTH);
    const char *path = write_made(temp_file("made.tx"), &m);
    uint64_t state = 5;
    for (int e = TXM_EXTENSION_REPEAT; e <= TXM_EXTENSION_MIRROR; e++) {
        SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
        uint32_t id = add(set, path, (txm_extension)e, 1);
        txm_sampler how;
        txm_sampler_init(&how);
        for (int i = 0; i < 300; i++) {
            how.filter = i % 2 ? TXM_FILTER_CUBIC : TXM_FILTER_LINEAR;
            how.mode = TXM_LEVEL_MODE_TRILINEAR;
            /* The place is in the middle of a pixel, so that linear has one slope there; sometimes the level is 0.5. */
            float u = ((float)(sample_random(&state) % 180) + 0.8f) / 60 - 1,
                  v = ((float)(sample_random(&state) % 120) + 0.8f) / 40 - 1;
            if (e == TXM_EXTENSION_CLIP)
                u -= floorf(u), v -= floorf(v);
            txm_lookup at = {u, v, 0, 0, 0, 0}, right = at, left = at, up = at, down = at;
            const float step = 1.0f / 4096;
            right.u += step;
            left.u -= step;
            up.v += step;
            down.v -= step;
            float out[4], du[4], dv[4], a[4], b[4], c0[4], d[4];
            txm_lookup_state lookup_state = {0};
            const txm_view *view = txm_texture_set_view(set);
            txm_sample_d(view, id, &how, &at, &lookup_state, out, du, dv);
            txm_sample(view, id, &how, &right, &lookup_state, a);
            txm_sample(view, id, &how, &left, &lookup_state, b);
            txm_sample(view, id, &how, &up, &lookup_state, c0);
            txm_sample(view, id, &how, &down, &lookup_state, d);
            for (int c = 0; c < 4; c++) {
                float x = (a[c] - b[c]) / (2 * step), y = (c0[c] - d[c]) / (2 * step), scale = 3 + fabsf(x) + fabsf(y);
                ck_assert_msg(fabsf(du[c] - x) < 0.02f * scale && fabsf(dv[c] - y) < 0.02f * scale,
                              "extension %d filter %u at %g %g: %g %g for %g %g", e, how.filter, (double)u, (double)v,
                              (double)du[c], (double)dv[c], (double)x, (double)y);
            }
        }
    }
}

/* The taps of an explanation add up to the colour. */
TEST(explanations_add_up)
{
    SCOPED(free_image) made_image m = make_image(200, 130, 4, TXM_TYPE_U16, 64, (txm_compression){0}, MADE_NOISE);
    const char *path = write_made(temp_file("made.tx"), &m);
    uint64_t state = 77;
    static txm_explanation e;
    for (int x = TXM_EXTENSION_REPEAT; x <= TXM_EXTENSION_MIRROR; x++) {
        SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
        uint32_t id = add(set, path, (txm_extension)x, 1);
        for (int i = 0; i < 3000; i++) {
            txm_sampler how = sample_random_sampler(&state);
            how.after = 0;
            txm_lookup at = sample_random_lookup(&state, 200, 130, 0);
            txm_lookup_state lookup_state = {.random = sample_random(&state)}, again = lookup_state;
            float out[4], plain[4];
            ck_assert_int_eq(txm_sample_explain(txm_texture_set_view(set), id, &how, &at, &lookup_state, out, &e),
                             TXM_LOOKUP_HIT);
            txm_sample(txm_texture_set_view(set), id, &how, &at, &again, plain);
            ck_assert_mem_eq(out, plain, sizeof out);
            ck_assert_uint_eq(lookup_state.random, again.random);
            for (int c = 0; c < 4; c++) {
                double sum = 0;
                for (uint32_t k = 0; k < e.tap_count; k++)
                    sum += (double)e.taps[k].weight * (double)e.taps[k].value[c];
                ck_assert_msg(fabs(sum - (double)out[c]) < 1e-5, "%s: %g for %g", describe(&how, &at), sum,
                              (double)out[c]);
            }
        }
    }
}

/* ---- lookups that are made of several ---- */

/* A part of an endless image: its pixels of level 0 begin at `x` and `y`, and the levels are images of their own. */
typedef struct piece {
    uint32_t x, y;
} piece;

static txm_status read_piece(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                             void *pixels, size_t row_stride_bytes, txm_error *err)
{
    const piece *p = user;
    (void)err;
    for (uint32_t j = 0; j < height; j++)
        for (uint32_t i = 0; i < width; i++) {
            float *rgba = (float *)(void *)((char *)pixels + j * row_stride_bytes) + 4 * (size_t)i;
            uint64_t state =
                1 + level + 32 * (uint64_t)(x + i + (p->x >> level)) + ((uint64_t)(y + j + (p->y >> level)) << 32);
            for (int c = 0; c < 4; c++)
                rgba[c] = (float)(sample_random(&state) % 1024) / 1024;
        }
    return TXM_OK;
}

static uint32_t add_piece(txm_texture_set *set, uint32_t width, uint32_t height, piece *p, txm_extension extension)
{
    const txm_called_texture called = {sizeof called,       width, height,    4, TXM_TYPE_FLOAT,
                                       TXM_ENCODING_LINEAR, p,     read_piece};
    uint32_t id;
    ck_assert_int_eq(txm_texture_set_add_called(set, &called, extension, &id, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_load_all(set, id, NULL), TXM_OK);
    return id;
}

/* Four tiles of a set give the colours of one image of their size: inside, at edges and at corners, for all rules and
 * modes. Where a tile is missing, the image ends. */
TEST(udim_edges_blend)
{
    enum { EDGE = 64, ALL = 2 * EDGE };
    static const uint32_t numbers[] = {1001, 1002, 1011, 1012};
    piece pieces[4] = {{0, EDGE}, {EDGE, EDGE}, {0, 0}, {EDGE, 0}}, all = {0, 0};
    SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
    uint32_t tiles[4], udim, hole, whole = add_piece(set, ALL, ALL, &all, TXM_EXTENSION_EXTEND);
    uint64_t state = 4;
    for (int i = 0; i < 4; i++) /* the extension makes no difference */
        tiles[i] = add_piece(set, EDGE, EDGE, &pieces[i], (txm_extension)(i % 3));
    const uint32_t top = add_piece(set, ALL, EDGE, &pieces[2], TXM_EXTENSION_EXTEND);
    ck_assert_int_eq(txm_texture_set_add_udim(set, numbers, tiles, 4, &udim, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_add_udim(set, numbers + 2, tiles + 2, 2, &hole, NULL), TXM_OK);
    const txm_view *view = txm_texture_set_view(set);
    int across = 0;
    for (int i = 0; i < 20000; i++) {
        txm_sampler how = sample_random_sampler(&state);
        how.filter = TXM_FILTER_LINEAR;
        how.rule = i % 8 ? how.rule : TXM_LEVEL_RULE_GIVEN;
        how.mip_bias = 0;
        const float at_edge = 1 + ((float)(sample_random(&state) % 1001) - 500) / 15000;
        float u = (float)(sample_random(&state) % 1999 + 1) / 1000,
              v = (float)(sample_random(&state) % 1999 + 1) / 1000;
        u = i % 3 ? at_edge : u;
        v = i % 3 != 1 ? at_edge : v;
        const float turn = (float)(i % 100), step = exp2f((float)(sample_random(&state) % 300) / 100) / EDGE;
        txm_lookup at = {u, v, step * cosf(turn), step * sinf(turn), -step * sinf(turn) / 3, step * cosf(turn) / 3};
        txm_lookup one = {u / 2, v / 2, at.dudx / 2, at.dvdx / 2, at.dudy / 2, at.dvdy / 2};
        if (how.rule == TXM_LEVEL_RULE_GIVEN)
            one.dudx = at.dudx = (float)(sample_random(&state) % 400) / 100;
        if (how.rule == TXM_LEVEL_RULE_CYCLES && step * EDGE > 1) /* the tiles end at a level earlier */
            continue;
        txm_lookup_state a = {.random = 77}, b = a, c = a;
        float out[4], want[4], plain[4];
        ck_assert_int_eq(txm_sample_udim_blend(view, udim, &how, &at, &a, out), TXM_LOOKUP_HIT);
        ck_assert_int_eq(txm_sample(view, whole, &how, &one, &b, want), TXM_LOOKUP_HIT);
        txm_sample(view, udim, &how, &at, &c, plain);
        ck_assert_uint_eq(a.random, b.random);
        for (int k = 0; k < 4; k++)
            ck_assert_msg(fabsf(out[k] - want[k]) < 4e-4f * (1 + fabsf(want[k])), "%s: %g for %g", describe(&how, &at),
                          (double)out[k], (double)want[k]);
        across += fabsf(out[0] - plain[0]) > 0.01f;
        if (v > 1.0f) { /* the lower row is missing in the other set, and the image of the upper row alone ends there */
            txm_lookup half = one;
            half.v = v - 1, half.dvdx = at.dvdx, half.dvdy = at.dvdy;
            if (how.rule == TXM_LEVEL_RULE_ELLIPSE || how.rule == TXM_LEVEL_RULE_PROBES)
                continue;
            a.random = b.random = 77;
            ck_assert_int_eq(txm_sample_udim_blend(view, hole, &how, &at, &a, out), TXM_LOOKUP_HIT);
            txm_sample(view, top, &how, &half, &b, want);
            for (int k = 0; k < 4; k++)
                ck_assert_msg(fabsf(out[k] - want[k]) < 4e-4f * (1 + fabsf(want[k])), "hole, %s: %g for %g",
                              describe(&how, &at), (double)out[k], (double)want[k]);
        }
    }
    ck_assert_int_gt(across, 500);
}

/* The level near a pole is that of the equator, and the colour at the pole does not depend on u. */
TEST(poles_of_environments)
{
    enum { WIDTH = 64, HEIGHT = 32 };
    piece all = {0, 0};
    SCOPED(txm_texture_set_free) txm_texture_set *set = new_set();
    const uint32_t id =
        add_piece(set, WIDTH, HEIGHT, &all, TXM_EXTENSION_UV(TXM_EXTENSION_REPEAT, TXM_EXTENSION_EXTEND));
    const txm_view *view = txm_texture_set_view(set);
    txm_sampler how;
    txm_sampler_init(&how);
    how.mode = TXM_LEVEL_MODE_FLOOR;
    how.rule = TXM_LEVEL_RULE_ELLIPSE;
    for (int pole = 0; pole < 2; pole++)
        for (uint32_t level = 0; level < 4; level++) {
            const uint32_t w = WIDTH >> level, h = HEIGHT >> level;
            float *row = malloc(w * 4 * sizeof *row), out[4];
            double mean = 0;
            ck_assert_int_eq(read_piece(&all, level, 0, pole ? h - 1 : 0, w, 1, row, w * 16, NULL), TXM_OK);
            for (uint32_t i = 0; i < 16; i++) /* pairs or more of pixels of the wider levels, between their centres */
                mean += (double)(row[4 * (w * i / 16 + w / 16 / 2)] +
                                 row[4 * ((w * i / 16 + (w / 16 ? w / 16 - 1 : 0) / 2) % w)]) /
                        32;
            free(row);
            if (w < 16)
                continue;
            const float dD = 6.28318531f * 1.02f / (float)w;
            for (int i = 0; i < 32; i++) {
                const float turn = (float)i / 5, polar = (float)(i % 8) * 0.001f;
                const txm_vec3 d = txm_vec_make(cosf(turn) * sinf(polar), sinf(turn) * sinf(polar),
                                                (pole ? -1.0f : 1.0f) * cosf(polar));
                const txm_vec3 side = txm_vec_tangent(d), other = txm_vec_cross(d, side);
                const txm_uv uv = txm_latlong_uv(txm_vec_scale(d, 3.0f));
                const txm_uv_differential slope = txm_latlong_differential(
                    txm_vec_scale(d, 3.0f), txm_vec_scale(side, 3 * dD), txm_vec_scale(other, 3 * dD), how.anisotropy);
                const txm_lookup at = {uv.u, uv.v, slope.dudx, slope.dvdx, slope.dudy, slope.dvdy};
                txm_lookup_state none = {0};
                const float chosen = txm_level_of(WIDTH, HEIGHT, &how, &at, NULL);
                ck_assert_msg(fabsf(chosen - (float)level) < 0.2f, "level %u: %g", level, (double)chosen);
                ck_assert_int_eq(txm_sample_latlong(view, id, &how, &at, &none, out), TXM_LOOKUP_HIT);
                ck_assert_msg(fabs((double)out[0] - mean) < (i % 8 ? 0.15 : 1e-5), "level %u at %g: %g for %g", level,
                              (double)polar, (double)out[0], mean);
            }
        }
    /* Elsewhere it is the plain lookup; the place and its derivatives are those of the definition. */
    for (int i = 0; i < 200; i++) {
        const double turn = i * 0.7, up = (i % 19 - 9) * 0.15, e = 1e-4;
        const txm_vec3 d = txm_vec_make((float)(cos(turn) * cos(up)), (float)(sin(turn) * cos(up)), (float)sin(up));
        const txm_vec3 dx = txm_vec_make((float)(-sin(turn) * e), (float)(cos(turn) * e), 0);
        const txm_vec3 dy =
            txm_vec_make((float)(-cos(turn) * sin(up) * e), (float)(-sin(turn) * sin(up) * e), (float)(cos(up) * e));
        const txm_uv uv = txm_latlong_uv(d);
        const txm_uv_differential s = txm_latlong_differential(d, dx, dy, 16);
        const double u = turn / 6.283185307179586 + 0.5;
        ck_assert(fabs(remainder((double)uv.u - u, 1)) < 1e-6 &&
                  fabs((double)uv.v - (0.5 + up / 3.141592653589793)) < 1e-6);
        ck_assert(fabs((double)s.dudx / e * 6.283185307179586 * cos(up) - 1) < 1e-3 && fabs((double)s.dudy) < 1e-9);
        ck_assert(fabs((double)s.dvdy / e * 3.141592653589793 - 1) < 1e-3 && fabs((double)s.dvdx) < 1e-9);
        const txm_lookup at = {uv.u, uv.v, s.dudx, s.dvdx, s.dudy, s.dvdy};
        txm_lookup_state none = {0};
        float out[4], want[4];
        txm_sample_latlong(view, id, &how, &at, &none, out);
        txm_sample(view, id, &how, &at, &none, want);
        ck_assert_mem_eq(out, want, sizeof out);
    }
    const txm_uv_differential zero =
        txm_latlong_differential(txm_vec_make(0, 0, 0), txm_vec_make(1, 0, 0), txm_vec_make(0, 1, 0), 16);
    ck_assert(zero.dudx == 0 && zero.dudy == 0 && zero.dvdx == 0 && zero.dvdy == 0);
}
