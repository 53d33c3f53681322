/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a face at any size: the constant colour, a stored level, or texels halved from a larger size.
 *
 * The order of halving is that of Disney's library. The axis that is reduced more is halved first; if both are reduced
 * equally, u is halved first if its requested log2 is odd. The input of each step is found by the same rule, until a
 * stored level is reached, or the full size, after 32 steps at most.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/ptex/ptex_impl.h"

/* One of the sizes between the stored one and the requested one. */
typedef struct face_size {
    uint32_t u_log2, v_log2;
} face_size;

enum { MAX_STEPS = 2 * TXM_PTEX_MAX_LOG2 };

static const uint8_t *face_constant(const txm_ptex *p, uint32_t face)
{
    return p->constants + (size_t)face * p->info.pixel_bytes;
}

/* Finds the stored block of a size; false if there is none. */
static bool find_block(const txm_ptex *p, uint32_t face, face_size size, ptex_block *out)
{
    const txm_ptex_face *f = &p->faces[face];
    uint32_t index = face, k = f->u_log2 - size.u_log2;
    if (f->v_log2 - size.v_log2 != k || k >= p->info.levels)
        return false;
    if (k)
        index = p->rank[face];
    if (k && (f->flags & TXM_PTEX_EDITED || index >= p->levels[k].faces))
        return false;
    *out = (ptex_block){p->levels[k].offsets[index], p->levels[k].words[index], size.u_log2, size.v_log2,
                        face_constant(p, face)};
    return true;
}

static txm_status read_stored(const txm_ptex *p, uint32_t face, const ptex_block *b, uint8_t *pixels, txm_error *err)
{
    bool full = b->u_log2 == p->faces[face].u_log2;
    txm_error cause = {0};
    txm_status status = txm_ptex_read_block(p, b, pixels, &cause);
    if (status == TXM_STATUS_CORRUPT)
        txm_fail(err, status, "%s: face %u, %u x %u: %s", p->path, face, 1u << b->u_log2, 1u << b->v_log2,
                 txm_error_detail(&cause));
    else if (status != TXM_OK)
        txm_fail_as(err, &cause);
    /* The texel of a constant block has already been multiplied. */
    else if (full && p->flags & TXM_PTEX_PREMULTIPLY && txm_ptex_block_encoding(b->word) != PTEX_ENCODING_CONSTANT)
        txm_ptex_multiply_alpha(p, pixels, (size_t)1 << (b->u_log2 + b->v_log2));
    return status;
}

/* The size from which `size` is halved. */
static face_size larger_size(const txm_ptex *p, uint32_t face, face_size size)
{
    const txm_ptex_face *f = &p->faces[face];
    uint32_t u = f->u_log2 - size.u_log2, v = f->v_log2 - size.v_log2;
    if (txm_ptex_is_triangle(p, face))
        return (face_size){size.u_log2 + 1, size.v_log2 + 1};
    if (u > v || (u == v && size.u_log2 & 1))
        return (face_size){size.u_log2 + 1, size.v_log2};
    return (face_size){size.u_log2, size.v_log2 + 1};
}

static void halve_face(const txm_ptex *p, uint32_t face, const uint8_t *in, face_size from, face_size to, uint8_t *out)
{
    if (txm_ptex_is_triangle(p, face))
        txm_ptex_halve_triangle(p, in, 1u << from.u_log2, out);
    else
        txm_ptex_halve(p, in, 1u << from.u_log2, 1u << from.v_log2, from.u_log2 != to.u_log2, out);
}

/* Halves the stored size step by step, alternating between two buffers. */
static txm_status make_size(const txm_ptex *p, uint32_t face, face_size want, uint8_t *pixels, txm_error *err)
{
    face_size way[MAX_STEPS + 1] = {want};
    ptex_block stored;
    int steps = 0;
    while (!find_block(p, face, way[steps], &stored)) {
        way[steps + 1] = larger_size(p, face, way[steps]);
        steps++;
    }
    if (!steps)
        return read_stored(p, face, &stored, pixels, err);
    size_t bytes = txm_ptex_face_bytes(p, stored.u_log2, stored.v_log2);
    uint8_t *in = txm_alloc_pixels(bytes, 1), *out = steps > 1 ? txm_alloc_pixels(bytes / 2, 1) : NULL;
    txm_status status = in && (out || steps == 1) ? TXM_OK : txm_no_memory(err, p->path);
    if (status == TXM_OK)
        status = read_stored(p, face, &stored, in, err);
    for (; steps > 0 && status == TXM_OK; steps--) {
        halve_face(p, face, in, way[steps], way[steps - 1], steps == 1 ? pixels : out);
        uint8_t *swap = in;
        in = out;
        out = swap;
    }
    free(in);
    free(out);
    return status;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

size_t txm_ptex_face_bytes(const txm_ptex *ptex, uint32_t u_log2, uint32_t v_log2)
{
    return u_log2 > TXM_PTEX_MAX_LOG2 || v_log2 > TXM_PTEX_MAX_LOG2
               ? 0
               : (size_t)ptex->info.pixel_bytes << (u_log2 + v_log2);
}

static txm_status check_ptex_face_id(const txm_ptex *p, uint32_t face, txm_error *err)
{
    if (face < p->info.faces)
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE, "%s: no face %u: the file has %u, counted from 0", p->path, face,
                    p->info.faces);
}

static txm_status check_ptex_size(const txm_ptex *p, uint32_t face, uint32_t u, uint32_t v, txm_error *err)
{
    txm_status status = check_ptex_face_id(p, face, err);
    if (status != TXM_OK)
        return status;
    const txm_ptex_face *f = &p->faces[face];
    if (u > f->u_log2 || v > f->v_log2)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: face %u has %u x %u texels, less than %u x %u", p->path, face,
                        1u << f->u_log2, 1u << f->v_log2, 1u << (u & 31), 1u << (v & 31));
    if (txm_ptex_is_triangle(p, face) && u != v)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: triangles have as many texels along u as along v", p->path);
    return TXM_OK;
}

bool txm_ptex_is_stored(const txm_ptex *ptex, uint32_t face, uint32_t u_log2, uint32_t v_log2)
{
    ptex_block b;
    if (face >= ptex->info.faces || u_log2 > ptex->faces[face].u_log2 || v_log2 > ptex->faces[face].v_log2)
        return false;
    return !(ptex->faces[face].flags & TXM_PTEX_CONSTANT) && find_block(ptex, face, (face_size){u_log2, v_log2}, &b);
}

txm_status txm_ptex_read(const txm_ptex *ptex, uint32_t face, uint32_t u_log2, uint32_t v_log2, void *pixels,
                         txm_error *err)
{
    txm_error_clear(err);
    txm_status status = check_ptex_size(ptex, face, u_log2, v_log2, err);
    if (status != TXM_OK)
        return status;
    if (ptex->faces[face].flags & TXM_PTEX_CONSTANT || u_log2 + v_log2 == 0) {
        txm_ptex_fill(pixels, face_constant(ptex, face), ptex->info.pixel_bytes, (size_t)1 << (u_log2 + v_log2));
        return TXM_OK;
    }
    status = txm_ptex_check_map(ptex, err);
    if (status == TXM_OK)
        status = make_size(ptex, face, (face_size){u_log2, v_log2}, pixels, err);
    return txm_ptex_settle(ptex, status, err);
}

/* The block of a face at full size, which is a constant block if the face is constant. */
static ptex_block full_block(const txm_ptex *p, uint32_t face)
{
    const txm_ptex_face *f = &p->faces[face];
    uint32_t word = f->flags & TXM_PTEX_CONSTANT ? 0 : p->levels[0].words[face];
    return (ptex_block){p->levels[0].offsets[face], word, f->u_log2, f->v_log2, face_constant(p, face)};
}

txm_status txm_ptex_tiling(const txm_ptex *ptex, uint32_t face, uint32_t *u_log2, uint32_t *v_log2, txm_error *err)
{
    txm_error_clear(err);
    *u_log2 = *v_log2 = 0;
    txm_status status = check_ptex_face_id(ptex, face, err);
    if (status == TXM_OK)
        status = txm_ptex_check_map(ptex, err);
    if (status != TXM_OK)
        return status;
    ptex_block b = full_block(ptex, face);
    return txm_ptex_settle(ptex, txm_ptex_block_tiling(ptex, &b, u_log2, v_log2, err), err);
}

txm_status txm_ptex_read_tile(const txm_ptex *ptex, uint32_t face, uint32_t tile, void *pixels, txm_error *err)
{
    uint32_t u, v;
    txm_error_clear(err);
    txm_status status = txm_ptex_tiling(ptex, face, &u, &v, err);
    if (status != TXM_OK)
        return status;
    ptex_block b = full_block(ptex, face);
    status = txm_ptex_read_block_tile(ptex, &b, tile, pixels, err);
    if (status == TXM_OK && ptex->flags & TXM_PTEX_PREMULTIPLY &&
        txm_ptex_block_encoding(b.word) != PTEX_ENCODING_CONSTANT)
        txm_ptex_multiply_alpha(ptex, pixels, (size_t)1 << (u + v));
    return txm_ptex_settle(ptex, status, err);
}

/* Reads only the tile that contains the texel. */
txm_status txm_ptex_pixel(const txm_ptex *ptex, uint32_t face, uint32_t x, uint32_t y, uint32_t first,
                          uint32_t channels, float *out, txm_error *err)
{
    uint32_t u, v;
    txm_error_clear(err);
    txm_status status = txm_ptex_tiling(ptex, face, &u, &v, err);
    if (status != TXM_OK)
        return status;
    const txm_ptex_face *f = &ptex->faces[face];
    if (x >> f->u_log2 || y >> f->v_log2 || first > ptex->info.channels || channels > ptex->info.channels - first)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: face %u has %u x %u texels of %u channels", ptex->path, face,
                        1u << f->u_log2, 1u << f->v_log2, ptex->info.channels);
    size_t bytes = txm_type_bytes(ptex->info.type);
    uint8_t *tile = NULL;
    const uint8_t *texel = face_constant(ptex, face);
    if (!(f->flags & TXM_PTEX_CONSTANT)) {
        tile = txm_alloc_pixels(ptex->info.pixel_bytes, (size_t)1 << (u + v));
        if (!tile)
            return txm_no_memory(err, ptex->path);
        status = txm_ptex_read_tile(ptex, face, (y >> v << (f->u_log2 - u)) + (x >> u), tile, err);
        size_t at = ((size_t)(y & ((1u << v) - 1)) << u) + (x & ((1u << u) - 1));
        texel = tile + at * ptex->info.pixel_bytes;
    }
    for (uint32_t c = 0; c < channels && status == TXM_OK; c++)
        out[c] = txm_ptex_sample(ptex->info.type, texel + (first + c) * bytes);
    free(tile);
    return status;
}
