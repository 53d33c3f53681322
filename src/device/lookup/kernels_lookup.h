/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of lookups: entry points around the source of the sampler (tile/sample/lookup.h), for all dialects.
 */
#ifndef TXM_DEVICE_KERNELS_LOOKUP_H
#define TXM_DEVICE_KERNELS_LOOKUP_H
#include "device/lookup/kernel.h"

/* The memories of a launch, as TXM_MEMORY_* numbers them. */
typedef struct txm_device_memories {
    TXM_GLOBAL uint8_t *table, *near_tiles, *far_tiles, *samplers, *queries, *answers, *slopes, *notes;
} txm_device_memories;

/* The list of a bin, whose length is in the notes. */
TXM_KERNEL_PART TXM_GLOBAL uint32_t *txm_device_list(const txm_device_args *a, const txm_device_memories *m,
                                                     uint32_t bin)
{
    const uint32_t before = a->sorted ? TXM_BITS32(a->bins & ((1u << bin) - 1u)) : 0;
    return TXM_WORDS(m->notes) + a->lists_at + (size_t)before * a->count;
}

TXM_KERNEL_PART void txm_device_list_add(const txm_device_args *a, const txm_device_memories *m, uint32_t bin,
                                         uint32_t i)
{
    txm_device_list(a, m, bin)[txm_count_in(TXM_WORDS(m->notes) + TXM_NOTE_BINS + bin)] = i;
}

TXM_KERNEL_PART TXM_GLOBAL const txm_device_query *txm_device_query_of(const txm_device_args *a,
                                                                       const txm_device_memories *m, uint32_t i)
{
    return (TXM_GLOBAL const txm_device_query *)(TXM_GLOBAL void *)(TXM_WORDS(m->queries) + a->queries_at) + i;
}

TXM_KERNEL_PART TXM_GLOBAL txm_device_answer *txm_device_answer_of(const txm_device_args *a,
                                                                   const txm_device_memories *m, uint32_t i)
{
    return (TXM_GLOBAL txm_device_answer *)(TXM_GLOBAL void *)(TXM_WORDS(m->answers) + a->answers_at) + i;
}

/* Whether lookup `i` of a launch without lists is to be done. */
TXM_KERNEL_PART int txm_device_is_due(const txm_device_args *a, const txm_device_memories *m, uint32_t i)
{
    return !a->again || txm_device_answer_of(a, m, i)->result == TXM_LOOKUP_MISS;
}

/* Puts lookup `i` on the list of its bin. */
TXM_KERNEL_PART void txm_device_bin_body(const txm_device_args *a, const txm_device_memories *m, uint32_t i)
{
    if (i >= a->count || !txm_device_is_due(a, m, i))
        return;
    TXM_GLOBAL const txm_device_query *given = txm_device_query_of(a, m, i);
    if (given->sampler & TXM_QUERY_KINDS) {
        txm_device_list_add(a, m, TXM_BIN_REST, i);
        return;
    }
    const txm_sampler how = ((TXM_GLOBAL const txm_sampler *)(TXM_GLOBAL void *)m->samplers)[given->sampler];
    const txm_device_view view = txm_device_view_of(a, m->table, 0, 0, m->notes);
    float u = given->at.u, v = given->at.v;
    txm_device_list_add(a, m, txm_bin_of(&how, txm_texture_at(&view, given->texture, &u, &v)), i);
}

/* Does lookup `i` of a bin. */
TXM_KERNEL_PART void txm_device_quick_body(const txm_device_args *a, const txm_device_memories *m, uint32_t bin,
                                           int linear, int type, uint32_t i)
{
    if (i >= (a->sorted ? TXM_WORDS(m->notes)[TXM_NOTE_BINS + bin] : a->count))
        return;
    if (a->sorted)
        i = txm_device_list(a, m, bin)[i];
    else if (!txm_device_is_due(a, m, i))
        return;
    TXM_GLOBAL const txm_device_query *given = txm_device_query_of(a, m, i);
    TXM_GLOBAL txm_device_answer *answer = txm_device_answer_of(a, m, i);
    const uint32_t kind = given->sampler & TXM_QUERY_KINDS;
    const txm_sampler how = ((TXM_GLOBAL const txm_sampler *)(TXM_GLOBAL void *)m->samplers)[given->sampler - kind];
    const txm_device_view view = txm_device_view_of(a, m->table, m->near_tiles, m->far_tiles, m->notes);
    const txm_lookup at = given->at;
    uint32_t random = given->random;
    float color[4];
    if (kind || !txm_quick_sample(&view, given->texture, &how, &at, bin, linear, type, &random, color)) {
        txm_device_list_add(a, m, TXM_BIN_REST, i);
        return;
    }
    for (int c = 0; c < 4; c++)
        answer->color[c] = color[c];
    answer->random = random;
    answer->result = TXM_LOOKUP_HIT;
}

/* Does lookup `i` of the rest, if it is made of `several` lookups, or if it is not. The former have a kernel of their
 * own, because with them all of the rest would take more registers. */
TXM_KERNEL_PART void txm_device_lookup_body(const txm_device_args *a, const txm_device_memories *m, int several,
                                            uint32_t i)
{
    const int listed = a->bins != 1u << TXM_BIN_REST;
    if (i >= (listed ? TXM_WORDS(m->notes)[TXM_NOTE_BINS + TXM_BIN_REST] : a->count))
        return;
    if (listed)
        i = txm_device_list(a, m, TXM_BIN_REST)[i];
    else if (!txm_device_is_due(a, m, i))
        return;
    const txm_device_query given = *txm_device_query_of(a, m, i);
    const uint32_t kind = given.sampler & TXM_QUERY_KINDS;
    if (several != (kind && !a->with_slopes))
        return;
    const txm_sampler how = ((TXM_GLOBAL const txm_sampler *)(TXM_GLOBAL void *)m->samplers)[given.sampler - kind];
    const txm_device_view view = txm_device_view_of(a, m->table, m->near_tiles, m->far_tiles, m->notes);
    txm_device_answer answer;
    txm_device_slopes slopes;
    answer.random = given.random;
    answer.result =
        (uint32_t)(several
                       ? txm_look_up_several(&view, given.texture, &how, &given.at, kind, &answer.random, answer.color)
                       : txm_look_up(&view, given.texture, &how, &given.at, &answer.random, answer.color,
                                     a->with_slopes ? slopes.du : 0, a->with_slopes ? slopes.dv : 0));
    *txm_device_answer_of(a, m, i) = answer;
    if (a->with_slopes)
        ((TXM_GLOBAL txm_device_slopes *)(TXM_GLOBAL void *)(TXM_WORDS(m->slopes) + a->slopes_at))[i] = slopes;
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
