/* SPDX-License-Identifier: Apache-2.0
 *
 * Textures in memory: a page table over tx files whose tiles are read when they are requested and then kept.
 *
 * The view that lookups use has the levels of each texture, and an entry for each tile, which is empty, pending or a
 * place in a slab. Tiles are read with their borders, so that a lookup never needs two of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/pages.h"
#include "tile/reader/reader_memory.h"
#include "tile/sample/view_file.h"
#include "tile/terms/extension.h"
#include "txtile/sampler.h"

enum {
    SLAB_BYTES = 512 << 10,
    ARENA_BYTES =
        2 << 20, /* slabs are cut from arenas of the size of a huge page, which saves TLB misses in random lookups */
    SLOTS_PER_SLAB = 1 << TXM_SLOT_BITS
};

/* Data of a texture that is not in the view. */
typedef struct texture {
    txm_tx *tx;                     /* NULL: a UDIM set, or a texture read by a callback */
    txm_called_texture called;      /* `read` is NULL if there is none */
    uint32_t free_slot, slots_left; /* free slots of the slab that is being filled */
    uint8_t *unwidened;             /* a padded tile in the channels of the file; NULL: the view has the same */
} texture;

/* A growing array; `bytes` is the size of an element. */
typedef struct array {
    void *items;
    size_t count, capacity, bytes;
} array;

struct txm_texture_set {
    array textures, views, tiles, slabs, udims, arenas;
    size_t arena_left;
    txm_view view;
};

/* Makes room for `more` elements at the end; NULL: out of memory. The caller increases `count` after filling them
 * in. */
static void *grow_array(array *a, size_t more)
{
    if (more > SIZE_MAX / 2 - a->count)
        return NULL;
    if (a->count + more > a->capacity) {
        size_t capacity = a->capacity ? a->capacity : 16;
        while (capacity < a->count + more)
            capacity *= 2;
        void *items = capacity > SIZE_MAX / a->bytes ? NULL : realloc(a->items, capacity * a->bytes);
        if (!items)
            return NULL;
        a->items = items;
        a->capacity = capacity;
    }
    return (uint8_t *)a->items + a->count * a->bytes;
}

/* The arrays may have moved, so the view's pointers are set again. */
static void refresh(txm_texture_set *set)
{
    set->view = (txm_view){.textures = set->views.items,
                           .tiles = set->tiles.items,
                           .slabs = set->slabs.items,
                           .udims = set->udims.items,
                           .texture_count = (uint32_t)set->views.count};
}

/* The view of a new set is empty until the first texture is added. */
txm_status txm_texture_set_new(txm_texture_set **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_texture_set *set = calloc(1, sizeof *set);
    if (!set)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a set of textures");
    set->textures.bytes = sizeof(texture);
    set->views.bytes = sizeof(txm_view_texture);
    set->tiles.bytes = sizeof(txm_tile_entry);
    set->slabs.bytes = sizeof(uint64_t);
    set->udims.bytes = sizeof(uint32_t);
    set->arenas.bytes = sizeof(void *);
    *out = set;
    return TXM_OK;
}

/* Views of the set become invalid. */
void txm_texture_set_free(txm_texture_set **set)
{
    if (!set || !*set)
        return;
    texture *t = (*set)->textures.items;
    for (size_t i = 0; i < (*set)->textures.count; i++) {
        txm_tx_close(&t[i].tx);
        free(t[i].unwidened);
    }
    void **arenas = (*set)->arenas.items;
    for (size_t i = 0; i < (*set)->arenas.count; i++)
        free(arenas[i]);
    array *all[] = {&(*set)->textures, &(*set)->views, &(*set)->tiles, &(*set)->slabs, &(*set)->udims, &(*set)->arenas};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->items);
    free(*set);
    *set = NULL;
}

/* The pointer never changes, but its contents change with every texture and slab that is added. */
const txm_view *txm_texture_set_view(const txm_texture_set *set)
{
    return &set->view;
}

/* NULL for a UDIM set and for an unknown number. */
txm_tx *txm_texture_set_tx(const txm_texture_set *set, uint32_t id)
{
    return id < set->textures.count ? ((texture *)set->textures.items)[id].tx : NULL;
}

/* ---- adding ---- */

/* Adds a texture whose view is complete except for its place in the page table. Room in all three arrays is reserved
 * before the first one is written, so a failure has no visible effect. */
static txm_status enter_texture(txm_texture_set *set, texture t, txm_view_texture *v, uint64_t tiles, uint32_t *id,
                                txm_error *err)
{
    texture *kept = grow_array(&set->textures, 1);
    txm_view_texture *view = kept ? grow_array(&set->views, 1) : NULL;
    txm_tile_entry *entries = NULL;
    if (tiles > UINT32_MAX - set->tiles.count || set->textures.count >= TXM_NO_TEXTURE)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "more than 4294967295 tiles in one set of textures");
    if (view && tiles)
        entries = grow_array(&set->tiles, (size_t)tiles);
    if (!view || (tiles && !entries))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a page table of %llu tiles",
                        (unsigned long long)tiles);
    if (tiles)
        v->first = (uint32_t)set->tiles.count;
    for (uint64_t i = 0; i < tiles; i++)
        entries[i] = (txm_tile_entry){TXM_SLOT_NONE, 0};
    *kept = t;
    *view = *v;
    *id = (uint32_t)set->textures.count;
    set->textures.count++;
    set->views.count++;
    set->tiles.count += (size_t)tiles;
    refresh(set);
    return TXM_OK;
}

/* Opens the file; its tiles are read when they are requested. */
txm_status txm_texture_set_add(txm_texture_set *set, const char *path, txm_extension extension, uint32_t *id,
                               txm_error *err)
{
    txm_error_clear(err);
    texture t = {0};
    txm_view_texture v;
    uint64_t tiles = 0;
    if (!txm_extension_exists(extension))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: unknown extension mode %d", path, (int)extension);
    txm_status status = txm_tx_open_to_render(path, &t.tx, err);
    if (status != TXM_OK)
        return status;
    status = txm_view_describe(t.tx, extension, 0, false, &v, err);
    for (uint32_t i = 0; status == TXM_OK && i < v.levels; i++) {
        v.level_first[i] = (uint32_t)tiles;
        tiles += txm_view_tiles(&v, i);
        if (tiles > TXM_SLOT_STATES)
            status = txm_fail(err, TXM_STATUS_TOO_LARGE, "too many tiles");
    }
    if (status == TXM_OK && txm_tx_info_of(t.tx)->channels != v.channels) {
        t.unwidened = txm_alloc_pixels(txm_view_converted_bytes(&v), 1);
        if (!t.unwidened)
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a tile");
    }
    if (status == TXM_OK)
        status = enter_texture(set, t, &v, tiles, id, err);
    if (status != TXM_OK) {
        txm_error_prefix(err, "%s", path);
        free(t.unwidened);
        txm_tx_close(&t.tx);
    }
    return status;
}

/* Whether `id` is a texture with its own tiles. */
static bool has_tiles(const txm_texture_set *set, uint32_t id)
{
    return id < set->textures.count &&
           (txm_texture_set_tx(set, id) || ((const texture *)set->textures.items)[id].called.read);
}

txm_status txm_texture_set_add_called(txm_texture_set *set, const txm_called_texture *called, txm_extension extension,
                                      uint32_t *id, txm_error *err)
{
    txm_error_clear(err);
    texture t = {.called = *called};
    txm_view_texture v;
    uint64_t tiles = 0;
    if (called->struct_size != sizeof *called || !called->read || !txm_extension_exists(extension) || !called->width ||
        !called->height || called->width > TXM_MAX_LOOKUP_PX || called->height > TXM_MAX_LOOKUP_PX ||
        (called->channels != 1 && called->channels != 4) || called->type > TXM_TYPE_FLOAT ||
        called->encoding > TXM_ENCODING_DATA)
        return txm_fail(err, TXM_STATUS_USAGE, "a texture cannot have %u x %u px and %u channels", called->width,
                        called->height, called->channels);
    txm_view_shape(called->width, called->height, txm_level_count(called->width, called->height), TXM_DEFAULT_TILE_PX,
                   (txm_type)called->type, called->channels, extension, &v);
    v.encoding = called->encoding;
    for (uint32_t i = 0; i < v.levels; i++) {
        v.level_first[i] = (uint32_t)tiles;
        tiles += txm_view_tiles(&v, i);
    }
    return enter_texture(set, t, &v, tiles, id, err);
}

/* The tiles must have been added as textures before. */
txm_status txm_texture_set_add_udim(txm_texture_set *set, const uint32_t *numbers, const uint32_t *textures,
                                    size_t count, uint32_t *id, txm_error *err)
{
    txm_error_clear(err);
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] < 1001 || numbers[i] > 9999)
            return txm_fail(err, TXM_STATUS_USAGE, "%u is not the number of a UDIM tile: use 1001 to 9999", numbers[i]);
        if (!has_tiles(set, textures[i]))
            return txm_fail(err, TXM_STATUS_USAGE, "UDIM tile %u: there is no texture %u", numbers[i], textures[i]);
        last = numbers[i] > last ? numbers[i] : last;
    }
    if (!count)
        return txm_fail(err, TXM_STATUS_USAGE, "a UDIM set needs a tile");
    txm_view_texture v = {.udim_rows = (last - 1001) / 10 + 1, .first = (uint32_t)set->udims.count};
    uint32_t *grid = grow_array(&set->udims, (size_t)v.udim_rows * 10);
    if (!grid)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for UDIM tiles");
    for (uint32_t i = 0; i < v.udim_rows * 10; i++)
        grid[i] = TXM_NO_TEXTURE;
    for (size_t i = 0; i < count; i++)
        grid[numbers[i] - 1001] = textures[i];
    txm_status status = enter_texture(set, (texture){0}, &v, 0, id, err);
    if (status == TXM_OK)
        set->udims.count += (size_t)v.udim_rows * 10;
    return status;
}

/* ---- loading ---- */

/* Starts a new slab for tiles of `bytes`; NULL: out of memory. A tile that does not fit in a slab gets its own. */
static uint8_t *new_slab(txm_texture_set *set, uint32_t bytes, uint32_t *slots)
{
    uint32_t n = SLAB_BYTES / bytes;
    n = n > SLOTS_PER_SLAB ? SLOTS_PER_SLAB : n ? n : 1;
    size_t size = ((size_t)n * bytes + 63) & ~(size_t)63, arena = size > ARENA_BYTES ? size : ARENA_BYTES;
    uint64_t *slab = grow_array(&set->slabs, 1);
    if (!slab || set->slabs.count >= TXM_SLOT_UNREGISTERED >> TXM_SLOT_BITS)
        return NULL;
    if (size > set->arena_left) {
        void **kept = grow_array(&set->arenas, 1), *fresh = NULL;
        if (!kept || posix_memalign(&fresh, ARENA_BYTES, arena))
            return NULL;
        txm_pages_prefer_large(fresh, arena);
        *kept = fresh;
        set->arenas.count++;
        set->arena_left = arena;
    }
    uint8_t *begin = ((uint8_t **)set->arenas.items)[set->arenas.count - 1];
    /* An arena that is larger than usual holds one slab and is never shared. */
    uint8_t *at = arena > ARENA_BYTES ? begin : begin + (ARENA_BYTES - set->arena_left);
    set->arena_left = arena > ARENA_BYTES ? 0 : set->arena_left - size;
    *slab = (uint64_t)(uintptr_t)at;
    set->slabs.count++;
    *slots = n;
    refresh(set);
    return at;
}

/* Finds the texture, level and tile of an entry, which must be one of the set's. Textures are in ascending order, so
 * the entry belongs to the last one that begins at or before it. A simple search is enough for the few levels. */
static uint32_t find_entry(const txm_texture_set *set, uint32_t entry, uint32_t *level, uint32_t *tile)
{
    const txm_view_texture *v = set->views.items;
    uint32_t i = 0;
    for (uint32_t n = (uint32_t)set->views.count; n-- > 0;)
        if (!v[n].udim_rows && v[n].first <= entry) {
            i = n;
            break;
        }
    entry -= v[i].first;
    for (*level = v[i].levels - 1; *level && v[i].level_first[*level] > entry;)
        --*level;
    *tile = entry - v[i].level_first[*level];
    return i;
}

/* Reads a tile with its border, which the extension determines. The part of the window inside the level is one
 * rectangle; pixels outside it are read one by one. */
static txm_status read_called(const txm_called_texture *called, const txm_view_texture *v, uint32_t level,
                              uint32_t tile, uint8_t *dst, txm_error *err)
{
    const int32_t edge = 1 << v->tile_shift, across = (int32_t)txm_view_tiles_across(v, level);
    const int32_t w = (int32_t)txm_level_size(v->width, level), h = (int32_t)txm_level_size(v->height, level);
    const int32_t x = (int32_t)tile % across * edge, y = (int32_t)tile / across * edge;
    const int32_t left = x - TXM_BORDER_PX, top = y - TXM_BORDER_PX;
    const int32_t right = (x + edge < w ? x + edge : w) + TXM_BORDER_PX;
    const int32_t bottom = (y + edge < h ? y + edge : h) + TXM_BORDER_PX;
    const int32_t x0 = left > 0 ? left : 0, y0 = top > 0 ? top : 0, x1 = right < w ? right : w,
                  y1 = bottom < h ? bottom : h;
    txm_status status =
        called->read(called->user, level, (uint32_t)x0, (uint32_t)y0, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0),
                     dst + (size_t)(y0 - top) * v->row_bytes + (size_t)(x0 - left) * v->pixel_bytes, v->row_bytes, err);
    for (int32_t j = top; status == TXM_OK && j < bottom; j++)
        for (int32_t i = left; status == TXM_OK && i < right; i++) {
            uint8_t *at = dst + (size_t)(j - top) * v->row_bytes + (size_t)(i - left) * v->pixel_bytes;
            const int32_t from_x = txm_wrap_pixel(i, w, (int)TXM_EXTENSION_U(v->extension));
            const int32_t from_y = txm_wrap_pixel(j, h, (int)TXM_EXTENSION_V(v->extension));
            if (i >= x0 && i < x1 && j >= y0 && j < y1)
                continue;
            if (from_x < 0 || from_y < 0)
                memset(at, 0, v->pixel_bytes);
            else
                status =
                    called->read(called->user, level, (uint32_t)from_x, (uint32_t)from_y, 1, 1, at, v->row_bytes, err);
        }
    return status;
}

/* A tile that cannot be read becomes FAILED. Each texture fills its own slabs, so that neighbours in a file are
 * neighbours in memory. If memory runs out, the entry is reset, and can be requested again. */
static txm_status load_entry(txm_texture_set *set, uint32_t entry, txm_error *err)
{
    uint32_t level, tile, i = find_entry(set, entry, &level, &tile);
    texture *t = (texture *)set->textures.items + i;
    const txm_view_texture *v = (txm_view_texture *)set->views.items + i;
    txm_tile_entry *e = (txm_tile_entry *)set->tiles.items + entry;
    if (e->slot != TXM_SLOT_NONE && e->slot != TXM_SLOT_REQUESTED)
        return TXM_OK;
    if (!t->slots_left) {
        if (!new_slab(set, v->tile_bytes, &t->slots_left)) {
            e->slot = TXM_SLOT_NONE;
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for tiles");
        }
        t->free_slot = (uint32_t)(set->slabs.count - 1) << TXM_SLOT_BITS;
    }
    uint8_t *dst = (uint8_t *)(uintptr_t)((uint64_t *)set->slabs.items)[t->free_slot >> TXM_SLOT_BITS] +
                   (size_t)(t->free_slot & (SLOTS_PER_SLAB - 1)) * v->tile_bytes;
    bool opaque = true;
    txm_status status = t->called.read ? read_called(&t->called, v, level, tile, dst, err)
                                       : txm_view_read_tile(t->tx, v, 0, level, tile, dst, t->unwidened, &opaque, err);
    if (status != TXM_OK) {
        e->slot = TXM_SLOT_FAILED;
        return status;
    }
    __atomic_store_n(&e->slot, t->free_slot, __ATOMIC_RELEASE);
    t->free_slot++;
    t->slots_left--;
    return TXM_OK;
}

/* Loads every tile that can be loaded and reports the first failure. */
txm_status txm_texture_set_load(txm_texture_set *set, txm_lookup_state *state, txm_error *err)
{
    txm_error_clear(err);
    txm_status first = TXM_OK;
    for (uint32_t i = 0; i < state->count; i++) {
        txm_status status =
            state->requests[i] < set->tiles.count
                ? load_entry(set, state->requests[i], first ? NULL : err)
                : txm_fail(err, TXM_STATUS_USAGE, "entry %u is beyond the page table", state->requests[i]);
        first = first ? first : status;
    }
    state->count = 0;
    return first;
}

/* The entries of a texture are contiguous, level after level. */
txm_status txm_texture_set_load_all(txm_texture_set *set, uint32_t id, txm_error *err)
{
    txm_error_clear(err);
    if (!has_tiles(set, id))
        return txm_fail(err, TXM_STATUS_USAGE, "texture %u is unknown, or it is a UDIM set", id);
    const txm_view_texture *v = (txm_view_texture *)set->views.items + id;
    uint32_t last = v->levels - 1, end = v->first + v->level_first[last] + txm_view_tiles(v, last);
    txm_status first = TXM_OK;
    for (uint32_t entry = v->first; entry < end; entry++) {
        txm_status status = load_entry(set, entry, first ? NULL : err);
        first = first ? first : status;
    }
    return first;
}
