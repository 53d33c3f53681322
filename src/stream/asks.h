/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups on devices, while rays are traced on the CPU. A step of a path is shaded as if its lookups could miss: those
 * without a result are collected, and the step is taken again when the devices have run all lookups that the wave has
 * collected. A result is found by its place, footprint and random state, so lookups that depend on it are collected
 * next, and a wrong guess only costs a lookup. Colours have the sampler's bits, and so has the picture.
 */
#ifndef TXM_STREAM_ASKS_H
#define TXM_STREAM_ASKS_H
#include "stream/look.h"
#include "txtile/device.h"

/* A lookup and its result. */
typedef struct txm_ask {
    txm_lookup at;
    uint32_t image, random; /* index of the scene's image; random state at the beginning */
    uint32_t path, next;    /* index in the wave; next lookup of the same path, counted from 1 */
    uint32_t after;         /* the random state afterwards */
    float rgba[4], du[4], dv[4];
} txm_ask;

typedef struct txm_ask_list {
    txm_ask *items;
    size_t count, capacity;
    bool no_memory; /* a lookup could not be added */
} txm_ask_list;

/* The lookups of a wave. */
typedef struct txm_asks {
    txm_device **devices;
    const txm_bound_image *images;
    size_t device_count;
    txm_ask_list known; /* lookups that have results */
    uint32_t *first;    /* first lookup of each path, counted from 1; 0: none */
    /* Arguments for the devices, as arrays for txm_device_batch. */
    txm_sampler *samplers;
    uint32_t sampler_count, *how, *texture, *random;
    txm_lookup *at;
    float (*out)[4], (*du)[4], (*dv)[4];
    uint8_t *look;
    size_t room;
    bool with_slopes; /* some texture moves another, so derivatives are computed too */
} txm_asks;

/* Borrows devices; `paths` is the length of the wave. NULL if memory is exhausted. */
txm_asks *txm_asks_new(txm_device **devices, size_t device_count, const txm_bound_image *images, size_t image_count,
                       uint32_t paths, bool with_slopes);
void txm_asks_free(txm_asks **asks); /* NULL-safe; sets *asks to NULL */
void txm_asks_forget(txm_asks *asks, uint32_t paths);

/* Runs the lookups in the lists of all threads, and empties the lists. */
txm_status txm_asks_answer(txm_asks *asks, txm_ask_list *const *noted, size_t count, txm_error *err);
/* A looker that returns known results, and collects lookups that have none; `path` is set before each step. */
txm_looker txm_looker_of_devices(const txm_asks *asks, txm_ask_list *noted, txm_cache *cache, bool traced,
                                 uint32_t number);
#endif
