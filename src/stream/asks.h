/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups that devices answer, while rays stay with the processor.
 *
 * A step of a path is shaded as if its lookups could be missed: what has no answer yet is noted, and the step is taken
 * again when the devices have answered all that the wave has noted. Answers belong to what was asked, the place, its
 * footprint and the random state, so what follows from an answer is asked in turn, and a guess that was wrong is only
 * asked in vain. Colours have the sampler's bits, and so has the picture.
 *
 * Frames do the same with all of their paths, in the view of the frame (frame_look.c).
 */
#ifndef TXM_STREAM_ASKS_H
#define TXM_STREAM_ASKS_H
#include "stream/devices.h"
#include "stream/look.h"

/* A lookup and its answer. */
typedef struct txm_ask {
    txm_lookup at;
    uint32_t how, texture, random; /* the number of its sampler; as the lookup begins */
    uint32_t path, next;           /* of the wave; the next one of the same path, counted from 1 */
    uint32_t after;                /* the random state that it leaves */
    float rgba[4], du[4], dv[4];
} txm_ask;

typedef struct txm_ask_list {
    txm_ask *items;
    size_t count, capacity;
    bool no_memory; /* something was left out */
} txm_ask_list;

/* Of a wave. */
typedef struct txm_asks {
    const txm_render_devices *devices;
    const txm_bound_image *images;
    const txm_view *view; /* that stays open; NULL: the cache is asked for what is missed */
    txm_cache_extent extent;
    txm_ask_list known; /* answered */
    uint32_t *first;    /* of each path, counted from 1; 0: none */
    /* What devices are given: arrays as txm_device_batch wants them. The first samplers are those of the images. */
    txm_sampler *samplers;
    uint32_t sampler_count, *how, *texture, *random;
    txm_lookup *at;
    float (*out)[4], (*du)[4], (*dv)[4];
    uint8_t *look;
    size_t room;
    bool with_slopes; /* some texture moves another: derivatives are asked for as well */
} txm_asks;

/* Borrows devices and images; `paths` is the length of the wave, `samplers` at least the number of images. NULL: no
 * memory. */
txm_asks *txm_asks_new(const txm_render_devices *devices, const txm_bound_image *images, size_t image_count,
                       size_t samplers, uint32_t paths, bool with_slopes);
void txm_asks_free(txm_asks **asks); /* NULL-safe; sets *asks to NULL */
void txm_asks_forget(txm_asks *asks, uint32_t paths);

/* Has the lists of all threads answered, and empties them. */
txm_status txm_asks_answer(txm_asks *asks, txm_ask_list *const *noted, size_t count, txm_error *err);
/* What was answered; NULL: nothing was. */
const txm_ask *txm_asks_find(const txm_asks *asks, const txm_ask *what);
/* Asks, in `noted`; the members of *what that are answers do not count. */
void txm_asks_note(txm_ask_list *noted, const txm_ask *what);
/* Looks up in the answers, and notes what has none; `path` is set before each step. */
txm_looker txm_looker_of_devices(const txm_asks *asks, txm_ask_list *noted, txm_cache *cache, bool traced,
                                 uint32_t number);
#endif
