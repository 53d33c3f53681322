/* SPDX-License-Identifier: Apache-2.0
 *
 * The content of whole files, however they are called and whenever they were written.
 */
#ifndef TXM_BASE_CONTENT_H
#define TXM_BASE_CONTENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

/* Reads a file in pieces, so that a large one takes little memory and a request to stop takes effect between two of
 * them, and calls `take` for each. *bytes is its size. CHANGED if it becomes shorter meanwhile, CANCELLED. */
txm_status txm_read_pieces(const char *path, const volatile int *cancel,
                           void (*take)(void *user, const void *piece, size_t bytes), void *user, uint64_t *bytes,
                           txm_error *err);

/* "SIZE:DIGEST": the size in bytes and 32 hex digits of XXH3-128, in the order in which xxhsum prints them. */
enum { TXM_CONTENT_KEY_BYTES = 56 };
txm_status txm_content_key(const char *path, const volatile int *cancel, char out[TXM_CONTENT_KEY_BYTES],
                           txm_error *err);

/* The same of an open file, from where it is read next; `path` is for messages. `also`, if not NULL, gets the pieces.
 */
txm_status txm_content_key_of(int fd, const char *path, const volatile int *cancel,
                              void (*also)(void *user, const void *piece, size_t bytes), void *user,
                              char out[TXM_CONTENT_KEY_BYTES], txm_error *err);

/* Splits a key from a file, which may be hostile: false if `text` is none. */
bool txm_content_key_parse(const char *text, uint64_t *bytes);

/* Whether a file of that size is the one from which a key was taken: by its size alone or, with `whole`, by reading it
 * if it has the same size. Fails as txm_content_key does. */
txm_status txm_content_compare(const char *path, uint64_t size_bytes, const char *key, bool whole,
                               const volatile int *cancel, bool *same, txm_error *err);
#endif
