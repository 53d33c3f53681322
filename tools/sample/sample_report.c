/* SPDX-License-Identifier: Apache-2.0
 *
 * The colour of a lookup, and its explanation: the levels, tiles, pixels and weights that it is computed from.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tile/terms/extension.h"
#include "tools/inspect/info_report.h"
#include "tools/output/json.h"
#include "tools/output/text.h"
#include "tools/sample/sample.h"
#include "txmill/level.h"

/* Nine digits reproduce every float32 exactly. */
void txm_lookup_print_values(const float c[4])
{
    for (int i = 0; i < 4; i++)
        printf("%s%.9g", i ? " " : "", (double)c[i]);
    putchar('\n');
}

/* Prints in the order of a lookup: level, pixels, weights, colour. */
void txm_lookup_print_explanation(const txm_sampled_texture *from, txm_lookup at, const txm_explanation *e)
{
    uint32_t tile = txm_sampled_udim(from, &at);
    const char *path = txm_sampled_tile_path(from, tile);
    if (from->rows && !path) {
        if (tile)
            printf("UDIM tile %u: no file\n", tile);
        else
            puts("no UDIM tile is possible here");
        return;
    }
    if (from->rows) {
        printf("UDIM tile %u: ", tile);
        txm_print_path(path);
        printf(", at %.9g %.9g\n", (double)at.u, (double)at.v);
    }
    if (e->rejected) {
        puts("outside the image: clipped");
        return;
    }
    printf("level %.6g: %u", (double)e->level, e->level_low);
    if (e->blend > 0.0f)
        printf(", and %u with weight %.6g", e->level_low + 1, (double)e->blend);
    printf("; %u %s, %u %s\n", e->probes, e->probes == 1 ? "probe" : "probes", e->tap_count,
           e->tap_count == 1 ? "pixel" : "pixels");
    puts("probe level   tile          x       y       weight  value");
    for (uint32_t i = 0; i < e->tap_count; i++) {
        const txm_tap *t = &e->taps[i];
        printf("%5u %5u %5u,%-5u %7" PRId64 " %7" PRId64 " %12.9f  ", t->probe, t->level, t->tile_x, t->tile_y, t->x,
               t->y, (double)t->weight);
        txm_lookup_print_values(t->value);
    }
}

static void json_values(cJSON *object, const char *name, const float *c)
{
    cJSON *values = txm_json_array(object, name);
    for (int i = 0; i < 4; i++)
        txm_json_append_number(values, (double)c[i], 9);
}

/* All arguments are repeated, so that an object is complete by itself. */
bool txm_lookup_json(const txm_sampled_texture *from, const txm_sampler *how, const txm_sample_args *args,
                     const txm_lookup *at, const float *out, const txm_explanation *e)
{
    const struct {
        const char *name;
        float value;
    } numbers[] = {{"u", at->u},       {"v", at->v},       {"dudx", at->dudx},         {"dvdx", at->dvdx},
                   {"dudy", at->dudy}, {"dvdy", at->dvdy}, {"mip_bias", how->mip_bias}};
    cJSON *object = txm_json_result();
    txm_json_text(object, "file", from->name);
    size_t file = 0;
    if (from->rows) {
        txm_lookup inside = *at;
        uint32_t tile = txm_sampled_udim(from, &inside);
        file = txm_sampled_tile_index(from, tile);
        cJSON *udim = txm_json_object(object, "udim");
        txm_json_uint(udim, "number", tile);
        if (txm_sampled_tile_path(from, tile))
            txm_json_text(udim, "file", txm_sampled_tile_path(from, tile));
        txm_json_number(udim, "u", (double)inside.u, 9);
        txm_json_number(udim, "v", (double)inside.v, 9);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        txm_json_number(object, numbers[i].name, (double)numbers[i].value, 9);
    txm_json_text(object, "extension", txm_extension_name((txm_extension)args->extension));
    txm_json_text(object, "filter", txm_filter_name((txm_filter)how->filter));
    txm_json_text(object, "rule", txm_level_rule_name((txm_level_rule)how->rule));
    txm_json_text(object, "mode", txm_level_mode_name((txm_level_mode)how->mode));
    txm_json_uint(object, "anisotropy", how->anisotropy);
    if (file < from->count && *from->verdicts[file].shows)
        txm_info_add_verdict(object, &from->verdicts[file]);
    json_values(object, "color", out);
    txm_json_bool(object, "clipped", e->rejected);
    txm_json_number(object, "level", (double)e->level, 9);
    txm_json_uint(object, "level_low", e->level_low);
    txm_json_number(object, "blend", (double)e->blend, 9);
    txm_json_uint(object, "probes", e->probes);
    cJSON *taps = txm_json_array(object, "taps");
    for (uint32_t i = 0; i < e->tap_count; i++) {
        const txm_tap *t = &e->taps[i];
        cJSON *tap = txm_json_append(taps);
        txm_json_uint(tap, "probe", t->probe);
        txm_json_uint(tap, "level", t->level);
        txm_json_uint(tap, "tile_x", t->tile_x);
        txm_json_uint(tap, "tile_y", t->tile_y);
        txm_json_number(tap, "x", (double)t->x, 15);
        txm_json_number(tap, "y", (double)t->y, 15);
        txm_json_number(tap, "weight", (double)t->weight, 9);
        json_values(tap, "value", t->value);
    }
    return txm_json_print(object);
}

/* Has the name that a result would have: the file, or the pattern of a UDIM set. */