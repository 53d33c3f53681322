/* SPDX-License-Identifier: Apache-2.0
 * PIZ chunks of EXR files. */
#ifndef TXM_SOURCE_EXR_PIZ_H
#define TXM_SOURCE_EXR_PIZ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a chunk holds: rows of `channels` planes of `width` samples each. */
typedef struct txm_exr_planes {
    uint32_t width, height, channels, sample_bytes; /* px; 2 or 4 bytes a sample */
} txm_exr_planes;

/* Tables, to be used again and again. NULL when memory is exhausted; free is NULL-safe. */
typedef struct txm_exr_piz txm_exr_piz;
txm_exr_piz *txm_exr_piz_new(void);
void txm_exr_piz_free(txm_exr_piz *piz);

/* Decodes into `out`, rows of channels one after the other as an uncompressed chunk; `scratch` has room for as much.
 * False when the data is damaged. */
bool txm_exr_unpiz(txm_exr_piz *piz, const uint8_t *in, size_t bytes, const txm_exr_planes *planes, uint16_t *scratch,
                   uint8_t *out);
#endif
