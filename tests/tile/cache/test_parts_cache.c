/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the texture cache one by one: counted memory, slabs, page table, waiting for lookups, files, loading,
 * the blank page table, the offline optimum. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tile/cache/cache_impl.h"
#include "tile/cache/rehearse.h"
#include "tile/record/blank.h"
#include "tile/trace/optimum.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_tx.h"

static counted count;

/* Makes a cache with a budget and counted memory. Tests call its parts as the cache does, with its lock held. */
static txm_cache *cache_of(uint64_t max_bytes, uint32_t max_open)
{
    txm_cache_options o;
    txm_cache_options_init(&o);
    count = (counted){0};
    o.max_bytes = max_bytes;
    o.max_open = max_open;
    o.threads = 1;
    o.allocator = count_in(&count);
    return new_cache(&o);
}

static void free_all(txm_cache **c)
{
    txm_cache_free(c);
    ck_assert_uint_eq(count.now, 0);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

START_TEST(memory_is_counted_to_the_byte)
{
    txm_cache *c = cache_of(0, 4);
    size_t before = c->allocated;
    void *a = txm_cache_allocate(c, 1000, 256);
    ck_assert_uint_eq((uintptr_t)a % 256, 0);
    ck_assert_uint_eq(c->allocated, before + 1000);
    void *nothing = txm_cache_allocate(c, 0, 1);
    ck_assert_ptr_nonnull(nothing);
    char *text = txm_cache_strdup(c, "abc");
    ck_assert_str_eq(text, "abc");
    ck_assert_uint_eq(c->allocated, before + 1004);
    txm_cache_free_string(c, &text);
    txm_cache_free_string(c, &text);
    ck_assert_ptr_null(text);
    txm_cache_release(c, a, 1000);
    txm_cache_release(c, nothing, 0);
    txm_cache_release(c, NULL, 77);
    ck_assert_uint_eq(c->allocated, before);
    ck_assert_uint_eq(c->stats.allocated_bytes_peak, before + 1004);
    count.refuse_in = 1;
    ck_assert_ptr_null(txm_cache_allocate(c, 10, 8));
    ck_assert_ptr_null(txm_cache_strdup(c, "abc"));
    ck_assert_uint_eq(c->allocated, before);
    free_all(&c);
}
END_TEST

START_TEST(arrays_grow_or_stay_as_they_are)
{
    txm_cache *c = cache_of(0, 4);
    uint32_t *items = NULL, capacity = 0;
    ck_assert(txm_cache_grow(c, (void **)&items, &capacity, 1, sizeof *items, false));
    ck_assert_uint_ge(capacity, 1);
    ck_assert_uint_eq((uintptr_t)items % 64, 0);
    for (uint32_t i = 0; i < capacity; i++)
        ck_assert_uint_eq(items[i], 0);
    items[0] = 7;
    uint32_t *same = items, had = capacity;
    ck_assert(txm_cache_grow(c, (void **)&items, &capacity, had, sizeof *items, false));
    ck_assert_ptr_eq(items, same);
    uint64_t generation = atomic_load(&c->generation);
    ck_assert(txm_cache_grow(c, (void **)&items, &capacity, 5000, sizeof *items, true));
    ck_assert_uint_ge(capacity, 5000);
    ck_assert_uint_eq(items[0], 7);
    ck_assert_uint_eq(items[4999], 0);
    /* Lookups were made to take a new view, and may run again. */
    ck_assert_uint_eq(atomic_load(&c->generation), generation + 2);
    same = items, had = capacity;
    ck_assert(!txm_cache_grow(c, (void **)&items, &capacity, 1ull << 32, sizeof *items, false));
    count.refuse_in = 1;
    ck_assert(!txm_cache_grow(c, (void **)&items, &capacity, had + 1ull, sizeof *items, false));
    ck_assert_ptr_eq(items, same);
    ck_assert_uint_eq(capacity, had);
    ck_assert_uint_eq(items[0], 7);
    txm_cache_release(c, items, capacity * sizeof *items);
    free_all(&c);
}
END_TEST

/* ---- slabs ----------------------------------------------------------------------------------------------------- */

enum { TILE_BYTES = 68 * 68 * 4 };

START_TEST(slots_have_pixels_of_their_own)
{
    enum { MANY = 100 };
    txm_cache *c = cache_of(0, 4);
    uint32_t slots[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        slots[i] = txm_slot_take(c, TILE_BYTES, true);
        ck_assert_uint_ne(slots[i], TXM_NO_SLOT);
        ck_assert_uint_eq(txm_slot_bytes(c, slots[i]), TILE_BYTES);
        ck_assert_int_eq(txm_slot_at(c, slots[i])->state, TXM_SLOT_STATE_LOADING);
        ck_assert(!txm_slot_evictable(txm_slot_at(c, slots[i])));
        memset(txm_slot_pixels(c, slots[i]), (int)i, TILE_BYTES);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        const uint8_t *p = txm_slot_pixels(c, slots[i]);
        ck_assert(p[0] == i && p[TILE_BYTES / 2] == i && p[TILE_BYTES - 1] == i);
    }
    ck_assert_uint_eq(c->stats.tiles, MANY);
    ck_assert_uint_eq(c->stats.tile_bytes, (uint64_t)MANY * TILE_BYTES);
    /* The slot that was freed last is reused first, with a new stamp. */
    uint32_t stamp = txm_slot_at(c, slots[40])->stamp;
    txm_slot_give(c, slots[40]);
    ck_assert_int_eq(txm_slot_at(c, slots[40])->state, TXM_SLOT_STATE_FREE);
    ck_assert_uint_eq(txm_slot_take(c, TILE_BYTES, true), slots[40]);
    ck_assert_uint_ne(txm_slot_at(c, slots[40])->stamp, stamp);
    for (uint32_t i = 0; i < MANY; i++)
        txm_slot_give(c, slots[i]);
    ck_assert_uint_eq(c->stats.tiles, 0);
    ck_assert_uint_gt(c->stats.slab_bytes, 0);
    txm_slabs_drop_empty(c, TXM_ALL_SLABS);
    ck_assert_uint_eq(c->stats.slab_bytes, 0);
    ck_assert_uint_eq(c->stats.tiles_peak, MANY);
    free_all(&c);
}
END_TEST

START_TEST(tiles_of_any_size_have_slots)
{
    static const uint32_t sizes[] = {
        1, 5 * 5, TXM_SLAB_BYTES - 1, TXM_SLAB_BYTES, TXM_SLAB_BYTES + 1, 1028 * 1028 * 16};
    txm_cache *c = cache_of(0, 4);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t a = txm_slot_take(c, sizes[i], true), b = txm_slot_take(c, sizes[i], true);
        ck_assert(a != TXM_NO_SLOT && b != TXM_NO_SLOT && a != b);
        memset(txm_slot_pixels(c, a), 1, sizes[i]);
        memset(txm_slot_pixels(c, b), 2, sizes[i]);
        ck_assert_uint_eq(txm_slot_pixels(c, a)[sizes[i] - 1], 1);
    }
    /* There is a class for each of these sizes of padded tiles, and for no more. */
    for (uint32_t i = 6; i < TXM_CLASSES; i++)
        ck_assert_uint_ne(txm_slot_take(c, 1000 + i, true), TXM_NO_SLOT);
    ck_assert_uint_eq(txm_slot_take(c, 999, true), TXM_NO_SLOT);
    ck_assert_uint_ne(txm_slot_take(c, 1, true), TXM_NO_SLOT);
    free_all(&c);
}
END_TEST

/* Whichever allocation fails, nothing is leaked or counted twice, and the next slot that is requested succeeds. */
START_TEST(slots_without_memory)
{
    for (long n = 1;; n++) {
        txm_cache *c = cache_of(0, 4);
        count.refuse_in = n;
        uint32_t slot = txm_slot_take(c, TILE_BYTES, true);
        bool failed = slot == TXM_NO_SLOT;
        ck_assert_uint_eq(c->stats.tiles, failed ? 0 : 1);
        count.refuse_in = 0;
        if (failed)
            ck_assert_uint_ne(txm_slot_take(c, TILE_BYTES, true), TXM_NO_SLOT);
        free_all(&c);
        if (!failed) {
            ck_assert_int_gt(n, 3);
            break;
        }
    }
}
END_TEST

/* The budget holds two slabs. The one whose tiles were used longest ago is dropped, but never while its tiles are being
 * read. */
START_TEST(full_slabs_give_way)
{
    enum { MOST = 200 };
    txm_cache *c = cache_of(sizeof(txm_cache) + (1200 << 10), 4);
    uint32_t first, slots[MOST], n = 0, all = TXM_SLAB_BYTES / TILE_BYTES * 2;
    ck_assert(txm_block_new(c, MOST, TXM_NO_TEXTURE, NULL, 0, &first));
    for (; n < all; n++) {
        slots[n] = txm_slot_take(c, TILE_BYTES, true);
        txm_slot_at(c, slots[n])->entry = first + n;
        *txm_entry(c, first + n) = (txm_tile_entry){slots[n], n + 1};
    }
    ck_assert_uint_le(c->allocated, c->options.max_bytes);
    ck_assert(!txm_slab_drop_one(c, TXM_NO_SLOT));
    for (uint32_t i = 0; i < n; i++)
        txm_slot_at(c, slots[i])->state = TXM_SLOT_STATE_HELD;
    txm_slot_at(c, slots[n - 1])->pins = 1;
    uint32_t one_more = txm_slot_take(c, TILE_BYTES, true);
    ck_assert_uint_ne(one_more, TXM_NO_SLOT);
    ck_assert_uint_le(c->allocated, c->options.max_bytes);
    ck_assert_uint_eq(txm_entry_slot(c, first), TXM_SLOT_NONE);
    ck_assert_uint_eq(txm_entry_slot(c, first + n - 1), slots[n - 1]);
    ck_assert_uint_gt(c->stats.tiles_evicted, 0);
    /* Only one class has slabs, so there is none to drop if that class is excluded. */
    ck_assert(!txm_slab_drop_one(c, 0));
    free_all(&c);
}
END_TEST

/* ---- page table ------------------------------------------------------------------------------------------------ */

/* Makes a source of this size that has not been opened, with what table.c needs of it. */
static txm_source source_of(txm_view_texture *view, uint32_t width, uint32_t height, txm_cache_file *file)
{
    *view = (txm_view_texture){.width = width, .height = height, .tile_shift = 6, .tile_bytes = TILE_BYTES};
    while (view->levels == 0 || width >> view->levels || height >> view->levels)
        view->levels++;
    return (txm_source){.file = file,
                        .view = view,
                        .textures = 1,
                        .first_texture = TXM_NO_TEXTURE,
                        .registered = (uint8_t)(view->levels + 1)};
}

START_TEST(blocks_are_found_by_any_number)
{
    txm_cache *c = cache_of(0, 4);
    uint32_t first[20];
    ck_assert_ptr_null(txm_block_of(c, 0));
    for (uint32_t i = 0; i < 20; i++)
        ck_assert(txm_block_new(c, i + 1, i, NULL, 0, &first[i]));
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t j = 0; j <= i; j++) {
            ck_assert_uint_eq(txm_block_of(c, first[i] + j)->texture, i);
            ck_assert_uint_eq(txm_entry_slot(c, first[i] + j), TXM_SLOT_NONE);
        }
    ck_assert_ptr_null(txm_block_of(c, first[19] + 20));
    ck_assert_ptr_null(txm_block_of(c, UINT32_MAX));
    free_all(&c);
}
END_TEST

START_TEST(blocks_are_used_again_when_nobody_sees_them)
{
    txm_cache *c = cache_of(0, 4);
    txm_cache_thread *t = new_thread(c);
    uint32_t a, b, again;
    ck_assert(txm_block_new(c, 9, 1, NULL, 0, &a) && txm_block_new(c, 5, 2, NULL, 0, &b));
    /* The thread has left its view to request what it missed: it may still hold requests for the block. */
    txm_enter_to_ask(t);
    txm_leave_asking(t, 1);
    txm_block_retire(c, a);
    ck_assert(txm_block_new(c, 9, 3, NULL, 0, &again));
    ck_assert_uint_ne(again, a);
    txm_fetch(t, 0); /* an idle thread does not delay anything, however old its view */
    ck_assert(txm_block_new(c, 8, 4, NULL, 0, &again));
    ck_assert_uint_ne(again, a);
    ck_assert(txm_block_new(c, 9, 5, NULL, 0, &again));
    ck_assert_uint_eq(again, a);
    ck_assert_uint_eq(txm_block_of(c, a + 8)->texture, 5);
    txm_cache_thread_free(&t);
    free_all(&c);
}
END_TEST

START_TEST(levels_are_registered_from_coarse_to_fine)
{
    txm_cache *c = cache_of(0, 4);
    txm_view_texture view;
    txm_source s = source_of(&view, 300, 200, NULL);
    ck_assert_uint_eq(s.view->levels, 9);
    ck_assert_uint_eq(txm_source_tiles(&s, 0), 5 * 4 + 3 * 2 + 2 + 6);
    ck_assert_uint_eq(txm_source_tiles(&s, 9), 0);
    ck_assert_int_eq(txm_source_register(c, &s, s.view->levels, NULL), TXM_OK);
    /* No level has numbers: lookups find UNREGISTERED everywhere. */
    for (uint32_t i = 0; i < s.view->levels; i++)
        for (uint32_t n = 0; n < txm_source_tiles(&s, i) - txm_source_tiles(&s, i + 1); n++)
            ck_assert_uint_eq(txm_entry_slot(c, txm_number(&s, i, n)), TXM_SLOT_UNREGISTERED);
    ck_assert_int_eq(txm_source_register(c, &s, 2, NULL), TXM_OK);
    const uint32_t number = txm_number(&s, 2, 1), first = s.first;
    ck_assert_int_eq(txm_source_register(c, &s, 0, NULL), TXM_OK);
    ck_assert_uint_eq(s.first, first);
    ck_assert_uint_eq(txm_number(&s, 2, 1), number);
    ck_assert_int_eq(txm_source_register(c, &s, 5, NULL), TXM_OK); /* the level already has numbers */
    ck_assert_uint_eq(s.registered, 0);
    /* Every number is traced back to its level and tile. */
    uint32_t level, tile;
    for (uint32_t i = 0; i < s.view->levels; i++) {
        txm_block_locate(txm_block_of(c, s.first + i), s.first + i, &level, &tile);
        ck_assert(level == i && tile == TXM_WHOLE_LEVEL);
        for (uint32_t n = 0; n < txm_source_tiles(&s, i) - txm_source_tiles(&s, i + 1); n++) {
            const uint32_t of = txm_number(&s, i, n);
            txm_block_locate(txm_block_of(c, of), of, &level, &tile);
            ck_assert(level == i && tile == n);
        }
    }
    txm_blocks_retire(c, &s);
    ck_assert(txm_block_of(c, number)->retired && txm_block_of(c, first)->retired);
    txm_block_locate(txm_block_of(c, number), number, &level, &tile);
    ck_assert(level == 2 && tile == 1);
    free_all(&c);
}
END_TEST

START_TEST(levels_without_memory_stay_unregistered)
{
    txm_cache *c = cache_of(0, 4);
    txm_error err = {0};
    txm_cache_file *file = txm_file_new(c, "wood.tx", NULL);
    txm_view_texture view;
    txm_source s = source_of(&view, 4096, 4096, file);
    ck_assert_int_eq(txm_source_register(c, &s, s.view->levels, NULL), TXM_OK);
    const txm_view_texture before = *s.view;
    count.refuse_in = 1;
    ck_assert_int_eq(txm_source_register(c, &s, 0, &err), TXM_STATUS_NO_MEMORY);
    ck_assert_ptr_nonnull(strstr(err.message, "wood.tx"));
    ck_assert_uint_eq(s.registered, s.view->levels);
    ck_assert_mem_eq(s.view, &before, sizeof before);
    count.refuse_in = 0;
    ck_assert_int_eq(txm_source_register(c, &s, 0, NULL), TXM_OK);
    ck_assert_uint_ge(c->table.unregistered_count, 64 * 64);
    txm_file_drop(c, &file);
    ck_assert_ptr_null(file);
    free_all(&c);
}
END_TEST

/* ---- waiting for lookups --------------------------------------------------------------------------------------- */

typedef struct looker {
    txm_cache_thread *thread;
    atomic_int state; /* 1: in a lookup, 2: about to leave it */
} looker;

static void *look_for_a_while(void *p)
{
    looker *l = p;
    txm_enter(l->thread);
    atomic_store(&l->state, 1);
    for (int i = 0; i < 200; i++)
        sched_yield();
    usleep(20000);
    atomic_store(&l->state, 2);
    txm_leave(l->thread);
    return NULL;
}

START_TEST(running_lookups_are_waited_for)
{
    for (int fences = 0; fences < 2; fences++) {
        txm_cache *c = cache_of(0, 4);
        c->fences |= fences;
        looker l = {.thread = new_thread(c)};
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, look_for_a_while, &l), 0);
        while (!atomic_load(&l.state))
            sched_yield();
        pthread_mutex_lock(&c->lock);
        txm_wait_quiescent(c);
        ck_assert_int_eq(atomic_load(&l.state), 2);
        pthread_mutex_unlock(&c->lock);
        pthread_join(thread, NULL);
        txm_cache_thread_free(&l.thread);
        free_all(&c);
    }
}
END_TEST

static void *enter_once(void *p)
{
    looker *l = p;
    txm_enter(l->thread);
    atomic_store(&l->state, 2);
    txm_leave(l->thread);
    return NULL;
}

START_TEST(nobody_looks_while_the_world_is_stopped)
{
    txm_cache *c = cache_of(0, 4);
    looker l = {.thread = new_thread(c)};
    pthread_t thread;
    pthread_mutex_lock(&c->lock);
    txm_stop_world(c);
    ck_assert_uint_eq(atomic_load(&c->generation) & 1, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_once, &l), 0);
    usleep(20000);
    ck_assert_int_eq(atomic_load(&l.state), 0);
    uint32_t first;
    ck_assert(txm_block_new(c, 3, 0, NULL, 0, &first));
    txm_resume_world(c);
    pthread_mutex_unlock(&c->lock);
    pthread_join(thread, NULL);
    ck_assert_int_eq(atomic_load(&l.state), 2);
    /* The thread has noticed what changed meanwhile. */
    ck_assert_uint_eq(l.thread->generation, atomic_load(&c->generation));
    ck_assert_ptr_eq(l.thread->view.tiles, c->table.entries);
    txm_cache_thread_free(&l.thread);
    free_all(&c);
}
END_TEST

/* ---- files ------------------------------------------------------------------------------------------------------ */

START_TEST(files_close_by_their_last_use)
{
    txm_cache *c = cache_of(0, 2);
    txm_cache_file *files[3];
    txm_tx *tx;
    for (int i = 0; i < 3; i++) {
        char *path = write_cached((const char *[]){"a.tx", "b.tx", "c.tx"}[i], 128, 64, 1, TXM_TYPE_U8, MADE_NOISE, 1);
        files[i] = txm_file_new(c, path, NULL);
        free(path);
        ck_assert_int_eq(txm_file_acquire(c, files[i], &tx, NULL), TXM_OK);
        ck_assert_uint_eq(txm_tx_info_of(tx)->width, 128);
        txm_file_give(c, files[i]);
    }
    ck_assert_uint_eq(c->stats.files_open, 2);
    ck_assert(!files[0]->open && files[1]->open && files[2]->open);
    ck_assert_int_eq(txm_file_acquire(c, files[1], &tx, NULL), TXM_OK);
    ck_assert_int_eq(txm_file_acquire(c, files[0], &tx, NULL), TXM_OK);
    ck_assert(files[0]->open && files[1]->open && !files[2]->open);
    /* Files that are being read are not closed, however many they are. */
    ck_assert_int_eq(txm_file_acquire(c, files[2], &tx, NULL), TXM_OK);
    ck_assert_uint_eq(c->stats.files_open, 3);
    for (int i = 0; i < 3; i++)
        txm_file_give(c, files[i]);
    ck_assert_uint_eq(c->stats.files_open, 2);
    ck_assert_uint_eq(c->stats.files_opened, 5);
    files[2]->textures++;
    txm_cache_file *second = files[2];
    txm_file_drop(c, &second);
    ck_assert_ptr_nonnull(files[2]->path);
    for (int i = 0; i < 3; i++)
        txm_file_drop(c, &files[i]);
    ck_assert_uint_eq(c->stats.files_open, 0);
    ck_assert_uint_eq(c->stats.reader_bytes, 0);
    free_all(&c);
}
END_TEST

START_TEST(other_files_under_the_name_are_not_read)
{
    txm_cache *c = cache_of(0, 1);
    txm_error err = {0};
    txm_tx *tx;
    char *path = write_cached("a.tx", 128, 64, 1, TXM_TYPE_U8, MADE_NOISE, 1);
    char *other = write_cached("b.tx", 64, 64, 1, TXM_TYPE_U8, MADE_NOISE, 2);
    txm_cache_file *a = txm_file_new(c, path, NULL), *b = txm_file_new(c, other, NULL),
                   *missing = txm_file_new(c, temp_file("no.tx"), NULL);
    ck_assert_int_eq(txm_file_acquire(c, a, &tx, NULL), TXM_OK);
    txm_file_give(c, a);
    ck_assert_int_eq(txm_file_acquire(c, b, &tx, NULL), TXM_OK); /* this closes the other file */
    txm_file_give(c, b);
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert_int_eq(txm_file_acquire(c, a, &tx, &err), TXM_STATUS_CHANGED);
    ck_assert_ptr_nonnull(strstr(err.message, "a.tx"));
    err = (txm_error){0};
    ck_assert_int_eq(txm_file_acquire(c, missing, &tx, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_uint_eq(missing->opens, 0);
    /* Damage is remembered: such a file is not opened again for each of its tiles. A missing file may appear later. */
    FILE *damaged = fopen(temp_file("no.tx"), "w");
    ck_assert_ptr_nonnull(damaged);
    fputs("no tx file at all", damaged);
    fclose(damaged);
    err = (txm_error){0};
    ck_assert_int_eq(txm_file_acquire(c, missing, &tx, &err), TXM_STATUS_UNSUPPORTED);
    free(write_cached("no.tx", 64, 64, 1, TXM_TYPE_U8, MADE_NOISE, 3));
    err = (txm_error){0};
    ck_assert_int_eq(txm_file_acquire(c, missing, &tx, &err), TXM_STATUS_UNSUPPORTED);
    ck_assert_uint_eq(missing->opens, 0);
    txm_file_drop(c, &a);
    txm_file_drop(c, &b);
    txm_file_drop(c, &missing);
    free(path);
    free(other);
    free_all(&c);
}
END_TEST

/* ---- loading ---------------------------------------------------------------------------------------------------- */

/* Makes a cache with one open texture of 256 x 128 px and returns its source. */
static txm_source *open_one(txm_cache *c, made_content content)
{
    char *path = write_cached("one.tx", 256, 128, 4, TXM_TYPE_U8, content, 1);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    free(path);
    ck_assert_int_eq(txm_cache_open(c, id, NULL, NULL), TXM_OK);
    return c->catalog.textures[id].source;
}

static uint32_t request(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile)
{
    const uint32_t number = txm_number(s, level, tile);
    if (txm_entry(c, number))
        txm_entry(c, number)->slot = TXM_SLOT_REQUESTED;
    return number;
}

START_TEST(requests_become_tiles)
{
    txm_cache *c = cache_of(0, 4);
    txm_source *s = open_one(c, MADE_NOISE);
    txm_pins pins = {0};
    txm_job job;
    uint8_t *unwidened = NULL;
    size_t unwidened_bytes = 0;
    ck_assert_ptr_eq(txm_origin_of(s->file), &txm_origin_file);
    /* A level is registered first, and its tiles are requested after that. */
    ck_assert(!txm_plan(c, s->first, &job));
    ck_assert_uint_eq(s->registered, 0);
    ck_assert(!txm_plan(c, UINT32_MAX, &job));
    uint32_t entry = request(c, s, 0, 3);
    ck_assert(txm_plan(c, entry, &job));
    ck_assert(!txm_plan(c, entry, &job)); /* it is being read */
    ck_assert(job.source == s && job.level == 0 && job.tile == 3);
    ck_assert(txm_plan_slot(c, &job, true));
    uint64_t seen = atomic_load(&c->completions);
    txm_load(c, &job, &unwidened, &unwidened_bytes, &pins);
    ck_assert_uint_eq(txm_entry_slot(c, entry), job.slot);
    ck_assert_int_eq(txm_slot_at(c, job.slot)->state, TXM_SLOT_STATE_HELD);
    ck_assert_uint_eq(txm_slot_at(c, job.slot)->pins, 1);
    ck_assert_uint_eq(pins.count, 1);
    txm_wait_for_others(c, seen); /* a load has completed since, so this returns at once */
    ck_assert_uint_eq(s->loads, 1);
    ck_assert_uint_eq(s->loading, 0);
    txm_view_texture v = *s->view;
    uint8_t *expected = malloc(v.tile_bytes);
    txm_tx *tx = open_tx(s->file->path);
    ck_assert_int_eq(txm_view_read_tile(tx, &v, 0, 0, 3, expected, NULL, NULL, NULL), TXM_OK);
    ck_assert_mem_eq(txm_slot_pixels(c, job.slot), expected, v.tile_bytes);
    txm_tx_close(&tx);
    free(expected);
    /* A pin does not count for a slot that has been given to another tile. */
    pins.items[0].stamp--;
    txm_unpin(c, &pins);
    ck_assert_uint_eq(txm_slot_at(c, job.slot)->pins, 1);
    ck_assert_uint_eq(pins.count, 0);
    txm_cache_release(c, pins.items, pins.capacity * sizeof *pins.items);
    free_all(&c);
}
END_TEST

START_TEST(tiles_that_cannot_be_read_fail)
{
    txm_cache *c = cache_of(0, 1);
    txm_source *s = open_one(c, MADE_NOISE);
    txm_pins pins = {0};
    txm_job job, second;
    uint8_t *unwidened = NULL;
    size_t unwidened_bytes = 0;
    ck_assert(!txm_plan(c, s->first, &job));
    uint32_t a = request(c, s, 0, 0), b = request(c, s, 0, 1);
    ck_assert(txm_plan(c, a, &job) && txm_plan(c, b, &second));
    count.refuse_in = 1;
    ck_assert(!txm_plan_slot(c, &job, true));
    count.refuse_in = 0;
    txm_load(c, &job, &unwidened, &unwidened_bytes, &pins);
    ck_assert_uint_eq(txm_entry_slot(c, a), TXM_SLOT_UNREADABLE); /* in the first round */
    ck_assert_ptr_nonnull(strstr(s->trouble->message, "no memory"));
    /* Meanwhile the path leads to a different file. */
    txm_cache_file *f = s->file;
    txm_tx *tx;
    char *other = write_cached("two.tx", 64, 64, 4, TXM_TYPE_U8, MADE_NOISE, 2);
    txm_cache_file *closer = txm_file_new(c, other, NULL);
    ck_assert_int_eq(txm_file_acquire(c, closer, &tx, NULL), TXM_OK);
    txm_file_give(c, closer);
    txm_file_drop(c, &closer);
    ck_assert_int_eq(rename(other, f->path), 0);
    ck_assert(txm_plan_slot(c, &second, true));
    uint64_t tiles = c->stats.tiles;
    txm_load(c, &second, &unwidened, &unwidened_bytes, &pins);
    ck_assert_uint_eq(txm_entry_slot(c, b), TXM_SLOT_FAILED);
    ck_assert_uint_eq(c->stats.tiles, tiles - 1);
    ck_assert_uint_eq(s->trouble->failures, 2);
    ck_assert_ptr_nonnull(strstr(s->trouble->message, "no memory")); /* the first one stays */
    ck_assert_uint_eq(pins.count, 0);
    free(other);
    free_all(&c);
}
END_TEST

START_TEST(tiles_of_one_colour_share_a_slot)
{
    txm_cache *c = cache_of(0, 4);
    txm_source *s = open_one(c, MADE_CONSTANT);
    txm_pins pins = {0};
    txm_job job;
    uint8_t *unwidened = NULL;
    size_t unwidened_bytes = 0;
    ck_assert(!txm_plan(c, s->first, &job));
    uint32_t slot = TXM_NO_SLOT;
    for (uint32_t tile = 0; tile < 8; tile++) {
        uint32_t entry = request(c, s, 0, tile);
        ck_assert(txm_plan(c, entry, &job) && txm_plan_slot(c, &job, true));
        txm_load(c, &job, &unwidened, &unwidened_bytes, &pins);
        slot = tile ? slot : txm_entry_slot(c, entry);
        ck_assert_uint_eq(txm_entry_slot(c, entry), slot);
    }
    ck_assert_int_eq(txm_slot_at(c, slot)->state, TXM_SLOT_STATE_SHARED);
    ck_assert_uint_eq(txm_slot_at(c, slot)->entry, 8);
    ck_assert_uint_eq(c->stats.tiles, 1);
    ck_assert_uint_eq(c->stats.tiles_coalesced, 7);
    ck_assert_uint_eq(pins.count, 0);
    free_all(&c);
}
END_TEST

/* ---- the blank page table --------------------------------------------------------------------------------------- */

START_TEST(blank_tables_name_the_tiles_of_a_lookup)
{
    txm_view_texture view;
    txm_source s = source_of(&view, 512, 256, NULL);
    txm_view_texture shape = *s.view;
    shape.type = TXM_TYPE_U8;
    shape.channels = 4;
    shape.pixel_bytes = 4;
    shape.row_bytes = 68 * 4;
    shape.tiled_levels = 4;
    shape.scale = 1.0f;
    shape.extension = TXM_EXTENSION_REPEAT;
    txm_blank b = {0};
    txm_tile_name tiles[TXM_BLANK_TILES];
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    uint32_t n = 99;
    /* Returns a lookup in the middle of the second tile in the first row. */
    txm_lookup at = {96.0f / 512, 1.0f - 32.0f / 256, 0, 0, 0, 0};
    for (int again = 0; again < 3; again++) {
        ck_assert(txm_blank_lookup(&b, &shape, &how, &at, 0, tiles, &n));
        ck_assert_uint_eq(n, 1);
        ck_assert(tiles[0].level == 0 && tiles[0].texture == 0 && tiles[0].udim == 0);
        ck_assert(tiles[0].tile == 1 || tiles[0].tile == 8 * 3 + 1);
    }
    /* This lookup is between levels 1 and 2. */
    how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    at.dudx = 2.8f / 512;
    at.dvdy = 2.8f / 256;
    ck_assert(txm_blank_lookup(&b, &shape, &how, &at, 0, tiles, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(tiles[0].level + tiles[1].level, 3);
    /* A level may have more tiles than a key can hold. */
    s = source_of(&view, 1u << 17, 1u << 17, NULL);
    shape.width = shape.height = 1u << 17;
    shape.levels = TXM_MAX_LOOKUP_LEVELS;
    ck_assert(!txm_blank_lookup(&b, &shape, &how, &at, 0, tiles, &n));
    ck_assert_uint_eq(n, 0);
    txm_blank_free(&b);
    txm_blank_free(&b);
}
END_TEST

/* ---- a cache without files -------------------------------------------------------------------------------------- */

static void rehearsed_shape(const void *user, uint32_t texture, txm_view_texture *shape, bool *widened)
{
    (void)user, (void)texture;
    txm_view_shape(256, 256, 9, 64, TXM_TYPE_U8, 4, TXM_EXTENSION_REPEAT, shape);
    *widened = false;
}

/* The first tile of each texture has one colour, to which `user` points. */
static const uint8_t *rehearsed_pixel(const void *user, txm_tile_name tile)
{
    return tile.tile == 0 ? user : NULL;
}

START_TEST(tiles_are_rehearsed_without_files)
{
    static const uint8_t pixel[16] = {1, 2, 3, 255};
    const txm_rehearsal rehearsal = {pixel, rehearsed_shape, rehearsed_pixel};
    const txm_tile_name tiles[] = {{.texture = 0, .tile = 0}, {.texture = 0, .tile = 5}, {.texture = 1, .tile = 0}};
    txm_cache_options o;
    txm_cache *c;
    txm_cache_thread *t;
    txm_cache_stats s;
    txm_cache_options_init(&o);
    ck_assert_int_eq(txm_cache_new(&o, &c, NULL), TXM_OK);
    txm_rehearse(c, &rehearsal);
    ck_assert_int_eq(txm_rehearse_add(c, "there/is/no/a.tx", TXM_EXTENSION_REPEAT, NULL), TXM_OK);
    ck_assert_int_eq(txm_rehearse_add(c, "there/is/no/b.tx", TXM_EXTENSION_REPEAT, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_thread_new(c, &t, NULL), TXM_OK);
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(txm_rehearse_look(t, tiles, 3, NULL), TXM_OK);
        txm_cache_stats_of(c, &s);
        ck_assert_uint_eq(s.tiles_loaded, 3);
        ck_assert_uint_eq(s.tiles_coalesced, 1);
        ck_assert_uint_eq(s.textures_opened, 2);
        ck_assert_uint_eq(s.files_opened, 0);
    }
    txm_rehearse_launch(c);
    const uint32_t before = s.epoch;
    txm_cache_stats_of(c, &s);
    ck_assert_uint_eq(s.epoch, before + 1);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}
END_TEST

/* ---- the offline optimum ---------------------------------------------------------------------------------------- */

/* Writes a trace of lookups in the middles of tiles of level 0, which has 4 x 2 tiles, and reads it again. */
static txm_trace *trace_of(const uint8_t *tiles, size_t n)
{
    char *path = strdup(temp_file("uses.trace"));
    txm_cache *c = cache_of(0, 4);
    const txm_source *s = open_one(c, MADE_NOISE);
    txm_cache_thread *t = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    txm_trace *trace = NULL;
    float out[4];
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(txm_cache_trace_start(c, path, TXM_TRACE_TILES, NULL), TXM_OK);
    for (size_t i = 0; i < n; i++) {
        txm_lookup at = {(0.5f + (float)(tiles[i] % 4)) / 4, (0.5f + (float)(tiles[i] / 4)) / 2, 0, 0, 0, 0};
        txm_cache_sample(t, 0, &how, &at, NULL, out);
    }
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    txm_cache_thread_free(&t);
    free_all(&c);
    ck_assert_int_eq(txm_trace_open(path, &trace, NULL), TXM_OK);
    free(path);
    return trace;
}

START_TEST(the_optimum_drops_what_is_used_last)
{
    /* Belady's reads, worked out by hand, with room for 1, 2, 3 and any number of tiles. */
    static const struct {
        uint8_t uses[12];
        uint32_t count, reads[4];
    } cases[] = {{{0, 1, 2, 0, 1, 2}, 6, {6, 4, 3, 3}},
                 {{0, 1, 0, 2, 0, 3, 0, 1}, 8, {8, 5, 4, 4}},
                 {{5}, 1, {1, 1, 1, 1}},
                 {{1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5}, 12, {12, 9, 7, 5}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_trace *trace = trace_of(cases[i].uses, cases[i].count);
        for (uint32_t room = 1; room <= 4; room++) {
            txm_replay_options o;
            txm_replay_counts n = {0};
            txm_replay_options_init(&o);
            o.max_bytes = room == 4 ? 0 : (uint64_t)room * TILE_BYTES + 100;
            ck_assert_int_eq(txm_optimum(trace, &o, &n, NULL), TXM_OK);
            ck_assert_msg(n.reads == cases[i].reads[room - 1], "case %zu, %u tiles: %llu reads", i, room,
                          (unsigned long long)n.reads);
            ck_assert_uint_eq(n.tiles, cases[i].reads[3]);
            ck_assert_uint_eq(n.reads_again, n.reads - n.tiles);
            ck_assert_uint_eq(n.read_bytes, n.reads * TILE_BYTES);
            ck_assert_uint_le(n.peak_bytes, (uint64_t)(room == 4 ? 12 : room) * TILE_BYTES);
        }
        txm_trace_free(&trace);
    }
}
END_TEST

START_TEST(the_optimum_can_be_stopped)
{
    static const volatile int stop = 1;
    txm_trace *trace = trace_of((const uint8_t[]){0, 1, 0}, 3);
    txm_replay_options o;
    txm_replay_counts n = {0};
    txm_replay_options_init(&o);
    o.cancel = &stop;
    ck_assert_int_eq(txm_optimum(trace, &o, &n, NULL), TXM_STATUS_CANCELLED);
    txm_trace_free(&trace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of cache");
    temp_file(""); /* the folder belongs to this process and not to a test's */
    TCase *t = add_case(suite, "memory");
    add_tests(t, memory_is_counted_to_the_byte, arrays_grow_or_stay_as_they_are, slots_have_pixels_of_their_own,
              tiles_of_any_size_have_slots, slots_without_memory, full_slabs_give_way);
    t = add_case(suite, "page table");
    add_tests(t, blocks_are_found_by_any_number, blocks_are_used_again_when_nobody_sees_them,
              levels_are_registered_from_coarse_to_fine, levels_without_memory_stay_unregistered);
    t = add_case(suite, "lookups");
    add_tests(t, running_lookups_are_waited_for, nobody_looks_while_the_world_is_stopped,
              blank_tables_name_the_tiles_of_a_lookup);
    t = add_case(suite, "files");
    add_tests(t, files_close_by_their_last_use, other_files_under_the_name_are_not_read, requests_become_tiles,
              tiles_that_cannot_be_read_fail, tiles_of_one_colour_share_a_slot);
    t = add_case(suite, "optimum");
    add_tests(t, tiles_are_rehearsed_without_files, the_optimum_drops_what_is_used_last, the_optimum_can_be_stopped);
    return run_suite(suite);
}
