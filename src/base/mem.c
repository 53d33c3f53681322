/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

txm_status txm_no_memory(txm_error *err, const char *subject)
{
    return subject ? txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", subject)
                   : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
}

void *txm_calloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1);
}

void *txm_alloc_pixels(size_t count, size_t size)
{
    size_t bytes = txm_mul(count, size);
    void *p = NULL;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&p, 64, bytes ? bytes : 1))
        return NULL;
    return p;
}

bool txm_grow(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
    enum { FIRST = 16 };
    if (count < *capacity)
        return true;
    size_t more = *capacity ? txm_mul(*capacity, 2) : FIRST;
    void *grown = realloc(*items, txm_mul(more, item_bytes));
    if (!grown)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

char *txm_strdup(const char *s)
{
    return s ? strdup(s) : NULL;
}

char *txm_strndup(const char *s, size_t n)
{
    return s ? strndup(s, n) : NULL;
}

char *txm_asprintf(const char *format, ...)
{
    va_list args;
    char *s = NULL;
    va_start(args, format);
    int n = vasprintf(&s, format, args);
    va_end(args);
    return n < 0 ? NULL : s;
}
