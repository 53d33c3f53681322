/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill plan: shows how the inputs of a farm job are divided into shards.
 *
 * In: the inputs of a farm job and a number of shards. Out: for each shard its images, processor time and memory, so
 * that the size of a job can be chosen before it is submitted. `make --shard` will use the same division.
 *
 * `list` in the last line is a digest of the inputs; if two nodes print different ones, they see different files and
 * must not share a job.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/make/batch_job.h"
#include "tools/options/project.h"
#include "tools/options/shard_args.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/text.h"

typedef struct plan_args {
    uint32_t shards;
    bool files;
    txm_input_args input;
    txm_rule_args rules;
    txm_settings_args settings;
    txm_config_args config;
    txm_running_args running;
    txm_report_args report;
} plan_args;

#define AT(member) .offset = offsetof(plan_args, member)
static const txm_option shard_options[] = {
    TXM_OPTION(UINT, "shards", .letter = 'N', AT(shards), .arg = "N", .min = 1, .max = TXM_MAX_SHARDS,
               .help = "Number of shards"),
    TXM_OPTION(FLAG, "files", AT(files), .help = "Show which shard each input is in"),
    {0},
};

static const txm_option_group groups[] = {
    {"Shards", shard_options, 0},  TXM_INPUTS_GROUP(plan_args),  TXM_RULES_GROUP(plan_args),
    TXM_SETTINGS_GROUP(plan_args), TXM_COLOUR_GROUP(plan_args),  TXM_SCENES_GROUP(plan_args),
    TXM_RUNNING_GROUP(plan_args),  TXM_REPORTS_GROUP(plan_args), {0},
};

/* ---- counting --------------------------------------------------------------------------------------------------- */

/* The images of one shard. */
typedef struct share {
    size_t inputs, to_create, failed;
    double weight_s; /* weight of all images, also of those that are up to date */
    txm_cost cost;   /* cost of the images to be made; memory_bytes is that of the largest */
} share;

typedef struct plan {
    const plan_args *args;
    share *shares, total;
    char list_key[TXM_KEY_HEX];
    txm_tally tally;
} plan;

/* Called once, before the files. */
static void on_planned(void *user, const txm_batch_totals *totals)
{
    snprintf(((plan *)user)->list_key, TXM_KEY_HEX, "%s", totals->list_key);
}

static void add_to_share(share *s, const txm_batch_file *file)
{
    bool work = file->err->status == TXM_OK && file->result->outcome == TXM_OUTCOME_WOULD_CREATE;
    s->inputs++;
    s->failed += file->err->status != TXM_OK;
    s->weight_s += file->weight_s;
    if (!work)
        return;
    s->to_create++;
    s->cost.megapixels += file->cost.megapixels;
    s->cost.seconds += file->cost.seconds;
    if (file->cost.memory_bytes > s->cost.memory_bytes)
        s->cost.memory_bytes = file->cost.memory_bytes;
}

/* For --files: the shard is the first column, so that the output can be sorted and cut. */
static void print_file(const plan *p, const txm_batch_file *file)
{
    if (p->args->report.json) {
        cJSON *o = txm_json_of_type("txmill.plan", "file");
        txm_json_text(o, "input", file->input->path);
        txm_json_uint(o, "shard", file->shard);
        txm_json_number(o, "weight_seconds", file->weight_s, 6);
        txm_json_emit(o);
        return;
    }
    printf("%u\t", file->shard);
    txm_print_safe(file->input->path);
    putchar('\n');
}

/* It is also called for inputs that failed: they belong to a shard, whose task will report them again. */
static void plan_done(void *user, const txm_batch_file *file)
{
    plan *p = user;
    txm_tally_add(&p->tally, file->err->status);
    if (file->err->status != TXM_OK)
        txm_say(TXM_SAY_ERROR, "%s", file->err->message);
    add_to_share(&p->total, file);
    /* Inputs get their shards after all were examined; if memory runs out before that, they have none. */
    if (file->shard < 1 || file->shard > p->args->shards)
        return;
    add_to_share(&p->shares[file->shard - 1], file);
    if (p->args->files)
        print_file(p, file);
}

/* ---- reporting -------------------------------------------------------------------------------------------------- */

/* The weight of the heaviest shard divided by the even share; 1 is perfect. The heaviest shard determines when the
 * job ends. */
static double balance(const plan *p)
{
    double heaviest = 0;
    for (uint32_t i = 0; i < p->args->shards; i++)
        if (p->shares[i].weight_s > heaviest)
            heaviest = p->shares[i].weight_s;
    return p->total.weight_s > 0 ? heaviest * p->args->shards / p->total.weight_s : 1;
}

static void add_share(cJSON *o, const share *s)
{
    txm_json_uint(o, "inputs", s->inputs);
    txm_json_uint(o, "to_create", s->to_create);
    txm_json_uint(o, "failed", s->failed);
    txm_json_number(o, "weight_seconds", s->weight_s, 6);
    cJSON *c = txm_json_object(o, "estimate");
    txm_json_number(c, "megapixels", s->cost.megapixels, 6);
    txm_json_uint(c, "memory_bytes", s->cost.memory_bytes);
    txm_json_number(c, "cpu_seconds", s->cost.seconds, 6);
}

/* Shards are numbered from 1, as in make --shard. */
static void print_plan_json(const plan *p)
{
    for (uint32_t i = 0; i < p->args->shards; i++) {
        cJSON *o = txm_json_of_type("txmill.plan", "shard");
        txm_json_uint(o, "shard", i + 1);
        add_share(o, &p->shares[i]);
        txm_json_emit(o);
    }
    cJSON *o = txm_json_of_type("txmill.plan", "summary");
    txm_json_uint(o, "shards", p->args->shards);
    add_share(o, &p->total);
    txm_json_number(o, "balance", balance(p), 6);
    txm_json_text(o, "list_key", p->list_key);
    txm_project_json(o);
    txm_json_emit(o);
}

/* The share of the weight in percent; 0 if the plan has no weight because everything is fresh. */
static void print_row(const char *name, const share *s, double whole)
{
    char memory[TXM_FORMAT_BYTES], time[TXM_FORMAT_BYTES];
    printf("%-6s %7zu %10zu %8.1f %11s %10s %6.1f%%\n", name, s->inputs, s->to_create, s->cost.megapixels,
           txm_format_bytes(s->cost.memory_bytes, memory), txm_format_seconds(s->cost.seconds, time),
           whole > 0 ? 100 * s->weight_s / whole : 0);
}

/* The balance and the key are printed on stderr, because they are not rows of the table. */
static void print_table(const plan *p)
{
    char name[16];
    printf("%-6s %7s %10s %8s %11s %10s %7s\n", "shard", "inputs", "to create", "MP", "memory", "CPU", "weight");
    for (uint32_t i = 0; i < p->args->shards; i++) {
        snprintf(name, sizeof name, "%u", i + 1);
        print_row(name, &p->shares[i], p->total.weight_s);
    }
    print_row("all", &p->total, p->total.weight_s);
    txm_say(TXM_SAY_INFO, "the heaviest shard is %.2f times the even share; list %s", balance(p), p->list_key);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* A dry run of the batch with `shards` set, which runs the code that make uses to divide. */
static txm_status make_plan(plan *p, const txm_operands *operands, txm_error *err)
{
    const plan_args *a = p->args;
    const txm_batch_job_args args = {.input = &a->input,
                                     .rules = &a->rules,
                                     .config = &a->config,
                                     .running = &a->running,
                                     .doing = "examining",
                                     .events = {.user = p, .planned = on_planned, .done = plan_done}};
    const txm_batch_options options = {.settings = &a->settings.settings, .dry_run = true, .shards = a->shards};
    txm_batch_job job = {0};
    txm_status status = txm_batch_job_collect(&job, &args, operands, err);
    if (status == TXM_OK)
        status = txm_batch_job_plan(&job, &args, &options, err);
    txm_batch_job_free(&job);
    return status;
}

/* --shards is required, because a plan for one shard would show nothing. */
static int run_plan(void *v, const txm_operands *operands)
{
    plan_args *args = v;
    plan p = {.args = args};
    txm_error err = {0};
    txm_settings_args_finish(&args->settings, operands);
    txm_report_args_apply(&args->report);
    if (!operands->count)
        txm_fail(&err, TXM_STATUS_USAGE, "no image given; 'txmill plan --help' lists the options");
    else if (!args->shards)
        txm_fail(&err, TXM_STATUS_USAGE, "no number of shards given; give it with --shards N");
    else if (!(p.shares = txm_calloc(args->shards, sizeof *p.shares)))
        txm_fail(&err, TXM_STATUS_NO_MEMORY, "out of memory for %u shards", args->shards);
    const txm_project_targets project = {&args->settings.settings.cache_dir, &args->config, &args->rules,
                                         &args->running.threads};
    if (err.status == TXM_OK)
        txm_project_apply(&project, operands, &err);
    if (err.status == TXM_OK)
        make_plan(&p, operands, &err);
    if (err.status == TXM_OK && args->report.json)
        print_plan_json(&p);
    else if (err.status == TXM_OK && !args->report.quiet)
        print_table(&p);
    free(p.shares);
    return err.status == TXM_OK ? txm_finish(&p.tally) : txm_finish_failed(&err, p.total.inputs);
}

TXM_COMMAND(plan, plan_args,
            .purpose = "Show how images are divided into the shards of a farm job, and what each costs",
            .synopsis = "--shards N [OPTION...] PATH...", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
