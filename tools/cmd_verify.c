/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill verify: checks that a tx file is undamaged and matches its name and its source.
 *
 * In: tx files, or the log of a run that made them. Out: findings for each file, and exit code 5 if there are errors
 * or warnings.
 *
 * Quick checks are always made; --deep converts the source again and compares pixels, which takes as long as make.
 * Findings are sorted by their effect on a render, errors first (src/mill/inspect/finding_table.h has all kinds).
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/info_report.h"
#include "tools/inspect/tx_files.h"
#include "tools/make/run_log.h"
#include "tools/options/args.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/ptex/ptex_files.h"
#include "txmill/inspect.h"

typedef struct verify_report {
    const char *path;
    bool deep;
    const txm_findings *findings;
    const txm_verdict *verdict;
} verify_report;

/* Notes describe choices (other tiles than Blender's, another program); warnings and errors describe wrong or
 * missing pixels. */
static bool verify_failed(const txm_findings *f)
{
    return f->severities[TXM_SEVERITY_WARNING] || f->severities[TXM_SEVERITY_ERROR];
}

static void print_finding(const txm_finding *f)
{
    printf("  %s %-7s  ", f->kind->id, txm_severity_name(f->kind->severity));
    if (f->level >= 0)
        printf("level %d", f->level);
    if (f->tile_x >= 0)
        printf(", tile %d,%d", f->tile_x, f->tile_y);
    if (f->level >= 0)
        printf(": ");
    txm_print_format("%s (%s)\n", f->kind->meaning, f->text);
}

/* The first line says what Cycles does with the file; the findings below explain it. */
static void verify_print_text(const verify_report *r, bool quiet)
{
    const txm_findings *f = r->findings;
    bool failed = verify_failed(f);
    if (quiet && !failed)
        return;
    char state[sizeof r->verdict->shows + 32];
    snprintf(state, sizeof state, "Cycles %.*s", (int)sizeof r->verdict->shows - 1, r->verdict->shows);
    txm_print_line(r->path, failed ? TXM_BAD : TXM_GOOD,
                   !failed            ? r->deep ? "good, and matches its source" : "good"
                   : r->verdict->used ? "Cycles uses it, but it has findings"
                                      : state,
                   NULL);
    for (size_t i = 0; i < f->count; i++)
        if (!quiet || f->items[i].kind->severity != TXM_SEVERITY_NOTE)
            print_finding(&f->items[i]);
    if (f->left_out)
        printf("  and %zu more of the same kinds\n", f->left_out);
}

/* A finding about the whole file has no level, and one about a level has no tile. */
static void add_place(cJSON *o, const char *name, int value)
{
    if (value < 0)
        txm_json_text(o, name, NULL);
    else
        txm_json_uint(o, name, (uint64_t)value);
}

typedef struct verify_args {
    bool deep;
    const char *source;
    txm_opt_list runs;
    txm_tx_files_args files;
    txm_rule_args rules;
    txm_config_args config;
    txm_jobs_args jobs;
    txm_report_args report;
} verify_args;

#define AT(member) .offset = offsetof(verify_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "deep", AT(deep), .help = "Convert the source again and compare everything",
               .more = "Uses the settings stored in the file, and a temporary file in TMPDIR."),
    TXM_OPTION(STRING, "source", AT(source), .arg = "FILE", .values = TXM_VALUES_IMAGE,
               .help = "The source image, if it is not at the path stored in the file; for a single file"),
    TXM_OPTION(
        LIST, "run", AT(runs), .arg = "LOG", .values = TXM_VALUES_LOG,
        .help = "Also check the tx files that a run of make --json made or found up to date (repeatable)",
        .more =
            "If the run was given relative paths, start this command in the same folder. Images that failed in the run "
            "have no tx file and are not reported here, but by the exit status of the run and by txmill report."),
    {0},
};

static const txm_option_group groups[] = {
    {"Checks", options, 0},
    TXM_FILES_GROUP(verify_args),
    TXM_RULES_GROUP(verify_args),
    TXM_COLOUR_GROUP(verify_args),
    TXM_JOBS_GROUP(verify_args),
    TXM_REPORTS_GROUP(verify_args),
    {0},
};

/* What the files are compared with. */
typedef struct verifying {
    const verify_args *args;
    txm_project_contexts contexts;
    txm_rules *given; /* rules of the command line, which the files have to follow; those of projects only guess */
} verifying;

/* Findings are not failures: a damaged file was verified successfully. What a scene says about its images is final.
 * Everything that a Ptex file stores is read; it has no source to compare with. */
static txm_status verify_one(void *user, txm_one_file *file, txm_error *err)
{
    const verifying *v = user;
    const verify_args *args = v->args;
    const txm_input *input = file->input;
    const char *path = input->path;
    txm_status status = txm_input_check(input, err);
    if (status == TXM_OK && txm_ptex_is_file(path)) {
        bool good = false;
        status = txm_ptex_verify(path, args->report.json, args->report.quiet, txm_signal_flag(), &good, err);
        file->findings = status == TXM_OK && !good;
        file->word = good ? "good" : "damaged";
        return status;
    }
    if (status != TXM_OK)
        return status;
    txm_verdict verdict;
    const txm_verify_options how = {.struct_size = sizeof(txm_verify_options),
                                    .deep = args->deep,
                                    .source = args->source,
                                    .rules = input->from_scene ? NULL : v->given,
                                    .usual = input->from_scene ? NULL : txm_project_rules(&v->contexts, file->index),
                                    .limits = txm_project_rules(&v->contexts, file->index),
                                    .verdict = &verdict};
    txm_findings findings = {0};
    status = txm_verify(txm_project_context(&v->contexts, file->index), path, &how, &findings, err);
    if (status == TXM_OK && verdict.use == TXM_USE_UNREADABLE && txm_tx_explain_other(path, err))
        status = err->status;
    if (status == TXM_OK) {
        const verify_report report = {path, args->deep, &findings, &verdict};
        file->findings = verify_failed(&findings);
        if (file->findings)
            file->word = txm_info_is_good(&verdict) ? "with findings" : txm_use_words(verdict.use)->word;
        if (args->report.json) {
            const verify_report *r = &report;
            cJSON *o = txm_json_result();
            txm_json_text(o, "file", r->path);
            txm_json_bool(o, "good", !verify_failed(r->findings));
            txm_json_bool(o, "deep", r->deep);
            txm_json_uint(o, "errors", r->findings->severities[TXM_SEVERITY_ERROR]);
            txm_json_uint(o, "warnings", r->findings->severities[TXM_SEVERITY_WARNING]);
            txm_json_uint(o, "notes", r->findings->severities[TXM_SEVERITY_NOTE]);
            txm_json_uint(o, "left_out", r->findings->left_out);
            txm_json_text(o, "use", txm_use_name(r->verdict->use));
            txm_json_text(o, "shows", r->verdict->shows);
            /* The member `findings` of other reports. */
            cJSON *list = txm_json_array(o, "findings");
            for (size_t i = 0; i < r->findings->count; i++) {
                const txm_finding *finding = &r->findings->items[i];
                cJSON *e = txm_json_append(list);
                txm_json_text(e, "id", finding->kind->id);
                txm_json_text(e, "severity", txm_severity_name(finding->kind->severity));
                txm_json_text(e, "meaning", finding->kind->meaning);
                add_place(e, "level", finding->level);
                add_place(e, "tile_x", finding->tile_x);
                add_place(e, "tile_y", finding->tile_y);
                txm_json_text(e, "text", finding->text);
            }
            txm_json_emit(o);
        } else
            verify_print_text(&report, args->report.quiet);
    }
    txm_findings_clear(&findings);
    return status;
}

static void advise(const char *path, txm_error *err)
{
    (void)err;
    txm_ptex_advise(path);
}

static txm_status collect_files(const verify_args *args, const txm_operands *operands, txm_inputs **inputs,
                                txm_error *err)
{
    const txm_files_how how = {.command = "verify",
                               .what = "tx file",
                               .tx = true,
                               .ptex = true,
                               .of_images = true,
                               .may_be_none = args->runs.count > 0};
    txm_status status = txm_files_collect(&how, &args->files, operands, inputs, err);
    if (status == TXM_OK)
        status = txm_run_tx_read(*inputs, &args->runs, err);
    if (status == TXM_OK && !txm_inputs_count(*inputs))
        status = txm_fail(err, TXM_STATUS_USAGE, "%s: the run made no tx file, and found none up to date",
                          args->runs.items[0]);
    if (status == TXM_OK && args->source && txm_inputs_count(*inputs) > 1)
        status = txm_fail(err, TXM_STATUS_USAGE, "--source applies to a single tx file, but %zu are given",
                          txm_inputs_count(*inputs));
    if (status == TXM_OK && args->source && access(args->source, R_OK) != 0)
        status = txm_fail_errno(err, errno, "--source %s: cannot be read", args->source);
    return status;
}

/* Rules that were typed are read before those of projects are added. A preset guesses, even if it was typed. */
static txm_status read_given_rules(const verify_args *args, txm_rules **given, txm_error *err)
{
    const txm_rule_args typed = {.rules = args->rules.rules, .rule_files = args->rules.rule_files};
    return txm_rule_args_read(&typed, given, err);
}

static int run_verify(void *p, const txm_operands *operands)
{
    verify_args *args = p;
    const txm_settings settings = {.cache_dir = NULL};
    const txm_project_targets project = {NULL, &args->config, &args->rules, &args->jobs.threads};
    txm_tally tally = {0};
    txm_error err = {0};
    verifying v = {.args = args, .contexts = {.place = txm_tx_place}};
    txm_inputs *inputs = NULL;
    txm_report_args_apply(&args->report);
    if (collect_files(args, operands, &inputs, &err) == TXM_OK && read_given_rules(args, &v.given, &err) == TXM_OK &&
        txm_project_examine(&project, operands, inputs, &settings, &v.contexts, &err) == TXM_OK)
        txm_each_file_run(&(txm_each_file){.one = verify_one,
                                           .user = &v,
                                           .stops = true,
                                           .doing = "verifying",
                                           .noun = "file",
                                           .good = "good",
                                           .member = "file",
                                           .json = args->report.json,
                                           .quiet = args->report.quiet,
                                           .explain = advise},
                          inputs, &tally);
    size_t count = inputs && err.status != TXM_STATUS_USAGE ? txm_inputs_count(inputs) : 0;
    txm_project_contexts_free(&v.contexts);
    txm_rules_free(&v.given);
    txm_inputs_free(&inputs);
    return err.status ? txm_finish_failed(&err, count) : txm_finish(&tally);
}

TXM_COMMAND(verify, verify_args, .purpose = "Check tx files: structure, tiles, levels, names, sources; Ptex files",
            .synopsis = "[OPTION...] TX...", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
