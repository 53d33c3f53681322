/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups that devices answer, while rays stay with the processor.
 *
 * A step of a path is shaded as if its lookups could be missed: what has no answer yet is noted, and the step is taken
 * again when the devices have answered all that the wave has noted. Answers belong to what was asked, the place, its
 * footprint and the random state, so what follows from an answer is asked in turn, and a guess that was wrong is only
 * asked in vain. Colours have the sampler's bits, and so has the picture.
 */
#ifndef TXM_STREAM_ASKS_H
#define TXM_STREAM_ASKS_H
#include "stream/look.h"
#include "txtile/device.h"

/* A lookup and its answer. */
typedef struct txm_ask {
    txm_lookup at;
    uint32_t image, random; /* of the scene; as the lookup begins */
    uint32_t path, next;    /* of the wave; the next one of the same path, counted from 1 */
    uint32_t after;         /* the random state that it leaves */
    float rgba[4], du[4], dv[4];
} txm_ask;

typedef struct txm_ask_list {
    txm_ask *items;
    size_t count, capacity;
    bool no_memory; /* something was left out */
} txm_ask_list;

/* Of a wave. */
typedef struct txm_asks {
    txm_device **devices;
    const txm_bound_image *images;
    size_t device_count;
    txm_ask_list known; /* answered */
    uint32_t *first;    /* of each path, counted from 1; 0: none */
    /* What devices are given: arrays as txm_device_batch wants them. */
    txm_sampler *samplers;
    uint32_t sampler_count, *how, *texture, *random;
    txm_lookup *at;
    float (*out)[4], (*du)[4], (*dv)[4];
    uint8_t *look;
    size_t room;
    bool with_slopes; /* some texture moves another: derivatives are asked for as well */
} txm_asks;

/* Borrows devices; `paths` is the length of the wave. NULL: no memory. */
txm_asks *txm_asks_new(txm_device **devices, size_t device_count, const txm_bound_image *images, size_t image_count,
                       uint32_t paths, bool with_slopes);
void txm_asks_free(txm_asks **asks); /* NULL-safe; sets *asks to NULL */
void txm_asks_forget(txm_asks *asks, uint32_t paths);

/* Has the lists of all threads answered, and empties them. */
txm_status txm_asks_answer(txm_asks *asks, txm_ask_list *const *noted, size_t count, txm_error *err);
/* Looks up in the answers, and notes what has none; `path` is set before each step. */
txm_looker txm_looker_of_devices(const txm_asks *asks, txm_ask_list *noted, txm_cache *cache, bool traced,
                                 uint32_t number);
#endif
