/* SPDX-License-Identifier: Apache-2.0
 * Lookups on devices: collects them, runs them, and finds their results. */
#include "render/asks.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

txm_asks *txm_asks_new(const txm_render_devices *devices, const txm_bound_image *images, size_t image_count,
                       size_t samplers, uint32_t paths, bool with_slopes)
{
    txm_asks *a = stm_calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (txm_asks){
        .devices = devices, .images = images, .sampler_count = (uint32_t)samplers, .with_slopes = with_slopes};
    a->first = stm_calloc(paths, sizeof *a->first);
    a->samplers = stm_calloc(samplers + 1, sizeof *a->samplers);
    if (!a->first || !a->samplers) {
        txm_asks_free(&a);
        return NULL;
    }
    for (size_t i = 0; i < image_count; i++)
        a->samplers[i] = images[i].how;
    return a;
}

static void free_arrays(txm_asks *a)
{
    void *const all[] = {a->how, a->texture, a->random, a->at, a->out, a->du, a->dv, a->look};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    a->how = a->texture = a->random = NULL;
    a->at = NULL;
    a->out = a->du = a->dv = NULL;
    a->look = NULL;
    a->room = 0;
}

void txm_asks_free(txm_asks **asks)
{
    txm_asks *a = asks ? *asks : NULL;
    if (!a)
        return;
    free_arrays(a);
    free(a->known.items);
    free(a->first);
    free(a->samplers);
    free(a);
    *asks = NULL;
}

/* Called before a wave takes its next step. */
void txm_asks_forget(txm_asks *a, uint32_t paths)
{
    a->known.count = 0;
    memset(a->first, 0, paths * sizeof *a->first);
}

/* A path has few lookups, so this is a linear search. Bits are compared, because NaN is a valid coordinate. */
const txm_ask *txm_asks_find(const txm_asks *a, const txm_ask *what)
{
    for (uint32_t i = a->first[what->path]; i; i = a->known.items[i - 1].next) {
        const txm_ask *ask = &a->known.items[i - 1];
        if (ask->how == what->how && ask->texture == what->texture && ask->random == what->random &&
            !memcmp(&ask->at, &what->at, sizeof what->at))
            return ask;
    }
    return NULL;
}

void txm_asks_note(txm_ask_list *noted, const txm_ask *what)
{
    if (noted->count == noted->capacity && !STM_GROW(noted->items, noted->capacity, noted->count)) {
        noted->no_memory = true;
        return;
    }
    noted->items[noted->count++] = *what;
}

/* Makes room for `count` lookups in all arrays. */
static bool make_arrays(txm_asks *a, size_t count)
{
    if (count <= a->room)
        return true;
    free_arrays(a);
    a->how = stm_calloc(count, sizeof *a->how);
    a->texture = stm_calloc(count, sizeof *a->texture);
    a->random = stm_calloc(count, sizeof *a->random);
    a->at = stm_calloc(count, sizeof *a->at);
    a->out = stm_calloc(count, sizeof *a->out);
    a->du = a->with_slopes ? stm_calloc(count, sizeof *a->du) : NULL;
    a->dv = a->with_slopes ? stm_calloc(count, sizeof *a->dv) : NULL;
    a->look = stm_calloc(count, 1);
    const bool made =
        a->how && a->texture && a->random && a->at && a->out && a->look && (!a->with_slopes || (a->du && a->dv));
    a->room = made ? count : 0;
    return made;
}

/* Appends all lists to the known lookups. */
static bool gather(txm_asks *a, txm_ask_list *const *noted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (noted[i]->no_memory)
            return false;
        for (size_t k = 0; k < noted[i]->count; k++) {
            txm_ask *ask;
            if (a->known.count == a->known.capacity && !STM_GROW(a->known.items, a->known.capacity, a->known.count))
                return false;
            ask = &a->known.items[a->known.count++];
            *ask = noted[i]->items[k];
            ask->next = a->first[ask->path];
            a->first[ask->path] = (uint32_t)a->known.count;
        }
        noted[i]->count = 0;
    }
    return true;
}

/* Derivatives are computed for all lookups or for none, since few scenes have textures that move others. */
txm_status txm_asks_answer(txm_asks *a, txm_ask_list *const *noted, size_t lists, txm_error *err)
{
    const size_t begin = a->known.count;
    if (!gather(a, noted, lists) || !make_arrays(a, a->known.count - begin))
        return stm_no_memory(err, NULL);
    txm_ask *asks = a->known.items + begin;
    const size_t count = a->known.count - begin;
    for (size_t i = 0; i < count; i++) {
        a->how[i] = asks[i].how;
        a->texture[i] = asks[i].texture;
        a->random[i] = asks[i].random;
        a->at[i] = asks[i].at;
    }
    const txm_device_batch batch = {.count = count,
                                    .samplers = a->samplers,
                                    .sampler_count = a->sampler_count,
                                    .how = a->how,
                                    .texture = a->texture,
                                    .at = a->at,
                                    .random = a->random,
                                    .out = a->out,
                                    .du = a->du,
                                    .dv = a->dv,
                                    .look = a->look};
    txm_device *const *devices = a->devices->items;
    txm_status status = TXM_OK;
    if (count && a->view)
        status = txm_device_sample_view(devices, a->devices->count, a->view, &a->extent, &batch, err);
    else if (count)
        status = txm_device_sample(devices, a->devices->count, &batch, err);
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        memcpy(asks[i].rgba, a->out[i], sizeof asks[i].rgba);
        if (a->with_slopes) {
            memcpy(asks[i].du, a->du[i], sizeof asks[i].du);
            memcpy(asks[i].dv, a->dv[i], sizeof asks[i].dv);
        }
        asks[i].after = a->random[i];
    }
    return status;
}

/* ---- looking up ---- */

/* Without a result, any colour will do, and the random state is a guess, which is correct unless CLIP rejects the
 * lookup; later lookups of the step are then run in vain. */
static txm_look look_for_answer(txm_looker *looker, const txm_bound_image *image, txm_lookup at, txm_found_color *out)
{
    const txm_ask what = {.how = (uint32_t)(image - looker->asks->images),
                          .texture = image->texture,
                          .at = at,
                          .random = looker->lane.random,
                          .path = looker->path};
    const txm_ask *ask = txm_asks_find(looker->asks, &what);
    if (!ask) {
        txm_asks_note(looker->noted, &what);
        txm_level_of(image->width, image->height, &image->how, &at, &looker->lane.random);
        memset(out->rgba, 0, sizeof out->rgba);
        return TXM_LOOK_MISSED;
    }
    memcpy(out->rgba, ask->rgba, sizeof out->rgba);
    memcpy(out->du, ask->du, sizeof out->du);
    memcpy(out->dv, ask->dv, sizeof out->dv);
    looker->lane.random = ask->after;
    return TXM_LOOK_RESIDENT;
}

static txm_look look_for_answer_and_trace(txm_looker *looker, const txm_bound_image *image, txm_lookup at,
                                          txm_found_color *out)
{
    txm_cache_trace_look(looker->cache, looker->number, image->texture, &image->how, &at, looker->lane.random);
    return look_for_answer(looker, image, at, out);
}

txm_looker txm_looker_of_devices(const txm_asks *asks, txm_ask_list *noted, txm_cache *cache, bool traced,
                                 uint32_t number)
{
    return (txm_looker){.look = look_for_answer,
                        .note = traced ? look_for_answer_and_trace : NULL,
                        .asks = asks,
                        .noted = noted,
                        .cache = cache,
                        .number = number};
}
