/* SPDX-License-Identifier: Apache-2.0
 * txmill extract: one level of a tx file, or all of them, as a picture. */
#include "core/fail.h"
#include "core/path.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/guard.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/picture/level_picture.h"
#include "tools/picture/picture_file.h"

enum { TXM_EXTRACT_SCHEMA_VERSION = 1 };

typedef struct extract_args {
    uint32_t level;
    bool atlas, raw, force, json;
    const char *output;
} extract_args;

#define AT(member) .offset = offsetof(extract_args, member)
static const txm_option options[] = {
    TXM_OPTION_LEVEL(AT(level), "0"),
    TXM_OPTION(FLAG, "atlas", AT(atlas), .help = "All levels in one picture",
               .more = "Level 0 is on the left, the others are stacked to its right."),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION_OUTPUT(AT(output), "Write there, in the format of its extension (required)", NULL),
    TXM_OPTION_FORCE(AT(force)),
    TXM_OPTION(
        FLAG, "raw", AT(raw), .help = "Write values as they are stored, in formats for viewing too",
        .more =
            "Without it, scene-linear values are encoded through the sRGB curve when the format is one for viewing, "
            "such as PNG or JPEG. Primaries are not converted."),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object that says what was written"),
    {0},
};
#undef AT

static const txm_option_group groups[] = {{"Which pixels", options, 0}, {"Output", outputs, 0}, {0}};

/* Formats that hold linear floats, or whatever they are given, get what is stored. */
static bool is_for_viewing(const char *path)
{
    static const char *const storage[] = {"exr", "hdr", "rgbe", "pfm", "tif", "tiff", "tx", "env", "sm", "shd", "dpx"};
    for (size_t i = 0; i < sizeof storage / sizeof *storage; i++)
        if (txm_path_has_ext(path, storage[i]))
            return false;
    return true;
}

static cJSON *new_object(const char *path, const extract_args *args)
{
    cJSON *o = txm_json_new("txmill.extract", TXM_EXTRACT_SCHEMA_VERSION);
    txm_json_text(o, "file", path);
    txm_json_text(o, "output", args->output);
    return o;
}

static void print_json(const char *path, const extract_args *args, const txm_level_picture *p)
{
    cJSON *o = new_object(path, args);
    if (args->atlas)
        txm_json_text(o, "level", NULL);
    else
        txm_json_uint(o, "level", args->level);
    txm_json_uint(o, "width", p->width);
    txm_json_uint(o, "height", p->height);
    txm_json_uint(o, "channels", p->channels);
    txm_json_text(o, "data_type", txm_type_name(p->type));
    txm_json_bool(o, "encoded", p->encoded);
    txm_json_emit(o);
}

static txm_status extract(const char *path, const extract_args *args, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_level_picture p = {0};
    txm_error own = {0};
    txm_status status = txm_tx_open(path, &tx, err);
    if (status)
        return status;
    status = txm_level_picture_read(tx, args->level, args->atlas, &p, &own);
    if (!status && !args->raw && is_for_viewing(args->output))
        status = txm_level_picture_encode(tx, &p, &own);
    if (!status) {
        const txm_picture picture = {
            p.pixels,    (size_t)p.width * p.channels * txm_type_bytes(p.type), p.width, p.height, p.channels, p.type,
            p.colorspace};
        status = txm_picture_write(args->output, &picture, &own);
    }
    if (!status && args->json)
        print_json(path, args, &p);
    txm_level_picture_clear(&p);
    txm_tx_close(&tx);
    if (status == TXM_STATUS_USAGE)
        txm_error_prefix(&own, "%s", path);
    return status ? txm_fail(err, status, "%s", own.message) : TXM_OK;
}

static int run_extract(void *p, const txm_operands *operands)
{
    const extract_args *args = p;
    txm_error err = {0};
    txm_tally tally = {0};
    if (operands->count != 1)
        txm_fail(&err, TXM_STATUS_USAGE, "one tx file is needed; 'txmill extract --help' lists the options");
    else if (!args->output || !*args->output)
        txm_fail(&err, TXM_STATUS_USAGE, "no output given; name one with -o, as in -o picture.png");
    if (err.status)
        return txm_finish_failed(&err, 0);
    const txm_output output = {"-o", args->output, TXM_OUTPUT_PICTURE, args->force};
    if (txm_guard_operands(&output, operands->items, operands->count, &err))
        return txm_finish_failed(&err, operands->count);
    txm_status status = extract(operands->items[0], args, &err);
    txm_tally_add(&tally, status);
    if (status) {
        txm_say(TXM_SAY_ERROR, "%s", err.message);
        if (args->json) {
            cJSON *o = new_object(operands->items[0], args);
            txm_json_error(o, &err);
            txm_json_emit(o);
        }
    }
    return txm_finish(&tally);
}

TXM_COMMAND(extract, extract_args, .purpose = "Write a level of a tx file, or all of them, as a picture",
            .synopsis = "[OPTION...] -o FILE TX", .operand_values = TXM_VALUES_FILE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
