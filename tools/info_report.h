/* SPDX-License-Identifier: Apache-2.0
 * What `txmill info` shows of one tx file, as text and as JSON (docs/schema/info.schema.json). */
#ifndef TXM_TOOLS_INFO_REPORT_H
#define TXM_TOOLS_INFO_REPORT_H
#include <stdbool.h>

#include "container/describe.h"
#include "info_tiles.h"
#include "txmill/reader.h"

enum { TXM_INFO_SCHEMA_VERSION = 1 };

/* How the tx file's time compares with the source's, where the source is still at its place. */
typedef enum txm_source_state {
    TXM_SOURCE_UNKNOWN, /* the file does not name a place */
    TXM_SOURCE_FRESH,   /* equal to the second: what Cycles asks for */
    TXM_SOURCE_OUTDATED,
    TXM_SOURCE_MISSING
} txm_source_state;

typedef struct txm_info {
    const char *path;
    const txm_tx *tx;
    txm_tx_description description;
    txm_source_state source_state;
    bool accepted; /* by Cycles, as a native tx file */
    char reason[256];
    const txm_tile_census *tiles; /* NULL if it was not asked for */
} txm_info;

void txm_info_print_text(const txm_info *info, bool all_metadata);
void txm_info_print_json(const txm_info *info, bool all_metadata);
/* The object of a file that could not be read. */
void txm_info_print_json_error(const char *path, const txm_error *err);
#endif
