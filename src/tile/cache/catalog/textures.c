/* SPDX-License-Identifier: Apache-2.0
 *
 * Textures of the cache: they are registered by name, opened when they are looked up, replaced, and combined into UDIM
 * sets.
 *
 * A texture is the object that a renderer refers to, a source holds the tiles of a file. Several textures may share one
 * source: those with equal pixels and equal extension, found by the digest that the maker of the file wrote into it.
 * Until the first lookup a texture is a stub of one pixel in one tile. A lookup misses that tile and requests it, and
 * its number identifies the texture to open. So a scene of ten thousand textures costs ten thousand calls to stat and
 * no open file.
 *
 * A file is opened and described without the cache's lock: txm_texture_to_open says what to do, and txm_texture_opened
 * ends it. `opening` keeps other threads from opening the same texture meanwhile. Everything else that was read before
 * must be read again afterwards, in particular pointers into arrays, which may have moved.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/clock.h"
#include "tile/cache/catalog/parts.h"
#include "tile/terms/extension.h"

/* ---- failures ---- */

static char *duplicate(txm_tiles *t, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = txm_allocate(t, bytes, sizeof(void *));
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static void release_text(txm_tiles *t, char **text)
{
    if (*text)
        txm_release(t, *text, strlen(*text) + 1);
    *text = NULL;
}

/* Records a failure, if there is memory for it. */
void txm_failure_note(txm_catalog *k, txm_load_failure **failure, const txm_error *cause)
{
    if (!*failure) {
        *failure = txm_allocate(k->tiles, sizeof **failure, _Alignof(txm_load_failure));
        if (!*failure)
            return;
        **failure = (txm_load_failure){.status = cause->status};
    }
    (*failure)->failures++;
    if (!(*failure)->message)
        (*failure)->message = duplicate(k->tiles, cause->message);
}

static void free_failure(txm_catalog *k, txm_load_failure **failure)
{
    if (!*failure)
        return;
    release_text(k->tiles, &(*failure)->message);
    txm_release(k->tiles, *failure, sizeof **failure);
    *failure = NULL;
}

bool txm_failure_passes(const txm_error *err)
{
    return err->status != TXM_STATUS_CHANGED &&
           (txm_status_retryable(err->status) || err->status == TXM_STATUS_NOT_FOUND ||
            err->status == TXM_STATUS_DENIED);
}

/* The value of an entry after a failure. What may be temporary is tried again: at once if nothing else failed within
 * the last second, otherwise after as long as the attempt took, so at most half of the time is lost to attempts. */
uint32_t txm_failed_slot(txm_catalog *k, const txm_error *err, double seconds)
{
    if (!txm_failure_passes(err))
        return TXM_SLOT_FAILED;
    const double now = txm_clock_seconds(), due = atomic_load(&k->world->retry_seconds);
    if (due != INFINITY)
        atomic_store(&k->world->retry_seconds, (due > now ? due : now) + seconds);
    else
        atomic_store(&k->world->retry_seconds, now - k->own->failed_seconds > 1 ? now : now + seconds);
    k->own->failed_seconds = now;
    return TXM_SLOT_UNREADABLE + (uint16_t)atomic_load(&k->world->round);
}

/* ---- shapes ---- */

/* The layout of a source's texels in memory and of its numbers, without the first one, and without the average colour.
 * Sources of the same layout share one, because there may be millions of them. */
typedef struct txm_shape {
    txm_view_texture view; /* must be first: sources point to it */
    struct txm_shape *next;
} txm_shape;

/* NULL: out of memory. */
static txm_view_texture *keep_shape(txm_catalog *k, const txm_view_texture *described)
{
    txm_view_texture view = *described;
    view.first = 0;
    memset(view.average, 0, sizeof view.average);
    for (uint32_t i = 0, at = 0; i < view.levels && !txm_view_is_packed(&view); i++) {
        view.level_first[i] = at;
        at += txm_view_tiles(&view, i);
    }
    txm_shape **list = &k->own->shapes[(view.width * 31 + view.height) % TXM_SHAPE_LISTS];
    for (txm_shape *known = *list; known; known = known->next)
        if (memcmp(&known->view, &view, sizeof view) == 0)
            return &known->view;
    txm_shape *shape = txm_allocate(k->tiles, sizeof *shape, _Alignof(txm_shape));
    if (!shape)
        return NULL;
    *shape = (txm_shape){view, *list};
    *list = shape;
    return &shape->view;
}

/* ---- sources ---- */

static size_t bytes_of_source(const txm_source *s)
{
    return s->hashed ? sizeof *s : offsetof(txm_source, digest);
}

uint64_t *txm_level_loads(const txm_source *s)
{
    return (uint64_t *)(void *)((uint8_t *)(uintptr_t)s + bytes_of_source(s));
}

/* With the counts of its levels, which packed textures do not have. */
static size_t all_bytes_of(const txm_source *s)
{
    return bytes_of_source(s) + (txm_view_is_packed(s->view) ? 0 : s->view->levels * sizeof(uint64_t));
}

static txm_source **list_of(txm_catalog *k, const txm_source *s)
{
    return &k->own->buckets[s->digest & (k->own->bucket_count - 1)];
}

static void enlist_source(txm_catalog *k, txm_source *s)
{
    txm_source **list = list_of(k, s);
    s->next = *list;
    *list = s;
}

/* Doubles the number of lists when they have become long. Without memory for that, they stay long. False: the first
 * lists could not be allocated. */
static bool grow_buckets(txm_catalog *k)
{
    enum { FIRST = 64, MEAN_LENGTH = 4 };
    if (k->own->source_count < (uint64_t)MEAN_LENGTH * k->own->bucket_count)
        return true;
    const uint32_t old_count = k->own->bucket_count, count = old_count ? 2 * old_count : FIRST;
    txm_source **old = k->own->buckets,
               **fresh = txm_allocate(k->tiles, count * sizeof(txm_source *), _Alignof(void *));
    if (!fresh)
        return old;
    memset(fresh, 0, count * sizeof *fresh);
    k->own->buckets = fresh;
    k->own->bucket_count = count;
    for (uint32_t i = 0; i < old_count; i++)
        for (txm_source *s = old[i], *next; s; s = next) {
            next = s->next;
            enlist_source(k, s);
        }
    txm_release(k->tiles, old, old_count * sizeof *old);
    return true;
}

/* Compares digests and everything else that affects the result of a lookup. The digest covers only level 0, and two
 * makers may have tiled it or filtered the other levels differently. */
static bool same_pixels(const txm_catalog *k, const txm_source *a, const txm_source *b)
{
    const txm_view_texture *v = a->view, *w = b->view;
    return a->digest == b->digest && a->file->is_called == b->file->is_called &&
           (a->file->is_called || a->file->bytes == b->file->bytes) && a->skip == b->skip && v->width == w->width &&
           v->height == w->height && v->levels == w->levels && v->type == w->type && v->channels == w->channels &&
           v->extension == w->extension && v->tile_shift == w->tile_shift && a->converts == b->converts &&
           memcmp(k->view_textures[a->first_texture].average, w->average, sizeof w->average) == 0;
}

/* Frees a source that no texture shows and no thread reads. It is called whenever one of the two counts becomes 0. The
 */
void txm_source_drop(txm_catalog *k, txm_source *s)
{
    if (s->textures || s->loading)
        return;
    if (s->hashed) {
        txm_source **link = list_of(k, s);
        while (*link != s)
            link = &(*link)->next;
        *link = s->next;
        k->own->source_count--;
    }
    txm_file_drop(k, &s->file);
    free_failure(k, &s->failure);
    txm_release(k->tiles, s, all_bytes_of(s));
}

bool txm_catalog_init(txm_catalog *k)
{
    k->own = calloc(1, sizeof *k->own);
    return k->own && txm_table_new(k);
}

/* Called after all reading has ended. */
void txm_catalog_free(txm_catalog *k)
{
    if (!k->own)
        return;
    for (uint32_t i = 0; i < k->stats->textures; i++) {
        txm_texture *t = &k->textures[i];
        if (t->source && !--t->source->textures)
            txm_source_drop(k, t->source);
        txm_file_drop(k, &t->file);
        free_failure(k, &t->failure);
    }
    for (uint32_t i = 0; i < TXM_SHAPE_LISTS; i++)
        for (txm_shape *shape; (shape = k->own->shapes[i]);) {
            k->own->shapes[i] = shape->next;
            txm_release(k->tiles, shape, sizeof *shape);
        }
    txm_release(k->tiles, k->own->buckets, k->own->bucket_count * sizeof *k->own->buckets);
    txm_release(k->tiles, k->textures, k->own->texture_capacity * sizeof *k->textures);
    txm_release(k->tiles, k->view_textures, k->own->view_capacity * sizeof *k->view_textures);
    txm_release(k->tiles, k->udims, k->own->udim_capacity * sizeof *k->udims);
    txm_release(k->tiles, k->quick_udims, k->own->quick_udim_capacity * sizeof *k->quick_udims);
    txm_table_free(k);
    free(k->own);
}

/* ---- opening ---- */

/* Makes a source for a file. The source counts as a user of the file, so the file is kept as
 * long as its tiles may be read again. The size of the largest tile bounds how many tiles a thread may load at a time
 * (many.c). */
static txm_status keep_source(txm_catalog *k, const txm_source *made, txm_source **out, txm_error *err)
{
    const size_t bytes = all_bytes_of(made);
    txm_view_texture *view = !made->hashed || grow_buckets(k) ? keep_shape(k, made->view) : NULL;
    txm_source *s = view ? txm_allocate(k->tiles, bytes, _Alignof(txm_source)) : NULL;
    if (s) {
        memset(s, 0, bytes);
        memcpy(s, made, bytes_of_source(made));
        s->view = view;
        s->first_texture = TXM_NO_TEXTURE;
    }
    if (!s || !txm_block_new(k, txm_source_tiles(s), TXM_NO_TEXTURE, s, &s->first)) {
        txm_release(k->tiles, s, bytes);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a texture", made->file->path);
    }
    s->file->textures++;
    if (s->view->tile_bytes > atomic_load(&k->world->largest_tile))
        atomic_store(&k->world->largest_tile, s->view->tile_bytes);
    if (s->hashed) {
        enlist_source(k, s);
        k->own->source_count++;
    }
    *out = s;
    return TXM_OK;
}

/* The memory that the texture would take with all its levels loaded, including borders: Cycles' "virtual" memory. */
static uint64_t bytes_of(const txm_source *s)
{
    return (uint64_t)txm_source_tiles(s) * s->view->tile_bytes;
}

/* Opening a texture that is open already succeeds, and a damaged one fails again with its message. UDIM sets have no
 * file to open. */
bool txm_texture_to_open(txm_catalog *k, uint32_t texture, txm_source *made, txm_status *status, txm_error *err)
{
    txm_texture *t = &k->textures[texture];
    *status = TXM_OK;
    if (!t->file || t->source)
        return false;
    if (t->failed && !t->passes) {
        const txm_status known = t->failure ? t->failure->status : TXM_STATUS_NO_MEMORY;
        *status = t->failure && t->failure->message ? txm_fail(err, known, "%s", t->failure->message)
                                                    : txm_fail(err, known, "%s: cannot be read", t->file->path);
        return false;
    }
    t->opening = true;
    made->file = t->file;
    return true;
}

/* Another thread may have opened a copy meanwhile, so duplicates are searched for now and not earlier. A source that no
 * texture shows is about to be freed and must not be used again; one that has failed is not shared either, so a texture
 * that was replaced starts without failures. The stub's block
 * is retired and not reused at once, because lookups may still hold its number. */
static txm_status show_opened(txm_catalog *k, uint32_t texture, const txm_source *made, txm_error *err)
{
    txm_source *s = made->hashed && k->own->bucket_count ? *list_of(k, made) : NULL;
    while (s && !(s->textures && !s->failure && !s->file->broken && same_pixels(k, s, made)))
        s = s->next;
    if (s)
        k->stats->duplicates++;
    else {
        txm_status status = keep_source(k, made, &s, err);
        if (status != TXM_OK)
            return status;
        k->stats->virtual_bytes += bytes_of(s);
    }
    const uint32_t stub = k->view_textures[texture].first;
    txm_stop_world(k->world);
    memcpy(k->view_textures[texture].average, made->view->average, sizeof made->view->average);
    k->textures[texture].source = s;
    k->textures[texture].next = s->first_texture;
    s->first_texture = texture;
    s->textures++;
    txm_texture_show(k, texture, s, 0);
    txm_block_retire(k, stub);
    txm_resume_world(k->world);
    k->stats->textures_opened++;
    return TXM_OK;
}

/* A failure is marked in the stub's entry: lookups of the whole texture are magenta. The first one is kept, except that
 * a permanent failure replaces its message. */
txm_status txm_texture_opened(txm_catalog *k, uint32_t texture, const txm_source *made, const txm_error *cause,
                              double seconds, txm_error *err)
{
    txm_error failed = *cause;
    const txm_status status = cause->status == TXM_OK ? show_opened(k, texture, made, &failed) : cause->status;
    txm_texture *t = &k->textures[texture];
    t->opening = false;
    if (status == TXM_OK) {
        k->stats->textures_failed -= t->failed;
        t->failed = false;
        return TXM_OK;
    }
    k->stats->textures_failed += !t->failed;
    t->failed = true;
    t->passes = txm_failure_passes(&failed);
    txm_failure_note(k, &t->failure, &failed);
    if (t->failure && !t->passes) {
        t->failure->status = failed.status;
        release_text(k->tiles, &t->failure->message);
        t->failure->message = duplicate(k->tiles, failed.message);
    }
    k->stats->tiles_failed++;
    txm_number_fail(k, k->view_textures[texture].first, txm_failed_slot(k, &failed, seconds));
    return txm_fail_as(err, &failed);
}

/* So that it is opened again. */
void txm_texture_forget_failure(txm_catalog *k, uint32_t texture)
{
    txm_texture *t = &k->textures[texture];
    if (t->opening || t->source || !t->failed)
        return;
    t->failed = false;
    k->stats->textures_failed--;
    free_failure(k, &t->failure);
    txm_entry_set(k, k->view_textures[texture].first, TXM_SLOT_NONE);
}

txm_status txm_texture_check(const txm_catalog *k, uint32_t texture, txm_error *err)
{
    if (texture >= k->stats->textures || !k->textures[texture].file)
        return txm_fail(err, TXM_STATUS_USAGE, "texture %u is unknown, or it is a UDIM set", texture);
    return TXM_OK;
}

/* ---- registering ---- */

/* Lookups that run keep using the old arrays until they end. Both arrays grow before either is written to, so a failure
 * leaves the catalogue unchanged. */
static txm_status grow_textures(txm_catalog *k, txm_error *err)
{
    uint64_t needed = (uint64_t)k->stats->textures + 1;
    if (needed >= TXM_NO_TEXTURE)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "too many textures in one cache");
    if (!txm_array_grow(k->tiles, (void **)&k->textures, &k->own->texture_capacity, needed, sizeof *k->textures,
                        (void **)&k->textures) || /* lookups in sets read it there */
        !txm_array_grow(k->tiles, (void **)&k->view_textures, &k->own->view_capacity, needed, sizeof *k->view_textures,
                        (void **)&k->world->view.textures))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a texture");
    return TXM_OK;
}

/* Threads see the new texture when they renew their view. The generation grows by 2, because an odd one means that the
 * world is stopped. */
static uint32_t append_texture(txm_catalog *k)
{
    uint32_t id = k->stats->textures++;
    __atomic_store_n(&k->world->view.texture_count, k->stats->textures,
                     __ATOMIC_RELEASE); /* txm_shown_texture reads it */
    atomic_fetch_add(&k->world->generation, 2);
    txm_slow_down(k->world);
    return id;
}

/* Registers a stub without accessing the file. Replays depend on that, because their files may not exist any more. */
txm_status txm_texture_add(txm_catalog *k, const char *path, const txm_tile_source *called, txm_extension extension,
                           uint32_t *texture, txm_error *err)
{
    uint32_t first = 0;
    txm_cache_file *file = NULL;
    txm_status status = grow_textures(k, err);
    if (status == TXM_OK &&
        (!(file = txm_file_new(k, path, called)) || !txm_block_new(k, 1, k->stats->textures, NULL, &first))) {
        txm_file_drop(k, &file);
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a texture", path);
    }
    if (status != TXM_OK)
        return status;
    k->textures[k->stats->textures] =
        (txm_texture){.file = file, .extension = (uint8_t)extension & 15u, .next = TXM_NO_TEXTURE};
    txm_texture_show(k, k->stats->textures, NULL, first);
    *texture = append_texture(k);
    return TXM_OK;
}

/* ---- UDIM sets ---- */

/* Checks the numbers and textures of a set. UDIM 1001 + u + 10 v: ten columns, and as many rows as the highest number
 * needs. A base texture covers base_columns x base_rows of these tiles with one image of less detail. */
static txm_status check_udim(const txm_catalog *k, const txm_cache_udim *u, txm_error *err)
{
    for (size_t i = 0; i < u->count; i++) {
        if (u->numbers[i] < 1001 || u->numbers[i] > 9999)
            return txm_fail(err, TXM_STATUS_USAGE, "%u is not the number of a UDIM tile: use 1001 to 9999",
                            u->numbers[i]);
        for (size_t j = 0; j < i; j++)
            if (u->numbers[j] == u->numbers[i])
                return txm_fail(err, TXM_STATUS_USAGE, "UDIM tile %u is given twice", u->numbers[i]);
        if (u->textures[i] >= k->stats->textures || !k->textures[u->textures[i]].file)
            return txm_fail(err, TXM_STATUS_USAGE, "UDIM tile %u: there is no texture %u", u->numbers[i],
                            u->textures[i]);
    }
    if (!u->count)
        return txm_fail(err, TXM_STATUS_USAGE, "a UDIM set needs a tile");
    if (u->base != TXM_NO_TEXTURE && (u->base >= k->stats->textures || !k->textures[u->base].file))
        return txm_fail(err, TXM_STATUS_USAGE, "UDIM set: there is no base texture %u", u->base);
    if (u->base != TXM_NO_TEXTURE &&
        (u->base_columns < 1 || u->base_columns > 10 || u->base_rows < 1 || u->base_rows > 900))
        return txm_fail(err, TXM_STATUS_USAGE, "UDIM set: a base texture of %u x %u tiles is impossible",
                        u->base_columns, u->base_rows);
    return TXM_OK;
}

/* Makes room for `needed` numbers, also in the array for quick lookups if it exists or if this set requires it. */
static bool grow_udims(txm_catalog *k, uint64_t needed, bool has_base)
{
    const bool first = has_base && !k->quick_udims;
    if (!txm_array_grow(k->tiles, (void **)&k->udims, &k->own->udim_capacity, needed, sizeof *k->udims,
                        (void **)&k->world->view.udims))
        return false;
    if ((has_base || k->quick_udims) &&
        !txm_array_grow(k->tiles, (void **)&k->quick_udims, &k->own->quick_udim_capacity, needed,
                        sizeof *k->quick_udims, (void **)&k->quick_udims))
        return false;
    if (first && k->udim_count)
        memcpy(k->quick_udims, k->udims, k->udim_count * sizeof *k->udims);
    return true;
}

/* The grids of all sets are in one array, with TXM_NO_TEXTURE for numbers without a tile; kernels compute the index
 * from u and v alone. */
txm_status txm_udim_add(txm_catalog *k, const txm_cache_udim *u, uint32_t *texture, txm_error *err)
{
    uint32_t last = 1001; /* too large numbers are refused below */
    for (size_t i = 0; i < u->count; i++)
        last = u->numbers[i] > last ? u->numbers[i] : last;
    const uint32_t rows = (last - 1001) / 10 + 1;
    txm_status status = check_udim(k, u, err);
    if (status == TXM_OK)
        status = grow_textures(k, err);
    if (status == TXM_OK && !grow_udims(k, (uint64_t)k->udim_count + rows * 10, u->base != TXM_NO_TEXTURE))
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for UDIM tiles");
    if (status != TXM_OK)
        return status;
    uint32_t *grid = k->udims + k->udim_count;
    for (uint32_t i = 0; i < rows * 10; i++)
        grid[i] = TXM_NO_TEXTURE;
    for (size_t i = 0; i < u->count; i++)
        grid[u->numbers[i] - 1001] = u->textures[i];
    for (uint32_t i = 0; k->quick_udims && i < rows * 10; i++)
        k->quick_udims[k->udim_count + i] = u->base == TXM_NO_TEXTURE ? grid[i] : TXM_NO_TEXTURE;
    k->view_textures[k->stats->textures] = (txm_view_texture){.udim_rows = rows, .first = k->udim_count};
    k->textures[k->stats->textures] =
        (txm_texture){.base = u->base, .base_columns = (uint8_t)u->base_columns, .base_rows = (uint16_t)u->base_rows};
    k->udim_count += rows * 10;
    k->stats->udim_sets++;
    *texture = append_texture(k);
    return TXM_OK;
}

/* ---- dropping tiles, replacing files ---- */

typedef struct of_source {
    txm_catalog *catalog;
    const txm_source *source;
} of_source;

/* A slot refers only to its tile; the tile's block refers to the source. */
static bool is_of_source(void *arg, const txm_slot *s)
{
    const of_source *of = arg;
    return txm_source_of(of->catalog, s->held.tile) == of->source;
}

/* Shared tiles of one colour do not belong to a source, so its entries just cease to show them; the slot itself stays
 * for other textures. */
static void forget_shared(void *arg, uint32_t number)
{
    const of_source *of = arg;
    const uint32_t slot = txm_entry_slot(of->catalog, number);
    if (slot < TXM_SLOT_STATES && txm_slot_at(of->catalog->tiles, slot)->state == TXM_SLOT_STATE_SHARED)
        txm_entry_set(of->catalog, number, TXM_SLOT_NONE);
}

/* Drops the tiles; their numbers stay. */
void txm_source_unload(txm_catalog *k, txm_source *s)
{
    of_source of = {k, s};
    txm_evict_if(k->tiles, TXM_ALL_SLABS, is_of_source, &of);
    txm_each_tile(k, s, forget_shared, &of);
    txm_slabs_drop_empty(k->tiles, TXM_ALL_SLABS);
}

/* If this was the source's last texture, the source is freed. Tiles that are being read at the moment keep it alive
 * until they are done. */
static void leave_source(txm_catalog *k, uint32_t texture)
{
    txm_source *s = k->textures[texture].source;
    uint32_t *at = &s->first_texture;
    while (*at != texture)
        at = &k->textures[*at].next;
    *at = k->textures[texture].next;
    k->textures[texture].next = TXM_NO_TEXTURE;
    k->textures[texture].source = NULL;
    if (--s->textures)
        return;
    txm_source_unload(k, s);
    k->stats->virtual_bytes -= bytes_of(s);
    txm_block_retire(k, s->first);
    txm_source_drop(k, s);
}

/* Turns a texture into a stub, as before it was opened; `first` is its new entry. */
static void become_stub(txm_catalog *k, uint32_t texture, uint32_t first)
{
    uint32_t stub = k->view_textures[texture].first;
    txm_stop_world(k->world);
    txm_texture_show(k, texture, NULL, first);
    txm_resume_world(k->world);
    if (k->textures[texture].source) {
        leave_source(k, texture);
        k->stats->textures_opened--;
    } else {
        txm_block_retire(k, stub);
    }
}

/* Lookups see the old pixels, or none, until the texture is open again. */
txm_status txm_source_translucent(txm_catalog *k, txm_source *s, txm_error *err)
{
    s->file->translucent = true;
    while (s->textures) { /* the source itself is kept by `loading` */
        uint32_t first, texture = s->first_texture;
        if (!txm_block_new(k, 1, texture, NULL, &first))
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a texture", s->file->path);
        k->textures[texture].file->translucent = true;
        become_stub(k, texture, first);
    }
    return TXM_OK;
}

/* Replaces the file of a texture, whose number stays the same, so a renderer need not rebuild its shaders. All steps
 * that can fail come first. The texture becomes a stub again, and the next lookup opens the new file; without a path
 * the same file is read again, for example because an artist has overwritten it. */
txm_status txm_texture_replace(txm_catalog *k, uint32_t texture, const char *path, txm_error *err)
{
    txm_texture *t = &k->textures[texture];
    const bool same = !path && t->file->is_called; /* callbacks stay, and describe is called again */
    txm_cache_file *file = same ? t->file : txm_file_new(k, path ? path : t->file->path, NULL);
    uint32_t first;
    if (same)
        file->textures++;
    if (!file || !txm_block_new(k, 1, texture, NULL, &first)) {
        txm_file_drop(k, &file);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a texture");
    }
    become_stub(k, texture, first);
    k->stats->textures_failed -= t->failed;
    txm_file_drop(k, &t->file);
    free_failure(k, &t->failure);
    t->file = file;
    t->failed = false;
    t->traced = false;
    return TXM_OK;
}
