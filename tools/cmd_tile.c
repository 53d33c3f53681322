/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill tile: shows one tile of a tx file, with pixels around it on request, as numbers, raw bytes or a picture.
 *
 * In: a tx file, a level, a tile, a padding. Out: its pixels as text, raw samples or a picture; with --all, all tiles
 * of the level on one sheet.
 *
 * The pixels are those that txm_tx_read_tile gives a renderer. With the padding and extension of a renderer, tiles can
 * be compared number by number with those of another reader.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "tile/terms/extension.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "tools/picture/tile_sheet.h"
#include "txmill/guard.h"
#include "txmill/level.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"
#include "txtile/reader.h"

enum { FORMAT_AUTO, FORMAT_TEXT, FORMAT_RAW, FORMAT_IMAGE };

typedef struct tile_place {
    uint32_t x, y;
} tile_place;

typedef struct tile_args {
    uint32_t level, padding;
    tile_place tile;
    int extension; /* txm_extension */
    int format;
    const char *output;
    bool all, overwrite, json;
    txm_tx_files_args files;
} tile_args;

static txm_status parse_place(const char *text, void *field, txm_error *err)
{
    unsigned long place[2] = {0};
    const char *p = text;
    char *end = NULL;
    for (int i = 0; i < 2; i++, p = end + 1)
        if (*p < '0' || *p > '9' || (place[i] = strtoul(p, &end, 10)) > TXM_MAX_SIZE_PX || *end != (i ? 0 : ','))
            return txm_fail(err, TXM_STATUS_USAGE, "must be a column and a row of tiles, such as 3,0");
    if (field)
        *(tile_place *)field = (tile_place){(uint32_t)place[0], (uint32_t)place[1]};
    return TXM_OK;
}

#define AT(member) .offset = offsetof(tile_args, member)
static const txm_option options[] = {
    TXM_OPTION_LEVEL(AT(level), "0"),
    TXM_OPTION(CUSTOM, "tile", .letter = 't', AT(tile), .arg = "X,Y", .parse = parse_place,
               .help = "Column and row of the tile, from the top left (default: 0,0)"),
    TXM_OPTION(FLAG, "all", AT(all), .help = "Write all tiles of the level on one sheet, as a picture",
               .more = "Each tile is below its column and row, with a gap to the next; pixels of the padding are "
                       "tinted. The picture is encoded for viewing."),
    TXM_OPTION(UINT, "padding", .letter = 'p', AT(padding), .arg = "N", .max = TXM_MAX_PADDING_PX,
               .help = "Pixels to add around the tile, up to 8 (default: 0)"),
    TXM_OPTION(CHOICE, "extension", .letter = 'e', AT(extension), .arg = "MODE", .values = TXM_EXTENSION_VALUES,
               .help = "What is found beyond the level's edge (default: repeat); one of" TXM_EXTENSION_TABLE(
                   TXM_EXTENSION_SPACED)),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION_OUTPUT(AT(output), "Write to this file; - is standard output (default)", NULL),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    TXM_OPTION(CHOICE, "format", AT(format), .arg = "FORMAT", .values = "auto text raw image",
               .help = "auto, text, raw or image (default: auto, by the extension of FILE)",
               .more = "Text has one line per pixel: its column and row in the level, then its channels. Raw has the "
                       "stored samples, little-endian, channels interleaved, without a header. An image has the stored "
                       "values, in any format that OpenImageIO writes."),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print the pixels as one JSON object per file"),
    {0},
};

static const txm_option_group groups[] = {
    {"Which pixels", options, 0},
    TXM_FILES_GROUP(tile_args),
    {"Output", outputs, 0},
    {0},
};

/* A padded tile in memory, without gaps between rows. */
typedef struct window {
    const txm_tx_info *info;
    uint8_t *pixels;
    size_t pixel_bytes;
    int64_t x0, y0; /* place of its first pixel in the level */
    uint32_t w, h;
} window;

/* Integers remain codes, because this shows what is stored. */
static double value_at(const window *w, size_t sample)
{
    const uint8_t *p = w->pixels + sample * txm_type_bytes(w->info->type);
    uint16_t whole;
    float single;
    if (w->info->type == TXM_TYPE_U8)
        return *p;
    if (w->info->type == TXM_TYPE_FLOAT) {
        memcpy(&single, p, sizeof single);
        return single;
    }
    if (w->info->type == TXM_TYPE_HALF) {
        txm_samples_to_float(TXM_TYPE_HALF, p, &single, 1);
        return single;
    }
    memcpy(&whole, p, sizeof whole);
    return whole;
}

/* Pixels as rows of numbers, after the members that describe them. */
static bool print_tile_json(const window *w, const char *path, const tile_args *args)
{
    cJSON *object = txm_json_result();
    txm_json_text(object, "file", path);
    txm_json_uint(object, "level", args->level);
    txm_json_uint(object, "tile_x", args->tile.x);
    txm_json_uint(object, "tile_y", args->tile.y);
    txm_json_uint(object, "padding", args->padding);
    txm_json_text(object, "extension", txm_extension_name((txm_extension)args->extension));
    txm_json_number(object, "x", (double)w->x0, 15);
    txm_json_number(object, "y", (double)w->y0, 15);
    txm_json_size(object, w->w, w->h);
    txm_json_uint(object, "channels", w->info->channels);
    txm_json_text(object, "data_type", txm_type_name(w->info->type));
    cJSON *values = txm_json_array(object, "values");
    for (size_t i = 0; i < (size_t)w->w * w->h * w->info->channels; i++)
        txm_json_append_number(values, value_at(w, i), 9);
    return txm_json_print(object);
}

/* The window is clipped to the level, so a narrow tile at its edge has a narrow window. */
static txm_status read_window(txm_tx *tx, const tile_args *args, window *w, txm_error *err)
{
    uint32_t p = args->padding;
    w->info = txm_tx_info_of(tx);
    w->pixel_bytes = w->info->channels * txm_type_bytes(w->info->type);
    w->x0 = (int64_t)args->tile.x * w->info->tile_w - p;
    w->y0 = (int64_t)args->tile.y * w->info->tile_h - p;
    size_t edge_w = w->info->tile_w + 2 * (size_t)p, edge_h = w->info->tile_h + 2 * (size_t)p;
    uint8_t *wide = txm_alloc_pixels(edge_w * edge_h, w->pixel_bytes);
    if (!wide)
        return txm_no_memory(err, NULL);
    txm_status status = txm_tx_read_tile(tx,
                                         &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                           .level = args->level,
                                                           .tile_x = args->tile.x,
                                                           .tile_y = args->tile.y,
                                                           .padding_px = p,
                                                           .extension = (txm_extension)args->extension,
                                                           .pixels = wide,
                                                           .pixel_stride_bytes = w->pixel_bytes,
                                                           .row_stride_bytes = edge_w * w->pixel_bytes,
                                                           .width = &w->w,
                                                           .height = &w->h},
                                         err);
    if (status != TXM_OK) {
        free(wide);
        return status;
    }
    /* A tile at the right edge is narrower: its rows are moved together. */
    w->w += 2 * p;
    w->h += 2 * p;
    for (uint32_t y = 1; y < w->h; y++)
        memmove(wide + y * w->w * w->pixel_bytes, wide + y * edge_w * w->pixel_bytes, w->w * w->pixel_bytes);
    w->pixels = wide;
    return TXM_OK;
}

/* Decides by the output's name, unless --format is given. */
static int choose_format(const tile_args *args)
{
    const char *out = args->output;
    if (args->format != FORMAT_AUTO)
        return args->format;
    if (strcmp(out, "-") == 0 || txm_path_has_ext(out, "txt"))
        return FORMAT_TEXT;
    return txm_path_has_ext(out, "raw") ? FORMAT_RAW : FORMAT_IMAGE;
}

/* Text and raw can go to standard output; pictures need a file with an extension. */
static txm_status write_window(const window *w, const char *path, const tile_args *args, txm_error *err)
{
    int format = choose_format(args);
    if (args->json)
        return print_tile_json(w, path, args) ? TXM_OK : txm_no_memory(err, NULL);
    if (format != FORMAT_IMAGE) {
        const bool raw = format == FORMAT_RAW;
        txm_out_file *file = NULL;
        txm_status status = txm_out_file_begin(args->output, false, &file, err);
        if (status != TXM_OK)
            return status;
        txm_lines_wrapped(!raw);
        if (raw)
            fwrite(w->pixels, w->pixel_bytes, (size_t)w->w * w->h, txm_out_file_stream(file));
        else {
            /* Coordinates are those of the level, and outside it where the padding lies beyond its edge. */
            FILE *out = txm_out_file_stream(file);
            for (uint32_t y = 0; y < w->h; y++)
                for (uint32_t x = 0; x < w->w; x++) {
                    fprintf(out, "%" PRId64 " %" PRId64, w->x0 + x, w->y0 + y);
                    for (uint32_t c = 0; c < w->info->channels; c++)
                        fprintf(out, " %.9g", value_at(w, ((size_t)y * w->w + x) * w->info->channels + c));
                    fputc('\n', out);
                }
        }
        return txm_out_file_commit(&file, err);
    }
    if (strcmp(args->output, "-") == 0)
        return txm_fail(err, TXM_STATUS_USAGE, "an image needs a file: name it with -o");
    txm_picture picture = {w->pixels, w->w * w->pixel_bytes, w->w, w->h, w->info->channels, w->info->type, NULL};
    return txm_picture_write(args->output, &picture, err);
}

/* All tiles of the level, side by side with gaps and tinted borders, drawn by tools/picture/tile_sheet.c. */
static txm_status write_sheet(txm_tx *tx, const tile_args *args, txm_error *err)
{
    txm_level_picture sheet;
    if (args->json || strcmp(args->output, "-") == 0 || choose_format(args) != FORMAT_IMAGE)
        return txm_fail(err, TXM_STATUS_USAGE, "a sheet is a picture and needs a file: name it with -o");
    txm_status status = txm_tile_sheet(tx, args->level, args->padding, (txm_extension)args->extension, &sheet, err);
    if (status)
        return status;
    const txm_picture picture = {sheet.pixels, 3 * (size_t)sheet.width, sheet.width, sheet.height, 3,
                                 TXM_TYPE_U8,  sheet.colorspace};
    status = txm_picture_write(args->output, &picture, err);
    txm_level_picture_clear(&sheet);
    return status;
}

/* The default is text on standard output. */
static void set_tile_defaults(void *p)
{
    ((tile_args *)p)->output = "-";
}

/* ---- the files -------------------------------------------------------------------------------------------------- */

typedef struct showing {
    const tile_args *args;
    bool headed; /* a line names each file, as in head(1) */
} showing;

static txm_status show_tile(void *user, txm_one_file *file, txm_error *err)
{
    const showing *s = user;
    const tile_args *args = s->args;
    const txm_input *input = file->input;
    window w = {0};
    txm_tx *tx = NULL;
    txm_status status = txm_input_check(input, err);
    if (status == TXM_OK)
        status = txm_tx_open(input->path, &tx, err);
    if (status == TXM_OK && args->all)
        status = write_sheet(tx, args, err);
    else if (status == TXM_OK)
        status = read_window(tx, args, &w, err);
    if (status == TXM_OK && s->headed) {
        fputs("==> ", stdout);
        txm_print_path(input->path);
        puts(" <==");
    }
    if (status == TXM_OK && !args->all)
        status = write_window(&w, input->path, args, err);
    if (status == TXM_OK && !args->json && strcmp(args->output, "-")) {
        if (args->all)
            txm_say(TXM_SAY_INFO, "%s: wrote all tiles of level %u", args->output, args->level);
        else
            txm_say(TXM_SAY_INFO, "%s: wrote tile %u,%u of level %u, %u x %u px", args->output, args->tile.x,
                    args->tile.y, args->level, w.w, w.h);
    }
    free(w.pixels);
    txm_tx_close(&tx);
    return status;
}

/* All inputs are checked, so that an output that is one of them is refused. */
static int run_tile(void *p, const txm_operands *operands)
{
    const tile_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_inputs *inputs = NULL;
    const txm_output output = {"-o", args->output,
                               choose_format(args) == FORMAT_IMAGE ? TXM_OUTPUT_PICTURE : TXM_OUTPUT_PIXELS,
                               args->overwrite};
    if (txm_tx_files_collect("tile", &args->files, operands, &inputs, &err) == TXM_OK) {
        size_t count = txm_inputs_count(inputs);
        if (count > 1 && strcmp(args->output, "-") != 0)
            txm_fail(&err, TXM_STATUS_USAGE, "-o takes the tile of a single tx file, but %zu are given", count);
        else if (txm_guard_output(&output, txm_files_path, inputs, &err) == TXM_OK) {
            /* Several files are possible only with text, because pictures would overwrite each other. */
            showing s = {args, txm_inputs_count(inputs) > 1 && !args->json && choose_format(args) == FORMAT_TEXT};
            txm_each_file_run(&(txm_each_file){.one = show_tile,
                                               .user = &s,
                                               .doing = "reading",
                                               .noun = "file",
                                               .good = "shown",
                                               .member = "file",
                                               .json = args->json,
                                               .data = true,
                                               .explain = txm_tx_explain},
                              inputs, &tally);
        }
    }
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(tile, tile_args, .purpose = "Show one tile of a tx file, with the pixels around it",
            .synopsis = "[OPTION...] TX...", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_tile_defaults);
