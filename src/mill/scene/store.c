/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocates strings in chunks that are freed together, and arrays that double. Every byte is charged to the store's
 * limit before it is allocated; beyond that, allocations fail. Freeing the store frees all strings; arrays belong to
 * the code that grew them.
 */
#include "mill/scene/store.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024 };

struct txm_store_chunk {
    txm_store_chunk *next;
    size_t used, size;
    char data[];
};

/* Charges before it allocates, so that nothing has to be undone. */
static bool charge(txm_store *store, size_t bytes)
{
    if (bytes > store->limit_bytes - store->used_bytes) {
        store->over_limit = true;
        return false;
    }
    store->used_bytes += bytes;
    return true;
}

const char *txm_store_string(txm_store *store, const char *s, size_t n)
{
    txm_store_chunk *c = store->chunks;
    if (!c || n >= c->size - c->used) {
        size_t size = n + 1 > CHUNK_BYTES ? n + 1 : CHUNK_BYTES;
        if (!charge(store, size + sizeof *c))
            return NULL;
        c = malloc(sizeof *c + size);
        if (!c)
            return NULL;
        *c = (txm_store_chunk){.next = store->chunks, .size = size};
        store->chunks = c;
    }
    char *copy = c->data + c->used;
    memcpy(copy, s, n);
    copy[n] = 0;
    c->used += n + 1;
    return copy;
}

void txm_store_free(txm_store *store)
{
    while (store->chunks) {
        txm_store_chunk *next = store->chunks->next;
        free(store->chunks);
        store->chunks = next;
    }
    store->used_bytes = 0;
}

/* Arrays are charged with their size, not with what realloc copies. */
bool txm_store_grow(txm_store *store, void **array, size_t *capacity, size_t count, size_t element_bytes)
{
    if (count == *capacity) {
        size_t more = *capacity ? *capacity : 16;
        if (more > SIZE_MAX / 2 / element_bytes - *capacity || !charge(store, more * element_bytes))
            return false;
        void *data = realloc(*array, (*capacity + more) * element_bytes);
        if (!data) {
            store->used_bytes -= more * element_bytes;
            return false;
        }
        *array = data;
        *capacity += more;
    }
    memset((char *)*array + count * element_bytes, 0, element_bytes);
    return true;
}
