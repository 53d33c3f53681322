/* SPDX-License-Identifier: Apache-2.0
 *
 * A look at a config's YAML before any other parser sees it: is it sound, is it of a size that a config can have, and
 * which profile version does it ask for?
 */
#ifndef TXM_COLOR_SCAN_H
#define TXM_COLOR_SCAN_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/status.h"

/* Bounds far above any real config (the largest known has 30,000 nodes, 350 colour spaces and 10 levels). */
enum {
    TXM_CONFIG_MAX_BYTES = 4 << 20,
    TXM_CONFIG_MAX_NODES = 100000, /* with every alias counted as what it stands for */
    TXM_CONFIG_MAX_DEPTH = 48,
    TXM_CONFIG_MAX_ITEMS = 1024, /* of one list or mapping: the library takes quadratic time over spaces */
    TXM_CONFIG_MAX_ANCHORS = 256
};

typedef struct txm_config_scan {
    unsigned major, minor; /* 0.0 when the config names no version */
} txm_config_scan;

/* CONFIG with the line when the text is no YAML or passes a bound. Uses memory in proportion to the text alone. */
txm_status txm_config_scan_text(const char *text, size_t size_bytes, txm_config_scan *out, txm_error *err);

/* The rule for version strings: "2" is 2.0. False for anything else than digits with at most one point. */
bool txm_config_parse_version(const char *text, unsigned *major, unsigned *minor);
#endif
