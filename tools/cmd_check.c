/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill check: is everything there that a render needs? Looked up as make does, judged as info does.
 *
 * In: scenes, folders, images. Each image is looked up under the settings that a render would use. Out: what is not
 * ready and what Cycles shows instead, with the command that makes it so, and exit code 0 or 5: the last job before a
 * render can be this command.
 *
 * The same planning code as make runs underneath, as a dry run, and the verdict on each tx file is resolve's: what
 * check calls fresh, make will not touch. Findings have ids (see txmill-check(1)); --ignore takes them one by one, so a
 * pipeline can accept a known one without losing the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/text.h"
#include "tools/make/batch_job.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/inspect.h"

enum { CHECK_SCHEMA_VERSION = 2 };

typedef struct check_args {
    txm_input_args input;
    txm_rule_args rules;
    txm_config_args config;
    txm_settings_args settings; /* colour space, alpha type and cache folder of them */
    bool deep, lint;
    txm_opt_list ignore;
    txm_jobs_args jobs;
    txm_report_args report;
} check_args;

/* ---- findings --------------------------------------------------------------------------------------------------- */

/* What keeps a texture from being rendered fresh is an error; what makes it look wrong a warning; what only costs
 * memory is a note. Ids are stable. */
typedef enum state { FRESH, AS_IS, OUTDATED, MISSING, UNUSABLE, NO_IMAGE, FAILED, STATES } state;

static const struct {
    const char *id, *key, *word; /* key: of the sum in JSON */
} states[STATES] = {
    [FRESH] = {"fresh", "fresh", "fresh"},
    [AS_IS] = {"as-is", "as_is", "used as they are"},
    [OUTDATED] = {"outdated", "outdated", "outdated"},
    [MISSING] = {"missing", "missing", "missing"},
    [UNUSABLE] = {"unusable", "unusable", "unusable"},
    [NO_IMAGE] = {"no-image", "no_image", "without an image"},
    [FAILED] = {"failed", "failed", "not checked"},
};

/* Of lint, what makes scenes look for other tx files, or colours wrong. The rest costs memory and time alone. */
enum { WRONG_LOOKS = TXM_LINT_DATA_AS_COLOR | TXM_LINT_COLOR_AS_DATA };

/* An id that does not exist would silently ignore nothing: it is refused, with the list of those that do. */
static txm_status check_id(const char *text, void *field, txm_error *err)
{
    (void)field;
    for (int s = OUTDATED; s < FAILED; s++)
        if (!strcmp(text, states[s].id))
            return TXM_OK;
    for (unsigned bit = 1; bit < TXM_LINT_END; bit <<= 1)
        if (!strcmp(text, txm_lint_name((txm_lint)bit)))
            return TXM_OK;
    return txm_fail(
        err, TXM_STATUS_USAGE,
        "must be an id that check prints: outdated, missing, unusable, no-image, or one of lint, as grey-rgb");
}

#define AT(member) .offset = offsetof(check_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "lint", AT(lint), .help = "Look for likely mistakes, too, as warnings",
               .more =
                   "The images are read for it. What makes a texture look wrong counts as a finding, unless --ignore "
                   "names it; what only costs memory does not."),
    TXM_OPTION(
        LIST, "ignore", AT(ignore), .arg = "ID",
        .values =
            "outdated missing unusable no-image data-as-color color-as-data wide-8-bit opaque-alpha grey-rgb large",
        .parse = check_id, .help = "Ignore findings with this id (repeatable)"),
    TXM_OPTION_DEEP(AT(deep)),
    TXM_OPTION_CACHE_DIR(AT(settings.settings.cache_dir),
                         "Folder of the tx files (default: blender_tx beside each image)", NULL),
    {0},
};

static const txm_option_group groups[] = {
    {"Checks", options, 0},        TXM_INPUTS_GROUP(check_args),
    TXM_RULES_GROUP(check_args),   {"Settings", txm_naming_options, offsetof(check_args, settings)},
    TXM_COLOUR_GROUP(check_args),  TXM_JOBS_GROUP(check_args),
    TXM_REPORTS_GROUP(check_args), {0},
};

typedef struct checking {
    const check_args *args;
    txm_batch_job job;
    txm_tally tally;
    size_t counts[STATES], warnings, ignored, total;
    size_t guessed;   /* that look like data by their names, and of which nobody says that they are colours */
    bool guess_stale; /* one of them is not fresh */
    size_t elsewhere; /* missing, of which nobody says how they are used, with a tx file of another colour space */
    txm_error err;
} checking;

/* What is known of a texture when it is reported. */
typedef struct found {
    state state;
    char text[TXM_MESSAGE_BYTES], shows[sizeof((txm_verdict *)NULL)->shows];
} found;

/* A handful at most; no table is worth it. */
static bool is_ignored(const checking *c, const char *id)
{
    for (size_t i = 0; i < c->args->ignore.count; i++)
        if (!strcmp(c->args->ignore.items[i], id))
            return true;
    return false;
}

/* One finding as a line or an object. Notes and ignored findings do not make the exit code 5. As text, notes on what is
 * fresh and ignored findings are shown with --verbose only, while JSON has all, marked. */
static void tell_finding(checking *c, const txm_batch_file *file, const char *id, const char *severity, const char *tx,
                         const found *what)
{
    const bool ignored = is_ignored(c, id), note = !strcmp(severity, "note"), counts = !ignored && !note;
    const bool good = note && (!strcmp(id, states[FRESH].id) || !strcmp(id, states[AS_IS].id));
    c->tally.findings |= counts;
    c->ignored += ignored;
    if (c->args->report.json) {
        cJSON *o = txm_json_new("txmill.check", CHECK_SCHEMA_VERSION);
        txm_json_text(o, "type", "texture");
        txm_json_text(o, "image", file->input->path);
        if (file->input->origin)
            txm_json_text(o, "origin", file->input->origin);
        txm_json_text(o, "id", id);
        txm_json_text(o, "severity", severity);
        txm_json_bool(o, "ignored", ignored);
        txm_json_text(o, "tx", tx);
        txm_json_text(o, "message", *what->text ? what->text : NULL);
        txm_json_text(o, "shows", *what->shows ? what->shows : NULL);
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
                   id, what->text);
    txm_print_end();
}

/* ---- one texture ------------------------------------------------------------------------------------------------ */

/* Nobody said how the image is used: neither a scene, a rule or a list, nor the command line. */
static bool is_undecided(const checking *c, const txm_batch_file *file)
{
    const char *space = c->args->settings.settings.colorspace;
    return !file->input->from_scene && !file->decided_by && (!space || !strcmp(space, "default"));
}

/* Names the other tx files of a missing one; true if there is one of another colour space. */
static bool add_others(const txm_resolution *r, char *text, size_t text_bytes)
{
    bool other_space = false;
    for (size_t i = 0; i < r->other_count; i++) {
        size_t used = strlen(text);
        const char *difference = r->others[i].difference;
        other_space |= !strncmp(difference, "colour space", strlen("colour space"));
        snprintf(text + used, text_bytes - used, "%sthere is one with %s", used ? "; " : "", difference);
    }
    return other_space;
}

/* What does not merely cost time is said beside the reason. */
static void add_shows(found *what)
{
    size_t used = strlen(what->text);
    if (what->state == UNUSABLE && strncmp(what->shows, "reads", 5) != 0)
        snprintf(what->text + used, sizeof what->text - used, "; Cycles %s", what->shows);
}

/* resolve's answer, in the words of this command. */
static txm_status resolve(checking *c, const txm_batch_file *file, found *out, txm_error *err)
{
    static const state of[] = {[TXM_TX_STATE_FRESH] = FRESH,
                               [TXM_TX_STATE_SOURCE] = AS_IS,
                               [TXM_TX_STATE_OUTDATED] = OUTDATED,
                               [TXM_TX_STATE_UNUSABLE] = UNUSABLE,
                               [TXM_TX_STATE_MISSING] = MISSING};
    const txm_resolve_options how = {.struct_size = sizeof(txm_resolve_options), .deep = c->args->deep};
    txm_settings settings = c->args->settings.settings;
    txm_resolution r;
    txm_rules_apply(c->job.rules, file->input, &settings);
    txm_status status = txm_resolve_image(file->context, file->input->path, &settings, &how, &r, err);
    if (status != TXM_OK)
        return status;
    out->state = of[r.state];
    snprintf(out->text, sizeof out->text, "%s", r.reason);
    snprintf(out->shows, sizeof out->shows, "%s", r.shows);
    c->elsewhere += add_others(&r, out->text, sizeof out->text) && is_undecided(c, file);
    add_shows(out);
    txm_resolution_clear(&r);
    return TXM_OK;
}

/* Which state it is in, and in what respect. Fails where that could not be found out. */
static txm_status look_at_file(checking *c, const txm_batch_file *file, found *out, txm_error *err)
{
    const txm_result *r = file->result;
    if (file->err->status != TXM_OK)
        return txm_fail_as(err, file->err);
    if (r->outcome != TXM_OUTCOME_IS_TX && r->outcome != TXM_OUTCOME_USED_AS_IS)
        return resolve(c, file, out, err);
    out->state = AS_IS;
    snprintf(out->shows, sizeof out->shows, "uses the image as it is");
    return TXM_OK;
}

/* An image that a scene names: the scene itself, or what the command line names, is not one. */
static bool is_gone(const txm_batch_file *file)
{
    const txm_input *input = file->input;
    return file->err->status == TXM_STATUS_NOT_FOUND && input->from_scene &&
           (!input->origin || strcmp(input->origin, input->path) != 0);
}

/* A texture that is gone is a finding; a name that was mistyped, or a disk that cannot be read, is a failure of the
 * check, and its cause is reported as by other commands. */
static void look_failed(const txm_batch_file *file, const txm_error *err, found *out)
{
    /* The line begins with the path already. */
    size_t path = strlen(file->input->path);
    bool repeats = !strncmp(err->message, file->input->path, path) && !strncmp(err->message + path, ": ", 2);
    snprintf(out->text, sizeof out->text, "%s", err->message + (repeats ? path + 2 : 0));
    out->state = is_gone(file) ? NO_IMAGE : FAILED;
    if (out->state == NO_IMAGE)
        snprintf(out->shows, sizeof out->shows, "renders magenta");
    else
        txm_say(TXM_SAY_ERROR, "%s", err->message);
}

/* What lint sees: without --lint only what names tell of images that nobody says anything else of. */
static void tell_lint(checking *c, const txm_batch_file *file, const char *tx, const found *image)
{
    for (unsigned bit = 1; bit < TXM_LINT_END; bit <<= 1) {
        found what = {.state = image->state};
        const bool counts = (bit & WRONG_LOOKS) != 0, guess = bit == TXM_LINT_DATA_AS_COLOR && is_undecided(c, file);
        if (!(file->lint & bit))
            continue;
        c->warnings += counts && !guess;
        c->guessed += guess && !is_ignored(c, txm_lint_name((txm_lint)bit));
        c->guess_stale |= guess && image->state != FRESH;
        snprintf(what.text, sizeof what.text, "%s", txm_lint_text((txm_lint)bit));
        tell_finding(c, file, txm_lint_name((txm_lint)bit), counts ? "warning" : "note", tx, &what);
    }
}

/* Called by the batch for each input, one at a time, as it is judged. Inputs that share a tx file with an earlier one
 * are counted with that one. */
static void on_done(void *user, const txm_batch_file *file)
{
    checking *c = user;
    txm_error err = {0};
    found what = {.state = FAILED};
    if (file->err->status == TXM_OK && file->result->outcome == TXM_OUTCOME_SAME)
        return; /* one texture, however often it is named */
    txm_status status = look_at_file(c, file, &what, &err);
    if (status == TXM_STATUS_CANCELLED)
        return;
    if (status != TXM_OK)
        look_failed(file, &err, &what);
    const state s = what.state;
    const char *tx = file->err->status == TXM_OK ? file->result->tx_path : NULL;
    txm_tally_add(&c->tally, s == FAILED ? status : TXM_OK);
    c->total++;
    c->counts[s]++;
    if (s != FAILED || c->args->report.json) /* as text it was said on standard error */
        tell_finding(c, file, states[s].id, s == FRESH || s == AS_IS ? "note" : "error", tx, &what);
    tell_lint(c, file, tx, &what);
}

/* ---- the verdict ------------------------------------------------------------------------------------------------ */

static void print_option(const txm_operands *operands, const char *name, const char *shown, const char *value)
{
    if (!txm_opt_given(operands, name))
        return;
    printf(" %s ", shown);
    txm_print_argument(value);
}

/* "txmill make textures": the command that would put things right. */
static void print_command(const checking *c, const txm_operands *operands)
{
    const check_args *a = c->args;
    fputs("; run: txmill make", stdout);
    fputs(a->deep ? " --deep" : "", stdout);
    /* Without it the file would be made that scenes do not look for. */
    fputs(c->guess_stale ? " --preset pbr" : "", stdout);
    /* What a .txmill says need not be said again. */
    print_option(operands, "preset", "--preset", a->rules.preset);
    print_option(operands, "colorspace", "-c", a->settings.settings.colorspace);
    print_option(operands, "alpha-type", "-a", txm_alpha_name(a->settings.settings.alpha));
    print_option(operands, "ocio", "--ocio", a->config.ocio);
    print_option(operands, "working-space", "--working-space", a->config.working_space);
    print_option(operands, "blender", "--blender", txm_blender_name(a->config.blender));
    print_option(operands, "cache-dir", "-d", a->settings.settings.cache_dir);
    for (size_t i = 0; i < txm_project_state()->rules; i++)
        print_option(operands, "rule", "--rule", a->rules.rules.items[i]);
    for (size_t i = 0; i < txm_project_state()->rule_files; i++)
        print_option(operands, "rules", "--rules", a->rules.rule_files.items[i]);
    for (size_t i = 0; i < operands->count; i++) {
        putchar(' ');
        txm_print_argument(operands->items[i]);
    }
}

/* What is to be done. Where tx files of another colour space are there, making others may be the very mistake. */
static void print_advice(const checking *c, const txm_operands *operands)
{
    if (c->guessed)
        printf(", %zu %s like data by %s: --preset pbr, or name the scene", c->guessed,
               c->guessed == 1 ? "looks" : "look", c->guessed == 1 ? "its name" : "their names");
    if (c->elsewhere)
        printf("; %zu missing here %s a tx file of another colour space: name the scene, or the colour space with -c",
               c->elsewhere, c->elsewhere == 1 ? "has" : "have");
    else if (c->counts[OUTDATED] + c->counts[MISSING] + c->counts[UNUSABLE])
        print_command(c, operands);
}

/* What a signal kept from being looked at may be anything. */
static bool is_ready(const checking *c)
{
    return !c->tally.findings && !c->tally.failed && !txm_signal_caught();
}

/* The last line is the answer, and ends in the command that would make it 'ready to render'. */
static void print_sum(const checking *c, const txm_operands *operands)
{
    bool ready = is_ready(c);
    size_t good = c->counts[FRESH] + c->counts[AS_IS];
    char textures[TXM_FORMAT_COUNT], warnings[TXM_FORMAT_COUNT];
    txm_print_begin();
    txm_print_styled(ready ? TXM_GOOD : TXM_BAD, ready ? "ready to render" : "not ready to render");
    printf(": %zu of %s fresh", good, txm_format_count(c->total, "texture", textures));
    for (int s = OUTDATED; s < STATES; s++)
        if (c->counts[s])
            printf(", %zu %s", c->counts[s], states[s].word);
    if (c->warnings)
        printf(", %s", txm_format_count(c->warnings, "warning", warnings));
    if (c->ignored)
        printf(" (%zu ignored)", c->ignored);
    print_advice(c, operands);
    putchar('\n');
    txm_print_end();
}

static void print_json_sum(const checking *c)
{
    cJSON *o = txm_json_new("txmill.check", CHECK_SCHEMA_VERSION);
    txm_json_text(o, "type", "summary");
    txm_json_bool(o, "ready", is_ready(c));
    txm_json_uint(o, "textures", c->total);
    for (int s = FRESH; s < STATES; s++)
        txm_json_uint(o, states[s].key, c->counts[s]);
    txm_json_uint(o, "warnings", c->warnings + c->guessed);
    txm_json_uint(o, "data_by_name", c->guessed);
    txm_json_bool(o, "deep", c->args->deep);
    txm_json_uint(o, "ignored", c->ignored);
    txm_json_emit(o);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void set_check_defaults(void *p)
{
    txm_settings_args_default(&((check_args *)p)->settings);
}

/* A dry run on the CPU: nothing is converted, and no device is started to find that out. */
static txm_status check_operands(checking *c, const txm_operands *operands, txm_error *err)
{
    const check_args *a = c->args;
    const txm_running_args running = {.threads = a->jobs.threads, .device = "cpu"};
    const txm_batch_job_args how = {
        .input = &a->input, .rules = &a->rules, .config = &a->config, .running = &running, .lint = a->lint};
    const txm_batch_events events = {
        .struct_size = sizeof(txm_batch_events), .user = c, .done = on_done, .warn = txm_say_warning};
    const txm_batch_options batch = {.struct_size = sizeof(txm_batch_options),
                                     .settings = &a->settings.settings,
                                     .dry_run = true,
                                     .events = &events};
    txm_status status = txm_batch_job_collect(&c->job, &how, operands, err);
    if (status == TXM_OK)
        status = txm_batch_job_plan(&c->job, &how, &batch, err);
    txm_batch_job_free(&c->job);
    return status;
}

/* A folder is meant with what is in it: nobody asks whether a folder itself is ready. */
static int run_check(void *p, const txm_operands *operands)
{
    check_args *args = p;
    checking c = {.args = args};
    txm_error err = {0};
    const txm_project_targets project = {&args->settings.settings.cache_dir, &args->config, &args->rules,
                                         &args->jobs.threads};
    txm_report_args_apply(&args->report);
    if (!operands->count)
        txm_fail(&err, TXM_STATUS_USAGE, "no scene, folder or image given; 'txmill check --help' lists the options");
    else if (txm_project_apply(&project, operands, &err) == TXM_OK)
        check_operands(&c, operands, &err);
    if (err.status != TXM_OK && err.status != TXM_STATUS_CANCELLED)
        return txm_finish_failed(&err, 0);
    if (args->report.json)
        print_json_sum(&c);
    else
        print_sum(&c, operands);
    return txm_finish(&c.tally);
}

TXM_COMMAND(check, check_args, .purpose = "Say whether a scene or folder is ready to render",
            .synopsis = "[OPTION...] SCENE.blend|FOLDER|IMAGE...", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL,
            .defaults = set_check_defaults);
