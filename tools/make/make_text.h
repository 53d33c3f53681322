/* SPDX-License-Identifier: Apache-2.0 Formats the result of `txmill make` for one file. */
#ifndef TXM_TOOLS_MAKE_TEXT_H
#define TXM_TOOLS_MAKE_TEXT_H
#include "mill/base/hash.h"
#include "tools/output/words.h"
#include "txmill/batch.h"

/* The word for the outcome, which JSON has too. */
const char *txm_make_state(txm_outcome outcome);
/* Why it was, or would be, made or skipped; "" if there is no reason to give. */
const char *txm_make_reason(const txm_result *result);
/* The key of settings and content together. */
void txm_make_content_key(const txm_batch_file *file, char out[TXM_SHA1_HEX]);

/* One line: "wood.png: created ...", with the whole path of the tx file in a pipe, on a terminal as much as fits its
 * width. With `costs` it has the estimated costs. */
void txm_make_print_file(const txm_batch_file *file, bool costs);
/* "KEY  PATH", in the format of sha256sum(1). */
void txm_make_print_key(const txm_batch_file *file);
/* Bytes of an image's pixels in a render without tx files; 0 if its size is not known. */
uint64_t txm_make_pixel_bytes(const txm_result *result);
/* Says what the cache saves, of so many bytes of pixels: tiles of the levels that are looked up are loaded, and from
 * level 1 on a pyramid has a third of the pixels of level 0. */
void txm_make_say_saves(uint64_t pixel_bytes);
#endif
