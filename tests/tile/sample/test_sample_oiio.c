/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups beside OpenImageIO's TextureSystem: closest and bilinear on one level are the same. Trilinear and anisotropic
 * over a zone plate, which every renderer filters differently, differ no more than OpenImageIO's own settings do.
 */
#include <fcntl.h>
#include <math.h>

#include "bench/oiio_lookup.h"
#include "txtile/sampler.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

static txm_texture_set *load(const char *path, uint32_t *id)
{
    txm_texture_set *set = NULL;
    txm_error err = {0};
    ck_assert_int_eq(txm_texture_set_new(&set, &err), TXM_OK);
    ck_assert_msg(txm_texture_set_add(set, path, TXM_EXTENSION_REPEAT, id, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(txm_texture_set_load_all(set, *id, &err) == TXM_OK, "%s", err.message);
    return set;
}

/* Coordinates are multiples of 2^-14, so that 1 - v is exact and both libraries see the same place. */
TESTS(one_level_is_the_same, 4)
{
    enum { N = 20000 };
    static float in[6][N], out[4 * N];
    static const txm_type types[] = {TXM_TYPE_U8, TXM_TYPE_U16, TXM_TYPE_HALF, TXM_TYPE_FLOAT};
    SCOPED(free_image) made_image m = make_image(320, 200, 4, types[_i], 64, (txm_compression){0}, MADE_NOISE);
    const char *path = temp_file("same.tx");
    if (txm_type_is_float(types[_i])) /* values are from 0 to 1, so that an absolute error is meaningful */
        for (uint32_t l = 0; l < m.layout.levels; l++) {
            size_t n = (size_t)txm_level_size(320, l) * txm_level_size(200, l) * 4;
            for (size_t i = 0; i < n; i++) {
                uint16_t half = (uint16_t)(0x3000 + i * 2654435761u % 0x0C00);
                float single = (float)(i * 2654435761u % 65536) / 65536;
                if (types[_i] == TXM_TYPE_HALF)
                    memcpy(m.levels[l] + 2 * i, &half, 2);
                else
                    memcpy(m.levels[l] + 4 * i, &single, 4);
            }
        }
    write_made(path, &m);
    uint32_t id;
    SCOPED(txm_texture_set_free) txm_texture_set *set = load(path, &id);
    oiio_textures *oiio = oiio_textures_open(path, 64);
    ck_assert_ptr_nonnull(oiio);
    uint64_t state = 7;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++)
            in[c][i] = (float)(sample_random(&state) % 32768) / 16384.0f;
    const float *const arrays[6] = {in[0], in[1], in[2], in[3], in[4], in[5]};
    for (int linear = 0; linear < 2; linear++) {
        txm_sampler how;
        txm_lookup_state lookup_state = {0};
        txm_sampler_init(&how);
        how.filter = linear ? TXM_FILTER_LINEAR : TXM_FILTER_CLOSEST;
        ck_assert(
            oiio_textures_sample(oiio, OIIO_ONE_LEVEL, linear ? OIIO_BILINEAR : OIIO_CLOSEST, 16, N, arrays, out));
        for (int i = 0; i < N; i++) {
            txm_lookup at = {in[0][i], in[1][i], 0, 0, 0, 0};
            float ours[4], x = at.u * 320, y = (1.0f - at.v) * 200;
            if (!linear && (x == floorf(x) || y == floorf(y)))
                continue; /* on the edge between two pixels, either is the closest */
            txm_sample(txm_texture_set_view(set), id, &how, &at, &lookup_state, ours);
            for (int c = 0; c < 4; c++)
                if (!(fabsf(ours[c] - out[4 * i + c]) <= 1e-6f)) /* one assertion for each would cost a system call */
                    ck_abort_msg("%s, linear %d, at %g %g: %.9g for %.9g", txm_type_name(types[_i]), linear,
                                 (double)at.u, (double)at.v, (double)ours[c], (double)out[4 * i + c]);
        }
    }
    oiio_textures_close(oiio);
}

/* ---- the zone plate ---- */

enum { SIZE = 1024, GRID = 192, PLACES = GRID * GRID };

static const char *make_zone_plate(void)
{
    const char *ppm = temp_file("zone.ppm"), *tx = temp_file("zone.tx");
    char command[2500];
    FILE *f = fopen(ppm, "wb");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "P6 %d %d 255\n", SIZE, SIZE);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            double dx = x - SIZE / 2, dy = y - SIZE / 2;
            int v = (int)(127.5 + 127.5 * cos(M_PI * (dx * dx + dy * dy) / (2 * SIZE)));
            fprintf(f, "%c%c%c", v, v, v);
        }
    fclose(f);
    snprintf(command, sizeof command, "\"$TXMILL\" make -q --force --colorspace Non-Color --mono no '%s' -o '%s'", ppm,
             tx);
    ck_assert_int_eq(system(command), 0);
    return tx;
}

static double difference(const float *a, const float *b)
{
    double sum = 0;
    for (int i = 0; i < PLACES; i++)
        sum += pow((double)a[4 * i] - (double)b[4 * i], 2);
    return sqrt(sum / PLACES);
}

static float in[6][PLACES], ours[4 * PLACES], theirs[6][4 * PLACES];

/* A patch whose pixels cover `length` by `width` texels, rotated by `turn`. */
static void place(float length, float width, float turn)
{
    const float d[4] = {length * cosf(turn) / SIZE, length * sinf(turn) / SIZE, -width * sinf(turn) / SIZE,
                        width * cosf(turn) / SIZE};
    for (int i = 0; i < PLACES; i++) {
        float x = (float)(i % GRID) - GRID / 2, y = (float)(i / GRID) - GRID / 2;
        in[0][i] = 0.37f + x * d[0] + y * d[2];
        in[1][i] = 0.41f + x * d[1] + y * d[3];
        for (int k = 0; k < 4; k++)
            in[2 + k][i] = d[k];
    }
}

static void sample_all(const txm_texture_set *set, uint32_t id, const txm_sampler *how)
{
    txm_lookup_state lookup_state = {0};
    int resident = 0;
    for (int i = 0; i < PLACES; i++) {
        txm_lookup at = {in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i]};
        resident += txm_sample(txm_texture_set_view(set), id, how, &at, &lookup_state, ours + 4 * i) == TXM_LOOKUP_HIT;
    }
    ck_assert_int_eq(resident, PLACES);
}

TEST(zone_plates_are_alike)
{
    static const struct {
        int mode, interpolation, anisotropy;
    } settings[] = {{OIIO_TRILINEAR, OIIO_BILINEAR, 16},   {OIIO_TRILINEAR, OIIO_BICUBIC, 16},
                    {OIIO_ANISOTROPIC, OIIO_BILINEAR, 16}, {OIIO_ANISOTROPIC, OIIO_BICUBIC, 16},
                    {OIIO_ANISOTROPIC, OIIO_SMART, 16},    {OIIO_ANISOTROPIC, OIIO_BILINEAR, 4}};
    static const float patches[][3] = {{1.4f, 1.4f, 0.0f}, {2.7f, 2.7f, 0.5f}, {6, 1.5f, 0.3f}, {12, 2, 0.8f}};
    enum { SETTINGS = sizeof settings / sizeof *settings };
    const char *path = make_zone_plate();
    uint32_t id;
    SCOPED(txm_texture_set_free) txm_texture_set *set = load(path, &id);
    oiio_textures *oiio = oiio_textures_open(path, 64);
    ck_assert_ptr_nonnull(oiio);
    const float *const arrays[6] = {in[0], in[1], in[2], in[3], in[4], in[5]};
    for (size_t p = 0; p < sizeof patches / sizeof *patches; p++) {
        double most = 0;
        txm_sampler how;
        place(patches[p][0], patches[p][1], patches[p][2]);
        for (int s = 0; s < SETTINGS; s++)
            ck_assert(oiio_textures_sample(oiio, settings[s].mode, settings[s].interpolation, settings[s].anisotropy,
                                           PLACES, arrays, theirs[s]));
        for (int a = 0; a < SETTINGS; a++)
            for (int b = 0; b < a; b++)
                most = fmax(most, difference(theirs[a], theirs[b]));
        txm_sampler_init(&how);
        how.mode = TXM_LEVEL_MODE_TRILINEAR;
        how.rule = TXM_LEVEL_RULE_ELLIPSE;
        how.anisotropy = 1;
        sample_all(set, id, &how);
        double blurred = difference(ours, theirs[0]);
        how.rule = TXM_LEVEL_RULE_PROBES;
        how.anisotropy = 16;
        sample_all(set, id, &how);
        double probed = difference(ours, theirs[2]);
        printf(
            "note zone plate, %g x %g texels: trilinear %.4f, probes %.4f; OpenImageIO's settings up to %.4f apart\n",
            (double)patches[p][0], (double)patches[p][1], blurred, probed, most);
        ck_assert_msg(blurred < most && probed < most, "trilinear %g, probes %g, OpenImageIO %g", blurred, probed,
                      most);
    }
    oiio_textures_close(oiio);
}

int main(void)
{
    return run_tests_in_one_process();
}
