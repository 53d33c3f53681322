/* SPDX-License-Identifier: Apache-2.0
 * The compression function of SHA-1 on two messages, with x86's SHA instructions. */
#ifndef TXM_BASE_SHA1_PAIR_BLOCKS_H
#define TXM_BASE_SHA1_PAIR_BLOCKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
bool txm_cpu_has_sha(void);
void txm_sha1_pair_blocks_shani(uint32_t state[2][5], const uint8_t *a, const uint8_t *b, size_t count);
#endif
#endif
