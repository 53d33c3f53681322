/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache without files, for replays (tile/trace): the caller provides the shapes of textures and the pixels of tiles
 * of one colour, and tiles are used by name, without a sampler. Everything else is the real cache.
 */
#include "tile/cache/flow/rehearse.h"

#include "tile/cache/flow/flow.h"
#include "tile/sample/lookup.h"

void txm_rehearse(txm_cache *c, const txm_rehearsal *rehearsal)
{
    c->rehearsal = *rehearsal;
}

txm_status txm_rehearse_add(txm_cache *c, const char *path, txm_extension extension, txm_error *err)
{
    uint32_t id;
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_texture_add(&c->catalog, path, NULL, extension, &id, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* Replaces reading a header. Textures that shared tiles are one texture in a trace, so each gets its own digest, which
 * makes a source take as much memory as in the traced cache. */
void txm_rehearse_open(const txm_cache *c, uint32_t texture, txm_source *made)
{
    c->rehearsal.shape(c->rehearsal.user, texture, made->view, &made->converts);
    made->hashed = true;
    made->digest = texture;
}

/* Replaces reading a tile. Only one pixel is written, which is enough to share the tile. */
bool txm_rehearse_load(const txm_cache *c, const txm_job *job)
{
    const txm_source *s = job->source;
    const txm_tile_name tile = {s->first_texture, 0, job->level, job->tile};
    const uint8_t *pixel = c->rehearsal.pixel(c->rehearsal.user, tile);
    if (pixel)
        memcpy(job->pixels, pixel, s->view->pixel_bytes);
    return pixel;
}

txm_status txm_rehearse_look(txm_cache_thread *t, const txm_tile_name *tiles, uint32_t count, txm_error *err)
{
    for (;;) {
        txm_lookup_state lane = {.capacity = TXM_LOOKUP_TILES, .requests = t->requests};
        bool there = true;
        txm_enter(t);
        for (uint32_t i = 0; i < count; i++) {
            const txm_view_texture *v = &t->view.textures[tiles[i].texture];
            /* A texture that is not open yet shows one pixel. */
            const bool opened = t->cache->catalog.textures[tiles[i].texture].source;
            const uint32_t level = opened ? tiles[i].level : 0;
            const uint32_t tile = !opened || txm_view_is_packed(v) ? 0 : v->level_first[level] + tiles[i].tile;
            txm_lookup_result look = TXM_LOOKUP_HIT;
            txm_tile_pixels(&t->view, v, level, v->first + tile, &lane, &look);
            there &= look == TXM_LOOKUP_HIT;
        }
        txm_leave(t);
        if (there)
            break;
        if (!lane.count) /* a tile cannot be loaded, and nothing else will load it */
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for the page table of a replay");
        txm_fetch(t, lane.count);
    }
    txm_release_pins(t);
    return TXM_OK;
}

void txm_rehearse_launch(txm_cache *c)
{
    if (txm_policy_of(c)->by_launch)
        txm_next_epoch(c);
}
