/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill sample: looks up a colour in a texture as a renderer does, and explains it; or renders a patch as a picture.
 *
 * In: a tx file, a place, derivatives and a filter. Out: the colour, and on request the levels, tiles, pixels and
 * weights that it is computed from; or a patch of the texture as a picture. The lookup is the library's, so a renderer
 * gets the same.
 *
 * Without --grid there is a single lookup, which can be explained; with --grid each pixel of the patch is a lookup.
 * UDIM sets are one texture, given as a pattern.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/base/extension.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/text.h"
#include "tools/inspect/info_report.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/options/library_words.h"
#include "tools/options/project.h"
#include "tools/options/rule_args.h"
#include "tools/output/exits.h"
#include "tools/output/guard.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"
#include "tools/output/text.h"
#include "txmill/level.h"
#include "txmill/picture.h"
#include "txtile/sampler.h"

enum { TXM_SAMPLE_SCHEMA_VERSION = 1, REQUESTS = 4096 };

typedef struct grid_size {
    uint32_t w, h;
} grid_size;

typedef struct number {
    float value;
    bool given;
} number;

typedef struct sample_args {
    number u, v, dudx, dvdx, dudy, dvdy, mip_bias;
    int rule, mode, filter, extension;
    uint32_t anisotropy, seed;
    grid_size grid;
    const char *output;
    bool unassociate, srgb, explain, overwrite, json;
    txm_tx_files_args files;
    txm_config_args config;
    txm_rule_args rules; /* from .txmill files only */
    txm_jobs_args jobs;
} sample_args;

/* Also records that the number was given, because 0 is a valid place. */
static txm_status parse_number(const char *text, void *field, txm_error *err)
{
    char *end;
    float f = txm_parse_float(text, &end);
    if (end == text || *end)
        return txm_fail(err, TXM_STATUS_USAGE, "must be a number, such as 0.25");
    if (field)
        *(number *)field = (number){f, true};
    return TXM_OK;
}

/* The first digit is checked before strtoul, which would accept signs and blanks. */
static txm_status parse_grid(const char *text, void *field, txm_error *err)
{
    char *end, *last;
    unsigned long w = strtoul(text, &end, 10),
                  h = *end == 'x' && end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &last, 10) : 0;
    if (*text < '0' || *text > '9' || !w || !h || *last || w > TXM_MAX_SIZE_PX || h > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_USAGE, "must be a width and a height in pixels, such as 640x480");
    if (field)
        *(grid_size *)field = (grid_size){(uint32_t)w, (uint32_t)h};
    return TXM_OK;
}

#define AT(member) .offset = offsetof(sample_args, member)
#define NUMBER(option, member, text)                                                                                   \
    {                                                                                                                  \
        .name = option, .type = TXM_OPT_CUSTOM, AT(member), .arg = "F", .help = text, .parse = parse_number            \
    }
static const txm_option places[] = {
    TXM_OPTION(CUSTOM, "u", .letter = 'u', AT(u), .arg = "U",
               .help = "Coordinate from the left edge, 0, to the right edge, 1 (default: 0.5; with --grid 0)",
               .parse = parse_number),
    TXM_OPTION(CUSTOM, "v", .letter = 'v', AT(v), .arg = "V",
               .help = "Coordinate from the bottom edge, 0, to the top edge, 1 (default: 0.5; with --grid 0)",
               .parse = parse_number),
    NUMBER("dudx", dudx, "Change of u to the next pixel of the picture on the right (default: 0)"),
    NUMBER("dvdx", dvdx, "Change of v to the next pixel on the right (default: 0)"),
    NUMBER("dudy", dudy, "Change of u to the next pixel of the picture above (default: 0)"),
    NUMBER("dvdy", dvdy, "Change of v to the next pixel above (default: 0)"),
    TXM_OPTION(CHOICE, "extension", .letter = 'e', AT(extension), .arg = "MODE", .values = TXM_EXTENSION_VALUES,
               .help = "What a lookup finds beyond the image's edge (default: repeat); one of" TXM_EXTENSION_TABLE(
                   TXM_EXTENSION_SPACED)),
    {0},
};
static const txm_option hows[] = {
    TXM_OPTION(CHOICE, "filter", AT(filter), .arg = "FILTER", .values = txm_filter_values,
               .help = "How the pixels of a level are filtered (default: linear)", .more = txm_filter_more),
    TXM_OPTION(CHOICE, "rule", AT(rule), .arg = "RULE", .values = "cycles ellipse probes",
               .help = "How the level is computed from the derivatives (default: cycles)",
               .more = "With cycles the footprint is measured along u and v, with ellipse along its own axes, so that "
                       "the level does not depend on the rotation of the texture. With probes, an elongated footprint "
                       "is read at several places along its long axis."),
    TXM_OPTION(
        CHOICE, "mode", AT(mode), .arg = "MODE", .values = "stochastic stochastic-full floor trilinear",
        .help = "How the fraction of a level is used (default: stochastic)",
        .more = "With stochastic one of the two levels is chosen at random, as in Cycles in half of the range, or with "
                "stochastic-full in all of it; without --seed it is the finer one. With trilinear both are blended."),
    TXM_OPTION(UINT, "anisotropy", AT(anisotropy), .arg = "N",
               .help = "Largest ratio of a footprint's axes without blurring: 1 to 16 (default: 16)", .min = 1,
               .max = TXM_MAX_ANISOTROPY),
    NUMBER("mip-bias", mip_bias, "Added to the level: 1 halves the resolution (default: 0)"),
    TXM_OPTION(UINT, "seed", AT(seed), .arg = "N",
               .help = "State of the random generator, 0 for none (default: 0; with --grid 1)", .max = UINT32_MAX),
    TXM_OPTION(FLAG, "unassociate", AT(unassociate),
               .help = "Divide the colour by alpha, as Cycles' image node does on request"),
    TXM_OPTION(FLAG, "srgb", AT(srgb), .help = "Decode the colour from sRGB, as Cycles does for 8-bit sRGB images"),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION(FLAG, "explain", AT(explain), .help = "Also print level, tiles, pixels and weights"),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object per file, with everything that --explain prints"),
    TXM_OPTION(CUSTOM, "grid", .letter = 'g', AT(grid), .arg = "WxH",
               .help = "Render a patch of this size in pixels to the file given with -o",
               .more = "Its bottom left corner is at u, v, and the derivatives are the steps between its pixels; "
                       "without any, the patch is the whole image.",
               .parse = parse_grid),
    TXM_OPTION_OUTPUT(AT(output), "File for the patch of --grid", "Any format that OpenImageIO writes."),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    {0},
};
#undef NUMBER

static const txm_option_group groups[] = {
    {"Where", places, 0},
    {"How", hows, 0},
    TXM_FILES_GROUP(sample_args),
    TXM_COLOUR_GROUP(sample_args),
    TXM_JOBS_GROUP(sample_args),
    {"Output", outputs, 0},
    {0},
};

/* Converts the options to the struct that a renderer would fill in. */
static txm_sampler sampler_of(const sample_args *args)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.rule = (uint8_t)args->rule;
    how.mode = (uint8_t)args->mode;
    how.filter = (uint8_t)args->filter;
    how.anisotropy = (uint8_t)args->anisotropy;
    how.mip_bias = args->mip_bias.value;
    how.after = (uint8_t)((args->unassociate ? TXM_AFTER_UNASSOCIATE : 0) | (args->srgb ? TXM_AFTER_SRGB : 0));
    return how;
}

/* ---- textures ---- */

/* A texture: a tx file, or the UDIM tiles of a pattern. */
typedef struct texture {
    txm_texture_set *set;
    uint32_t id;
    const char *name;         /* path of the file, or the pattern */
    const txm_inputs *inputs; /* its files: `count` of them, beginning with `first` */
    size_t first, count;
    uint32_t columns, rows; /* of UDIM tiles, up to the last one; 0 for a single file */
    txm_verdict *verdicts;  /* one per file */
} texture;

/* The number of inputs from `first` on that form one texture. */
static size_t texture_inputs(const txm_inputs *inputs, size_t first)
{
    const txm_input *input = txm_inputs_at(inputs, first), *next;
    size_t n = 1;
    while (txm_input_udim(input) && (next = txm_inputs_at(inputs, first + n)) && txm_input_udim(next) &&
           strcmp(next->pattern, input->pattern) == 0)
        n++;
    return n;
}

/* The number of textures; the files of a pattern form one. */
static size_t texture_count(const txm_inputs *inputs)
{
    size_t n = 0;
    for (size_t i = 0; i < txm_inputs_count(inputs); i += texture_inputs(inputs, i))
        n++;
    return n;
}

/* The highest numbers determine the rows and columns of the set; missing tiles remain holes. */
static txm_status add_tiles(texture *t, txm_extension extension, uint32_t *numbers, uint32_t *ids, txm_error *err)
{
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < t->count; i++) {
        const txm_input *input = txm_inputs_at(t->inputs, t->first + i);
        numbers[i] = txm_input_udim(input);
        t->columns = numbers[i] % 10 == 0 ? 10 : t->columns > numbers[i] % 10 ? t->columns : numbers[i] % 10;
        t->rows = t->rows > (numbers[i] - 1001) / 10 + 1 ? t->rows : (numbers[i] - 1001) / 10 + 1;
        status = txm_input_check(input, err);
        if (status == TXM_OK)
            status = txm_texture_set_add(t->set, input->path, extension, &ids[i], err);
    }
    return status == TXM_OK ? txm_texture_set_add_udim(t->set, numbers, ids, t->count, &t->id, err) : status;
}

/* A single file is added directly; for a set, its tiles are added first. */
static txm_status texture_open(texture *t, txm_extension extension, txm_error *err)
{
    const txm_input *input = txm_inputs_at(t->inputs, t->first);
    txm_status status = txm_input_check(input, err);
    if (status == TXM_OK)
        status = txm_texture_set_new(&t->set, err);
    if (status == TXM_OK && !txm_input_udim(input))
        return txm_texture_set_add(t->set, input->path, extension, &t->id, err);
    if (status != TXM_OK)
        return status;
    uint32_t *numbers = txm_calloc(t->count, 2 * sizeof *numbers);
    status = numbers ? add_tiles(t, extension, numbers, numbers + t->count, err)
                     : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for %zu UDIM tiles", t->count);
    free(numbers);
    return status;
}

/* The index of the file for a UDIM tile; t->count for a hole. */
static size_t tile_index(const texture *t, uint32_t tile)
{
    size_t i = 0;
    while (i < t->count && txm_input_udim(txm_inputs_at(t->inputs, t->first + i)) != tile)
        i++;
    return i;
}

/* The file for a UDIM tile; NULL for a hole. */
static const char *tile_path(const texture *t, uint32_t tile)
{
    const size_t i = tile_index(t, tile);
    return i < t->count ? txm_inputs_at(t->inputs, t->first + i)->path : NULL;
}

/* ---- what Cycles does with it ---- */

/* Warns about colours that no render would show, because users look them up to see what Cycles shows. If no verdict
 * is possible, as for an image in a closed folder, the colour is still printed; but not if a retry may give one. */
static txm_status judge_sample(texture *t, const txm_project_contexts *contexts, const txm_rules *rules, txm_error *err)
{
    t->verdicts = txm_calloc(t->count, sizeof *t->verdicts);
    if (!t->verdicts)
        return txm_no_memory(err, t->name);
    for (size_t i = 0; i < t->count; i++) {
        const size_t input = t->first + i;
        const txm_verify_options how = {
            .struct_size = sizeof how, .no_decoding = true, .rules = txm_project_rules(contexts, input, rules)};
        const char *path = txm_inputs_at(t->inputs, input)->path;
        txm_verdict *v = &t->verdicts[i];
        txm_error own = {0};
        const txm_status status = txm_judge(txm_project_context(contexts, input), path, &how, v, &own);
        if (txm_status_retryable(status) || status == TXM_STATUS_CANCELLED)
            return txm_fail_as(err, &own);
        if (status != TXM_OK)
            txm_say(TXM_SAY_WARNING, "%s", own.message);
        else if (!txm_info_is_good(v))
            txm_say(TXM_SAY_WARNING, "%s: Cycles %s%s%s", path, v->shows, *v->reason ? ": " : "", v->reason);
    }
    return TXM_OK;
}

/* ---- one lookup ---- */

/* Nine digits reproduce every float32 exactly. */
static void print_values(const float *c)
{
    for (int i = 0; i < 4; i++)
        printf("%s%.9g", i ? " " : "", (double)c[i]);
    putchar('\n');
}

/* The UDIM tile at a place, or 0 if there can be none; the place becomes relative to the tile. */
static uint32_t udim_at(const texture *t, txm_lookup *at)
{
    return t->rows ? txm_udim_of(&at->u, &at->v) : 0;
}

/* In the order of a lookup: level, pixels, weights, colour. */
static void print_explanation(const texture *from, txm_lookup at, const txm_explanation *e)
{
    uint32_t tile = udim_at(from, &at);
    const char *path = tile_path(from, tile);
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
        print_values(t->value);
    }
}

/* Nine digits here as well. */
static void json_values(cJSON *object, const char *name, const float *c)
{
    cJSON *values = txm_json_array(object, name);
    for (int i = 0; i < 4; i++)
        txm_json_append_number(values, (double)c[i], 9);
}

/* All arguments are repeated, so that an object is complete by itself. */
static bool print_sample_json(const texture *from, const txm_sampler *how, const sample_args *args,
                              const txm_lookup *at, const float *out, const txm_explanation *e)
{
    const struct {
        const char *name;
        float value;
    } numbers[] = {{"u", at->u},       {"v", at->v},       {"dudx", at->dudx},         {"dvdx", at->dvdx},
                   {"dudy", at->dudy}, {"dvdy", at->dvdy}, {"mip_bias", how->mip_bias}};
    cJSON *object = txm_json_new("txmill.sample", TXM_SAMPLE_SCHEMA_VERSION);
    txm_json_text(object, "file", from->name);
    size_t file = 0;
    if (from->rows) {
        txm_lookup inside = *at;
        uint32_t tile = udim_at(from, &inside);
        file = tile_index(from, tile);
        cJSON *udim = txm_json_object(object, "udim");
        txm_json_uint(udim, "number", tile);
        if (tile_path(from, tile))
            txm_json_text(udim, "file", tile_path(from, tile));
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

/* Repeats the lookup until all its tiles are loaded. Each round starts from the seed, so that the result does not
 * depend on which tiles were loaded when. */
static txm_status look_up_until_there(txm_texture_set *set, uint32_t id, const txm_sampler *how, const txm_lookup *at,
                                      uint32_t seed, float out[4], txm_explanation *e, txm_error *err)
{
    uint32_t requests[REQUESTS];
    txm_lane lane = {.random = seed, .capacity = REQUESTS, .requests = requests};
    while (txm_sample_explain(txm_texture_set_view(set), id, how, at, &lane, out, e) == TXM_LOOK_MISSED) {
        txm_status status = txm_texture_set_load(set, &lane, err);
        if (status != TXM_OK)
            return status;
        lane.random = seed;
    }
    return TXM_OK;
}

/* The place defaults to the centre. The explanation is on the heap, because the struct is large. */
static txm_status sample_place(const texture *t, const sample_args *args, bool named, txm_error *err)
{
    const txm_sampler how = sampler_of(args);
    const txm_lookup at = {args->u.given ? args->u.value : 0.5f,
                           args->v.given ? args->v.value : 0.5f,
                           args->dudx.value,
                           args->dvdx.value,
                           args->dudy.value,
                           args->dvdy.value};
    txm_explanation *e = malloc(sizeof *e);
    float out[4];
    if (!e)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for an explanation");
    txm_status status = look_up_until_there(t->set, t->id, &how, &at, args->seed, out, e, err);
    if (status == TXM_OK && args->json) {
        if (!print_sample_json(t, &how, args, &at, out, e))
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the JSON");
    } else if (status == TXM_OK) {
        if (named) {
            txm_print_path(t->name);
            fputs(": ", stdout);
        }
        print_values(out);
        if (args->explain)
            print_explanation(t, at, e);
    }
    free(e);
    return status;
}

/* ---- a patch ---- */

/* A row of lookups: nine arrays of the same length in one allocation. */
typedef struct row {
    float *in[6], *out[4];
    uint32_t *random, *again;
} row;

/* Allocates all arrays of a row at once. */
static bool row_new(row *r, size_t n)
{
    float *all = txm_calloc(n, 12 * sizeof(float));
    for (int i = 0; i < 6; i++)
        r->in[i] = all ? all + (size_t)i * n : NULL;
    for (int i = 0; all && i < 4; i++)
        r->out[i] = all + (size_t)(6 + i) * n;
    r->random = all ? (uint32_t *)(void *)(all + 10 * n) : NULL;
    r->again = all ? r->random + n : NULL;
    return all;
}

/* Looks up a row and loads missing tiles, as a wavefront renderer does: all lookups are repeated with the same
 * random states until none misses. */
static txm_status sample_row(txm_texture_set *set, uint32_t id, const txm_sampler *how, row *r, size_t n,
                             txm_error *err)
{
    uint32_t requests[REQUESTS];
    txm_lane lane = {.capacity = REQUESTS, .requests = requests};
    const txm_lookups batch = {.count = n,
                               .u = r->in[0],
                               .v = r->in[1],
                               .dudx = r->in[2],
                               .dvdx = r->in[3],
                               .dudy = r->in[4],
                               .dvdy = r->in[5],
                               .random = r->again,
                               .out = {r->out[0], r->out[1], r->out[2], r->out[3]}};
    for (;;) {
        memcpy(r->again, r->random, n * sizeof *r->again);
        if (txm_sample_n(txm_texture_set_view(set), id, how, &batch, &lane) != TXM_LOOK_MISSED)
            return TXM_OK;
        txm_status status = txm_texture_set_load(set, &lane, err);
        if (status != TXM_OK)
            return status;
    }
}

/* Without derivatives the patch is the whole image, or all tiles of a UDIM set. */
static txm_status render_rows(const texture *t, const sample_args *args, float *pixels, row *r, txm_error *err)
{
    const txm_sampler how = sampler_of(args);
    const size_t w = args->grid.w, h = args->grid.h;
    bool whole = !args->dudx.given && !args->dvdx.given && !args->dudy.given && !args->dvdy.given;
    const float d[4] = {whole ? (t->rows ? (float)t->columns : 1.0f) / (float)w : args->dudx.value, args->dvdx.value,
                        args->dudy.value, whole ? (t->rows ? (float)t->rows : 1.0f) / (float)h : args->dvdy.value};
    uint64_t random = 0x9E3779B97F4A7C15u * (uint64_t)args->seed;
    for (size_t y = 0; y < h; y++) {
        float up = (float)(h - 1 - y) + 0.5f;
        for (size_t x = 0; x < w; x++) {
            float right = (float)x + 0.5f;
            r->in[0][x] = args->u.value + right * d[0] + up * d[2];
            r->in[1][x] = args->v.value + right * d[1] + up * d[3];
            for (int i = 0; i < 4; i++)
                r->in[2 + i][x] = d[i];
            random = random * 6364136223846793005u + 1442695040888963407u;
            r->random[x] = args->seed ? (uint32_t)(random >> 32) : 0;
        }
        txm_status status = sample_row(t->set, t->id, &how, r, w, err);
        if (status != TXM_OK)
            return status;
        for (size_t x = 0; x < w; x++)
            for (int c = 0; c < 4; c++)
                pixels[4 * (y * w + x) + (size_t)c] = r->out[c][x];
    }
    return TXM_OK;
}

/* Renders row by row with batches of lookups, which give the same bits as single lookups. */
static txm_status render_patch(const texture *t, const sample_args *args, txm_error *err)
{
    row r;
    float *pixels = txm_alloc_pixels((size_t)args->grid.w * args->grid.h, 4 * sizeof *pixels);
    txm_status status = TXM_OK;
    if (!row_new(&r, args->grid.w) || !pixels)
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for %ux%u px", args->grid.w, args->grid.h);
    if (status == TXM_OK)
        status = render_rows(t, args, pixels, &r, err);
    if (status == TXM_OK) {
        const txm_picture picture = {
            pixels, (size_t)args->grid.w * 4 * sizeof *pixels, args->grid.w, args->grid.h, 4, TXM_TYPE_FLOAT, NULL};
        status = txm_picture_write(args->output, &picture, err);
    }
    free(r.in[0]);
    free(pixels);
    return status;
}

/* ---- the command ---- */

/* UINT32_MAX stands for a seed that was not given; check_sample_args replaces it. */
static void set_sample_defaults(void *p)
{
    sample_args *args = p;
    args->filter = TXM_FILTER_LINEAR;
    args->anisotropy = TXM_MAX_ANISOTROPY;
    args->seed = UINT32_MAX; /* not given */
}

/* Checks which options can be combined, before a file is opened. */
static txm_status check_sample_args(sample_args *args, txm_error *err)
{
    const txm_sampler how = sampler_of(args);
    if (args->grid.w && (!args->output || strcmp(args->output, "-") == 0))
        return txm_fail(err, TXM_STATUS_USAGE, "--grid writes a picture: name its file with -o");
    if (args->grid.w && (args->json || args->explain))
        return txm_fail(err, TXM_STATUS_USAGE, "--explain and --json apply to a single lookup; leave out --grid");
    if (args->output && !args->grid.w)
        return txm_fail(err, TXM_STATUS_USAGE, "-o needs --grid WxH for the size of the picture");
    if (args->seed == UINT32_MAX)
        args->seed = args->grid.w ? 1 : 0;
    if (txm_filter_is_stochastic((txm_filter)args->filter) && !args->seed)
        return txm_fail(err, TXM_STATUS_USAGE, "--filter %s reads random pixels; give it a --seed above 0",
                        txm_filter_name((txm_filter)args->filter));
    return txm_sampler_check(&how, err);
}

/* Has the name that a result would have: the file, or the pattern of a UDIM set. */
static void print_json_error(const char *path, const txm_error *err)
{
    cJSON *o = txm_json_new("txmill.sample", TXM_SAMPLE_SCHEMA_VERSION);
    txm_json_text(o, "file", path);
    txm_json_error(o, err);
    txm_json_emit(o);
}

/* Opens, samples and frees one texture. */
static txm_status sample(texture *t, const sample_args *args, const txm_project_contexts *contexts,
                         const txm_rules *rules, bool named, txm_error *err)
{
    txm_status status = texture_open(t, (txm_extension)args->extension, err);
    if (status == TXM_OK)
        status = judge_sample(t, contexts, rules, err);
    if (status == TXM_OK)
        status = args->grid.w ? render_patch(t, args, err) : sample_place(t, args, named, err);
    free(t->verdicts);
    txm_texture_set_free(&t->set);
    if (status == TXM_OK && args->grid.w)
        txm_say(TXM_SAY_INFO, "%s: wrote the patch, %u x %u px", args->output, args->grid.w, args->grid.h);
    return status;
}

/* Textures are sampled one after the other; if there are several, the output names each file. */
static void sample_all(const sample_args *args, const txm_inputs *inputs, const txm_project_contexts *contexts,
                       const txm_rules *rules, txm_tally *tally)
{
    txm_summary summary = {.words = {"sampled"}};
    size_t count = texture_count(inputs), n;
    for (size_t i = 0; i < txm_inputs_count(inputs) && !txm_signal_caught(); i += n) {
        const txm_input *input = txm_inputs_at(inputs, i);
        n = texture_inputs(inputs, i);
        texture t = {
            .name = txm_input_udim(input) ? input->pattern : input->path, .inputs = inputs, .first = i, .count = n};
        txm_error err = {0};
        txm_status status = sample(&t, args, contexts, rules, count > 1, &err);
        txm_tally_add(tally, status);
        txm_summary_add(&summary, status == TXM_OK ? "sampled" : "failed");
        if (status == TXM_OK)
            continue;
        txm_tx_explain(input->path, &err);
        txm_say(TXM_SAY_ERROR, "%s", err.message);
        if (args->json)
            print_json_error(t.name, &err);
    }
    if (count > 1 && !args->json)
        txm_summary_say(&summary, "file");
}

/* A patch is a picture of a single texture. */
static int run_sample(void *p, const txm_operands *operands)
{
    sample_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_inputs *inputs = NULL;
    txm_rules *rules = NULL;
    txm_project_contexts contexts = {.place = txm_tx_place};
    const txm_settings settings = {.cache_dir = NULL};
    const txm_project_targets project = {NULL, &args->config, &args->rules, &args->jobs.threads};
    const txm_output output = {"-o", args->output, TXM_OUTPUT_PICTURE, args->overwrite};
    if (check_sample_args(args, &err) == TXM_OK &&
        txm_tx_files_collect("sample", &args->files, operands, &inputs, &err) == TXM_OK &&
        txm_project_apply(&project, operands, &err) == TXM_OK &&
        txm_rule_args_read(&args->rules, &rules, &err) == TXM_OK &&
        txm_project_look(inputs, &args->config, &args->jobs, &settings, rules, &contexts, &err) == TXM_OK) {
        size_t count = texture_count(inputs);
        if (args->grid.w && count > 1)
            txm_fail(&err, TXM_STATUS_USAGE, "--grid takes a single texture, but %zu are given", count);
        else if (!args->grid.w || txm_guard_output(&output, txm_files_path, inputs, &err) == TXM_OK)
            sample_all(args, inputs, &contexts, rules, &tally);
    }
    txm_rules_free(&rules);
    txm_project_contexts_free(&contexts);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(sample, sample_args, .purpose = "Look up and explain a colour in a tx file, as a renderer does",
            .synopsis = "[OPTION...] TX", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_sample_defaults);
