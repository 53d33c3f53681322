/* SPDX-License-Identifier: Apache-2.0 Formats the result of `txmill make` for one file. */
#ifndef TXM_TOOLS_MAKE_TEXT_H
#define TXM_TOOLS_MAKE_TEXT_H
#include "base/hash.h"
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
enum { TXM_MAKE_SIZE_BYTES = 64 };
/* Whether level 0 is smaller than the image, because of a limit. */
bool txm_make_is_limited(const txm_result *result);
/* "2048x1024", or "2048x1024 of 8192x4096" if it was limited. Returns `out`. */
const char *txm_make_size(const txm_result *result, char out[TXM_MAKE_SIZE_BYTES]);

/* Bytes of the pixels of level 0; 0 if its size is not known. */
uint64_t txm_make_pixel_bytes(const txm_result *result);
/* The textures of a run: bytes of their pixels, and how many were limited in size. */
typedef struct txm_make_pixels {
    uint64_t bytes;
    size_t limited;
} txm_make_pixels;
void txm_make_add_pixels(txm_make_pixels *pixels, const txm_result *result);
/* Says what the cache saves of them: tiles of the levels that are looked up are loaded, and from level 1 on a pyramid
 * has a third of the pixels of level 0. */
void txm_make_say_saves(const txm_make_pixels *pixels);
#endif
