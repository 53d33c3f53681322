/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill check: is everything there that a render needs? Looked up as make does, judged as info does.
 *
 * In: scenes, folders, images. Each image is looked up under the settings that a render would use, and its tx file
 * judged. Out: what is not ready, with the command that makes it so, and exit code 0 or 5: the last job before a
 * render can be this command.
 *
 * The same planning code as make runs underneath, as a dry run: what check calls fresh, make will not touch.
 * Findings have ids (see txmill-check(1)); --ignore takes them one by one, so a pipeline can accept a known one
 * without losing the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fail.h"
#include "core/mem.h"
#include "core/text.h"
#include "tools/make/batch_job.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/inspect.h"

enum { CHECK_SCHEMA_VERSION = 1 };

typedef struct check_args {
    txm_input_args input;
    txm_rule_args rules;
    txm_config_args config;
    const char *cache_dir;
    bool quick, lint;
    txm_opt_list ignore;
    txm_jobs_args jobs;
    txm_report_args report;
} check_args;

/* ---- findings --------------------------------------------------------------------------------------------------- */

/* What keeps a texture from being rendered fresh is an error; what lint sees is a warning. Ids are stable. */
typedef enum state { FRESH, AS_IS, OUTDATED, MISSING, UNUSABLE, NO_IMAGE, FAILED, STATES } state;

static const struct {
    const char *id, *word;
} states[STATES] = {
    [FRESH] = {"fresh", "fresh"},          [AS_IS] = {"as-is", "used as they are"},
    [OUTDATED] = {"outdated", "outdated"}, [MISSING] = {"missing", "missing"},
    [UNUSABLE] = {"unusable", "unusable"}, [NO_IMAGE] = {"no-image", "without an image"},
    [FAILED] = {"failed", "not checked"},
};

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
               .more = "The images are read for it. Warnings count as findings, unless --ignore names them."),
    TXM_OPTION(
        LIST, "ignore", AT(ignore), .arg = "ID",
        .values =
            "outdated missing unusable no-image data-as-color color-as-data wide-8-bit opaque-alpha grey-rgb large",
        .parse = check_id, .help = "Ignore findings with this id (repeatable)"),
    TXM_OPTION_QUICK(AT(quick)),
    TXM_OPTION_CACHE_DIR(AT(cache_dir), "Folder of the tx files (default: blender_tx beside each image)", NULL),
    {0},
};

static const txm_option_group groups[] = {
    {"Checks", options, 0}, TXM_INPUTS_GROUP(check_args), TXM_RULES_GROUP(check_args), TXM_COLOUR_GROUP(check_args),
    TXM_JOBS_GROUP(check_args), TXM_REPORTS_GROUP(check_args), {0},
};

typedef struct checking {
    const check_args *args;
    txm_batch_job job;
    txm_tally tally;
    size_t counts[STATES], warnings, ignored, damaged, total;
    txm_error err;
} checking;

/* A handful at most; no table is worth it. */
static bool is_ignored(const checking *c, const char *id)
{
    for (size_t i = 0; i < c->args->ignore.count; i++)
        if (!strcmp(c->args->ignore.items[i], id))
            return true;
    return false;
}

/* One finding as a line or an object. Notes and ignored findings do not make the exit code 5: as text they are
 * shown with --verbose only, while JSON has all, marked. */
static void tell(checking *c, const txm_batch_file *file, const char *id, const char *severity, const char *tx,
                 const char *text)
{
    bool ignored = is_ignored(c, id), counts = !ignored && strcmp(severity, "note") != 0;
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
        txm_json_text(o, "message", *text ? text : NULL);
        txm_json_emit(o);
        return;
    }
    if ((!counts && !c->args->report.verbose) || c->args->report.quiet)
        return;
    txm_print_begin();
    txm_print_line(file->input->path,
                   !counts                     ? TXM_PLAIN
                   : strcmp(severity, "error") ? TXM_DOUBTFUL
                                               : TXM_BAD,
                   id, text);
    txm_print_end();
}

/* ---- one texture ------------------------------------------------------------------------------------------------ */

/* The reason's first word is part of the library's interface for people and for this: missing, outdated, else
 * unusable. */
static state state_of(const txm_result *r)
{
    if (r->outcome == TXM_OUTCOME_IS_TX || r->outcome == TXM_OUTCOME_USED_AS_IS)
        return AS_IS;
    if (r->outcome != TXM_OUTCOME_WOULD_CREATE)
        return FRESH;
    return !strncmp(r->reason, "missing", 7) ? MISSING : !strncmp(r->reason, "outdated", 8) ? OUTDATED : UNUSABLE;
}

/* A file of the right name and time is judged by all that is in it, and one that the plan calls unusable is looked at once
 * more. What cannot be read is neither fresh nor damaged: that is a failure of the check. */
static txm_status judge(checking *c, const txm_batch_file *file, state *s, char *text, size_t text_bytes,
                        txm_error *err)
{
    const txm_verify_options how = {
        .struct_size = sizeof(txm_verify_options), .no_decoding = c->args->quick, .source = file->input->path};
    txm_context *context = txm_project_context(&c->job.contexts, file->index);
    const bool again = *s == UNUSABLE;
    txm_verdict verdict;
    txm_status status = txm_judge(context, file->result->tx_path, &how, &verdict, err);
    if (status == TXM_STATUS_NOT_FOUND) { /* removed since it was looked up */
        *s = MISSING;
        *text = 0;
        return TXM_OK;
    }
    if (status != TXM_OK) /* what is unusable for good stays that: a folder of this name, a file of somebody else's */
        return again && !txm_status_retryable(status) && status != TXM_STATUS_CANCELLED ? TXM_OK : status;
    if (verdict.used) {
        *s = FRESH;
        *text = 0;
    } else if (!again) {
        *s = UNUSABLE;
        snprintf(text, text_bytes, "%s", verdict.reason);
        c->damaged++;
    }
    return TXM_OK;
}

/* Which state it is in, and in what respect. Fails where that could not be found out. */
static txm_status look_at(checking *c, const txm_batch_file *file, state *s, char *text, size_t text_bytes,
                          txm_error *err)
{
    if (file->err->status != TXM_OK)
        return txm_fail_as(err, file->err);
    *s = state_of(file->result);
    const char *reason = file->result->reason;
    /* "outdated: ..." goes without the word that is said anyway. */
    size_t word = strlen(states[*s].id);
    bool repeats = !strncmp(reason, states[*s].id, word);
    reason += repeats ? word + (reason[word] == ':' ? 2 : 0) : 0;
    snprintf(text, text_bytes, "%s", *s == FRESH || *s == AS_IS ? "" : reason);
    return *s == FRESH || *s == UNUSABLE ? judge(c, file, s, text, text_bytes, err) : TXM_OK;
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
static state state_of_failure(const txm_batch_file *file, const txm_error *err, char *text, size_t text_bytes)
{
    /* The line begins with the path already. */
    size_t path = strlen(file->input->path);
    bool repeats = !strncmp(err->message, file->input->path, path) && !strncmp(err->message + path, ": ", 2);
    snprintf(text, text_bytes, "%s", err->message + (repeats ? path + 2 : 0));
    if (is_gone(file))
        return NO_IMAGE;
    txm_say(TXM_SAY_ERROR, "%s", err->message);
    return FAILED;
}

/* Called by the batch for each input, one at a time, as it is judged. Inputs that share a tx file with an earlier one
 * are counted with that one. */
static void on_done(void *user, const txm_batch_file *file)
{
    checking *c = user;
    txm_error err = {0};
    char text[TXM_MESSAGE_BYTES] = "";
    state s = FAILED;
    if (file->err->status == TXM_OK && file->result->outcome == TXM_OUTCOME_SAME)
        return; /* one texture, however often it is named */
    txm_status status = look_at(c, file, &s, text, sizeof text, &err);
    if (status == TXM_STATUS_CANCELLED)
        return;
    if (status != TXM_OK)
        s = state_of_failure(file, &err, text, sizeof text);
    const char *tx = file->err->status == TXM_OK ? file->result->tx_path : NULL;
    txm_tally_add(&c->tally, s == FAILED ? status : TXM_OK);
    c->total++;
    c->counts[s]++;
    if (s != FAILED || c->args->report.json) /* as text it was said on standard error */
        tell(c, file, states[s].id, s == FRESH || s == AS_IS ? "note" : "error", tx, text);
    for (unsigned bit = 1; bit < TXM_LINT_END; bit <<= 1)
        if (file->lint & bit) {
            c->warnings++;
            tell(c, file, txm_lint_name((txm_lint)bit), "warning", tx, txm_lint_text((txm_lint)bit));
        }
}

/* ---- the verdict ------------------------------------------------------------------------------------------------ */

/* The advice at the end names -r only where a folder is among the operands. */
static bool names_folder(const txm_operands *operands)
{
    struct stat st;
    for (size_t i = 0; i < operands->count; i++)
        if (stat(operands->items[i], &st) == 0 && S_ISDIR(st.st_mode))
            return true;
    return false;
}

static void print_option(const txm_operands *operands, const char *name, const char *shown, const char *value)
{
    if (!txm_opt_given(operands, name))
        return;
    printf(" %s ", shown);
    txm_print_argument(value);
}

/* "txmill make -r textures": the command that would put things right. */
static void print_command(const checking *c, const txm_operands *operands)
{
    const check_args *a = c->args;
    fputs("; run: txmill make", stdout);
    /* What is damaged bears the right name and time: only by force is it made again. */
    fputs(c->damaged ? " --force" : "", stdout);
    fputs(names_folder(operands) ? " -r" : "", stdout);
    /* What a .txmill says need not be said again. */
    print_option(operands, "preset", "--preset", a->rules.preset);
    print_option(operands, "ocio", "--ocio", a->config.ocio);
    print_option(operands, "working-space", "--working-space", a->config.working_space);
    print_option(operands, "blender", "--blender", txm_blender_name(a->config.blender));
    print_option(operands, "cache-dir", "-d", a->cache_dir);
    for (size_t i = 0; i < txm_project_state()->rules; i++)
        print_option(operands, "rule", "--rule", a->rules.rules.items[i]);
    for (size_t i = 0; i < txm_project_state()->rule_files; i++)
        print_option(operands, "rules", "--rules", a->rules.rule_files.items[i]);
    for (size_t i = 0; i < operands->count; i++) {
        putchar(' ');
        txm_print_argument(operands->items[i]);
    }
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
    if (c->counts[OUTDATED] + c->counts[MISSING] + c->counts[UNUSABLE])
        print_command(c, operands);
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
        txm_json_uint(o, states[s].id, c->counts[s]);
    txm_json_uint(o, "warnings", c->warnings);
    txm_json_uint(o, "ignored", c->ignored);
    txm_json_emit(o);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* A dry run on the CPU: nothing is converted, and no device is started to find that out. */
static txm_status check(checking *c, const txm_operands *operands, txm_error *err)
{
    const check_args *a = c->args;
    const txm_running_args running = {.threads = a->jobs.threads, .device = "cpu"};
    const txm_batch_job_args how = {
        .input = &a->input, .rules = &a->rules, .config = &a->config, .running = &running, .lint = a->lint};
    const txm_batch_events events = {
        .struct_size = sizeof(txm_batch_events), .user = c, .done = on_done, .warn = txm_say_warning};
    txm_settings settings;
    const txm_batch_options batch = {
        .struct_size = sizeof(txm_batch_options), .settings = &settings, .dry_run = true, .events = &events};
    txm_settings_init(&settings);
    settings.cache_dir = a->cache_dir;
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
    const txm_project_targets project = {&args->cache_dir, &args->config, &args->rules, &args->jobs.threads};
    txm_report_args_apply(&args->report);
    if (!operands->count)
        txm_fail(&err, TXM_STATUS_USAGE, "no scene, folder or image given; 'txmill check --help' lists the options");
    else if (txm_project_apply(&project, operands, &err) == TXM_OK)
        check(&c, operands, &err);
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
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
