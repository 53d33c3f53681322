/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups in Ptex quads across the borders of faces.
 *
 * A kernel is a small rectangle of texels with a weight for each column and each row, in the frame of one face at one
 * size. The piece that reaches beyond the face is cut off, and moved and rotated into the frame of the neighbour. If
 * the neighbour is a subface, which is part of a polygon and half as large as a whole face, it may be cut there again.
 * A piece at a corner is passed on by walking around the vertex. If four faces meet, the one opposite takes the piece;
 * if five or more do, each of the faces opposite takes a share; if three do, no face takes it, and its weight is
 * missing from the sum. All of this follows Disney's library, and the results are the same except for the order of
 * sums.
 *
 * A file may contain any neighbours. No walk takes more than 10 steps, no piece is cut in more than MAX_CUTS faces in a
 * row, and no lookup cuts more than MAX_PIECES.
 */
#include <math.h>

#include "tile/ptex/ptex_pages.h"

enum {
    MAX_CUTS = 8, /* a kernel over subfaces of one texel reaches 3 faces in each direction */
    MAX_PIECES = 1000,
    BOTTOM = 0,
    RIGHT = 1,
    TOP = 2,
    LEFT = 3
};

typedef struct kernel {
    ptex_axis u, v;
    /* Quarter turns at the last edge, for tangent vectors. As in Disney's library, those at earlier edges are added
     * only if a whole kernel continues from one subface to the next, although they should be if a part does. */
    unsigned turns;
} kernel;

/* The state of a lookup. */
typedef struct spread {
    txm_ptex_filter *filter;
    const txm_ptex *ptex;
    const txm_ptex_request *request;
    txm_error *err;
    txm_status status;
    uint32_t channels; /* requested channels that the file has */
    float weight;      /* total weight of all pieces */
    int pieces;        /* pieces cut so far */
} spread;

static void cut_and_apply(spread *s, kernel *k, uint32_t face, int cuts);

/* ---- one axis ---------------------------------------------------------------------------------------------------- */

static float axis_weight(const ptex_axis *a)
{
    float sum = 0;
    for (int i = 0; i < a->count; i++)
        sum += a->weights[i];
    return sum;
}

static float kernel_weight(const kernel *k)
{
    return axis_weight(&k->u) * axis_weight(&k->v);
}

/* Doubles the number of texels, each with half the weight. Returns false if there is no room, which does not occur with
 * valid files. */
static bool refine_axis(ptex_axis *a)
{
    if (a->count * 2 > TXM_PTEX_MAX_TAPS)
        return false;
    for (int i = a->count - 1; i >= 0; i--)
        a->weights[2 * i] = a->weights[2 * i + 1] = a->weights[i] / 2;
    a->count *= 2;
    a->start *= 2;
    a->log2++;
    return true;
}

/* Halves the number of texels. */
static void coarsen_axis(ptex_axis *a)
{
    int first = a->start >> 1, count = 0;
    for (int i = 0; i < a->count; i++) {
        int at = ((a->start + i) >> 1) - first;
        if (at == count)
            a->weights[count++] = a->weights[i];
        else
            a->weights[at] += a->weights[i];
    }
    a->start = first;
    a->count = count;
    a->log2--;
}

static void flip_axis(ptex_axis *a)
{
    a->start = (1 << a->log2) - a->start - a->count;
    for (int i = 0; i < a->count / 2; i++) {
        float swap = a->weights[i];
        a->weights[i] = a->weights[a->count - 1 - i];
        a->weights[a->count - 1 - i] = swap;
    }
}

/* Moves the texels from index `first` on to `end`. */
static void split_axis(ptex_axis *a, int first, ptex_axis *end)
{
    *end = (ptex_axis){.log2 = a->log2, .start = a->start + first, .count = a->count - first};
    memcpy(end->weights, a->weights + first, (size_t)end->count * sizeof *end->weights);
    a->count = first;
}

static int clamp_int(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* Moves the texels beyond the upper edge to `piece`, in the frame of the next face. Returns false if there are none. */
static bool split_above(ptex_axis *a, ptex_axis *piece)
{
    int size = 1 << a->log2;
    if (a->start + a->count <= size)
        return false;
    split_axis(a, clamp_int(size - a->start, 0, a->count), piece);
    piece->start -= size;
    return true;
}

/* Does the same below 0. */
static bool split_below(ptex_axis *a, ptex_axis *piece)
{
    if (a->start >= 0)
        return false;
    ptex_axis rest;
    split_axis(a, clamp_int(-a->start, 0, a->count), &rest);
    *piece = *a;
    *a = rest;
    piece->start += 1 << piece->log2;
    return true;
}

/* Adds the weight of a piece that has no face to the texel at the edge, or drops it at a black border. */
static void fold_piece(ptex_axis *a, const ptex_axis *piece, bool above, bool black)
{
    float weight = axis_weight(piece);
    if (black)
        return;
    if (!a->count) {
        *a = (ptex_axis){.log2 = a->log2, .start = above ? (1 << a->log2) - 1 : 0, .count = 1, .weights = {weight}};
        return;
    }
    a->weights[above ? a->count - 1 : 0] += weight;
}

static void turn_kernel(kernel *k, unsigned turns)
{
    turns &= 3;
    if (turns == 1 || turns == 2)
        flip_axis(&k->u);
    if (turns == 2 || turns == 3)
        flip_axis(&k->v);
    if (turns & 1) {
        ptex_axis swap = k->u;
        k->u = k->v;
        k->v = swap;
    }
    k->turns = (k->turns + turns) & 3;
}

/* ---- texels ------------------------------------------------------------------------------------------------------ */

/* Texels under a part of a kernel. */
typedef struct taps {
    const float *u, *v;
    int width, height;
    const uint8_t *texels;
    size_t row_bytes;
} taps;

/* Adds the texels, weighted, to the sum of each channel. */
static void add_taps(const spread *s, const taps *t, size_t first, uint32_t channels, float *sums)
{
    const txm_ptex_info *info = &s->ptex->info;
    const size_t bytes = txm_type_bytes(info->type);
    for (int y = 0; y < t->height; y++)
        for (uint32_t c = 0; c < channels; c++) {
            const uint8_t *at = t->texels + (size_t)y * t->row_bytes + (first + c) * bytes;
            float sum = 0;
            for (int x = 0; x < t->width; x++, at += info->pixel_bytes)
                sum += t->u[x] * txm_ptex_number(info->type, at);
            sums[c] += sum * t->v[y];
        }
}

/* The first two channels of a piece that crossed an edge are rotated with it. They are the first two of the lookup, as
 * in Disney's library. */
static void apply_taps(spread *s, const taps *t, unsigned turns)
{
    const uint32_t first = s->request->first_channel;
    float *result = s->request->result, part[2] = {0};
    if (!turns || s->ptex->info.edge_mode != TXM_PTEX_EDGE_TANGENT || s->channels < 2) {
        add_taps(s, t, first, s->channels, result);
        return;
    }
    add_taps(s, t, first, 2, part);
    result[0] += turns == 1 ? -part[1] : turns == 2 ? -part[0] : part[1];
    result[1] += turns == 1 ? part[0] : turns == 2 ? -part[1] : -part[0];
    add_taps(s, t, first + 2, s->channels - 2, result + 2);
}

/* The number of places from `at` on that are in one tile, at most `count`. */
static int within_tile(int at, int count, uint32_t tile_log2)
{
    const int left = (1 << tile_log2) - (at & ((1 << tile_log2) - 1));
    return left < count ? left : count;
}

/* Applies the kernel to a face that is in memory as a whole. */
static void apply_texels(spread *s, const kernel *k, const uint8_t *texels)
{
    const size_t bytes = s->ptex->info.pixel_bytes, row = bytes << k->u.log2;
    const taps t = {.u = k->u.weights,
                    .v = k->v.weights,
                    .width = k->u.count,
                    .height = k->v.count,
                    .texels = texels + (size_t)k->v.start * row + (size_t)k->u.start * bytes,
                    .row_bytes = row};
    apply_taps(s, &t, k->turns);
}

static void apply_tiles(spread *s, const kernel *k, ptex_window *w)
{
    const uint32_t u_log2 = w->tile_u_log2, v_log2 = w->tile_v_log2;
    taps t = {.v = k->v.weights, .row_bytes = (size_t)s->ptex->info.pixel_bytes << u_log2};
    for (int y = 0; y < k->v.count; y += t.height, t.v += t.height) {
        t.height = within_tile(k->v.start + y, k->v.count - y, v_log2);
        t.u = k->u.weights;
        for (int x = 0; x < k->u.count && s->status == TXM_OK; x += t.width, t.u += t.width) {
            uint32_t run;
            t.width = within_tile(k->u.start + x, k->u.count - x, u_log2);
            s->status = txm_ptex_window_texel(w, (uint32_t)(k->u.start + x), (uint32_t)(k->v.start + y), &t.texels,
                                              &run, s->err);
            if (s->status == TXM_OK)
                apply_taps(s, &t, k->turns);
        }
    }
}

static void apply_constant(spread *s, const kernel *k, const uint8_t *texel)
{
    const txm_ptex_info *info = &s->ptex->info;
    size_t bytes = txm_type_bytes(info->type);
    float weight = kernel_weight(k);
    for (uint32_t c = 0; c < s->channels; c++)
        s->request->result[c] += weight * txm_ptex_number(info->type, texel + (s->request->first_channel + c) * bytes);
}

/* If a face is smaller than the kernel's size, it is read at its own size. A piece outside the face, which occurs only
 * if neighbours contradict each other, is ignored. */
static void apply_kernel(spread *s, kernel *k, uint32_t face)
{
    const txm_ptex_face *f = &s->ptex->faces[face];
    ptex_texels texels;
    ptex_window w;
    if (s->status != TXM_OK || k->u.count <= 0 || k->v.count <= 0)
        return;
    while (k->u.log2 > f->u_log2)
        coarsen_axis(&k->u);
    while (k->v.log2 > f->v_log2)
        coarsen_axis(&k->v);
    if (k->u.start < 0 || k->u.start + k->u.count > 1 << k->u.log2 || k->v.start < 0 ||
        k->v.start + k->v.count > 1 << k->v.log2)
        return;
    if (txm_ptex_keeps_whole(s->filter, txm_ptex_face_bytes(s->ptex, (uint32_t)k->u.log2, (uint32_t)k->v.log2)))
        s->status = txm_ptex_texels(s->filter, face, (uint32_t)k->u.log2, (uint32_t)k->v.log2, &texels, s->err);
    else {
        s->status = txm_ptex_open_window(s->filter, face, (uint32_t)k->u.log2, (uint32_t)k->v.log2, &w, s->err);
        texels = (ptex_texels){w.data, w.constant};
    }
    if (s->status != TXM_OK)
        return;
    if (!texels.data)
        apply_tiles(s, k, &w);
    else if (texels.constant)
        apply_constant(s, k, texels.data);
    else
        apply_texels(s, k, texels.data);
}

/* ---- between faces and subfaces ---------------------------------------------------------------------------------- */

/* Moves a kernel across the edge of a whole face to two subfaces, each half as large. Returns whether it lies in the
 * first one. */
static bool enter_subface(kernel *k, unsigned edge)
{
    bool first = true;
    if ((!k->u.log2 && !refine_axis(&k->u)) || (!k->v.log2 && !refine_axis(&k->v))) {
        k->u.count = 0;
        return true;
    }
    int u = 1 << --k->u.log2, v = 1 << --k->v.log2;
    switch (edge & 3) {
    case BOTTOM:
        first = k->u.start < u;
        k->v.start -= v;
        k->u.start -= first ? 0 : u;
        break;
    case RIGHT:
        first = k->v.start < v;
        k->v.start -= first ? 0 : v;
        break;
    case TOP:
        first = k->u.start >= u;
        k->u.start -= first ? u : 0;
        break;
    default:
        first = k->v.start >= v;
        k->u.start -= u;
        k->v.start -= first ? v : 0;
    }
    return first;
}

/* Moves a kernel from a subface to the quarter of a whole face that it lies in. */
static void leave_subface(kernel *k, unsigned edge)
{
    edge &= 3;
    if (edge == BOTTOM || edge == LEFT)
        k->v.start += 1 << k->v.log2;
    if (edge == TOP || edge == LEFT)
        k->u.start += 1 << k->u.log2;
    k->u.log2++;
    k->v.log2++;
}

static bool is_subface(const spread *s, uint32_t face)
{
    return s->ptex->faces[face].flags & TXM_PTEX_SUBFACE;
}

/* A piece on its way to a subface may reach beyond it, so it is cut again. */
static void arrive(spread *s, kernel *k, uint32_t face, bool to_sub, int cuts)
{
    if (to_sub)
        cut_and_apply(s, k, face, cuts + 1);
    else
        apply_kernel(s, k, face);
}

/* ---- over an edge ------------------------------------------------------------------------------------------------ */

static void cross_edge(spread *s, kernel *k, uint32_t face, unsigned edge, int cuts)
{
    const txm_ptex_face *f = &s->ptex->faces[face];
    uint32_t next = (uint32_t)f->neighbours[edge];
    unsigned at = txm_ptex_edge(f, edge), turns = edge - at + 2;
    const txm_ptex_face *n = &s->ptex->faces[next];
    bool from_sub = is_subface(s, face), to_sub = is_subface(s, next);
    if (to_sub && !from_sub && !enter_subface(k, edge)) {
        unsigned beside = (at + 3) & 3;
        if (n->neighbours[beside] < 0)
            return;
        next = (uint32_t)n->neighbours[beside];
        at = txm_ptex_edge(n, beside);
        turns += beside - at + 2;
    } else if (from_sub && !to_sub) {
        bool first = n->neighbours[at] == (int64_t)face;
        leave_subface(k, edge - first);
    }
    turn_kernel(k, turns);
    arrive(s, k, next, to_sub, cuts);
}

/* ---- round a corner ---------------------------------------------------------------------------------------------- */

void txm_ptex_walk(const txm_ptex *p, uint32_t face, unsigned edge, ptex_corner *out)
{
    uint32_t at = face;
    unsigned at_edge = edge;
    out->count = 0;
    for (out->met = 0; out->met < TXM_PTEX_MAX_VALENCE; out->met++) {
        const txm_ptex_face *f = &p->faces[at];
        const int32_t next = f->neighbours[at_edge];
        at_edge = (txm_ptex_edge(f, at_edge) + 1) & 3;
        if (next < 0 || ((uint32_t)next == face && at_edge == edge)) {
            out->count = out->met - 2;
            return;
        }
        at = (uint32_t)next;
        out->faces[out->met] = at;
        out->edges[out->met] = at_edge;
    }
}

static void arrive_at_corner(spread *s, kernel *k, uint32_t from, unsigned edge, uint32_t face, unsigned at, int cuts)
{
    bool from_sub = is_subface(s, from), to_sub = is_subface(s, face);
    if (to_sub && !from_sub)
        enter_subface(k, edge + 3);
    else if (from_sub && !to_sub)
        leave_subface(k, edge + 3);
    turn_kernel(k, edge - at + 2);
    arrive(s, k, face, to_sub, cuts);
}

/* Makes the weights of both axes equal, so the orientation of a face does not matter, and returns the new weight. It is
 * the old one, unless negative weights cancel out so that a large factor would be needed. */
static float make_symmetric(kernel *k, float old)
{
    while (k->u.log2 > k->v.log2)
        coarsen_axis(&k->u);
    while (k->v.log2 > k->u.log2)
        coarsen_axis(&k->v);
    int count = k->u.count < k->v.count ? k->u.count : k->v.count;
    float sum = 0, weight, scale;
    k->u.count = k->v.count = count;
    for (int i = 0; i < count; i++) {
        k->u.weights[i] = k->v.weights[i] = k->u.weights[i] + k->v.weights[i];
        sum += k->u.weights[i];
    }
    weight = sum * sum;
    scale = weight == 0 ? 1 : old / weight;
    if (scale >= 1)
        return weight;
    scale = scale < -1 ? -1 : scale;
    for (int i = 0; i < count; i++)
        k->u.weights[i] *= scale;
    return scale > -1 ? old : -weight;
}

static void share_corner(spread *s, kernel *k, uint32_t face, unsigned edge, const ptex_corner *c, int cuts)
{
    float old = kernel_weight(k);
    turn_kernel(k, edge + 2);
    float weight = make_symmetric(k, old);
    for (int i = 1; i <= c->count; i++) {
        kernel share = *k;
        arrive_at_corner(s, &share, face, TOP, c->faces[i], c->edges[i], cuts);
    }
    s->weight += weight * (float)c->count - old;
}

/* Whether the vertex is in the middle of a whole face's edge, where two subfaces meet. The whole face then takes the
 * piece. */
static bool is_tee(const spread *s, uint32_t previous, uint32_t face, unsigned edge)
{
    return is_subface(s, previous) && !is_subface(s, face) &&
           s->ptex->faces[face].neighbours[(edge + 3) & 3] == (int64_t)previous;
}

static void cross_corner(spread *s, kernel *k, uint32_t face, unsigned edge, int cuts)
{
    ptex_corner c;
    txm_ptex_walk(s->ptex, face, edge, &c);
    for (int i = 0; i < c.met; i++)
        if (is_tee(s, i ? c.faces[i - 1] : face, c.faces[i], c.edges[i])) {
            bool first = i == 1;
            leave_subface(k, edge + 2 * first);
            turn_kernel(k, edge - c.edges[i] + 3 - first);
            cut_and_apply(s, k, c.faces[i], cuts + 1);
            return;
        }
    if (c.count == 1)
        arrive_at_corner(s, k, face, edge, c.faces[1], c.edges[1], cuts);
    else if (c.count > 1)
        share_corner(s, k, face, edge, &c, cuts);
    else
        s->weight -= kernel_weight(k);
}

/* ---- one face ---------------------------------------------------------------------------------------------------- */

/* Whether an edge has a neighbour that takes its pieces. */
static bool goes_on(const spread *s, uint32_t face, unsigned edge)
{
    return !s->request->no_edge_blend && s->ptex->faces[face].neighbours[edge] >= 0;
}

/* Cuts off the piece beyond one side in v, and passes it across the edge or folds it back. If the kernel has already
 * crossed `side`, the piece belongs to a corner. */
static void cut_v(spread *s, kernel *k, uint32_t face, bool above, int side, int cuts)
{
    kernel piece = {.u = k->u};
    unsigned edge = above ? TOP : BOTTOM;
    if (!(above ? split_above(&k->v, &piece.v) : split_below(&k->v, &piece.v)))
        return;
    piece.turns = k->v.count ? 0 : k->turns;
    bool black = s->ptex->info.v_border == TXM_PTEX_BLACK;
    if (!goes_on(s, face, edge))
        fold_piece(&k->v, &piece.v, above, black);
    else if (side < 0)
        cross_edge(s, &piece, face, edge, cuts);
    else /* a corner is identified by the edge from which the walk around it begins */
        cross_corner(s, &piece, face, side == RIGHT ? (above ? TOP : RIGHT) : (above ? LEFT : BOTTOM), cuts);
}

static void cut_u(spread *s, kernel *k, uint32_t face, bool above, int cuts)
{
    kernel piece = {.v = k->v};
    unsigned edge = above ? RIGHT : LEFT;
    if (!(above ? split_above(&k->u, &piece.u) : split_below(&k->u, &piece.u)))
        return;
    piece.turns = k->u.count ? 0 : k->turns;
    bool black = s->ptex->info.u_border == TXM_PTEX_BLACK;
    if (!goes_on(s, face, edge)) {
        fold_piece(&k->u, &piece.u, above, black);
        return;
    }
    cut_v(s, &piece, face, true, (int)edge, cuts);
    cut_v(s, &piece, face, false, (int)edge, cuts);
    cross_edge(s, &piece, face, edge, cuts);
}

static void cut_and_apply(spread *s, kernel *k, uint32_t face, int cuts)
{
    if (s->status != TXM_OK || cuts > MAX_CUTS || k->u.count <= 0 || k->v.count <= 0 || ++s->pieces > MAX_PIECES)
        return;
    cut_u(s, k, face, true, cuts);
    cut_u(s, k, face, false, cuts);
    cut_v(s, k, face, true, -1, cuts);
    cut_v(s, k, face, false, -1, cuts);
    apply_kernel(s, k, face);
}

/* ---- a lookup --------------------------------------------------------------------------------------------------- */

/* Applies the border's mode to a coordinate; returns false if everything is black. NaN and infinity count as 0. */
static bool place_at_border(txm_ptex_border border, float *at)
{
    if (!isfinite(*at))
        *at = 0;
    if (border == TXM_PTEX_BLACK)
        return *at > -1 && *at < 2;
    if (border == TXM_PTEX_PERIODIC)
        *at -= floorf(*at);
    else
        *at = *at < 0 ? 0 : *at > 1 ? 1 : *at;
    return true;
}

/* The kernel of a subface is that of a whole face of which it is a quarter. */
static void make_kernel(const txm_ptex_request *r, const txm_ptex_face *f, float u, float v, float u_width,
                        float v_width, kernel *out)
{
    bool sub = f->flags & TXM_PTEX_SUBFACE;
    float scale = sub ? 0.5f : 1;
    txm_ptex_make_taps(r, u * scale, u_width * scale, f->u_log2 + sub, &out->u);
    txm_ptex_make_taps(r, v * scale, v_width * scale, f->v_log2 + sub, &out->v);
    out->turns = 0;
    if (!sub)
        return;
    if (!out->u.log2)
        refine_axis(&out->u);
    if (!out->v.log2)
        refine_axis(&out->v);
    out->u.log2--;
    out->v.log2--;
}

txm_status txm_ptex_convolve(txm_ptex_filter *filter, const txm_ptex_request *r, txm_error *err)
{
    const txm_ptex *p = txm_ptex_filter_file(filter);
    const txm_ptex_face *f = &p->faces[r->face];
    uint32_t has = p->info.channels - r->first_channel;
    spread s = {
        .filter = filter, .ptex = p, .request = r, .err = err, .channels = has < r->channels ? has : r->channels};
    float u = r->u, v = r->v, blur = f->flags & TXM_PTEX_SUBFACE ? r->blur * 2 : r->blur;
    float u_width = (fabsf(r->u_width1) + fabsf(r->u_width2)) * r->width + blur;
    float v_width = (fabsf(r->v_width1) + fabsf(r->v_width2)) * r->width + blur;
    if (!place_at_border(p->info.u_border, &u) || !place_at_border(p->info.v_border, &v))
        return TXM_OK;
    kernel k;
    make_kernel(r, f, u, v, u_width, v_width, &k);
    s.weight = kernel_weight(&k);
    cut_and_apply(&s, &k, r->face, 0);
    float scale = s.weight * txm_ptex_one(p->info.type) != 0 ? 1.0f / (s.weight * txm_ptex_one(p->info.type)) : 0;
    for (uint32_t c = 0; c < s.channels; c++)
        r->result[c] *= scale;
    return s.status;
}

txm_status txm_ptex_texel_beyond(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2, int x, int y,
                                 float *result, bool *none, txm_error *err)
{
    const txm_ptex *p = txm_ptex_filter_file(filter);
    const txm_ptex_request r = {.struct_size = sizeof r, .face = face, .channels = p->info.channels, .result = result};
    spread s = {.filter = filter, .ptex = p, .request = &r, .err = err, .channels = r.channels, .weight = 1};
    kernel k = {.u = {.log2 = (int)u_log2, .start = x, .count = 1, .weights = {1}},
                .v = {.log2 = (int)v_log2, .start = y, .count = 1, .weights = {1}}};
    memset(result, 0, r.channels * sizeof *result);
    cut_and_apply(&s, &k, face, 0);
    *none = !(s.weight > 0);
    for (uint32_t c = 0; !*none && c < r.channels; c++)
        result[c] *= 1.0f / (s.weight * txm_ptex_one(p->info.type));
    return s.status;
}
