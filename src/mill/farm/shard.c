/* SPDX-License-Identifier: Apache-2.0
 *
 * Dividing a batch. Balance alone would ask for "the largest file to the emptiest shard", and one file more would
 * shuffle all that are smaller. Names alone, "the shard that the path's digest says", move nothing when a file is
 * added, and balance nothing. Here each file goes, the largest first, to the first shard of a sequence that its path
 * gives, as long as that shard has room: no shard holds more than its even share and a fiftieth, and a file more or
 * less moves few others. What no shard of its sequence has room for goes to the emptiest one.
 */
#include "mill/farm/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mill/base/hash.h"
#include "tile/base/checksum.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/path.h"

/* Above the even share; and shards that a path's sequence names before the emptiest is taken. */
#define SLACK 1.02
enum { CHOICES = 16 };

typedef struct entry {
    char *key; /* the path without the accidents of its spelling */
    size_t index;
    float weight;
    const txm_item *item;
} entry;

bool txm_batch_is_mine(const txm_batch *batch, size_t index)
{
    return !batch->options.shard || batch->items[index].shard == batch->options.shard;
}

/* One image may be there in two colour spaces. */
static int compare_requests(const txm_item *a, const txm_item *b)
{
    const char *x = a->requested ? a->requested : "", *y = b->requested ? b->requested : "";
    int order = strcmp(x, y);
    return order ? order : (int)a->alpha - (int)b->alpha;
}

/* Heaviest first; equal ones by path, so that the order of the arguments does not count. */
static int compare_weights(const void *pa, const void *pb)
{
    const entry *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    int order = strcmp(a->key, b->key);
    return order ? order : compare_requests(a->item, b->item);
}

/* ---- what was seen ---------------------------------------------------------------------------------------------- */

/* A digest of everything that the division rests on: hosts that print the same one divided the same way. */
static txm_status digest(const entry *entries, size_t count, char out[TXM_SHA1_HEX], txm_error *err)
{
    txm_sha1 *hash = txm_sha1_new();
    if (!hash)
        return txm_no_memory(err, NULL);
    for (size_t i = 0; i < count; i++) {
        char text[48];
        int n = snprintf(text, sizeof text, "%a %d ", (double)entries[i].weight, (int)entries[i].item->alpha);
        const char *requested = entries[i].item->requested;
        txm_sha1_add(hash, text, (size_t)n);
        /* With their ends: "ab" "c" is not "a" "bc". */
        txm_sha1_add(hash, requested ? requested : "", requested ? strlen(requested) + 1 : 1);
        txm_sha1_add(hash, entries[i].key, strlen(entries[i].key) + 1);
    }
    txm_sha1_finish(hash, out);
    txm_sha1_free(hash);
    return TXM_OK;
}

/* ---- dividing --------------------------------------------------------------------------------------------------- */

typedef struct division {
    uint32_t shards;
    double *loads;
    double room; /* that a shard has */
} division;

/* The first of equally empty ones, so that every host divides in the same way. */
static uint32_t emptiest(const division *d)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < d->shards; i++)
        if (d->loads[i] < d->loads[best])
            best = i;
    return best;
}

/* A few places by digest, in an order that only the path decides. */
static uint32_t choose(const division *d, const entry *e)
{
    for (unsigned i = 0; i < CHOICES; i++) {
        uint32_t shard = (uint32_t)(txm_xxh64(e->key, strlen(e->key), i) % d->shards);
        if (d->loads[shard] + (double)e->weight <= d->room)
            return shard;
    }
    return emptiest(d);
}

/* The largest first: small ones fill what is left. */
static void divide(txm_batch *b, division *d, const entry *entries, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += (double)entries[i].weight;
    d->room = total / d->shards * SLACK;
    /* A file that is more than an even share finds room nowhere: it comes early, and goes to a shard that is empty. */
    for (size_t i = 0; i < count; i++) {
        uint32_t shard = choose(d, &entries[i]);
        d->loads[shard] += (double)entries[i].weight;
        b->items[entries[i].index].shard = shard + 1;
    }
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* Those that are work of their own. False when memory is exhausted. */
static bool collect_work(const txm_batch *b, entry *entries, size_t *count)
{
    for (size_t i = 0; i < b->count; i++) {
        const txm_item *item = &b->items[i];
        if (item->same_as != TXM_NO_INDEX)
            continue;
        char *key = txm_path_normal(txm_inputs_at(b->inputs, i)->path);
        if (!key)
            return false;
        entries[(*count)++] = (entry){key, i, item->weight, item};
    }
    return true;
}

/* Every host computes the whole division by itself: no host talks to another. */
txm_status txm_shards_assign(txm_batch *batch, txm_error *err)
{
    entry *entries = txm_calloc(batch->count, sizeof *entries);
    division d = {.shards = batch->options.shards, .loads = txm_calloc(batch->options.shards, sizeof *d.loads)};
    size_t count = 0;
    txm_status status = TXM_OK;
    if (!d.loads || (batch->count && (!entries || !collect_work(batch, entries, &count))))
        status = txm_no_memory(err, NULL);
    if (status == TXM_OK && count)
        qsort(entries, count, sizeof *entries, compare_weights);
    if (status == TXM_OK)
        status = digest(entries, count, batch->list_key, err);
    if (status == TXM_OK)
        divide(batch, &d, entries, count);
    /* An input that makes the same tx file as another one is settled with it. */
    for (size_t i = 0; status == TXM_OK && i < batch->count; i++)
        if (batch->items[i].same_as != TXM_NO_INDEX)
            batch->items[i].shard = batch->items[batch->items[i].same_as].shard;
    for (size_t i = 0; i < count; i++)
        free(entries[i].key);
    free(entries);
    free(d.loads);
    return status;
}
