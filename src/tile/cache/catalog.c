/* SPDX-License-Identifier: Apache-2.0
 *
 * Textures of the cache: they are registered by name, opened when they are looked up, replaced, and combined into UDIM
 * sets.
 *
 * A texture is the object that a renderer refers to, a source holds the tiles of a file. Several textures may share one
 * source: those with equal pixels and equal extension, found by the digest that the maker of the file wrote into it.
 * Until the first lookup a texture is a stub of one pixel whose only level is not registered. A lookup misses that
 * level and requests an entry of the stub's block, and the block identifies the texture to open. So a scene of ten
 * thousand textures costs ten thousand calls to stat and no open file.
 *
 * Opening releases the lock while the file is read. `opening` keeps other threads from opening the same texture
 * meanwhile. Everything else that was read before must be read again afterwards, in particular pointers into arrays,
 * which may have moved.
 */
#include <errno.h>
#include <sys/stat.h>

#include "base/os/clock.h"
#include "tile/cache/cache_impl.h"
#include "tile/terms/extension.h"

/* ---- shapes ---- */

static size_t shape_bytes(const txm_view_texture *v)
{
    return sizeof(txm_shape) + (txm_view_is_packed(v) ? 0 : v->levels * sizeof(uint64_t));
}

/* Copies a description for a source. Packed sources with equal descriptions share one copy. NULL: out of memory. */
static txm_view_texture *keep_shape(txm_cache *c, const txm_view_texture *described)
{
    const size_t bytes = shape_bytes(described);
    txm_view_texture view = *described;
    txm_shape **list = NULL;
    view.first = 0;
    memset(view.average, 0, sizeof view.average);
    if (txm_view_is_packed(&view)) {
        list = &c->catalog.shapes[(view.width * 31 + view.height) % TXM_SHAPE_LISTS];
        for (txm_shape *known = *list; known; known = known->next)
            if (memcmp(&known->view, &view, sizeof view) == 0)
                return &known->view;
    }
    txm_shape *shape = txm_cache_allocate(c, bytes, _Alignof(txm_shape));
    if (!shape)
        return NULL;
    memset(shape, 0, bytes);
    shape->view = view;
    if (list) {
        shape->next = *list;
        *list = shape;
    }
    return &shape->view;
}

static void release_shape(txm_cache *c, txm_view_texture *view)
{
    if (view && !txm_view_is_packed(view))
        txm_cache_release(c, view, shape_bytes(view));
}

/* ---- sources ---- */

static size_t bytes_of_source(const txm_source *s)
{
    return s->hashed ? sizeof *s : offsetof(txm_source, digest);
}

static txm_source **list_of(txm_cache *c, const txm_source *s)
{
    return &c->catalog.buckets[s->digest & (c->catalog.bucket_count - 1)];
}

static void enlist_source(txm_cache *c, txm_source *s)
{
    txm_source **list = list_of(c, s);
    s->next = *list;
    *list = s;
}

static void unlist_source(txm_cache *c, const txm_source *s)
{
    txm_source **link = list_of(c, s);
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
}

/* Doubles the number of lists when they have become long. Without memory for that, they stay long. False: the first
 * lists could not be allocated. */
static bool grow_buckets(txm_cache *c)
{
    enum { FIRST = 64, MEAN_LENGTH = 4 };
    if (c->catalog.source_count < (uint64_t)MEAN_LENGTH * c->catalog.bucket_count)
        return true;
    const uint32_t old_count = c->catalog.bucket_count, count = old_count ? 2 * old_count : FIRST;
    txm_source **old = c->catalog.buckets,
               **fresh = txm_cache_allocate(c, count * sizeof(txm_source *), _Alignof(void *));
    if (!fresh)
        return old;
    memset(fresh, 0, count * sizeof *fresh);
    c->catalog.buckets = fresh;
    c->catalog.bucket_count = count;
    for (uint32_t i = 0; i < old_count; i++)
        for (txm_source *s = old[i], *next; s; s = next) {
            next = s->next;
            enlist_source(c, s);
        }
    txm_cache_release(c, old, old_count * sizeof *old);
    return true;
}

static uint64_t bytes_of_file(const txm_cache_file *f)
{
    return f->is_called ? 0 : f->bytes;
}

/* Compares digests and everything else that affects the result of a lookup. The digest covers only level 0, and two
 * makers may have tiled it or filtered the other levels differently. */
static bool same_pixels(const txm_cache *c, const txm_source *a, const txm_source *b)
{
    const txm_view_texture *v = a->view, *w = b->view;
    return a->digest == b->digest && bytes_of_file(a->file) == bytes_of_file(b->file) && a->skip == b->skip &&
           v->width == w->width && v->height == w->height && v->levels == w->levels && v->type == w->type &&
           v->channels == w->channels && v->extension == w->extension && v->tile_shift == w->tile_shift &&
           a->converts == b->converts &&
           memcmp(c->catalog.view_textures[a->first_texture].average, w->average, sizeof w->average) == 0;
}

/* Adds a texture to those that show a source. */
static void show_source(txm_cache *c, uint32_t texture, txm_source *s, const float average[4])
{
    memcpy(c->catalog.view_textures[texture].average, average, sizeof c->catalog.view_textures->average);
    c->catalog.textures[texture].source = s;
    c->catalog.textures[texture].next = s->first_texture;
    s->first_texture = texture;
    s->textures++;
    txm_texture_show(c, texture, s, 0);
}

/* Frees a source that no texture shows and no thread reads. It is called whenever one of the two counts becomes 0. The
 * source's blocks stay in the table without a source, so pending requests for their entries are ignored. */
void txm_source_drop(txm_cache *c, txm_source *s)
{
    if (s->textures || s->loading)
        return;
    if (s->hashed) {
        unlist_source(c, s);
        c->catalog.source_count--;
    }
    txm_blocks_disown(c, s);
    txm_file_drop(c, &s->file);
    txm_load_failure_free(c, &s->trouble);
    release_shape(c, s->view);
    txm_cache_release(c, s, bytes_of_source(s));
}

/* Called when the cache is freed, after all reading has ended. */
void txm_textures_free(txm_cache *c)
{
    for (uint32_t i = 0; i < c->stats.textures; i++) {
        txm_texture *t = &c->catalog.textures[i];
        if (t->source && !--t->source->textures)
            txm_source_drop(c, t->source);
        txm_file_drop(c, &t->file);
        txm_load_failure_free(c, &t->trouble);
    }
    for (uint32_t i = 0; i < TXM_SHAPE_LISTS; i++)
        for (txm_shape *shape; (shape = c->catalog.shapes[i]);) {
            c->catalog.shapes[i] = shape->next;
            txm_cache_release(c, shape, sizeof *shape);
        }
    txm_cache_release(c, c->catalog.buckets, c->catalog.bucket_count * sizeof *c->catalog.buckets);
}

/* ---- opening ---- */

/* Reads the description of a source: from the file, without the lock, or in a replay from the trace. Copies of a
 * texture, which are common in productions, are found later, in show_opened. */
static txm_status examine(txm_cache *c, uint32_t texture, txm_extension extension, txm_source *made, txm_error *err)
{
    if (!c->rehearsal.user)
        return txm_origin_of(made->file)->describe(c, extension, made, err);
    txm_rehearse_open(c, texture, made);
    return TXM_OK;
}

/* Finds a source with the same pixels. A source that no texture shows is about to be freed and must not be used again.
 * A source that has failed is not shared either, so a texture that was replaced starts without failures. */
static txm_source *find_duplicate(txm_cache *c, const txm_source *made)
{
    txm_source *s = made->hashed && c->catalog.bucket_count ? *list_of(c, made) : NULL;
    while (s && !(s->textures && !s->trouble && !s->file->broken && same_pixels(c, s, made)))
        s = s->next;
    return s;
}

/* Makes a source for a file; its levels get entries. The source counts as a user of the file, so the file is kept as
 * long as its tiles may be read again. The size of the largest tile bounds how many tiles a thread may load at a time
 * (many.c). */
static txm_status keep_source(txm_cache *c, const txm_source *made, txm_source **out, txm_error *err)
{
    const size_t bytes = bytes_of_source(made);
    txm_view_texture *view = !made->hashed || grow_buckets(c) ? keep_shape(c, made->view) : NULL;
    txm_source *s = view ? txm_cache_allocate(c, bytes, _Alignof(txm_source)) : NULL;
    if (!s) {
        release_shape(c, view);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a texture", made->file->path);
    }
    memcpy(s, made, bytes);
    s->view = view;
    s->first_texture = TXM_NO_TEXTURE;
    txm_status status = txm_source_register(c, s, view->levels, err);
    if (status != TXM_OK) {
        release_shape(c, view);
        txm_cache_release(c, s, bytes);
        return status;
    }
    s->file->textures++;
    if (s->view->tile_bytes > atomic_load(&c->largest_tile))
        atomic_store(&c->largest_tile, s->view->tile_bytes);
    if (s->hashed) {
        enlist_source(c, s);
        c->catalog.source_count++;
    }
    *out = s;
    return TXM_OK;
}

/* The memory that the texture would take with all its levels loaded, including borders: Cycles' "virtual" memory. */
static uint64_t bytes_of(const txm_source *s)
{
    return (uint64_t)txm_source_tiles(s, 0) * s->view->tile_bytes;
}

/* With the lock held, after the file was read without it. Another thread may have opened a copy meanwhile, so the
 * search for duplicates is made now and not earlier. The stub's block is retired and not reused at once, because
 * lookups may still hold its number. */
static txm_status show_opened(txm_cache *c, uint32_t texture, const txm_source *made, txm_error *err)
{
    txm_source *s = find_duplicate(c, made);
    if (s)
        c->stats.duplicates++;
    else {
        txm_status status = keep_source(c, made, &s, err);
        if (status != TXM_OK)
            return status;
        c->stats.virtual_bytes += bytes_of(s);
    }
    uint32_t stub = c->catalog.view_textures[texture].first;
    txm_stop_world(c);
    show_source(c, texture, s, made->view->average);
    txm_block_retire(c, stub);
    txm_resume_world(c);
    c->stats.textures_opened++;
    return TXM_OK;
}

/* Marks a whole texture as failed in the stub's entry: lookups in it are magenta. The first failure is kept, except
 * that a permanent failure replaces its message. */
static void fail_texture(txm_cache *c, uint32_t texture, const txm_error *cause, double seconds)
{
    txm_texture *t = &c->catalog.textures[texture];
    c->stats.textures_failed += !t->failed;
    t->failed = true;
    t->passes = txm_failure_passes(cause);
    txm_load_failure_note(c, &t->trouble, cause);
    if (t->trouble && !t->passes && strcmp(t->trouble->message ? t->trouble->message : "", cause->message) != 0) {
        t->trouble->status = cause->status;
        txm_cache_free_string(c, &t->trouble->message);
        t->trouble->message = txm_cache_strdup(c, cause->message);
    }
    c->stats.tiles_failed++;
    txm_entry_set(c, c->catalog.view_textures[texture].first, txm_failed_slot(c, cause, seconds));
}

/* With the lock held, which is released while the file is read; only threads that open the same texture wait. Opening a
 * texture that is open already succeeds, and a damaged one fails again with its message. UDIM sets have no file to
 * open. `t` is read again after the lock was released, because the array may have moved. */
txm_status txm_texture_open(txm_cache *c, uint32_t texture, txm_error *err)
{
    while (c->catalog.textures[texture].opening)
        pthread_cond_wait(&c->changed, &c->lock);
    txm_texture *t = &c->catalog.textures[texture];
    if (!t->file || t->source)
        return TXM_OK;
    if (t->failed && !t->passes)
        return t->trouble && t->trouble->message ? txm_fail(err, t->trouble->status, "%s", t->trouble->message)
                                                 : txm_fail(err, t->trouble ? t->trouble->status : TXM_STATUS_NO_MEMORY,
                                                            "%s: cannot be read", t->file->path);
    t->opening = true;
    txm_view_texture view = {0};
    txm_source made = {.file = t->file, .view = &view};
    txm_extension extension = (txm_extension)t->extension;
    pthread_mutex_unlock(&c->lock);
    txm_error cause = {0};
    const double begin = txm_clock_seconds();
    txm_status status = examine(c, texture, extension, &made, &cause);
    pthread_mutex_lock(&c->lock);
    if (status == TXM_OK)
        status = show_opened(c, texture, &made, &cause);
    t = &c->catalog.textures[texture];
    if (status != TXM_OK) {
        fail_texture(c, texture, &cause, txm_clock_seconds() - begin);
        txm_fail_as(err, &cause);
    } else if (t->failed) {
        t->failed = false;
        c->stats.textures_failed--;
    }
    t->opening = false;
    txm_notify(c);
    pthread_cond_broadcast(&c->changed);
    return status;
}

txm_status txm_cache_open(txm_cache *c, uint32_t texture, txm_view_texture *info, txm_error *err)
{
    txm_error_clear(err);
    txm_status status = TXM_OK;
    pthread_mutex_lock(&c->lock);
    if (texture >= c->stats.textures)
        status = txm_fail(err, TXM_STATUS_USAGE, "there is no texture %u", texture);
    else
        status = txm_texture_open(c, texture, err);
    if (info)
        *info = status == TXM_OK ? c->catalog.view_textures[texture] : (txm_view_texture){0};
    pthread_mutex_unlock(&c->lock);
    return status;
}

txm_status txm_texture_check(const txm_cache *c, uint32_t texture, txm_error *err)
{
    if (texture >= c->stats.textures || !c->catalog.textures[texture].file)
        return txm_fail(err, TXM_STATUS_USAGE, "texture %u is unknown, or it is a UDIM set", texture);
    return TXM_OK;
}

txm_status txm_cache_register(txm_cache *c, uint32_t texture, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_texture_check(c, texture, err);
    if (status == TXM_OK)
        status = txm_texture_open(c, texture, err);
    if (status == TXM_OK && c->catalog.textures[texture].source)
        status = txm_source_register(c, c->catalog.textures[texture].source, 0, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- registering ---- */

/* A missing file is reported when it is added, and not in the middle of a render. */
static txm_status look_at(const char *path, txm_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot open", path);
    if (!S_ISREG(st.st_mode))
        return txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", path);
    return TXM_OK;
}

/* Lookups that run keep using the old arrays until they end. Both arrays grow before either is written to, so a failure
 * leaves the catalogue unchanged. */
static txm_status grow_textures(txm_cache *c, txm_error *err)
{
    uint64_t needed = (uint64_t)c->stats.textures + 1;
    if (needed >= TXM_NO_TEXTURE)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "too many textures in one cache");
    if (!txm_cache_grow(c, (void **)&c->catalog.textures, &c->catalog.texture_capacity, needed,
                        sizeof *c->catalog.textures, true) ||
        !txm_cache_grow(c, (void **)&c->catalog.view_textures, &c->catalog.view_capacity, needed,
                        sizeof *c->catalog.view_textures, true))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a texture");
    return TXM_OK;
}

/* Threads see the new texture when they renew their view. The generation grows by 2, because an odd one means that the
 * world is stopped. */
static uint32_t append_texture(txm_cache *c)
{
    uint32_t id = c->stats.textures++;
    __atomic_store_n(&c->view.texture_count, c->stats.textures, __ATOMIC_RELEASE); /* read by txm_shown_texture */
    atomic_fetch_add(&c->generation, 2);
    txm_slow_down(c);
    return id;
}

/* Registers a stub without accessing the file. Replays depend on that, because their files may not exist any more. */
txm_status txm_texture_add(txm_cache *c, const char *path, const txm_tile_source *called, txm_extension extension,
                           uint32_t *texture, txm_error *err)
{
    uint32_t first = 0;
    txm_cache_file *file = NULL;
    txm_status status = grow_textures(c, err);
    if (status == TXM_OK && (!(file = txm_file_new(c, path, called)) || !txm_reserve_unregistered(c, 1) ||
                             !txm_block_new(c, 1, c->stats.textures, NULL, 0, &first))) {
        txm_file_drop(c, &file);
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a texture", path);
    }
    if (status != TXM_OK)
        return status;
    c->catalog.textures[c->stats.textures] =
        (txm_texture){.file = file, .extension = (uint8_t)extension & 7u, .next = TXM_NO_TEXTURE};
    txm_texture_show(c, c->stats.textures, NULL, first);
    *texture = append_texture(c);
    return TXM_OK;
}

static txm_status add(txm_cache *c, const char *path, const txm_tile_source *called, txm_extension extension,
                      uint32_t *texture, txm_error *err)
{
    if (!txm_extension_exists(extension))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: unknown extension mode %d", path, (int)extension);
    txm_status status = called ? TXM_OK : look_at(path, err);
    if (status != TXM_OK)
        return status;
    pthread_mutex_lock(&c->lock);
    status = txm_texture_add(c, path, called, extension, texture, err);
    pthread_mutex_unlock(&c->lock);
    if (status == TXM_OK)
        txm_stand_in_load(c, *texture);
    return status;
}

txm_status txm_cache_add(txm_cache *c, const char *path, txm_extension extension, uint32_t *texture, txm_error *err)
{
    txm_error_clear(err);
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no tx file given: its path is NULL");
    return add(c, path, NULL, extension, texture, err);
}

txm_status txm_cache_add_source(txm_cache *c, const char *name, const txm_tile_source *source, txm_extension extension,
                                uint32_t *texture, txm_error *err)
{
    txm_error_clear(err);
    if (!name || !source || source->struct_size < sizeof *source || !source->describe || !source->read)
        return txm_fail(err, TXM_STATUS_USAGE, "a source of tiles needs a name, its struct_size, describe and read");
    return add(c, name, source, extension, texture, err);
}

/* ---- UDIM sets ---- */

/* Checks the numbers and textures of a set. UDIM 1001 + u + 10 v: ten columns, and as many rows as the highest number
 * needs. A base texture covers base_columns x base_rows of these tiles with one image of less detail. */
static txm_status check_udim(const txm_cache *c, const txm_cache_udim *u, uint32_t *rows, txm_error *err)
{
    uint32_t last = 0;
    for (size_t i = 0; i < u->count; i++) {
        if (u->numbers[i] < 1001 || u->numbers[i] > 9999)
            return txm_fail(err, TXM_STATUS_USAGE, "%u is not the number of a UDIM tile: use 1001 to 9999",
                            u->numbers[i]);
        if (u->textures[i] >= c->stats.textures || !c->catalog.textures[u->textures[i]].file)
            return txm_fail(err, TXM_STATUS_USAGE, "UDIM tile %u: there is no texture %u", u->numbers[i],
                            u->textures[i]);
        last = u->numbers[i] > last ? u->numbers[i] : last;
    }
    if (!u->count)
        return txm_fail(err, TXM_STATUS_USAGE, "a UDIM set needs a tile");
    if (u->base != TXM_NO_TEXTURE && (u->base >= c->stats.textures || !c->catalog.textures[u->base].file))
        return txm_fail(err, TXM_STATUS_USAGE, "UDIM set: there is no base texture %u", u->base);
    if (u->base != TXM_NO_TEXTURE &&
        (u->base_columns < 1 || u->base_columns > 10 || u->base_rows < 1 || u->base_rows > 900))
        return txm_fail(err, TXM_STATUS_USAGE, "UDIM set: a base texture of %u x %u tiles is impossible",
                        u->base_columns, u->base_rows);
    *rows = (last - 1001) / 10 + 1;
    return TXM_OK;
}

/* Makes room for `needed` numbers, also in the array for quick lookups if it exists or if this set requires it. */
static bool grow_udims(txm_cache *c, uint64_t needed, bool has_base)
{
    const bool first = has_base && !c->catalog.quick_udims;
    if (!txm_cache_grow(c, (void **)&c->catalog.udims, &c->catalog.udim_capacity, needed, sizeof *c->catalog.udims,
                        true))
        return false;
    if ((has_base || c->catalog.quick_udims) &&
        !txm_cache_grow(c, (void **)&c->catalog.quick_udims, &c->catalog.quick_udim_capacity, needed,
                        sizeof *c->catalog.quick_udims, true))
        return false;
    if (first && c->catalog.udim_count)
        memcpy(c->catalog.quick_udims, c->catalog.udims, c->catalog.udim_count * sizeof *c->catalog.udims);
    return true;
}

/* The grids of all sets are in one array, with TXM_NO_TEXTURE for numbers without a tile; kernels compute the index
 * from u and v alone. */
static txm_status add_udim(txm_cache *c, const txm_cache_udim *u, uint32_t *texture, txm_error *err)
{
    uint32_t rows = 0;
    txm_status status = check_udim(c, u, &rows, err);
    if (status == TXM_OK && u->base != TXM_NO_TEXTURE) /* its size decides which lookups it serves */
        status = txm_texture_open(c, u->base, err);
    if (status == TXM_OK)
        status = grow_textures(c, err);
    if (status == TXM_OK && !grow_udims(c, (uint64_t)c->catalog.udim_count + rows * 10, u->base != TXM_NO_TEXTURE))
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for UDIM tiles");
    if (status != TXM_OK)
        return status;
    uint32_t *grid = c->catalog.udims + c->catalog.udim_count;
    for (uint32_t i = 0; i < rows * 10; i++)
        grid[i] = TXM_NO_TEXTURE;
    for (size_t i = 0; i < u->count; i++)
        grid[u->numbers[i] - 1001] = u->textures[i];
    for (uint32_t i = 0; c->catalog.quick_udims && i < rows * 10; i++)
        c->catalog.quick_udims[c->catalog.udim_count + i] = u->base == TXM_NO_TEXTURE ? grid[i] : TXM_NO_TEXTURE;
    c->catalog.view_textures[c->stats.textures] = (txm_view_texture){.udim_rows = rows, .first = c->catalog.udim_count};
    c->catalog.textures[c->stats.textures] =
        (txm_texture){.base = u->base, .base_columns = (uint8_t)u->base_columns, .base_rows = (uint16_t)u->base_rows};
    c->catalog.udim_count += rows * 10;
    c->stats.udim_sets++;
    *texture = append_texture(c);
    return TXM_OK;
}

txm_status txm_cache_add_udim(txm_cache *c, const txm_cache_udim *udim, uint32_t *texture, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = add_udim(c, udim, texture, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- dropping tiles, replacing files ---- */

/* A slot refers only to its entry; the block of the entry refers to the source. */
static bool is_of_source(txm_cache *c, uint32_t slot, void *arg)
{
    const txm_source *s = arg;
    const txm_slot *held = txm_slot_at(c, slot);
    const txm_block *b = txm_block_of(c, held->entry);
    return b && b->source == s;
}

/* Shared tiles of one colour do not belong to a source, so its entries just cease to show them. `entry` of a shared
 * slot counts the tiles that show it; the slot itself stays for other textures. */
static void forget_shared(txm_cache *c, uint32_t number, void *unused)
{
    (void)unused;
    const uint32_t slot = txm_entry_slot(c, number);
    if (slot >= TXM_SLOT_STATES || txm_slot_at(c, slot)->state != TXM_SLOT_STATE_SHARED)
        return;
    txm_slot_at(c, slot)->entry--;
    txm_entry_set(c, number, TXM_SLOT_NONE);
}

/* Drops the tiles; their numbers stay. */
static void drop_tiles(txm_cache *c, txm_source *s)
{
    txm_evict_if(c, TXM_ALL_SLABS, is_of_source, s);
    txm_each_tile(c, s, forget_shared, NULL);
    txm_slabs_drop_empty(c, TXM_ALL_SLABS);
}

/* If this was the source's last texture, the source is freed. Tiles that are being read at the moment keep it alive
 * until they are done: txm_load sees that no texture shows it, and drops it. */
static void leave_source(txm_cache *c, uint32_t texture)
{
    txm_source *s = c->catalog.textures[texture].source;
    uint32_t *at = &s->first_texture;
    while (*at != texture)
        at = &c->catalog.textures[*at].next;
    *at = c->catalog.textures[texture].next;
    c->catalog.textures[texture].next = TXM_NO_TEXTURE;
    c->catalog.textures[texture].source = NULL;
    if (--s->textures)
        return;
    drop_tiles(c, s);
    c->stats.virtual_bytes -= bytes_of(s);
    txm_blocks_retire(c, s);
    txm_source_drop(c, s);
}

/* Turns a texture into a stub, as before it was opened; `first` is its new entry. */
static void become_stub(txm_cache *c, uint32_t texture, uint32_t first)
{
    uint32_t stub = c->catalog.view_textures[texture].first;
    txm_stop_world(c);
    txm_texture_show(c, texture, NULL, first);
    txm_resume_world(c);
    if (c->catalog.textures[texture].source) {
        leave_source(c, texture);
        c->stats.textures_opened--;
    } else {
        txm_block_of(c, stub)->texture = TXM_NO_TEXTURE;
        txm_block_retire(c, stub);
    }
}

/* Lookups see the old pixels, or none, until the texture is open again. */
txm_status txm_source_translucent(txm_cache *c, txm_source *s, txm_error *err)
{
    s->file->translucent = true;
    while (s->textures) { /* the source itself is kept by `loading` */
        uint32_t first, texture = s->first_texture;
        if (!txm_block_new(c, 1, texture, NULL, 0, &first))
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a texture", s->file->path);
        c->catalog.textures[texture].file->translucent = true;
        become_stub(c, texture, first);
    }
    return TXM_OK;
}

/* Replaces the file of a texture, whose number stays the same, so a renderer need not rebuild its shaders. All steps
 * that can fail come first. The texture becomes a stub again, and the next lookup opens the new file; without a path
 * the same file is read again, for example because an artist has overwritten it. */
static txm_status replace(txm_cache *c, uint32_t texture, const char *path, txm_error *err)
{
    txm_status status = txm_texture_check(c, texture, err);
    while (status == TXM_OK && c->catalog.textures[texture].opening)
        pthread_cond_wait(&c->changed, &c->lock);
    if (status != TXM_OK)
        return status;
    txm_texture *t = &c->catalog.textures[texture];
    const bool same = !path && t->file->is_called; /* callbacks stay, and describe is called again */
    txm_cache_file *file = same ? t->file : txm_file_new(c, path ? path : t->file->path, NULL);
    if (same)
        file->textures++;
    uint32_t first;
    if (!file || !txm_block_new(c, 1, texture, NULL, 0, &first)) {
        txm_file_drop(c, &file);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a texture");
    }
    become_stub(c, texture, first);
    c->stats.textures_failed -= t->failed;
    txm_file_drop(c, &t->file);
    txm_load_failure_free(c, &t->trouble);
    t->file = file;
    t->failed = false;
    txm_trace_replace(c, texture);
    txm_notify(c);
    return TXM_OK;
}

txm_status txm_cache_replace(txm_cache *c, uint32_t texture, const char *path, txm_error *err)
{
    txm_error_clear(err);
    txm_status status = path ? look_at(path, err) : TXM_OK;
    if (status != TXM_OK)
        return status;
    pthread_mutex_lock(&c->lock);
    txm_own_view_ends(c);
    status = replace(c, texture, path, err);
    pthread_mutex_unlock(&c->lock);
    if (status == TXM_OK)
        txm_stand_in_load(c, texture);
    return status;
}

/* Frees the tiles, also for textures that share the source, but keeps the file registered: the next lookup reads them
 * again. */
txm_status txm_cache_unload(txm_cache *c, uint32_t texture, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_own_view_ends(c);
    txm_status status = txm_texture_check(c, texture, err);
    if (status == TXM_OK && c->catalog.textures[texture].source)
        drop_tiles(c, c->catalog.textures[texture].source);
    pthread_mutex_unlock(&c->lock);
    return status;
}
