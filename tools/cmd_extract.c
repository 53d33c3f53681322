/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill extract: one level of tx files, or all of them, as pictures.
 *
 * In: a tx file and a level; a Ptex file, a face and a level. Out: a picture in the format of the output's extension:
 * as stored where the format holds that, else encoded for viewing.
 *
 * Several files need a folder as output; pictures are named after the images, or, where two would share a name,
 * after the whole tx file, with a number if need be. --raw keeps scene-linear values in 8-bit formats, for looking at
 * what is stored rather than at the texture.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mill/base/names.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/path.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/guard.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"
#include "tools/ptex/ptex_files.h"
#include "tools/ptex/ptex_picture.h"
#include "txmill/inspect.h"
#include "txmill/level.h"

enum { TXM_EXTRACT_SCHEMA_VERSION = 1 };

typedef struct extract_args {
    uint32_t level, fit_px, face; /* TXM_PTEX_ALL_FACES: not given */
    bool atlas, raw, overwrite, json;
    const char *output, *format;
    txm_tx_files_args files;
} extract_args;

/* Extensions are written into names. */
static txm_status parse_format(const char *text, void *field, txm_error *err)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    if (!n || text[n] || n > 8)
        return txm_fail(err, TXM_STATUS_USAGE, "must be the extension of a picture's name, as png or exr");
    *(const char **)field = text;
    return TXM_OK;
}

/* A face's number, of which there may be any. */
static txm_status parse_face(const char *text, void *field, txm_error *err)
{
    char *end;
    unsigned long long face = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || face >= TXM_PTEX_ALL_FACES)
        return txm_fail(err, TXM_STATUS_USAGE, "must be a face's number, counted from 0");
    if (field)
        *(uint32_t *)field = (uint32_t)face;
    return TXM_OK;
}

static void set_extract_defaults(void *p)
{
    ((extract_args *)p)->face = TXM_PTEX_ALL_FACES;
}

#define AT(member) .offset = offsetof(extract_args, member)
static const txm_option options[] = {
    TXM_OPTION_LEVEL(AT(level), "0"),
    TXM_OPTION(UINT, "fit", AT(fit_px), .arg = "PIXELS", .min = 1, .max = 65536,
               .help = "The largest level of which neither side is longer",
               .more = "As thumbnails want it. A file of which no level is that small fails."),
    TXM_OPTION(FLAG, "atlas", AT(atlas), .help = "All levels in one picture",
               .more = "Level 0 is on the left, the others are stacked to its right."),
    TXM_OPTION(CUSTOM, "face", AT(face), .arg = "NUMBER", .parse = parse_face,
               .help = "Of a Ptex file: this face alone (default: all, on one sheet)",
               .more =
                   "Faces are counted from 0, as the polygons of the mesh. Row 0 of a face is the picture's lowest."),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION_OUTPUT(
        AT(output), "Write there, in the format of its extension (required)",
        "A folder takes the pictures of any number of files, each under the name of its image: wood.png.0-"
        "MD5.tx gives wood.png; where several images have one name, the others are named after the whole tx file, "
        "with a number if need be. A name that ends with a slash is that of a folder, which is made where it is "
        "missing."),
    TXM_OPTION(CUSTOM, "format", AT(format), .arg = "EXTENSION", .values = "png exr tif jpg hdr webp tga bmp dpx",
               .parse = parse_format,
               .help = "Format of the pictures (default: by the output's name; in a folder png)"),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    TXM_OPTION(
        FLAG, "raw", AT(raw), .help = "Write values as they are stored, in formats for viewing too",
        .more =
            "Without it, scene-linear values are encoded through the sRGB curve when the format is one for viewing, "
            "such as PNG or JPEG. Primaries are not converted."),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object per file that says what was written"),
    {0},
};

static const txm_option_group groups[] = {
    {"Which pixels", options, 0},
    TXM_FILES_GROUP(extract_args),
    {"Output", outputs, 0},
    {0},
};

/* One file on its way into a picture. */
typedef struct extraction {
    const extract_args *args;
    const char *path, *output;
} extraction;

/* Both successes and failures have the two names, so that a script can match them. */
static cJSON *new_extract_object(const extraction *x)
{
    cJSON *o = txm_json_new("txmill.extract", TXM_EXTRACT_SCHEMA_VERSION);
    txm_json_text(o, "file", x->path);
    txm_json_text(o, "output", x->output);
    return o;
}

/* `encoded` says whether values were changed for viewing: without it a picture cannot be judged. */
static void print_extract_json(const extraction *x, const txm_extracted *p)
{
    cJSON *o = new_extract_object(x);
    if (x->args->atlas)
        txm_json_text(o, "level", NULL);
    else
        txm_json_uint(o, "level", p->level);
    txm_json_size(o, p->width, p->height);
    txm_json_uint(o, "channels", p->channels);
    txm_json_text(o, "data_type", txm_type_name(p->type));
    txm_json_bool(o, "encoded", p->encoded);
    txm_json_emit(o);
}

/* On stderr: standard output may be the picture's. */
static void say_written(const extraction *x, const txm_extracted *p)
{
    char level[32];
    snprintf(level, sizeof level, "level %u", p->level);
    char channels[TXM_FORMAT_COUNT];
    txm_say(TXM_SAY_INFO, "%s: wrote %s, %u x %u px, %s %s", x->output, x->args->atlas ? "all levels" : level, p->width,
            p->height, txm_type_name(p->type),
            p->channels > TXM_MAX_CHANNELS ? txm_format_count(p->channels, "channel", channels)
                                           : txm_format_channels(p->channels));
}

/* A face of a Ptex file, or all of them. */
static txm_status extract_ptex(const extraction *x, txm_extracted *result, txm_error *err)
{
    const extract_args *args = x->args;
    const txm_ptex_extract how = {args->face, args->level, args->fit_px, args->raw, args->format};
    if (args->atlas)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: a Ptex file's faces have levels of their own; give --level",
                        x->path);
    return txm_ptex_write_picture(x->path, x->output, &how, result, err);
}

/* Reads, encodes if the format is for viewing, writes. The guard against overwriting a source has run before. */
static txm_status extract(const extraction *x, txm_error *err)
{
    const extract_args *args = x->args;
    const txm_extract_options how = {.struct_size = sizeof(txm_extract_options),
                                     .level = args->level,
                                     .atlas = args->atlas,
                                     .raw = args->raw,
                                     .fit_px = args->fit_px,
                                     .format = args->format};
    txm_extracted result;
    txm_status status = TXM_OK;
    if (txm_ptex_is_file(x->path))
        status = extract_ptex(x, &result, err);
    else if (args->face != TXM_PTEX_ALL_FACES)
        status = txm_fail(err, TXM_STATUS_USAGE, "%s: --face is for Ptex files", x->path);
    else
        status = txm_extract(x->path, x->output, &how, &result, err);
    if (!status && args->json)
        print_extract_json(x, &result);
    else if (!status)
        say_written(x, &result);
    return status;
}

/* ---- the files -------------------------------------------------------------------------------------------------- */

/* A trailing slash makes a folder of it even if there is none yet. */
static bool names_folder(const char *output)
{
    struct stat st;
    return output[strlen(output) - 1] == '/' || (stat(output, &st) == 0 && S_ISDIR(st.st_mode));
}

/* The picture of a file in the folder: by its image's name, where that is taken by its own, and where images of one
 * name from several folders share both with a number. NULL when memory is exhausted. */
static char *picture_name(const extract_args *args, const char *path, txm_names *taken)
{
    /* PNG holds what most textures hold; floats are written as they are only in formats that can (EXR, TIFF). */
    const char *base = txm_path_base(path), *format = args->format ? args->format : "png";
    size_t image_bytes, bytes = strlen(base);
    unsigned version;
    char md5[33];
    char *name = NULL;
    bool of_image = txm_tx_name_parse(base, &image_bytes, &version, md5);
    for (unsigned own = !of_image; own < UINT_MAX; own++) {
        char number[16] = "";
        size_t n = own ? bytes : image_bytes;
        const char *dot = memrchr(base, '.', n);
        n = dot && dot > base ? (size_t)(dot - base) : n;
        free(name);
        if (own > 1)
            snprintf(number, sizeof number, ".%u", own);
        name = txm_asprintf("%.*s%s.%s", (int)n, base, number, format);
        if (!name || !txm_names_has(taken, name))
            break;
    }
    char *full = name && txm_names_put(taken, name) ? txm_path_join(args->output, name) : NULL;
    free(name);
    return full;
}

/* The name is chosen first, then guarded: -o could name the very file that is read. */
static txm_status extract_one(const extract_args *args, const txm_inputs *inputs, size_t index, txm_names *taken,
                              txm_error *err)
{
    const txm_input *input = txm_inputs_at(inputs, index);
    bool folder = names_folder(args->output);
    char *name = folder ? picture_name(args, input->path, taken) : txm_strdup(args->output);
    const extraction x = {args, input->path, name ? name : args->output};
    const txm_output output = {"-o", name, TXM_OUTPUT_PICTURE, args->overwrite};
    txm_status status = name ? txm_input_check(input, err) : txm_no_memory(err, input->path);
    if (status == TXM_OK)
        status = txm_guard_output(&output, txm_files_path, inputs, err);
    if (status == TXM_OK)
        status = extract(&x, err);
    if (status != TXM_OK && args->json) {
        cJSON *o = new_extract_object(&x);
        txm_json_error(o, err);
        txm_json_emit(o);
    }
    free(name);
    return status;
}

/* Files one after the other: the library decodes each with all threads. */
static void extract_all(const extract_args *args, const txm_inputs *inputs, txm_tally *tally)
{
    txm_summary summary = {.words = {"written"}};
    txm_names taken = {0};
    size_t count = txm_inputs_count(inputs);
    for (size_t i = 0; i < count && !txm_signal_caught(); i++) {
        txm_error err = {0};
        txm_status status = extract_one(args, inputs, i, &taken, &err);
        txm_tally_add(tally, status);
        txm_summary_add(&summary, status == TXM_OK ? "written" : "failed");
        txm_tx_explain(txm_inputs_at(inputs, i)->path, &err);
        if (status != TXM_OK)
            txm_say(TXM_SAY_ERROR, "%s", err.message);
    }
    txm_names_free(&taken);
    if (count > 1 && !args->json)
        txm_summary_say(&summary, "picture");
}

/* The folder is made only if it was asked for with a slash: a mistyped name should not leave one. */
static txm_status check_extract_args(const extract_args *args, const txm_inputs *inputs, txm_error *err)
{
    size_t count = txm_inputs_count(inputs);
    bool slash = args->output[strlen(args->output) - 1] == '/';
    if (count > 1 && !names_folder(args->output))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "-o %s: %zu tx files are given; name a folder for their pictures, as in -o pictures/",
                        args->output, count);
    return slash ? txm_folders_make(args->output, err) : TXM_OK;
}

/* Without -o there is nothing sensible to do: a picture on a terminal is `txmill view`. */
static int run_extract(void *p, const txm_operands *operands)
{
    const extract_args *args = p;
    txm_error err = {0};
    txm_tally tally = {0};
    txm_inputs *inputs = NULL;
    if (args->fit_px && (args->atlas || txm_opt_given(operands, "level")))
        txm_fail(&err, TXM_STATUS_USAGE, "--fit chooses the level: give it without --level and --atlas");
    else if (operands->count && (!args->output || !*args->output))
        txm_fail(&err, TXM_STATUS_USAGE, "no output given; name one with -o, as in -o picture.png");
    else if (txm_tx_files_collect("extract", &args->files, operands, &inputs, &err) == TXM_OK &&
             check_extract_args(args, inputs, &err) == TXM_OK)
        extract_all(args, inputs, &tally);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(extract, extract_args, .defaults = set_extract_defaults,
            .purpose = "Write a level of tx files, or all of them, as pictures",
            .synopsis = "[OPTION...] -o FILE|DIR TX...", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
