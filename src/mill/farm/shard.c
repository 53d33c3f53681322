/* SPDX-License-Identifier: Apache-2.0
 *
 * Divides a batch into shards. Assigning the largest file to the emptiest shard would balance best, but one more file
 * would move all that are smaller. Choosing the shard by the digest of the path would move nothing, but would not
 * balance. Here each file, the largest first, goes to the first shard with enough room in a sequence that its path
 * determines: no shard gets more than its even share plus a fiftieth, and one file more or less moves few others. A
 * file that fits into no shard of its sequence goes to the emptiest one.
 */
#include "mill/farm/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"

/* The size of a shard relative to the even share, and the length of a path's sequence. */
#define SLACK 1.02
enum { CHOICES = 16 };

typedef struct entry {
    char *key; /* the path in a normalised spelling */
    size_t index;
    float weight;
    const txm_item *item;
} entry;

bool txm_batch_is_mine(const txm_batch *batch, size_t index)
{
    return !batch->options.shard || batch->items[index].shard == batch->options.shard;
}

/* An image may be requested in two colour spaces. */
static int compare_requests(const txm_item *a, const txm_item *b)
{
    const char *x = a->requested ? a->requested : "", *y = b->requested ? b->requested : "";
    int order = strcmp(x, y);
    return order ? order : (int)a->alpha - (int)b->alpha;
}

/* Sorts by weight, heaviest first, then by path, so that the order of the arguments does not matter. */
static int compare_weights(const void *pa, const void *pb)
{
    const entry *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    int order = strcmp(a->key, b->key);
    return order ? order : compare_requests(a->item, b->item);
}

/* ---- the digest ------------------------------------------------------------------------------------------------- */

/* A digest of all input of the division: hosts that print the same one divided the same way. */
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
        /* The terminating NULs are hashed too, so that "ab" "c" differs from "a" "bc". */
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
    double room; /* seconds that a shard may take */
} division;

/* Takes the first of equally empty shards, so that every host divides in the same way. */
static uint32_t emptiest(const division *d)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < d->shards; i++)
        if (d->loads[i] < d->loads[best])
            best = i;
    return best;
}

/* Tries a few shards in an order that only the path determines. */
static uint32_t choose(const division *d, const entry *e)
{
    for (unsigned i = 0; i < CHOICES; i++) {
        uint32_t shard = (uint32_t)(txm_xxh64(e->key, strlen(e->key), i) % d->shards);
        if (d->loads[shard] + (double)e->weight <= d->room)
            return shard;
    }
    return emptiest(d);
}

/* The largest come first; small ones fill the rest. */
static void divide_entries(txm_batch *b, division *d, const entry *entries, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += (double)entries[i].weight;
    d->room = total / d->shards * SLACK;
    /* A file larger than an even share fits nowhere: it comes early, and goes to a shard that is still empty. */
    for (size_t i = 0; i < count; i++) {
        uint32_t shard = choose(d, &entries[i]);
        d->loads[shard] += (double)entries[i].weight;
        b->items[entries[i].index].shard = shard + 1;
    }
}

/* ---- the whole division ----------------------------------------------------------------------------------------- */

/* Collects the items that are made themselves. Returns false if memory is exhausted. */
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

/* Every host computes the whole division itself, without communication. */
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
        divide_entries(batch, &d, entries, count);
    /* An input that makes the same tx file as another one belongs to its shard. */
    for (size_t i = 0; status == TXM_OK && i < batch->count; i++)
        if (batch->items[i].same_as != TXM_NO_INDEX)
            batch->items[i].shard = batch->items[batch->items[i].same_as].shard;
    for (size_t i = 0; i < count; i++)
        free(entries[i].key);
    free(entries);
    free(d.loads);
    return status;
}
