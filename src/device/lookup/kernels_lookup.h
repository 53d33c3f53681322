/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of lookups: entry points around the source of the sampler (tile/sample/lookup.h), for all dialects.
 */
#ifndef TXM_DEVICE_KERNELS_LOOKUP_H
#define TXM_DEVICE_KERNELS_LOOKUP_H
#define TXM_DEVICE_VIEW 1
#include "tile/sample/device_args.h"
#include "tile/sample/quick.h"

#define TXM_WORDS(memory) ((TXM_GLOBAL uint32_t *)(TXM_GLOBAL void *)(memory))

/* The view of a launch; the arguments give the offsets of its parts in the memories. */
TXM_KERNEL_PART txm_device_view txm_device_view_of(const txm_device_lookup *a, TXM_GLOBAL uint8_t *table,
                                                   TXM_GLOBAL uint8_t *near_tiles, TXM_GLOBAL uint8_t *far_tiles,
                                                   TXM_GLOBAL uint8_t *notes)
{
    txm_device_view view;
    view.textures = (TXM_GLOBAL const txm_view_texture *)(TXM_GLOBAL void *)table;
    view.leaves = TXM_WORDS(table) + a->leaves_at;
    view.slots = TXM_WORDS(table) + a->slots_at;
    view.udims = TXM_WORDS(table) + a->udims_at;
    view.near_tiles = near_tiles;
    view.far_tiles = far_tiles;
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

/* The list of a bin, whose length is in the notes. */
TXM_KERNEL_PART TXM_GLOBAL uint32_t *txm_device_list(const txm_device_lookup *a, TXM_GLOBAL uint8_t *out, uint32_t bin)
{
    const uint32_t before = a->sorted ? TXM_BITS32(a->bins & ((1u << bin) - 1u)) : 0;
    return TXM_WORDS(out) + a->lists_at + (size_t)before * a->count;
}

TXM_KERNEL_PART void txm_device_list_add(const txm_device_lookup *a, TXM_GLOBAL uint8_t *out, TXM_GLOBAL uint8_t *notes,
                                         uint32_t bin, uint32_t i)
{
    txm_device_list(a, out, bin)[txm_count_in(TXM_WORDS(notes) + TXM_NOTE_BINS + bin)] = i;
}

TXM_KERNEL_PART TXM_GLOBAL const txm_device_in *txm_device_given(const txm_device_lookup *a, TXM_GLOBAL uint8_t *in,
                                                                 uint32_t i)
{
    return (TXM_GLOBAL const txm_device_in *)(TXM_GLOBAL void *)(TXM_WORDS(in) + a->lookups_at) + i;
}

/* Puts lookup `i` on the list of its bin. */
TXM_KERNEL_PART void txm_device_bin_body(const txm_device_lookup *a, TXM_GLOBAL uint8_t *table, TXM_GLOBAL uint8_t *in,
                                         TXM_GLOBAL uint8_t *out, TXM_GLOBAL uint8_t *notes, uint32_t i)
{
    if (i >= a->count)
        return;
    TXM_GLOBAL const txm_device_in *given = txm_device_given(a, in, i);
    const txm_sampler how = ((TXM_GLOBAL const txm_sampler *)(TXM_GLOBAL void *)in)[given->how];
    const txm_device_view view = txm_device_view_of(a, table, 0, 0, notes);
    float u = given->at.u, v = given->at.v;
    const uint32_t bin = txm_bin_of(&how, txm_texture_at(&view, given->texture, &u, &v));
    txm_device_list_add(a, out, notes, bin, i);
}

/* Does lookup `i` of a bin. */
TXM_KERNEL_PART void txm_device_quick_body(const txm_device_lookup *a, TXM_GLOBAL uint8_t *table,
                                           TXM_GLOBAL uint8_t *near_tiles, TXM_GLOBAL uint8_t *far_tiles,
                                           TXM_GLOBAL uint8_t *in, TXM_GLOBAL uint8_t *out, TXM_GLOBAL uint8_t *notes,
                                           uint32_t bin, int linear, int type, uint32_t i)
{
    if (i >= (a->sorted ? TXM_WORDS(notes)[TXM_NOTE_BINS + bin] : a->count))
        return;
    if (a->sorted)
        i = txm_device_list(a, out, bin)[i];
    TXM_GLOBAL const txm_device_in *given = txm_device_given(a, in, i);
    TXM_GLOBAL txm_device_out *found = (TXM_GLOBAL txm_device_out *)(TXM_GLOBAL void *)out + i;
    const txm_sampler how = ((TXM_GLOBAL const txm_sampler *)(TXM_GLOBAL void *)in)[given->how];
    const txm_device_view view = txm_device_view_of(a, table, near_tiles, far_tiles, notes);
    const txm_lookup at = given->at;
    uint32_t random = given->random;
    float color[4];
    if (!txm_quick_sample(&view, given->texture, &how, &at, bin, linear, type, &random, color)) {
        txm_device_list_add(a, out, notes, TXM_BIN_REST, i);
        return;
    }
    for (int c = 0; c < 4; c++)
        found->color[c] = color[c];
    found->random = random;
    found->result = TXM_LOOKUP_HIT;
}

/* Does lookup `i` of the rest. */
TXM_KERNEL_PART void txm_device_lookup_body(const txm_device_lookup *a, TXM_GLOBAL uint8_t *table,
                                            TXM_GLOBAL uint8_t *near_tiles, TXM_GLOBAL uint8_t *far_tiles,
                                            TXM_GLOBAL uint8_t *in, TXM_GLOBAL uint8_t *out, TXM_GLOBAL uint8_t *notes,
                                            uint32_t i)
{
    const int listed = a->bins != 1u << TXM_BIN_REST;
    if (i >= (listed ? TXM_WORDS(notes)[TXM_NOTE_BINS + TXM_BIN_REST] : a->count))
        return;
    if (listed)
        i = txm_device_list(a, out, TXM_BIN_REST)[i];
    const txm_device_in given = *txm_device_given(a, in, i);
    const txm_sampler how = ((TXM_GLOBAL const txm_sampler *)(TXM_GLOBAL void *)in)[given.how];
    const txm_device_view view = txm_device_view_of(a, table, near_tiles, far_tiles, notes);
    txm_lookup_state state = {given.random, a->capacity, 0, 0, 0, 0, 0};
    txm_device_out found;
    txm_device_slopes slopes;
    const int with_slopes = a->slopes_at != 0;
    found.result = (uint32_t)txm_lookup_sample(&view, given.texture, &how, &given.at, &state, found.color,
                                               with_slopes ? slopes.du : 0, with_slopes ? slopes.dv : 0);
    found.random = state.random;
    ((TXM_GLOBAL txm_device_out *)(TXM_GLOBAL void *)out)[i] = found;
    if (with_slopes)
        ((TXM_GLOBAL txm_device_slopes *)(TXM_GLOBAL void *)(TXM_WORDS(out) + a->slopes_at))[i] = slopes;
    if (state.asked)
        TXM_ADD32(view.notes + TXM_NOTE_ASKED, state.asked);
    if (state.rejected)
        TXM_ADD32(view.notes + TXM_NOTE_REJECTED, state.rejected);
    if (state.full)
        TXM_ADD32(view.notes + TXM_NOTE_FULL, state.full);
}

/* Does the part of thread `x` of row `y`. */
TXM_KERNEL_PART void txm_device_place_body(const txm_device_place *a, TXM_GLOBAL uint8_t *packet,
                                           TXM_GLOBAL uint8_t *first, TXM_GLOBAL uint8_t *second, uint32_t x,
                                           uint32_t y)
{
    if (y >= a->runs) {
        const uint32_t i = (y - a->runs) * TXM_DEVICE_ROW + x;
        if (i < a->clear_words)
            TXM_WORDS(second)[i] = 0;
        return;
    }
    const txm_device_run run = ((TXM_GLOBAL const txm_device_run *)(TXM_GLOBAL void *)packet)[y];
    TXM_GLOBAL const uint32_t *from = TXM_WORDS(packet) + (size_t)run.from * a->unit_words;
    TXM_GLOBAL uint32_t *to = TXM_WORDS(run.far_away ? second : first) + (size_t)run.to * a->unit_words;
    for (uint32_t i = x; i < run.count * a->unit_words; i += TXM_DEVICE_ROW)
        to[i] = from[i];
}
#endif
