/* SPDX-License-Identifier: Apache-2.0
 *
 * The textures of a cache. A texture shows a source: a file with one extension. Textures with the same pixels share
 * one.
 */
#ifndef TXM_CACHE_CATALOG_IMPL_H
#define TXM_CACHE_CATALOG_IMPL_H
#include <stdbool.h>

#include "tile/cache/file_impl.h"

/* A record of failures: the first one's message and status, and their number. */
typedef struct txm_load_failure {
    char *message;
    txm_status status;
    uint64_t failures;
} txm_load_failure;

/* The layout of a source's texels in memory, without its first entry and average colour. Packed textures of the same
 * layout share one, because there may be millions of them. */
typedef struct txm_shape {
    txm_view_texture view; /* must be first: sources point to it */
    struct txm_shape *next;
    uint64_t level_loads[]; /* one per level; packed textures have none */
} txm_shape;

/* A file with one extension. Textures with the same pixels and extension share one. There may be millions, so the
 * struct is cut off before `digest` for sources that have none. */
struct txm_source {
    txm_cache_file *file;
    txm_view_texture *view;    /* in a txm_shape */
    txm_load_failure *trouble; /* NULL: nothing has failed */
    float load_seconds;
    uint32_t first;    /* index of its first entry */
    uint32_t textures; /* 0: it was replaced, and is freed when `loading` is 0 */
    uint32_t first_texture;
    uint32_t loading;        /* tiles that are being read, or belong to a batch that is not over */
    uint32_t version;        /* number of invalidations */
    uint32_t blocks;         /* head of the list of blocks that are or were its own, counted from 1; 0: none */
    uint32_t loads, reloads; /* saturating counts */
    uint8_t skip;            /* number of the file's levels that limit_px leaves out */
    uint8_t registered;      /* finest level that has entries; view->levels: none */
    bool converts;           /* the file and the view differ in their channels */
    bool hashed;             /* it has a digest */
    uint64_t digest;         /* digest of the text that identifies copies: oiio:SHA-1 */
    txm_source *next;        /* next in its list */
};

static inline uint64_t *txm_level_loads(const txm_source *s)
{
    return ((txm_shape *)(void *)s->view)->level_loads;
}

typedef struct txm_texture {
    txm_cache_file *file;      /* NULL: this is a UDIM set */
    txm_source *source;        /* NULL: not opened yet */
    txm_load_failure *trouble; /* why it could not be opened */
    union {
        uint32_t next; /* next texture of the same source */
        uint32_t base; /* base texture of a UDIM set */
    };
    uint16_t base_rows;
    uint8_t base_columns;
    uint8_t extension : 3;
    bool opening : 1, failed : 1, passes : 1, traced : 1; /* passes: the failure may be temporary */
} txm_texture;

enum { TXM_SHAPE_LISTS = 64 };

/* All textures, the arrays that lookups see, and the sources that textures may share. */
typedef struct txm_catalog {
    txm_texture *textures;
    txm_view_texture *view_textures;
    uint32_t texture_capacity, view_capacity;
    uint32_t *udims, udim_count, udim_capacity;
    uint32_t *quick_udims, quick_udim_capacity; /* for quick lookups: like `udims`, but without tiles for sets that have
                                                   a base texture; NULL: the same as `udims` */
    txm_source **buckets;                       /* hash table of sources that have a digest */
    uint32_t bucket_count, source_count;        /* a power of two, or 0; number of sources in the table */
    txm_shape *shapes[TXM_SHAPE_LISTS];         /* layouts of packed textures; kept as long as the cache */
} txm_catalog;

/* catalog.c: called with the lock held; it is released while a file is read. */
txm_status txm_texture_add(txm_cache *c, const char *path, const txm_tile_source *called, txm_extension extension,
                           uint32_t *texture, txm_error *err);
txm_status txm_texture_open(txm_cache *c, uint32_t texture, txm_error *err);
/* USAGE: the texture is unknown, or it is a UDIM set. */
txm_status txm_texture_check(const txm_cache *c, uint32_t texture, txm_error *err);
void txm_source_drop(txm_cache *c, txm_source *s);
void txm_textures_free(txm_cache *c);
/* Handles a source that was taken for opaque and is not: its textures are opened again with four channels. */
txm_status txm_source_translucent(txm_cache *c, txm_source *s, txm_error *err);
#endif
