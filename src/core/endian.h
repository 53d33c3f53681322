/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in files: unaligned, of either byte order. Compilers turn each of these into one or two instructions.
 */
#ifndef TXM_CORE_ENDIAN_H
#define TXM_CORE_ENDIAN_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "pixels are taken from files as they lie in memory: little-endian machines only"
#endif

static inline uint16_t txm_load_le16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t txm_load_le32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t txm_load_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint16_t txm_load_be16(const void *p)
{
    return __builtin_bswap16(txm_load_le16(p));
}

static inline uint32_t txm_load_be32(const void *p)
{
    return __builtin_bswap32(txm_load_le32(p));
}

static inline uint64_t txm_load_be64(const void *p)
{
    return __builtin_bswap64(txm_load_le64(p));
}

/* A number of 1, 2, 4 or 8 bytes. */
static inline uint64_t txm_load_uint(const uint8_t *p, unsigned bytes, bool big_endian)
{
    switch (bytes) {
    case 1:
        return *p;
    case 2:
        return big_endian ? txm_load_be16(p) : txm_load_le16(p);
    case 4:
        return big_endian ? txm_load_be32(p) : txm_load_le32(p);
    default:
        return big_endian ? txm_load_be64(p) : txm_load_le64(p);
    }
}

static inline void txm_store_le16(void *p, uint16_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void txm_store_le32(void *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void txm_store_le64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}
#endif
