/* SPDX-License-Identifier: Apache-2.0
 *
 * Which colour space and alpha go with which file names.
 *
 * Rules copy the strings that they are given. For one thread at a time until they are complete, then for any number.
 */
#ifndef TXMILL_RULES_H
#define TXMILL_RULES_H

#include "txtile/export.h"
#include "txtile/settings.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One rule: what it says about the files whose path matches its glob. */
typedef struct txm_rule {
    const char *glob;
    const char *colorspace; /* NULL: not said */
    txm_alpha alpha;        /* DEFAULT: not said */
    const char *origin;     /* "--rule", "FILE:LINE", "preset pbr" */
} txm_rule;

/* Rules in the order in which they count: the first whose glob matches decides. */
typedef struct txm_rules txm_rules;

TXM_API txm_status txm_rules_new(txm_rules **out, txm_error *err); /* NO_MEMORY */
TXM_API void txm_rules_free(txm_rules **rules);                    /* NULL-safe */
/* Adds "GLOB=SPACE", "GLOB=SPACE,ALPHA" or "GLOB=,ALPHA" after those that are there. USAGE, NO_MEMORY. */
TXM_API txm_status txm_rules_add(txm_rules *rules, const char *text, const char *origin, txm_error *err);
/* One such rule per line; empty lines and lines that begin with '#' are skipped. USAGE with the line's number,
 * NOT_FOUND, DENIED, IO, NO_MEMORY; CANCELLED once *cancel (`cancel` may be NULL) is not 0. */
TXM_API txm_status txm_rules_load(txm_rules *rules, const char *path, const volatile int *cancel, txm_error *err);
/* "pbr": normal, roughness, metalness, occlusion, displacement maps, masks and their like are Non-Color. */
TXM_API txm_status txm_rules_preset(txm_rules *rules, const char *name, txm_error *err);
/* One rule after the other in the order in which they count, presets aside; NULL beyond the last. */
TXM_API const txm_rule *txm_rules_at(const txm_rules *rules, size_t index);
/* The first rule whose glob matches; NULL if none does. */
TXM_API const txm_rule *txm_rules_match(const txm_rules *rules, const char *path);

#ifdef __cplusplus
}
#endif
#endif
