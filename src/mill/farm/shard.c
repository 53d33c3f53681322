/* SPDX-License-Identifier: Apache-2.0
 *
 * Divides a batch into shards. Assigning the largest file to the emptiest shard would balance best, but one more file
 * would move all that are smaller. Choosing the shard by the digest of the path would move nothing, but would not
 * balance. Here each file, the largest first, goes to the first shard with enough room in a sequence that its path
 * determines: no shard gets more than its even share plus a fiftieth, and one file more or less moves few others. A
 * file that fits into no shard of its sequence goes to the emptiest one.
 */
#include "mill/farm/batch.h"

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

/* Sorts by weight, heaviest first, then by path, so that the order of the arguments does not matter. */
static int compare_weights(const void *pa, const void *pb)
{
    const entry *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    int order = strcmp(a->key, b->key);
    /* An image may be requested in two colour spaces. */
    const char *x = a->item->requested, *y = b->item->requested;
    order = order ? order : strcmp(x ? x : "", y ? y : "");
    return order ? order : (int)a->item->alpha - (int)b->item->alpha;
}

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

/* Tries a few shards in an order that only the path determines; else takes the first of the emptiest ones, so that
 * every host divides in the same way. `room`: the seconds that a shard may take. */
static uint32_t choose(const double *loads, uint32_t shards, double room, const entry *e)
{
    uint32_t best = 0;
    for (unsigned i = 0; i < CHOICES; i++) {
        uint32_t shard = (uint32_t)(txm_xxh64(e->key, strlen(e->key), i) % shards);
        if (loads[shard] + (double)e->weight <= room)
            return shard;
    }
    for (uint32_t i = 1; i < shards; i++)
        if (loads[i] < loads[best])
            best = i;
    return best;
}

/* Every host computes the whole division itself, without communication. */
txm_status txm_shards_assign(txm_batch *batch, txm_error *err)
{
    const uint32_t shards = batch->options.shards;
    entry *entries = txm_calloc(batch->count, sizeof *entries);
    double *loads = txm_calloc(shards, sizeof *loads), total = 0;
    size_t count = 0;
    txm_status status = entries && loads ? TXM_OK : txm_no_memory(err, NULL);
    for (size_t i = 0; status == TXM_OK && i < batch->count; i++) {
        const txm_item *item = &batch->items[i];
        if (item->same_as != TXM_NO_INDEX)
            continue;
        char *key = txm_path_normal(txm_inputs_at(batch->inputs, i)->path);
        if (!key)
            status = txm_no_memory(err, NULL);
        else
            entries[count++] = (entry){key, i, item->weight, item};
    }
    if (status == TXM_OK && count)
        qsort(entries, count, sizeof *entries, compare_weights);
    if (status == TXM_OK)
        status = digest(entries, count, batch->list_key, err);
    for (size_t i = 0; i < count; i++)
        total += (double)entries[i].weight;
    /* A file larger than an even share fits nowhere: it comes early, and goes to a shard that is still empty. */
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        uint32_t shard = choose(loads, shards, total / shards * SLACK, &entries[i]);
        loads[shard] += (double)entries[i].weight;
        batch->items[entries[i].index].shard = shard + 1;
    }
    /* An input that makes the same tx file as another one belongs to its shard. */
    for (size_t i = 0; status == TXM_OK && i < batch->count; i++)
        if (batch->items[i].same_as != TXM_NO_INDEX)
            batch->items[i].shard = batch->items[batch->items[i].same_as].shard;
    for (size_t i = 0; i < count; i++)
        free(entries[i].key);
    free(entries);
    free(loads);
    return status;
}
