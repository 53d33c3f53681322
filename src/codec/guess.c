/* SPDX-License-Identifier: Apache-2.0
 * Inflating with an unknown window. */
#include "codec/guess.h"

#include <stdlib.h>
#include <string.h>

#include "codec/find_block.h"

enum {
    TRIES = 16, /* places that look like a begin and are none: chance makes no two, and the time is bounded */
    STRETCH = 64
};

bool txm_guess_init(txm_guess *g, size_t room, txm_source_read read, void *context)
{
    txm_source_init(&g->inflate.source, read, context);
    g->room = room;
    g->samples = malloc((TXM_WINDOW + room + TXM_INFLATE_OVERSHOOT) * sizeof *g->samples);
    if (!g->samples)
        return false;
    for (unsigned i = 0; i < TXM_WINDOW; i++)
        g->samples[i] = (uint16_t)(TXM_FIRST_MARK + i);
    return true;
}

void txm_guess_free(txm_guess *g)
{
    free(g->samples);
    g->samples = NULL;
}

/* ---- inflating ------------------------------------------------------------------------------------------------ */

static uint64_t position(const txm_guess *g)
{
    return txm_source_position(&g->inflate.source);
}

static bool next_block(txm_guess *g)
{
    uint16_t *first = g->samples + TXM_WINDOW;
    txm_inflate_out out = {(uint8_t *)g->samples, (uint8_t *)(first + g->count), (uint8_t *)(first + g->room)};
    if (txm_inflate_samples(&g->inflate, &out) != TXM_INFLATED_BLOCK)
        return false;
    g->count = (size_t)(out.at - (uint8_t *)first) / sizeof *first;
    g->end = position(g);
    return true;
}

bool txm_guess_begin(txm_guess *g, uint64_t from, uint64_t to)
{
    txm_bit_source *source = &g->inflate.source;
    for (int i = 0; i < TRIES && txm_find_block(source, from, to); i++) {
        g->begin = position(g);
        g->count = 0;
        txm_inflate_begin(&g->inflate);
        if (next_block(g))
            return true;
        from = g->begin + 1;
    }
    return false;
}

void txm_guess_finish(txm_guess *g, uint64_t to, const atomic_bool *unwanted)
{
    while (g->end < to && !atomic_load_explicit(unwanted, memory_order_relaxed))
        if (txm_inflate_final_next(&g->inflate) || !next_block(g))
            return;
}

/* ---- resolving ------------------------------------------------------------------------------------------------ */

/* A vector of comparisons, and one branch. */
static bool has_marks(const uint16_t *samples)
{
    uint16_t any = 0;
    for (int i = 0; i < STRETCH; i++)
        any |= samples[i];
    return any >= TXM_FIRST_MARK;
}

void txm_resolve_marks(uint8_t *dst, const uint16_t *samples, size_t n, const uint8_t map[TXM_MARK_MAP])
{
    for (; n >= STRETCH; n -= STRETCH, dst += STRETCH, samples += STRETCH) {
        if (has_marks(samples))
            for (int i = 0; i < STRETCH; i++)
                dst[i] = map[samples[i]];
        else
            for (int i = 0; i < STRETCH; i++)
                dst[i] = (uint8_t)samples[i];
    }
    for (; n; n--)
        *dst++ = map[*samples++];
}

void txm_guess_window(const txm_guess *g, uint8_t dst[TXM_WINDOW], const uint8_t map[TXM_MARK_MAP])
{
    txm_resolve_marks(dst, g->samples + g->count, TXM_WINDOW, map);
}
