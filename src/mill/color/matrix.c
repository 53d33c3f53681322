/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the matrix from CIE XYZ (D65) to scene_linear, which is part of the names of tx files, its text, and the
 * interop id of the working space, which is found by name or else by its primaries. Names must equal those of Cycles,
 * so this is float arithmetic in a fixed order: a rounding difference in the fourth digit would give another file.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "mill/color/config.h"

/* ACES AP0 to CIE XYZ (D65), Bradford-adapted, with the six decimals in Cycles. */
static const txm_matrix3 aces_to_xyz = {
    {0.938280f, -0.004451f, 0.016628f}, {0.337369f, 0.729522f, -0.066890f}, {0.001174f, -0.003711f, 1.091595f}};

/* Interop ids of linear spaces that a scene may use as its working space, with their matrices from XYZ. */
static const struct {
    const char *id;
    txm_matrix3 from_xyz;
} working_spaces[] = {
    {"lin_rec709_scene", TXM_REC709_5_3},
    {"lin_rec2020_scene",
     {{1.7166512f, -0.3556708f, -0.2533663f},
      {-0.6666844f, 1.6164812f, 0.0157685f},
      {0.0176399f, -0.0427706f, 0.9421031f}}},
    {"lin_ap1_scene",
     {{1.6605853f, -0.3152955f, -0.2415093f},
      {-0.6599261f, 1.6083915f, 0.0172986f},
      {0.0090026f, -0.0035669f, 0.9136433f}}},
};

static float cofactor(const txm_matrix3 m, int row, int column)
{
    int r0 = (row + 1) % 3, r1 = (row + 2) % 3, c0 = (column + 1) % 3, c1 = (column + 2) % 3;
    return m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0];
}

/* Divides the adjugate by the determinant. false for a singular or non-finite matrix. */
bool txm_matrix_invert(const txm_matrix3 m, txm_matrix3 out)
{
    float det = m[0][0] * cofactor(m, 0, 0) + m[0][1] * cofactor(m, 0, 1) + m[0][2] * cofactor(m, 0, 2);
    if (det == 0.0f || !isfinite(det))
        return false;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[r][c] = cofactor(m, c, r) / det;
    return true;
}

/* The order of additions is fixed, because the text of the matrix is part of names. */
void txm_matrix_multiply(const txm_matrix3 a, const txm_matrix3 b, txm_matrix3 out)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[r][c] = a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c];
}

/* The interop id by name (the id is the space's name or one of its aliases), else by primaries: configs older than the
 * interop ids have the spaces without these names. */
static const char *interop_id(const txm_color_config *config)
{
    const char *scene_linear = txm_color_role(config, "scene_linear");
    for (size_t i = 0; i < sizeof working_spaces / sizeof working_spaces[0]; i++) {
        const char *named = txm_color_canonical(config, working_spaces[i].id);
        if (named && scene_linear && strcmp(named, scene_linear) == 0)
            return working_spaces[i].id;
    }
    for (size_t i = 0; i < sizeof working_spaces / sizeof working_spaces[0]; i++) {
        float worst = 0;
        for (int k = 0; k < 12; k++)
            if (k % 4 != 3)
                worst = fmaxf(worst, fabsf(config->matrix[k] - working_spaces[i].from_xyz[k / 4][k % 4]));
        /* The tolerance is larger than the differences of rounding the same primaries, and smaller than those between
         * two sets of them. */
        if (worst < 2e-3f)
            return working_spaces[i].id;
    }
    return "";
}

const char *txm_working_space_id(const float to_xyz[9])
{
    for (size_t i = 0; i < sizeof working_spaces / sizeof working_spaces[0]; i++) {
        txm_matrix3 m;
        float worst = txm_matrix_invert(working_spaces[i].from_xyz, m) ? 0.0f : INFINITY;
        for (int k = 0; k < 9; k++) {
            float off = fabsf(to_xyz[k] - m[k % 3][k / 3]);
            worst = off <= worst ? worst : off; /* also if it is NaN */
        }
        if (worst <= 1e-3f)
            return working_spaces[i].id;
    }
    return NULL;
}

/* ACEScg to CIE XYZ as in Cycles, which compares with its inverse. */
static const txm_matrix3 acescg_to_xyz = {
    {0.652238f, 0.128237f, 0.169983f}, {0.267672f, 0.674340f, 0.057988f}, {-0.005382f, 0.001369f, 1.093071f}};

/* Uses Cycles' tolerance. The decimals of the oldest release are so far off that it excludes its own default config. */
static bool is_near(const txm_color_config *config, const txm_matrix3 m)
{
    for (int k = 0; k < 12; k++)
        if (k % 4 != 3 && !(fabsf(config->matrix[k] - m[k / 4][k % 4]) <= 1e-4f))
            return false;
    return true;
}

/* Compares in the order of Cycles, which does not look at names here. */
static const char *srgb_interop_id(const txm_color_config *config)
{
    txm_matrix3 xyz_to_acescg;
    if (is_near(config, TXM_RELEASE(config->blender, xyz_to_rec709)))
        return "srgb_rec709_scene";
    if (is_near(config, working_spaces[1].from_xyz))
        return "srgb_rec2020_scene";
    return txm_matrix_invert(acescg_to_xyz, xyz_to_acescg) && is_near(config, xyz_to_acescg) ? "srgb_ap1_scene" : "";
}

static void fill_matrix(const txm_matrix3 m, float out[12])
{
    for (int k = 0; k < 12; k++)
        out[k] = k % 4 == 3 ? 0.0f : m[k / 4][k % 4];
}

/* The inverse of scene_linear -> role, found by converting the three primaries. It does as Cycles does, including its
 * fall-back if the config does not define the role. But if txmill itself removed something from the config, Cycles has
 * what is missing here: the fall-back would give names for which Cycles never looks. */
txm_status txm_color_compute_matrix(txm_color_config *config, txm_error *err)
{
    const txm_ocio *ocio = config->library->ocio;
    const bool known = config->known != NULL, aces = !known && txm_ocio_role(ocio, "aces_interchange");
    const char *role = aces ? "aces_interchange" : "XYZ";
    txm_error why = {0};
    txm_ocio_processor *processor = NULL;
    txm_matrix3 to_aces, from_aces, xyz_to_aces, m;
    const bool defined = !known && txm_ocio_role(ocio, role);
    bool built = defined && txm_ocio_processor_new(ocio, "scene_linear", role, &processor, &why) == TXM_OK;
    for (int primary = 0; built && primary < 3; primary++) {
        float rgb[3] = {primary == 0, primary == 1, primary == 2};
        txm_ocio_apply_rgb(processor, rgb);
        for (int r = 0; r < 3; r++)
            to_aces[r][primary] = rgb[r];
    }
    txm_ocio_processor_free(&processor);
    built = built && txm_matrix_invert(to_aces, from_aces);
    if (defined && !built && why.status == TXM_STATUS_NO_MEMORY)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: %s", config->name, why.message);
    if (defined && !built && config->missing.count)
        return txm_fail(
            err, TXM_STATUS_CONFIG,
            "%s: not a usable OCIO config: the names of tx files depend on its role %s, which cannot be built: %s",
            config->name, role, why.message);
    memcpy(m, TXM_RELEASE(config->blender, xyz_to_rec709), sizeof m);
    if (built && !aces)
        memcpy(m, from_aces, sizeof m);
    else if (built && txm_matrix_invert(aces_to_xyz, xyz_to_aces))
        txm_matrix_multiply(from_aces, xyz_to_aces, m);
    if (known)
        memcpy(config->matrix, config->known->xyz_to_scene_linear, sizeof config->matrix);
    else
        fill_matrix(m, config->matrix);
    for (int i = 0; i < TXM_RELEASE_COUNT; i++) {
        float other[12];
        fill_matrix(txm_releases.xyz_to_rec709[i], other);
        const float *matrix = known || built ? config->matrix : other;
        char *text = config->matrix_texts[i];
        size_t used = 0;
        for (int k = 0; k < 12; k++) /* 12 numbers of at most 11 characters ("-1.234e-10_") fit */
            used += (size_t)txm_format(text + used, TXM_MATRIX_TEXT_BYTES - used, "%s%.4g", k ? "_" : "",
                                       (double)matrix[k]);
    }
    config->interop_id = interop_id(config);
    config->srgb_interop_id = srgb_interop_id(config);
    return TXM_OK;
}
