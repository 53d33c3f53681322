/* SPDX-License-Identifier: Apache-2.0
 * What replays take from a trace beside its public face. */
#ifndef TXM_TRACE_READ_H
#define TXM_TRACE_READ_H
#include "txtile/trace.h"

/* A texture as a view has it, but for its place in the page table. */
void txm_trace_shape(const txm_trace *trace, uint32_t texture, txm_view_texture *shape);
/* The pixel of a tile of one colour, 16 bytes; NULL: it has several. */
const uint8_t *txm_trace_pixel(const txm_trace *trace, txm_tile_name tile);
#endif
