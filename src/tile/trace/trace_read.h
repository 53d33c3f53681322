/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions on traces that replays need in addition to the public ones.
 */
#ifndef TXM_TRACE_READ_H
#define TXM_TRACE_READ_H
#include "txtile/trace.h"

/* The texture as in a view, without its place in the page table. */
void txm_trace_shape(const txm_trace *trace, uint32_t texture, txm_view_texture *shape);
/* The pixel of a tile of one colour, 16 bytes; NULL: it has several colours. */
const uint8_t *txm_trace_pixel(const txm_trace *trace, txm_tile_name tile);
/* How much a cache would read if it knew all later lookups, the lower bound of all policies (optimum.c). It runs no
 * cache, so its memory is that of its lists: about eight bytes for each use of a tile. */
txm_status txm_optimum(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out,
                       txm_error *err);
#endif
