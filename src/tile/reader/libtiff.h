/* SPDX-License-Identifier: Apache-2.0
 * What libtiff's messages mean: it has no codes. */
#ifndef TXM_READER_LIBTIFF_H
#define TXM_READER_LIBTIFF_H
#include <stdbool.h>
#include <string.h>

/* Whether a message is about memory that could not be had: an allocation, or its table of fields. Refusing what is
 * beyond a limit, or what a file is too small for, is another matter, and so is a list without entries, for which
 * libtiff asks for no memory and complains that it got none. */
static inline bool txm_libtiff_lacks_memory(const char *message)
{
    static const char *const about[] = {"emory", "alloc", "No space", "Merging", "field info failed", "Insertion in"};
    if (strstr(message, "beyond the") || strstr(message, "greater than filesize") ||
        strstr(message, "disabled since") || strstr(message, "(0 elements"))
        return false;
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (strstr(message, about[i]))
            return true;
    return false;
}

/* libtiff counts a field of a directory before it has memory for it, and forgets its table of fields, but not their
 * number, where that cannot grow. A handle for which it has said either reads what never was there: it can only be left
 * as it is. */
static inline bool txm_libtiff_breaks_handle(const char *message)
{
    return strstr(message, "list of custom values") || strstr(message, "fields array");
}
#endif
