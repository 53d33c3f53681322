/* SPDX-License-Identifier: Apache-2.0
 *
 * HTML pages: one file each, which needs neither a network nor other files.
 *
 *     shell.html   what all pages share (page/): page.css and the scripts, whose digests are in its security policy, so
 * that nothing else can run, and which forbids every request texts        pixels, as text that the script finds by name
 *     data         everything else, as JSON; its member "page" says what the page is of
 *
 * What comes from files is only in the JSON, where <, > and & are escaped, and the script puts it into the page as
 * text, never as markup.
 */
#ifndef TXM_TOOLS_PAGE_H
#define TXM_TOOLS_PAGE_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "txmill/picture.h"
#include "txtile/status.h"

typedef struct txm_page txm_page;

/* Opens the output, "-" for standard output. */
txm_status txm_page_begin(const char *output, txm_page **out, txm_error *err);
/* The data of a page of this kind, with the member "program". NULL when memory is exhausted. */
cJSON *txm_page_data(const char *kind);
/* Adds a text of the letters of base64 and spaces, under the name `id`. */
void txm_page_text(txm_page *page, const char *id, const char *text, size_t bytes);
/* Adds a picture as PNG. */
txm_status txm_page_picture(txm_page *page, const char *id, const txm_picture *picture, txm_error *err);
/* TXM_OK, or the first failure to write so far. */
txm_status txm_page_status(const txm_page *page, txm_error *err);
/* Writes the data, which are freed, and publishes the page, which appears complete or not at all. NULL data: NO_MEMORY.
 * Consumes *page in every case. */
txm_status txm_page_end(txm_page **page, cJSON *data, txm_error *err);
/* Removes what was written. NULL-safe. */
void txm_page_abort(txm_page **page);
#endif
