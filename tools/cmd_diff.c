/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill diff: compares the metadata and the pixels of each level of two files.
 *
 * In: two files, tx or ordinary images, and thresholds. Out: differing metadata, and for each level the largest and
 * mean error, PSNR, the share of samples that differ and the worst tile; exit code 5 beyond a threshold; on request a
 * picture of the differences.
 *
 * Two folders are compared file by file, by relative name. Type and container may differ, because pixels are
 * compared as float32. A level that cannot be compared, because sizes or channels differ, counts as a difference
 * whatever the thresholds are; without thresholds, so does every sample that is not equal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"
#include "tools/output/text.h"
#include "txmill/guard.h"
#include "txmill/inspect.h"
#include "txmill/picture.h"

typedef struct diff_report {
    const char *paths[2];
    txm_tx *tx[2]; /* NULL for ordinary images */
    const txm_difference *difference;
    bool within;   /* the thresholds */
    bool metadata; /* differs */
} diff_report;

/* Calls `fn` for every property and metadata entry that differs; a value is NULL if the file has no such entry.
 * Returns their number. Nothing is compared if one side is an ordinary image. */
typedef void (*txm_diff_entry_fn)(void *user, const char *name, const char *a, const char *b);

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
static size_t compare_properties(const diff_report *r, txm_diff_entry_fn fn, void *user)
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
static size_t diff_each_entry(const diff_report *r, txm_diff_entry_fn fn, void *user)
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
    txm_print_format("  %s: %s | %s\n", name, a ? a : "(none)", b ? b : "(none)");
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

static void diff_print_json_error(const char *const paths[2], const txm_error *err)
{
    cJSON *o = new_diff_object(paths);
    txm_json_error(o, err);
    txm_json_emit(o);
}

/* ---- the picture ------------------------------------------------------------------------------------------------ */

/* The scale ends at the largest error of the picture. If that is infinite, only infinite pixels are coloured,
 * because they could not be distinguished on a finite scale. */
static txm_status diff_write_map(const txm_difference *d, const char *path, txm_error *err)
{
    size_t pixels = txm_mul(d->map_width, d->map_height);
    uint8_t *rgb = txm_alloc_pixels(pixels, 3);
    if (!rgb)
        return txm_no_memory(err, path);
    double max = d->level[0].max;
    for (size_t i = 0; i < pixels; i++) {
        /* Blue, red, yellow, white, by the square root of the share, so that small errors are visible beside large
         * ones. */
        double share = isinf(max) ? (isinf(d->map[i]) ? 1.0 : 0.0) : max > 0 ? (double)d->map[i] / max : 0.0;
        static const double stops[5][3] = {{0, 0, 0}, {0, 0, 255}, {255, 0, 0}, {255, 255, 0}, {255, 255, 255}};
        double place = share > 0 ? 0.5 + 3.5 * sqrt(share) : 0;
        int below = place < 4 ? (int)place : 3;
        for (int c = 0; c < 3; c++)
            rgb[3 * i + (size_t)c] =
                (uint8_t)(stops[below][c] + (place - below) * (stops[below + 1][c] - stops[below][c]) + 0.5);
    }
    const txm_picture picture = {rgb, 3 * (size_t)d->map_width, d->map_width, d->map_height, 3, TXM_TYPE_U8, "sRGB"};
    txm_status status = txm_picture_write(path, &picture, err);
    free(rgb);
    return status;
}

typedef struct diff_args {
    double max_error, mean_error, min_psnr, max_share; /* negative: not given */
    bool metadata, overwrite;
    const char *output;
    txm_tx_files_args files;
    txm_jobs_args jobs;
    txm_report_args report;
} diff_args;

#define AT(member) .offset = offsetof(diff_args, member)
static const txm_option thresholds[] = {
    TXM_OPTION(NUMBER, "max-error", AT(max_error), .arg = "X", .most = INFINITY,
               .help = "Largest error allowed in any sample"),
    TXM_OPTION(NUMBER, "max-mean", AT(mean_error), .arg = "X", .most = INFINITY,
               .help = "Largest mean error allowed in a level"),
    TXM_OPTION(NUMBER, "min-psnr", AT(min_psnr), .arg = "DB", .most = INFINITY,
               .help = "Smallest signal-to-noise ratio allowed in a level, in decibels"),
    TXM_OPTION(NUMBER, "max-share", AT(max_share), .arg = "PERCENT", .most = INFINITY,
               .help = "Largest share of differing samples allowed in a level"),
    TXM_OPTION(FLAG, "metadata", .letter = 'm', AT(metadata), .help = "Count differences of metadata as well",
               .more = "They are always listed; with this option they also affect the exit code."),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION_OUTPUT(
        AT(output), "Write a picture of the differences of level 0",
        "Equal pixels are black, others blue, red, yellow and white, which is the largest error. Large images are "
        "shown in blocks: the picture has at most 2048 pixels per side. The extension determines the format."),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    {0},
};

static const txm_option_group groups[] = {
    {"Thresholds", thresholds, 0}, TXM_FILES_GROUP(diff_args),   {"Output", outputs, 0},
    TXM_JOBS_GROUP(diff_args),     TXM_REPORTS_GROUP(diff_args), {0},
};

/* A value below 0 means that there is no threshold. */
static void set_diff_defaults(void *p)
{
    diff_args *args = p;
    args->max_error = args->mean_error = args->min_psnr = args->max_share = -1;
}

/* Whether a level is within every given threshold; without any, whether all samples are equal. */
static bool level_within(const txm_level_error *e, const diff_args *args)
{
    if (!e->compared)
        return false;
    if (args->max_error < 0 && args->mean_error < 0 && args->min_psnr < 0 && args->max_share < 0)
        return e->different == 0;
    /* It is written so that NaN fails. */
    return (args->max_error < 0 || e->max <= args->max_error) &&
           (args->mean_error < 0 || e->mean <= args->mean_error) && (args->min_psnr < 0 || e->psnr >= args->min_psnr) &&
           (args->max_share < 0 || 100.0 * (double)e->different <= args->max_share * (double)e->samples);
}

/* State that all pairs share. */
typedef struct diffing {
    const diff_args *args;
    txm_context *context;
    txm_tally tally;
    txm_summary summary;
} diffing;

/* "the same" if all samples are equal, and the metadata too if it counts. */
static const char *word_of_diff(const diff_args *args, const diff_report *r)
{
    bool same = !(args->metadata && r->metadata);
    for (uint32_t l = 0; l < r->difference->levels; l++)
        same = same && r->difference->level[l].compared && !r->difference->level[l].different;
    return same ? "the same" : r->within && !(args->metadata && r->metadata) ? "within the thresholds" : "different";
}

static void print_diff_text(const diffing *x, const diff_report *r, const char *word, bool one_of_many)
{
    bool same = !strcmp(word, "the same");
    if (x->args->report.quiet)
        return;
    if (one_of_many && same) {
        txm_print_line(r->paths[0], TXM_GOOD, word, NULL);
        return;
    }
    /* The command prints the verdict, because it depends on the thresholds. */
    const txm_difference *d = r->difference;
    txm_print_format("%s | %s\n", r->paths[0], r->paths[1]);
    diff_each_entry(r, print_entry, NULL);
    printf("  level  size             max error  mean error   PSNR dB   differing  worst\n");
    for (uint32_t l = 0; l < d->levels; l++)
        print_level(d, l);
    printf("  %s%s%s%s\n", txm_style_on(!strcmp(word, "different") ? TXM_BAD : TXM_GOOD), word, txm_style_on(TXM_PLAIN),
           same && r->metadata ? ", except for the metadata" : "");
}

/* Pixels are compared first: if they cannot be compared, nothing is printed. */
static txm_status compare_files(diffing *x, const char *const paths[2], bool one_of_many, txm_error *err)
{
    const diff_args *args = x->args;
    txm_context *context = x->context;
    txm_difference d;
    txm_status status = txm_diff(context, paths[0], paths[1], args->output != NULL, &d, err);
    if (status)
        return status;
    diff_report r = {.paths = {paths[0], paths[1]}, .difference = &d, .within = true};
    /* Only tx files have metadata to compare; the other side may be an ordinary image. */
    for (int s = 0; s < 2 && !status; s++) {
        txm_error why = {0};
        txm_status opened = txm_tx_open(paths[s], &r.tx[s], &why);
        if (opened != TXM_OK && (why.sys_errno || opened == TXM_STATUS_NO_MEMORY))
            status = txm_fail_with(err, opened, &why);
        else if (opened != TXM_OK && (opened == TXM_STATUS_CHANGED || txm_path_has_ext(paths[s], "tx")))
            status = txm_fail(err, TXM_STATUS_CHANGED, "%s: changed while it was compared; compare it again", paths[s]);
    }
    for (uint32_t l = 0; l < d.levels; l++)
        r.within = r.within && level_within(&d.level[l], args);
    for (int s = 0; s < 2 && !status; s++)
        if (r.tx[s] && txm_tx_level_of(r.tx[s], 0))
            status = txm_tx_check(r.tx[s], err);
    r.metadata = diff_each_entry(&r, NULL, NULL) > 0;
    const char *word = status ? "failed" : word_of_diff(args, &r);
    x->tally.findings |= !status && !(r.within && !(args->metadata && r.metadata));
    if (!status && args->output)
        status = diff_write_map(&d, args->output, err);
    if (!status)
        txm_summary_add(&x->summary, word);
    if (!status && args->report.json) {
        /* All differing metadata is listed, whether it counts or not. */
        cJSON *o = new_diff_object(r.paths);
        txm_json_bool(o, "within", r.within);
        txm_json_bool(o, "metadata_differs", r.metadata);
        cJSON *metadata = txm_json_array(o, "metadata");
        diff_each_entry(&r, add_difference_json, metadata);
        cJSON *levels = txm_json_array(o, "levels");
        for (uint32_t l = 0; l < r.difference->levels; l++)
            add_level(levels, r.difference, l);
        txm_json_emit(o);
    } else if (!status)
        print_diff_text(x, &r, word, one_of_many);
    for (int s = 0; s < 2; s++)
        txm_tx_close(&r.tx[s]);
    txm_difference_clear(&d);
    return status;
}

/* If a pair fails, the others are still compared. */
static void compare(diffing *x, const txm_input *a, const txm_input *b, bool one_of_many)
{
    const char *const paths[2] = {a->path, b->path};
    txm_error err = {0};
    if (txm_input_check(a, &err) == TXM_OK && txm_input_check(b, &err) == TXM_OK)
        compare_files(x, paths, one_of_many, &err);
    if (err.status == TXM_STATUS_CANCELLED)
        return;
    txm_tally_add(&x->tally, err.status);
    if (err.status == TXM_OK)
        return;
    txm_summary_add(&x->summary, "failed");
    txm_say(TXM_SAY_ERROR, "%s", err.message);
    if (x->args->report.json)
        diff_print_json_error(paths, &err);
}

/* ---- folders ---------------------------------------------------------------------------------------------------- */

/* A file that is missing in the other folder is a difference, not a failure. */
static void tell_alone(diffing *x, const char *path, const char *folder, bool is_a)
{
    const char *const paths[2] = {is_a ? path : folder, is_a ? folder : path};
    txm_error err = {0};
    txm_fail(&err, TXM_STATUS_NOT_FOUND, "%s: not found in %s", path, folder);
    txm_tally_add(&x->tally, TXM_OK);
    txm_summary_add(&x->summary, is_a ? "only in the first folder" : "only in the second folder");
    x->tally.findings = true;
    if (x->args->report.json)
        diff_print_json_error(paths, &err);
    else
        txm_print_line(path, TXM_BAD, is_a ? "only in the first folder" : "only in the second folder", NULL);
}

/* The part of a path below a folder, however many slashes the folder was given with. */
static const char *below_folder(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n && folder[n - 1] == '/')
        n--;
    return path + n + strspn(path + n, "/");
}

static txm_status compare_folders(diffing *x, const txm_operands *operands, txm_error *err)
{
    txm_inputs *files[2] = {NULL, NULL};
    txm_names below = {0}; /* the path relative to the second folder, with the file's index + 1 */
    for (size_t s = 0; s < 2 && !err->status; s++) {
        const txm_operands one = {.items = &operands->items[s], .count = 1};
        txm_tx_files_collect("diff", &x->args->files, &one, &files[s], err);
    }
    for (size_t i = 0; !err->status && i < txm_inputs_count(files[1]); i++) {
        txm_name *entry = txm_names_entry(&below, below_folder(txm_inputs_at(files[1], i)->path, operands->items[1]));
        if (entry)
            entry->value = i + 1;
        else
            txm_no_memory(err, NULL);
    }
    for (size_t i = 0; !err->status && i < txm_inputs_count(files[0]) && !txm_signal_caught(); i++) {
        const txm_input *a = txm_inputs_at(files[0], i);
        txm_say_file_progress("comparing", i, txm_inputs_count(files[0]), x->args->report.quiet);
        const char *name = below_folder(a->path, operands->items[0]);
        txm_name *entry = txm_names_has(&below, name) ? txm_names_entry(&below, name) : NULL;
        if (!entry) {
            tell_alone(x, a->path, operands->items[1], true);
        } else {
            compare(x, a, txm_inputs_at(files[1], entry->value - 1), true);
            entry->value = 0;
        }
    }
    for (size_t i = 0; !err->status && i < txm_inputs_count(files[1]) && !txm_signal_caught(); i++) {
        const txm_input *b = txm_inputs_at(files[1], i);
        if (txm_names_entry(&below, below_folder(b->path, operands->items[1]))->value)
            tell_alone(x, b->path, operands->items[0], false);
    }
    if (!err->status && !x->args->report.json && !x->args->report.quiet)
        txm_summary_print(&x->summary, "file");
    txm_names_free(&below);
    txm_inputs_free(&files[0]);
    txm_inputs_free(&files[1]);
    return err->status;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

/* A path that cannot be examined does not count as a folder; the comparison then reports what is wrong with it. */
static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Operands are collected as in other commands, so that @FILE and patterns work; there must be two of them. */
static txm_status compare_pair(diffing *x, const txm_operands *operands, txm_error *err)
{
    static const txm_files_how how = {.command = "diff", .what = "file", .tx = true, .may_be_none = true};
    txm_inputs *pair = NULL;
    const txm_output output = {"-o", x->args->output, TXM_OUTPUT_PICTURE, x->args->overwrite};
    txm_status status = txm_files_collect(&how, &x->args->files, operands, &pair, err);
    size_t count = pair ? txm_inputs_count(pair) : 0;
    if (!status && count != 2)
        status = txm_fail(err, TXM_STATUS_USAGE,
                          "give two files to compare: %zu %s given; 'txmill diff --help' lists the options", count,
                          count == 1 ? "is" : "are");
    if (!status)
        status = txm_guard_output(&output, txm_files_path, pair, err);
    if (!status) {
        txm_say_file_progress("comparing", 0, 1, x->args->report.quiet);
        compare(x, txm_inputs_at(pair, 0), txm_inputs_at(pair, 1), false);
    }
    txm_inputs_free(&pair);
    return status;
}

/* Folders are compared only if both operands are folders; a folder and a file are refused. */
static int run_diff(void *p, const txm_operands *operands)
{
    const diff_args *args = p;
    diffing x = {.args = args, .summary = {.words = {"the same"}}};
    txm_error err = {0};
    txm_report_args_apply(&args->report);
    bool first = operands->count == 2 && is_folder(operands->items[0]);
    bool second = operands->count == 2 && is_folder(operands->items[1]), folders = first && second;
    const txm_context_options how = {.struct_size = sizeof(txm_context_options),
                                     .threads = args->jobs.threads,
                                     .device = "cpu",
                                     .cancel = txm_signal_flag(),
                                     .ignore_environment = true}; /* colours are compared as stored */
    txm_status status = TXM_OK;
    if (first != second)
        status = txm_fail(&err, TXM_STATUS_USAGE, "%s is a folder, but %s is not; name two tx files or two folders",
                          operands->items[second], operands->items[first]);
    if (!status && folders && args->output)
        status =
            txm_fail(&err, TXM_STATUS_USAGE, "-o draws the differences of two files, not of folders; name two files");
    if (!status)
        status = txm_context_new(&how, &x.context, &err);
    if (!status)
        status = (folders ? compare_folders : compare_pair)(&x, operands, &err);
    txm_context_free(&x.context);
    return status ? txm_finish_failed(&err, 0) : txm_finish(&x.tally);
}

TXM_COMMAND(diff, diff_args, .purpose = "Compare two files: metadata, and the pixels of each level",
            .synopsis = "[OPTION...] A B", .operand_values = TXM_VALUES_FILE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL,
            .defaults = set_diff_defaults);
