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
    size_t most = TXM_WINDOW + room + TXM_INFLATE_OVERSHOOT;
    txm_source_init(&g->inflate.source, read, context);
    g->room = room;
    g->samples = malloc(most * sizeof *g->samples);
    g->bytes = malloc(most);
    if (!g->samples || !g->bytes)
        return false;
    for (unsigned i = 0; i < TXM_WINDOW; i++)
        g->samples[i] = (uint16_t)(TXM_FIRST_MARK + i);
    return true;
}

void txm_guess_free(txm_guess *g)
{
    free(g->samples);
    free(g->bytes);
    g->samples = NULL;
    g->bytes = NULL;
}

/* ---- inflating ------------------------------------------------------------------------------------------------ */

static uint64_t position(const txm_guess *g)
{
    return txm_source_position(&g->inflate.source);
}

static txm_inflate_out samples_from(const txm_guess *g, size_t count)
{
    uint16_t *first = g->samples + TXM_WINDOW;
    return (txm_inflate_out){(uint8_t *)g->samples, (uint8_t *)(first + count), (uint8_t *)(first + g->room)};
}

static bool next_block_in_samples(txm_guess *g)
{
    txm_inflate_out out = samples_from(g, g->sample_count);
    if (txm_inflate_samples(&g->inflate, &out) != TXM_INFLATED_BLOCK)
        return false;
    g->sample_count = (size_t)(out.at - (uint8_t *)(g->samples + TXM_WINDOW)) / sizeof *g->samples;
    return true;
}

static bool next_block_in_bytes(txm_guess *g)
{
    uint8_t *first = g->bytes + TXM_WINDOW;
    size_t room = g->sample_count < g->room ? g->room - g->sample_count : 0;
    txm_inflate_out out = {g->bytes, first + g->byte_count, first + room};
    if (txm_inflate_bytes(&g->inflate, &out) != TXM_INFLATED_BLOCK)
        return false;
    g->byte_count = (size_t)(out.at - first);
    return true;
}

bool txm_guess_begin(txm_guess *g, uint64_t from, uint64_t to)
{
    txm_bit_source *source = &g->inflate.source;
    g->byte_count = 0;
    for (int i = 0; i < TRIES && txm_find_block(source, from, to); i++) {
        g->begin = position(g);
        g->sample_count = 0;
        txm_inflate_begin(&g->inflate);
        if (next_block_in_samples(g)) {
            g->end = position(g);
            return true;
        }
        from = g->begin + 1;
    }
    return false;
}

/* Stretches of samples without marks are the rule: a vector of comparisons, and one branch. */
static bool has_marks(const uint16_t *samples)
{
    uint16_t any = 0;
    for (int i = 0; i < STRETCH; i++)
        any |= samples[i];
    return any >= TXM_FIRST_MARK;
}

/* From samples to bytes, if all that matches can refer to are bytes. */
static bool go_on_in_bytes(txm_guess *g)
{
    const uint16_t *last = g->samples + g->sample_count; /* of TXM_WINDOW samples */
    for (size_t i = 0; i < TXM_WINDOW; i += STRETCH)
        if (has_marks(last + i))
            return false;
    for (size_t i = 0; i < TXM_WINDOW; i++)
        g->bytes[i] = (uint8_t)last[i];
    return true;
}

void txm_guess_finish(txm_guess *g, uint64_t to, const atomic_bool *unwanted)
{
    bool in_bytes = false;
    while (g->end < to && !atomic_load_explicit(unwanted, memory_order_relaxed)) {
        in_bytes = in_bytes || go_on_in_bytes(g);
        if (txm_inflate_final_next(&g->inflate) || !(in_bytes ? next_block_in_bytes(g) : next_block_in_samples(g)))
            return;
        g->end = position(g);
    }
}

/* ---- resolving ------------------------------------------------------------------------------------------------ */

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
    if (g->byte_count)
        memcpy(dst, g->bytes + g->byte_count, TXM_WINDOW);
    else
        txm_resolve_marks(dst, g->samples + g->sample_count, TXM_WINDOW, map);
}
