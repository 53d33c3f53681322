/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks a config's YAML before any other parser reads it: its syntax, its size, and which profile version it has.
 */
#ifndef TXM_COLOR_SCAN_H
#define TXM_COLOR_SCAN_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/status.h"

/* Bounds far above those of real configs (the largest known has 30,000 nodes, 350 colour spaces and 10 levels). */
enum {
    TXM_CONFIG_MAX_BYTES = 4 << 20,
    TXM_CONFIG_MAX_NODES = 100000, /* limit with aliases written out */
    TXM_CONFIG_MAX_DEPTH = 48,
    TXM_CONFIG_MAX_ITEMS = 1024, /* limit of one list or mapping: the library takes quadratic time for spaces */
    TXM_CONFIG_MAX_ANCHORS = 256
};

typedef struct txm_config_scan {
    unsigned major, minor; /* 0.0 if the config has no version */
} txm_config_scan;

/* CONFIG with the line if the text is not YAML or exceeds a bound. Memory is proportional to the text. */
txm_status txm_config_scan_text(const char *text, size_t size_bytes, txm_config_scan *out, txm_error *err);

/* Parses a version: "2" is 2.0. false for anything else than digits with at most one point. */
bool txm_config_parse_version(const char *text, unsigned *major, unsigned *minor);
#endif
