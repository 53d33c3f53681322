/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of `txmill view --html` (tools/page): the data of its files as JSON, and the pixels of each level that fits,
 * as view_blocks.h describes, in a text named pixels-FILE-LEVEL.
 */
#ifndef TXM_TOOLS_VIEW_PAGE_H
#define TXM_TOOLS_VIEW_PAGE_H
#include <stdbool.h>

#include "txmill/convert.h"
#include "txtile/reader.h"

typedef struct txm_view_page txm_view_page;

typedef struct txm_view_page_options {
    const char *output;         /* "-": standard output */
    size_t files;               /* number of files to be added, which share the bytes */
    uint64_t bytes;             /* limit of the pixels of all files together */
    txm_context *context;       /* its threads are used */
    int level;                  /* shown first; -1: the one that fits the window */
    const volatile int *cancel; /* as txm_tile_census_take */
} txm_view_page_options;

/* The result for one file. */
typedef struct txm_view_page_file {
    uint32_t levels;
    bool embedded[TXM_MAX_LEVELS];
    uint64_t bytes; /* size of its pixels in the page */
} txm_view_page_file;

/* Opens the output. Consumed by txm_view_page_finish. */
txm_status txm_view_page_begin(const txm_view_page_options *options, txm_view_page **out, txm_error *err);
/* Adds a file, judged with the config of `context`. If it cannot be read, the page has a note, and the failure is
 * returned. After a failure to write, lack of memory or a cancellation (txm_view_page_broken) the page must be
 * abandoned. */
txm_status txm_view_page_add(txm_view_page *page, txm_context *context, const char *path, txm_view_page_file *what,
                             txm_error *err);
bool txm_view_page_broken(const txm_view_page *page);
/* Completes and publishes the page, or with `give_up` removes it. Consumes *page in every case. */
txm_status txm_view_page_finish(txm_view_page **page, bool give_up, txm_error *err);
#endif
