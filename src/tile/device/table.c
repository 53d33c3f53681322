/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates a device's view: the changes since the same table was last sent, and the tiles that the device's lookups wait
 * for.
 *
 * The view was prepared by the cache, for this launch or for its caller. The update consists of two pieces of pinned
 * memory, one for the table and one for tiles. Each begins with a list of runs that says where its parts are to be
 * copied. Tiles that are in the cache but not on the device are NONE in the device's table, so its lookups request
 * them, and only those are copied.
 *
 * A word of the table depends on its entry in the view and on the place of the tile that the entry shows. The viewer
 * notes in which of its views a group of entries was last copied, and a tile that gets or loses its place marks the
 * group of its entry. Only entries of such groups are compared with what was sent. Everything is compared after another
 * viewer's view, after a new round of failures, and when a tile moves that many entries share.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/device/device_impl.h"

enum { RUN_WORDS = sizeof(txm_device_run) / 4, TEXTURE_WORDS = sizeof(txm_view_texture) / 4, WORD = 4, WORD_BITS = 32 };

/* A tile to be copied. */
typedef struct tile_copy {
    txm_mirrored from;
    uint32_t unit;
} tile_copy;

typedef struct updating {
    txm_device_launch *l;
    tile_copy *tiles;
    size_t count, capacity;
    uint64_t bytes;
    bool no_memory;
} updating;

bool txm_words_room(txm_words *w, size_t more)
{
    if (w->count + more <= w->capacity)
        return true;
    const size_t capacity = (w->count + more) * 3 / 2 + 64;
    uint32_t *items = capacity > SIZE_MAX / sizeof *items ? NULL : realloc(w->items, capacity * sizeof *items);
    if (!items)
        return false;
    w->items = items;
    w->capacity = capacity;
    return true;
}

/* ---- tiles ---- */

static uint32_t units_of(uint32_t bytes)
{
    return (bytes + TXM_DEVICE_UNIT_BYTES - 1) / TXM_DEVICE_UNIT_BYTES;
}

/* The slot's copy got or lost its place. */
static void copy_moved(txm_device *d, uint32_t slot)
{
    for (int i = 0; i < TXM_DEVICE_LAUNCHES; i++) {
        txm_device_launch *l = &d->launches[i];
        const uint32_t entry = slot < l->entry_of.count ? l->entry_of.items[slot] : TXM_NO_ENTRY;
        const uint32_t group = entry / TXM_MIRROR_GROUP;
        l->all_moved |= entry == TXM_MANY;
        if (entry < l->sent.count)
            l->moved.items[group / WORD_BITS] |= 1u << group % WORD_BITS;
    }
}

void txm_copy_drop(txm_device *d, uint32_t slot)
{
    const uint32_t unit = d->copies[slot].unit;
    txm_places_give(unit < d->near_places.units ? &d->near_places : &d->far_places, unit);
    d->copies[slot].unit = TXM_NO_PLACE;
    copy_moved(d, slot);
}

/* Drops copies of slots whose contents have changed, since no view will use them from now on. A view that the caller
 * holds open may show tiles that the cache has since evicted, so their copies are kept within a session. */
static void forget_stale(txm_device *d, txm_cache *c, bool in_view)
{
    const uint32_t spurious = (uint32_t)(txm_mirror_spurious(c) * 16777216.0f);
    for (uint32_t i = 0; i < d->copy_count; i++) {
        txm_copy *copy = &d->copies[i];
        if (copy->unit == TXM_NO_PLACE || (in_view && copy->session == d->session))
            continue;
        copy->session = d->session;
        d->chance = 1103515245u * d->chance + 12345u;
        if (txm_mirror_holds(c, i, copy->stamp) && d->chance >> 8 >= spurious)
            continue;
        txm_copy_drop(d, i);
    }
}

static bool room_for_copies(txm_device *d, uint32_t slots)
{
    if (slots <= d->copy_count)
        return true;
    txm_copy *copies = realloc(d->copies, slots * sizeof *copies);
    if (!copies)
        return false;
    for (uint32_t i = d->copy_count; i < slots; i++)
        copies[i] = (txm_copy){.unit = TXM_NO_PLACE};
    d->copies = copies;
    d->copy_count = slots;
    return true;
}

/* Allocates far memory when the first tile does not fit in near memory. Without far memory, tiles that do not fit are
 * missed. */
static void far_memory(txm_device *d)
{
    void *memory = NULL;
    if (d->far_places.memory || !d->host_most)
        return;
    uint64_t bytes = d->host_most;
    d->host_most = 0; /* do not try again */
    while (bytes >= 1 << 20 && d->call->alloc_host(&memory, (size_t)bytes)) {
        memory = NULL;
        bytes /= 2;
    }
    if (!memory)
        return;
    txm_places_free(&d->far_places);
    if (txm_places_new(&d->far_places, memory, d->near_places.units, bytes)) {
        d->stats.host_bytes = bytes;
        return;
    }
    d->call->free(memory);
    d->far_places = (txm_places){0};
}

/* Finds a place for a tile, unless it has one. Returns false if there is none at present. */
static bool want_tile(updating *u, txm_mirrored tile)
{
    txm_device_launch *l = u->l;
    txm_device *d = l->device;
    txm_copy *copy = &d->copies[tile.slot];
    const uint32_t units = units_of(tile.bytes), horizon = l->number ? l->number : 1;
    if (copy->unit != TXM_NO_PLACE)
        return true;
    if (u->count && u->bytes + tile.bytes > d->options.copy_bytes)
        return false;
    if (u->count == u->capacity && !TXM_GROW(u->tiles, u->capacity, u->count)) {
        u->no_memory = true;
        return false;
    }
    uint32_t unit = txm_places_take(d, &d->near_places, tile.slot, units, horizon);
    if (unit == TXM_NO_PLACE) {
        far_memory(d);
        unit = txm_places_take(d, &d->far_places, tile.slot, units, horizon);
        d->stats.tiles_far += unit != TXM_NO_PLACE;
    }
    if (unit == TXM_NO_PLACE)
        return false;
    *copy = (txm_copy){unit, tile.stamp, d->clock, d->session};
    copy_moved(d, tile.slot);
    u->tiles[u->count++] = (tile_copy){tile, unit};
    u->bytes += tile.bytes;
    return true;
}

static void want_kept(void *user, txm_mirrored tile)
{
    want_tile(user, tile);
}

/* Runs under the cache's lock, so the tiles that the view shows cannot change meanwhile. Requested entries stay on the
 * list while they are being read or have no place. Entries that are neither present nor being read are dropped; lookups
 * that need them request them again. */
static void choose_tiles(void *user, txm_cache *c)
{
    updating *u = user;
    txm_device *d = u->l->device;
    const txm_view *view = &u->l->view;
    u->l->changes = txm_mirror_changes_of(c, view);
    if (!room_for_copies(d, txm_mirror_slots(c))) {
        u->no_memory = true;
        return;
    }
    forget_stale(d, c, u->l->in_view);
    txm_mirror_kept(c, want_kept, u);
    size_t kept = 0;
    for (size_t i = 0; i < d->wanted.count; i++) {
        const uint32_t number = d->wanted.items[i];
        if (number >> TXM_LEAF_SHIFT >= u->l->extent.leaves)
            continue;
        const uint32_t slot = txm_view_slot(view, number);
        const bool waits =
            slot < TXM_SLOT_STATES ? !want_tile(u, txm_mirror_of(c, slot)) : slot == TXM_SLOT_LOADING && !u->l->in_view;
        if (waits)
            d->wanted.items[kept++] = number;
    }
    d->wanted.count = kept;
}

/* Each run is one tile, counted in units; pixels begin at the first unit after the runs. The view is open, so the
 * pixels cannot change. */
static txm_status pack_tiles(updating *u, txm_update *out, txm_error *err)
{
    txm_device_launch *l = u->l;
    size_t units = units_of((uint32_t)(u->count * sizeof(txm_device_run)));
    const size_t first = units;
    for (size_t i = 0; i < u->count; i++)
        units += units_of(u->tiles[i].from.bytes);
    const size_t bytes = units * TXM_DEVICE_UNIT_BYTES;
    txm_status status = txm_passage_room(l->device, &l->tiles, bytes, true, err);
    if (status)
        return status;
    uint8_t *packet = l->tiles.pinned;
    txm_device_run *runs = l->tiles.pinned;
    size_t at = first;
    for (size_t i = 0; i < u->count; i++) {
        const tile_copy *t = &u->tiles[i];
        const uint32_t near_units = l->device->near_places.units, own = units_of(t->from.bytes);
        const bool far_away = t->unit >= near_units;
        runs[i] = (txm_device_run){(uint32_t)at, far_away ? t->unit - near_units : t->unit, own, far_away};
        memcpy(packet + at * TXM_DEVICE_UNIT_BYTES, t->from.pixels, t->from.bytes);
        memset(packet + at * TXM_DEVICE_UNIT_BYTES + t->from.bytes, 0,
               (size_t)own * TXM_DEVICE_UNIT_BYTES - t->from.bytes);
        at += own;
        out->far_away |= far_away;
        l->device->stats.copied_pixels += t->from.bytes;
    }
    out->tile_runs = (uint32_t)u->count;
    out->tile_bytes = bytes;
    return TXM_OK;
}

/* ---- the table ---- */

/* Appends words to the piece, and extends the previous run if they continue it. */
static bool add_words(txm_device_launch *l, uint32_t to, const void *words, uint32_t count)
{
    if (!count)
        return true;
    if (!txm_words_room(&l->values, count) || !txm_words_room(&l->runs, RUN_WORDS))
        return false;
    uint32_t *last = l->runs.count ? l->runs.items + l->runs.count - RUN_WORDS : NULL;
    if (last && last[1] + last[2] == to) {
        last[2] += count;
    } else {
        const txm_device_run run = {(uint32_t)l->values.count, to, count, 0};
        memcpy(l->runs.items + l->runs.count, &run, sizeof run);
        l->runs.count += RUN_WORDS;
    }
    memcpy(l->values.items + l->values.count, words, count * sizeof *l->values.items);
    l->values.count += count;
    return true;
}

static uint32_t with_room(uint32_t count)
{
    return count + count / 2 + 64;
}

/* Enlarges the table if something has outgrown its part; all of it is then sent again. */
static txm_status room_for_table(txm_device_launch *l, txm_error *err)
{
    txm_device *d = l->device;
    const txm_cache_extent *e = &l->extent;
    if (l->table && e->textures <= l->texture_room && e->udims <= l->udim_room && e->leaves <= l->leaf_room &&
        e->tiles <= l->slot_room)
        return TXM_OK;
    const uint32_t textures = with_room(e->textures), udims = with_room(e->udims), leaves = with_room(e->leaves),
                   slots = with_room(e->tiles);
    const size_t words = (size_t)textures * TEXTURE_WORDS + udims + leaves + slots;
    void *table = NULL;
    txm_status status = txm_device_check(d, d->call->alloc(&table, words * WORD), "memory for the page table", err);
    if (status)
        return status;
    d->call->free(l->table);
    l->table = table;
    l->texture_room = textures;
    l->udim_room = udims;
    l->leaf_room = leaves;
    l->slot_room = slots;
    l->udims_sent = 0;
    l->sent.count = l->sent_leaves.count = 0;
    l->textures_sent = 0;
    return TXM_OK;
}

/* Whether the view that was sent was an earlier one of the same viewer. */
static bool same_viewer(const txm_device_launch *l)
{
    return l->changes.viewer && l->changes.viewer == l->changes_sent.viewer && l->view.round == l->round_sent;
}

/* Whether all of a group was sent, and none of it was copied to the view since then. */
static bool is_old(const txm_device_launch *l, const uint32_t *numbers, uint32_t group, size_t sent, size_t count)
{
    return ((group + 1) * (size_t)TXM_MIRROR_GROUP <= sent || sent == count) &&
           (int32_t)(numbers[group] - l->changes_sent.number) <= 0;
}

static bool add_textures(txm_device_launch *l)
{
    const uint32_t count = l->extent.textures;
    if (count > l->textures_capacity) {
        txm_view_texture *kept = realloc(l->textures, with_room(count) * sizeof *kept);
        if (!kept)
            return false;
        l->textures = kept;
        l->textures_capacity = with_room(count);
    }
    const bool all = !same_viewer(l);
    for (uint32_t i = 0; i < count; i++) {
        const txm_view_texture *now = &l->view.textures[i];
        if (!all && is_old(l, l->changes.textures, i / TXM_MIRROR_GROUP, l->textures_sent, count)) {
            i |= TXM_MIRROR_GROUP - 1;
            continue;
        }
        l->device->compared++;
        if (i < l->textures_sent && !memcmp(now, &l->textures[i], sizeof *now))
            continue;
        if (!add_words(l, i * TEXTURE_WORDS, now, TEXTURE_WORDS))
            return false;
        l->textures[i] = *now;
        l->device->types |= 1u << now->type;
    }
    l->textures_sent = count;
    return true;
}

/* Whether the slot's tile is not in memory and a lookup may request it. */
static bool may_be_asked_for(const txm_view *view, uint32_t slot)
{
    const bool unreadable = slot - TXM_SLOT_UNREADABLE <= UINT16_MAX;
    return slot == TXM_SLOT_NONE || slot - TXM_SLOT_REQUESTED <= UINT16_MAX ||
           (unreadable && slot != TXM_SLOT_UNREADABLE + view->round);
}

/* The table's word for a slot: the tile's place on the device. A tile that is missing in a caller's view is LOADING, so
 * it is missed without being requested. */
static uint32_t word_of(const txm_device_launch *l, uint32_t slot)
{
    const txm_device *d = l->device;
    if (slot >= TXM_SLOT_STATES)
        return l->in_view && may_be_asked_for(&l->view, slot) ? TXM_SLOT_LOADING : slot;
    const uint32_t unit = slot < d->copy_count ? d->copies[slot].unit : TXM_NO_PLACE;
    return unit != TXM_NO_PLACE ? unit : TXM_SLOT_NONE;
}

/* A slot that many entries show holds a tile of one colour. */
static void note_entry(txm_device_launch *l, uint32_t slot, uint32_t entry)
{
    if (slot >= l->entry_of.count)
        return;
    uint32_t *known = &l->entry_of.items[slot];
    const bool other = *known != entry && *known < l->extent.tiles && l->view.tiles[*known].slot == slot;
    if (*known != TXM_MANY)
        *known = other ? TXM_MANY : entry;
}

static bool add_group(txm_device_launch *l, uint32_t group)
{
    const uint32_t begin = l->texture_room * TEXTURE_WORDS + l->udim_room + l->leaf_room,
                   first = group * TXM_MIRROR_GROUP;
    for (uint32_t i = first; i < l->extent.tiles && i - first < TXM_MIRROR_GROUP; i++) {
        const uint32_t slot = l->view.tiles[i].slot, word = word_of(l, slot);
        note_entry(l, slot, i);
        l->device->compared++;
        if (i < l->sent.count && word == l->sent.items[i])
            continue;
        if (!add_words(l, begin + i, &word, 1))
            return false;
        l->sent.items[i] = word;
    }
    return true;
}

static bool fill_words(txm_words *w, size_t count, uint32_t word)
{
    if (count > w->count && !txm_words_room(w, count - w->count))
        return false;
    while (w->count < count)
        txm_words_add(w, word);
    return true;
}

static bool add_slots(txm_device_launch *l)
{
    const uint32_t count = l->extent.tiles, groups = (count + TXM_MIRROR_GROUP - 1) / TXM_MIRROR_GROUP;
    const bool all = l->all_moved || !same_viewer(l);
    if (!txm_words_room(&l->sent, count > l->sent.count ? count - l->sent.count : 0) ||
        !fill_words(&l->moved, (groups + WORD_BITS - 1) / WORD_BITS, 0))
        return false;
    if (all)
        l->entry_of.count = 0;
    if (!fill_words(&l->entry_of, l->device->copy_count, TXM_NO_ENTRY))
        return false;
    for (uint32_t i = 0; i < groups; i++) {
        const bool moved = l->moved.items[i / WORD_BITS] >> i % WORD_BITS & 1;
        if ((all || moved || !is_old(l, l->changes.entries, i, l->sent.count, count)) && !add_group(l, i))
            return false;
    }
    for (size_t i = 0; i < l->moved.count; i++)
        l->moved.items[i] = 0;
    l->all_moved = false;
    l->sent.count = count;
    return true;
}

/* The word of a leaf is the index of its entries, which are at the same place on the device, or the state of its tiles.
 */
static bool add_leaves(txm_device_launch *l)
{
    const uint32_t count = l->extent.leaves, begin = l->texture_room * TEXTURE_WORDS + l->udim_room;
    const bool all = !same_viewer(l);
    if (!txm_words_room(&l->sent_leaves, count > l->sent_leaves.count ? count - l->sent_leaves.count : 0))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!all && is_old(l, l->changes.leaves, i / TXM_MIRROR_GROUP, l->sent_leaves.count, count)) {
            i |= TXM_MIRROR_GROUP - 1;
            continue;
        }
        const uint32_t state = l->view.leaves[i];
        const uint32_t word = state < TXM_SLOT_STATES ? state : word_of(l, state);
        l->device->compared++;
        if (i < l->sent_leaves.count && word == l->sent_leaves.items[i])
            continue;
        if (!add_words(l, begin + i, &word, 1))
            return false;
        l->sent_leaves.items[i] = word;
    }
    l->sent_leaves.count = count;
    return true;
}

/* Packs the runs, followed by their words; destinations are counted in words. */
static txm_status pack_table(txm_device_launch *l, txm_update *out, txm_error *err)
{
    const size_t bytes = (l->runs.count + l->values.count) * WORD;
    if (!bytes)
        return TXM_OK;
    txm_status status = txm_passage_room(l->device, &l->updates, bytes, true, err);
    if (status)
        return status;
    uint32_t *packet = l->updates.pinned;
    for (size_t i = 0; i < l->runs.count; i += RUN_WORDS)
        l->runs.items[i] += (uint32_t)l->runs.count;
    memcpy(packet, l->runs.items, l->runs.count * WORD);
    memcpy(packet + l->runs.count, l->values.items, l->values.count * WORD);
    out->table_runs = (uint32_t)(l->runs.count / RUN_WORDS);
    out->table_bytes = bytes;
    return TXM_OK;
}

void txm_copies_forget(txm_device *d, uint32_t number)
{
    for (uint32_t i = 0; i < d->copy_count; i++) {
        txm_copy *copy = &d->copies[i];
        if (copy->unit != TXM_NO_PLACE && copy->used >= number)
            txm_copy_drop(d, i);
    }
}

void txm_table_forget(txm_device_launch *l)
{
    l->sent.count = l->sent_leaves.count = l->textures_sent = 0;
    l->udims_sent = 0;
    if (!l->in_view)
        txm_cache_viewer_close(l->viewer);
}

/* An error here has changed nothing on the device, but `sent` may already contain words that were not sent, so the
 * whole table is sent again. */
static txm_status give_up(updating *u, txm_status status)
{
    txm_device_launch *l = u->l;
    txm_table_forget(l);
    txm_copies_forget(l->device, l->device->clock);
    free(u->tiles);
    return status;
}

/* Adds the UDIM entries that are new since the last launch. */
static bool add_udims(txm_device_launch *l, uint32_t udims)
{
    return udims == l->udims_sent || add_words(l, l->texture_room * TEXTURE_WORDS + l->udims_sent,
                                               l->view.udims + l->udims_sent, udims - l->udims_sent);
}

txm_status txm_table_update(txm_device_launch *l, txm_update *out, txm_error *err)
{
    updating u = {.l = l};
    *out = (txm_update){0};
    l->runs.count = l->values.count = 0;
    txm_status status = TXM_OK;
    if (l->in_view)
        txm_mirror_inspect(l->device->cache, choose_tiles, &u);
    else
        status = txm_mirror_prepare(l->viewer, &l->view, &l->extent, choose_tiles, &u, err);
    if (status == TXM_OK && u.no_memory)
        status = txm_no_memory(err, NULL);
    if (status == TXM_OK)
        status = room_for_table(l, err);
    if (status == TXM_OK && u.count)
        status = pack_tiles(&u, out, err);
    const uint32_t udims = l->extent.udims;
    if (status == TXM_OK && !(add_textures(l) && add_udims(l, udims) && add_leaves(l) && add_slots(l)))
        status = txm_no_memory(err, NULL);
    if (status == TXM_OK)
        status = pack_table(l, out, err);
    if (status)
        return give_up(&u, status);
    l->udims_sent = udims;
    l->changes_sent = l->changes;
    l->round_sent = l->view.round;
    free(u.tiles);
    return TXM_OK;
}
