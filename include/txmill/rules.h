/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that choose colour space, alpha type and a limit of the size by file name.
 *
 * Rules copy the strings that are passed to them. One thread at a time may add rules; after that any number may read
 * them.
 */
#ifndef TXMILL_RULES_H
#define TXMILL_RULES_H

#include <stdbool.h>

#include "txtile/export.h"
#include "txtile/settings.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One rule: what it specifies for the files whose path matches its glob. */
typedef struct txm_rule {
    const char *glob;
    const char *colorspace; /* NULL: not specified */
    txm_alpha alpha;        /* DEFAULT: not specified */
    bool by_preset;         /* a preset's, which only guesses from the name */
    bool unquoted;          /* of a file that must not be quoted: txm_rules_load_foreign */
    const char *origin;     /* "--rule", "FILE:LINE", "preset pbr" */
} txm_rule;

/* A list of rules: the first whose glob matches decides. */
typedef struct txm_rules txm_rules;

TXM_API txm_status txm_rules_new(txm_rules **out, txm_error *err); /* NO_MEMORY */
TXM_API void txm_rules_free(txm_rules **rules);                    /* NULL-safe */
/* Appends "GLOB=SPACE", "GLOB=SPACE,ALPHA" or "GLOB=,ALPHA". USAGE, NO_MEMORY. */
TXM_API txm_status txm_rules_add(txm_rules *rules, const char *text, const char *origin, txm_error *err);
/* Appends the rules of a file of at most 16 MiB, one per line; empty lines and lines that begin with '#' are skipped.
 * USAGE with the number of a malformed line, NOT_FOUND, DENIED, IO, NO_MEMORY; CANCELLED once *cancel is not 0
 * (`cancel` may be NULL). */
TXM_API txm_status txm_rules_load(txm_rules *rules, const char *path, const volatile int *cancel, txm_error *err);
/* The same for a file that a project's settings name, and so perhaps a stranger: only a regular file is read. Unless
 * *quoted is true, or becomes true because the first line begins with "# txmill rules", messages do not quote lines.
 * NOT_A_FILE as well. */
TXM_API txm_status txm_rules_load_foreign(txm_rules *rules, const char *path, bool *quoted, txm_error *err);
/* Appends "GLOB SIZE", or "SIZE" for all images: a limit of their sides in pixels, such as 2048 or 2k, or none. The
 * first one whose glob matches counts, whatever other rules say. USAGE, NO_MEMORY. */
TXM_API txm_status txm_rules_add_limit(txm_rules *rules, const char *text, txm_error *err);
/* The limit for an image, as in txm_settings; 0 if none matches. `rules` may be NULL. */
TXM_API uint32_t txm_rules_limit(const txm_rules *rules, const char *path);
/* Appends a preset. "pbr" makes normal, roughness, metalness, occlusion and displacement maps, masks and the like
 * Non-Color. USAGE, NO_MEMORY. */
TXM_API txm_status txm_rules_preset(txm_rules *rules, const char *name, txm_error *err);
/* The rule at an index, in the order in which they count and without presets; NULL beyond the last. */
TXM_API const txm_rule *txm_rules_at(const txm_rules *rules, size_t index);
/* The first rule whose glob matches; NULL if none does. */
TXM_API const txm_rule *txm_rules_match(const txm_rules *rules, const char *path);

#ifdef __cplusplus
}
#endif
#endif
