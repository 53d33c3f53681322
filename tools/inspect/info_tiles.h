/* SPDX-License-Identifier: Apache-2.0
 * What `txmill info --tiles` shows: one row per tile, how large the tiles of each level are, and how many hold one
 * colour.
 */
#ifndef TXM_TOOLS_INFO_TILES_H
#define TXM_TOOLS_INFO_TILES_H
#include <cjson/cJSON.h>

#include "tools/inspect/tile_census.h"

/* With more tiles than TXM_TILE_ROWS the table is that of the largest ones, unless `all` are wanted. */
enum { TXM_TILE_ROWS = 200 };

/* Needs memory for the table: false when there is none. */
bool txm_tile_census_print(const txm_tx *tx, const txm_tile_census *census, bool all);
/* The member `tiles`, complete. */
void txm_tile_census_add(cJSON *object, const txm_tx *tx, const txm_tile_census *census);
#endif
