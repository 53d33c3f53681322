/* SPDX-License-Identifier: Apache-2.0
 * A buffer between a file and a reader of bits. */
#include "codec/bit_source.h"

#include <string.h>

static void forget(txm_bit_source *s, uint64_t next)
{
    s->reader = (txm_bit_reader){.in = s->buffer, .end = s->buffer};
    s->next = next;
    s->pad = 0;
    s->failed = false;
}

void txm_source_init(txm_bit_source *s, txm_source_read read, void *context)
{
    forget(s, 0);
    s->read = read;
    s->context = context;
}

/* One piece more, or the zeros. */
static bool read_more(txm_bit_source *s)
{
    size_t left = (size_t)(s->reader.end - s->reader.in), got = 0;
    memmove(s->buffer, s->reader.in, left);
    s->reader.in = s->buffer;
    s->reader.end = s->buffer + left;
    if (!s->read(s->context, s->next, s->buffer + left, TXM_SOURCE_BYTES - left, &got)) {
        s->failed = true;
        return false;
    }
    if (got == 0) {
        s->pad = TXM_SOURCE_PAD;
        memset(s->buffer + left, 0, s->pad);
    }
    s->next += got;
    s->reader.end += got + s->pad;
    return true;
}

bool txm_source_have(txm_bit_source *s, size_t bytes)
{
    while ((size_t)(s->reader.end - s->reader.in) < bytes && !s->pad)
        if (s->failed || !read_more(s))
            return false;
    return true;
}

/* The next byte is that at `offset`: without reading where the buffer has it. */
static void move_to(txm_bit_source *s, uint64_t offset)
{
    uint64_t buffered_from = s->next - (size_t)(s->reader.end - s->pad - s->buffer);
    if (offset < buffered_from || offset > s->next) {
        forget(s, offset);
    } else {
        s->reader.in = s->buffer + (offset - buffered_from);
        s->reader.bits = s->reader.count = s->reader.past = 0;
    }
}

bool txm_source_seek(txm_bit_source *s, uint64_t bit)
{
    move_to(s, bit / 8);
    if (!txm_source_have(s, sizeof s->reader.bits))
        return false;
    txm_fill_bits(&s->reader);
    txm_take_bits(&s->reader, bit % 8);
    return true;
}

const uint8_t *txm_source_peek(txm_bit_source *s, uint64_t offset, size_t least, size_t *bytes)
{
    move_to(s, offset);
    if (!txm_source_have(s, least))
        return NULL;
    *bytes = (size_t)(s->reader.end - s->reader.in) - s->pad;
    return s->reader.in;
}

void txm_source_align(txm_bit_source *s)
{
    txm_take_bits(&s->reader, s->reader.count % 8);
}

static bool ends_within_byte(const txm_bit_source *s)
{
    return s->pad && txm_source_position(s) + 8 > 8 * s->next;
}

size_t txm_source_take(txm_bit_source *s, uint8_t *dst, size_t bytes)
{
    size_t taken = 0;
    txm_bit_reader *r = &s->reader;
    for (; taken < bytes && r->count >= 8 && !ends_within_byte(s); taken++)
        dst[taken] = (uint8_t)txm_take_bits(r, 8);
    if (r->count == 0)
        r->bits = 0; /* what a fill left above the count stands in the buffer as well */
    while (taken < bytes && txm_source_have(s, 1)) {
        size_t left = (size_t)(r->end - r->in), n = bytes - taken;
        left = left > s->pad ? left - s->pad : 0;
        n = n < left ? n : left;
        if (n == 0)
            break;
        memcpy(dst + taken, r->in, n);
        r->in += n;
        taken += n;
    }
    return taken;
}
