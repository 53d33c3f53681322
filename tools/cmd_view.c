/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill view: shows tx files in the terminal, or as a page for the browser.
 *
 * In: tx files. Out: pictures in the terminal, or a page for the browser.
 *
 * In the terminal each file is one picture, as large as fits, drawn by the best method that the terminal supports. The
 * page has all levels, tiles and values of all files, as far as --page-size allows, and needs no network.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/info_report.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/text.h"
#include "tools/ptex/ptex_files.h"
#include "tools/ptex/ptex_page.h"
#include "tools/ptex/ptex_picture.h"
#include "tools/view/view_page.h"
#include "tools/view/view_terminal.h"
#include "txmill/guard.h"

typedef struct cells {
    uint32_t columns, rows;
} cells;

typedef struct view_args {
    uint32_t level; /* FITTING: not given */
    cells size;
    int format; /* txm_view_format */
    const char *html;
    uint64_t page_bytes;
    bool overwrite, json;
    txm_tx_files_args files;
    txm_config_args config;
    txm_jobs_args jobs;
} view_args;

/* State that all files share. */
typedef struct viewing {
    view_args *args;
    txm_inputs *inputs;
    txm_project_contexts contexts;
} viewing;

enum { FITTING = UINT32_MAX, PAGE_MEGABYTES = 16 };

/* Columns and rows of the terminal, not pixels. */
static txm_status parse_size(const char *text, void *field, txm_error *err)
{
    unsigned columns, rows;
    char rest;
    if (sscanf(text, "%4ux%4u%c", &columns, &rows, &rest) != 2 || !columns || !rows || columns > 1000 || rows > 1000)
        return txm_fail(err, TXM_STATUS_USAGE, "must be columns and rows, 1x1 to 1000x1000, such as 80x24");
    if (field)
        *(cells *)field = (cells){columns, rows};
    return TXM_OK;
}

#define AT(member) .offset = offsetof(view_args, member)
static const txm_option picture_options[] = {
    TXM_OPTION_LEVEL(AT(level), "the one that fits"),
    TXM_OPTION(CUSTOM, "size", .letter = 's', AT(size), .arg = "COLUMNSxROWS", .parse = parse_size,
               .help = "Largest size in terminal cells (default: that of the terminal)"),
    TXM_OPTION(CHOICE, "format", .letter = 'F', AT(format), .arg = "FORMAT", .values = "auto symbols sixel kitty",
               .help = "auto, symbols, sixel or kitty (default: auto, the best that the terminal supports)",
               .more = "TERM and similar variables say what a terminal supports. If a format is given, it is also "
                       "written to a file or pipe. Symbols are Unicode blocks if the locale is UTF-8, else ASCII."),
    {0},
};
static const txm_option page_options[] = {
    TXM_OPTION(STRING, "html", AT(html), .arg = "FILE", .values = TXM_VALUES_PAGE,
               .help = "Write a page for the browser to this file; - is standard output",
               .more = "The file needs neither a network nor a server. See THE PAGE."),
    TXM_OPTION_OUTPUT(AT(html), "The same as --html", NULL),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    TXM_OPTION(SIZE, "page-size", AT(page_bytes), .arg = "SIZE",
               .help = "Largest size of the pixels in the page, such as 8M or 1G (default: 16M)",
               .more = "The size is divided among all files. The page has the smaller levels of each, as many as fit, "
                       "and says which are missing."),
    TXM_OPTION(FLAG, "json", AT(json), .help = "With --html: print one JSON object per file"),
    {0},
};

static const txm_option_group groups[] = {
    {"Picture", picture_options, 0}, {"Page", page_options, 0}, TXM_FILES_GROUP(view_args),
    TXM_COLOUR_GROUP(view_args),     TXM_JOBS_GROUP(view_args), {0},
};

/* The default is the level that fits the terminal, and a page of 16 MB. */
static void set_view_defaults(void *p)
{
    view_args *args = p;
    args->level = FITTING;
    args->page_bytes = (uint64_t)PAGE_MEGABYTES << 20;
}

/* ---- in the terminal -------------------------------------------------------------------------------------------- */

/* The smallest level with at least as many pixels as the target, or the largest level. */
static uint32_t fitting_level(const txm_tx *tx, const txm_view_terminal *terminal)
{
    uint32_t w, h, level = txm_tx_info_of(tx)->levels - 1;
    txm_view_terminal_target(terminal, &w, &h);
    while (level && txm_tx_level_of(tx, level)->width < w && txm_tx_level_of(tx, level)->height < h)
        level--;
    return level;
}

/* Below the picture there are a few lines that fit the terminal's width; without a terminal, the level and all facts
 * of the header. */
static txm_status show_in_terminal(const viewing *v, size_t index, const txm_view_terminal *terminal, txm_error *err)
{
    static const txm_info_extent header_only;
    const char *path = txm_inputs_at(v->inputs, index)->path;
    txm_info info;
    txm_status status = txm_info_load(txm_project_context(&v->contexts, index), NULL, path, true, &info, err);
    if (status)
        return status;
    uint32_t level = v->args->level == FITTING ? fitting_level(info.tx, terminal) : v->args->level;
    /* Converts stored values to 8 bits in the same way as extract, so that both show the same. */
    txm_level_picture picture = {0};
    status = txm_level_picture_read(info.tx, level, false, &picture, err);
    if (!status)
        status = txm_level_picture_encode(info.tx, &picture, err);
    if (!status)
        status = txm_level_picture_to_8_bits(&picture, err);
    if (!status)
        status = txm_view_terminal_print(terminal, &picture, err);
    txm_level_picture_clear(&picture);
    if (!status && isatty(STDOUT_FILENO)) {
        txm_info_print_short(&info, level, txm_terminal_columns(STDOUT_FILENO));
    } else if (!status) {
        const txm_tx_level *l = txm_tx_level_of(info.tx, level);
        printf("level %u of %u: %u x %u px\n", level, txm_tx_info_of(info.tx)->levels, l->width, l->height);
        txm_info_print_text(&info, &header_only);
    } else if (status != TXM_STATUS_NO_MEMORY) {
        txm_error_prefix(err, "%s", path);
    }
    fflush(stdout);
    txm_info_clear(&info);
    return status;
}

/* All faces of a Ptex file on one sheet, at the largest level with no more texels than the terminal has pixels. */
static txm_status show_ptex(const viewing *v, const char *path, const txm_view_terminal *terminal, txm_error *err)
{
    txm_level_picture picture = {0};
    txm_ptex_sheet sheet = {.places = NULL};
    txm_ptex *p;
    uint32_t w, h;
    txm_view_terminal_target(terminal, &w, &h);
    txm_status status = txm_ptex_open(path, TXM_PTEX_PREMULTIPLY, &p, err);
    if (status != TXM_OK)
        return status;
    uint32_t level = v->args->level == FITTING ? txm_ptex_level_within(p, (uint64_t)w * h) : v->args->level;
    status = txm_ptex_sheet_lay(p, level, &sheet, err);
    if (status == TXM_OK)
        status = txm_ptex_sheet_picture(p, &sheet, level, TXM_PTEX_COLOURS, txm_signal_flag(), &picture, err);
    if (status == TXM_OK)
        status = txm_view_terminal_print(terminal, &picture, err);
    if (status == TXM_OK) {
        char faces[TXM_FORMAT_COUNT];
        txm_print_path(path);
        printf(": level %u of %s\n", level, txm_format_count(txm_ptex_info_of(p)->faces, "face", faces));
        fflush(stdout);
    }
    txm_level_picture_clear(&picture);
    txm_ptex_sheet_clear(&sheet);
    txm_ptex_close(&p);
    return status;
}

/* The size and abilities of the terminal are determined once, not per file. */
typedef struct showing {
    const viewing *v;
    txm_view_terminal terminal;
} showing;

static txm_status show_one(void *user, txm_one_file *file, txm_error *err)
{
    showing *s = user;
    txm_status status = txm_input_check(file->input, err);
    if (status)
        return status;
    return txm_ptex_is_file(file->input->path) ? show_ptex(s->v, file->input->path, &s->terminal, err)
                                               : show_in_terminal(s->v, file->index, &s->terminal, err);
}

static void show_views(const viewing *v, txm_tally *tally)
{
    const view_args *args = v->args;
    showing s = {v, {.columns = args->size.columns, .rows = args->size.rows, .format = (txm_view_format)args->format}};
    txm_view_terminal_find(&s.terminal);
    txm_each_file_run(
        &(txm_each_file){.one = show_one, .user = &s, .noun = "file", .good = "shown", .explain = txm_tx_explain},
        v->inputs, tally);
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

/* Lists the levels in the page; the others were left out because of its size. */
static void print_view_json(const char *path, const view_args *args, const txm_view_page_file *what,
                            const txm_error *err)
{
    cJSON *o = txm_json_new("txmill.view");
    txm_json_text(o, "file", path);
    txm_json_text(o, "page", args->html);
    if (err->status) {
        txm_json_error(o, err);
    } else {
        cJSON *levels = txm_json_array(o, "levels");
        for (uint32_t l = 0; l < what->levels; l++)
            if (what->embedded[l])
                txm_json_append_number(levels, l, 3);
        txm_json_uint(o, "level_count", what->levels);
        txm_json_uint(o, "pixel_bytes", what->bytes);
    }
    txm_json_emit(o);
}

/* The result for a file, kept until it is known whether the page can be written. */
typedef struct fate {
    txm_view_page_file what;
    txm_error err;
} fate;

/* Adds the files to a page and publishes it; `fates` receives the result for each. */
static txm_status make_page(const viewing *v, fate *fates, txm_error *err)
{
    const view_args *args = v->args;
    const txm_view_page_options options = {.output = args->html,
                                           .files = txm_inputs_count(v->inputs),
                                           .bytes = args->page_bytes,
                                           .level = args->level == FITTING ? -1 : (int)args->level,
                                           .context = v->contexts.common,
                                           .cancel = txm_signal_flag()};
    txm_view_page *page = NULL;
    size_t good = 0;
    txm_status status = txm_view_page_begin(&options, &page, err);
    if (status)
        return status;
    for (size_t i = 0; i < options.files && !txm_view_page_broken(page) && !txm_signal_caught(); i++) {
        fate *f = &fates[i];
        const txm_input *input = txm_inputs_at(v->inputs, i);
        txm_say_file_progress(options.files > 1 ? "adding" : "writing the page", i, options.files, true);
        good += txm_view_page_add(page, txm_project_context(&v->contexts, i), input->path, &f->what, &f->err) == TXM_OK;
        txm_tx_explain(input->path, &f->err);
        if (input->status)
            txm_error_clear(&f->err);
        txm_input_check(input, &f->err);
        /* An error of the whole page is reported once, at the end. */
        if (f->err.status && !txm_view_page_broken(page))
            txm_say(TXM_SAY_ERROR, "%s", f->err.message);
    }
    /* A page needs a picture. */
    return txm_view_page_finish(&page, !good || txm_signal_caught(), err);
}

static txm_status write_ptex_page(const viewing *v, txm_tally *tally, txm_error *err)
{
    const view_args *args = v->args;
    size_t count = txm_inputs_count(v->inputs), good = 0;
    txm_error failure = {0};
    txm_ptex_shown *shown = txm_calloc(count, sizeof *shown);
    const char **paths = txm_calloc(count, sizeof *paths);
    char files[TXM_FORMAT_COUNT];
    if (!shown || !paths) {
        free(shown);
        free(paths);
        return txm_no_memory(err, NULL);
    }
    for (size_t i = 0; i < count; i++)
        paths[i] = txm_inputs_at(v->inputs, i)->path;
    txm_ptex_page_write(args->html, paths, count, args->page_bytes, args->level == FITTING ? -1 : (int)args->level,
                        txm_signal_flag(), shown, &failure);
    for (size_t i = 0; i < count && !txm_signal_caught(); i++) {
        const txm_error *own = failure.status ? &failure : &shown[i].err;
        good += own->status == TXM_OK;
        txm_tally_add(tally, own->status);
        if (shown[i].err.status)
            txm_say(TXM_SAY_ERROR, "%s", shown[i].err.message);
        if (args->json) {
            const txm_ptex_shown *what = &shown[i];
            txm_view_page_file file = {.levels = TXM_PTEX_MAX_LEVELS, .bytes = what->bytes};
            if (what->level < TXM_PTEX_MAX_LEVELS)
                file.embedded[what->level] = true;
            print_view_json(paths[i], args, &file, own);
        }
    }
    if (failure.status)
        txm_say(TXM_SAY_ERROR, "%s", failure.message);
    else if (!args->json && strcmp(args->html, "-") != 0 && good)
        txm_say(TXM_SAY_INFO, "%s: wrote the page, with %s", args->html, txm_format_count(good, "Ptex file", files));
    free(shown);
    free(paths);
    return TXM_OK;
}

/* The page appears complete or not at all; it names the files that failed. */
static txm_status write_page(const viewing *v, txm_tally *tally, txm_error *err)
{
    txm_error failure = {0};
    fate *fates = txm_calloc(txm_inputs_count(v->inputs), sizeof *fates);
    if (!fates)
        return txm_no_memory(err, NULL);
    make_page(v, fates, &failure);
    if (!txm_signal_caught()) {
        /* If the page could not be written, this is the result for every file. */
        const view_args *args = v->args;
        size_t count = txm_inputs_count(v->inputs);
        char files[TXM_FORMAT_COUNT];
        for (size_t i = 0; i < count; i++) {
            const txm_error *own = failure.status ? &failure : &fates[i].err;
            txm_tally_add(tally, own->status);
            if (args->json)
                print_view_json(txm_inputs_at(v->inputs, i)->path, args, &fates[i].what, own);
        }
        if (failure.status)
            txm_say(TXM_SAY_ERROR, "%s", failure.message);
        else if (!args->json && strcmp(args->html, "-") != 0 && tally->failed < count)
            txm_say(TXM_SAY_INFO, "%s: wrote the page, with %s", args->html,
                    txm_format_count(count - tally->failed, "texture", files));
    }
    free(fates);
    return TXM_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

/* Options for the terminal and for the page exclude each other, and a pipe needs a given format. */
static txm_status check_view_args(const view_args *args, txm_error *err)
{
    if (args->html && !*args->html)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--html: the name of the page is empty; give one, as in --html page.html");
    if (args->html && (args->format || args->size.columns))
        return txm_fail(err, TXM_STATUS_USAGE, "--format and --size apply to the terminal; leave them out with --html");
    if (args->json && (!args->html || !strcmp(args->html, "-")))
        return txm_fail(err, TXM_STATUS_USAGE, "--json describes a page: it needs --html FILE");
    if (!args->html && args->format == TXM_VIEW_AUTO && !isatty(STDOUT_FILENO))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "standard output is not a terminal: write a page with --html FILE, choose a format with "
                        "--format symbols, sixel or kitty, or write an image file with 'txmill extract'");
    return TXM_OK;
}

/* Checks that the page does not overwrite a texture. */
static txm_status view_all(viewing *v, const txm_operands *operands, txm_tally *tally, txm_error *err)
{
    view_args *args = v->args;
    const txm_project_targets project = {NULL, &args->config, NULL, &args->jobs.threads};
    const txm_settings settings = {.cache_dir = NULL};
    const txm_output output = {"--html", args->html, TXM_OUTPUT_PAGE, args->overwrite};
    if (txm_guard_output(&output, txm_files_path, v->inputs, err) != TXM_OK ||
        txm_project_examine(&project, operands, v->inputs, &settings, &v->contexts, err) != TXM_OK)
        return err->status;
    size_t ptex = 0, count = txm_inputs_count(v->inputs);
    for (size_t i = 0; i < count && args->html; i++)
        ptex += txm_ptex_is_file(txm_inputs_at(v->inputs, i)->path);
    if (ptex && ptex < count)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--html: Ptex files and tx files cannot be on the same page; write two pages");
    if (args->html)
        return ptex ? write_ptex_page(v, tally, err) : write_page(v, tally, err);
    show_views(v, tally);
    return TXM_OK;
}

/* Files are collected before the config is loaded, so that a mistyped name is reported at once. */
static int run_view(void *p, const txm_operands *operands)
{
    view_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_inputs *inputs = NULL;
    viewing v = {.args = args, .contexts = {.place = txm_tx_place}};
    if (check_view_args(args, &err) == TXM_OK &&
        txm_tx_files_collect("view", &args->files, operands, &inputs, &err) == TXM_OK) {
        v.inputs = inputs;
        view_all(&v, operands, &tally, &err);
    }
    txm_project_contexts_free(&v.contexts);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(view, view_args, .purpose = "Show tx files in the terminal, or as a page for the browser",
            .synopsis = "[OPTION...] TX...", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_view_defaults);
