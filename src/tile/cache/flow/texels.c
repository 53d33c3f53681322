/* SPDX-License-Identifier: Apache-2.0
 *
 * What renderers that come from OpenImageIO ask of a texture system besides lookups: channels of their choice, texels
 * and metadata, all of it within the budget of tiles and of open files.
 */
#include "tile/cache/flow/flow.h"

/* How many channels the file of a texture has, between txm_enter and txm_leave. One that cannot be opened has none. */
static uint32_t stored_channels(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at)
{
    txm_lookup place = *at;
    txm_enter(t);
    const uint32_t shown = txm_shown_texture(t->cache, texture, how, &place);
    const txm_source *s = shown < t->view.texture_count
                              ? __atomic_load_n(&t->cache->catalog.textures[shown].source, __ATOMIC_RELAXED)
                              : NULL;
    const uint32_t stored = s ? s->stored : 0;
    txm_leave(t);
    return stored;
}

/* Copies the channels that are wanted. Files of two channels are grey and alpha, which lookups see as four. */
static void pick(const txm_cache_channels *want, uint32_t stored, const float color[4], float *out)
{
    for (uint32_t i = 0; i < want->count; i++) {
        const uint32_t from = want->first + i;
        out[i] = from >= stored ? want->fill : color[stored == 2 && from == 1 ? 3 : from];
    }
}

txm_lookup_result txm_cache_sample_channels(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                            const txm_lookup *at, uint32_t *random, const txm_cache_channels *want,
                                            float *out)
{
    float color[4];
    const txm_lookup_result result = txm_cache_sample(t, texture, how, at, random, color);
    if (result == TXM_LOOKUP_FAILURE) {
        for (uint32_t i = 0; i < want->count; i++)
            out[i] = want->missing ? want->missing[i] : i + want->first < 4 ? color[i + want->first] : want->fill;
        return want->missing ? TXM_LOOKUP_HIT : result;
    }
    pick(want, stored_channels(t, texture, how, at), color, out);
    return result;
}

/* Each texel is a lookup of the closest pixel of its level, so tiles are loaded and kept as for any other. Its centre
 * is exact enough for the largest level: the error of a float is below half a pixel. */
txm_status txm_cache_texels(txm_cache *c, uint32_t texture, const txm_cache_area *area, const txm_cache_channels *want,
                            float *out, size_t row_floats, txm_error *err)
{
    txm_view_texture v;
    txm_cache_thread *t;
    txm_sampler how;
    txm_error_clear(err);
    txm_status status = txm_cache_open(c, texture, &v, err);
    if (status == TXM_OK && v.udim_rows)
        status = txm_fail(err, TXM_STATUS_USAGE, "texture %u is a UDIM set: read the texels of its tiles", texture);
    if (status == TXM_OK && area->level >= v.levels)
        status = txm_fail(err, TXM_STATUS_USAGE, "texture %u has %u levels: there is no level %u", texture, v.levels,
                          area->level);
    if (status == TXM_OK)
        status = txm_cache_thread_current(c, &t, err);
    if (status != TXM_OK)
        return status;
    txm_sampler_init(&how);
    how.filter = TXM_FILTER_CLOSEST;
    how.rule = TXM_LEVEL_RULE_GIVEN;
    how.mode = TXM_LEVEL_MODE_FLOOR;
    how.mip_bias = -c->world.bias; /* the level is the caller's, whatever the resolution is */
    const float w = (float)txm_level_size(v.width, area->level), h = (float)txm_level_size(v.height, area->level);
    uint32_t failed = 0;
    for (uint32_t y = 0; y < area->height; y++)
        for (uint32_t x = 0; x < area->width; x++) {
            const float px = (float)((int64_t)area->x + x) + 0.5f, py = (float)((int64_t)area->y + y) + 0.5f;
            float *texel = out + y * row_floats + (size_t)x * want->count;
            const txm_lookup at = {px / w, 1.0f - py / h, (float)area->level, 0, 0, 0};
            if (px < 0 || py < 0 || px > w || py > h)
                for (uint32_t i = 0; i < want->count; i++)
                    texel[i] = want->fill;
            else
                failed += txm_cache_sample_channels(t, texture, &how, &at, NULL, want, texel) == TXM_LOOKUP_FAILURE;
        }
    if (failed)
        return txm_fail(err, TXM_STATUS_CORRUPT,
                        "texture %u: %u of its texels cannot be read; txm_cache_texture_stats_of says why", texture,
                        failed);
    return TXM_OK;
}

txm_status txm_cache_with_file(txm_cache *c, uint32_t texture, void (*with)(void *user, const txm_tx *tx), void *user,
                               txm_error *err)
{
    txm_tx *tx;
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_texture_check(&c->catalog, texture, err);
    while (status == TXM_OK && c->catalog.textures[texture].opening)
        pthread_cond_wait(&c->changed, &c->lock);
    txm_cache_file *f = status == TXM_OK ? c->catalog.textures[texture].file : NULL;
    if (f && txm_file_is_called(f))
        status = txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: its tiles come from a source, which has no metadata",
                          txm_file_path(f));
    if (status == TXM_OK)
        txm_file_keep(f); /* the texture may be replaced meanwhile */
    pthread_mutex_unlock(&c->lock);
    if (status != TXM_OK)
        return status;
    status = txm_file_acquire(c, f, &tx, err);
    if (status == TXM_OK) {
        with(user, tx);
        txm_file_give(c, f);
    }
    pthread_mutex_lock(&c->lock);
    txm_file_drop(&c->catalog, &f);
    pthread_mutex_unlock(&c->lock);
    return status;
}
