/* SPDX-License-Identifier: Apache-2.0
 *
 * The space that Cycles defines under the name __builtin_srgb, without a config. Blender's maketx command accepts the
 * name, and uses it for space auto if the config has no role for that. Some releases encode such pixels although they
 * should be decoded, and read back what they stored, so the files must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/color/config.h"
#include "tile/ops/arith.h"

const char txm_builtin_srgb_name[] = "__builtin_srgb";

typedef struct txm_builtin_srgb {
    bool decodes;    /* decodes before the matrix; else encodes after it */
    bool has_matrix; /* the working space is not Rec.709 */
    txm_matrix3 matrix;
    char id[200];
} txm_builtin_srgb;

/* Cycles converts the pixels also where the working space is Rec.709 and they could stay encoded. */
txm_status txm_builtin_srgb_build(const txm_color_config *config, txm_color_space *space, txm_error *err)
{
    const float(*to_rec709)[3] = TXM_RELEASE(config->blender, xyz_to_rec709);
    const bool decodes = TXM_RELEASE(config->blender, decodes_builtin_srgb);
    const bool has_matrix = strcmp(config->srgb_interop_id, "srgb_rec709_scene") != 0;
    txm_matrix3 linear, from;
    space->color_class = TXM_COLOR_CLASS_OTHER;
    txm_builtin_srgb *b = txm_calloc(1, sizeof *b);
    if (!b)
        return txm_no_memory(err, NULL);
    b->decodes = decodes;
    /* The matrix between the two linear spaces, in the version's direction. */
    for (int k = 0; k < 9; k++)
        linear[k / 3][k % 3] = config->matrix[k / 3 * 4 + k % 3];
    const float(*to_linear)[3] = (const float(*)[3])linear;
    b->has_matrix = has_matrix && txm_matrix_invert(decodes ? to_rec709 : to_linear, from);
    if (b->has_matrix)
        txm_matrix_multiply(decodes ? to_linear : (const float(*)[3])from,
                            decodes ? (const float(*)[3])from : to_rec709, b->matrix);
    snprintf(b->id, sizeof b->id, "%s %s %s", space->name, decodes ? "decoded" : "encoded",
             has_matrix ? txm_color_xyz_to_scene_linear_text(config) : "");
    space->builtin = b;
    return TXM_OK;
}

const char *txm_builtin_srgb_id(const txm_builtin_srgb *builtin)
{
    return builtin->id;
}

/* One row of the matrix, or the colour itself if there is none. */
static float linear(const txm_builtin_srgb *b, int c, const float rgb[3])
{
    return b->has_matrix ? b->matrix[c][0] * rgb[0] + b->matrix[c][1] * rgb[1] + b->matrix[c][2] * rgb[2] : rgb[c];
}

void txm_builtin_srgb_apply(const txm_builtin_srgb *b, float *rgba, size_t count)
{
    for (size_t i = 0; i < count; i++, rgba += 4) {
        float rgb[3];
        for (int c = 0; c < 3; c++)
            rgb[c] = b->decodes ? txm_srgb_decode_rgba(rgba[c]) : rgba[c];
        for (int c = 0; c < 3; c++)
            rgba[c] = b->decodes ? linear(b, c, rgb) : txm_srgb_encode(linear(b, c, rgb));
    }
}

/* The mean is taken before it is encoded. */
void txm_builtin_srgb_apply_grey(const txm_builtin_srgb *b, const float *rgba, float *grey, size_t count)
{
    for (size_t i = 0; i < count; i++, rgba += 4) {
        float v = b->decodes ? txm_srgb_decode_grey(rgba[0]) : rgba[0], rgb[3] = {v, v, v};
        float mean = (linear(b, 0, rgb) + linear(b, 1, rgb) + linear(b, 2, rgb)) * (1.0f / 3.0f);
        grey[i] = b->decodes ? mean : txm_srgb_encode(mean);
    }
}
