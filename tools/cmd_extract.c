/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill extract: writes levels of tx files, and faces of Ptex files, as pictures.
 *
 * In: a tx file and a level; a Ptex file, a face and a level. Out: a picture in the format of the output's extension:
 * as stored if the format supports this, else encoded for viewing.
 *
 * Several files need a folder as output. Pictures are named after the images; if two images have the same name, after
 * the whole tx file, with a number if necessary. --raw keeps scene-linear values in 8-bit formats, to show what is
 * stored.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/ptex/ptex_files.h"
#include "tools/ptex/ptex_picture.h"
#include "txmill/guard.h"
#include "txmill/inspect.h"
#include "txmill/level.h"

typedef struct extract_args {
    uint32_t level, fit_px, face; /* TXM_PTEX_ALL_FACES: not given */
    bool atlas, raw, overwrite, json;
    const char *output, *format;
    txm_tx_files_args files;
} extract_args;

/* Extensions become part of file names, so they must not contain slashes. */
static txm_status parse_format(const char *text, void *field, txm_error *err)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    if (!n || text[n] || n > 8)
        return txm_fail(err, TXM_STATUS_USAGE, "must be the extension of a picture, such as png or exr");
    *(const char **)field = text;
    return TXM_OK;
}

/* A face's number; whether there is such a face is checked later. */
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
               .help = "Write the largest level that has at most this many pixels per side",
               .more = "For thumbnails. It fails for a file without a level that small."),
    TXM_OPTION(FLAG, "atlas", AT(atlas), .help = "Write all levels into one picture",
               .more = "Level 0 is on the left, the others are stacked to its right."),
    TXM_OPTION(CUSTOM, "face", AT(face), .arg = "NUMBER", .parse = parse_face,
               .help = "For a Ptex file: only this face (default: all faces, on one sheet)",
               .more = "Faces are counted from 0, in the order of the mesh's polygons. Row 0 of a face is at the "
                       "bottom of the picture."),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION_OUTPUT(
        AT(output), "Write to this file, in the format of its extension (required)",
        "If it is a folder, pictures of any number of files are written there, each with the name of its image: "
        "wood.png.0-MD5.tx becomes wood.png; if several images have the same name, pictures are named after the whole "
        "tx file, with a number if necessary. If the name ends with a slash, the folder is created if necessary."),
    TXM_OPTION(CUSTOM, "format", AT(format), .arg = "EXTENSION", .values = "png exr tif jpg hdr webp tga bmp dpx",
               .parse = parse_format,
               .help = "Format of the pictures (default: from the output's name; png for a folder)"),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    TXM_OPTION(FLAG, "raw", AT(raw), .help = "Write the stored values, also in formats for viewing",
               .more = "Without it, scene-linear values are encoded with the sRGB curve in formats for viewing, such "
                       "as PNG or JPEG. Primaries are not converted."),
    TXM_OPTION(FLAG, "json", AT(json),
               .help = "Print one JSON object per file, with the picture's name and properties"),
    {0},
};

static const txm_option_group groups[] = {
    {"Which pixels", options, 0},
    TXM_FILES_GROUP(extract_args),
    {"Output", outputs, 0},
    {0},
};

typedef struct extraction {
    const extract_args *args;
    const txm_inputs *inputs;
    txm_names taken;
    const char *path;
    char *output; /* the picture of the file at hand; NULL: no memory */
} extraction;

static void describe_picture(void *user, const txm_one_file *file, cJSON *o)
{
    const extraction *x = user;
    txm_json_text(o, "file", file->name);
    txm_json_text(o, "output", x->output ? x->output : x->args->output);
}

static txm_status extract_ptex(const extraction *x, txm_extracted *result, txm_error *err)
{
    const extract_args *args = x->args;
    const txm_ptex_extract how = {args->face, args->level, args->fit_px, args->raw, args->format};
    if (args->atlas)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s: the faces of a Ptex file have separate levels; choose one with --level", x->path);
    return txm_ptex_write_picture(x->path, x->output, &how, result, err);
}

/* Reads the level, encodes it if the format is for viewing, and writes it. The caller has checked that no source is
 * overwritten. */
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
        status = txm_fail(err, TXM_STATUS_USAGE, "%s: --face is only for Ptex files", x->path);
    else
        status = txm_extract(x->path, x->output, &how, &result, err);
    if (!status && args->json) {
        /* `encoded` says whether values were changed for viewing, which a reader of the picture has to know. */
        cJSON *o = txm_json_result();
        txm_json_text(o, "file", x->path);
        txm_json_text(o, "output", x->output);
        if (x->args->atlas)
            txm_json_text(o, "level", NULL);
        else
            txm_json_uint(o, "level", result.level);
        txm_json_size(o, result.width, result.height);
        txm_json_uint(o, "channels", result.channels);
        txm_json_text(o, "data_type", txm_type_name(result.type));
        txm_json_bool(o, "encoded", result.encoded);
        txm_json_emit(o);
    } else if (!status) {
        /* It is printed on stderr, because the picture may be written to standard output. */
        char level[32];
        snprintf(level, sizeof level, "level %u", result.level);
        char channels[TXM_FORMAT_COUNT];
        txm_say(TXM_SAY_INFO, "%s: wrote %s, %u x %u px, %s %s", x->output, x->args->atlas ? "all levels" : level,
                result.width, result.height, txm_type_name(result.type),
                result.channels > TXM_MAX_CHANNELS ? txm_format_count(result.channels, "channel", channels)
                                                   : txm_format_channels(result.channels));
    }
    return status;
}

/* ---- the files -------------------------------------------------------------------------------------------------- */

/* A trailing slash means a folder, even if it does not exist yet. */
static bool names_folder(const char *output)
{
    struct stat st;
    return output[strlen(output) - 1] == '/' || (stat(output, &st) == 0 && S_ISDIR(st.st_mode));
}

/* The name of a file's picture in the folder: that of its image, or that of the tx file if it is taken, with a
 * number if that is taken too. NULL when memory is exhausted. */
static char *picture_name(const extract_args *args, const char *path, txm_names *taken)
{
    /* PNG supports most textures; only EXR and TIFF store floats unchanged. */
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

/* The name is chosen before it is checked, because -o could name the file that is read. */
static txm_status extract_one(void *user, txm_one_file *file, txm_error *err)
{
    extraction *x = user;
    const extract_args *args = x->args;
    free(x->output);
    x->path = file->input->path;
    x->output = names_folder(args->output) ? picture_name(args, x->path, &x->taken) : txm_strdup(args->output);
    const txm_output output = {"-o", x->output, TXM_OUTPUT_PICTURE, args->overwrite};
    txm_status status = x->output ? txm_input_check(file->input, err) : txm_no_memory(err, x->path);
    if (status == TXM_OK)
        status = txm_guard_output(&output, txm_files_path, x->inputs, err);
    return status == TXM_OK ? extract(x, err) : status;
}

/* The folder is created only if its name ends with a slash, so that a mistyped name does not create one. */
static txm_status check_extract_args(const extract_args *args, const txm_inputs *inputs, txm_error *err)
{
    size_t count = txm_inputs_count(inputs);
    bool slash = args->output[strlen(args->output) - 1] == '/';
    if (count > 1 && !names_folder(args->output))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "-o %s: %zu tx files need a folder for their pictures; give one, as in -o pictures/",
                        args->output, count);
    return slash ? txm_folders_make(args->output, err) : TXM_OK;
}

/* An output is required; to show a picture on a terminal there is `txmill view`. */
static int run_extract(void *p, const txm_operands *operands)
{
    const extract_args *args = p;
    txm_error err = {0};
    txm_tally tally = {0};
    txm_inputs *inputs = NULL;
    if (args->fit_px && (args->atlas || txm_opt_given(operands, "level")))
        txm_fail(&err, TXM_STATUS_USAGE, "--fit chooses the level, so leave out --level and --atlas");
    else if (operands->count && (!args->output || !*args->output))
        txm_fail(&err, TXM_STATUS_USAGE, "no output given; name one with -o, as in -o picture.png");
    else if (txm_tx_files_collect("extract", &args->files, operands, &inputs, &err) == TXM_OK &&
             check_extract_args(args, inputs, &err) == TXM_OK) {
        /* Files are written one after the other, because the library decodes each with all threads. */
        extraction x = {.args = args, .inputs = inputs};
        txm_each_file_run(
            &(txm_each_file){.one = extract_one,
                             .user = &x,
                             .doing = txm_inputs_count(inputs) > 1 ? "writing pictures of" : "writing the picture",
                             .noun = "picture",
                             .good = "written",
                             .json = args->json,
                             .data = true,
                             .explain = txm_tx_explain,
                             .describe = describe_picture},
            inputs, &tally);
        free(x.output);
        txm_names_free(&x.taken);
    }
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(extract, extract_args, .defaults = set_extract_defaults, .purpose = "Write levels of tx files as pictures",
            .synopsis = "[OPTION...] -o FILE|DIR TX...", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
