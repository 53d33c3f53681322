/* SPDX-License-Identifier: Apache-2.0
 * The compression function of SHA-1 on two messages, with x86's SHA instructions. */
#ifndef TXM_CONVERT_SHA1_PAIR_BLOCKS_H
#define TXM_CONVERT_SHA1_PAIR_BLOCKS_H
#include <stdbool.h>

#include "mill/convert/sha1_pair.h"

#if defined(__x86_64__)
bool txm_cpu_has_sha(void);
txm_sha1_pair_blocks txm_sha1_pair_blocks_shani, txm_sha1_pair_blocks_avx512;
#endif
#endif
