/* SPDX-License-Identifier: Apache-2.0
 *
 * A deflate encoder for filtered pixels: raw deflate (RFC 1951) with dynamic Huffman codes, and matches only if they
 * pay.
 *
 * A photograph after the predictor is mostly noise. Every byte costs its three to six bits in any case, and the short
 * matches that general encoders find are accidents, which cost more bits than the literals that they replace, and most
 * of the time. This encoder searches only for matches of eight bytes and more, at pixel positions, uses them only if
 * they are cheaper than the literals, and leaves the rest to the Huffman code. On tiles with many repetitions it
 * compares eight candidates: a tile of rgba4k takes 31 us, compared with 53 for libdeflate's levels 4 and 6, which save
 * 0.1 %; photographs take 54 us, compared with 79 for a saving of 0.4 % (docs/encoding.md).
 */
#ifndef TXM_ENCODE_SPARSE_H
#define TXM_ENCODE_SPARSE_H
#include "tile/terms/dialect.h"
#include "txtile/pixel.h"

/* The arrangement of a tile's bytes after its filter. */
typedef struct txm_deflate_shape {
    size_t max_bytes;  /* longest input */
    size_t step_bytes; /* 1 to 8: distance between the positions where matches are searched for; a pixel in TIFF */
    int parts;         /* parts of equal length with different statistics: 1, or 2 for EXR's low and high bytes */
    bool wide;         /* the bytes of a wider sample are adjacent: TIFF's 16 bits */
    bool widened;      /* samples may have been converted from narrower ones: 16 bits, float */
} txm_deflate_shape;

/* How the tiles of a type are compressed. EXR's split bytes have no pixel structure; searching only every fourth
 * position costs 0.3 %. */
TXM_ARITH txm_deflate_shape txm_tile_shape(txm_type type, size_t pixel_bytes, size_t tile_bytes)
{
    const bool exr = type == TXM_TYPE_HALF || type == TXM_TYPE_FLOAT;
    txm_deflate_shape shape;
    shape.max_bytes = tile_bytes;
    shape.step_bytes = exr ? 4 : pixel_bytes;
    shape.parts = exr ? 4 : 1;
    shape.wide = type == TXM_TYPE_U16;
    shape.widened = type == TXM_TYPE_U16 || type == TXM_TYPE_FLOAT;
    return shape;
}

typedef struct txm_sparse txm_sparse;

/* Scratch memory for inputs of up to max_bytes. */
txm_sparse *txm_sparse_new(size_t max_bytes); /* NULL when memory is exhausted */
void txm_sparse_free(txm_sparse **sparse);    /* NULL-safe */

/* Estimates from a survey of parts of the input, in bits for the whole input. Savings are those of the most recent
 * match of at least that many bytes, so they show how much repeats, not what an encoder would gain. */
typedef struct txm_survey {
    uint64_t literal_bits; /* cost of all bytes as literals */
    uint64_t saved_by_4;   /* bits that matches of four bytes and more save */
    uint64_t saved_by_8;   /* bits that matches of eight bytes and more save */
} txm_survey;

/* In place of block_bytes, for inputs of up to TXM_PARTS_MAX_BYTES: parts that a reader can decode at the same time
 * (inflate_parts.h), with a mark between them and no matches from one to another. */
enum { TXM_IN_PARTS = 0 };

/* FEW: the last candidate at each position. MANY: several candidates, for inputs with many repetitions; smaller and
 * slower. FEWEST: for cheap bytes, every other position only, which costs 0.4 % on half tiles and 2 % on drawings. */
typedef enum txm_search { TXM_SEARCH_FEW, TXM_SEARCH_MANY, TXM_SEARCH_FEWEST } txm_search;
#endif
