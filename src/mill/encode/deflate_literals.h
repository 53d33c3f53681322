/* SPDX-License-Identifier: Apache-2.0
 *
 * Codes of literals, and a vectorized writer for long runs of them. The plain loop in deflate_block.c is the
 * specification; the bits are the same.
 */
#ifndef TXM_ENCODE_DEFLATE_LITERALS_H
#define TXM_ENCODE_DEFLATE_LITERALS_H
#include <stdint.h>

#include "mill/encode/deflate_block.h"

struct txm_literal_codes {
    _Alignas(64) uint8_t low[TXM_LITERALS]; /* the lowest eight bits of each code */
    uint8_t rest[TXM_LITERALS];             /* the other three bits, above its length */
    uint32_t entries[TXM_LITERALS];         /* length | code << 8 */
};

/* The fastest writer for this machine that $TXMILL_ISA allows; NULL if there is none. */
txm_literal_writer txm_literal_writer_best(void);
#endif
