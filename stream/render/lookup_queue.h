/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups on devices while rays are traced on the CPU. A step of a path is shaded as if its lookups could miss: those
 * without a result are collected, and the step is repeated when the devices have run all lookups that the wave has
 * collected. A result is found by its place, footprint and random state, so lookups that depend on it are collected
 * next, and a wrong guess only costs a lookup. Colours are the same to the bit as the sampler's, and so is the picture.
 *
 * Frames do the same with all of their paths, in the view of the frame (frame_lookup.c).
 */
#ifndef STM_STREAM_LOOKUP_QUEUE_H
#define STM_STREAM_LOOKUP_QUEUE_H
#include "render/devices.h"
#include "render/lookup.h"

/* A lookup and its result. */
typedef struct stm_queued_lookup {
    txm_lookup at;
    uint32_t how, texture, random; /* index of the sampler; random state at the beginning */
    uint32_t path, next;           /* index in the wave; next lookup of the same path, counted from 1 */
    uint32_t after;                /* the random state afterwards */
    float rgba[4], du[4], dv[4];
} stm_queued_lookup;

typedef struct stm_lookup_list {
    stm_queued_lookup *items;
    size_t count, capacity;
    bool no_memory; /* a lookup could not be added */
} stm_lookup_list;

/* The lookups of a wave. */
typedef struct stm_lookup_queue {
    const stm_render_devices *devices;
    const stm_bound_image *images;
    const txm_view *view; /* a view that stays open; NULL: misses are requested from the cache */
    txm_cache_extent extent;
    stm_lookup_list known; /* lookups that have results */
    uint32_t *first;       /* first lookup of each path, counted from 1; 0: none */
    /* Arguments for the devices, as arrays for txm_device_batch. The first samplers are those of the images. */
    txm_sampler *samplers;
    uint32_t sampler_count, *how, *texture, *random;
    txm_lookup *at;
    float (*out)[4], (*du)[4], (*dv)[4];
    uint8_t *outcome;
    size_t room;
    bool with_slopes; /* some texture moves another, so derivatives are computed too */
} stm_lookup_queue;

/* Borrows devices and images; `paths` is the length of the wave, `samplers` at least the number of images. NULL if
 * memory is exhausted. */
stm_lookup_queue *stm_lookup_queue_new(const stm_render_devices *devices, const stm_bound_image *images,
                                       size_t image_count, size_t samplers, uint32_t paths, bool with_slopes);
void stm_lookup_queue_free(stm_lookup_queue **queue); /* NULL-safe; sets *queue to NULL */
void stm_lookup_queue_forget(stm_lookup_queue *queue, uint32_t paths);

/* Runs the lookups in the lists of all threads, and empties the lists. */
txm_status stm_lookup_queue_run(stm_lookup_queue *queue, stm_lookup_list *const *noted, size_t count, txm_error *err);
/* The lookup with its result; NULL if it has none yet. */
const stm_queued_lookup *stm_lookup_queue_find(const stm_lookup_queue *queue, const stm_queued_lookup *what);
/* Adds a lookup to `noted`; the members of *what that are results are ignored. */
void stm_lookup_queue_add(stm_lookup_list *noted, const stm_queued_lookup *what);
/* A source that returns known results, and collects lookups that have none; `path` is set before each step. */
stm_lookup_source stm_lookup_source_of_devices(const stm_lookup_queue *queue, stm_lookup_list *noted, txm_cache *cache,
                                               bool traced, uint32_t number);
#endif
