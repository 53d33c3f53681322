/* SPDX-License-Identifier: Apache-2.0
 * Lookups on devices: collects them, runs them, and finds their results. */
#include "render/lookup_queue.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

stm_lookup_queue *stm_lookup_queue_new(const stm_render_devices *devices, const stm_bound_image *images,
                                       size_t image_count, size_t samplers, uint32_t paths, bool with_slopes)
{
    stm_lookup_queue *a = stm_calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (stm_lookup_queue){
        .devices = devices, .images = images, .sampler_count = (uint32_t)samplers, .with_slopes = with_slopes};
    a->first = stm_calloc(paths, sizeof *a->first);
    a->samplers = stm_calloc(samplers + 1, sizeof *a->samplers);
    if (!a->first || !a->samplers) {
        stm_lookup_queue_free(&a);
        return NULL;
    }
    for (size_t i = 0; i < image_count; i++)
        a->samplers[i] = images[i].how;
    return a;
}

static void free_arrays(stm_lookup_queue *a)
{
    void *const all[] = {a->how, a->texture, a->random, a->at, a->out, a->du, a->dv, a->outcome};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    a->how = a->texture = a->random = NULL;
    a->at = NULL;
    a->out = a->du = a->dv = NULL;
    a->outcome = NULL;
    a->room = 0;
}

void stm_lookup_queue_free(stm_lookup_queue **queue)
{
    stm_lookup_queue *a = queue ? *queue : NULL;
    if (!a)
        return;
    free_arrays(a);
    free(a->known.items);
    free(a->first);
    free(a->samplers);
    free(a);
    *queue = NULL;
}

/* Called before a wave takes its next step. */
void stm_lookup_queue_forget(stm_lookup_queue *a, uint32_t paths)
{
    a->known.count = 0;
    memset(a->first, 0, paths * sizeof *a->first);
}

/* A path has few lookups, so this is a linear search. Bits are compared, because NaN is a valid coordinate. */
const stm_queued_lookup *stm_lookup_queue_find(const stm_lookup_queue *a, const stm_queued_lookup *what)
{
    for (uint32_t i = a->first[what->path]; i; i = a->known.items[i - 1].next) {
        const stm_queued_lookup *queued = &a->known.items[i - 1];
        if (queued->how == what->how && queued->texture == what->texture && queued->random == what->random &&
            !memcmp(&queued->at, &what->at, sizeof what->at))
            return queued;
    }
    return NULL;
}

void stm_lookup_queue_add(stm_lookup_list *noted, const stm_queued_lookup *what)
{
    if (noted->count == noted->capacity && !STM_GROW(noted->items, noted->capacity, noted->count)) {
        noted->no_memory = true;
        return;
    }
    noted->items[noted->count++] = *what;
}

static bool make_arrays(stm_lookup_queue *a, size_t count)
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
    a->outcome = stm_calloc(count, 1);
    const bool made =
        a->how && a->texture && a->random && a->at && a->out && a->outcome && (!a->with_slopes || (a->du && a->dv));
    a->room = made ? count : 0;
    return made;
}

/* Appends all lists to the known lookups. */
static bool gather(stm_lookup_queue *a, stm_lookup_list *const *noted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (noted[i]->no_memory)
            return false;
        for (size_t k = 0; k < noted[i]->count; k++) {
            stm_queued_lookup *queued;
            if (a->known.count == a->known.capacity && !STM_GROW(a->known.items, a->known.capacity, a->known.count))
                return false;
            queued = &a->known.items[a->known.count++];
            *queued = noted[i]->items[k];
            queued->next = a->first[queued->path];
            a->first[queued->path] = (uint32_t)a->known.count;
        }
        noted[i]->count = 0;
    }
    return true;
}

/* Derivatives are computed for all lookups or for none, since few scenes have textures that move others. */
txm_status stm_lookup_queue_run(stm_lookup_queue *a, stm_lookup_list *const *noted, size_t lists, txm_error *err)
{
    const size_t begin = a->known.count;
    if (!gather(a, noted, lists) || !make_arrays(a, a->known.count - begin))
        return stm_no_memory(err, NULL);
    stm_queued_lookup *queue = a->known.items + begin;
    const size_t count = a->known.count - begin;
    for (size_t i = 0; i < count; i++) {
        a->how[i] = queue[i].how;
        a->texture[i] = queue[i].texture;
        a->random[i] = queue[i].random;
        a->at[i] = queue[i].at;
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
                                    .result = a->outcome};
    txm_device *const *devices = a->devices->items;
    txm_status status = TXM_OK;
    if (count && a->view)
        status = txm_device_sample_view(devices, a->devices->count, a->view, &a->extent, &batch, err);
    else if (count)
        status = txm_device_sample(devices, a->devices->count, &batch, err);
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        memcpy(queue[i].rgba, a->out[i], sizeof queue[i].rgba);
        if (a->with_slopes) {
            memcpy(queue[i].du, a->du[i], sizeof queue[i].du);
            memcpy(queue[i].dv, a->dv[i], sizeof queue[i].dv);
        }
        queue[i].after = a->random[i];
    }
    return status;
}

/* ---- looking up ---- */

/* Without a result, any colour will do, and the random state is a guess, which is correct unless CLIP rejects the
 * lookup; later lookups of the step are then run in vain. */
static txm_lookup_result lookup_for_answer(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                           stm_found_color *out)
{
    const stm_queued_lookup what = {.how = (uint32_t)(image - source->queue->images),
                                    .texture = image->texture,
                                    .at = at,
                                    .random = source->state.random,
                                    .path = source->path};
    const stm_queued_lookup *queued = stm_lookup_queue_find(source->queue, &what);
    if (!queued) {
        stm_lookup_queue_add(source->noted, &what);
        txm_level_of(image->width, image->height, &image->how, &at, &source->state.random);
        memset(out->rgba, 0, sizeof out->rgba);
        return TXM_LOOKUP_MISS;
    }
    memcpy(out->rgba, queued->rgba, sizeof out->rgba);
    memcpy(out->du, queued->du, sizeof out->du);
    memcpy(out->dv, queued->dv, sizeof out->dv);
    source->state.random = queued->after;
    return TXM_LOOKUP_HIT;
}

static txm_lookup_result lookup_for_answer_and_trace(stm_lookup_source *source, const stm_bound_image *image,
                                                     txm_lookup at, stm_found_color *out)
{
    txm_cache_trace_lookup(source->cache, source->number, image->texture, &image->how, &at, source->state.random);
    return lookup_for_answer(source, image, at, out);
}

stm_lookup_source stm_lookup_source_of_devices(const stm_lookup_queue *queue, stm_lookup_list *noted, txm_cache *cache,
                                               bool traced, uint32_t number)
{
    return (stm_lookup_source){.lookup = lookup_for_answer,
                               .note = traced ? lookup_for_answer_and_trace : NULL,
                               .queue = queue,
                               .noted = noted,
                               .cache = cache,
                               .number = number};
}
