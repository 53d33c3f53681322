/* SPDX-License-Identifier: Apache-2.0
 * txmill resolve: which file Cycles would load for an image, and why. */
#include <stdio.h>

#include "core/text.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/text.h"
#include "txmill/inspect.h"

enum { TXM_RESOLVE_SCHEMA_VERSION = 1 };

typedef struct resolve_args {
    bool touch;
    txm_jobs_args jobs;
    txm_settings_args settings;
    txm_config_args config;
    txm_report_args report;
} resolve_args;

#define AT(member) .offset = offsetof(resolve_args, member)
static const txm_option options[] = {
    {.name = "touch",
     .type = TXM_OPT_FLAG,
     AT(touch),
     .help = "Give outdated tx files the time of their image if they are what it gives",
     .more = "For files whose times were lost on the way, by rsync, git, cp or zip. The image is converted again and "
             "everything compared, as with 'txmill verify --deep'; what differs is left alone."},
    {0},
};
#undef AT

static const txm_option_group groups[] = {
    {"Action", options, 0},
    {"Settings", txm_settings_options, offsetof(resolve_args, settings)},
    {"Colour", txm_config_options, offsetof(resolve_args, config)},
    {"Running", txm_jobs_options, offsetof(resolve_args, jobs)},
    {"Reports", txm_report_options, offsetof(resolve_args, report)},
    {0},
};

static void defaults(void *p)
{
    txm_settings_args_default(&((resolve_args *)p)->settings);
}

static bool is_loaded(const txm_resolution *r)
{
    return r->state == TXM_RESOLVED_FRESH || r->state == TXM_RESOLVED_SOURCE;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_text(const char *image, const txm_resolution *r)
{
    char image_time[TXM_TIME_BYTES], tx_time[TXM_TIME_BYTES];
    txm_print_safe(image);
    printf(": %s%s: ", txm_resolution_state_name(r->state), r->touched ? " (touched)" : "");
    txm_print_safe(r->path);
    if (r->state == TXM_RESOLVED_OUTDATED)
        printf("\n  the image is of %s, the tx file of %s", txm_time_text(r->image_time, image_time),
               txm_time_text(r->tx_time, tx_time));
    if (*r->reason) {
        printf("\n  ");
        txm_print_safe(r->reason);
    }
    if (!is_loaded(r))
        printf("\n  asked for: colour space %s, alpha type %s", r->colorspace, txm_alpha_option(r->alpha));
    for (size_t i = 0; i < r->other_count; i++) {
        printf("\n  there as ");
        txm_print_safe(r->others[i].path);
        printf(": ");
        txm_print_safe(r->others[i].difference);
    }
    putchar('\n');
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static cJSON *new_object(const char *image)
{
    cJSON *o = txm_json_new("txmill.resolve", TXM_RESOLVE_SCHEMA_VERSION);
    txm_json_text(o, "image", image);
    return o;
}

static void print_json(const char *image, const txm_resolution *r)
{
    cJSON *o = new_object(image);
    txm_json_text(o, "state", txm_resolution_state_name(r->state));
    txm_json_bool(o, "touched", r->touched);
    txm_json_text(o, "path", r->path);
    txm_json_text(o, "reason", *r->reason ? r->reason : NULL);
    txm_json_text(o, "colorspace", r->colorspace);
    txm_json_text(o, "alpha", txm_alpha_option(r->alpha));
    txm_json_number(o, "image_time", (double)r->image_time, 15);
    if (r->tx_time)
        txm_json_number(o, "tx_time", (double)r->tx_time, 15);
    else
        txm_json_text(o, "tx_time", NULL);
    cJSON *others = txm_json_array(o, "others");
    for (size_t i = 0; i < r->other_count; i++) {
        cJSON *e = txm_json_append(others);
        txm_json_text(e, "path", r->others[i].path);
        txm_json_text(e, "difference", r->others[i].difference);
    }
    txm_json_emit(o);
}

static void print_json_error(const char *image, const txm_error *err)
{
    cJSON *o = new_object(image);
    txm_json_error(o, err);
    txm_json_emit(o);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static txm_status resolve_one(txm_context *context, const char *image, const resolve_args *args, txm_tally *tally,
                              txm_error *err)
{
    txm_resolution r;
    txm_status status = txm_resolve_image(context, image, &args->settings.settings, args->touch, &r, err);
    if (status)
        return status;
    tally->findings |= !is_loaded(&r);
    if (args->report.json)
        print_json(image, &r);
    else if (!args->report.quiet || !is_loaded(&r))
        print_text(image, &r);
    txm_resolution_clear(&r);
    return TXM_OK;
}

static int run_resolve(void *p, const txm_operands *operands)
{
    resolve_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_context *context = NULL;
    txm_settings_args_finish(&args->settings);
    txm_report_args_apply(&args->report);
    if (!operands->count) {
        txm_fail(&err, TXM_USAGE, "no image given; 'txmill resolve --help' lists the options");
        return txm_finish_failed(&err, 0);
    }
    const txm_running_args running = {.threads = args->jobs.threads};
    const txm_context_options how = txm_context_options_from(&args->config, &running);
    if (txm_context_new(&how, &context, &err) != TXM_OK)
        return txm_finish_failed(&err, operands->count);
    for (size_t i = 0; i < operands->count && !txm_signal_caught(); i++) {
        txm_error own = {0};
        txm_status status = resolve_one(context, operands->items[i], args, &tally, &own);
        if (status == TXM_CANCELLED)
            break;
        txm_tally_add(&tally, status);
        if (status != TXM_OK) {
            txm_say(TXM_SAY_ERROR, "%s", own.message);
            if (args->report.json)
                print_json_error(operands->items[i], &own);
        }
    }
    txm_context_free(&context);
    return txm_finish(&tally);
}

const txm_command txm_cmd_resolve = {
    .name = "resolve",
    .purpose = "Say which tx file Cycles would load for an image, and why",
    .synopsis = "[OPTION...] IMAGE...",
    .groups = groups,
    .operand_values = TXM_VALUES_FILE,
    .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL,
    .args_bytes = sizeof(resolve_args),
    .defaults = defaults,
    .run = run_resolve,
};
