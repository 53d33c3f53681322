/* SPDX-License-Identifier: Apache-2.0
 * The output of `txmill info --tiles`: one row per tile, the sizes of the tiles of each level, and the number of tiles
 * of a single colour. */
#ifndef TXM_TOOLS_INFO_TILES_H
#define TXM_TOOLS_INFO_TILES_H
#include <cjson/cJSON.h>

#include "tools/inspect/tile_census.h"

/* If there are more than TXM_TILE_ROWS tiles, the table has the largest ones, unless `all` is set. */
enum { TXM_TILE_ROWS = 200 };

/* Returns false when there is no memory for the table. */
bool txm_tile_census_print(const txm_tx *tx, const txm_tile_census *census, bool all);
/* The member `tiles`, complete. */
void txm_tile_census_add(cJSON *object, const txm_tx *tx, const txm_tile_census *census);
#endif
