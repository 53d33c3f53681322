/* SPDX-License-Identifier: Apache-2.0
 *
 * Collecting findings from any thread. A finding is a kind, a place and a sentence. Kinds are listed once, in
 * finding_table.h: their number in code, their id in JSON, their severity and their explanation in the manual come
 * from that table.
 */
#ifndef TXM_INSPECT_FINDINGS_H
#define TXM_INSPECT_FINDINGS_H
#include <pthread.h>

#include "txmill/inspect.h"

enum txm_finding_number {
#define FINDING(name, id, severity, meaning) TXM_FINDING_##name,
#include "mill/inspect/finding_table.h"
#undef FINDING
    TXM_FINDING_COUNT
};

/* The place of a finding; -1 in a member means that it concerns several. */
typedef struct txm_place {
    int level, tile_x, tile_y;
} txm_place;
#define TXM_NO_PLACE ((txm_place){-1, -1, -1})

typedef struct txm_collector {
    pthread_mutex_t lock;
    txm_findings *findings; /* the caller's list */
    unsigned kept[TXM_FINDING_COUNT];
    bool exhausted; /* a finding was lost because memory is exhausted: the verification fails */
} txm_collector;

void txm_collector_init(txm_collector *collector, txm_findings *findings);
void txm_collector_destroy(txm_collector *collector);

/* Adds a finding. Any thread may call it. */
void txm_find(txm_collector *collector, enum txm_finding_number number, txm_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sorts by kind, and within a kind by level and tile, so that the order does not depend on threads. */
void txm_collector_sort(txm_collector *collector);
#endif
