/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a padded tile from the tile and its border alone: finds the border's payload, decodes it and assembles the
 * window.
 *
 * Decoding is the inverse of border_encode.c; section_format.h defines the order of lines, the prediction and the
 * planes. Four-channel borders of 8 and 16 bits, the most common ones in tx files, are decoded in vector registers one
 * pixel at a time: each prediction depends on the previous pixel, so only the four channels can run in parallel.
 *
 * Nothing in the file is trusted. The index was compared with the file when it was opened, and limits the sizes of
 * payloads. A decoded border whose pixels do not match the stored checksum is discarded, and the caller gathers the
 * border from the neighbours, so wrong pixels are never returned.
 */
#include <zstd.h>

#include "base/checksum.h"
#include "base/fail.h"
#include "base/mem.h"
#include "tile/reader/border_order.h"
#include "tile/reader/section_format.h"
#include "tile/reader/section_reader.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The tile that a border is decoded against. */
typedef struct border_tile {
    const uint8_t *pixels; /* the pixels of the tile itself */
    size_t stride;
    uint32_t w, h, channels;
    unsigned sample_bytes;
} border_tile;

enum { MASK_BYTES = 2, SLACK_BYTES = 64 };

/* Adds room for loads and stores of whole vectors beyond the end, rounded to cache lines. */
static size_t padded_size(size_t bytes)
{
    return (bytes + SLACK_BYTES + 63) & ~(size_t)63;
}

/* Scratch bytes for decoding a border, without the border itself: the planes (including the zero ones), the residuals,
 * and the references of two lines. */
static size_t border_scratch_bytes(uint32_t tile_w, uint32_t tile_h, size_t pixel_bytes)
{
    size_t longest = (tile_w > tile_h ? tile_w : tile_h) + 2 * (size_t)TXM_BORDER_PX;
    return 2 * padded_size(txm_border_pixels(tile_w, tile_h) * pixel_bytes) + 2 * padded_size(longest * pixel_bytes);
}

/* ---- planes to residuals -------------------------------------------------------------------------------------- */

#ifdef __SSE2__
/* Residuals are stored with the sign in the lowest bit, so that small ones of either sign are small numbers. */
static __m128i unzigzag8(__m128i v)
{
    __m128i half = _mm_and_si128(_mm_srli_epi16(v, 1), _mm_set1_epi8(0x7f));
    return _mm_xor_si128(half, _mm_sub_epi8(_mm_setzero_si128(), _mm_and_si128(v, _mm_set1_epi8(1))));
}

static __m128i unzigzag16(__m128i v)
{
    return _mm_xor_si128(_mm_srli_epi16(v, 1), _mm_sub_epi16(_mm_setzero_si128(), _mm_and_si128(v, _mm_set1_epi16(1))));
}

static __m128i load_16_bytes(const uint8_t *p)
{
    return _mm_loadu_si128((const void *)p);
}

/* Four channels of 8 bits, sixteen pixels per iteration; returns the number of pixels done. */
static size_t weave_u8x4(const uint8_t *planes, size_t pixels, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= pixels; i += 16, out += 64) {
        __m128i g = unzigzag8(load_16_bytes(planes + pixels + i));
        __m128i r = _mm_add_epi8(unzigzag8(load_16_bytes(planes + i)), g);
        __m128i b = _mm_add_epi8(unzigzag8(load_16_bytes(planes + 2 * pixels + i)), g);
        __m128i a = unzigzag8(load_16_bytes(planes + 3 * pixels + i));
        __m128i rg = _mm_unpacklo_epi8(r, g), ba = _mm_unpacklo_epi8(b, a);
        _mm_storeu_si128((void *)out, _mm_unpacklo_epi16(rg, ba));
        _mm_storeu_si128((void *)(out + 16), _mm_unpackhi_epi16(rg, ba));
        rg = _mm_unpackhi_epi8(r, g);
        ba = _mm_unpackhi_epi8(b, a);
        _mm_storeu_si128((void *)(out + 32), _mm_unpacklo_epi16(rg, ba));
        _mm_storeu_si128((void *)(out + 48), _mm_unpackhi_epi16(rg, ba));
    }
    return i;
}

/* Eight 16-bit samples of channel c from its two planes, upper bytes first. */
static __m128i samples16(const uint8_t *planes, size_t pixels, unsigned c, size_t i)
{
    __m128i high = _mm_loadl_epi64((const void *)(planes + 2 * c * pixels + i));
    __m128i low = _mm_loadl_epi64((const void *)(planes + (2 * c + 1) * pixels + i));
    return unzigzag16(_mm_unpacklo_epi8(low, high));
}

/* Adds green back to red and blue, from which the encoder subtracted it. */
static size_t weave_u16x4(const uint8_t *planes, size_t pixels, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= pixels; i += 8, out += 64) {
        __m128i g = samples16(planes, pixels, 1, i);
        __m128i r = _mm_add_epi16(samples16(planes, pixels, 0, i), g);
        __m128i b = _mm_add_epi16(samples16(planes, pixels, 2, i), g);
        __m128i a = samples16(planes, pixels, 3, i);
        __m128i rg = _mm_unpacklo_epi16(r, g), ba = _mm_unpacklo_epi16(b, a);
        _mm_storeu_si128((void *)out, _mm_unpacklo_epi32(rg, ba));
        _mm_storeu_si128((void *)(out + 16), _mm_unpackhi_epi32(rg, ba));
        rg = _mm_unpackhi_epi16(r, g);
        ba = _mm_unpackhi_epi16(b, a);
        _mm_storeu_si128((void *)(out + 32), _mm_unpacklo_epi32(rg, ba));
        _mm_storeu_si128((void *)(out + 48), _mm_unpackhi_epi32(rg, ba));
    }
    return i;
}
#endif

/* A sample of sample_bytes bytes in native byte order. */
static uint32_t get_sample(const uint8_t *p, unsigned sample_bytes)
{
    return sample_bytes == 1 ? *p : sample_bytes == 2 ? txm_load_le16(p) : txm_load_le32(p);
}

/* memcpy, because samples of 16 and 32 bits may be unaligned. */
static void set_sample(uint8_t *p, unsigned sample_bytes, uint32_t v)
{
    memcpy(p, &v, sample_bytes); /* little-endian, so the low bytes come first */
}

/* Interleaves the planes into residuals. */
static void weave(const border_tile *tile, const uint8_t *planes, size_t pixels, uint8_t *residuals)
{
    uint32_t channels = tile->channels;
    unsigned n = tile->sample_bytes;
    size_t i = 0;
#ifdef __SSE2__
    if (channels == 4 && n == 1)
        i = weave_u8x4(planes, pixels, residuals);
    else if (channels == 4 && n == 2)
        i = weave_u16x4(planes, pixels, residuals);
#endif
    for (; i < pixels; i++) {
        uint32_t v[TXM_MAX_CHANNELS];
        for (uint32_t c = 0; c < channels; c++) {
            uint32_t z = 0;
            for (unsigned b = 0; b < n; b++)
                z = z << 8 | planes[((size_t)c * n + b) * pixels + i];
            v[c] = z >> 1 ^ (0 - (z & 1));
        }
        if (channels == 4) {
            v[0] += v[1];
            v[2] += v[1];
        }
        for (uint32_t c = 0; c < channels; c++)
            set_sample(residuals + (i * channels + c) * n, n, v[c]);
    }
}

/* ---- residuals to pixels -------------------------------------------------------------------------------------- */

/* Two independent lines that are restored in place: `line` holds residuals, then pixels. */
typedef struct line_pair {
    uint8_t *line[2];
    const uint8_t *reference[2];
    size_t pixels;
} line_pair;

#ifdef __SSE2__
/* Loads a pixel of each line into one vector. The prediction waits for the previous pixel, so two lines at once take as
 * long as one. The first pixels must have been restored. */
static __m128i load_u8x4(const uint8_t *const *p, size_t i)
{
    __m128i a = _mm_cvtsi32_si128((int)txm_load_le32(p[0] + 4 * i)),
            b = _mm_cvtsi32_si128((int)txm_load_le32(p[1] + 4 * i));
    return _mm_unpacklo_epi8(_mm_unpacklo_epi32(a, b), _mm_setzero_si128());
}

/* Restores two lines at a time in the halves of one register, because a pixel depends only on the previous one of its
 * own line. */
static void restore_u8x4(const line_pair *pair)
{
    const uint8_t *const line[2] = {pair->line[0], pair->line[1]};
    __m128i l = load_u8x4(line, 0), k = load_u8x4(pair->reference, 0);
    const __m128i byte = _mm_set1_epi16(255);
    for (size_t i = 1; i < pair->pixels; i++) {
        __m128i u = load_u8x4(pair->reference, i), r = load_u8x4(line, i);
        /* In 16 bits nothing overflows, so the median is l + u - k clamped between l and u. */
        __m128i p = _mm_add_epi16(l, _mm_sub_epi16(u, k));
        p = _mm_max_epi16(_mm_min_epi16(l, u), _mm_min_epi16(_mm_max_epi16(l, u), p));
        l = _mm_and_si128(_mm_add_epi16(p, r), byte);
        k = u;
        uint64_t pixels = (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(l, l));
        memcpy(pair->line[0] + 4 * i, &pixels, 4);
        memcpy(pair->line[1] + 4 * i, (const uint8_t *)&pixels + 4, 4);
    }
}

static __m128i load_u16x4(const uint8_t *const *p, size_t i)
{
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const void *)(p[0] + 8 * i)),
                              _mm_loadl_epi64((const void *)(p[1] + 8 * i)));
}

static void restore_u16x4(const line_pair *pair)
{
    const uint8_t *const line[2] = {pair->line[0], pair->line[1]};
    /* A signed comparison orders unsigned samples if their top bits are flipped; sums differ only in that bit. */
    const __m128i flip = _mm_set1_epi16((short)0x8000);
    __m128i l = _mm_xor_si128(load_u16x4(line, 0), flip), k = _mm_xor_si128(load_u16x4(pair->reference, 0), flip);
    for (size_t i = 1; i < pair->pixels; i++) {
        __m128i u = _mm_xor_si128(load_u16x4(pair->reference, i), flip), r = load_u16x4(line, i);
        __m128i high = _mm_max_epi16(l, u), low = _mm_min_epi16(l, u);
        __m128i below = _mm_cmpgt_epi16(high, k), above = _mm_cmpgt_epi16(k, low); /* k < high, k > low */
        __m128i p = _mm_add_epi16(l, _mm_sub_epi16(u, k));
        p = _mm_or_si128(_mm_and_si128(above, p), _mm_andnot_si128(above, high));
        p = _mm_or_si128(_mm_and_si128(below, p), _mm_andnot_si128(below, low));
        l = _mm_add_epi16(p, r);
        k = u;
        __m128i pixels = _mm_xor_si128(l, flip);
        _mm_storel_epi64((void *)(pair->line[0] + 8 * i), pixels);
        _mm_storel_epi64((void *)(pair->line[1] + 8 * i), _mm_unpackhi_epi64(pixels, pixels));
    }
}
#endif

/* The first pixel of each line has no predecessor, so it is predicted from the reference alone. */
static void restore(const border_tile *tile, const line_pair *pair)
{
    unsigned n = tile->sample_bytes;
    for (int i = 0; i < 2; i++)
        for (uint32_t c = 0; c < tile->channels; c++)
            set_sample(pair->line[i] + c * n, n,
                       get_sample(pair->line[i] + c * n, n) + get_sample(pair->reference[i] + c * n, n));
#ifdef __SSE2__
    if (tile->channels == 4 && n < 4) {
        (n == 1 ? restore_u8x4 : restore_u16x4)(pair);
        return;
    }
#endif
    /* The reference implementation, for all layouts that the vector code above does not handle. */
    const uint32_t mask = n == 4 ? UINT32_MAX : (1u << 8 * n) - 1;
    const size_t back = (size_t)tile->channels * n;
    for (int i = 0; i < 2; i++) {
        uint8_t *line = pair->line[i];
        const uint8_t *reference = pair->reference[i];
        for (size_t at = back; at < pair->pixels * back; at += n) {
            uint32_t l = get_sample(line + at - back, n), u = get_sample(reference + at, n);
            uint32_t k = get_sample(reference + at - back, n);
            uint32_t high = l > u ? l : u, low = l > u ? u : l;
            uint32_t p = k >= high ? low : k <= low ? high : l + u - k;
            set_sample(line + at, n, (p + get_sample(line + at, n)) & mask);
        }
    }
}

/* Restores the columns beside the tile: lines 0 to 3, of h pixels each, into the border's `sides`. */
static void restore_columns(const border_tile *t, uint8_t *lines, uint8_t *reference, size_t reference_bytes,
                            uint8_t *sides)
{
    size_t px = (size_t)t->channels * t->sample_bytes, bytes = t->h * px, side = 2 * TXM_BORDER_PX * px;
    uint8_t *edges[2] = {reference, reference + reference_bytes};
    txm_copy_pixels(edges[0], px, t->pixels, t->stride, t->h, px);
    txm_copy_pixels(edges[1], px, t->pixels + (t->w - 1) * px, t->stride, t->h, px);
    uint8_t *near[2] = {lines, lines + 2 * bytes}, *far[2] = {lines + bytes, lines + 3 * bytes};
    restore(t, &(line_pair){{near[0], near[1]}, {edges[0], edges[1]}, t->h});
    restore(t, &(line_pair){{far[0], far[1]}, {near[0], near[1]}, t->h});
    const uint8_t *const order[4] = {far[0], near[0], near[1], far[1]};
    for (unsigned i = 0; i < 4; i++)
        txm_copy_pixels(sides + i * px, side, order[i], px, t->h, px);
}

/* Restores the rows above and below: lines 4 to 7, of w + 4 pixels each, into their places in the border. */
static void restore_rows(const border_tile *t, uint8_t *lines, uint8_t *reference, size_t reference_bytes,
                         const uint8_t *sides, uint8_t *above, uint8_t *below)
{
    size_t px = (size_t)t->channels * t->sample_bytes, pair = TXM_BORDER_PX * px, row = t->w * px + 2 * pair;
    uint8_t *edges[2] = {reference, reference + reference_bytes};
    for (unsigned i = 0; i < 2; i++) {
        /* The tile's outermost row, with the border's pixels on both sides. */
        uint32_t y = i ? t->h - 1 : 0;
        memcpy(edges[i], sides + y * 2 * pair, pair);
        memcpy(edges[i] + pair, t->pixels + y * t->stride, t->w * px);
        memcpy(edges[i] + pair + t->w * px, sides + y * 2 * pair + pair, pair);
    }
    uint8_t *near[2] = {lines, lines + 2 * row}, *far[2] = {lines + row, lines + 3 * row};
    restore(t, &(line_pair){{near[0], near[1]}, {edges[0], edges[1]}, t->w + 2 * TXM_BORDER_PX});
    restore(t, &(line_pair){{far[0], far[1]}, {near[0], near[1]}, t->w + 2 * TXM_BORDER_PX});
    memcpy(above, far[0], row);
    memcpy(above + row, near[0], row);
    memcpy(below, near[1], row);
    memcpy(below + row, far[1], row);
}

/* Restores all eight lines from residuals in visiting order. */
static void restore_lines(const border_tile *t, uint8_t *residuals, uint8_t *reference, size_t reference_bytes,
                          uint8_t *border)
{
    size_t px = (size_t)t->channels * t->sample_bytes, row = (t->w + 2 * TXM_BORDER_PX) * px;
    uint8_t *sides = border + TXM_BORDER_PX * row, *below = sides + 2 * TXM_BORDER_PX * px * t->h;
    restore_columns(t, residuals, reference, reference_bytes, sides);
    restore_rows(t, residuals + 4 * t->h * px, reference, reference_bytes, sides, border, below);
}

/* ---- payload -------------------------------------------------------------------------------------------------- */

/* Decompresses the planes of `mask` to the front of `planes`, then moves each one to its place, last first, and clears
 * the others. */
static bool expand_planes(uint32_t mask, unsigned count, size_t plane_bytes, const uint8_t *frame, size_t frame_bytes,
                          ZSTD_DCtx *zstd, uint8_t *planes)
{
    unsigned kept = (unsigned)__builtin_popcount(mask);
    if (mask >> count)
        return false;
    if (mask) {
        size_t n = ZSTD_decompressDCtx(zstd, planes, kept * plane_bytes, frame, frame_bytes);
        if (ZSTD_isError(n) || n != kept * plane_bytes)
            return false;
    }
    for (unsigned p = count; p-- > 0;) {
        uint8_t *place = planes + p * plane_bytes;
        if (!(mask >> p & 1))
            memset(place, 0, plane_bytes);
        else if (--kept != p)
            memcpy(place, planes + kept * plane_bytes, plane_bytes);
    }
    return true;
}

/* Decodes a payload into `border` (in the order of tile/reader/border_order.h, repeat extension). Returns false if it
 * is malformed; the contents of `border` are then undefined. The caller checks the checksum. */
static bool decode_border(const border_tile *tile, const uint8_t *payload, size_t payload_bytes, ZSTD_DCtx *zstd,
                          uint8_t *scratch, uint8_t *border)
{
    size_t pixels = txm_border_pixels(tile->w, tile->h), px = (size_t)tile->channels * tile->sample_bytes;
    uint32_t mask = 0;
    if (payload_bytes) {
        if (payload_bytes < MASK_BYTES)
            return false;
        mask = txm_load_le16(payload);
        payload += MASK_BYTES;
        payload_bytes -= MASK_BYTES;
        if (!mask) {
            if (payload_bytes != px)
                return false;
            txm_copy_pixels(border, px, payload, 0, pixels, px);
            return true;
        }
    }
    uint8_t *planes = scratch, *residuals = planes + padded_size(pixels * px);
    uint8_t *reference = residuals + padded_size(pixels * px);
    if (!expand_planes(mask, (unsigned)px, pixels, payload, payload_bytes, zstd, planes))
        return false;
    weave(tile, planes, pixels, residuals);
    size_t longest = (tile->w > tile->h ? tile->w : tile->h) + 2 * (size_t)TXM_BORDER_PX;
    restore_lines(tile, residuals, reference, padded_size(longest * px), border);
    return true;
}

/* Borders are numbered through all levels, row by row. */
static uint64_t border_number(const txm_tx *tx, const txm_tile_id *tile)
{
    const txm_reader_level *l = &tx->levels[tile->level];
    return l->first_tile + (uint64_t)tile->y * l->shape.tiles_x + tile->x;
}

/* A payload of one byte marks a border that was not stored; the caller gathers it from the neighbours. */
bool txm_section_lacks(const txm_tx *tx, const txm_tile_id *tile)
{
    const txm_border_place place = txm_border_place_of(tx->section, border_number(tx, tile));
    uint8_t first;
    return place.bytes == TXM_BORDER_MISSING_BYTES && txm_map_holds(&tx->map, place.offset, place.bytes) &&
           txm_map_copy(&tx->map, place.offset, 1, &first) && !first;
}

/* The payload of border `number`, whose place is `place`: its own, or that of the earlier border it refers to. NULL if
 * it is damaged. */
static const uint8_t *find_payload(const txm_tx *tx, uint64_t number, txm_border_place place, txm_scratch *scratch,
                                   size_t *bytes, bool *no_memory)
{
    if (!txm_map_holds(&tx->map, place.offset, place.bytes))
        return NULL;
    const uint8_t *payload = txm_map_read(&tx->map, place.offset, place.bytes, &scratch->payload, no_memory);
    *bytes = place.bytes;
    if (place.bytes != TXM_BORDER_REFERENCE_BYTES || !payload)
        return payload;
    uint32_t earlier = txm_load_le32(payload + 3);
    if (earlier >= number)
        return NULL;
    place = txm_border_place_of(tx->section, earlier);
    *bytes = place.bytes;
    return txm_map_holds(&tx->map, place.offset, place.bytes)
               ? txm_map_read(&tx->map, place.offset, place.bytes, &scratch->payload, no_memory)
               : NULL;
}

/* Decodes and checks the border of a tile, whose pixels are given, in scratch memory. *border is NULL if the border is
 * damaged or was left out, and has to be gathered. */
static txm_status read_border(txm_tx *tx, const txm_tile_id *tile, const txm_pixels *pixels, txm_scratch *scratch,
                              const uint8_t **border, txm_error *err)
{
    const txm_tx_info *info = &tx->info;
    uint64_t number = border_number(tx, tile);
    size_t scratch_bytes = border_scratch_bytes(info->tile_w, info->tile_h, tx->pixel_bytes);
    *border = NULL;
    if (!scratch->border)
        scratch->border =
            txm_alloc_pixels(scratch_bytes + txm_border_pixels(info->tile_w, info->tile_h) * tx->pixel_bytes, 1);
    if (!scratch->zstd)
        scratch->zstd = ZSTD_createDCtx();
    if (!scratch->border || !scratch->zstd)
        return txm_no_memory(err, tx->path);
    border_tile around = {pixels->data, pixels->stride, tile->w,
                          tile->h,      info->channels, (unsigned)txm_type_bytes(info->type)};
    uint8_t *out = scratch->border + scratch_bytes;
    size_t bytes;
    const txm_border_place place = txm_border_place_of(tx->section, number);
    bool no_memory = false;
    const uint8_t *payload = find_payload(tx, number, place, scratch, &bytes, &no_memory);
    if (no_memory)
        return txm_no_memory(err, tx->path);
    /* A border that was left out fails to decode as well. */
    if (!payload || !decode_border(&around, payload, bytes, scratch->zstd, scratch->border, out))
        return TXM_OK;
    uint32_t check = (uint32_t)txm_xxh64(out, txm_border_pixels(tile->w, tile->h) * tx->pixel_bytes, 0);
    if (check == place.check)
        *border = out;
    return TXM_OK;
}

/* ---- a padded tile from the window of a tile and its border ------------------------------------------------------ */

/* The border holds the repeat extension. If the window stays inside the level, every extension shows the same pixels.
 * If it leaves the level, extend and mirror show pixels at most two away from the edge, which are in this tile or its
 * border. So both axes can be looked up separately in the window itself. */

enum { WIDE = 2 * TXM_BORDER_PX };

/* The window of a tile with the repeat extension: its pixels and the border around them. */
typedef struct repeat_window {
    const uint8_t *above, *sides, *below; /* parts of the border: two rows, two and two pixels per row, two rows */
    txm_pixels pixels;
    size_t pixel_bytes;
    uint32_t w, h;
} repeat_window;

/* The pixel at (x, y), relative to the window's corner, which is two pixels outside the tile. */
static const uint8_t *pixel_at(const repeat_window *r, uint32_t x, uint32_t y)
{
    size_t row = r->w + WIDE;
    if (y < TXM_BORDER_PX)
        return r->above + (y * row + x) * r->pixel_bytes;
    y -= TXM_BORDER_PX;
    if (y >= r->h)
        return r->below + ((y - r->h) * row + x) * r->pixel_bytes;
    if (x < TXM_BORDER_PX)
        return r->sides + ((size_t)y * WIDE + x) * r->pixel_bytes;
    x -= TXM_BORDER_PX;
    if (x >= r->w)
        return r->sides + ((size_t)y * WIDE + TXM_BORDER_PX + x - r->w) * r->pixel_bytes;
    return r->pixels.data + y * r->pixels.stride + x * r->pixel_bytes;
}

/* The position in the window of the pixel at plane coordinate x; -1: clear. `x0` and `valid` describe the tile. */
static int64_t look_up_pixel(int64_t x, uint32_t x0, uint32_t size, txm_extension extension)
{
    int64_t origin = (int64_t)x0 - TXM_BORDER_PX;
    if (extension == TXM_EXTENSION_REPEAT)
        return x - origin;
    int64_t level_x = txm_extend(x, size, extension);
    return level_x < 0 ? -1 : level_x - origin;
}

/* Writes a row above or below the tile. `columns` holds the sources of the padding, left then right; -1: clear. */
static void put_row(const txm_window *window, const repeat_window *r, uint32_t out_y, int64_t src_y, uint32_t padding,
                    const int64_t *columns)
{
    if (src_y < 0) {
        txm_window_clear(window, 0, out_y, r->w + 2 * padding, 1);
        return;
    }
    uint32_t y = (uint32_t)src_y;
    txm_window_put_row(window, padding, out_y, pixel_at(r, TXM_BORDER_PX, y), r->w);
    for (uint32_t i = 0; i < 2 * padding; i++) {
        uint32_t x = i < padding ? i : r->w + i;
        if (columns[i] < 0)
            txm_window_clear(window, x, out_y, 1, 1);
        else
            memcpy(txm_window_at(window, x, out_y), pixel_at(r, (uint32_t)columns[i], y), r->pixel_bytes);
    }
}

/* Borders hold the pixels of the repeat extension. At the edge of a level, the rows and columns of other extensions are
 * picked from the tile and that border. *done is false if the section cannot provide the tile. */
txm_status txm_section_read_padded(txm_tx *tx, const txm_tile_id *tile, uint32_t padding, txm_extension extension,
                                   const txm_window *window, txm_scratch *scratch, bool *done, txm_error *err)
{
    repeat_window r = {.pixel_bytes = tx->pixel_bytes, .w = tile->w, .h = tile->h};
    const uint8_t *border = NULL;
    *done = false;
    txm_status status = txm_tile_decode(tx, tile, scratch, &r.pixels, err);
    if (status == TXM_OK)
        status = read_border(tx, tile, &r.pixels, scratch, &border, err);
    if (status != TXM_OK || !border)
        return status;
    size_t rows = (size_t)TXM_BORDER_PX * (tile->w + WIDE) * tx->pixel_bytes;
    r.above = border;
    r.sides = border + rows;
    r.below = r.sides + (size_t)WIDE * tile->h * tx->pixel_bytes;

    const txm_tx_level *l = &tx->levels[tile->level].shape;
    uint32_t x0 = tile->x * tx->info.tile_w, y0 = tile->y * tx->info.tile_h;
    int64_t columns[2 * TXM_BORDER_PX];
    for (uint32_t i = 0; i < 2 * padding; i++)
        columns[i] = look_up_pixel((int64_t)x0 - padding + i + (i < padding ? 0 : tile->w), x0, l->width,
                                   TXM_EXTENSION_U(extension));
    /* Writes the tile, and the padding on both sides column by column. */
    txm_window_put(window, padding, padding, r.pixels.data, r.pixels.stride, r.w, r.h);
    for (uint32_t i = 0; i < 2 * padding; i++) {
        uint32_t x = i < padding ? i : r.w + i;
        if (columns[i] < 0) {
            txm_window_clear(window, x, padding, 1, r.h);
            continue;
        }
        bool beside = columns[i] < TXM_BORDER_PX || columns[i] >= TXM_BORDER_PX + (int64_t)r.w;
        txm_copy_pixels(txm_window_at(window, x, padding), window->row_stride,
                        pixel_at(&r, (uint32_t)columns[i], TXM_BORDER_PX),
                        beside ? WIDE * r.pixel_bytes : r.pixels.stride, r.h, r.pixel_bytes);
    }
    for (uint32_t i = 0; i < 2 * padding; i++) {
        uint32_t y = i < padding ? i : tile->h + i;
        put_row(window, &r, y, look_up_pixel((int64_t)y0 - padding + y, y0, l->height, TXM_EXTENSION_V(extension)),
                padding, columns);
    }
    *done = true;
    return TXM_OK;
}

/* Compares the stored border with this one, for verification. */
bool txm_tx_border_is(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, const void *pixels,
                      size_t stride_bytes, const void *border)
{
    txm_tile_id tile;
    if (!tx->section || txm_tile_at(tx, level, tile_x, tile_y, &tile, NULL) != TXM_OK ||
        txm_tx_check(tx, NULL) != TXM_OK)
        return false;
    txm_scratch *scratch = txm_scratch_take(tx);
    if (!scratch)
        return false;
    const uint8_t *stored = NULL;
    txm_status status = read_border(tx, &tile, &(txm_pixels){pixels, stride_bytes}, scratch, &stored, NULL);
    bool same = txm_tx_settle(tx, status, NULL) == TXM_OK && stored &&
                !memcmp(stored, border, txm_border_pixels(tile.w, tile.h) * tx->pixel_bytes);
    txm_scratch_give(tx, scratch);
    return same;
}
