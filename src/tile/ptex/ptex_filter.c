/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups in Ptex files: a cache of the faces that a thread's lookups read last, and point lookups. ptex_kernel.c and
 * ptex_triangle.c implement the other lookups.
 *
 * Neighbouring lookups read the same few faces at the same few sizes, so a linear search of an array is the fastest way
 * to find them. The least recently used faces are evicted.
 */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "tile/ptex/ptex_pages.h"

enum { KEPT_FACES = 64, KEPT_TILINGS = 64, WHOLE_FACES = 16 };

typedef struct kept_face {
    uint32_t face, u_log2, v_log2;
    uint32_t tile; /* number of the tile of the face at full size, counted from 1; 0: the whole face */
    uint64_t used; /* when it was last used; 0: the place is empty */
    size_t bytes;
    uint8_t *pixels;
} kept_face;

/* How a face is tiled: of each KEPT_TILINGS faces, the one that was asked for last. */
typedef struct kept_tiling {
    uint32_t face, u_log2, v_log2;
    bool known;
} kept_tiling;

struct txm_ptex_filter {
    const txm_ptex *ptex;
    size_t most_bytes, bytes;
    uint64_t clock;
    kept_face kept[KEPT_FACES];
    kept_tiling tilings[KEPT_TILINGS];
};

const txm_ptex *txm_ptex_filter_file(const txm_ptex_filter *filter)
{
    return filter->ptex;
}

void txm_ptex_request_init(txm_ptex_request *request)
{
    *request = (txm_ptex_request){.struct_size = sizeof *request, .width = 1};
}

txm_status txm_ptex_filter_new(const txm_ptex *ptex, size_t bytes, txm_ptex_filter **out, txm_error *err)
{
    txm_error_clear(err);
    *out = txm_calloc(1, sizeof **out);
    if (!*out)
        return txm_no_memory(err, ptex->path);
    (*out)->ptex = ptex;
    (*out)->most_bytes = bytes;
    return TXM_OK;
}

void txm_ptex_filter_free(txm_ptex_filter **filter)
{
    if (!filter || !*filter)
        return;
    for (int i = 0; i < KEPT_FACES; i++)
        free((*filter)->kept[i].pixels);
    free(*filter);
    *filter = NULL;
}

/* ---- faces that are kept ----------------------------------------------------------------------------------------- */

static void drop_face(txm_ptex_filter *f, kept_face *k)
{
    f->bytes -= k->bytes;
    free(k->pixels);
    *k = (kept_face){0};
}

/* Finds the face, or the place to keep it in: an empty one, or that of the least recently used face. */
static kept_face *find_kept(txm_ptex_filter *f, uint32_t face, uint32_t u_log2, uint32_t v_log2, uint32_t tile)
{
    kept_face *oldest = f->kept;
    for (kept_face *k = f->kept; k < f->kept + KEPT_FACES; k++) {
        if (k->used && k->face == face && k->u_log2 == u_log2 && k->v_log2 == v_log2 && k->tile == tile)
            return k;
        if (k->used < oldest->used)
            oldest = k;
    }
    if (oldest->used)
        drop_face(f, oldest);
    return oldest;
}

/* Reads the face, or one of its tiles, unless it is already kept. */
static txm_status keep_texels(txm_ptex_filter *f, uint32_t face, uint32_t u_log2, uint32_t v_log2, uint32_t tile,
                              const uint8_t **out, txm_error *err)
{
    const txm_ptex *p = f->ptex;
    kept_face *k = find_kept(f, face, u_log2, v_log2, tile);
    if (!k->used) {
        size_t bytes = txm_ptex_face_bytes(p, u_log2, v_log2);
        while (f->bytes && f->bytes + bytes > f->most_bytes) {
            kept_face *oldest = NULL;
            for (kept_face *other = f->kept; other < f->kept + KEPT_FACES; other++)
                if (other->used && (!oldest || other->used < oldest->used))
                    oldest = other;
            drop_face(f, oldest);
        }
        uint8_t *pixels = txm_alloc_pixels(bytes, 1);
        if (!pixels)
            return txm_no_memory(err, p->path);
        txm_status status = tile ? txm_ptex_read_tile(p, face, tile - 1, pixels, err)
                                 : txm_ptex_read(p, face, u_log2, v_log2, pixels, err);
        if (status != TXM_OK) {
            free(pixels);
            return status;
        }
        *k = (kept_face){face, u_log2, v_log2, tile, 0, bytes, pixels};
        f->bytes += bytes;
    }
    k->used = ++f->clock;
    *out = k->pixels;
    return TXM_OK;
}

txm_status txm_ptex_texels(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2, ptex_texels *out,
                           txm_error *err)
{
    const txm_ptex *p = filter->ptex;
    *out = (ptex_texels){txm_ptex_constant_of(p, face), true};
    if (txm_ptex_is_plain(p, face) || u_log2 + v_log2 == 0)
        return TXM_OK;
    out->constant = false;
    return keep_texels(filter, face, u_log2, v_log2, 0, &out->data, err);
}

bool txm_ptex_keeps_whole(const txm_ptex_filter *filter, size_t bytes)
{
    return bytes < TXM_PTEX_LARGE_BYTES || bytes <= filter->most_bytes / WHOLE_FACES;
}

txm_status txm_ptex_tiling_of(txm_ptex_filter *filter, uint32_t face, uint32_t *u_log2, uint32_t *v_log2,
                              txm_error *err)
{
    kept_tiling *t = &filter->tilings[face % KEPT_TILINGS];
    if (!t->known || t->face != face) {
        txm_status status = txm_ptex_tiling(filter->ptex, face, &t->u_log2, &t->v_log2, err);
        t->face = face;
        t->known = status == TXM_OK;
        if (status != TXM_OK)
            return status;
    }
    *u_log2 = t->u_log2;
    *v_log2 = t->v_log2;
    return TXM_OK;
}

txm_status txm_ptex_tile_texels(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2, uint32_t tile,
                                const uint8_t **out, txm_error *err)
{
    return keep_texels(filter, face, u_log2, v_log2, tile + 1, out, err);
}

/* ---- point lookups ---------------------------------------------------------------------------------------------- */

/* NaN counts as 0. */
static uint32_t texel_at(float place, uint32_t size)
{
    if (!(place > 0))
        return 0;
    return place >= (float)size ? size - 1 : (uint32_t)place;
}

/* A triangle's texels are triangles; those that point the other way are stored in the other half of the square. */
static size_t point_texel(const txm_ptex *p, const txm_ptex_request *r)
{
    const txm_ptex_face *f = &p->faces[r->face];
    uint32_t w = 1u << f->u_log2, h = 1u << f->v_log2;
    float u = r->u * (float)w, v = r->v * (float)h;
    uint32_t x = texel_at(u, w), y = texel_at(v, h);
    if (p->info.mesh == TXM_PTEX_TRIANGLES && u - (float)x + (v - (float)y) > 1) {
        uint32_t swap = x;
        x = w - 1 - y;
        y = w - 1 - swap;
    }
    return (size_t)y * w + x;
}

static txm_status look_up_point(txm_ptex_filter *filter, const txm_ptex_request *r, txm_error *err)
{
    const txm_ptex *p = filter->ptex;
    const txm_ptex_face *f = &p->faces[r->face];
    const size_t at = point_texel(p, r), bytes = txm_type_bytes(p->info.type);
    ptex_texels texels;
    txm_status status;
    if (txm_ptex_keeps_whole(filter, txm_ptex_face_bytes(p, f->u_log2, f->v_log2))) {
        status = txm_ptex_texels(filter, r->face, f->u_log2, f->v_log2, &texels, err);
        if (status == TXM_OK && !texels.constant)
            texels.data += at * p->info.pixel_bytes;
    } else {
        ptex_window w;
        uint32_t run;
        status = txm_ptex_open_window(filter, r->face, f->u_log2, f->v_log2, &w, err);
        if (status == TXM_OK)
            status = txm_ptex_window_texel(&w, (uint32_t)(at & ((1u << f->u_log2) - 1)), (uint32_t)(at >> f->u_log2),
                                           &texels.data, &run, err);
    }
    for (uint32_t c = 0; status == TXM_OK && c < r->channels && r->first_channel + c < p->info.channels; c++)
        r->result[c] = txm_ptex_sample(p->info.type, texels.data + (r->first_channel + c) * bytes);
    return status;
}

static txm_status give_constant(const txm_ptex *p, const txm_ptex_request *r)
{
    const uint8_t *texel = p->constants + (size_t)r->face * p->info.pixel_bytes;
    size_t bytes = txm_type_bytes(p->info.type);
    for (uint32_t c = 0; c < r->channels && r->first_channel + c < p->info.channels; c++)
        r->result[c] = txm_ptex_sample(p->info.type, texel + (r->first_channel + c) * bytes);
    return TXM_OK;
}

txm_status txm_ptex_look_up(txm_ptex_filter *filter, const txm_ptex_request *request, txm_error *err)
{
    const txm_ptex *p = filter->ptex;
    txm_ptex_request own = {.width = 1};
    txm_error_clear(err);
    if (request->struct_size != sizeof own) {
        if (txm_options_take(&own, sizeof own, request, "txm_ptex_request", err) != TXM_OK)
            return TXM_STATUS_USAGE;
        request = &own;
    }
    if (!txm_ptex_filter_exists(request->kind))
        return txm_fail(err, TXM_STATUS_USAGE, "filter %u is unknown", (unsigned)request->kind);
    if (request->face >= p->info.faces)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: no face %u: the file has %u, counted from 0", p->path,
                        request->face, p->info.faces);
    memset(request->result, 0, request->channels * sizeof *request->result);
    if (request->first_channel >= p->info.channels)
        return TXM_OK;
    if (request->kind == TXM_PTEX_POINT)
        return look_up_point(filter, request, err);
    if (p->faces[request->face].flags & TXM_PTEX_CONSTANT_NEIGHBOURHOOD)
        return give_constant(p, request);
    if (p->info.mesh == TXM_PTEX_QUADS)
        return txm_ptex_convolve(filter, request, err);
    bool empty;
    txm_status status = txm_ptex_gaussian(filter, request, &empty, err);
    /* Where u + v > 1, outside the triangle, the kernel may contain no texels. */
    return status == TXM_OK && empty ? look_up_point(filter, request, err) : status;
}
