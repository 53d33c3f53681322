/* SPDX-License-Identifier: Apache-2.0
 * Interprets libtiff's messages, because it has no error codes. */
#ifndef TXM_READER_LIBTIFF_H
#define TXM_READER_LIBTIFF_H
#include <stdbool.h>
#include <string.h>

/* Whether a message reports a lack of memory: a failed allocation, or no room in the table of fields. Values that are
 * refused because they exceed a limit, or are too large for the file, do not count. Neither does an empty list, for
 * which libtiff requests zero bytes and complains that it got none. */
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

/* libtiff counts a field of a directory before it has memory for it. If its table of fields cannot grow, it drops the
 * table but keeps the count. After either message the handle would read invalid memory, so it must be abandoned without
 * being closed. */
static inline bool txm_libtiff_breaks_handle(const char *message)
{
    return strstr(message, "list of custom values") || strstr(message, "fields array");
}
#endif
