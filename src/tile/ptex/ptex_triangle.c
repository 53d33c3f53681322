/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups in Ptex triangles across the borders of faces, with an elliptic Gaussian over the footprint.
 *
 * A position in a triangle has three coordinates u, v and w = 1 - u - v, each of which is 0 on one edge. The ellipse of
 * the footprint is Q = s[0] du^2 + s[1] dv^2 + s[2] dw^2 < 1. In this form, the neighbour across an edge has the same
 * ellipse with its three factors in another order, and the position with its coordinates reversed. The part of the
 * ellipse beyond an edge is cut off and passed to the neighbour. The size of the texels depends on the ellipse's short
 * half-axis, which is at least half a texel and a fifteenth of the long one. The kernel's constants are those of
 * Disney's library, which uses it for every filter on triangles.
 *
 * A size is a square of texels: those that point up lie below its diagonal, and those that point down lie above it. The
 * latter are stored mirrored, so the kernel is mirrored for them.
 */
#include <math.h>

#include "tile/ptex/ptex_impl.h"

enum {
    MAX_CROSSINGS = 8, /* limit for edges crossed in a row, whatever neighbours the file contains */
    MAX_WIDTH = 1000   /* limit of a footprint, where a face is 1 */
};
static const float kernel_radius = 3.5f; /* counted in standard deviations */
static const float most_eccentric = 15;

/* An ellipse in the frame of one face: its centre, the range of each coordinate that is still to be gathered, and its
 * factors. */
typedef struct ellipse {
    int log2;
    float at[3], low[3], high[3];
    float form[3];
} ellipse;

/* The state of a lookup. */
typedef struct gathering {
    txm_ptex_filter *filter;
    const txm_ptex *ptex;
    const txm_ptex_request *request;
    txm_error *err;
    txm_status status;
    uint32_t channels;
    float weight;
} gathering;

/* ---- one face ---------------------------------------------------------------------------------------------------- */

/* The ellipse in texels of one orientation. */
typedef struct texel_ellipse {
    float u, v, a, b, c; /* Q = a du^2 + b du dv + c dv^2 */
    int low[3], high[3];
    float texel; /* weight of a texel, which is its area */
} texel_ellipse;

/* The first texel whose centre is not below the position. */
static int texel_from(float place, float size)
{
    return (int)ceilf(place * size - (float)(1 / 3.0));
}

static bool to_texels(const ellipse *e, bool upright, texel_ellipse *out)
{
    float size = (float)(1 << e->log2), a = e->form[0] + e->form[2], b = 2 * e->form[2], c = e->form[1] + e->form[2];
    float scale = 1 / (size * size * (a * c - 0.25f * b * b));
    *out = (texel_ellipse){.b = b * scale, .texel = 1 / (size * size)};
    out->a = (upright ? a : c) * scale;
    out->c = (upright ? c : a) * scale;
    out->u = (upright ? e->at[0] : 1 - e->at[1]) * size - (float)(1 / 3.0);
    out->v = (upright ? e->at[1] : 1 - e->at[0]) * size - (float)(1 / 3.0);
    for (int i = 0; i < 3; i++) {
        int from = upright || i == 2 ? i : 1 - i;
        float one = i == 2 ? 0 : 1;
        out->low[i] = texel_from(upright ? e->low[i] : one - e->high[from], size);
        out->high[i] = texel_from(upright ? e->high[i] : one - e->low[from], size);
        if (out->high[i] <= out->low[i])
            return false;
    }
    return true;
}

static void add_texel(const gathering *g, const uint8_t *texel, float weight)
{
    const txm_ptex_info *info = &g->ptex->info;
    size_t bytes = txm_type_bytes(info->type);
    for (uint32_t c = 0; c < g->channels; c++)
        g->request->result[c] += weight * txm_ptex_number(info->type, texel + (g->request->first_channel + c) * bytes);
}

/* Q is computed incrementally along a row (Heckbert 1989). As in Disney's library, the rounding of this method decides
 * which texels at the ellipse's edge are included. */
static void gather_texels(gathering *g, const texel_ellipse *e, int size, const ptex_texels *texels)
{
    const float exponent = -0.5f * (kernel_radius * kernel_radius);
    float sum = 0;
    for (int y = e->low[1]; y < e->high[1]; y++) {
        int diagonal = size - y;
        int first = e->low[0] > diagonal - e->high[2] ? e->low[0] : diagonal - e->high[2];
        int end = e->high[0] < diagonal - e->low[2] ? e->high[0] : diagonal - e->low[2];
        float du = (float)first - e->u, dv = (float)y - e->v;
        float step = e->a * (2 * du + 1) + e->b * dv, q = e->a * du * du + (e->b * du + e->c * dv) * dv;
        for (int x = first; x < end; x++, q += step, step += 2 * e->a) {
            if (!(q < 1) || x < 0 || x >= size || y < 0 || y >= size)
                continue;
            float weight = (float)exp((double)(exponent * q)) * e->texel;
            sum += weight;
            if (!texels->constant)
                add_texel(g, texels->data + ((size_t)y * (size_t)size + (size_t)x) * g->ptex->info.pixel_bytes, weight);
        }
    }
    if (texels->constant)
        add_texel(g, texels->data, sum);
    g->weight += sum;
}

static void gather_face(gathering *g, ellipse *e, uint32_t face)
{
    int log2 = g->ptex->faces[face].u_log2;
    texel_ellipse upright, other;
    ptex_texels texels;
    e->log2 = e->log2 < log2 ? e->log2 : log2;
    for (int i = 0; i < 3; i++)
        e->low[i] = e->low[i] > 0 ? e->low[i] : 0;
    for (int i = 0; i < 3; i++) {
        float most = 1 - (e->low[(i + 1) % 3] + e->low[(i + 2) % 3]);
        e->high[i] = e->high[i] < most ? e->high[i] : most;
    }
    bool has_upright = to_texels(e, true, &upright), has_other = to_texels(e, false, &other);
    if (!has_upright && !has_other)
        return;
    g->status = txm_ptex_texels(g->filter, face, (uint32_t)e->log2, (uint32_t)e->log2, &texels, g->err);
    if (g->status == TXM_OK && has_upright)
        gather_texels(g, &upright, 1 << e->log2, &texels);
    if (g->status == TXM_OK && has_other)
        gather_texels(g, &other, 1 << e->log2, &texels);
}

/* ---- over an edge ------------------------------------------------------------------------------------------------ */

/* Which of the coordinates u, v and w is 0 on the edge. */
static unsigned zero_on(unsigned edge)
{
    return (edge + 1) % 3;
}

/* In the neighbour's frame, the coordinate that is 0 on the edge has the opposite sign, and the other two are counted
 * from the other end. */
static void enter_neighbour(ellipse *e, unsigned edge, unsigned at)
{
    const ellipse old = *e;
    for (unsigned k = 0; k < 3; k++) {
        unsigned from = (zero_on(edge) + k) % 3, to = (zero_on(at) + k) % 3;
        float one = k ? 1 : 0;
        e->at[to] = one - old.at[from];
        e->low[to] = one - old.high[from];
        e->high[to] = one - old.low[from];
        e->form[to] = old.form[from];
    }
}

static void cut_and_gather(gathering *g, ellipse *e, uint32_t face, int crossings)
{
    static const unsigned edges[3] = {2, 0, 1}; /* the edges on which u, v and w are 0 */
    const txm_ptex_face *f = &g->ptex->faces[face];
    for (int i = 0; i < 3 && g->status == TXM_OK; i++) {
        unsigned at = txm_ptex_edge(f, edges[i]);
        if (!(e->low[i] < 0) || f->neighbours[edges[i]] < 0 || at > 2 || crossings == MAX_CROSSINGS)
            continue;
        ellipse piece = *e;
        e->low[i] = 0;
        piece.high[i] = 0;
        enter_neighbour(&piece, edges[i], at);
        cut_and_gather(g, &piece, (uint32_t)f->neighbours[edges[i]], crossings + 1);
    }
    if (g->status == TXM_OK)
        gather_face(g, e, face);
}

/* ---- a lookup --------------------------------------------------------------------------------------------------- */

static float between(float value, float low, float high)
{
    return !(value > low) ? low : value > high ? high : value; /* NaN becomes `low` */
}

static float squared(float x)
{
    return x * x;
}

/* Computes the ellipse of the footprint, and makes it rounder and larger if necessary. This is done in a plane in which
 * the triangle is equilateral, because lengths are distorted in all others. */
static void make_ellipse(const txm_ptex_request *r, int log2, ellipse *out)
{
    const float sqrt3 = 1.7320508075688772f, excess = (squared(most_eccentric) + 1) / (squared(most_eccentric) - 1);
    float u1 = between(r->u_width1, -MAX_WIDTH, MAX_WIDTH), v1 = between(r->v_width1, -MAX_WIDTH, MAX_WIDTH);
    float u2 = between(r->u_width2, -MAX_WIDTH, MAX_WIDTH), v2 = between(r->v_width2, -MAX_WIDTH, MAX_WIDTH);
    float width = between(r->width, 0, MAX_WIDTH), blur = between(r->blur, 0, MAX_WIDTH), scale = 0.25f * width * width;
    float a = (v1 * v1 + v2 * v2) * scale, b = (u1 * v1 + u2 * v2) * (-2 * scale), c = (u1 * u1 + u2 * u2) * scale;
    float x = 0.75f * a, xy = sqrt3 / 2 * (b - a), y = 0.25f * a - 0.5f * b + c;
    float spread = sqrtf(squared(x - y) + squared(xy));
    float round = 0.5f * (excess * spread - (x + y)), texel = squared(0.5f / (float)(1 << log2));
    float more = fmaxf(0.25f * blur * blur, fmaxf(round, texel));
    x += more;
    y += more;
    float short_axis = sqrtf(2 * (x * y - 0.25f * xy * xy) / (x + y + spread));
    a = (float)(4 / 3.0) * x;
    b = 2 / sqrt3 * xy + a;
    c = -0.25f * a + 0.5f * b + y;
    scale = kernel_radius * kernel_radius;
    a *= scale;
    b *= scale;
    c *= scale;
    float u = between(r->u, 0, 1), v = between(r->v, 0, 1);
    int wanted = -ilogbf(between(2 * short_axis, 0x1p-20f, 1));
    *out = (ellipse){.log2 = wanted, .at = {u, v, 1 - u - v}, .form = {a - b / 2, c - b / 2, b / 2}};
    const float reach[3] = {sqrtf(c), sqrtf(a), sqrtf(a - b + c)};
    for (int i = 0; i < 3; i++) {
        float n = between(reach[i], 0, 1);
        out->low[i] = out->at[i] - n;
        out->high[i] = out->at[i] + n;
    }
}

txm_status txm_ptex_gaussian(txm_ptex_filter *filter, const txm_ptex_request *r, bool *empty, txm_error *err)
{
    const txm_ptex *p = txm_ptex_filter_file(filter);
    const txm_ptex_face *f = &p->faces[r->face];
    uint32_t has = p->info.channels - r->first_channel;
    gathering g = {
        .filter = filter, .ptex = p, .request = r, .err = err, .channels = has < r->channels ? has : r->channels};
    ellipse e;
    make_ellipse(r, f->u_log2, &e);
    cut_and_gather(&g, &e, r->face, 0);
    *empty = !(g.weight > 0);
    float scale = *empty ? 0 : 1.0f / (g.weight * txm_ptex_one(p->info.type));
    for (uint32_t c = 0; c < g.channels; c++)
        r->result[c] *= scale;
    return g.status;
}
