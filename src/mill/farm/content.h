/* SPDX-License-Identifier: Apache-2.0
 * Digests of whole files: what a source holds, whatever it is called and whenever it was written. */
#ifndef TXM_FARM_CONTENT_H
#define TXM_FARM_CONTENT_H
#include "txmill/batch.h"

/* SHA-256 of a file's bytes: stores are shared, so nobody may be able to make two images of one digest. `cancel` may be
 * NULL. NOT_FOUND, DENIED, IO, CANCELLED, NO_MEMORY. */
txm_status txm_content_hash(const char *path, const volatile int *cancel, char out[TXM_CONTENT_HEX], txm_error *err);
/* Of a text. */
void txm_content_hash_text(const char *text, char out[TXM_CONTENT_HEX]);
#endif
