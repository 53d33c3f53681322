/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the result of `txmill verify` for one tx file.
 *
 * In: findings, sorted. Out: a line that says whether Cycles uses the file, and a line per finding with its id, level,
 * tile and message.
 */
#include "tools/inspect/verify_report.h"

#include <stdio.h>

#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/line.h"

/* Notes describe choices (other tiles than Blender's, another program); warnings and errors describe wrong or
 * missing pixels. */
bool txm_verify_failed(const txm_findings *f)
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
    txm_print_safe(f->kind->meaning);
    printf(" (");
    txm_print_safe(f->text);
    printf(")\n");
}

/* The first line says what Cycles does with the file; the findings below explain it. */
void txm_verify_print_text(const txm_verify_report *r, bool quiet)
{
    const txm_findings *f = r->findings;
    bool failed = txm_verify_failed(f);
    if (quiet && !failed)
        return;
    char state[sizeof r->verdict->shows + 32];
    snprintf(state, sizeof state, "Cycles %s", r->verdict->shows);
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

void txm_verify_add_findings(cJSON *o, const txm_findings *f)
{
    cJSON *list = txm_json_array(o, "findings");
    for (size_t i = 0; i < f->count; i++) {
        const txm_finding *finding = &f->items[i];
        cJSON *e = txm_json_append(list);
        txm_json_text(e, "id", finding->kind->id);
        txm_json_text(e, "severity", txm_severity_name(finding->kind->severity));
        txm_json_text(e, "meaning", finding->kind->meaning);
        add_place(e, "level", finding->level);
        add_place(e, "tile_x", finding->tile_x);
        add_place(e, "tile_y", finding->tile_y);
        txm_json_text(e, "text", finding->text);
    }
}

void txm_verify_print_json(const txm_verify_report *r)
{
    cJSON *o = txm_json_result();
    txm_json_text(o, "file", r->path);
    txm_json_bool(o, "good", !txm_verify_failed(r->findings));
    txm_json_bool(o, "deep", r->deep);
    txm_json_uint(o, "errors", r->findings->severities[TXM_SEVERITY_ERROR]);
    txm_json_uint(o, "warnings", r->findings->severities[TXM_SEVERITY_WARNING]);
    txm_json_uint(o, "notes", r->findings->severities[TXM_SEVERITY_NOTE]);
    txm_json_uint(o, "left_out", r->findings->left_out);
    txm_json_text(o, "use", txm_use_name(r->verdict->use));
    txm_json_text(o, "shows", r->verdict->shows);
    txm_verify_add_findings(o, r->findings);
    txm_json_emit(o);
}
