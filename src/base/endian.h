/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads and writes numbers in files, which are unaligned and have either byte order. Compilers make one or two
 * instructions of each function. They use memcpy because a pointer cast would promise an alignment that files do not
 * have. Pixels are used as they are stored in the file, hence the check below.
 */
#ifndef TXM_BASE_ENDIAN_H
#define TXM_BASE_ENDIAN_H
#include <stdbool.h>
#include <stddef.h>
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

/* A number of 1 to 8 bytes. */
static inline uint64_t txm_load_uint(const uint8_t *p, size_t bytes, bool big_endian)
{
    uint64_t v = 0;
    switch (bytes) {
    case 2:
        return big_endian ? txm_load_be16(p) : txm_load_le16(p);
    case 4:
        return big_endian ? txm_load_be32(p) : txm_load_le32(p);
    case 8:
        return big_endian ? txm_load_be64(p) : txm_load_le64(p);
    default:
        for (size_t i = 0; i < bytes; i++)
            v = v << 8 | p[big_endian ? i : bytes - 1 - i];
        return v;
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
