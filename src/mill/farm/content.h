/* SPDX-License-Identifier: Apache-2.0
 * Digests of whole files, which identify the content of a source whatever its name and time are. */
#ifndef TXM_FARM_CONTENT_H
#define TXM_FARM_CONTENT_H
#include "txmill/batch.h"

/* Computes the SHA-256 of a file's bytes. Stores are shared, so it must not be possible to construct two images with
 * the same digest. `cancel` may be NULL. NOT_FOUND, DENIED, IO, CANCELLED, NO_MEMORY. */
txm_status txm_content_hash(const char *path, const volatile int *cancel, char out[TXM_CONTENT_HEX], txm_error *err);
/* Computes that of a string. */
void txm_content_hash_text(const char *text, char out[TXM_CONTENT_HEX]);
#endif
