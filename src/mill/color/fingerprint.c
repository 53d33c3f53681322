/* SPDX-License-Identifier: Apache-2.0
 *
 * A fingerprint of what a config does with a colour space, short enough to be stored in every tx file. For a converted
 * space it consists of the mean colours of the eight corners of its cube after conversion, and of bright greys; for
 * others, of the word for their class. A digest of the config's text would change with every comment, and would differ
 * between configs that give the same pixels, such as txmill's own and Blender's. Means depend on the transform only,
 * including lookup tables in other files, and comparing them allows for rounding by another version of OpenColorIO.
 */
#include "mill/color/values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "mill/color/config.h"

enum { SIDE = 16, CORNERS = 8, MEANS = 3 * (CORNERS + 1), DIGITS = 8 };

/* Adds in double and in a fixed order, so that the same transform gives the same digits. */
static void add_transformed(const txm_color_space *space, float *rgba, size_t count, double sum[3])
{
    txm_color_apply(space, rgba, count);
    for (size_t i = 0; i < count; i++, rgba += 4)
        for (int c = 0; c < 3; c++)
            if (isfinite(rgba[c]))
                sum[c] += fmax(-65504.0, fmin(65504.0, (double)rgba[c]));
}

/* Measures one row of the cube at a time; its halves belong to two corners. Prints the bits of floats, which do not
 * depend on the locale's decimal point. */
void txm_color_take_fingerprint(txm_color_space *space)
{
    double sums[CORNERS + 1][3] = {{0}};
    float row[SIDE / 2][4], greys[5][4];
    for (int b = 0; b < SIDE; b++)
        for (int g = 0; g < SIDE; g++)
            for (int half = 0; half < 2; half++) {
                for (int r = 0; r < SIDE / 2; r++) {
                    const float rgb[3] = {(float)(r + half * SIDE / 2), (float)g, (float)b};
                    for (int c = 0; c < 3; c++)
                        row[r][c] = rgb[c] / (SIDE - 1);
                    row[r][3] = 1.0f;
                }
                add_transformed(space, row[0], SIDE / 2, sums[half + g / (SIDE / 2) * 2 + b / (SIDE / 2) * 4]);
            }
    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 4; c++)
            greys[i][c] = c == 3 ? 1.0f : 1.5f * (float)(1 << i);
    add_transformed(space, greys[0], 5, sums[CORNERS]);
    size_t used = (size_t)txm_format(space->fingerprint, sizeof space->fingerprint, "%.40s ", txm_ocio_version());
    for (int i = 0; i < MEANS; i++) {
        float mean = (float)(sums[i / 3][i % 3] / (i / 3 == CORNERS ? 5 : SIDE * SIDE * SIDE / CORNERS));
        uint32_t bits;
        memcpy(&bits, &mean, sizeof bits);
        used += (size_t)txm_format(space->fingerprint + used, sizeof space->fingerprint - used, "%08X", (unsigned)bits);
    }
}

const char *txm_color_fingerprint(const txm_color_space *space)
{
    return space->color_class == TXM_COLOR_CLASS_OTHER ? space->fingerprint : txm_color_space_detected(space);
}

static bool parse_means(const char *text, float means[MEANS])
{
    const char *digits = strchr(text, ' ');
    if (!digits || strspn(++digits, "0123456789ABCDEF") != MEANS * DIGITS || digits[MEANS * DIGITS])
        return false;
    for (int i = 0; i < MEANS; i++, digits += DIGITS) {
        char one[DIGITS + 1] = "";
        memcpy(one, digits, DIGITS);
        uint32_t bits = (uint32_t)strtoul(one, NULL, 16);
        memcpy(&means[i], &bits, sizeof bits);
        if (!isfinite(means[i]))
            return false;
    }
    return true;
}

/* A class is one of three words, which differ from every list of means. */
bool txm_color_fingerprint_fits(const txm_color_space *space, const char *stored)
{
    static const char *const classes[] = {"data", "scene_linear", "scene_linear_srgb"};
    const char *now = txm_color_fingerprint(space);
    float a[MEANS], b[MEANS], largest = 0;
    bool measured = parse_means(stored, a), says = measured;
    for (size_t i = 0; !says && i < sizeof classes / sizeof *classes; i++)
        says = strcmp(stored, classes[i]) == 0;
    if (!says || strcmp(stored, now) == 0)
        return true;
    if (!measured || !parse_means(now, b))
        return false;
    /* The same version of the library gives the same means up to rounding; another one may have other curves, exact to
     * half the precision of half. */
    const float tolerance = strncmp(stored, now, strcspn(now, " ") + 1) == 0 ? 2e-5f : 2e-3f;
    for (int i = 0; i < 3 * CORNERS; i++)
        largest = fmaxf(largest, fabsf(b[i]));
    for (int i = 0; i < MEANS; i++)
        if (!(fabsf(a[i] - b[i]) <= tolerance * (fmaxf(fabsf(a[i]), fabsf(b[i])) + 0.01f * largest)))
            return false;
    return true;
}
