/* SPDX-License-Identifier: Apache-2.0
 *
 * A lookup of a frame, texel by texel.
 *
 * The footprint gives two levels and a blend. In each level one texel is drawn around the place, with the probabilities
 * of the linear filter, so the mean over samples equals filtering, and no second texel, which might be in another tile,
 * is needed. A missing texel is replaced by the same place in the next coarser level that is available, or else by the
 * texture's 1x1 colour. Colours are blended after decoding, as a mean over samples would blend them.
 */
#include "render/frame_lookup.h"

#include <math.h>
#include <string.h>

#include "render/use.h"
#include "txtile/sampler.h"

/* The texture of a lookup; for a UDIM set, one of its tiles. */
typedef struct place {
    const txm_view *view;
    const txm_view_texture *t;
    const stm_bound_image *image;
    uint32_t texture, low; /* low: the finer of the two levels */
    float blend;           /* weight of the coarser one */
    float u, v;            /* place in the texture, 0 to 1: the extension has been applied */
} place;

/* ---- where ---- */

/* -1: CLIP rejects the coordinate. */
static float wrap_or_reject(float x, txm_extension extension)
{
    if (!isfinite(x))
        x = 0.0f;
    return txm_extension_wrap(extension, &x) ? x : -1.0f;
}

/* The tile of a UDIM set, found without a lock because UDIM sets of scenes have no base texture. NULL: the set has no
 * tile there. */
static const txm_view_texture *part_of(const txm_view *view, uint32_t *texture, txm_lookup *at)
{
    if (*texture >= view->texture_count)
        return NULL;
    const txm_view_texture *t = &view->textures[*texture];
    if (!t->udim_rows)
        return t;
    const uint32_t number = txm_udim_of(&at->u, &at->v);
    if (!number || number - 1001 >= 10 * t->udim_rows)
        return NULL;
    *texture = view->udims[t->first + number - 1001];
    return *texture < view->texture_count ? &view->textures[*texture] : NULL;
}

/* Levels beyond the first that fits in a tile are used only if the rule is not Cycles', as in lookups that wait. */
static void choose_levels(place *p, const txm_sampler *how, const txm_lookup *at, uint32_t *random)
{
    const uint32_t count = how->rule == TXM_LEVEL_RULE_CYCLES ? p->t->tiled_levels : p->t->levels;
    const float level = txm_level_of(p->t->width, p->t->height, how, at, random);
    const uint32_t last = count - 1;
    p->low = level >= (float)last ? last : level > 0.0f ? (uint32_t)level : 0;
    p->blend = how->mode == TXM_LEVEL_MODE_TRILINEAR && level > 0.0f && p->low < last ? level - (float)p->low : 0.0f;
}

/* ---- a texel ---- */

typedef struct texel {
    uint32_t level;
    int32_t x, y;
    uint32_t tile, number;
} texel;

/* The texel of a level at a place that is offset by `move` of its pixels; false if CLIP shows none. */
static bool texel_at(const place *p, uint32_t level, const float move[2], texel *out)
{
    const int32_t w = (int32_t)txm_level_size(p->t->width, level), h = (int32_t)txm_level_size(p->t->height, level);
    const int32_t x =
        txm_extension_pixel(TXM_EXTENSION_U(p->t->extension), (int32_t)floorf(p->u * (float)w + move[0]), w);
    const int32_t y =
        txm_extension_pixel(TXM_EXTENSION_V(p->t->extension), (int32_t)floorf((1.0f - p->v) * (float)h + move[1]), h);
    if (x < 0 || y < 0)
        return false;
    const uint32_t across = ((uint32_t)w + (1u << p->t->tile_shift) - 1) >> p->t->tile_shift;
    const uint32_t tile = ((uint32_t)y >> p->t->tile_shift) * across + ((uint32_t)x >> p->t->tile_shift);
    *out = (texel){level, x, y, tile, stm_use_first_of(p->t, level) + tile};
    return true;
}

static uint32_t slot_of(const place *p, const texel *at)
{
    return txm_view_slot(p->view, at->number);
}

static txm_sampler sampler_of_texels(const txm_sampler *how)
{
    return (txm_sampler){.rule = TXM_LEVEL_RULE_GIVEN,
                         .mode = TXM_LEVEL_MODE_FLOOR,
                         .filter = TXM_FILTER_CLOSEST,
                         .anisotropy = TXM_MAX_ANISOTROPY,
                         .after = how->after,
                         .chance = TXM_CHANCE_NONE};
}

static txm_sampler sampler_of_scene(const txm_sampler *how)
{
    txm_sampler s = *how;
    s.on_miss = TXM_ON_MISS_COARSER;
    return s;
}

void stm_frame_samplers(const stm_bound_image *images, size_t count, txm_sampler *samplers)
{
    for (size_t i = 0; i < count; i++) {
        samplers[i] = sampler_of_scene(&images[i].how);
        samplers[count + i] = sampler_of_texels(&images[i].how);
    }
}

/* The centre of the texel, so that rounding cannot lead to another one. For devices. */
static txm_lookup middle_of(const place *p, const texel *at)
{
    const float w = (float)txm_level_size(p->t->width, at->level), h = (float)txm_level_size(p->t->height, at->level);
    return (txm_lookup){
        .u = ((float)at->x + 0.5f) / w, .v = 1.0f - ((float)at->y + 0.5f) / h, .dudx = (float)at->level};
}

/* A device's result; NULL if there is none yet. */
static const stm_queued_lookup *find_or_note(stm_frame_source *f, const stm_queued_lookup *what)
{
    const stm_queued_lookup *queued = stm_lookup_queue_find(f->base.queue, what);
    if (!queued && !(f->lacks_answer && f->base.view->epoch))
        stm_lookup_queue_add(f->base.noted, what);
    f->lacks_answer |= !queued;
    return queued;
}

static void fetch(stm_frame_source *f, const place *p, const texel *at, uint32_t slot, float rgba[4])
{
    if (!f->base.queue) {
        const txm_texel_place where = {p->t, at->level, (uint32_t)at->x, (uint32_t)at->y, at->number, slot};
        txm_texel_color(p->view, &where, p->image->how.after, f->decoded, rgba);
        return;
    }
    const stm_lookup_queue *a = f->base.queue;
    const stm_queued_lookup what = {.how = a->sampler_count / 2 + (uint32_t)(p->image - a->images),
                                    .texture = p->texture,
                                    .at = middle_of(p, at),
                                    .path = f->base.path};
    const stm_queued_lookup *queued = find_or_note(f, &what);
    if (queued)
        memcpy(rgba, queued->rgba, sizeof queued->rgba);
}

/* ---- a level ---- */

static void note_request(stm_frame_source *f, const place *p, const texel *at)
{
    const txm_tile_name name = {.texture = p->texture, .level = at->level, .tile = at->tile};
    stm_request_note(f->step, f->requests, f->lane, txm_tile_key_pack(name));
}

/* The best available replacement for a missing texel. Returns its level; the 1x1 colour counts as one past the last
 * level. */
static uint32_t fetch_coarser(stm_frame_source *f, const place *p, uint32_t level, const float move[2], float rgba[4])
{
    texel at;
    for (uint32_t i = level + 1; i < p->t->levels; i++) {
        const uint32_t slot = texel_at(p, i, move, &at) ? slot_of(p, &at) : TXM_SLOT_NONE;
        if (slot >= TXM_SLOT_STATES)
            continue;
        f->lookups.coarser++;
        fetch(f, p, &at, slot, rgba);
        return i;
    }
    f->lookups.stand_ins++;
    txm_texel_average(p->t, p->image->how.after, rgba);
    return p->t->levels;
}

static void set_color(float rgba[4], float r, float g, float b)
{
    rgba[0] = r, rgba[1] = g, rgba[2] = b, rgba[3] = 1.0f;
}

/* Colours of levels from fine to coarse; white for a level of the image's own pixels. */
static void color_of_level(uint32_t level, float rgba[4])
{
    static const float colors[][3] = {{1.0f, 1.0f, 1.0f},  {0.9f, 0.2f, 0.2f}, {0.9f, 0.55f, 0.1f}, {0.8f, 0.8f, 0.1f},
                                      {0.2f, 0.75f, 0.2f}, {0.1f, 0.6f, 0.7f}, {0.2f, 0.3f, 0.9f},  {0.5f, 0.2f, 0.8f}};
    const uint32_t last = sizeof colors / sizeof *colors - 1;
    const float *c = colors[level < last ? level : last];
    set_color(rgba, c[0], c[1], c[2]);
}

/* Requests a texel if it is missing, whatever is shown in its place. Returns its slot, or the state of it. */
static uint32_t want(stm_frame_source *f, const place *p, const texel *at, bool *failed)
{
    const uint32_t slot = slot_of(p, at);
    f->lookups.texels++;
    if (slot < TXM_SLOT_STATES) {
        f->lookups.sharp++;
        return slot;
    }
    *failed = slot == TXM_SLOT_FAILED || slot == TXM_SLOT_UNREADABLE + p->view->round;
    if (*failed)
        f->lookups.failed++;
    else if (slot != TXM_SLOT_LOADING)
        note_request(f, p, at);
    return slot;
}

static txm_lookup_result lookup_at_level(stm_frame_source *f, const place *p, uint32_t level, const float move[2],
                                         float rgba[4])
{
    texel at;
    bool failed = false;
    set_color(rgba, 1.0f, 0.0f, 1.0f);
    if (!texel_at(p, level, move, &at)) {
        memset(rgba, 0, 4 * sizeof *rgba);
        return TXM_LOOKUP_HIT;
    }
    const uint32_t slot = want(f, p, &at, &failed);
    const bool is_there = slot < TXM_SLOT_STATES;
    if (is_there)
        fetch(f, p, &at, slot, rgba);
    else if (!failed)
        level = fetch_coarser(f, p, level, move, rgba);
    if (f->show == STM_FRAMES_SHOW_LEVELS && !failed)
        color_of_level(level, rgba);
    else if (f->show == STM_FRAMES_SHOW_MISSING && !is_there)
        set_color(rgba, 1.0f, 0.0f, 1.0f);
    return failed ? TXM_LOOKUP_FAILURE : is_there ? TXM_LOOKUP_HIT : TXM_LOOKUP_MISS;
}

/* ---- kinds ---- */

/* One step of Cycles' generator: 0 to 1, both included. */
static float draw(uint32_t *random)
{
    *random = 1103515245u * *random + 12345u;
    return (float)(*random >> 8) * 0x1p-24f;
}

/* False: nothing can be looked up at the place, and rgba has the colour for that. */
static bool place_of_lookup(stm_frame_source *f, const stm_bound_image *image, txm_lookup *at, place *p, float rgba[4])
{
    *p = (place){.view = f->base.view, .image = image, .texture = image->texture};
    p->t = part_of(p->view, &p->texture, at);
    if (!p->t) {
        set_color(rgba, 1.0f, 0.0f, 1.0f);
        return false;
    }
    p->u = wrap_or_reject(at->u, TXM_EXTENSION_U(p->t->extension));
    p->v = wrap_or_reject(at->v, TXM_EXTENSION_V(p->t->extension));
    if (p->u < 0.0f || p->v < 0.0f) {
        memset(rgba, 0, 4 * sizeof *rgba);
        return false;
    }
    return true;
}

txm_sampler stm_frame_sampler(const stm_bound_image *image, bool one_level)
{
    txm_sampler how = image->how;
    if (one_level && how.mode == TXM_LEVEL_MODE_TRILINEAR)
        how.mode = TXM_LEVEL_MODE_STOCHASTIC_FULL;
    return how;
}

bool stm_frame_has_batches(const stm_frames_options *o)
{
    return o->textures == STM_FRAMES_STREAMED && o->filter == STM_FRAMES_FILTER_POINT &&
           o->show == STM_FRAMES_SHOW_PICTURE;
}

void stm_frame_serve(stm_frame_source *f, stm_step_misses *steps, uint32_t first)
{
    stm_lookup_batch *b = f->base.batch;
    const txm_texels texels = {.count = b->count,
                               .samplers = b->samplers,
                               .how = b->image,
                               .texture = b->texture,
                               .u = b->u,
                               .v = b->v,
                               .dudx = b->dudx,
                               .dvdx = b->dvdx,
                               .dudy = b->dudy,
                               .dvdy = b->dvdy,
                               .decoded = f->decoded,
                               .random = b->random,
                               .out = b->rgba,
                               .result = b->result};
    txm_texel_miss misses[2 * STM_BATCH_LOOKUPS];
    size_t count;
    const uint64_t read = txm_texels_coarser_n(f->base.view, &texels, misses, &count);
    f->lookups.texels += read + count;
    f->lookups.sharp += read;
    for (size_t i = 0; i < count; i++) {
        const txm_texel_miss *m = &misses[i];
        const uint32_t path = b->path[m->sample];
        if (m->failed) {
            f->lookups.failed++;
            continue;
        }
        if (m->shown < f->base.view->textures[m->texture].levels)
            f->lookups.coarser++;
        else
            f->lookups.stand_ins++;
        const txm_tile_name name = {.texture = m->texture, .level = m->level, .tile = m->tile};
        if (m->state != TXM_SLOT_LOADING)
            stm_request_note(&steps[path / STM_BLOCK_LANES - first], f->requests, path % STM_BLOCK_LANES,
                             txm_tile_key_pack(name));
    }
}

/* For paths, lookups of frames never miss a tile; only a device's result can be missing. */
static txm_lookup_result found(const stm_frame_source *f)
{
    return f->lacks_answer ? TXM_LOOKUP_MISS : TXM_LOOKUP_HIT;
}

static txm_lookup_result lookup_for_points(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                           stm_found_color *out)
{
    stm_frame_source *f = (stm_frame_source *)source;
    place p;
    float move[2] = {0.0f, 0.0f}, coarse[4];
    if (!place_of_lookup(f, image, &at, &p, out->rgba))
        return TXM_LOOKUP_HIT;
    const txm_sampler how = stm_frame_sampler(image, f->one_level);
    choose_levels(&p, &how, &at, &source->state.random);
    if (image->how.filter != TXM_FILTER_CLOSEST) {
        move[0] = draw(&source->state.random) - 0.5f;
        move[1] = draw(&source->state.random) - 0.5f;
    }
    lookup_at_level(f, &p, p.low, move, out->rgba);
    if (p.blend > 0.0f) {
        lookup_at_level(f, &p, p.low + 1, move, coarse);
        for (int c = 0; c < 4; c++)
            out->rgba[c] = out->rgba[c] * (1.0f - p.blend) + coarse[c] * p.blend;
    }
    return found(f);
}

/* The scene's own lookup in the view, on the processor or with a device's result. Without a result the random state is
 * a guess. */
static void lookup_in_scene(stm_frame_source *f, const stm_bound_image *image, const txm_sampler *how, txm_lookup at,
                            stm_found_color *out)
{
    stm_lookup_source *source = &f->base;
    txm_lookup_state nobody = {.random = source->state.random};
    if (source->queue) {
        const stm_queued_lookup what = {.how = (uint32_t)(image - source->queue->images),
                                        .texture = image->texture,
                                        .at = at,
                                        .random = nobody.random,
                                        .path = source->path};
        const stm_queued_lookup *queued = find_or_note(f, &what);
        if (queued) {
            memcpy(out->rgba, queued->rgba, sizeof out->rgba);
            memcpy(out->du, queued->du, sizeof out->du);
            memcpy(out->dv, queued->dv, sizeof out->dv);
            nobody.random = queued->after;
        } else {
            memset(out->rgba, 0, sizeof out->rgba);
            txm_level_of(image->width, image->height, how, &at, &nobody.random);
        }
    } else if (out->with_derivatives)
        txm_sample_d(source->view, image->texture, how, &at, &nobody, out->rgba, out->du, out->dv);
    else
        txm_sample(source->view, image->texture, how, &at, &nobody, out->rgba);
    source->state.random = nobody.random;
}

/* Looks up like a render, except for missing tiles: every filter of a scene reads one tile of a level, and the texel at
 * the place itself is requested. */
static txm_lookup_result lookup_with_filter(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                            stm_found_color *out)
{
    stm_frame_source *f = (stm_frame_source *)source;
    static const float still[2] = {0.0f, 0.0f};
    txm_lookup inside = at;
    uint32_t random = source->state.random;
    const txm_sampler how = sampler_of_scene(&image->how);
    bool failed = false, is_there = true;
    place p;
    lookup_in_scene(f, image, &how, at, out);
    float none[4];
    if (!place_of_lookup(f, image, &inside, &p, none))
        return found(f);
    choose_levels(&p, &how, &inside, &random);
    for (uint32_t i = 0; i < (p.blend > 0.0f ? 2 : 1); i++) {
        texel wanted;
        if (!texel_at(&p, p.low + i, still, &wanted) || want(f, &p, &wanted, &failed) < TXM_SLOT_STATES)
            continue;
        is_there = false;
        f->lookups.coarser += !failed;
    }
    if (f->show == STM_FRAMES_SHOW_LEVELS && !failed)
        color_of_level(p.low, out->rgba);
    else if (f->show == STM_FRAMES_SHOW_MISSING && !is_there)
        set_color(out->rgba, 1.0f, 0.0f, 1.0f);
    return found(f);
}

/* Single texels have no derivatives, so lookups whose derivatives are needed use the scene's filter. */
static txm_lookup_result lookup_in_frame(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                         stm_found_color *out)
{
    const stm_frame_source *f = (const stm_frame_source *)source;
    return f->filter == STM_FRAMES_FILTER_SCENE || out->with_derivatives ? lookup_with_filter(source, image, at, out)
                                                                         : lookup_for_points(source, image, at, out);
}

static txm_lookup_result lookup_at_coarsest(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                            stm_found_color *out)
{
    stm_frame_source *f = (stm_frame_source *)source;
    place p;
    *out = (stm_found_color){.with_derivatives = out->with_derivatives, .decides = out->decides};
    if (!place_of_lookup(f, image, &at, &p, out->rgba))
        return TXM_LOOKUP_HIT;
    f->lookups.texels++;
    f->lookups.stand_ins++;
    txm_texel_average(p.t, image->how.after, out->rgba);
    return TXM_LOOKUP_HIT;
}

stm_frame_source stm_frame_source_of(const stm_frames_options *o, const txm_view *view, const float *decoded,
                                     stm_step_misses *step, stm_part_requests *requests, const stm_lookup_queue *queue,
                                     stm_lookup_list *noted)
{
    stm_frame_source f = {.filter = (stm_frames_filter)o->filter,
                          .show = (stm_frames_show)o->show,
                          .decoded = decoded,
                          .step = step,
                          .requests = requests};
    if (o->textures == STM_FRAMES_UNTEXTURED)
        f.base = stm_lookup_source_untextured();
    else
        f.base =
            (stm_lookup_source){.lookup = o->textures == STM_FRAMES_COARSEST ? lookup_at_coarsest : lookup_in_frame};
    f.base.view = view;
    f.base.queue = queue;
    f.base.noted = noted;
    return f;
}
