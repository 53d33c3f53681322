/* SPDX-License-Identifier: Apache-2.0
 *
 * What the lookups of a frame ask for: from keys of tiles that lanes miss to a list of fixed size.
 *
 * As on a device, paths run in blocks of 8 x 4 pixels, from the top left of the picture on, and the lanes of a wave
 * make their requests together: of those that ask for the same tile one writes. A list that is too short would always
 * be filled by the top of the picture, so requests are rejected at random, in the share that the last frame suggests.
 * The list is the same however many threads trace: each part of the picture has a list of its own, and they are joined
 * in the picture's order.
 */
#ifndef TXM_STREAM_FRAME_REQUESTS_H
#define TXM_STREAM_FRAME_REQUESTS_H
#include "stream/frames.h"

enum { TXM_BLOCK_LANES = 32, TXM_STEP_KEYS = 16 };

/* What the lanes of a block miss in one step: the requests of a lane in the order in which it makes them. */
typedef struct txm_step_misses {
    uint8_t count[TXM_BLOCK_LANES];
    txm_tile_key keys[TXM_STEP_KEYS][TXM_BLOCK_LANES];
} txm_step_misses;

/* The requests of a part of the picture. */
typedef struct txm_part_requests {
    txm_tile_key *keys;
    size_t count, room;
    uint32_t most;        /* the size of the whole list */
    uint32_t part, frame; /* for the draws */
    uint32_t rejection;   /* chance in units of 2^-32 */
    uint64_t missed, requested, rejected, full;
} txm_part_requests;

/* A lane asks for a tile. */
void txm_request_note(txm_step_misses *step, txm_part_requests *part, uint32_t lane, txm_tile_key key);
/* The step is over: waves of so many lanes, 0 or 1 for none, write what they miss. */
void txm_request_write(txm_step_misses *step, txm_part_requests *part, uint32_t wave);

/* The list of a frame, and its different keys in the order of their first requests. */
typedef struct txm_request_list {
    txm_tile_key *keys;  /* `most` of them */
    txm_tile_key *table; /* of different ones, by their hash; 0: empty */
    uint32_t most, table_size;
    uint32_t accepted, unique; /* keys[0] to keys[unique - 1] remain */
} txm_request_list;

bool txm_request_list_new(txm_request_list *list, uint32_t most);
void txm_request_list_free(txm_request_list *list);
void txm_request_list_clear(txm_request_list *list);
/* Adds the requests of a part, which come in the order of the picture; what does not fit counts as `full` of the part.
 */
void txm_request_list_add(txm_request_list *list, txm_part_requests *part);
/* The chance of the next frame's requests to be left out. */
uint32_t txm_request_rejection(txm_frames_reject how, uint64_t requested, uint64_t unique, uint32_t most);
#endif
