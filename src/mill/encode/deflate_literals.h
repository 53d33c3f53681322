/* SPDX-License-Identifier: Apache-2.0
 *
 * Codes of literals, and writing long runs of them with vector instructions. The plain loop of deflate_block.c is the
 * specification: the bits are the same.
 */
#ifndef TXM_ENCODE_DEFLATE_LITERALS_H
#define TXM_ENCODE_DEFLATE_LITERALS_H
#include <stdint.h>

#include "mill/encode/deflate_block.h"

struct txm_literal_codes {
    _Alignas(64) uint8_t low[TXM_LITERALS]; /* of each code its lowest eight bits */
    uint8_t rest[TXM_LITERALS];             /* the other three above its length */
    uint32_t entries[TXM_LITERALS];         /* length | code << 8 */
};

/* The machine's, as far as $TXMILL_ISA allows; NULL: it has none. */
txm_literal_writer txm_literal_writer_best(void);
#endif
