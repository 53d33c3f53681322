/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices for lookups: opening a device through its plug-in, its properties, and closing it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "tile/device/device_impl.h"

void txm_device_options_init_sized(txm_device_options *options, size_t struct_size)
{
    const txm_device_options all = {
        .struct_size = struct_size, .max_lookups = 1 << 18, .max_requests = 1 << 16, .copy_bytes = 64 << 20};
    txm_options_open(options, struct_size, &all, sizeof all);
}

static txm_status take_options(const txm_device_options *given, txm_device_options *o, txm_error *err)
{
    txm_device_options_init(o);
    txm_status status = txm_options_take(o, sizeof *o, given, "txm_device_options", err);
    if (status)
        return status;
    if (o->max_lookups < 1 || o->max_lookups > 1 << 22)
        return txm_fail(err, TXM_STATUS_USAGE, "a launch can have 1 to 4194304 lookups");
    if (o->max_requests < 64 || o->max_requests > 1 << 20)
        return txm_fail(err, TXM_STATUS_USAGE, "a launch can have 64 to 1048576 requests");
    return TXM_OK;
}

/* Allocates memory for tiles: as much as was requested, or as the cache's budget, up to the device's limits. If the
 * device refuses, half as much is tried, and so on; the rest of the tiles go to far memory. */
static txm_status near_memory(txm_device *d, const txm_device_found *found, txm_error *err)
{
    enum { LEAST = 64 << 10 };
    const uint64_t budget = txm_mirror_budget(d->cache), usual = found->memory_bytes / 4 * 3;
    uint64_t bytes = d->options.memory_bytes, most = found->piece_bytes ? found->piece_bytes : usual;
    if (!bytes)
        bytes = budget && budget < usual ? budget : usual;
    bytes = bytes < most ? bytes : most;
    const uint64_t words =
        (uint64_t)TXM_SLOT_STATES / 2 * TXM_DEVICE_UNIT_BYTES; /* the other half of the numbers is for far places */
    bytes = (bytes < words ? bytes : words) & ~(uint64_t)(TXM_DEVICE_UNIT_BYTES - 1);
    bytes = bytes > LEAST ? bytes : LEAST;
    void *memory = NULL;
    int code;
    while ((code = d->call->alloc(&memory, (size_t)bytes)) != 0 && d->call->out_of_memory(code) && bytes / 2 >= LEAST)
        bytes = bytes / 2 & ~(uint64_t)(TXM_DEVICE_UNIT_BYTES - 1);
    txm_status status = txm_device_check(d, code, "memory for tiles", err);
    if (status)
        return status;
    d->host_most = d->options.host_bytes ? d->options.host_bytes : budget > bytes ? budget - bytes : 0;
    d->host_most = d->host_most < words ? d->host_most : words;
    d->stats.memory_bytes = bytes;
    if (txm_places_new(&d->near_places, memory, 0, bytes))
        return TXM_OK;
    d->call->free(memory);
    return txm_no_memory(err, NULL);
}

txm_status txm_device_open(txm_cache *cache, const char *name, const txm_device_options *given, txm_device **out,
                           txm_error *err)
{
    txm_device_options options;
    txm_device_found found;
    txm_error_clear(err);
    *out = NULL;
    txm_status status = take_options(given, &options, err);
    if (status == TXM_OK)
        status = txm_device_find(name, &found, err);
    txm_device *d = status == TXM_OK ? txm_calloc(1, sizeof *d) : NULL;
    if (status)
        return status;
    if (!d)
        return txm_no_memory(err, name);
    d->cache = cache;
    d->call = found.lookups;
    d->note = found.note;
    d->index = found.index;
    d->options = options;
    snprintf(d->name, sizeof d->name, "%s", found.name);
    snprintf(d->title, sizeof d->title, "%s", found.title);
    status = txm_device_check(d, d->call->use(d->index), "device", err);
    if (status == TXM_OK)
        status = near_memory(d, &found, err);
    if (status == TXM_OK)
        status = txm_device_check(d, d->call->stream_new(&d->stream), "stream", err);
    if (status == TXM_OK)
        status = txm_device_check(d, d->call->stream_new(&d->copies_stream), "stream", err);
    for (int i = 0; status == TXM_OK && i < TXM_DEVICE_LAUNCHES; i++) {
        txm_device_launch *l = &d->launches[i];
        l->device = d;
        for (int k = 0; status == TXM_OK && k < 5; k++)
            status = txm_device_check(d, d->call->event_new(&l->events[k]), "event", err);
    }
    if (status)
        txm_device_close(&d);
    *out = d;
    return status;
}

static void free_launch(txm_device_launch *l)
{
    txm_device *d = l->device;
    if (!d)
        return;
    txm_cache_viewer_free(&l->viewer);
    if (l->table)
        d->call->free(l->table);
    txm_passage *const all[] = {&l->updates, &l->tiles, &l->in, &l->out, &l->notes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        txm_passage_free(d, all[i]);
    txm_words *const lists[] = {&l->sent, &l->sent_leaves, &l->runs, &l->values, &l->picked, &l->entry_of, &l->moved};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->items);
    free(l->textures);
    for (int k = 0; k < 5; k++)
        if (l->events[k])
            d->call->event_free(l->events[k]);
}

/* The streams are freed first: this waits for work that is under way and still uses everything else. */
void txm_device_close(txm_device **device)
{
    txm_device *d = device ? *device : NULL;
    if (!d)
        return;
    d->call->use(d->index);
    if (d->copies_stream)
        d->call->stream_free(d->copies_stream);
    if (d->stream)
        d->call->stream_free(d->stream);
    for (int i = 0; i < TXM_DEVICE_LAUNCHES; i++)
        free_launch(&d->launches[i]);
    if (d->near_places.memory)
        d->call->free(d->near_places.memory);
    if (d->far_places.memory)
        d->call->free(d->far_places.memory);
    txm_places_free(&d->near_places);
    txm_places_free(&d->far_places);
    free(d->copies);
    free(d->wanted.items);
    free(d);
    *device = NULL;
}

void txm_device_handles_of(const txm_device *d, txm_device_handles *handles)
{
    void *found[3] = {NULL, NULL, NULL};
    d->call->handles(d->stream, found);
    *handles = (txm_device_handles){found[0], found[1], found[2]};
}

const char *txm_device_title(const txm_device *device)
{
    return device->title;
}

const char *txm_device_name(const txm_device *device)
{
    return device->name;
}

bool txm_device_is_lost(const txm_device *device)
{
    return device->lost;
}

const char *txm_device_problem(const txm_device *device)
{
    const char *note = device->lost ? NULL : device->note();
    return note ? note : device->why.message;
}

void txm_device_stats_of(const txm_device *device, txm_device_stats *stats)
{
    *stats = device->stats;
}
