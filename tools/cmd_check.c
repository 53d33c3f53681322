/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill check: checks whether everything that a render needs is there.
 *
 * In: scenes, folders, images. Each image is looked up with the settings that a render would use. Out: the textures
 * that are not ready and what Cycles shows instead, the command that makes them, and exit code 0 or 5, so that a farm
 * can run this command before a render.
 *
 * It runs the planning code of make, as a dry run, and the verdict on each tx file is that of resolve, so make leaves
 * alone what check calls fresh. Findings have ids (see txmill-check(1)); --ignore takes single ids, so a pipeline can
 * accept a known finding and still see the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "tile/terms/use_table.h"
#include "tools/make/batch_job.h"
#include "tools/make/here.h"
#include "tools/make/make_text.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/inspect.h"

typedef struct check_args {
    txm_input_args input;
    txm_rule_args rules;
    txm_config_args config;
    txm_settings_args settings; /* colour space, alpha type and cache folder of them */
    bool deep, lint, content;
    txm_opt_list ignore;
    txm_jobs_args jobs;
    txm_report_args report;
} check_args;

/* ---- findings --------------------------------------------------------------------------------------------------- */

/* A texture that is not rendered from a fresh tx file is an error, one that looks wrong a warning, and one that only
 * costs memory a note. Ids are stable. */
#define ROW(name, id, check_id, key, ready, word, meaning) name,
typedef enum state { TXM_STATES(ROW) TXM_CHECKS(ROW) STATES } state;
#undef ROW

static const txm_state_row states[STATES] = {
#define ROW(name, id, check_id, key, ready, word, meaning) [name] = {id, check_id, key, word, meaning, ready},
    TXM_STATES(ROW) TXM_CHECKS(ROW)
#undef ROW
};

/* An image that cannot be read is a failure, which cannot be ignored. */
static bool is_failure(state s)
{
    return s == FAILED || s == DAMAGED;
}

/* Lint findings that affect the name of a tx file or its colours. The others cost only memory and time. */
enum { WRONG_LOOKS = TXM_LINT_DATA_AS_COLOR | TXM_LINT_COLOR_AS_DATA };

/* What --ignore takes: the ids of STATES that are not ready, and of an image that is missing. */
#define IGNORED_true(id)
#define IGNORED_false(id) id " "
#define ROW(name, id, check_id, key, ready, word, meaning) IGNORED_##ready(check_id)
static const char ignorable[] =
    TXM_STATES(ROW) "no-image data-as-color color-as-data wide-8-bit opaque-alpha grey-rgb large";
#undef ROW

/* An id that does not exist is refused, with the list of ids, because it would have no effect. */
static txm_status check_id(const char *text, void *field, txm_error *err)
{
    (void)field;
    for (int s = 0; s < STATES; s++)
        if (!states[s].ready && !is_failure((state)s) && !strcmp(text, states[s].check_id))
            return TXM_OK;
    for (unsigned bit = 1; bit < TXM_LINT_END; bit <<= 1)
        if (!strcmp(text, txm_lint_name((txm_lint)bit)))
            return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE, "must be one of the ids that check prints: %s", ignorable);
}

#define AT(member) .offset = offsetof(check_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "lint", AT(lint), .help = "Also look for likely mistakes, as warnings",
               .more = "The images are read for this. Findings that affect the look of a texture count, unless "
                       "--ignore names them; those that only cost memory do not."),
    TXM_OPTION(LIST, "ignore", AT(ignore), .arg = "ID", .values = ignorable, .parse = check_id,
               .help = "Ignore findings with this id (repeatable)"),
    TXM_OPTION_DEEP(AT(deep)),
    TXM_OPTION(FLAG, "content", AT(content), .help = "Read each image whole, to find other content of the same size",
               .more = "A tx file that txmill made records the content of its image. An image whose time was kept when "
                       "it was changed or replaced is found by its size alone unless this option is given."),
    TXM_OPTION_CACHE_DIR(AT(settings.settings.cache_dir),
                         "Folder of the tx files (default: blender_tx beside each image)", NULL),
    {0},
};

static const txm_option_group groups[] = {
    {"Checks", options, 0},       TXM_INPUTS_GROUP(check_args),  TXM_RULES_GROUP(check_args),
    TXM_NAMING_GROUP(check_args), TXM_COLOUR_GROUP(check_args),  TXM_SCENES_GROUP(check_args),
    TXM_JOBS_GROUP(check_args),   TXM_REPORTS_GROUP(check_args), {0},
};

typedef struct checking {
    const check_args *args;
    txm_batch_job job;
    txm_tally tally;
    size_t counts[STATES], warnings, ignored, total;
    size_t guessed;   /* images that are data by their names, without a setting that says that they are colours */
    bool guess_stale; /* one of them is not fresh */
    size_t elsewhere; /* missing, without a setting for their use, but with a tx file for another colour space */
    size_t renamed;   /* missing, but with a tx file that seems to be theirs under a former name */
    size_t inputs;
    bool preset;              /* the preset was chosen for a folder that nobody named */
    txm_make_pixels pixels;   /* of all images whose sizes are known */
    txm_relatives *relatives; /* NULL before the first missing file */
    txm_error err;
} checking;

/* The result for one texture. */
typedef struct found {
    state state;
    char text[TXM_MESSAGE_BYTES], shows[sizeof((txm_verdict *)NULL)->shows];
    bool limited; /* in its size, to `size` */
    char size[TXM_MAKE_SIZE_BYTES];
} found;

static bool is_ignored(const checking *c, const char *id)
{
    for (size_t i = 0; i < c->args->ignore.count; i++)
        if (!strcmp(c->args->ignore.items[i], id))
            return true;
    return false;
}

/* Prints a finding as a line or an object. Notes and ignored findings do not lead to exit code 5. As text, ignored
 * findings are shown only with --verbose, and so are fresh textures about which nothing is uncertain; JSON has all of
 * them, marked. */
static void tell_finding(checking *c, const txm_batch_file *file, const char *id, const char *severity, const char *tx,
                         const found *what)
{
    const bool ignored = is_ignored(c, id), note = !strcmp(severity, "note"), counts = !ignored && !note;
    const bool good = note && !*what->text && states[what->state].ready && !strcmp(id, states[what->state].check_id);
    c->tally.findings |= counts;
    c->ignored += ignored;
    if (c->args->report.json) {
        cJSON *o = txm_json_of_type("txmill.check", "texture");
        txm_json_text(o, "image", file->input->path);
        if (file->input->origin)
            txm_json_text(o, "origin", file->input->origin);
        txm_json_text(o, "id", id);
        txm_json_text(o, "severity", severity);
        txm_json_bool(o, "ignored", ignored);
        txm_json_text(o, "tx", tx);
        txm_json_text_or_null(o, "message", what->text);
        txm_json_text_or_null(o, "shows", what->shows);
        if (what->limited)
            txm_json_text(o, "limited", what->size);
        txm_json_emit(o);
        return;
    }
    if (((good || ignored) && !c->args->report.verbose) || c->args->report.quiet)
        return;
    txm_print_begin();
    txm_print_line(file->input->path,
                   !counts                     ? TXM_PLAIN
                   : strcmp(severity, "error") ? TXM_DOUBTFUL
                                               : TXM_BAD,
                   id, good ? what->size : what->text);
    txm_print_end();
}

/* ---- one texture ------------------------------------------------------------------------------------------------ */

/* Whether nothing says how the image is used: neither a scene, a rule or a list, nor the command line. */
static bool is_undecided(const checking *c, const txm_batch_file *file)
{
    const char *space = c->args->settings.settings.colorspace;
    return !file->input->from_scene && !file->decided_by && (!space || !strcmp(space, "default"));
}

/* The other files of a missing one, and the one that its image had under a former name. */
static txm_status add_relatives(checking *c, const txm_batch_file *file, found *out, txm_error *err)
{
    txm_settings settings = c->args->settings.settings;
    txm_resolution r;
    txm_rules_apply(c->job.rules, file->input, &settings);
    if (!c->relatives && !(c->relatives = txm_relatives_new()))
        return txm_no_memory(err, NULL);
    txm_status status =
        txm_relatives_find(c->relatives, file->context, file->input->path, &settings, file->result, &r, err);
    if (status != TXM_OK)
        return status;
    /* Appends the other tx files of a missing one: "there is one with alpha type none, not straight". */
    for (size_t i = 0; i < r.other_count; i++) {
        const size_t at = strlen(out->text);
        snprintf(out->text + at, sizeof out->text - at, "%sthere is one %s%s", at ? "; " : "",
                 r.other_settings >> i & 1 ? "with " : "", r.others[i].difference);
    }
    c->elsewhere += r.other_spaces && is_undecided(c, file);
    c->renamed += r.former != NULL;
    if (r.former) {
        const size_t used = strlen(out->text);
        char *shown = txm_path_shown(r.former);
        snprintf(out->text + used, sizeof out->text - used, "%sthe image seems to have been renamed: %.300s is for it",
                 used ? "; " : "", shown ? shown : r.former);
        free(shown);
    }
    txm_resolution_clear(&r);
    return TXM_OK;
}

static txm_status look_at_file(checking *c, const txm_batch_file *file, found *out, txm_error *err)
{
#define ROW(name, id, check_id, key, ready, word, meaning) [TXM_TX_STATE_##name] = name,
    static const state of[] = {TXM_STATES(ROW)};
#undef ROW
    const txm_result *r = file->result;
    if (file->err->status != TXM_OK)
        return txm_fail_as(err, file->err);
    const bool stale = r->outcome == TXM_OUTCOME_WOULD_CREATE;
    out->state = stale ? of[r->state] : r->outcome == TXM_OUTCOME_UP_TO_DATE ? FRESH : SOURCE;
    snprintf(out->text, sizeof out->text, "%s",
             (stale || !*r->reason) && r->judged ? r->judged
             : stale                             ? ""
                                                 : r->reason);
    out->limited = r->outcome == TXM_OUTCOME_UP_TO_DATE && txm_make_is_limited(r);
    if (out->limited)
        txm_make_size(r, out->size);
    snprintf(out->shows, sizeof out->shows, "%s", r->shows ? r->shows : "uses the image itself");
    /* What Cycles shows is said unless the only effect is a longer render. */
    size_t used = strlen(out->text);
    if (out->state == UNUSABLE && !r->harmless)
        snprintf(out->text + used, sizeof out->text - used, "; Cycles %s", out->shows);
    return out->state == MISSING ? add_relatives(c, file, out, err) : TXM_OK;
}

/* Whether an image that a scene names is missing. The scene itself, and names on the command line, do not count. */
static bool is_gone(const txm_batch_file *file)
{
    const txm_input *input = file->input;
    return file->err->status == TXM_STATUS_NOT_FOUND && input->from_scene &&
           (!input->origin || strcmp(input->origin, input->path) != 0);
}

/* A missing texture is a finding; a mistyped name or an unreadable disk is a failure of the check, reported as by
 * other commands. */
static void look_failed(const txm_batch_file *file, const txm_error *err, found *out)
{
    snprintf(out->text, sizeof out->text, "%s", txm_error_detail(err)); /* the line begins with the path */
    out->state = is_gone(file) ? NO_IMAGE : err->status == TXM_STATUS_CORRUPT ? DAMAGED : FAILED;
    if (is_gone(file) && file->input->decided_by) {
        out->state = MISSING;
        snprintf(out->shows, sizeof out->shows, "uses the image that is packed in the scene");
        return;
    }
    if (out->state == NO_IMAGE)
        snprintf(out->shows, sizeof out->shows, "renders magenta");
    else if (out->state == DAMAGED)
        txm_say(TXM_SAY_ERROR, "%s: %s: %s", file->input->path, states[DAMAGED].word, out->text);
    else
        txm_say(TXM_SAY_ERROR, "%s", err->message);
}

/* Called by the batch for each input, one at a time, once its state is known. Inputs that share a tx file are
 * counted once. */
static void check_done(void *user, const txm_batch_file *file)
{
    checking *c = user;
    txm_error err = {0};
    found what = {.state = FAILED};
    if (txm_signal_caught() || (file->err->status == TXM_OK && file->result->outcome == TXM_OUTCOME_SAME))
        return; /* the same texture under another name */
    txm_status status = look_at_file(c, file, &what, &err);
    if (status == TXM_STATUS_CANCELLED)
        return;
    if (status != TXM_OK)
        look_failed(file, &err, &what);
    const state s = what.state;
    const char *tx = file->err->status == TXM_OK ? file->result->tx_path : NULL;
    txm_tally_add(&c->tally, is_failure(s) ? status : TXM_OK);
    c->total++;
    c->counts[s]++;
    if (file->err->status == TXM_OK)
        txm_make_add_pixels(&c->pixels, file->result);
    if (!is_failure(s) || c->args->report.json) /* the text has been printed on standard error */
        tell_finding(c, file, states[s].check_id, states[s].ready ? "note" : "error", tx, &what);
    for (unsigned bit = 1; bit < TXM_LINT_END; bit <<= 1) {
        found lint_found = {.state = what.state};
        const bool counts = (bit & WRONG_LOOKS) != 0, guess = bit == TXM_LINT_DATA_AS_COLOR && is_undecided(c, file);
        if (!(file->lint & bit))
            continue;
        c->warnings += counts && !guess;
        c->guessed += guess && !is_ignored(c, txm_lint_name((txm_lint)bit));
        c->guess_stale |= guess && what.state != FRESH;
        snprintf(lint_found.text, sizeof lint_found.text, "%s", txm_lint_text((txm_lint)bit));
        tell_finding(c, file, txm_lint_name((txm_lint)bit), counts ? "warning" : "note", tx, &lint_found);
    }
}

/* ---- the verdict ------------------------------------------------------------------------------------------------ */

static void print_option(const txm_operands *operands, const char *name, const char *shown, const char *value)
{
    if (!txm_opt_given(operands, name))
        return;
    printf(" %s ", shown);
    txm_print_argument(value);
}

/* Prints the command that makes the textures ready, such as "txmill make textures". */
static void print_command(const checking *c, const txm_operands *operands, const char *command)
{
    const check_args *a = c->args;
    printf("txmill %s", command);
    fputs(a->deep ? " --deep" : "", stdout);
    /* Without this option, make would make the file for colours, which scenes do not use. */
    fputs(c->guess_stale || c->preset ? " --preset pbr" : "", stdout);
    /* Options that a .txmill already sets are left out. */
    print_option(operands, "preset", "--preset", a->rules.preset);
    print_option(operands, "colorspace", "-c", a->settings.settings.colorspace);
    print_option(operands, "alpha-type", "-a", txm_alpha_name(a->settings.settings.alpha));
    print_option(operands, "ocio", "--ocio", a->config.ocio);
    print_option(operands, "working-space", "--working-space", a->config.working_space);
    print_option(operands, "blender", "--blender", txm_blender_name(a->config.blender));
    print_option(operands, "cache-dir", "-d", a->settings.settings.cache_dir);
    if (!strcmp(command, "make")) { /* resolve has no such options */
        fputs(a->content ? " --content" : "", stdout);
        print_option(operands, "packed", "--packed", a->input.packed);
    }
    for (size_t i = 0; i < a->rules.rules.count; i++)
        print_option(operands, "rule", "--rule", a->rules.rules.items[i]);
    for (size_t i = 0; i < a->rules.rule_files.count; i++)
        print_option(operands, "rules", "--rules", a->rules.rule_files.items[i]);
    for (size_t i = 0; i < a->rules.limits.count; i++)
        print_option(operands, "limit", "--limit", a->rules.limits.items[i]);
    for (size_t i = 0; i < operands->count; i++) {
        putchar(' ');
        txm_print_operand(operands->items[i]);
    }
}

/* After a signal, the state of the remaining textures is unknown, so the result is not ready. */
static bool is_ready(const checking *c)
{
    return !c->tally.findings && !c->tally.failed && !txm_signal_caught();
}

/* The last line has the result, and if it is negative, the command that makes it positive. */
static void print_sum(const checking *c, const txm_operands *operands)
{
    bool ready = is_ready(c);
    size_t good = 0;
    char textures[TXM_FORMAT_COUNT], warnings[TXM_FORMAT_COUNT];
    for (int s = 0; s < STATES; s++)
        good += states[s].ready ? c->counts[s] : 0;
    txm_print_begin();
    txm_print_styled(ready ? TXM_GOOD : TXM_BAD, ready ? "ready to render" : "not ready to render");
    printf(": %zu of %s fresh", good, txm_format_count(c->total, "texture", textures));
    for (int s = 0; s < STATES; s++)
        if (c->counts[s] && !states[s].ready)
            printf(", %zu %s", c->counts[s], states[s].word);
    if (c->warnings)
        printf(", %s", txm_format_count(c->warnings, "warning", warnings));
    if (c->ignored)
        printf(" (%zu ignored)", c->ignored);
    /* If there are tx files for another colour space, making further ones may be the mistake, so no command is
     * suggested for these. */
    char *hint = c->guessed || c->elsewhere ? txm_here_hint("check", operands) : NULL;
    if (c->guessed)
        printf(", %zu %s like data by %s: add --preset pbr, or name the scene", c->guessed,
               c->guessed == 1 ? "looks" : "look", c->guessed == 1 ? "its name" : "their names");
    if (c->guessed && hint) {
        fputs(", as in: ", stdout);
        txm_print_safe(hint);
    }
    if (c->elsewhere)
        printf("; %zu missing here %s a tx file for another colour space: name the scene, or give the colour space "
               "with -c",
               c->elsewhere, c->elsewhere == 1 ? "has" : "have");
    else if (c->counts[OUTDATED] + c->counts[STALE] + c->counts[MISSING] + c->counts[UNUSABLE]) {
        fputs("; run: ", stdout);
        print_command(c, operands, "make");
    }
    if (c->renamed) {
        printf("; %zu seem%s renamed, and need%s no conversion: run first: ", c->renamed, c->renamed == 1 ? "s" : "",
               c->renamed == 1 ? "s" : "");
        print_command(c, operands, "resolve --adopt");
    }
    free(hint);
    putchar('\n');
    txm_print_end();
    txm_make_say_saves(&c->pixels);
}

static void print_json_sum(const checking *c)
{
    cJSON *o = txm_json_of_type("txmill.check", "summary");
    txm_json_bool(o, "ready", is_ready(c));
    txm_json_uint(o, "textures", c->total);
    for (int s = 0; s < STATES; s++)
        txm_json_uint(o, states[s].key, c->counts[s]);
    txm_json_uint(o, "warnings", c->warnings + c->guessed);
    txm_json_uint(o, "data_by_name", c->guessed);
    txm_json_uint(o, "pixel_bytes", c->pixels.bytes);
    txm_json_uint(o, "limited", c->pixels.limited);
    txm_json_bool(o, "deep", c->args->deep);
    txm_json_uint(o, "ignored", c->ignored);
    txm_project_json(o);
    txm_json_emit(o);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* A dry run on the CPU: nothing is converted, and no device is started. */
static txm_status check_operands(checking *c, const txm_operands *operands, txm_error *err)
{
    const check_args *a = c->args;
    const txm_running_args running = {.threads = a->jobs.threads, .device = "cpu", .content = a->content};
    const txm_batch_job_args how = {.input = &a->input,
                                    .rules = &a->rules,
                                    .config = &a->config,
                                    .running = &running,
                                    .lint = a->lint,
                                    .nodes = true,
                                    .find_unpacked = true,
                                    .doing = "checking",
                                    .events = {.user = c, .done = check_done}};
    const txm_batch_options batch = {
        .settings = &a->settings.settings, .dry_run = true, .no_keys = true, .try_seconds = 3, .deep = a->deep};
    txm_status status = txm_batch_job_collect(&c->job, &how, operands, err);
    c->inputs = c->job.inputs ? txm_inputs_count(c->job.inputs) : 0;
    txm_say_file_progress("checking", 0, c->inputs, false);
    if (status == TXM_OK)
        status = txm_batch_job_plan(&c->job, &how, &batch, err);
    txm_batch_job_free(&c->job);
    txm_relatives_free(&c->relatives);
    return status;
}

static int finish(const checking *c, const txm_operands *operands, const txm_error *err)
{
    if (err->status != TXM_OK && err->status != TXM_STATUS_CANCELLED)
        return txm_finish_failed(err, 0);
    if (c->args->report.json)
        print_json_sum(c);
    else if (txm_signal_caught()) {
        /* Of the rest nothing is known, so there is no result. */
        char textures[TXM_FORMAT_COUNT];
        txm_say(TXM_SAY_INFO, "interrupted: %zu of %s were checked; run the same again", c->total,
                txm_format_count(c->inputs, "texture", textures));
    } else
        print_sum(c, operands);
    return txm_finish(&c->tally);
}

static int run_check(void *p, const txm_operands *operands)
{
    check_args *args = p;
    checking c = {.args = args};
    txm_error err = {0};
    const txm_project_targets project = {&args->settings.settings.cache_dir, &args->config, &args->rules,
                                         &args->jobs.threads};
    txm_settings_args_finish(&args->settings, operands);
    txm_report_args_apply(&args->report);
    txm_here here = {0};
    if (txm_here_choose(&here, "check", "checking", &operands, &err) == TXM_OK &&
        txm_project_apply(&project, operands, &err) == TXM_OK) {
        c.preset = txm_here_preset(&here, operands, &args->rules);
        check_operands(&c, operands, &err);
    }
    const int code = finish(&c, operands, &err);
    txm_here_free(&here);
    return code;
}
TXM_COMMAND(check, check_args, .purpose = "Check whether a scene or folder is ready to render",
            .synopsis = "[OPTION...] [SCENE.blend|FOLDER|IMAGE...]", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
