/* SPDX-License-Identifier: Apache-2.0
 *
 * The estimate is the minimum for bands, the pyramid's rows, encoders and the decoder. Whatever --max-memory leaves
 * beyond that is used for more bands; the lower limit is the number with which the stages cannot block each other.
 */
#include "mill/convert/memory.h"

#include "base/fail.h"
#include "mill/convert/hash_stage.h"

enum {
    QUEUE_BYTES = 20 << 20, /* spills of tiles and borders up to their limits, and descriptors of tiles */
    THREAD_BYTES = 2 << 20, /* encoders and scratch memory of one thread */
    /* Two blocks are hashed together if the rows that must be held back for that fit into this much memory. */
    HELD_FOR_HASH_BYTES = 16 << 20,
    /* A small image does not fill the buffers that a large one may: it takes as much as a few copies of itself. */
    SMALL_BASE_BYTES = 3 << 20,
    SMALL_COPIES = 6
};

static uint64_t stored_width(const txm_conform *c, const txm_settings *s)
{
    return txm_level_size(c->width, txm_limit_level(c->width, c->height, s->limit_px));
}

static uint64_t pixel_bytes(const txm_conform *c)
{
    return (uint64_t)c->channels * txm_type_bytes(c->type);
}

/* An upper estimate of what this library takes; decoders of rarer formats are in the worker process and bounded there.
 */
uint64_t txm_convert_memory(const txm_conform *c, const txm_settings *s, unsigned bands, unsigned threads)
{
    uint64_t band = stored_width(c, s) * pixel_bytes(c) * s->tile_px;
    uint64_t raw = (uint64_t)c->width * c->src_channels * txm_type_bytes(c->src_type) * s->tile_px;
    uint64_t float_row = (uint64_t)c->width * c->channels * sizeof(float);
    /* The bands of level 0; four of every level above, which add up to four of level 0's; their encoded tiles, which
     * are smaller except for noise in floats; four float rows per level of the pyramid. */
    uint64_t encoded = c->type == TXM_TYPE_FLOAT ? band * bands : band * bands / 2;
    uint64_t bytes = band * (bands + 4) + encoded + raw + 8 * float_row;
    /* Rows that are halved to become level 0, and the pyramid above that. */
    if (txm_limit_level(c->width, c->height, s->limit_px))
        bytes += c->width * pixel_bytes(c) * s->tile_px + 8 * stored_width(c, s) * c->channels * sizeof(float);
    return bytes + QUEUE_BYTES + (uint64_t)threads * THREAD_BYTES;
}

uint64_t txm_convert_needs(const txm_conform *c, const txm_settings *s, unsigned bands, unsigned threads,
                           uint64_t reader_bytes)
{
    /* At most 2^20 x 2^20 x 16 bytes, so this cannot overflow. */
    uint64_t small = SMALL_BASE_BYTES + SMALL_COPIES * (uint64_t)c->width * c->height * pixel_bytes(c);
    uint64_t bytes = txm_convert_memory(c, s, bands, threads);
    const uint64_t process = c->space ? TXM_PROCESS_BYTES + TXM_OCIO_BYTES : TXM_PROCESS_BYTES;
    return process + (small < bytes ? small : bytes) + reader_bytes;
}

unsigned txm_convert_bands(const txm_conform *c, const txm_settings *s, unsigned threads, uint64_t reader_bytes,
                           uint64_t max_memory_bytes, unsigned *held, uint64_t *needed_bytes)
{
    unsigned least = s->equiangular ? 2 * TXM_MIN_BANDS : TXM_MIN_BANDS;
    uint64_t needed = 0;
    for (unsigned bands = least + 1 + threads; bands >= least; bands--) {
        needed = txm_convert_needs(c, s, bands, threads, reader_bytes);
        if (max_memory_bytes && needed > max_memory_bytes)
            continue;
        if (held) {
            uint64_t band = s->tile_px * stored_width(c, s) * pixel_bytes(c);
            unsigned all = txm_hash_held_bands(s->tile_px);
            bool room =
                !max_memory_bytes || txm_convert_needs(c, s, bands + all, threads, reader_bytes) <= max_memory_bytes;
            *held = room && all * band <= HELD_FOR_HASH_BYTES ? all : 0;
        }
        return bands;
    }
    if (needed_bytes)
        *needed_bytes = needed;
    return 0;
}

txm_status txm_convert_refuse(const char *path, uint64_t needed_bytes, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_TOO_LARGE,
                    "%s: needs about %llu MB, more than --max-memory allows; --max-memory %lluM would suffice", path,
                    (unsigned long long)(needed_bytes / 1000000 + 1), (unsigned long long)(needed_bytes >> 20) + 1);
}
