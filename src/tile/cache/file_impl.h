/* SPDX-License-Identifier: Apache-2.0
 *
 * Where tiles come from: tx files, which are opened when they are needed and closed when too many are open, and
 * callbacks of the caller.
 */
#ifndef TXM_CACHE_FILE_IMPL_H
#define TXM_CACHE_FILE_IMPL_H
#include <stdbool.h>

#include "tile/sample/view_file.h"
#include "txtile/cache.h"

typedef struct txm_source txm_source;

/* The source of a texture's tiles: a tx file, or the caller's callbacks (origin.c). Called without the lock. */
typedef struct txm_origin {
    /* Fills in the shape, the digest and the number of levels to skip. */
    txm_status (*describe)(txm_cache *c, txm_extension extension, txm_source *made, txm_error *err);
    /* Reads a tile in the layout of views. `unwidened` has room for txm_view_converted_bytes; *opaque is as in
     * txm_view_read_tile. */
    txm_status (*read_tile)(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, uint8_t *pixels,
                            uint8_t *unwidened, bool *opaque, txm_error *err);
} txm_origin;

/* The caller's callbacks, as in txm_tile_source. */
typedef struct txm_called {
    void *user;
    txm_status (*describe)(void *user, txm_tile_shape *shape, txm_error *err);
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
    void (*close)(void *user);
} txm_called;

/* What a file needs only while it is open. */
typedef struct txm_open_file {
    txm_tx *tx;
    struct txm_cache_file *file;
    struct txm_open_file *newer, *older; /* neighbours in the list of open files, in the order of their last use */
    uint64_t own_bytes, idle_bytes; /* memory of the open file, and memory that its reader keeps for the next tile */
    uint64_t identity[4];           /* device, inode, size and time of change when it was last compared */
    double looked_seconds;          /* time of that comparison */
    uint32_t readers;
    bool mapped; /* it was used since its pages were last released */
} txm_open_file;

/* A tx file, or the caller's callbacks. There may be millions, so the struct is small and ends with the path. */
typedef struct txm_cache_file {
    txm_error *broken; /* the permanent failure that prevents reading; NULL: none */
    uint32_t textures;
    uint32_t opens;
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
} txm_cache_file;

/* The open files of a cache, in the order of their last use. */
typedef struct txm_files {
    txm_open_file *newest, *oldest;
    uint32_t uses;       /* since pages were last released */
    uint64_t more_bytes; /* added to the minimum of txm_reader_share, for files that are opened repeatedly */
    uint32_t loads_since_reopened;
} txm_files;

/* origin.c */
extern const txm_origin txm_origin_file, txm_origin_called;

static inline const txm_origin *txm_origin_of(const txm_cache_file *f)
{
    return f->is_called ? &txm_origin_called : &txm_origin_file;
}

/* file.c: called without the lock. */
txm_status txm_file_acquire(txm_cache *c, txm_cache_file *f, txm_tx **tx, txm_error *err);
void txm_file_give(txm_cache *c, txm_cache_file *f);
/* Called with the lock held. */
txm_cache_file *txm_file_new(txm_cache *c, const char *path, const txm_tile_source *called);
void txm_file_drop(txm_cache *c, txm_cache_file **f); /* drops one texture's reference */
#endif
