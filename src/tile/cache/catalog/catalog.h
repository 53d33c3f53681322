/* SPDX-License-Identifier: Apache-2.0
 *
 * The middle room of the cache: textures, the sources that they show, files that are open, failures and when they are
 * tried again, UDIM sets, and the page table, which says of every tile where it is. It never touches the pixels of a
 * slot. Functions are called with the cache's lock held, unless they say otherwise.
 */
#ifndef TXM_CACHE_CATALOG_H
#define TXM_CACHE_CATALOG_H
#include "tile/cache/tiles/tiles.h"
#include "tile/sample/view_file.h"

typedef struct txm_load_failure {
    char *message; /* of the first one, as the status */
    txm_status status;
    uint64_t failures;
} txm_load_failure;

typedef struct txm_cache_file txm_cache_file; /* a tx file, or the caller's callbacks */
typedef struct txm_open_file txm_open_file;   /* what it needs only while it is open */

/* A file with one extension. Textures with the same pixels and extension share one. There may be millions, so the
 * struct is cut off before `digest` for sources that have none. */
typedef struct txm_source {
    txm_cache_file *file;
    txm_view_texture *view;    /* without its first number and average colour; shared by sources of one layout */
    txm_load_failure *failure; /* NULL: nothing has failed */
    float load_seconds;
    uint32_t first;    /* number of its first tile */
    uint32_t textures; /* 0: it was replaced, and is freed when `loading` is 0 */
    uint32_t first_texture;
    uint32_t loading;             /* tiles that are being read, or belong to a batch that is not over */
    uint32_t version;             /* number of invalidations */
    uint32_t loads, reloads;      /* saturating counts */
    uint8_t skip : 5, stored : 3; /* levels of the file that limit_px leaves out; channels of the file */
    bool converts;                /* the file and the view differ in their channels */
    bool hashed;                  /* it has a digest */
    uint64_t digest;              /* digest of the text that identifies copies: oiio:SHA-1 */
    struct txm_source *next;      /* next in its list */
} txm_source;

typedef struct txm_texture {
    txm_cache_file *file;      /* NULL: this is a UDIM set */
    txm_source *source;        /* NULL: not opened yet */
    txm_load_failure *failure; /* why it could not be opened */
    union {
        uint32_t next; /* next texture of the same source */
        uint32_t base; /* base texture of a UDIM set */
    };
    uint16_t base_rows;
    uint8_t base_columns;
    uint8_t extension : 4;
    bool opening : 1, failed : 1, passes : 1, traced : 1; /* passes: the failure may be temporary */
} txm_texture;

enum { TXM_CHUNK_SHIFT = 6, TXM_CHUNK = 1 << TXM_CHUNK_SHIFT, TXM_LAUNCH_NONE = 0xFFFF /* of blocking lookups */ };
enum { TXM_OF_TEXTURES, TXM_OF_ENTRIES, TXM_OF_WORDS, TXM_COPIES }; /* the arrays that views copy */
typedef struct txm_changes {                                        /* what has changed since a view was copied */
    struct {
        uint64_t *bits; /* one for each TXM_CHUNK elements */
        uint32_t count; /* elements that were copied: those beyond are new in any case */
    } of[TXM_COPIES];
    uint64_t holds; /* generation of the view while it is open, whose numbers are not reused; UINT64_MAX: not open */
    struct txm_changes *next;
} txm_changes;

typedef struct txm_catalog {
    txm_tiles *tiles;
    txm_world *world;
    txm_cache_stats *stats;
    const txm_cache_options *options;
    struct txm_own *own;     /* what the files of the catalog alone use: parts.h */
    struct txm_table *table; /* the page table: table.c */
    txm_tile_entry *entries; /* its arrays that lookups read: entries of tiles, and a word for each leaf of them */
    uint32_t *words, entry_count, word_count;
    txm_texture *textures;
    txm_view_texture *view_textures;
    uint32_t *udims, udim_count, *quick_udims; /* quick: without tiles for sets with a base; NULL: the same */
    txm_changes *watchers;
    uint32_t watcher_count;
} txm_catalog;

bool txm_catalog_init(txm_catalog *k);
void txm_catalog_free(txm_catalog *k);

txm_status txm_texture_add(txm_catalog *k, const char *path, const txm_tile_source *called, txm_extension extension,
                           uint32_t *texture, txm_error *err);
txm_status txm_texture_check(const txm_catalog *k, uint32_t texture, txm_error *err); /* USAGE: not one with a file */
txm_status txm_udim_add(txm_catalog *k, const txm_cache_udim *udim, uint32_t *texture, txm_error *err);
bool txm_texture_to_open(txm_catalog *k, uint32_t texture, txm_source *made, txm_status *status, txm_error *err);
txm_status txm_texture_opened(txm_catalog *k, uint32_t texture, const txm_source *made, const txm_error *cause,
                              double seconds, txm_error *err);
txm_status txm_texture_replace(txm_catalog *k, uint32_t texture, const char *path, txm_error *err);
void txm_texture_forget_failure(txm_catalog *k, uint32_t texture);
void txm_source_unload(txm_catalog *k, txm_source *s);
void txm_source_drop(txm_catalog *k, txm_source *s);                              /* frees it if nobody needs it */
txm_status txm_source_translucent(txm_catalog *k, txm_source *s, txm_error *err); /* it was taken for opaque */
uint64_t *txm_level_loads(const txm_source *s); /* one per level; packed textures have none */
void txm_failure_note(txm_catalog *k, txm_load_failure **failure, const txm_error *cause);
uint32_t txm_failed_slot(txm_catalog *k, const txm_error *err, double seconds); /* seconds: of the attempt */

/* files.c */
const char *txm_file_path(const txm_cache_file *f);
void txm_file_keep(txm_cache_file *f);                  /* adds a reference */
void txm_file_drop(txm_catalog *k, txm_cache_file **f); /* drops one */
uint32_t txm_file_opens(const txm_cache_file *f);       /* how often it was opened */
bool txm_file_is_called(const txm_cache_file *f);
bool txm_file_is_opening(const txm_cache_file *f); /* by another thread */
bool txm_file_to_open(txm_catalog *k, txm_cache_file *f, txm_open_file **out, txm_error *cause);
txm_status txm_file_open(const txm_catalog *k, txm_open_file *open, txm_error *err); /* without the lock */
bool txm_file_try_again(txm_catalog *k, const txm_error *cause);
void txm_file_opened(txm_catalog *k, txm_open_file *open, const txm_error *cause);
txm_status txm_file_take(txm_catalog *k, txm_cache_file *file, const txm_error *cause, txm_tx **tx, uint64_t known[4],
                         bool *compare, txm_error *err);
bool txm_file_overwritten(const txm_cache_file *f, const txm_tx *tx, uint64_t known[4]);
txm_status txm_file_compared(txm_catalog *k, txm_cache_file *f, bool written, const uint64_t known[4], txm_error *err);
void txm_file_given(txm_catalog *k, txm_cache_file *f);
uint64_t txm_reader_share(const txm_catalog *k);
void txm_files_set_budget(txm_catalog *k);
txm_status txm_file_describe(const txm_catalog *k, const txm_tx *tx, txm_extension extension, txm_source *made,
                             txm_error *err);
txm_status txm_called_describe(const txm_catalog *k, txm_extension extension, txm_source *made, txm_error *err);
txm_status txm_called_read(const txm_source *s, uint32_t level, uint32_t tile, uint8_t *pixels, txm_error *err);

/* table.c: the numbers of tiles, and their entries: the slot or state, and the epoch of the last use */
typedef struct txm_located {
    txm_source *source; /* NULL: `texture` is to be opened; TXM_NO_TEXTURE: nothing */
    uint32_t texture, level, tile;
} txm_located;
txm_located txm_locate(const txm_catalog *k, uint32_t number);
txm_source *txm_source_of(const txm_catalog *k, uint32_t number);
txm_source *txm_source_next(const txm_catalog *k, uint32_t *at);
uint32_t txm_number(const txm_source *s, uint32_t level, uint32_t tile);
txm_tile_entry *txm_entry(const txm_catalog *k, uint32_t number); /* NULL: its leaf has none */
uint32_t txm_entry_slot(const txm_catalog *k, uint32_t number);
void txm_entry_set(txm_catalog *k, uint32_t number, uint32_t slot);
bool txm_entry_make(txm_catalog *k, uint32_t number); /* false: out of memory. May evict tiles */
void txm_number_fail(txm_catalog *k, uint32_t number, uint32_t state);
void txm_leaf_set(txm_catalog *k, uint32_t number, uint32_t state); /* of all its tiles, if it has no entries */
bool txm_claim(txm_catalog *k, uint32_t number); /* makes a tile LOADING that is neither in memory nor being read */
void txm_entries_hidden(txm_catalog *k);         /* waits for lookups, and gives back what has become unused */
void txm_number_changed(txm_catalog *k, uint32_t number);
void txm_texture_changed(txm_catalog *k, uint32_t texture);
void txm_each_tile(txm_catalog *k, const txm_source *s, void (*each)(void *arg, uint32_t number), void *arg);
void txm_shared_forget(txm_catalog *k); /* hides all shared tiles */
void txm_table_trim(txm_catalog *k);    /* may evict tiles */
bool txm_is_requested(uint32_t slot);   /* and its reading has not begun */
#endif
