/* SPDX-License-Identifier: Apache-2.0
 *
 * A patch of a texture as a picture: each pixel is a lookup. Rows of lookups are made in batches, which give the same
 * bits as single lookups.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/sample/sample.h"
#include "txmill/picture.h"

/* A row of lookups: nine arrays of the same length in one allocation. */
typedef struct row {
    float *in[6], *out[4];
    uint32_t *random, *again;
} row;

static bool row_new(row *r, size_t n)
{
    float *all = txm_calloc(n, 12 * sizeof(float));
    for (int i = 0; i < 6; i++)
        r->in[i] = all ? all + (size_t)i * n : NULL;
    for (int i = 0; all && i < 4; i++)
        r->out[i] = all + (size_t)(6 + i) * n;
    r->random = all ? (uint32_t *)(void *)(all + 10 * n) : NULL;
    r->again = all ? r->random + n : NULL;
    return all;
}

/* Looks up a row and loads missing tiles, as a wavefront renderer does: all lookups are repeated with the same
 * random states until none misses. */
static txm_status sample_row(txm_texture_set *set, uint32_t id, const txm_sampler *how, row *r, size_t n,
                             txm_error *err)
{
    uint32_t requests[TXM_SAMPLE_REQUESTS];
    txm_lookup_state lookup_state = {.capacity = TXM_SAMPLE_REQUESTS, .requests = requests};
    const txm_lookups batch = {.count = n,
                               .u = r->in[0],
                               .v = r->in[1],
                               .dudx = r->in[2],
                               .dvdx = r->in[3],
                               .dudy = r->in[4],
                               .dvdy = r->in[5],
                               .random = r->again,
                               .out = {r->out[0], r->out[1], r->out[2], r->out[3]}};
    for (;;) {
        memcpy(r->again, r->random, n * sizeof *r->again);
        if (txm_sample_n(txm_texture_set_view(set), id, how, &batch, &lookup_state) != TXM_LOOKUP_MISS)
            return TXM_OK;
        txm_status status = txm_texture_set_load(set, &lookup_state, err);
        if (status != TXM_OK)
            return status;
    }
}

/* Without derivatives the patch is the whole image, or all tiles of a UDIM set. */
static txm_status render_rows(const txm_sampled_texture *t, const txm_sample_args *args, float *pixels, row *r,
                              txm_error *err)
{
    const txm_sampler how = txm_sample_args_sampler(args);
    const size_t w = args->grid.w, h = args->grid.h;
    const bool whole = isnan(args->dudx) && isnan(args->dvdx) && isnan(args->dudy) && isnan(args->dvdy);
    const float d[4] = {whole ? (t->rows ? (float)t->columns : 1.0f) / (float)w : txm_given_or(args->dudx, 0.0f),
                        txm_given_or(args->dvdx, 0.0f), txm_given_or(args->dudy, 0.0f),
                        whole ? (t->rows ? (float)t->rows : 1.0f) / (float)h : txm_given_or(args->dvdy, 0.0f)};
    const float u = txm_given_or(args->u, 0.0f), v = txm_given_or(args->v, 0.0f);
    uint64_t random = 0x9E3779B97F4A7C15u * (uint64_t)args->seed;
    for (size_t y = 0; y < h; y++) {
        float up = (float)(h - 1 - y) + 0.5f;
        for (size_t x = 0; x < w; x++) {
            float right = (float)x + 0.5f;
            r->in[0][x] = u + right * d[0] + up * d[2];
            r->in[1][x] = v + right * d[1] + up * d[3];
            for (int i = 0; i < 4; i++)
                r->in[2 + i][x] = d[i];
            random = random * 6364136223846793005u + 1442695040888963407u;
            r->random[x] = args->seed ? (uint32_t)(random >> 32) : 0;
        }
        txm_status status = sample_row(t->set, t->id, &how, r, w, err);
        if (status != TXM_OK)
            return status;
        for (size_t x = 0; x < w; x++)
            for (int c = 0; c < 4; c++)
                pixels[4 * (y * w + x) + (size_t)c] = r->out[c][x];
    }
    return TXM_OK;
}

txm_status txm_patch_render(const txm_sampled_texture *t, const txm_sample_args *args, txm_error *err)
{
    row r;
    float *pixels = txm_alloc_pixels((size_t)args->grid.w * args->grid.h, 4 * sizeof *pixels);
    txm_status status = TXM_OK;
    if (!row_new(&r, args->grid.w) || !pixels)
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for %ux%u px", args->grid.w, args->grid.h);
    if (status == TXM_OK)
        status = render_rows(t, args, pixels, &r, err);
    if (status == TXM_OK) {
        const txm_picture picture = {
            pixels, (size_t)args->grid.w * 4 * sizeof *pixels, args->grid.w, args->grid.h, 4, TXM_TYPE_FLOAT, NULL};
        status = txm_picture_write(args->output, &picture, err);
    }
    free(r.in[0]);
    free(pixels);
    return status;
}
