/* SPDX-License-Identifier: Apache-2.0
 * Staged tiles are about to be evicted and come back without being read, with their colours, whatever happens
 * meanwhile: pins, open views, cancelled batches, invalidation, other files, levels that get entries. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tile/cache/cache_impl.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"
#include "util_whole.h"

/* ---- boards ---- */

enum { SIZE = 1024, TILE = 64, ACROSS = SIZE / TILE, TILES = ACROSS * ACROSS, LEVELS = 3 };

/* A texture whose tiles have their numbers as colours. It counts reads of its tiles. */
typedef struct board {
    float base;
    atomic_int reads;
} board;

static float color_of(const board *b, uint32_t level, uint32_t tile)
{
    return b->base + (float)(1000 * level + tile);
}

static txm_status describe_board(void *user, txm_tile_shape *shape, txm_error *err)
{
    (void)user, (void)err;
    shape->width = shape->height = SIZE;
    shape->levels = LEVELS;
    shape->tile_px = TILE;
    shape->channels = 1;
    shape->type = TXM_TYPE_FLOAT;
    return TXM_OK;
}

static txm_status read_board(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                             void *pixels, size_t row_stride_bytes, txm_error *err)
{
    board *b = user;
    (void)err;
    b->reads += width >= TILE && height >= TILE; /* smaller reads fetch borders, because the image repeats */
    for (uint32_t i = 0; i < height; i++)
        for (uint32_t k = 0; k < width; k++)
            ((float *)(void *)((uint8_t *)pixels + i * row_stride_bytes))[k] =
                color_of(b, level, (y + i) / TILE * (ACROSS >> level) + (x + k) / TILE);
    return TXM_OK;
}

static uint32_t add_board(txm_cache *c, board *b)
{
    const txm_tile_source source = {sizeof source, b, describe_board, read_board, NULL};
    uint32_t id;
    ck_assert_int_eq(txm_cache_add_source(c, "board", &source, TXM_EXTENSION_EXTEND, &id, NULL), TXM_OK);
    return id;
}

static txm_cache *small_cache(void)
{
    txm_cache_options o = budget_options(1 << 20, TXM_CACHE_POLICY_SECOND_CHANCE);
    o.threads = 1;
    o.coalesce = 0;
    return new_cache(&o);
}

static txm_lookup in_tile(uint32_t level, uint32_t tile)
{
    const uint32_t across = ACROSS >> level;
    return at_level(((float)(tile % across) + 0.5f) / (float)across,
                    1 - ((float)(tile / across) + 0.5f) / (float)across, (float)level, SIZE);
}

static void look(txm_cache_thread *t, uint32_t id, const board *b, uint32_t level, uint32_t tile)
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = in_tile(level, tile);
    float out[4];
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
    ck_assert_float_eq(out[0], color_of(b, level, tile));
}

/* Returns the tile of a level that was staged last, or UINT32_MAX if none is staged. */
static uint32_t staged_tile(txm_cache *c, uint32_t id, uint32_t level)
{
    uint32_t found = UINT32_MAX;
    pthread_mutex_lock(&c->lock);
    const txm_source *s = c->catalog.textures[id].source;
    for (uint32_t i = 0; i < txm_view_tiles(s->view, level); i++)
        if (txm_staged_slot(c, txm_number(s, level, i)) != TXM_NO_SLOT)
            found = i;
    pthread_mutex_unlock(&c->lock);
    return found;
}

static bool is_staged(txm_cache *c, uint32_t id, uint32_t level, uint32_t tile)
{
    pthread_mutex_lock(&c->lock);
    const bool staged = txm_staged_slot(c, txm_number(c->catalog.textures[id].source, level, tile)) != TXM_NO_SLOT;
    pthread_mutex_unlock(&c->lock);
    return staged;
}

static bool is_found(txm_cache *c, uint32_t id, uint32_t level, uint32_t tile)
{
    pthread_mutex_lock(&c->lock);
    const bool found = txm_entry_slot(c, txm_number(c->catalog.textures[id].source, level, tile)) < TXM_SLOT_STATES;
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* Looks up in the tiles of a level from the first on until one is staged, and returns it. */
static uint32_t stage_some(txm_cache *c, txm_cache_thread *t, uint32_t id, const board *b, uint32_t level)
{
    uint32_t tile = UINT32_MAX;
    for (uint32_t i = 0; i < (uint32_t)TILES >> 2 * level && tile == UINT32_MAX; i++) {
        look(t, id, b, level, i);
        tile = staged_tile(c, id, level);
    }
    ck_assert_uint_ne(tile, UINT32_MAX);
    ck_assert(!is_found(c, id, level, tile));
    return tile;
}

/* ---- what comes back ---- */

START_TEST(comes_back_without_being_read)
{
    board b = {.base = 0};
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_board(c, &b), tile = stage_some(c, t, id, &b, 0);
    const txm_cache_stats before = stats_of(c);
    const int reads = b.reads;
    look(t, id, &b, 0, tile);
    const txm_cache_stats after = stats_of(c);
    ck_assert_int_eq(b.reads, reads);
    ck_assert(is_found(c, id, 0, tile));
    ck_assert_uint_gt(before.tiles_staged, 0);
    ck_assert_uint_eq(before.tiles_restored, 0);
    ck_assert_uint_eq(after.tiles_restored, 1);
    ck_assert_uint_eq(after.tiles_loaded, before.tiles_loaded);
    ck_assert_uint_eq(after.tiles_reloaded, before.tiles_reloaded);
    ck_assert_uint_eq(after.loaded_bytes, before.loaded_bytes);
    ck_assert_uint_eq(after.tiles, before.tiles);
    ck_assert_uint_eq(after.lookups_missed, before.lookups_missed + 1);
    char *report = txm_cache_report(c, TXM_CACHE_REPORT_FORMAT_TEXT);
    ck_assert_ptr_nonnull(strstr(report, "Back without reading       1 ("));
    free(report);
    look(t, id, &b, 0, tile); /* and it stays */
    ck_assert_uint_eq(stats_of(c).lookups_missed, after.lookups_missed);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

/* Tiles that are used again and again are read once, beside tiles used once that would fill the memory twenty times. */
START_TEST(what_is_used_is_learnt)
{
    board hot = {.base = 0}, cold = {.base = 10000};
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    const uint32_t hot_id = add_board(c, &hot), cold_id = add_board(c, &cold);
    for (uint32_t i = 0; i < 2 * TILES; i++) {
        look(t, cold_id, &cold, 0, i % TILES);
        look(t, hot_id, &hot, 1, 7 * (i % 3));
    }
    ck_assert_int_eq(hot.reads, 3);
    ck_assert_int_eq(cold.reads, 2 * TILES);
    const txm_cache_stats s = stats_of(c);
    ck_assert_uint_gt(s.tiles_restored, 10);
    ck_assert_uint_ge(s.tiles_staged, s.tiles_evicted + s.tiles_restored);
    ck_assert_uint_eq(s.tiles_loaded, s.tiles_evicted + s.tiles);
    ck_assert_uint_le(s.allocated_bytes_peak, (1 << 20) + TXM_SLAB_BYTES);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

START_TEST(pinned_tiles_are_not_staged)
{
    board kept = {.base = 0}, b = {.base = 10000};
    const txm_cache_part part = {2, 2, 0, 0, 0.2f, 1};
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    const uint32_t kept_id = add_board(c, &kept), id = add_board(c, &b);
    ck_assert_int_eq(txm_cache_pin(c, kept_id, &part, NULL), TXM_OK);
    ck_assert_int_eq(kept.reads, 4);
    for (uint32_t i = 0; i < TILES; i++) {
        look(t, id, &b, 0, i);
        ck_assert_uint_eq(staged_tile(c, kept_id, 2), UINT32_MAX);
    }
    ck_assert_int_eq(kept.reads, 4);
    /* A staged tile is pinned without being read again. */
    const uint32_t tile = staged_tile(c, id, 0);
    const float u = ((float)(tile % ACROSS) + 0.5f) / ACROSS, v = 1 - ((float)(tile / ACROSS) + 0.5f) / ACROSS;
    const txm_cache_part one = {0, 0, u, v, u, v};
    const int reads = b.reads;
    ck_assert_int_eq(txm_cache_pin(c, id, &one, NULL), TXM_OK);
    ck_assert_int_eq(b.reads, reads);
    ck_assert_uint_eq(stats_of(c).kept_bytes, 5 * 18496);
    ck_assert_int_eq(txm_cache_unpin(c, kept_id, NULL, NULL), TXM_OK);
    for (uint32_t i = 0; i < TILES; i++)
        look(t, id, &b, 0, i);
    ck_assert(!is_found(c, kept_id, 2, 0));
    ck_assert(is_found(c, id, 0, tile));
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

/* ---- what happens to staged tiles ---- */

/* A level gets numbers while a tile of a coarser one is staged. */
START_TEST(levels_may_be_added)
{
    board b = {.base = 0}, other = {.base = 10000};
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_board(c, &b), other_id = add_board(c, &other);
    look(t, id, &b, 1, 0);
    for (uint32_t i = 0; i < TILES && !is_staged(c, id, 1, 0); i++) {
        look(t, other_id, &other, 0, i);
        if (!is_found(c, id, 1, 0) && !is_staged(c, id, 1, 0))
            look(t, id, &b, 1, 0);
    }
    ck_assert(is_staged(c, id, 1, 0));
    const int reads = b.reads;
    ck_assert_int_eq(txm_cache_register(c, id, NULL), TXM_OK);
    ck_assert(is_staged(c, id, 1, 0));
    look(t, id, &b, 1, 0);
    ck_assert_int_eq(b.reads, reads);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

START_TEST(painted_over)
{
    board b = {.base = 0};
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_board(c, &b), tile = stage_some(c, t, id, &b, 0);
    const uint64_t tiles = stats_of(c).tiles, evicted = stats_of(c).tiles_evicted;
    const float u = ((float)(tile % ACROSS) + 0.5f) / ACROSS, v = 1 - ((float)(tile / ACROSS) + 0.5f) / ACROSS;
    const txm_cache_part part = {0, 0, u, v, u, v};
    b.base = 5000;
    ck_assert_int_eq(txm_cache_invalidate(c, id, &part, NULL), TXM_OK);
    ck_assert(!is_staged(c, id, 0, tile));
    ck_assert_uint_eq(stats_of(c).tiles, tiles - 1);
    ck_assert_uint_eq(stats_of(c).tiles_evicted, evicted + 1);
    const int reads = b.reads;
    look(t, id, &b, 0, tile);
    ck_assert_int_eq(b.reads, reads + 1);
    ck_assert_int_eq(txm_cache_unload(c, id, NULL), TXM_OK); /* all tiles, including staged ones */
    ck_assert_uint_eq(staged_tile(c, id, 0), UINT32_MAX);
    ck_assert_uint_eq(stats_of(c).tiles, 0);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

/* Another file replaces the one whose tiles are staged. */
START_TEST(replaced_while_staged)
{
    char *paths[] = {write_cached("a.tx", 1024, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                     write_cached("b.tx", 1024, 512, 4, TXM_TYPE_U8, MADE_NOISE, 2)};
    const txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    uint64_t state = 11;
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_texture(c, paths[0], TXM_EXTENSION_REPEAT);
    for (int turn = 0; turn < 6; turn++) {
        whole_image image = whole_read(paths[turn % 2], TXM_EXTENSION_REPEAT);
        for (int i = 0; i < 400; i++) {
            const txm_lookup at = at_level(unit(&state), unit(&state), unit(&state), 1024);
            uint32_t random = 0;
            float got[4], want[4];
            ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, got), TXM_LOOKUP_HIT);
            whole_sample(&image, &how, &at, &random, want, NULL, NULL);
            ck_assert_msg(memcmp(got, want, sizeof got) == 0, "turn %d, lookup %d", turn, i);
        }
        whole_free(&image);
        ck_assert_uint_ne(staged_tile(c, id, 0), UINT32_MAX);
        ck_assert_int_eq(txm_cache_replace(c, id, paths[(turn + 1) % 2], NULL), TXM_OK);
        ck_assert_uint_eq(stats_of(c).tiles, 0);
    }
    ck_assert_uint_gt(stats_of(c).tiles_restored, 0);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    for (int i = 0; i < 2; i++)
        free(paths[i]);
}
END_TEST

/* ---- views and batches ---- */

static txm_lookup_result look_in_view(const txm_view *view, uint32_t id, const board *b, uint32_t tile,
                                      txm_lookup_state *lane)
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = in_tile(0, tile);
    float out[4];
    const txm_lookup_result result = txm_sample(view, id, &how, &at, lane, out);
    if (result == TXM_LOOKUP_HIT)
        ck_assert_float_eq(out[0], color_of(b, 0, tile));
    return result;
}

/* Tiles that a view contains may be staged, come back and be evicted while it is open: the view does not change. */
START_TEST(open_views_go_on_showing_them)
{
    board b = {.base = 0};
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    txm_cache_viewer *viewer;
    txm_view view;
    txm_lookup_state lane = {.capacity = 0};
    bool shown[TILES];
    uint32_t count = 0, were_staged = 0, came_back = 0;
    const uint32_t id = add_board(c, &b);
    for (uint32_t i = 0; i < TILES / 2; i++)
        look(t, id, &b, 0, i);
    ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    for (uint32_t i = 0; i < TILES; i++)
        count += shown[i] = look_in_view(&view, id, &b, i, &lane) == TXM_LOOKUP_HIT;
    ck_assert_uint_gt(count, 10);
    for (uint32_t i = 0; i < 2 * TILES; i++) {
        look(t, id, &b, 0, i % TILES);
        for (uint32_t k = 0; k < TILES; k++) {
            if (!shown[k])
                continue;
            ck_assert_int_eq(look_in_view(&view, id, &b, k, &lane), TXM_LOOKUP_HIT);
            const bool staged = is_staged(c, id, 0, k);
            were_staged += staged;
            if (staged && k % 2) {
                look(t, id, &b, 0, k);
                came_back++;
            }
        }
    }
    ck_assert_uint_gt(were_staged, came_back);
    ck_assert_uint_gt(came_back, 0);
    ck_assert_uint_gt(c->store.retired_bytes, 0);
    txm_cache_viewer_free(&viewer);
    ck_assert_uint_eq(c->store.retired_bytes, 0);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

/* A cancelled batch leaves staged tiles as they were. If they were invalidated, the batch reads them again. */
START_TEST(batches_bring_them_back)
{
    board b = {.base = 0};
    txm_cache *c = small_cache();
    txm_cache_thread *t = new_thread(c);
    txm_cache_viewer *viewer;
    txm_view view;
    uint32_t requests[4];
    txm_lookup_state lane = {.capacity = 4, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    const uint32_t id = add_board(c, &b), tile = stage_some(c, t, id, &b, 0);
    ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, NULL), TXM_OK);
    for (int turn = 0; turn < 3; turn++) { /* cancelled, loaded, invalidated */
        if (turn == 2) {
            for (int i = 0; i < 2; i++) { /* a batch's tiles belong to it until the next batch */
                ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
                ck_assert_int_eq(txm_cache_viewer_process(viewer, NULL, 0, &ticket, NULL), TXM_OK);
                txm_ticket_wait(&ticket);
            }
            for (uint32_t i = 0; i < 4 * TILES && !is_staged(c, id, 0, tile); i++)
                if (i % TILES != tile)
                    look(t, id, &b, 0, i % TILES);
        }
        ck_assert_msg(is_staged(c, id, 0, tile), "turn %d, found %d", turn, is_found(c, id, 0, tile));
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        ck_assert_int_eq(look_in_view(&view, id, &b, tile, &lane), TXM_LOOKUP_MISS);
        const int reads = b.reads;
        ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
        ck_assert_uint_eq(txm_ticket_total(ticket), 1);
        ck_assert(!is_staged(c, id, 0, tile) && !is_found(c, id, 0, tile));
        if (turn == 2) {
            b.base = 5000;
            ck_assert_int_eq(txm_cache_invalidate(c, id, NULL, NULL), TXM_OK);
        }
        if (turn)
            txm_ticket_wait(&ticket);
        else
            txm_ticket_cancel(&ticket);
        ck_assert_int_eq(b.reads, reads);
        ck_assert_int_eq(is_found(c, id, 0, tile), turn == 1);
        ck_assert_int_eq(is_staged(c, id, 0, tile), turn == 0);
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        ck_assert_int_eq(look_in_view(&view, id, &b, tile, &lane), turn == 1 ? TXM_LOOKUP_HIT : TXM_LOOKUP_MISS);
        lane.count = 0;
        txm_cache_viewer_close(viewer);
    }
    const int reads = b.reads;
    look(t, id, &b, 0, tile);
    ck_assert_int_eq(b.reads, reads + 1);
    txm_cache_viewer_free(&viewer);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

/* ---- memory ---- */

/* A smaller budget evicts staged tiles, too; lookups go on. */
START_TEST(a_smaller_budget)
{
    board b = {.base = 0};
    txm_cache_options o = budget_options(4 << 20, TXM_CACHE_POLICY_SECOND_CHANCE);
    o.coalesce = 0;
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_board(c, &b);
    stage_some(c, t, id, &b, 0);
    for (uint64_t bytes = 3 << 20; bytes >= 600 << 10; bytes -= 300 << 10) {
        ck_assert_int_eq(txm_cache_set_max_bytes(c, bytes, NULL), TXM_OK);
        ck_assert_uint_le(stats_of(c).allocated_bytes, bytes);
        for (uint32_t i = 0; i < TILES; i++)
            look(t, id, &b, 0, i);
        ck_assert_uint_eq(stats_of(c).tiles_loaded, stats_of(c).tiles_evicted + stats_of(c).tiles);
    }
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

/* ---- words ---- */

/* Command lines take their lists of policies from the library. */
START_TEST(policies_are_listed_once)
{
    const txm_cache_policy_words *w;
    for (uint32_t i = 0; i < POLICIES; i++) {
        w = txm_cache_policy_words_of((txm_cache_policy)i);
        ck_assert_str_eq(w->name, txm_cache_policy_name((txm_cache_policy)i));
        ck_assert_uint_le(strlen(w->column), 8);
    }
    ck_assert_ptr_null(txm_cache_policy_words_of((txm_cache_policy)POLICIES));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache_staged");
    TCase *tcase = add_case(suite, "staged");
    temp_file("");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, comes_back_without_being_read);
    tcase_add_test(tcase, what_is_used_is_learnt);
    tcase_add_test(tcase, pinned_tiles_are_not_staged);
    tcase_add_test(tcase, levels_may_be_added);
    tcase_add_test(tcase, painted_over);
    tcase_add_test(tcase, replaced_while_staged);
    tcase_add_test(tcase, open_views_go_on_showing_them);
    tcase_add_test(tcase, batches_bring_them_back);
    tcase_add_test(tcase, a_smaller_budget);
    tcase_add_test(tcase, policies_are_listed_once);
    return run_suite(suite);
}
