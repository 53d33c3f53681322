/* SPDX-License-Identifier: Apache-2.0
 *
 * The TIFF codecs that no library offers apart from libtiff's own file handling: LZW as TIFF 6.0 defines it (codes from
 * the high bit down, code width growing one code early) and PackBits.
 */
#include "container/tiff_reader.h"

enum {
    LZW_CLEAR = 256,
    LZW_END = 257,
    LZW_FIRST = 258,
    LZW_MIN_BITS = 9,
    LZW_MAX_BITS = 12,
    LZW_CODES = 1 << LZW_MAX_BITS
};

/* The string of a code: where it was last written in the output. Its bytes are there already, so that no chain of
 * prefixes has to be walked. */
typedef struct lzw_string {
    size_t at, length;
} lzw_string;

bool txm_lzw_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes)
{
    lzw_string strings[LZW_CODES];
    uint32_t bits = 0, next = LZW_FIRST;
    unsigned held = 0, width = LZW_MIN_BITS;
    size_t in = 0, out = 0;
    bool fresh = true; /* no string precedes: right after a clear code */
    lzw_string last = {0, 0};
    while (out < dst_bytes) {
        while (held < width) {
            if (in == src_bytes)
                return false;
            bits = bits << 8 | src[in++];
            held += 8;
        }
        held -= width;
        uint32_t code = bits >> held & ((1u << width) - 1);
        if (code == LZW_END)
            return false;
        if (code == LZW_CLEAR) {
            next = LZW_FIRST;
            width = LZW_MIN_BITS;
            fresh = true;
            continue;
        }
        lzw_string now = {out, 1};
        if (code < LZW_CLEAR) {
            dst[out++] = (uint8_t)code;
        } else {
            /* The code that is just being defined stands for the last string and its own first byte: one more byte
             * of the output from there on, so the copy overlaps itself. */
            if (fresh || code > next || (code == next && next == LZW_CODES))
                return false;
            lzw_string from = code == next ? (lzw_string){last.at, last.length + 1} : strings[code];
            now.length = from.length;
            for (size_t i = 0; i < from.length && out < dst_bytes; i++, out++)
                dst[out] = dst[from.at + i];
        }
        if (!fresh && next < LZW_CODES) {
            strings[next++] = (lzw_string){last.at, last.length + 1};
            if (next + 1 == 1u << width && width < LZW_MAX_BITS)
                width++;
        }
        fresh = false;
        last = now;
    }
    return true;
}

bool txm_packbits_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes)
{
    size_t in = 0, out = 0;
    while (out < dst_bytes) {
        if (in == src_bytes)
            return false;
        unsigned n = src[in++];
        if (n == 128) /* does nothing */
            continue;
        bool run = n > 128;
        size_t count = run ? 257 - n : n + 1;
        if (count > dst_bytes - out || (run ? 1 : count) > src_bytes - in)
            return false;
        if (run)
            memset(dst + out, src[in], count);
        else
            memcpy(dst + out, src + in, count);
        in += run ? 1 : count;
        out += count;
    }
    return true;
}
