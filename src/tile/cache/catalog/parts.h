/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the catalog share among themselves.
 */
#ifndef TXM_CACHE_PARTS_H
#define TXM_CACHE_PARTS_H
#include "tile/cache/catalog/catalog.h"

/* table.c: blocks of numbers, for a texture or for a source. False: out of memory. */
bool txm_block_new(txm_catalog *k, uint32_t count, uint32_t texture, txm_source *source, uint32_t *first);
void txm_block_retire(txm_catalog *k, uint32_t first);
uint32_t txm_source_tiles(const txm_source *s);
bool txm_table_new(txm_catalog *k);
void txm_table_free(txm_catalog *k);
/* Makes a texture show a source, whose average colour is in the texture already; NULL: nothing yet. The world must be
 * stopped. */
void txm_texture_show(txm_catalog *k, uint32_t texture, const txm_source *s, uint32_t first);

/* The caller's callbacks, as in txm_tile_source. */
typedef struct txm_called {
    void *user;
    txm_status (*describe)(void *user, txm_tile_shape *shape, txm_error *err);
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
    void (*close)(void *user);
} txm_called;

/* A tx file, or the caller's callbacks. There may be millions, so the struct is small and ends with the path. */
struct txm_cache_file {
    txm_error *broken; /* the permanent failure that prevents reading; NULL: none */
    uint32_t textures, opens;
    union {
        txm_called called;
        struct {
            txm_open_file *open; /* NULL: not open */
            uint64_t identity;   /* digest of the identity: another file with the same name is not read; 0: not known */
            uint64_t bytes;      /* size of the file */
            uint64_t image;      /* digest of the image; it stays the same if only the time changes; 0: there is none */
        };
    };
    bool is_called, opening;
    bool translucent; /* it was taken for opaque but has transparent pixels */
    char path[];
};

enum { TXM_SHAPE_LISTS = 64 };
typedef struct txm_own {
    txm_open_file *newest, *oldest; /* open files in the order of their last use: files.c */
    uint32_t pieces_mapped, loads_since_reopened;
    uint64_t more_bytes; /* added to the least share of open files, if files are opened repeatedly */
    uint32_t texture_capacity, view_capacity, udim_capacity, quick_udim_capacity;
    txm_source **buckets;                      /* hash table of sources that have a digest */
    uint32_t bucket_count, source_count;       /* a power of two, or 0; number of sources in the table */
    struct txm_shape *shapes[TXM_SHAPE_LISTS]; /* layouts of textures; kept as long as the cache */
    double failed_seconds;                     /* time of the last temporary failure */
} txm_own;

/* textures.c: lack of memory, errors of disks and of servers may be temporary. */
bool txm_failure_passes(const txm_error *err);

/* files.c */
txm_cache_file *txm_file_new(txm_catalog *k, const char *path, const txm_tile_source *called);
#endif
