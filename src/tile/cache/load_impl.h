/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading one tile: from a request to the pixels in a slot, and what happens if that fails.
 */
#ifndef TXM_CACHE_LOAD_IMPL_H
#define TXM_CACHE_LOAD_IMPL_H
#include "tile/cache/store_impl.h"
#include "tile/cache/table_impl.h"

/* Prevents a slot from being evicted, as long as the slot has this stamp. */
typedef struct txm_pin {
    uint32_t slot, stamp;
    uint32_t rank, batch; /* those of the job that loaded the tile */
    uint32_t shown_from;  /* number of the first view that shows the tile; 0: its batch is not over */
} txm_pin;

typedef struct txm_pins {
    txm_pin *items;
    uint32_t count, capacity;
} txm_pins;

/* A tile to be read. */
typedef struct txm_job {
    txm_source *source;
    uint8_t level;
    bool restored; /* the tile was staged: it has its slot, and needs no reading */
    uint32_t tile, slot;
    uint32_t rank; /* index in the batch's list of requests */
    uint32_t
        version; /* the source's version when the tile was requested: if it has changed since, the tile is not shown */
    uint32_t batch;  /* number of the batch; the source counts the tile as loading until it ends; 0: not in a batch */
    uint8_t *pixels; /* pixels of the slot */
} txm_job;

/* rehearse.c: replaces the reading of files. The second function returns true if the tile has one colour. */
void txm_rehearse_open(const txm_cache *c, uint32_t texture, txm_source *made);
bool txm_rehearse_load(const txm_cache *c, const txm_job *job);

/* part.c, without the lock: loads the stand-in of a texture when it is registered. */
void txm_stand_in_load(txm_cache *c, uint32_t texture);

/* load.c */
/* Records a failure, if there is memory for it. */
void txm_load_failure_note(txm_cache *c, txm_load_failure **trouble, const txm_error *cause);
void txm_load_failure_free(txm_cache *c, txm_load_failure **trouble);
/* Whether a failure may be temporary. Tiles, levels and textures that failed for such a reason are tried again: at once
 * if nothing else failed lately, otherwise after as long as the attempt took, so at most half of the time is lost to
 * attempts. */
bool txm_failure_passes(const txm_error *err);
/* The value of an entry after a failure; `seconds` is how long the attempt took. */
uint32_t txm_failed_slot(txm_cache *c, const txm_error *err, double seconds);
/* Begins a new round if temporary failures are due to be tried again; with the lock held, and without it. */
bool txm_next_round(txm_cache *c);
bool txm_retry(txm_cache *c);
/* Turns a request into a job if it is for a tile; with the lock held, which may be released in between. False: there is
 * nothing to read. */
bool txm_plan(txm_cache *c, uint32_t number, txm_job *job);
bool txm_plan_slot(txm_cache *c, txm_job *job, bool must);
/* Makes the job of a claimed tile; if the tile was staged, the job gets its slot. */
txm_job txm_job_of(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile);
/* Ends a job that was not run: its tile may be requested again. With the lock held. */
void txm_abandon(txm_cache *c, const txm_job *job);
/* Called once for every job after it was run or abandoned; for jobs of a batch, when the batch is over. With the lock
 * held. */
void txm_job_over(txm_cache *c, const txm_job *job);
void txm_load(txm_cache *c, const txm_job *job, uint8_t **unwidened, size_t *unwidened_bytes, txm_pins *pins);
txm_slot *txm_pinned_slot(txm_cache *c, const txm_pin *pin); /* NULL: the slot holds another tile by now */
void txm_unpin(txm_cache *c, txm_pins *pins);
void txm_notify(txm_cache *c);
/* Waits until `completions` differs from the value that was read before. */
void txm_wait_for_others(txm_cache *c, uint64_t seen);
#endif
