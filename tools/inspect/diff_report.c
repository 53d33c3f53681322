/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the result of `txmill diff` for two files.
 *
 * In: the difference of two files. Out: a table of levels and the metadata that differs, or one JSON object, and on
 * request a picture of the differences in level 0.
 */
#include "tools/inspect/diff_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/output/json.h"
#include "tools/output/text.h"
#include "txmill/picture.h"

/* ---- metadata --------------------------------------------------------------------------------------------------- */

/* NULL means a side without the entry. Without `fn` entries are only counted. */
static size_t compare_entry(txm_diff_entry_fn fn, void *user, const char *name, const char *a, const char *b)
{
    if (a && b && !strcmp(a, b))
        return 0;
    if (fn)
        fn(user, name, a, b);
    return 1;
}

/* Tile size and compression are not part of the metadata, but users want to see whether they differ; they are
 * compared as texts. */
static size_t compare_properties(const txm_diff_report *r, txm_diff_entry_fn fn, void *user)
{
    char text[2][4][48];
    static const char *const names[] = {"tiles", "pixels", "container", "levels"};
    size_t count = 0;
    for (int s = 0; s < 2; s++) {
        const txm_tx_info *i = txm_tx_info_of(r->tx[s]);
        snprintf(text[s][0], sizeof text[s][0], "%ux%u", i->tile_w, i->tile_h);
        snprintf(text[s][1], sizeof text[s][1], "%u x %s", i->channels, txm_type_name(i->type));
        snprintf(text[s][2], sizeof text[s][2], "%s, %s", txm_container_name(i->container), i->compression);
        snprintf(text[s][3], sizeof text[s][3], "%u", i->levels);
    }
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        count += compare_entry(fn, user, names[n], text[0][n], text[1][n]);
    return count;
}

/* Entries of the first file in its order, then those that only the second has. An ordinary image has no entries to
 * compare. */
size_t txm_diff_each_entry(const txm_diff_report *r, txm_diff_entry_fn fn, void *user)
{
    const char *name, *value;
    if (!r->tx[0] || !r->tx[1])
        return 0;
    size_t count = compare_properties(r, fn, user);
    for (size_t n = 0; txm_tx_metadata_at(r->tx[0], n, &name, &value); n++)
        count += compare_entry(fn, user, name, value, txm_tx_metadata_of(r->tx[1], name));
    for (size_t n = 0; txm_tx_metadata_at(r->tx[1], n, &name, &value); n++)
        if (!txm_tx_metadata_of(r->tx[0], name))
            count += compare_entry(fn, user, name, NULL, value);
    return count;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_entry(void *user, const char *name, const char *a, const char *b)
{
    (void)user;
    printf("  ");
    txm_print_safe(name);
    printf(": ");
    txm_print_safe(a ? a : "(none)");
    printf(" | ");
    txm_print_safe(b ? b : "(none)");
    putchar('\n');
}

/* If the sizes of a level differ, both are printed instead of errors. */
static void print_level(const txm_difference *d, uint32_t l)
{
    const txm_level_error *e = &d->level[l];
    printf("  %5u  ", l);
    if (!e->compared) {
        printf("%ux%u | %ux%u: not compared\n", e->width[0], e->height[0], e->width[1], e->height[1]);
        return;
    }
    char size[32];
    snprintf(size, sizeof size, "%u x %u", e->width[0], e->height[0]);
    printf("%-14s  %10.6g  %10.6g  %8.4g  %8.4f %%", size, e->max, e->mean, e->psnr,
           100.0 * (double)e->different / (double)e->samples);
    if (e->different)
        printf("  tile %u,%u (pixel %u,%u)", e->worst_x / d->tile_px, e->worst_y / d->tile_px, e->worst_x, e->worst_y);
    putchar('\n');
}

/* The command prints the verdict, because it depends on the thresholds. */
void txm_diff_print_text(const txm_diff_report *r)
{
    const txm_difference *d = r->difference;
    for (int s = 0; s < 2; s++) {
        txm_print_safe(r->paths[s]);
        printf("%s", s ? "\n" : " | ");
    }
    txm_diff_each_entry(r, print_entry, NULL);
    printf("  level  size             max error  mean error   PSNR dB   differing  worst\n");
    for (uint32_t l = 0; l < d->levels; l++)
        print_level(d, l);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static cJSON *new_diff_object(const char *const paths[2])
{
    cJSON *o = txm_json_new("txmill.diff");
    txm_json_text(o, "a", paths[0]);
    txm_json_text(o, "b", paths[1]);
    return o;
}

/* null if a side has no such entry. */
static void add_difference_json(void *user, const char *name, const char *a, const char *b)
{
    cJSON *e = txm_json_append(user);
    txm_json_text(e, "name", name);
    txm_json_text(e, "a", a);
    txm_json_text(e, "b", b);
}

/* If only one side has a level, its size on the other is 0. An infinite PSNR, of equal levels, is null. */
static void add_level(cJSON *list, const txm_difference *d, uint32_t l)
{
    const txm_level_error *e = &d->level[l];
    cJSON *o = txm_json_append(list);
    txm_json_uint(o, "level", l);
    txm_json_uint(o, "a_width", e->width[0]);
    txm_json_uint(o, "a_height", e->height[0]);
    txm_json_uint(o, "b_width", e->width[1]);
    txm_json_uint(o, "b_height", e->height[1]);
    txm_json_bool(o, "compared", e->compared);
    if (!e->compared)
        return;
    txm_json_uint(o, "samples", e->samples);
    txm_json_uint(o, "different", e->different);
    txm_json_number(o, "max_error", e->max, 9);
    txm_json_number(o, "mean_error", e->mean, 9);
    txm_json_number(o, "psnr", e->psnr, 6);
    txm_json_uint(o, "worst_x", e->worst_x);
    txm_json_uint(o, "worst_y", e->worst_y);
    txm_json_uint(o, "worst_tile_x", e->worst_x / d->tile_px);
    txm_json_uint(o, "worst_tile_y", e->worst_y / d->tile_px);
}

/* All differing metadata is listed, whether it counts or not. */
void txm_diff_print_json(const txm_diff_report *r)
{
    cJSON *o = new_diff_object(r->paths);
    txm_json_bool(o, "within", r->within);
    txm_json_bool(o, "metadata_differs", r->metadata);
    cJSON *metadata = txm_json_array(o, "metadata");
    txm_diff_each_entry(r, add_difference_json, metadata);
    cJSON *levels = txm_json_array(o, "levels");
    for (uint32_t l = 0; l < r->difference->levels; l++)
        add_level(levels, r->difference, l);
    txm_json_emit(o);
}

void txm_diff_print_json_error(const char *const paths[2], const txm_error *err)
{
    cJSON *o = new_diff_object(paths);
    txm_json_error(o, err);
    txm_json_emit(o);
}

/* ---- the picture ------------------------------------------------------------------------------------------------ */

/* Blue, red, yellow, white, by the square root of the share, so that small errors are visible beside large ones. */
static void heat(double share, uint8_t rgb[3])
{
    static const double stops[5][3] = {{0, 0, 0}, {0, 0, 255}, {255, 0, 0}, {255, 255, 0}, {255, 255, 255}};
    double place = share > 0 ? 0.5 + 3.5 * sqrt(share) : 0;
    int below = place < 4 ? (int)place : 3;
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)(stops[below][c] + (place - below) * (stops[below + 1][c] - stops[below][c]) + 0.5);
}

/* The scale ends at the largest error of the picture. If that is infinite, only infinite pixels are coloured,
 * because they could not be distinguished on a finite scale. */
txm_status txm_diff_write_map(const txm_difference *d, const char *path, txm_error *err)
{
    size_t pixels = txm_mul(d->map_width, d->map_height);
    uint8_t *rgb = txm_alloc_pixels(pixels, 3);
    if (!rgb)
        return txm_no_memory(err, path);
    double max = d->level[0].max;
    for (size_t i = 0; i < pixels; i++)
        heat(isinf(max) ? (isinf(d->map[i]) ? 1.0 : 0.0) : max > 0 ? (double)d->map[i] / max : 0.0, rgb + 3 * i);
    const txm_picture picture = {rgb, 3 * (size_t)d->map_width, d->map_width, d->map_height, 3, TXM_TYPE_U8, "sRGB"};
    txm_status status = txm_picture_write(path, &picture, err);
    free(rgb);
    return status;
}
