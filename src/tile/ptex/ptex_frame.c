/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a face of a Ptex file with a frame of texels around it.
 *
 * The inside holds the face's texels, at one of its sizes. Beyond an edge are the texels of the neighbour at the same
 * size, moved and rotated into the face's frame. A corner depends on the number of faces that meet at the vertex. If
 * there are four, it holds the texels of the face opposite. If there are three, no face is opposite, and it holds the
 * mean of the three texels at the vertex, so a bilinear lookup at the vertex gives that mean. If there are more, it
 * holds the mean of the faces opposite. If there is no neighbour, the face is mirrored, or the frame is black. Subfaces
 * are half as large as the whole faces beside them; between the two kinds, ptex_kernel.c finds each texel.
 *
 * The frame of a triangle is found by barycentric coordinates: beyond an edge, the neighbour continues in the same
 * plane.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/ptex/ptex_pages.h"

enum { MAX_CROSSINGS = 16, RIGHT = 1, TOP = 2, LEFT = 3, BOTTOM = 0 };

/* ---- texels of one face ------------------------------------------------------------------------------------------ */

txm_status txm_ptex_open_window(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2,
                                ptex_window *w, txm_error *err)
{
    const txm_ptex *p = txm_ptex_filter_file(filter);
    const txm_ptex_face *f = &p->faces[face];
    *w = (ptex_window){.filter = filter, .face = face, .tile = UINT32_MAX};
    w->u_log2 = u_log2 < f->u_log2 ? u_log2 : f->u_log2;
    w->v_log2 = v_log2 < f->v_log2 ? v_log2 : f->v_log2;
    w->u_shift = u_log2 - w->u_log2;
    w->v_shift = v_log2 - w->v_log2;
    if (!txm_ptex_is_plain(p, face) && w->u_log2 == f->u_log2 && w->v_log2 == f->v_log2 &&
        txm_ptex_face_bytes(p, w->u_log2, w->v_log2) >= TXM_PTEX_LARGE_BYTES) {
        txm_status status = txm_ptex_tiling_of(filter, face, &w->tile_u_log2, &w->tile_v_log2, err);
        if (status != TXM_OK)
            return status;
        w->tiled = w->tile_u_log2 < w->u_log2 || w->tile_v_log2 < w->v_log2;
        if (w->tiled)
            return TXM_OK;
    }
    ptex_texels texels;
    txm_status status = txm_ptex_texels(filter, face, w->u_log2, w->v_log2, &texels, err);
    w->data = texels.data;
    w->constant = texels.constant;
    return status;
}

txm_status txm_ptex_window_texel(ptex_window *w, uint32_t x, uint32_t y, const uint8_t **out, uint32_t *run,
                                 txm_error *err)
{
    const txm_ptex *p = txm_ptex_filter_file(w->filter);
    *run = 1;
    *out = w->data;
    if (w->constant)
        return TXM_OK;
    x >>= w->u_shift;
    y >>= w->v_shift;
    uint32_t row_log2 = w->u_log2;
    if (w->tiled) {
        const uint32_t tile = (y >> w->tile_v_log2 << (w->u_log2 - w->tile_u_log2)) + (x >> w->tile_u_log2);
        if (tile != w->tile) {
            txm_status status =
                txm_ptex_tile_texels(w->filter, w->face, w->tile_u_log2, w->tile_v_log2, tile, &w->data, err);
            if (status != TXM_OK)
                return status;
            w->tile = tile;
        }
        row_log2 = w->tile_u_log2;
        x &= (1u << w->tile_u_log2) - 1;
        y &= (1u << w->tile_v_log2) - 1;
    }
    *out = w->data + (((size_t)y << row_log2) + x) * p->info.pixel_bytes;
    if (!w->u_shift)
        *run = (1u << row_log2) - x;
    return TXM_OK;
}

/* ---- a part that is being made ----------------------------------------------------------------------------------- */

typedef struct framing {
    txm_ptex_filter *filter;
    const txm_ptex *ptex;
    uint32_t face, u_log2, v_log2;
    const ptex_part *part;
    uint8_t *out;
    size_t row_bytes;
    float *floats; /* room for the channels of one texel */
    txm_error *err;
} framing;

static uint8_t *place_in_part(const framing *f, int x, int y)
{
    return f->out + (size_t)(y - f->part->y) * f->row_bytes + (size_t)(x - f->part->x) * f->ptex->info.pixel_bytes;
}

static txm_status copy_inside(const framing *f, const ptex_part *r)
{
    ptex_window w;
    const size_t bytes = f->ptex->info.pixel_bytes;
    txm_status status = txm_ptex_open_window(f->filter, f->face, f->u_log2, f->v_log2, &w, f->err);
    for (int y = r->y; status == TXM_OK && y < r->y + r->height; y++) {
        uint8_t *out = place_in_part(f, r->x, y);
        uint32_t run;
        for (int x = r->x; status == TXM_OK && x < r->x + r->width; x += (int)run, out += run * bytes) {
            const uint8_t *texel;
            status = txm_ptex_window_texel(&w, (uint32_t)x, (uint32_t)y, &texel, &run, f->err);
            if (run > (uint32_t)(r->x + r->width - x))
                run = (uint32_t)(r->x + r->width - x);
            if (status == TXM_OK)
                memcpy(out, texel, run * bytes);
        }
    }
    return status;
}

/* Rotates a position in a frame of 2^u_log2 x 2^v_log2 by quarter turns. */
static void turn_place(const framing *f, unsigned turns, int *x, int *y)
{
    const int u = *x, v = *y, w = 1 << f->u_log2, h = 1 << f->v_log2;
    switch (turns & 3) {
    case 1:
        *x = v;
        *y = w - 1 - u;
        break;
    case 2:
        *x = w - 1 - u;
        *y = h - 1 - v;
        break;
    case 3:
        *x = h - 1 - v;
        *y = u;
        break;
    default:
        break;
    }
}

/* Copies texels from a face whose frame is that of the framed face, moved by (dx, dy) and rotated. A position outside
 * the source, which occurs only if neighbours contradict each other, takes the nearest texel. */
static txm_status copy_turned(const framing *f, const ptex_part *r, uint32_t from, int dx, int dy, unsigned turns)
{
    ptex_window w;
    const uint32_t u_log2 = turns & 1 ? f->v_log2 : f->u_log2, v_log2 = turns & 1 ? f->u_log2 : f->v_log2;
    const int most_x = (1 << u_log2) - 1, most_y = (1 << v_log2) - 1;
    txm_status status = txm_ptex_open_window(f->filter, from, u_log2, v_log2, &w, f->err);
    for (int y = r->y; status == TXM_OK && y < r->y + r->height; y++)
        for (int x = r->x; status == TXM_OK && x < r->x + r->width; x++) {
            int at_x = x + dx, at_y = y + dy;
            const uint8_t *texel;
            uint32_t run;
            turn_place(f, turns, &at_x, &at_y);
            at_x = at_x < 0 ? 0 : at_x > most_x ? most_x : at_x;
            at_y = at_y < 0 ? 0 : at_y > most_y ? most_y : at_y;
            status = txm_ptex_window_texel(&w, (uint32_t)at_x, (uint32_t)at_y, &texel, &run, f->err);
            if (status == TXM_OK)
                memcpy(place_in_part(f, x, y), texel, f->ptex->info.pixel_bytes);
        }
    return status;
}

static void fill_part(const framing *f, const ptex_part *r, const uint8_t *texel)
{
    for (int y = r->y; y < r->y + r->height; y++)
        txm_ptex_fill(place_in_part(f, r->x, y), texel, f->ptex->info.pixel_bytes, (size_t)r->width);
}

static void store_floats(const framing *f, uint8_t *out)
{
    txm_samples_from_float(f->ptex->info.type, f->floats, out, f->ptex->info.channels);
}

/* Finds each texel as a bilinear lookup does. */
static txm_status read_one_by_one(const framing *f, const ptex_part *r, bool *none)
{
    txm_status status = TXM_OK;
    for (int y = r->y; status == TXM_OK && y < r->y + r->height; y++)
        for (int x = r->x; status == TXM_OK && x < r->x + r->width; x++) {
            status = txm_ptex_texel_beyond(f->filter, f->face, f->u_log2, f->v_log2, x, y, f->floats, none, f->err);
            if (*none)
                return status;
            store_floats(f, place_in_part(f, x, y));
        }
    return status;
}

/* ---- over an edge ------------------------------------------------------------------------------------------------ */

static bool is_sub(const framing *f, uint32_t face)
{
    return f->ptex->faces[face].flags & TXM_PTEX_SUBFACE;
}

/* Changes the offset of a frame when it crosses an edge. */
static void move_over(const framing *f, unsigned edge, int *dx, int *dy)
{
    *dx += edge == RIGHT ? -(1 << f->u_log2) : edge == LEFT ? 1 << f->u_log2 : 0;
    *dy += edge == TOP ? -(1 << f->v_log2) : edge == BOTTOM ? 1 << f->v_log2 : 0;
}

/* Mirrors a position beyond a border back into the face. Mirroring continues the texel at the border at every size,
 * also in levels that are made from the frame. */
static int mirror_place(int at, int size)
{
    const int back = at < 0 ? -1 - at : at < size ? at : 2 * size - 1 - at;
    return back < 0 ? 0 : back < size ? back : size - 1;
}

/* Fills a part beyond a border with mirrored texels, or with black. */
static txm_status fold_edge(const framing *f, const ptex_part *r, unsigned edge)
{
    const txm_ptex_info *info = &f->ptex->info;
    const bool along_u = edge == RIGHT || edge == LEFT;
    ptex_window w;
    if ((along_u ? info->u_border : info->v_border) == TXM_PTEX_BLACK) {
        for (int y = r->y; y < r->y + r->height; y++)
            memset(place_in_part(f, r->x, y), 0, (size_t)r->width * info->pixel_bytes);
        return TXM_OK;
    }
    txm_status status = txm_ptex_open_window(f->filter, f->face, f->u_log2, f->v_log2, &w, f->err);
    for (int y = r->y; status == TXM_OK && y < r->y + r->height; y++)
        for (int x = r->x; status == TXM_OK && x < r->x + r->width; x++) {
            const uint8_t *texel;
            uint32_t run;
            status = txm_ptex_window_texel(&w, (uint32_t)mirror_place(x, 1 << f->u_log2),
                                           (uint32_t)mirror_place(y, 1 << f->v_log2), &texel, &run, f->err);
            if (status == TXM_OK)
                memcpy(place_in_part(f, x, y), texel, info->pixel_bytes);
        }
    return status;
}

static txm_status read_beyond_edge(const framing *f, const ptex_part *r, unsigned edge)
{
    const txm_ptex_face *face = &f->ptex->faces[f->face];
    const int32_t next = face->neighbours[edge];
    bool none = false;
    int dx = 0, dy = 0;
    if (next < 0)
        return fold_edge(f, r, edge);
    if (is_sub(f, f->face) != is_sub(f, (uint32_t)next))
        return read_one_by_one(f, r, &none);
    move_over(f, edge, &dx, &dy);
    return copy_turned(f, r, (uint32_t)next, dx, dy, edge - txm_ptex_edge(face, edge) + 2);
}

/* ---- round a corner ---------------------------------------------------------------------------------------------- */

static void add_texel(const framing *f, const uint8_t *texel, float *sum)
{
    const txm_ptex_info *info = &f->ptex->info;
    for (uint32_t c = 0; c < info->channels; c++)
        sum[c] += txm_ptex_sample(info->type, texel + c * txm_type_bytes(info->type));
}

/* Adds the texel of a face that touches the vertex to a sum. */
static txm_status add_corner(const framing *f, uint32_t from, int dx, int dy, unsigned turns, int x, int y, float *sum)
{
    uint8_t *texel = malloc(f->ptex->info.pixel_bytes);
    if (!texel)
        return txm_no_memory(f->err, f->ptex->path);
    const ptex_part one = {x, y, 1, 1};
    framing single = *f;
    single.part = &one;
    single.out = texel;
    txm_status status = copy_turned(&single, &one, from, dx, dy, turns);
    if (status == TXM_OK)
        add_texel(f, texel, sum);
    free(texel);
    return status;
}

/* Fills a corner with the mean of the texels at the vertex: those of the faces opposite, or, if there are none, those
 * of the face and its two neighbours. */
static txm_status mean_at_vertex(const framing *f, const ptex_part *r, unsigned across, unsigned up,
                                 const ptex_corner *walk, unsigned edge)
{
    const txm_ptex_face *face = &f->ptex->faces[f->face];
    const int w = 1 << f->u_log2, h = 1 << f->v_log2;
    const int x = across == RIGHT ? w - 1 : 0, y = up == TOP ? h - 1 : 0;
    const int beyond_x = across == RIGHT ? w : -1, beyond_y = up == TOP ? h : -1;
    float sum[TXM_MAX_CHANNELS * 16] = {0}, *sums = f->ptex->info.channels <= TXM_MAX_CHANNELS * 16 ? sum : NULL;
    txm_status status = TXM_OK;
    int count = 0;
    if (!sums && !(sums = txm_calloc(f->ptex->info.channels, sizeof *sums)))
        return txm_no_memory(f->err, f->ptex->path);
    for (int i = 1; status == TXM_OK && i <= walk->count && walk->count > 1; i++, count++) {
        int dx = 0, dy = 0;
        move_over(f, across, &dx, &dy);
        move_over(f, up, &dx, &dy);
        status = add_corner(f, walk->faces[i], dx, dy, edge - walk->edges[i] + 2, beyond_x, beyond_y, sums);
    }
    if (!count) {
        const unsigned over[] = {across, up};
        status = add_corner(f, f->face, 0, 0, 0, x, y, sums);
        for (int i = 0; status == TXM_OK && i < 2; i++) {
            int dx = 0, dy = 0;
            move_over(f, over[i], &dx, &dy);
            status = add_corner(f, (uint32_t)face->neighbours[over[i]], dx, dy,
                                over[i] - txm_ptex_edge(face, over[i]) + 2, i ? x : beyond_x, i ? beyond_y : y, sums);
        }
        count = 3;
    }
    for (uint32_t c = 0; c < f->ptex->info.channels; c++)
        f->floats[c] = sums[c] / (float)count;
    if (sums != sum)
        free(sums);
    if (status != TXM_OK)
        return status;
    uint8_t *texel = malloc(f->ptex->info.pixel_bytes);
    if (!texel)
        return txm_no_memory(f->err, f->ptex->path);
    store_floats(f, texel);
    fill_part(f, r, texel);
    free(texel);
    return TXM_OK;
}

/* If a corner has a neighbour on one side only, it continues the texels beyond that edge. */
static txm_status read_past_end(const framing *f, const ptex_part *r, unsigned edge)
{
    const bool along_u = edge == BOTTOM || edge == TOP;
    txm_status status = TXM_OK;
    if ((along_u ? f->ptex->info.u_border : f->ptex->info.v_border) == TXM_PTEX_BLACK)
        return fold_edge(f, r, along_u ? RIGHT : TOP);
    uint8_t *texel = malloc(f->ptex->info.pixel_bytes);
    if (!texel)
        return txm_no_memory(f->err, f->ptex->path);
    for (int y = r->y; status == TXM_OK && y < r->y + r->height; y++)
        for (int x = r->x; status == TXM_OK && x < r->x + r->width; x++) {
            const ptex_part one = {along_u ? mirror_place(x, 1 << f->u_log2) : x,
                                   along_u ? y : mirror_place(y, 1 << f->v_log2), 1, 1};
            framing single = *f;
            single.part = &one;
            single.out = texel;
            status = read_beyond_edge(&single, &one, edge);
            if (status == TXM_OK)
                memcpy(place_in_part(f, x, y), texel, f->ptex->info.pixel_bytes);
        }
    free(texel);
    return status;
}

static txm_status read_beyond_corner(const framing *f, const ptex_part *r, unsigned across, unsigned up)
{
    const txm_ptex_face *face = &f->ptex->faces[f->face];
    /* A corner is identified by the edge from which the walk around it begins. */
    const unsigned edge = across == RIGHT ? (up == TOP ? TOP : RIGHT) : up == TOP ? LEFT : BOTTOM;
    ptex_corner walk;
    bool none = false;
    if (face->neighbours[across] < 0)
        return face->neighbours[up] < 0 ? fold_edge(f, r, across) : read_past_end(f, r, up);
    if (face->neighbours[up] < 0)
        return read_past_end(f, r, across);
    bool mixed = false;
    txm_ptex_walk(f->ptex, f->face, edge, &walk);
    for (int i = 0; i < walk.met; i++)
        mixed |= is_sub(f, walk.faces[i]) != is_sub(f, f->face);
    if (mixed) {
        txm_status status = read_one_by_one(f, r, &none);
        if (status != TXM_OK || !none)
            return status;
    } else if (walk.count == 1) {
        int dx = 0, dy = 0;
        move_over(f, across, &dx, &dy);
        move_over(f, up, &dx, &dy);
        return copy_turned(f, r, walk.faces[1], dx, dy, edge - walk.edges[1] + 2);
    }
    return mean_at_vertex(f, r, across, up, &walk, edge);
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Finds the face that contains a position, which is given by twice its barycentric coordinates in units of a texel;
 * they are converted to that face's. Beyond a border, the position is moved back onto the edge. */
static uint32_t face_of_place(const txm_ptex *p, uint32_t face, int a[3])
{
    for (int i = 0; i < MAX_CROSSINGS; i++) {
        unsigned o = a[0] < a[1] ? (a[0] < a[2] ? 0 : 2) : a[1] < a[2] ? 1 : 2;
        if (a[o] >= 0)
            return face;
        const unsigned e = (o + 1) % 3, next = (e + 1) % 3;
        const txm_ptex_face *f = &p->faces[face];
        if (f->neighbours[e] < 0) {
            a[e] += a[o] / 2;
            a[next] += a[o] - a[o] / 2;
            a[o] = 0;
            continue;
        }
        const unsigned at = txm_ptex_edge(f, e) % 3;
        int b[3];
        b[(at + 1) % 3] = a[e] + a[o];
        b[at] = a[next] + a[o];
        b[(at + 2) % 3] = -a[o];
        face = (uint32_t)f->neighbours[e];
        memcpy(a, b, sizeof b);
    }
    a[0] = a[1] = a[2] = (a[0] + a[1] + a[2]) / 3;
    return face;
}

/* Averages the two triangular texels of a square; at the diagonal, reads the one that belongs to the face. */
static txm_status read_square(const framing *f, ptex_window *w, int u, int v, uint8_t *out)
{
    const uint32_t n = 1u << w->u_log2, all = 2u << f->u_log2;
    uint32_t x = (uint32_t)((uint64_t)u * n / all), y = (uint32_t)((uint64_t)v * n / all), run;
    const uint8_t *texel;
    x = x < n ? x : n - 1;
    y = y < n - x ? y : n - 1 - x;
    w->u_shift = w->v_shift = 0;
    txm_status status = txm_ptex_window_texel(w, x, y, &texel, &run, f->err);
    if (status != TXM_OK)
        return status;
    memcpy(out, texel, f->ptex->info.pixel_bytes);
    if (x + y + 1 >= n || w->constant)
        return TXM_OK;
    memset(f->floats, 0, f->ptex->info.channels * sizeof *f->floats);
    add_texel(f, texel, f->floats);
    status = txm_ptex_window_texel(w, n - 1 - y, n - 1 - x, &texel, &run, f->err);
    if (status != TXM_OK)
        return status;
    add_texel(f, texel, f->floats);
    for (uint32_t c = 0; c < f->ptex->info.channels; c++)
        f->floats[c] *= 0.5f;
    store_floats(f, out);
    return TXM_OK;
}

static txm_status read_triangle(const framing *f)
{
    const ptex_part *r = f->part;
    const int all = 2 << f->u_log2;
    ptex_window w = {.face = UINT32_MAX};
    txm_status status = TXM_OK;
    for (int y = r->y; status == TXM_OK && y < r->y + r->height; y++)
        for (int x = r->x; status == TXM_OK && x < r->x + r->width; x++) {
            int a[3] = {all - 2 * x - 1 - 2 * y - 1, 2 * x + 1, 2 * y + 1};
            const uint32_t face = face_of_place(f->ptex, f->face, a);
            if (face != w.face)
                status = txm_ptex_open_window(f->filter, face, f->u_log2, f->u_log2, &w, f->err);
            if (status == TXM_OK)
                status = read_square(f, &w, a[1], a[2], place_in_part(f, x, y));
        }
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Limits the range from `low` to `high` to the part. */
static bool cut_range(int *start, int *length, int low, int high)
{
    const int end = *start + *length < high ? *start + *length : high;
    *start = *start > low ? *start : low;
    *length = end - *start;
    return *length > 0;
}

static txm_status read_piece(const framing *f, int column, int row)
{
    const int w = 1 << f->u_log2, h = 1 << f->v_log2, far = 1 << 20;
    ptex_part r = *f->part;
    if (!cut_range(&r.x, &r.width,
                   column < 0 ? -far
                   : column   ? w
                              : 0,
                   column < 0 ? 0
                   : column   ? far
                              : w) ||
        !cut_range(&r.y, &r.height,
                   row < 0 ? -far
                   : row   ? h
                           : 0,
                   row < 0 ? 0
                   : row   ? far
                           : h))
        return TXM_OK;
    if (!column && !row)
        return copy_inside(f, &r);
    if (!column)
        return read_beyond_edge(f, &r, row > 0 ? TOP : BOTTOM);
    if (!row)
        return read_beyond_edge(f, &r, column > 0 ? RIGHT : LEFT);
    return read_beyond_corner(f, &r, column > 0 ? RIGHT : LEFT, row > 0 ? TOP : BOTTOM);
}

txm_status txm_ptex_read_framed(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2,
                                const ptex_part *part, uint8_t *out, size_t row_bytes, txm_error *err)
{
    const txm_ptex *p = txm_ptex_filter_file(filter);
    float few[TXM_MAX_CHANNELS * 16];
    framing f = {filter, p, face, u_log2, v_log2, part, out, row_bytes, few, err};
    if (p->info.channels > sizeof few / sizeof *few)
        f.floats = txm_calloc(p->info.channels, sizeof *f.floats);
    if (!f.floats)
        return txm_no_memory(err, p->path);
    txm_status status = TXM_OK;
    if (p->info.mesh == TXM_PTEX_TRIANGLES)
        status = read_triangle(&f);
    else
        for (int i = 0; i < 9 && status == TXM_OK; i++)
            status = read_piece(&f, i % 3 - 1, i / 3 - 1);
    if (f.floats != few)
        free(f.floats);
    return status;
}
