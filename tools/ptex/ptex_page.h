/* SPDX-License-Identifier: Apache-2.0
 *
 * The page that `txmill view --html` writes of Ptex files: a sheet of all faces for each, at the largest level that
 * fits into the page. One file that needs nothing else; as in tools/view/view_page.h, texts from files reach it as
 * text, and a content security policy names its style and script.
 */
#ifndef TXM_TOOLS_PTEX_PAGE_H
#define TXM_TOOLS_PTEX_PAGE_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

/* What became of a file. */
typedef struct txm_ptex_shown {
    uint32_t levels, level; /* of the largest face; the one that is shown */
    uint64_t bytes;         /* of its pixels in the page */
    txm_error err;          /* OK: it is in the page; else the page says why not */
} txm_ptex_shown;

/* Writes the page of `count` files, whole or not at all. `level`: -1: the largest that fits into `bytes`, which all
 * files share. Fails where no file could be shown, and where the page cannot be written. */
txm_status txm_ptex_page_write(const char *output, const char *const *paths, size_t count, uint64_t bytes, int level,
                               const volatile int *cancel, txm_ptex_shown *shown, txm_error *err);
#endif
