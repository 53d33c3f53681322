/* SPDX-License-Identifier: Apache-2.0
 *
 * Collecting findings. Threads add them under a lock; they are sorted by place at the end, so that reports are
 * repeatable. The number that is kept of each kind is bounded, so that a file with a million damaged tiles does not
 * fill memory; the rest are counted.
 */
#include "mill/inspect/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/words.h"

static const txm_finding_kind kinds[] = {
#define FINDING(name, id, severity, meaning) {id, TXM_SEVERITY_##severity, meaning},
#include "mill/inspect/finding_table.h"
#undef FINDING
};

const char *txm_severity_name(txm_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return TXM_WORD_OF(names, severity);
}

const txm_finding_kind *txm_finding_kind_at(size_t index)
{
    return index < sizeof kinds / sizeof *kinds ? &kinds[index] : NULL;
}

void txm_findings_clear(txm_findings *findings)
{
    if (!findings)
        return;
    free(findings->items);
    memset(findings, 0, sizeof *findings);
}

/* `findings` belongs to the caller and receives the result; the collector is needed only while threads add to it. */
void txm_collector_init(txm_collector *c, txm_findings *findings)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->findings = findings;
}

void txm_collector_destroy(txm_collector *c)
{
    pthread_mutex_destroy(&c->lock);
}

/* Findings that are not kept still count by severity, so that the exit code does not depend on the bound. */
void txm_find(txm_collector *c, enum txm_finding_number number, txm_place place, const char *format, ...)
{
    const txm_finding_kind *kind = &kinds[number];
    va_list args;
    pthread_mutex_lock(&c->lock);
    c->findings->severities[kind->severity]++;
    if (c->kept[number] >= TXM_MAX_FINDINGS_A_KIND) {
        c->findings->left_out++;
    } else {
        /* So few findings of each kind are kept that the array may grow one by one. */
        txm_findings *f = c->findings;
        txm_finding *items = realloc(f->items, (f->count + 1) * sizeof *items);
        c->kept[number]++;
        c->exhausted |= !items;
        if (items) {
            txm_finding *finding = &items[f->count++];
            f->items = items;
            *finding =
                (txm_finding){.kind = kind, .level = place.level, .tile_x = place.tile_x, .tile_y = place.tile_y};
            va_start(args, format);
            txm_vformat(finding->text, sizeof finding->text, format, args);
            va_end(args);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

/* Sorts by kind in the order of the table, where the most serious come first, then by level, tile and text. */
static int by_place(const void *pa, const void *pb)
{
    const txm_finding *a = pa, *b = pb;
    const int keys[][2] = {{a->level, b->level}, {a->tile_y, b->tile_y}, {a->tile_x, b->tile_x}};
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return strcmp(a->text, b->text);
}

void txm_collector_sort(txm_collector *c)
{
    if (c->findings->count)
        qsort(c->findings->items, c->findings->count, sizeof *c->findings->items, by_place);
}
