/* SPDX-License-Identifier: Apache-2.0
 *
 * The information of `txmill info` about one tx file, as text and as JSON (info.schema.json).
 *
 * Loading and printing are separate, because `txmill view` prints a short form, and its page contains the JSON.
 */
#ifndef TXM_TOOLS_INFO_REPORT_H
#define TXM_TOOLS_INFO_REPORT_H
#include <stdbool.h>

#include <cjson/cJSON.h>

#include "tools/inspect/info_tiles.h"
#include "txmill/batch.h"
#include "txmill/inspect.h"
#include "txtile/describe.h"

/* The modification time of the tx file, compared with that of the source. */
typedef enum txm_source_state {
    TXM_SOURCE_UNKNOWN, /* the file does not store a path, or the path cannot be examined */
    TXM_SOURCE_FRESH,   /* equal to the second, as Cycles requires */
    TXM_SOURCE_OUTDATED,
    TXM_SOURCE_MISSING
} txm_source_state;

/* Zero-initialise before first use. */
typedef struct txm_info {
    const char *path; /* the path as given; not owned */
    txm_tx *tx;
    txm_tx_description description;
    txm_source_state source_state;
    txm_verdict verdict;
    bool decoded; /* all tiles were decoded for the verdict */
    bool counted; /* `tiles` has the census */
    txm_tile_census tiles;
} txm_info;

/* Opens a file, examines its image, and judges it; with `decode` by all of its tiles. */
txm_status txm_info_load(txm_context *context, const txm_rules *limits, const char *path, bool decode, txm_info *out,
                         txm_error *err);
void txm_info_clear(txm_info *info); /* NULL-safe; zeroes */

typedef struct txm_info_extent {
    bool all_metadata, all_tiles;
} txm_info_extent;

/* Returns false when there is no memory for the table of tiles. */
bool txm_info_print_text(const txm_info *info, const txm_info_extent *extent);
/* The most important facts in four lines of at most `columns`, to be printed below a picture. */
enum { TXM_INFO_SHORT_LINES = 4 };
void txm_info_print_short(const txm_info *info, uint32_t level, unsigned columns);
/* The object of a file, or of one that could not be read. */
cJSON *txm_info_json(const txm_info *info, bool all_metadata);
cJSON *txm_info_json_error(const char *path, const txm_error *err);
/* The members `cycles` and `use` of an object about a tx file. */
void txm_info_add_verdict(cJSON *object, const txm_verdict *verdict);
/* Whether a renderer would show the pixels that are in the file. */
bool txm_info_is_good(const txm_verdict *verdict);
#endif
