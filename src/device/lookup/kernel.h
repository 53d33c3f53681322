/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups in a renderer's own kernels, in CUDA's C++ and OpenCL C.
 *
 * txm_device_begin (device.h) prepares a launch and returns memories and arguments, which the renderer passes to its
 * kernels:
 *
 *     const txm_device_view view = txm_device_view_of(&args, table, near_tiles, far_tiles, notes);
 *     result = txm_look_up(&view, texture, &how, &at, &random, color, 0, 0);
 *
 * Colours are bit for bit those of txm_sample if the compiler keeps floating point exact: for nvcc -fmad=false
 * -ftz=false -prec-div=true -prec-sqrt=true, in OpenCL -cl-fp32-correctly-rounded-divide-sqrt. Missing tiles are
 * requested, and txm_device_collect passes the requests to the cache.
 *
 * The build makes txtile/kernel.h of this file and of the sampler's source, which it includes. What it does not
 * describe may change with each release.
 */
#ifndef TXM_LOOKUP_KERNEL_H
#define TXM_LOOKUP_KERNEL_H
#define TXM_DEVICE_VIEW 1
#include "tile/sample/device_args.h"
#include "tile/sample/quick.h"
#include "tile/sample/several.h"

#define TXM_WORDS(memory) ((TXM_GLOBAL uint32_t *)(TXM_GLOBAL void *)(memory))

/* The view of a launch, from its arguments and memories. */
TXM_KERNEL_PART txm_device_view txm_device_view_of(const txm_device_args *a, TXM_GLOBAL void *table,
                                                   TXM_GLOBAL void *near_tiles, TXM_GLOBAL void *far_tiles,
                                                   TXM_GLOBAL void *notes)
{
    txm_device_view view;
    view.textures = (TXM_GLOBAL const txm_view_texture *)(TXM_GLOBAL void *)table;
    view.leaves = TXM_WORDS(table) + a->leaves_at;
    view.slots = TXM_WORDS(table) + a->slots_at;
    view.udims = TXM_WORDS(table) + a->udims_at;
    view.near_tiles = (TXM_GLOBAL const uint8_t *)near_tiles;
    view.far_tiles = (TXM_GLOBAL const uint8_t *)far_tiles;
    view.notes = TXM_WORDS(notes);
    view.requests = TXM_WORDS(notes) + TXM_NOTES;
    view.touched = TXM_WORDS(notes) + TXM_NOTES + a->capacity;
    view.near_units = a->near_units;
    view.texture_count = a->texture_count;
    view.capacity = a->capacity;
    view.launch = (uint16_t)a->launch;
    view.round = (uint16_t)a->round;
    view.rejection = a->rejection;
    view.stand_in_capacity = a->stand_ins ? a->capacity : 0;
    return view;
}

/* Counts a lookup in the launch's notes. */
TXM_KERNEL_PART txm_lookup_result txm_look_up_noted(const txm_device_view *view, const txm_lookup_state *state,
                                                    txm_lookup_result result)
{
    if (result == TXM_LOOKUP_MISS)
        TXM_ADD32(view->notes + TXM_NOTE_MISSED, 1u);
    if (state->asked)
        TXM_ADD32(view->notes + TXM_NOTE_ASKED, state->asked);
    if (state->rejected)
        TXM_ADD32(view->notes + TXM_NOTE_REJECTED, state->rejected);
    if (state->full)
        TXM_ADD32(view->notes + TXM_NOTE_FULL, state->full);
    return result;
}

/* One lookup in a texture, as txm_sample does it. *random is the random state or number (txm_chance); to repeat a
 * lookup that missed in the next launch, restore the one that it began with. du and dv, the derivatives of the colour
 * by u and v, are both NULL or both valid. The function takes about 200 registers; see txm_look_up_linear. */
TXM_KERNEL_PART txm_lookup_result txm_look_up(const txm_device_view *view, uint32_t texture, const txm_sampler *how,
                                              const txm_lookup *at, uint32_t *random, float color[4], float *du,
                                              float *dv)
{
    txm_lookup_state state = {*random, view->capacity, 0, 0, 0, 0, 0};
    const txm_lookup_result result = txm_lookup_sample(view, texture, how, at, &state, color, du, dv);
    *random = state.random;
    return txm_look_up_noted(view, &state, result);
}

/* The same without derivatives as txm_sample_udim_blend (`kind` TXM_QUERY_UDIM_BLEND) or txm_sample_latlong
 * (TXM_QUERY_LATLONG) does it, in more registers. */
TXM_KERNEL_PART txm_lookup_result txm_look_up_several(const txm_device_view *view, uint32_t texture,
                                                      const txm_sampler *how, const txm_lookup *at, uint32_t kind,
                                                      uint32_t *random, float color[4])
{
    txm_lookup_state state = {*random, view->capacity, 0, 0, 0, 0, 0};
    const txm_lookup_result result = txm_several_sample(view, texture, how, at, kind, &state, color);
    *random = state.random;
    return txm_look_up_noted(view, &state, result);
}

/* txm_look_up for one filter and type, in 64 registers: returns 0, with everything unchanged, if the lookup is another
 * or misses a tile, so that txm_look_up has to do it, for example in a kernel of its own. */
TXM_KERNEL_PART int txm_look_up_linear(const txm_device_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *at, txm_type type, uint32_t *random, float color[4])
{
    uint32_t state = *random;
    if (!txm_quick_sample(view, texture, how, at, TXM_BIN_LINEAR + (uint32_t)type, 1, (int)type, &state, color))
        return 0;
    *random = state;
    return 1;
}
#endif
