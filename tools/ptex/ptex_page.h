/* SPDX-License-Identifier: Apache-2.0
 *
 * The page that `txmill view --html` writes for Ptex files: a sheet of all faces for each file, at the largest level
 * that fits into the page (tools/page).
 */
#ifndef TXM_TOOLS_PTEX_PAGE_H
#define TXM_TOOLS_PTEX_PAGE_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

/* A file as it is shown in the page. */
typedef struct txm_ptex_shown {
    uint32_t levels, level; /* levels of the largest face, and the level shown */
    uint64_t bytes;         /* size of its pixels in the page */
    txm_error err;          /* OK: it is in the page; otherwise the reason, which the page shows instead */
} txm_ptex_shown;

/* Writes the page of `count` files, as a whole or not at all. `level`: -1: the largest that fits into `bytes`, which
 * all files share. Fails if no file could be shown, or if the page cannot be written. */
txm_status txm_ptex_page_write(const char *output, const char *const *paths, size_t count, uint64_t bytes, int level,
                               const volatile int *cancel, txm_ptex_shown *shown, txm_error *err);
#endif
