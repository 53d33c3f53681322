/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a trace of lookups. The caller makes its calls one at a time, and describes a texture, under the number that
 * its lookups have, before the first of them. Failures are reported at the end.
 */
#ifndef TXM_RECORD_RECORDER_H
#define TXM_RECORD_RECORDER_H
#include <stdbool.h>

#include "tile/record/trace_format.h"
#include "txtile/sampler.h"

typedef struct txm_recorder txm_recorder;

/* `records`: TXM_TRACE_HAS_TILES, TXM_TRACE_HAS_LOOKUPS. */
txm_status txm_recorder_new(const char *path, uint32_t records, txm_recorder **out, txm_error *err);
const char *txm_recorder_path(const txm_recorder *r);

/* The path is that of the texture's file. `widened`: the file has fewer channels. */
void txm_recorder_texture(txm_recorder *r, uint32_t texture, const txm_view_texture *shape, bool widened,
                          const char *path);
/* A tile of one colour: such tiles share memory, which affects what fits into it. `texture` of the name is a number. */
void txm_recorder_constant(txm_recorder *r, txm_tile_name tile, const uint8_t *pixel, size_t pixel_bytes);

typedef struct txm_recorded {
    uint32_t lane, texture;
    const txm_view_texture *shape;
    const char *path;
    const txm_sampler *how;
    const txm_lookup *at;
    uint32_t random; /* the state that the lookup began with */
    /* Whether the lookup did not use the tile, because it could not be read. */
    bool (*failed)(const void *user, const txm_tile_name *tile);
    const void *user;
} txm_recorded;

void txm_recorder_lookup(txm_recorder *r, const txm_recorded *look);

/* Write what was collected, before records of another file, launch or epoch. A launch without lookups is left out. */
void txm_recorder_flush(txm_recorder *r);
void txm_recorder_launch(txm_recorder *r);
void txm_recorder_epoch(txm_recorder *r);

/* Completes the trace with the numbers of the end block; `partial`: why the work was not finished, or NULL. */
void txm_recorder_end(txm_recorder *r, const uint64_t numbers[TXM_TRACE_END_NUMBERS], const char *partial);
/* Gives the file its name; or, if it is not to be kept or anything failed, removes it. Returns the first failure, and
 * frees the recorder. */
txm_status txm_recorder_close(txm_recorder *r, bool keep, txm_error *err);
#endif
