/* SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing: strings are copied once into chunks that are freed together; the table has pointers to them. It
 * doubles when it is two thirds full.
 */
#include "base/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/mem.h"

enum { CHUNK_BYTES = 64 << 10, FIRST_CAPACITY = 64 };

struct txm_names_chunk {
    txm_names_chunk *next;
    size_t used, size;
    char text[];
};

const char *txm_names_copy(txm_names *names, const char *text)
{
    if (!text)
        return NULL;
    size_t n = strlen(text) + 1;
    txm_names_chunk *c = names->chunks;
    if (!c || c->size - c->used < n) {
        size_t size = n > CHUNK_BYTES ? n : CHUNK_BYTES;
        if (!(c = malloc(sizeof *c + size)))
            return NULL;
        *c = (txm_names_chunk){.next = names->chunks, .size = size};
        names->chunks = c;
    }
    char *copy = memcpy(c->text + c->used, text, n);
    c->used += n;
    return copy;
}

/* The slot that has `text`, or the empty one where it belongs. There is always an empty one. */
static txm_name *slot_of_name(txm_name *slots, size_t capacity, const char *text)
{
    size_t i = (size_t)txm_xxh64(text, strlen(text), 0) & (capacity - 1);
    while (slots[i].text && strcmp(slots[i].text, text) != 0)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static bool grow_names(txm_names *names)
{
    size_t capacity = names->capacity ? 2 * names->capacity : FIRST_CAPACITY;
    txm_name *slots = txm_calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].text)
            *slot_of_name(slots, capacity, names->slots[i].text) = names->slots[i];
    free(names->slots);
    names->slots = slots;
    names->capacity = capacity;
    return true;
}

txm_name *txm_names_entry(txm_names *names, const char *text)
{
    /* At most two thirds are full, so that runs of full slots are short. */
    if (names->count + 1 > names->capacity / 3 * 2 && !grow_names(names))
        return NULL;
    txm_name *slot = slot_of_name(names->slots, names->capacity, text);
    if (!slot->text) {
        if (!(slot->text = txm_names_copy(names, text)))
            return NULL;
        slot->value = 0;
        names->count++;
    }
    return slot;
}

const char *txm_names_put(txm_names *names, const char *text)
{
    txm_name *entry = text ? txm_names_entry(names, text) : NULL;
    return entry ? entry->text : NULL;
}

bool txm_names_has(const txm_names *names, const char *text)
{
    return names->capacity && slot_of_name(names->slots, names->capacity, text)->text;
}

void txm_names_free(txm_names *names)
{
    while (names->chunks) {
        txm_names_chunk *next = names->chunks->next;
        free(names->chunks);
        names->chunks = next;
    }
    free(names->slots);
    *names = (txm_names){0};
}

void txm_file_id(const struct stat *st, char out[TXM_FILE_ID_BYTES])
{
    snprintf(out, TXM_FILE_ID_BYTES, "%" PRIx64 ":%" PRIx64, (uint64_t)st->st_dev, (uint64_t)st->st_ino);
}

bool txm_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return !strcmp(a, b) ||
           (stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino);
}
