/* SPDX-License-Identifier: Apache-2.0
 * txmill gc: trims a store of finished tx files. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "batch/store.h"
#include "exits.h"
#include "format.h"
#include "json.h"
#include "say.h"
#include "text.h"

enum { GC_SCHEMA_VERSION = 1 };

typedef struct gc_args {
    const char *store;
    double older_than_s;
    uint64_t max_size;
    bool remove;
    txm_report_args report;
} gc_args;

/* "36h", "30d", "2w". */
static txm_status parse_age(const char *text, void *field, txm_error *err)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400.0}};
    size_t digits = strspn(text, "0123456789");
    double number = atof(text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (digits && digits < 10 && text[digits] == units[i].letter && !text[digits + 1]) {
            *(double *)field = number * units[i].seconds;
            return TXM_OK;
        }
    }
    return txm_fail(err, TXM_USAGE, "must be a number and s, m, h, d or w, as 36h or 30d");
}

#define AT(member) .offset = offsetof(gc_args, member)
static const txm_option what_options[] = {
    {.name = "store",
     .type = TXM_OPT_STRING,
     AT(store),
     .arg = "DIR",
     .values = TXM_VALUES_DIR,
     .help = "The store to trim, as given to make --store"},
    {.name = "older-than",
     .type = TXM_OPT_CUSTOM,
     AT(older_than_s),
     .arg = "AGE",
     .parse = parse_age,
     .help = "Remove what was not used for that long, as 36h, 30d or 8w"},
    {.name = "max-size",
     .type = TXM_OPT_SIZE,
     AT(max_size),
     .arg = "SIZE",
     .help = "Remove until the store is no larger, as 200G, what was not used for longest first",
     .more = "Files that are in use under another name (hard links) occupy nothing and are not counted."},
    {.name = "delete", .type = TXM_OPT_FLAG, AT(remove), .help = "Really remove; without it only say what would be"},
    {0},
};
#undef AT

static const txm_option_group groups[] = {
    {"What", what_options, 0},
    {"Reports", txm_report_options, offsetof(gc_args, report)},
    {0},
};

static void defaults(void *p)
{
    gc_args *args = p;
    args->older_than_s = -1;
    args->max_size = UINT64_MAX;
}

/* ---- telling ---------------------------------------------------------------------------------------------------- */

static cJSON *new_object(const char *type)
{
    cJSON *o = cJSON_CreateObject();
    txm_json_text(o, "schema", "txmill.gc");
    txm_json_uint(o, "version", GC_SCHEMA_VERSION);
    txm_json_text(o, "type", type);
    return o;
}

static void print(cJSON *object)
{
    if (!txm_json_print(object))
        txm_say(TXM_SAY_ERROR, "out of memory: a JSON object is missing from the output");
}

static void on_removed(void *user, const char *path, uint64_t bytes, double unused_s)
{
    const gc_args *args = user;
    char size[TXM_FORMAT_BYTES];
    if (args->report.json) {
        cJSON *o = new_object("file");
        txm_json_text(o, "path", path);
        txm_json_text(o, "state", args->remove ? "removed" : "would-remove");
        txm_json_uint(o, "bytes", bytes);
        txm_json_number(o, "unused_seconds", unused_s, 10);
        print(o);
    } else if (!args->report.quiet) {
        printf("%-12s ", args->remove ? "removed" : "would-remove");
        txm_print_safe(path);
        printf("  (%s, unused for %.1f days)\n", txm_format_bytes(bytes, size), unused_s / 86400);
    }
}

static void print_summary(const gc_args *args, const txm_trim_result *r)
{
    char size[TXM_FORMAT_BYTES], gone[TXM_FORMAT_BYTES];
    if (!args->report.json) {
        txm_say(TXM_SAY_INFO, "%zu files, %s; %s %zu files, %s", r->objects, txm_format_bytes(r->bytes, size),
                args->remove ? "removed" : "would remove", r->removed, txm_format_bytes(r->removed_bytes, gone));
        return;
    }
    cJSON *o = new_object("summary");
    txm_json_uint(o, "files", r->objects);
    txm_json_uint(o, "bytes", r->bytes);
    txm_json_uint(o, args->remove ? "removed" : "would_remove", r->removed);
    txm_json_uint(o, args->remove ? "removed_bytes" : "would_remove_bytes", r->removed_bytes);
    txm_json_uint(o, "failed", r->failed);
    print(o);
}

static int run_gc(void *p, const txm_operands *operands)
{
    gc_args *args = p;
    txm_error err = {0};
    txm_trim_result result = {0};
    txm_tally tally = {0};
    txm_report_args_apply(&args->report);
    if (operands->count)
        txm_fail(&err, TXM_USAGE, "'%s': gc takes no arguments; --store names what is trimmed", operands->items[0]);
    else if (!args->store || !*args->store)
        txm_fail(&err, TXM_USAGE, "no store given; --store names it");
    else if (args->older_than_s < 0 && args->max_size == UINT64_MAX)
        txm_fail(&err, TXM_USAGE, "nothing to trim by; give --older-than or --max-size");
    if (err.status)
        return txm_finish_failed(&err, 0);
    const txm_trim_options options = {args->older_than_s, args->max_size, !args->remove, args, on_removed};
    if (txm_store_trim(args->store, &options, &result, &err) != TXM_OK)
        return txm_finish_failed(&err, 1);
    for (size_t i = 0; i < result.failed; i++)
        txm_tally_add(&tally, TXM_IO);
    print_summary(args, &result);
    return txm_finish(&tally);
}

const txm_command txm_cmd_gc = {
    .name = "gc",
    .purpose = "Trim a store of finished tx files",
    .synopsis = "--store DIR [OPTION...]",
    .groups = groups,
    .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY,
    .args_bytes = sizeof(gc_args),
    .defaults = defaults,
    .run = run_gc,
};
