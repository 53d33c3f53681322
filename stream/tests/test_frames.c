/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames whose textures stream: the same bits and figures with any number of threads, what is shown while tiles are
 * missing, and that the picture becomes that of a render. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>

#include "render/camera_path.h"
#include "render/frame_loads.h"
#include "render/frame_requests.h"
#include "render/frame_trace.h"
#include "render/frames.h"
#include "tile/cache/flow/mirror.h"
#include "util_check.h"
#include "util_tx.h"

static txm_error err;

enum { IMAGES = 3, WIDTH = 96, HEIGHT = 54, FLOATS = 3 * WIDTH * HEIGHT };
static char images[IMAGES][512];
static const char *paths[IMAGES];

/* RGBA, so that no thread needs memory to widen tiles */
static void make_images(void)
{
    for (int i = 0; i < IMAGES; i++) {
        char name[16];
        snprintf(name, sizeof name, "frames%d.tx", i);
        snprintf(images[i], sizeof images[i], "%s", temp_file(name));
        paths[i] = images[i];
        SCOPED(free_image)
        made_image image = make_image(700 + 300 * (uint32_t)i, 500 + 200 * (uint32_t)i, 4, TXM_TYPE_U8, 64,
                                      (txm_compression){TXM_CODEC_ZIP, 4}, MADE_NOISE);
        txm_tx_metadata metadata = made_metadata();
        metadata.detected_colorspace = "data"; /* so that means of colours are not means of sRGB's codes */
        const txm_tx_summary summary = made_summary();
        uint64_t bytes;
        SCOPED(close_descriptor) int fd = open(images[i], O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write_image(fd, &image, &metadata, &summary, &bytes, &err) != TXM_OK) {
            fprintf(stderr, "%s: %s\n", images[i], err.message);
            exit(1);
        }
    }
}

static stm_render_scene *scene_of(const char *name)
{
    stm_render_scene *scene = NULL;
    ck_assert_msg(stm_render_scene_builtin(name, paths, IMAGES, 0.0f, &scene, &err) == TXM_OK, "%s", err.message);
    return scene;
}

static txm_cache_options cache; /* of options_of() */

static stm_frames_options options_of(void)
{
    stm_frames_options o;
    stm_frames_options_init(&o, &cache);
    o.render.width = WIDTH;
    o.render.height = HEIGHT;
    o.render.threads = 2;
    o.is_virtual = true;
    o.cost_model = (stm_cost_model){.frame_ms = 10, .tile_ms = 0.2, .texel_ns = 10, .request_ns = 20};
    cache.max_bytes = 64 << 20;
    return o;
}

static stm_frames *frames_of(const stm_render_scene *scene, const stm_frames_options *o)
{
    stm_frames *frames = NULL;
    err = (txm_error){0};
    ck_assert_msg(stm_frames_open(scene, o, &frames, &err) == TXM_OK, "%s", err.message);
    return frames;
}

static void advance(stm_frames *frames, const stm_scene_camera *camera)
{
    ck_assert_msg(stm_frames_advance(frames, camera, &err) == TXM_OK, "%s", err.message);
}

/* ---- requests ---- */

TEST(one_lane_of_a_wave_writes)
{
    stm_step_misses step = {0};
    stm_part_requests part = {.most = 100};
    /* Keys whose lower halves are equal may still differ. */
    const txm_tile_key a = 1 << 23 | 5, b = a | (txm_tile_key)1 << 44;
    static const struct {
        uint32_t wave, written;
    } waves[] = {{0, 32}, {1, 32}, {8, 8}, {16, 4}, {32, 2}};
    for (size_t i = 0; i < sizeof waves / sizeof *waves; i++) {
        part.count = part.requested = part.missed = 0;
        for (uint32_t lane = 0; lane < STM_BLOCK_LANES; lane++)
            stm_request_note(&step, &part, lane, lane % 2 ? a : b);
        ck_assert_uint_eq(part.requested, 0);
        stm_request_write(&step, &part, waves[i].wave);
        stm_request_settle(&part);
        ck_assert_uint_eq(part.missed, 32);
        ck_assert_uint_eq(part.requested, waves[i].written);
        ck_assert_uint_eq(part.count, waves[i].written);
    }
    free(part.keys);
    free(part.waiting);
}

TEST(lists_are_bounded_and_rejected_at_random)
{
    stm_request_list list;
    stm_part_requests part = {.most = 64};
    stm_step_misses step = {0};
    ck_assert(stm_request_list_new(&list, 64));
    for (uint32_t i = 0; i < 1000; i++) {
        stm_request_note(&step, &part, i % 32, (1 << 23) | (i % 100));
        stm_request_write(&step, &part, 0);
        stm_request_settle(&part);
    }
    ck_assert_uint_eq(part.requested, 1000);
    ck_assert_uint_eq(part.full, 936);
    stm_request_list_clear(&list);
    stm_request_list_add(&list, &part);
    stm_request_list_add(&list, &part);
    ck_assert_uint_eq(list.accepted, 64);
    ck_assert_uint_eq(list.unique, 64);
    ck_assert_uint_eq(part.full, 936 + 64);
    /* Half of the requests are left out, wherever in the frame they come. */
    part.count = part.requested = part.full = 0;
    part.rejection = 1u << 31;
    part.most = 1000;
    for (uint32_t i = 0; i < 1000; i++) {
        stm_request_note(&step, &part, i % 32, (1 << 23) | (i % 100));
        stm_request_write(&step, &part, 0);
        stm_request_settle(&part);
    }
    ck_assert_uint_eq(part.count + part.rejected, 1000);
    ck_assert_uint_gt(part.rejected, 420);
    ck_assert_uint_lt(part.rejected, 580);
    ck_assert_uint_eq(stm_request_rejection(STM_FRAMES_REJECT_NONE, 1000, 10, 100), 0);
    ck_assert_uint_eq(stm_request_rejection(STM_FRAMES_REJECT_SPREAD, 100, 10, 100), 0);
    ck_assert_uint_eq(stm_request_rejection(STM_FRAMES_REJECT_SPREAD, 200, 10, 100), UINT32_MAX / 2);
    ck_assert_uint_eq(stm_request_rejection(STM_FRAMES_REJECT_UNIQUE, 200, 50, 100), UINT32_MAX / 4 * 3 + 2);
    free(part.keys);
    free(part.waiting);
    stm_request_list_free(&list);
}

/* ---- lookups and batches ---- */

/* Makes a cache with one texture, of which nothing is loaded. */
static txm_cache *new_cache(uint32_t *texture, stm_bound_image *bound)
{
    txm_cache *c = NULL;
    txm_cache_options o;
    txm_view_texture shape;
    txm_cache_options_init(&o);
    o.threads = 2;
    o.coalesce = 0;
    o.stand_in = TXM_STAND_IN_KIND_AVERAGE;
    ck_assert_msg(txm_cache_new(&o, &c, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(txm_cache_add(c, images[0], TXM_EXTENSION_REPEAT, texture, &err), TXM_OK);
    ck_assert_int_eq(txm_cache_open(c, *texture, &shape, &err), TXM_OK);
    *bound = (stm_bound_image){.texture = *texture, .width = shape.width, .height = shape.height};
    txm_sampler_init(&bound->how);
    bound->how.mode = TXM_LEVEL_MODE_TRILINEAR;
    return c;
}

/* Without textures a lookup is grey. In a view it is MISSED until the tile is there, and then gives what the sampler
 * gives. */
TEST(sources_answer_by_their_kind)
{
    stm_bound_image bound;
    uint32_t texture, requests[8];
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&texture, &bound);
    SCOPED(txm_cache_viewer_free) txm_cache_viewer *viewer = NULL;
    txm_view view;
    stm_found_color found = {0};
    const txm_lookup at = {.u = 0.3f, .v = 0.6f, .dudx = 0.001f, .dvdy = 0.001f};
    stm_lookup_source grey = stm_lookup_source_untextured();
    ck_assert_int_eq(grey.lookup(&grey, &bound, at, &found), TXM_LOOKUP_HIT);
    ck_assert(found.blank && found.rgba[0] == 0.5f);
    ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, &err), TXM_OK);
    stm_lookup_source source =
        stm_lookup_source_viewing(&view, c, (txm_lookup_state){.capacity = 8, .requests = requests}, false, 0);
    ck_assert_ptr_null(source.note);
    txm_lookup_result look = TXM_LOOKUP_MISS;
    for (int turn = 0; turn < 4 && look == TXM_LOOKUP_MISS; turn++) {
        txm_lookup_state *lanes[] = {&source.state};
        txm_ticket *ticket = NULL;
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, &err), TXM_OK);
        look = source.lookup(&source, &bound, at, &found);
        if (!turn)
            ck_assert_int_eq(look, TXM_LOOKUP_MISS);
        if (look == TXM_LOOKUP_MISS)
            ck_assert_int_eq(txm_cache_viewer_process(viewer, lanes, 1, &ticket, &err), TXM_OK);
        txm_ticket_wait(&ticket);
    }
    ck_assert_int_eq(look, TXM_LOOKUP_HIT);
    txm_lookup_state none = {0};
    float expected[4];
    ck_assert_int_eq(txm_sample(&view, texture, &bound.how, &at, &none, expected), TXM_LOOKUP_HIT);
    ck_assert_mem_eq(found.rgba, expected, sizeof expected);
}

/* A lookup of a frame requests the tiles that it misses. The batch appears all at once when it has been paid for, and
 * then the lookup finds the texels. */
TEST(batches_are_shown_when_they_are_paid_for)
{
    stm_bound_image bound;
    uint32_t texture, shown, cut;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&texture, &bound);
    stm_frame_loads loads;
    stm_request_list list;
    stm_frames_options o = options_of();
    static stm_step_misses step;
    stm_part_requests part = {.most = 16};
    stm_found_color found = {0};
    const stm_cost_model cost_model = {.tile_ms = 5, .latency_ms = 1};
    const txm_lookup at = {.u = 0.3f, .v = 0.6f, .dudx = 3.0f / 700, .dvdy = 3.0f / 500};
    ck_assert_int_eq(stm_frame_loads_new(&loads, c, 16, true, 0, &err), TXM_OK);
    ck_assert(stm_request_list_new(&list, 16));
    ck_assert_int_eq(stm_frame_loads_begin(&loads, 0, 0, 0.9f, false, &shown, &err), TXM_OK);
    float decoded[256];
    txm_texel_decode(decoded);
    stm_frame_source f = stm_frame_source_of(&o, &loads.view, decoded, &step, &part, NULL, NULL);
    f.base.state.random = 77;
    ck_assert_int_eq(f.base.lookup(&f.base, &bound, at, &found), TXM_LOOKUP_HIT);
    ck_assert_uint_eq(f.lookups.texels, 2);
    ck_assert_uint_eq(f.lookups.stand_ins, 2);
    stm_request_write(&step, &part, 8);
    stm_request_settle(&part);
    ck_assert_uint_eq(part.requested, 2);
    stm_request_list_clear(&list);
    stm_request_list_add(&list, &part);
    ck_assert_int_eq(stm_frame_loads_end(&loads, &list, 0, 10, &cost_model, NULL, &cut, &err), TXM_OK);
    ck_assert(loads.loading && loads.batch == 2 && !cut);
    for (int turn = 0; turn < 3; turn++) {
        static const double now[] = {15, 20.9, 21};
        ck_assert_int_eq(stm_frame_loads_begin(&loads, now[turn], 0, 0.9f, false, &shown, &err), TXM_OK);
        ck_assert_uint_eq(shown, turn < 2 ? 0 : 2);
        part.count = part.requested = 0;
        f.lookups = (stm_frame_lookups){0};
        f.base.state.random = 77;
        f.base.lookup(&f.base, &bound, at, &found);
        stm_request_write(&step, &part, 8);
        stm_request_settle(&part);
        ck_assert_uint_eq(part.requested, 0); /* tiles that are being loaded are not requested again */
        ck_assert_uint_eq(f.lookups.sharp, turn < 2 ? 0 : 2);
        stm_frame_loads_skip(&loads);
    }
    free(part.keys);
    free(part.waiting);
    stm_request_list_free(&list);
    stm_frame_loads_free(&loads);
}

/* A source of tiles whose reads wait until the gate is open. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool is_open;
} gate;

enum { GATE_EDGE = 512, GATE_TILE = 64, GATE_ACROSS = GATE_EDGE / GATE_TILE, GATE_BATCH = 2 };

static void set_gate(gate *g, bool is_open)
{
    pthread_mutex_lock(&g->lock);
    g->is_open = is_open;
    pthread_cond_broadcast(&g->opened);
    pthread_mutex_unlock(&g->lock);
}

static txm_status describe_gated(void *user, txm_tile_shape *shape, txm_error *e)
{
    (void)user;
    (void)e;
    shape->width = shape->height = GATE_EDGE;
    shape->levels = 1;
    shape->tile_px = GATE_TILE;
    shape->channels = 4;
    shape->type = TXM_TYPE_U8;
    return TXM_OK;
}

static txm_status read_gated(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                             void *pixels, size_t row_stride_bytes, txm_error *e)
{
    gate *g = user;
    (void)level;
    (void)x;
    (void)y;
    (void)e;
    for (uint32_t row = 0; row < height; row++)
        memset((uint8_t *)pixels + row * row_stride_bytes, 0x80, 4 * width);
    pthread_mutex_lock(&g->lock);
    while (!g->is_open)
        pthread_cond_wait(&g->opened, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return TXM_OK;
}

/* Requests the next tiles of the texture, which another frame ends before they are loaded if the gate is closed. */
static void load_gated(stm_frame_loads *loads, gate *g, uint32_t texture, uint32_t *tile, bool is_open)
{
    txm_tile_key keys[GATE_BATCH];
    stm_request_list list;
    stm_part_requests part = {.keys = keys, .count = GATE_BATCH, .most = GATE_BATCH};
    uint32_t shown = 0, cut;
    for (int i = 0; i < GATE_BATCH; i++)
        keys[i] =
            txm_tile_key_pack((txm_tile_name){.texture = texture, .tile = (*tile)++ % (GATE_ACROSS * GATE_ACROSS)});
    ck_assert(stm_request_list_new(&list, GATE_BATCH));
    stm_request_list_clear(&list);
    stm_request_list_add(&list, &part);
    set_gate(g, is_open);
    ck_assert_int_eq(stm_frame_loads_end(loads, &list, 0, 0, &(stm_cost_model){0}, NULL, &cut, &err), TXM_OK);
    ck_assert(loads->loading && !cut);
    if (!is_open) {
        ck_assert_int_eq(stm_frame_loads_begin(loads, 0, 0, 0.9f, false, &shown, &err), TXM_OK);
        ck_assert_uint_eq(shown, 0);
        stm_frame_loads_skip(loads);
        set_gate(g, true);
    }
    while (!txm_ticket_poll(loads->ticket))
        usleep(1000);
    ck_assert_int_eq(stm_frame_loads_begin(loads, 0, 0, 0.9f, false, &shown, &err), TXM_OK);
    ck_assert_uint_eq(shown, GATE_BATCH);
    stm_request_list_free(&list);
}

/* If a batch takes longer than a frame, its tiles take the places of others in one frame and are loaded in another. */
TEST(full_memory_is_noticed_however_long_batches_take)
{
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, true};
    const txm_tile_source source = {
        .struct_size = sizeof source, .user = &g, .describe = describe_gated, .read = read_gated};
    txm_cache_options o;
    SCOPED(txm_cache_free) txm_cache *c = NULL;
    stm_frame_loads loads;
    uint32_t texture, tile = 0, shown;
    txm_cache_options_init(&o);
    o.threads = 2; /* with one, the caller loads */
    o.max_bytes = 400000;
    ck_assert_msg(txm_cache_new(&o, &c, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(txm_cache_add_source(c, "gated", &source, TXM_EXTENSION_REPEAT, &texture, &err), TXM_OK);
    ck_assert_int_eq(stm_frame_loads_new(&loads, c, GATE_BATCH, false, 0, &err), TXM_OK);
    ck_assert_int_eq(stm_frame_loads_begin(&loads, 0, 0, 0.9f, false, &shown, &err), TXM_OK);
    while (!loads.now.tiles_evicted && tile < GATE_ACROSS * GATE_ACROSS)
        load_gated(&loads, &g, texture, &tile, true);
    ck_assert_uint_gt(loads.now.tiles_evicted, 0);
    stm_frame_loads_resized(&loads);
    stm_frame_loads_skip(&loads);
    ck_assert_int_eq(stm_frame_loads_begin(&loads, 0, 0, 0.9f, false, &shown, &err), TXM_OK);
    ck_assert(!loads.was_full);
    for (int i = 0; i < 2; i++)
        load_gated(&loads, &g, texture, &tile, false);
    ck_assert(loads.was_full);
    stm_frame_loads_skip(&loads);
    stm_frame_loads_free(&loads);
}

TEST(parts_cover_the_picture)
{
    static const uint32_t sizes[][2] = {{1, 1}, {8, 4}, {9, 5}, {96, 54}, {3, 1000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t w = sizes[i][0], h = sizes[i][1];
        stm_frame_trace trace = {0};
        stm_frame_film film;
        uint32_t blocks = 0;
        ck_assert(stm_frame_film_new(&film, w, h) && stm_frame_trace_new(&trace, w, h, 10));
        for (uint32_t k = 0; k < trace.part_count; k++) {
            ck_assert_uint_eq(trace.parts[k].first, blocks);
            blocks += trace.parts[k].count;
        }
        ck_assert_uint_eq(blocks, (w + 7) / 8 * ((h + 3) / 4));
        stm_frame_trace_free(&trace);
        stm_frame_film_free(&film);
    }
}

/* ---- determinism ---- */

enum { PLAYED = 24 };
typedef struct played {
    float rgb[FLOATS];
    stm_frame_stats stats[PLAYED];
    txm_tile_key keys[PLAYED][8];
} played;

/* The camera moves, rests, and moves on, with a cache that is too small. */
static void play(const stm_render_scene *scene, const stm_frames_options *o, played *out)
{
    stm_frames *frames = frames_of(scene, o);
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < PLAYED; i++) {
        bool is_cut;
        const stm_scene_camera camera = stm_camera_at(scene, i < 8 ? 10 * i : i < 16 ? 80 : 10 * (i - 8), &is_cut);
        advance(frames, &camera);
        out->stats[i] = *stm_frames_last(frames);
        stm_frames_wanted(frames, out->keys[i], 8);
    }
    stm_frames_picture(frames, out->rgb);
    stm_frames_close(&frames);
    ck_assert_ptr_null(frames);
}

TEST(virtual_time_is_the_same_with_any_number_of_threads)
{
    static played expected, found;
    static const struct {
        uint32_t loaders, threads;
    } runs[] = {{1, 1}, {2, 3}, {7, 1}, {64, 2}};
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("fly");
    static const uint64_t budgets[] = {64 << 20, 3 << 20, 1 << 20};
    for (size_t b = 0; b < 3; b++) {
        stm_frames_options o = options_of();
        cache.max_bytes = budgets[b];
        o.requests = b ? 64 : 4096;
        o.render.bounces = 1;
        bool missed = false;
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            if (i && i != b + 1 && !thorough())
                continue; /* another number of threads for each budget */
            o.loaders = runs[i].loaders;
            o.render.threads = runs[i].threads;
            play(scene, &o, i ? &found : &expected);
            if (!i)
                continue;
            for (int k = 0; k < PLAYED; k++)
                ck_assert_msg(!memcmp(&found.stats[k], &expected.stats[k], sizeof *found.stats),
                              "budget %zu, run %zu, frame %d: %llu and %llu evicted, %llu and %llu sharp", b, i, k,
                              (unsigned long long)found.stats[k].evicted, (unsigned long long)expected.stats[k].evicted,
                              (unsigned long long)found.stats[k].sharp, (unsigned long long)expected.stats[k].sharp);
            ck_assert_mem_eq(found.keys, expected.keys, sizeof found.keys);
            ck_assert_mem_eq(found.rgb, expected.rgb, sizeof found.rgb);
        }
        for (int k = 0; k < PLAYED; k++)
            missed |= expected.stats[k].missed != 0;
        ck_assert(missed);
    }
}

/* Lookups on devices give the same pictures, figures and requests, for every filter, budget and policy, with tiles that
 * disappear from a device without a reason, and with devices that are too small. */
TEST(devices_play_the_same)
{
    static played expected, found;
    static const struct {
        const char *scene, *devices;
        uint64_t bytes, memory;
        uint32_t filter, policy, bounces, requests;
        float marks, spurious;
    } runs[] = {
        {"fly", "cuda:0", 64 << 20, 0, STM_FRAMES_FILTER_POINT, TXM_CACHE_POLICY_LRU, 1, 4096, 0.9f, 0.0f},
        {"room", "cuda:0", 3 << 20, 0, STM_FRAMES_FILTER_SCENE, TXM_CACHE_POLICY_RENDER_TILES, 1, 64, 0.0f, 0.3f},
        {"fly", "cuda:0,cuda:1", 1 << 20, 0, STM_FRAMES_FILTER_POINT, TXM_CACHE_POLICY_LRU, 2, 64, 0.0f, 0.3f},
        {"fly", "cuda:1", 3 << 20, 100000, STM_FRAMES_FILTER_SCENE, TXM_CACHE_POLICY_LRU, 0, 4096, 0.5f, 0.0f},
        {"grid", "cuda:0", 1 << 20, 0, STM_FRAMES_FILTER_SCENE, TXM_CACHE_POLICY_RENDER_TILES, 0, 64, 0.9f, 0.5f},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of(runs[i].scene);
        stm_frames_options o = options_of();
        cache.max_bytes = runs[i].bytes;
        cache.policy = runs[i].policy;
        o.filter = runs[i].filter;
        o.render.bounces = runs[i].bounces;
        o.render.mode = runs[i].filter ? TXM_LEVEL_MODE_STOCHASTIC : TXM_LEVEL_MODE_TRILINEAR;
        o.requests = runs[i].requests;
        o.mark_share = runs[i].marks;
        play(scene, &o, &expected);
        use_test_devices();
        o.render.devices = runs[i].devices;
        o.render.device_memory = runs[i].memory;
        txm_spurious = runs[i].spurious;
        play(scene, &o, &found);
        for (int k = 0; k < PLAYED; k++)
            ck_assert_msg(!memcmp(&found.stats[k], &expected.stats[k], sizeof *found.stats), "run %zu, frame %d", i, k);
        ck_assert_mem_eq(found.keys, expected.keys, sizeof found.keys);
        ck_assert_mem_eq(found.rgb, expected.rgb, sizeof found.rgb);
    }
}

/* With another policy, size or budget, the devices look up in the new cache. */
TEST(devices_follow_changes)
{
    static float expected[FLOATS], found[FLOATS];
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("room");
    for (int on_device = 0; on_device < 2; on_device++) {
        stm_frames_options o = options_of();
        o.render.devices = on_device ? "cuda:0" : NULL;
        SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
        use_test_devices();
        for (int i = 0; i < 12; i++) {
            if (i == 3)
                ck_assert_int_eq(stm_frames_set_policy(frames, TXM_CACHE_POLICY_RENDER_TILES, &err), TXM_OK);
            if (i == 5)
                ck_assert_int_eq(stm_frames_set_resolution(frames, 0.5f, &err), TXM_OK);
            if (i == 6)
                ck_assert_int_eq(stm_frames_set_size(frames, WIDTH / 2, HEIGHT, &err), TXM_OK);
            if (i == 8)
                ck_assert_int_eq(stm_frames_set_budget(frames, 1 << 20, &err), TXM_OK);
            if (i == 9)
                ck_assert_int_eq(stm_frames_set_size(frames, WIDTH, HEIGHT, &err), TXM_OK);
            advance(frames, NULL);
        }
        stm_frames_picture(frames, on_device ? found : expected);
    }
    ck_assert_mem_eq(found, expected, sizeof found);
}

/* ---- pictures ---- */

/* When the camera rests and all tiles are in memory, frames add the samples of a render. With the render's filter and
 * levels the bits are the same, and with points and both levels the average is. */
TEST(frames_end_in_the_picture_of_a_render)
{
    enum { MANY = 144 };
    static float rgb[FLOATS];
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("room");
    for (int points = 0; points < 2; points++) {
        stm_frames_options o = options_of();
        const uint32_t count = points ? MANY : 5;
        o.filter = points ? STM_FRAMES_FILTER_POINT : STM_FRAMES_FILTER_SCENE;
        o.render.mode = points ? TXM_LEVEL_MODE_TRILINEAR : TXM_LEVEL_MODE_STOCHASTIC;
        o.render.samples = 1;
        o.render.bounces = 1;
        stm_frames *frames = frames_of(scene, &o);
        for (int i = 0; i < 60; i++)
            advance(frames, NULL);
        stm_frames_restart(frames);
        for (uint32_t i = 0; i < count; i++) {
            advance(frames, NULL);
            ck_assert_uint_eq(stm_frames_last(frames)->accumulated, i + 1);
        }
        stm_frames_picture(frames, rgb);
        const stm_frames_totals totals = stm_frames_totals_of(frames);
        ck_assert(points || totals.sharp == totals.texels);
        stm_frames_close(&frames);
        stm_render_picture p;
        stm_render_options r = o.render;
        r.samples = count;
        r.mode = points ? TXM_LEVEL_MODE_STOCHASTIC_FULL : TXM_LEVEL_MODE_STOCHASTIC;
        ck_assert_msg(stm_render(scene, &r, &p, &err) == TXM_OK, "%s", err.message);
        double sum = 0.0, off = 0.0, square = 0.0;
        for (int i = 0; i < FLOATS; i++) {
            sum += (double)p.rgb[i];
            off += (double)rgb[i] - (double)p.rgb[i];
            square += ((double)rgb[i] - (double)p.rgb[i]) * ((double)rgb[i] - (double)p.rgb[i]);
        }
        if (points) {
            /* The rays are the same except for the choice of texels, so only the noise of that is left. */
            ck_assert_msg(fabs(off) < 0.002 * sum, "%g of %g", off, sum);
            ck_assert_msg(sqrt(square / FLOATS) < 0.06 * sum / FLOATS, "%g of %g", sqrt(square / FLOATS), sum / FLOATS);
        } else {
            ck_assert_mem_eq(rgb, p.rgb, sizeof rgb);
        }
        stm_render_picture_clear(&p);
    }
}

/* ---- changes and ends ---- */

TEST(options_change_while_frames_run)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("room");
    stm_frames_options o = options_of();
    SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
    uint32_t w, h;
    for (int i = 0; i < 20; i++)
        advance(frames, NULL);
    const uint64_t held = stm_frames_last(frames)->resident_tiles;
    ck_assert_uint_gt(held, 0);
    ck_assert_int_eq(stm_frames_set_budget(frames, 1 << 20, &err), TXM_OK);
    advance(frames, NULL);
    ck_assert_uint_eq(stm_frames_last(frames)->accumulated, 21); /* only tiles have changed */
    for (int i = 0; i < 12; i++) {
        const stm_scene_camera camera = stm_camera_orbit(frames, (float)i / 12);
        advance(frames, &camera);
        ck_assert_uint_le(stm_frames_last(frames)->allocated_bytes, 2 << 20); /* the budget and a batch */
    }
    const uint64_t before = stm_frames_last(frames)->rays;
    ck_assert_int_eq(stm_frames_set_size(frames, 48, 27, &err), TXM_OK);
    advance(frames, NULL);
    stm_frames_size(frames, &w, &h);
    ck_assert(w == 48 && h == 27 && stm_frames_last(frames)->accumulated == 1);
    ck_assert_uint_lt(stm_frames_last(frames)->rays, before);
    ck_assert_int_eq(stm_frames_set_size(frames, 0, 27, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(stm_frames_set_resolution(frames, 0.0f, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(stm_frames_set_resolution(frames, 0.25f, &err), TXM_OK);
    const uint64_t loaded = stm_frames_totals_of(frames).loaded;
    ck_assert_uint_gt(loaded, 0);
    ck_assert_int_eq(stm_frames_set_policy(frames, TXM_CACHE_POLICY_RENDER_TILES, &err), TXM_OK);
    ck_assert_uint_eq(stm_frames_totals_of(frames).loaded, loaded); /* counting goes on */
    ck_assert_int_eq(stm_frames_set_policy(frames, TXM_CACHE_POLICY_NONE + 1, &err), TXM_STATUS_USAGE);
    advance(frames, NULL);
    ck_assert_uint_eq(stm_frames_last(frames)->sharp, 0); /* another cache */
    stm_frames_set_show(frames, STM_FRAMES_SHOW_MISSING);
    advance(frames, NULL);
    static float rgb[3 * 48 * 27];
    stm_frames_picture(frames, rgb);
    stm_frames_set_textures(frames, STM_FRAMES_UNTEXTURED);
    advance(frames, NULL);
    ck_assert_uint_eq(stm_frames_last(frames)->texels, 0);
}

/* A budget that becomes smaller is kept from the next frame on, also if the camera rests and nothing is missing, so
 * that nobody needs memory. The picture goes on: coarser levels replace what no longer fits. */
TEST(a_smaller_budget_is_given_back_at_rest)
{
    enum { SMALL = 600000 };
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("room");
    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        stm_frames_options o = options_of();
        o.is_virtual = is_virtual;
        o.render.width = 2 * WIDTH;
        o.render.height = 2 * HEIGHT;
        SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
        for (int rest = 0, i = 0; rest < 10; i++) {
            ck_assert_int_lt(i, 3000);
            advance(frames, NULL);
            const stm_frame_stats *s = stm_frames_last(frames);
            rest = s->sharp == s->texels ? rest + 1 : 0;
        }
        ck_assert_uint_gt(stm_frames_last(frames)->allocated_bytes, SMALL);
        ck_assert_int_eq(stm_frames_set_budget(frames, SMALL, &err), TXM_OK);
        uint64_t texels = 0, textured = 0;
        for (int i = 0; i < 30; i++) {
            advance(frames, NULL);
            const stm_frame_stats *s = stm_frames_last(frames);
            ck_assert_uint_le(s->allocated_bytes, SMALL);
            texels += s->texels;
            textured += s->sharp + s->coarser;
        }
        ck_assert_uint_gt(textured, texels / 2);
    }
}

/* The budget is for the tiles of one place, but tables and files take part of it. */
TEST(loads_end_where_a_picture_does_not_fit)
{
    enum { SETTLING = 40, SETTLED = 20 };
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("room");
    stm_frames_options o = options_of();
    uint64_t sharp = 0, texels = 0, whole = 0;
    o.render.bounces = 1;
    for (int pass = 0; pass < 2; pass++) {
        cache.max_bytes = whole;
        SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
        for (int i = 0; i < SETTLING + SETTLED; i++) {
            advance(frames, NULL);
            const stm_frame_stats *s = stm_frames_last(frames);
            whole = pass ? whole : s->resident_bytes;
            if (!pass || i < SETTLING)
                continue;
            ck_assert_msg(!s->loaded && !s->evicted, "frame %d: %llu loaded", i, (unsigned long long)s->loaded);
            ck_assert_uint_gt(s->cut, 0);
            sharp += s->sharp;
            texels += s->texels;
        }
    }
    ck_assert(2 * sharp >= texels);
}

/* Tables and files take all of the budget, so tiles are evicted as soon as they are loaded. */
TEST(loads_end_where_no_tile_fits)
{
    enum { SETTLING = 60, SETTLED = 20 };
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("room");
    stm_frames_options o = options_of();
    uint64_t loaded = 0;
    o.render.bounces = 1;
    cache.max_bytes = 60000;
    SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
    for (int i = 0; i < SETTLING + SETTLED; i++) {
        advance(frames, NULL);
        const stm_frame_stats *s = stm_frames_last(frames);
        ck_assert_uint_eq(s->sharp, 0);
        ck_assert(i < SETTLING || !s->loaded);
        loaded += s->loaded;
    }
    ck_assert(!frames || loaded);
}

/* A frame that is cancelled leaves the picture and the figures of the frame before. */
TEST(cancelled_frames_show_nothing)
{
    static float before[FLOATS], after[FLOATS];
    static volatile int cancel;
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("plane");
    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        stm_frames_options o = options_of();
        o.is_virtual = is_virtual;
        o.render.cancel = &cancel;
        cancel = 0;
        SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
        advance(frames, NULL);
        advance(frames, NULL);
        stm_frames_picture(frames, before);
        cancel = 1;
        ck_assert_int_eq(stm_frames_advance(frames, NULL, &err), TXM_STATUS_CANCELLED);
        stm_frames_picture(frames, after);
        ck_assert_mem_eq(before, after, sizeof before);
        ck_assert_uint_eq(stm_frames_totals_of(frames).frames, 2);
        cancel = 0;
        advance(frames, NULL);
    }
}

/* In real time: threads load beside frames, which go on. In the end all tiles are there. */
TEST(real_time_ends_sharp)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("room");
    stm_frames_options o = options_of();
    o.is_virtual = false;
    o.loaders = 3;
    SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
    for (int i = 0; i < 2000; i++) {
        advance(frames, NULL);
        const stm_frame_stats *s = stm_frames_last(frames);
        if (s->sharp == s->texels && i > 20)
            break;
    }
    if (frames)
        ck_assert_uint_eq(stm_frames_last(frames)->sharp, stm_frames_last(frames)->texels);
}

TEST(cameras_follow_their_keys)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("fly");
    uint32_t last;
    bool is_cut;
    ck_assert(stm_camera_has_keys(scene, &last) && last == 240);
    const stm_scene_camera a = stm_camera_at(scene, 0, &is_cut), b = stm_camera_at(scene, 240, &is_cut);
    const stm_scene_camera half = stm_camera_at(scene, 120, &is_cut), beyond = stm_camera_at(scene, 1000, &is_cut);
    ck_assert(!is_cut && fabsf(half.to_world.m[1][3] - (a.to_world.m[1][3] + b.to_world.m[1][3]) / 2) < 1e-4f);
    ck_assert_mem_eq(&b, &beyond, sizeof b);
    for (int k = 0; k < 3; k++) {
        float length = 0.0f;
        for (int r = 0; r < 3; r++)
            length += half.to_world.m[r][k] * half.to_world.m[r][k];
        ck_assert(fabsf(length - 1.0f) < 1e-4f);
    }
    /* Between equal keyframes nothing moves. */
    scene->keys[1].to_world = half.to_world;
    scene->keys[0].to_world = half.to_world;
    for (uint32_t i = 0; i < 240; i++) {
        const stm_scene_camera still = stm_camera_at(scene, i, &is_cut);
        ck_assert_mem_eq(&still, &half, sizeof half);
    }
    stm_frames_options o = options_of();
    SCOPED(stm_frames_close) stm_frames *frames = frames_of(scene, &o);
    if (frames) {
        const stm_scene_camera round = stm_camera_orbit(frames, 1.0f), start = stm_frames_camera(scene);
        const stm_scene_camera quarter = stm_camera_orbit(frames, 0.25f);
        ck_assert_mem_eq(&round, &start, sizeof round);
        ck_assert(quarter.to_world.m[2][3] == start.to_world.m[2][3] &&
                  quarter.to_world.m[0][3] != start.to_world.m[0][3]);
    }
}

TEST(wrong_options_are_refused)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = scene_of("plane");
    for (int i = 0; i < 7; i++) {
        stm_frames_options o = options_of();
        stm_frames *frames = NULL;
        uint32_t *const numbers[] = {&o.loaders, &o.requests, &o.wave,          &o.textures,
                                     &o.reject,  &o.filter,   &o.render.samples};
        *numbers[i] = i == 2 ? 5 : i < 2 || i == 6 ? 0 : 9;
        ck_assert_int_eq(stm_frames_open(scene, &o, &frames, &err), TXM_STATUS_USAGE);
        ck_assert_ptr_null(frames);
    }
}

int main(void)
{
    make_images();
    return run_tests();
}
