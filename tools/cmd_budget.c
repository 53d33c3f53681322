/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill budget: estimates the memory that the textures of a render take.
 *
 * In: scenes, folders, images, as in check. Out: for each texture its bytes in memory without the cache, when it is
 * loaded whole, and with it; and the sums. It needs only the headers of images and how scenes use them.
 *
 * The estimate takes a texture to fill the picture once: lookups then read the level that has about as many pixels as
 * the picture, and coarser ones. Repeated textures read finer levels, distant ones coarser ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "tools/make/batch_job.h"
#include "tools/make/here.h"
#include "tools/make/make_text.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"

enum { MOST_LINES = 20 };

typedef struct budget_args {
    txm_pixel_size size;
    txm_input_args input;
    txm_rule_args rules;
    txm_config_args config;
    txm_settings_args settings; /* colour space, alpha type and cache folder of them */
    txm_jobs_args jobs;
    txm_report_args report;
} budget_args;

#define AT(member) .offset = offsetof(budget_args, member)
static const txm_option options[] = {
    TXM_OPTION(PIXELS, "size", .letter = 's', AT(size), .arg = "WxH",
               .help = "Size of the picture in pixels (default: 1920x1080)"),
    TXM_OPTION_CACHE_DIR(AT(settings.settings.cache_dir),
                         "Folder of the tx files (default: blender_tx beside each image)", NULL),
    {0},
};

static const txm_option_group groups[] = {
    {"Picture", options, 0},        TXM_INPUTS_GROUP(budget_args),
    TXM_RULES_GROUP(budget_args),   TXM_NAMING_GROUP(budget_args),
    TXM_COLOUR_GROUP(budget_args),  TXM_JOBS_GROUP(budget_args),
    TXM_REPORTS_GROUP(budget_args), {0},
};

static void set_budget_defaults(void *p)
{
    budget_args *args = p;
    args->size = (txm_pixel_size){1920, 1080};
}

/* ---- one texture ------------------------------------------------------------------------------------------------- */

typedef struct texture {
    char *path;
    char size[TXM_MAKE_SIZE_BYTES];
    uint32_t width, height, level; /* the finest level that is read */
    uint64_t whole, cached;        /* bytes: loaded whole, and by the cache */
    bool fresh;                    /* its tx file is up to date: otherwise it is loaded whole */
} texture;

typedef struct budgeting {
    const budget_args *args;
    texture *items;
    size_t count, capacity, unready;
    size_t by_name;              /* images that are data by their names */
    bool preset;                 /* the preset was chosen, for images that were named */
    uint64_t whole, cached, now; /* now: with the tx files that there are */
    txm_tally tally;
    txm_error err;
} budgeting;

/* Of two levels between which a lookup mixes, the finer one counts. */
static uint32_t finest_level(const txm_result *r, txm_pixel_size picture)
{
    const uint32_t edge = r->width > r->height ? r->width : r->height;
    const uint32_t shown = picture.w > picture.h ? picture.w : picture.h;
    uint32_t level = 0;
    while ((edge >> (level + 1)) >= shown)
        level++;
    return level;
}

/* Called for each input; those that share a tx file are counted once. */
static void budget_done(void *user, const txm_batch_file *file)
{
    budgeting *b = user;
    const txm_result *r = file->result;
    if (txm_signal_caught() || (file->err->status == TXM_OK && r->outcome == TXM_OUTCOME_SAME))
        return;
    txm_tally_add(&b->tally, file->err->status);
    if (file->err->status != TXM_OK) {
        txm_say(TXM_SAY_ERROR, "%s", file->err->message);
        return;
    }
    char *path = txm_strdup(file->input->path);
    if (!path || !TXM_GROW(b->items, b->capacity, b->count)) {
        free(path);
        txm_no_memory(&b->err, NULL);
        return;
    }
    texture *t = &b->items[b->count++];
    *t = (texture){.path = path, .width = r->width, .height = r->height, .level = finest_level(r, b->args->size)};
    t->fresh = r->outcome != TXM_OUTCOME_WOULD_CREATE;
    txm_make_size(r, t->size);
    /* Without its tx file the image itself is loaded. */
    const txm_result image = {.width = r->image_width ? r->image_width : r->width,
                              .height = r->image_height ? r->image_height : r->height,
                              .channels = r->channels,
                              .type = r->type};
    t->whole = txm_make_pixel_bytes(&image);
    /* The coarser levels together are a third of this one. */
    const txm_result one = {.width = txm_level_size(r->width, t->level),
                            .height = txm_level_size(r->height, t->level),
                            .channels = r->channels,
                            .type = r->type};
    const uint64_t bytes = txm_make_pixel_bytes(&one);
    t->cached = bytes + bytes / 3;
    b->whole += t->whole;
    b->cached += t->cached;
    b->now += t->fresh ? t->cached : t->whole;
    b->unready += !t->fresh;
    b->by_name += file->by_preset;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static int by_bytes(const void *a, const void *b)
{
    const texture *x = a, *y = b;
    return x->cached != y->cached ? (x->cached < y->cached ? 1 : -1) : strcmp(x->path, y->path);
}

static void print_budget_json(const budgeting *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const texture *t = &b->items[i];
        cJSON *o = txm_json_of_type("txmill.budget", "texture");
        txm_json_text(o, "image", t->path);
        txm_json_size(o, t->width, t->height);
        txm_json_uint(o, "level", t->level);
        txm_json_uint(o, "whole_bytes", t->whole);
        txm_json_uint(o, "cached_bytes", t->cached);
        txm_json_bool(o, "fresh", t->fresh);
        txm_json_emit(o);
    }
    cJSON *o = txm_json_of_type("txmill.budget", "summary");
    txm_json_uint(o, "textures", b->count);
    txm_json_uint(o, "not_fresh", b->unready);
    txm_json_uint(o, "failed", b->tally.failed);
    txm_json_uint(o, "data_by_name", b->by_name);
    txm_json_uint(o, "picture_width", b->args->size.w);
    txm_json_uint(o, "picture_height", b->args->size.h);
    txm_json_uint(o, "whole_bytes", b->whole);
    txm_json_uint(o, "cached_bytes", b->cached);
    txm_json_uint(o, "now_bytes", b->now);
    txm_json_emit(o);
}

/* ---- running ------------------------------------------------------------------------------------------------------
 */

static int finish(budgeting *b, const txm_error *err)
{
    if (err->status != TXM_OK && err->status != TXM_STATUS_CANCELLED)
        return txm_finish_failed(err, 0);
    if (b->count)
        qsort(b->items, b->count, sizeof *b->items, by_bytes);
    if (b->args->report.json)
        print_budget_json(b);
    else if (!txm_signal_caught()) {
        char whole[TXM_FORMAT_BYTES], cached[TXM_FORMAT_BYTES], now[TXM_FORMAT_BYTES], textures[TXM_FORMAT_COUNT];
        char bytes[TXM_FORMAT_BYTES], shown[TXM_FORMAT_BYTES], details[192];
        const size_t most = b->args->report.verbose ? b->count : MOST_LINES;
        for (size_t i = 0; i < b->count && i < most && !b->args->report.quiet; i++) {
            const texture *t = &b->items[i];
            snprintf(details, sizeof details, "%s, %s whole%s", t->size, txm_format_bytes(t->whole, bytes),
                     t->fresh ? "" : ", as its tx file is not up to date");
            txm_print_line(t->path, t->fresh ? TXM_PLAIN : TXM_DOUBTFUL, txm_format_bytes(t->cached, shown), details);
        }
        if (b->count > most && !b->args->report.quiet)
            printf("and %zu more (-v)\n", b->count - most);
        printf("%s: %s whole; about %s with tx files, in a picture of %ux%u\n",
               txm_format_count(b->count, "texture", textures), txm_format_bytes(b->whole, whole),
               txm_format_bytes(b->cached, cached), b->args->size.w, b->args->size.h);
        if (b->unready)
            txm_say(TXM_SAY_INFO, "%s not up to date: about %s as it is; 'txmill check' says which",
                    txm_format_are(b->unready, "tx file", textures), txm_format_bytes(b->now, now));
        if (b->preset && b->by_name)
            txm_say(TXM_SAY_INFO, "%s data by %s (--preset pbr); a scene says how it uses them",
                    txm_format_are(b->by_name, "texture", textures), b->by_name == 1 ? "its name" : "their names");
        txm_say(TXM_SAY_INFO, "each texture is taken to fill the picture once");
    }
    return txm_finish(&b->tally);
}

static int run_budget(void *p, const txm_operands *operands)
{
    budget_args *args = p;
    budgeting b = {.args = args};
    txm_here here = {0};
    txm_error err = {0};
    const txm_project_targets project = {&args->settings.settings.cache_dir, &args->config, &args->rules,
                                         &args->jobs.threads};
    txm_settings_args_finish(&args->settings, operands);
    txm_report_args_apply(&args->report);
    if (txm_here_choose(&here, "budget", "adding up", &operands, &err) == TXM_OK &&
        txm_project_apply(&project, operands, &err) == TXM_OK) {
        /* Images that are named are judged like those of a folder that nobody named: it is only an estimate. */
        const bool named = !here.operands.count;
        for (size_t i = 0; named && i < operands->count; i++)
            here.images |= !txm_here_is_scene(operands->items[i]);
        b.preset = txm_here_preset(&here, operands, &args->rules) && named;
        /* It is a dry run, as in check, so that both find the same textures. */
        const budget_args *a = b.args;
        const txm_running_args running = {.threads = a->jobs.threads, .device = "cpu"};
        const txm_batch_job_args how = {.input = &a->input,
                                        .rules = &a->rules,
                                        .config = &a->config,
                                        .running = &running,
                                        .find_unpacked = true,
                                        .doing = "examining",
                                        .events = {.user = &b, .done = budget_done}};
        const txm_batch_options batch = {.settings = &a->settings.settings, .dry_run = true, .no_keys = true};
        txm_batch_job job = {0};
        if (txm_batch_job_collect(&job, &how, operands, &err) == TXM_OK &&
            txm_batch_job_plan(&job, &how, &batch, &err) == TXM_OK && b.err.status != TXM_OK)
            txm_fail_as(&err, &b.err);
        txm_batch_job_free(&job);
    }
    const int code = finish(&b, &err);
    for (size_t i = 0; i < b.count; i++)
        free(b.items[i].path);
    free(b.items);
    txm_here_free(&here);
    return code;
}

TXM_COMMAND(budget, budget_args, .purpose = "Estimate the memory that the textures of a scene take",
            .synopsis = "[OPTION...] [SCENE.blend|FOLDER|IMAGE...]", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_budget_defaults);
