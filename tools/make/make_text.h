/* SPDX-License-Identifier: Apache-2.0
 * What `txmill make` says of one file, in words. */
#ifndef TXM_TOOLS_MAKE_TEXT_H
#define TXM_TOOLS_MAKE_TEXT_H
#include "mill/base/hash.h"
#include "txmill/batch.h"

/* "created", "up-to-date", "skipped", "would-create", "failed": few and stable, in the JSON as well. */
const char *txm_make_state(txm_outcome outcome);
/* Why it was, or would be, made or skipped; "" if there is nothing to say. */
const char *txm_make_reason(const txm_result *result);
/* The key of settings and content together. */
void txm_make_content_key(const txm_batch_file *file, char out[TXM_SHA1_HEX]);

/* One line: "wood.png: created ...", for a pipe with the whole path of the tx file, for a terminal as much as fits into
 * its width. With `costs` what it is expected to cost. */
void txm_make_print_file(const txm_batch_file *file, bool costs);
/* "KEY  PATH", as the digest tools print it. */
void txm_make_print_key(const txm_batch_file *file);
#endif
