/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The capacity doubles, so that appending single bytes takes linear time. */
bool txm_bytes_reserve(txm_bytes *b, size_t extra_bytes)
{
    b->failed |= extra_bytes > SIZE_MAX / 4 - b->size;
    if (b->failed)
        return false;
    size_t need = b->size + extra_bytes + 1; /* includes the NUL */
    if (need <= b->capacity)
        return true;
    size_t capacity = b->capacity ? b->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(b->data, capacity);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

bool txm_bytes_add(txm_bytes *b, const void *data, size_t size_bytes)
{
    if (!txm_bytes_reserve(b, size_bytes))
        return false;
    if (size_bytes)
        memcpy(b->data + b->size, data, size_bytes);
    b->size += size_bytes;
    b->data[b->size] = 0;
    return true;
}

bool txm_bytes_puts(txm_bytes *b, const char *s)
{
    return txm_bytes_add(b, s, strlen(s));
}

bool txm_bytes_printf(txm_bytes *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = txm_vformat(NULL, 0, format, args);
    va_end(args);
    bool ok = n >= 0 && txm_bytes_reserve(b, (size_t)n);
    if (ok) {
        txm_vformat(b->data + b->size, (size_t)n + 1, format, again);
        b->size += (size_t)n;
    }
    va_end(again);
    return ok;
}

char *txm_bytes_take(txm_bytes *b)
{
    if (b->failed)
        txm_bytes_free(b);
    char *text = b->data;
    *b = (txm_bytes){0};
    return text;
}

void txm_bytes_free(txm_bytes *b)
{
    free(b->data);
    *b = (txm_bytes){0};
}
