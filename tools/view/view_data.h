/* SPDX-License-Identifier: Apache-2.0
 * The data of a page of `txmill view` other than pixels: header, statistics, tiles, as JSON. */
#ifndef TXM_TOOLS_VIEW_DATA_H
#define TXM_TOOLS_VIEW_DATA_H
#include <cjson/cJSON.h>

#include "tools/inspect/info_report.h"

/* The largest number of tiles for which a page has the size of each. */
enum { TXM_VIEW_MAX_TILES = 100000 };

/* The object of a file, with the sizes of its tiles and the statistics of level 0. NO_MEMORY, CANCELLED. */
txm_status txm_view_data(txm_info *info, const volatile int *cancel, cJSON **out, txm_error *err);
/* Adds the list of levels whose pixels are in the page. */
void txm_view_data_embedded(cJSON *object, const bool *embedded, uint32_t levels);
/* The object of a file that could not be read. */
cJSON *txm_view_data_error(const char *path, const txm_error *err);
/* The page's data with all files in it. Consumes `files`. NULL when memory is exhausted. */
cJSON *txm_view_data_finish(cJSON *files, int level, uint64_t page_bytes);
#endif
