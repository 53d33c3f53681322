/* SPDX-License-Identifier: Apache-2.0
 *
 * The requests of a frame's lookups: from keys of tiles that lanes miss to a list of fixed size.
 *
 * As on a GPU, paths run in blocks of 8 x 4 pixels, starting at the top left of the picture, and the lanes of a wave
 * make their requests together: if several request the same tile, only one writes it. A list that is too short would
 * always be filled by the top of the picture, so requests are rejected at random, in a proportion that the last frame
 * suggests. The list does not depend on the number of threads: each part of the picture has its own list, and these are
 * joined in the picture's order.
 */
#ifndef STM_STREAM_FRAME_REQUESTS_H
#define STM_STREAM_FRAME_REQUESTS_H
#include "render/frames.h"

/* A group of blocks takes its steps together; its paths stay in a processor's cache. */
enum { STM_BLOCK_LANES = 32, STM_GROUP_BLOCKS = 16, STM_STEP_KEYS = 16 };

/* The misses of a block's lanes in one step; the requests of each lane are in the order in which it makes them. */
typedef struct stm_step_misses {
    uint32_t block; /* in its group */
    uint8_t count[STM_BLOCK_LANES];
    txm_tile_key keys[STM_STEP_KEYS][STM_BLOCK_LANES];
} stm_step_misses;

/* A request that a block of a group has written, in the order of the group's steps. */
typedef struct stm_block_request {
    txm_tile_key key;
    uint32_t block, next; /* next: index + 1 of the block's next request, once they are settled */
} stm_block_request;

/* The requests of a part of the picture. Blocks that take their steps together write to `waiting`, because requests are
 * in the order of blocks. */
typedef struct stm_part_requests {
    stm_block_request *waiting;
    size_t waiting_count, waiting_room;
    txm_tile_key *keys;
    size_t count, room;
    uint32_t most;        /* the size of the whole list */
    uint32_t part, frame; /* numbers for the random choice */
    uint32_t rejection;   /* probability in units of 2^-32 */
    uint64_t missed, requested, rejected, full;
} stm_part_requests;

/* Adds a lane's request for a tile. */
void stm_request_note(stm_step_misses *step, stm_part_requests *part, uint32_t lane, txm_tile_key key);
/* Ends a step of a block: waves of `wave` lanes (0 or 1: single lanes) write their misses. */
void stm_request_write(stm_step_misses *step, stm_part_requests *part, uint32_t wave);
/* Ends a group, whose blocks have taken all of their steps. */
void stm_request_settle(stm_part_requests *part);

/* The list of a frame, and its distinct keys in the order of their first requests. */
typedef struct stm_request_list {
    txm_tile_key *keys; /* at most `most` */
    uint32_t *counts;   /* of the requests for each key */
    uint32_t *table;    /* hash table of distinct keys: their index + 1; 0: empty */
    uint32_t most, table_size;
    uint32_t accepted, unique; /* keys[0] to keys[unique - 1] are the distinct keys */
} stm_request_list;

bool stm_request_list_new(stm_request_list *list, uint32_t most);
void stm_request_list_free(stm_request_list *list);
void stm_request_list_clear(stm_request_list *list);
/* Adds the requests of a part; parts must be given in the order of the picture. Requests that do not fit count as
 * `full` of the part. */
void stm_request_list_add(stm_request_list *list, stm_part_requests *part);
/* The probability with which the next frame's requests are rejected. */
uint32_t stm_request_rejection(stm_frames_reject how, uint64_t requested, uint64_t unique, uint32_t most);
#endif
