/* SPDX-License-Identifier: Apache-2.0
 *
 * A texture cache: of any number of tx files, it keeps only the tiles that lookups need in memory, within a budget.
 *
 * Five calls are enough for a renderer whose threads can wait:
 *
 *     txm_cache *cache;
 *     txm_cache_thread *thread;
 *     uint32_t wood;
 *     float rgba[4];
 *     const txm_lookup at = {.u = 0.5f, .v = 0.5f, .dudx = 0.01f, .dvdy = 0.01f};
 *     txm_sampler how;
 *     txm_sampler_init(&how);
 *     txm_cache_new(NULL, &cache, NULL);
 *     txm_cache_add(cache, "wood.tx", TXM_EXTENSION_REPEAT, &wood, NULL);
 *     txm_cache_thread_current(cache, &thread, NULL);
 *     txm_cache_sample(thread, wood, &how, &at, NULL, rgba);
 *     txm_cache_free(&cache);
 *
 * txm_cache_thread_current is called in each thread. cache.hpp has the same for C++, with exceptions.
 *
 * A renderer registers tx files and looks up from any number of threads, each with a txm_cache_thread of its own. The
 * results equal those of the sampler (sampler.h) with every tile in memory, to the bit, whatever the budget, the
 * policy, the number of threads and the order in which tiles are loaded.
 *
 * Tiles come from tx files, or from sources that the caller provides (txm_tile_source).
 *
 * There are two ways to use it:
 *  - Blocking: txm_cache_sample loads the tiles that it misses and returns the colour. If two threads need the same
 *    tile, it is loaded once. A lookup that hits takes no lock and writes no shared memory except for a mark, which is
 *    tested before it is set.
 *  - Batches, for wavefronts and devices: txm_cache_prepare -> lookups in the view (txm_sample), whose lanes list the
 *    tiles they miss -> txm_cache_process -> txm_ticket_wait -> txm_cache_prepare -> the lookups that missed again.
 *    Interactive renderers don't wait: they prepare the next view and look up in it while the ticket's tiles load.
 *    These tiles appear in the first view that is prepared after all of them are loaded.
 *
 * Memory: max_bytes bounds the sum of what the cache has allocated (tiles, tables and the lists of batches:
 * txm_cache_stats.allocated_bytes) and of what open files keep (reader_bytes, including what OpenEXR's library keeps
 * for them). At every instant that sum is at most max_bytes plus one batch. A batch is what txm_cache_process has
 * queued and up to 32 tiles, as many as one lookup can need, that it keeps for lookups which are repeated; or, for each
 * thread that is waiting for a tile, a slab of 512 KiB or the tiles of its lookup if they are larger, plus the buffers
 * for reading: 200 KiB with Blender's tiles, 1.2 MB with tiles that OpenEXR's PIZ compressed. While viewers keep views
 * open, waiting threads may need twice that. A sixteenth of the budget is set aside for open files (at least 256 KiB,
 * at most 64 MiB), and up to a quarter if files would otherwise be opened again and again. A budget that is too small
 * costs time, but never changes a colour. Mapped pages of files belong to the system (see read_files),
 * and so do the stacks of threads that load. Some 100 bytes for each of these threads that a batch waits for are not
 * counted.
 *
 * Tiles that cannot be read are FAILED: magenta, and counted. If the file is damaged, was truncated, replaced or
 * written to, they stay so until txm_cache_replace. Lack of memory or descriptors, a missing file, and errors of disks
 * and servers may be temporary, so tiles, levels and textures that failed for these reasons are tried again: by the
 * next lookup or launch that needs them, or, if that fails too, after a pause as long as the attempt took. While tiles
 * of an open file are read, the cache checks ten times a second whether the file was written to. If the file holds the
 * SHA-1 of its pixels, as Blender's and txmill's files do, it may be replaced by a copy or given another modification
 * time, for example by 'txmill refresh'. The current time, as touch(1) sets it by default, is taken for
 * writing. See reader.h about SIGBUS.
 *
 * NULL: as in status.h; options, `info`, `part`, `extent`, `random`, `why` and the path of txm_cache_replace may be
 * NULL, as their functions describe. Lookups do not check pointers. The two functions of an allocator are called with
 * the cache's lock held: they must not call functions of the cache, nor throw.
 *
 * Thread safety: all functions except txm_cache_free may be called at the same time from any thread. What a viewer
 * (txm_cache_viewer) has prepared stays unchanged, whatever else is called, until the viewer prepares again, processes
 * or is closed. The same holds for the view of txm_cache_prepare: while it is open, calls that would change what it
 * shows are refused (txm_cache_close_view). A txm_cache_thread and a viewer serve one thread at a time; any number of
 * threads may look up in a view.
 *
 * After fork() the child must not use or free a cache of its parent, because the threads that may hold its lock do not
 * exist in the child. It may make caches of its own, and execute another program.
 */
#ifndef TXTILE_CACHE_H
#define TXTILE_CACHE_H

#include "txtile/export.h"
#include "txtile/reader.h"
#include "txtile/sampler.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The cache, the state of a thread that looks up in it, the state of a device or a group of threads that works in
 * launches, and a batch of tiles that is being loaded. */
typedef struct txm_cache txm_cache;
typedef struct txm_cache_thread txm_cache_thread;
typedef struct txm_cache_viewer txm_cache_viewer;
typedef struct txm_ticket txm_ticket;

/* ---- options --------------------------------------------------------------------------------------------------- */

/* Decides which tiles are evicted when memory is needed. */
typedef enum txm_cache_policy {
    /* As in Cycles: txm_cache_end_epoch, which ends a render tile, evicts the tiles that were not used in the last
     * `keep_epochs` render tiles. If the budget is reached earlier, the least recently used tiles are evicted. */
    TXM_CACHE_POLICY_RENDER_TILES = 0,
    /* Least recently used, at the resolution of epochs. With every policy but NONE, epochs also advance by themselves,
     * 16 times while as many tiles are loaded as fit the budget. */
    TXM_CACHE_POLICY_LRU,
    /* Nothing is evicted, even if max_bytes is exceeded. */
    TXM_CACHE_POLICY_NONE
} txm_cache_policy;

/* Flags for which tiles share memory. */
enum {
    TXM_COALESCE_CONSTANT = 1, /* tiles of one colour share one tile in memory */
    TXM_COALESCE_DUPLICATE = 2 /* files with the same pixels (oiio:SHA-1 and the sizes of all levels) share tiles */
};

/* The functions that allocate the cache's memory. If they are NULL, the C library is used. */
typedef struct txm_cache_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment); /* NULL: out of memory */
    void (*release)(void *user, void *memory, size_t bytes);
    void *user;
} txm_cache_allocator;

/* Which requests are left out, at random, if request lists are too short for all. Without that, the first lookups of
 * each launch would fill them. */
typedef enum txm_reject {
    TXM_REJECT_NONE = 0,
    TXM_REJECT_SPREAD, /* so many that the others fit the lists */
    TXM_REJECT_UNIQUE  /* with the probability 1 - unique / total of the last launch, as Disney's paper has it. With
                          lists  that are much too short, it leaves fewer requests from launch to launch */
} txm_reject;

/* The memory that a cache may use, and its settings; txm_cache_new copies them. */
typedef struct txm_cache_options {
    size_t struct_size;    /* set by txm_cache_options_init */
    uint64_t max_bytes;    /* the budget; 0: no bound */
    uint32_t policy;       /* txm_cache_policy */
    uint32_t keep_epochs;  /* 1: as Cycles' code does; 2: as its description says */
    uint32_t max_requests; /* the most tiles that one txm_cache_process loads; later lookups request the others again */
    uint32_t threads; /* threads that load batches, including the one that waits, up to 1024; 0: one per processor. They
                         are started by the first batch that has work for them */
    uint32_t max_open; /* the most files that are open at the same time, at least 1 */
    float resolution;  /* fraction of the resolution, above 0 and up to 1: 0.25 is two levels of bias */
    uint32_t limit_px; /* levels that are wider or higher than this are left out; 0: none */
    uint32_t coalesce; /* TXM_COALESCE_* */
    txm_cache_allocator allocator;
    uint32_t max_queued;   /* the most tiles of all unfinished batches; later lookups request the others again */
    uint32_t reject;       /* txm_reject */
    uint64_t launch_bytes; /* the most bytes of tiles that one txm_cache_process loads; 0: no limit. One tile is always
                              loaded */
    float launch_seconds;  /* time limit of a batch: tiles that were not begun by then are given up, but at least one is
                              read; 0: no limit */
    uint32_t stand_in;     /* txm_stand_in_kind */
    uint32_t read_files;   /* 0: tables of files are mapped, and tiles are read (pread) through a descriptor; if a
                              quarter of the process's descriptors is in use for that, tiles of further files are
                              mapped, too. That adds up to 6 MB to the process, as farms measure it. Not 0: tables
                              are read as well. Then a file that is truncated or on a failing disk raises no SIGBUS;
                              but each open file keeps a descriptor, and the tables of a file may take at most
                              64 MiB, which count towards the budget */
    uint32_t keep_rgb;  /* not 0: opaque textures have three channels in memory, which saves a quarter. A file counts as
                           opaque if it has three channels, or four with an average alpha of 1; if a tile turns out not
                           to be opaque, that is not a failure: the texture is opened again with four channels. Has no
                           effect with the clip extension */
    float show_seconds; /* 0: views show a batch only as a whole, so what they show does not depend on the speed of
                           disks. Otherwise, a batch that takes longer is shown in portions: views that are prepared
                           this long after the last portion show what was loaded since */
} txm_cache_options;

/* The part of every texture that stays in memory from txm_cache_add on, so that lookups have a colour from the first
 * launch on (txm_on_miss). The texture's file is opened for it at once; if it cannot be opened, txm_cache_add still
 * succeeds. */
typedef enum txm_stand_in_kind {
    TXM_STAND_IN_KIND_NONE = 0, /* nothing: the colour is grey until a lookup opens the file */
    TXM_STAND_IN_KIND_AVERAGE,  /* the colour of the 1x1 level, for TXM_ON_MISS_AVERAGE; takes no tile */
    TXM_STAND_IN_KIND_TILE /* also the finest level that fits into one tile, for TXM_ON_MISS_COARSER, until half the
                              budget is used */
} txm_stand_in_kind;

/* Initialises options of struct_size bytes for any renderer: 1 GiB, LRU, 8192 requests per batch and queued, 128 open
 * files, full resolution, everything coalesced, no stand-ins. Calling txm_cache_end_epoch is optional. For other
 * languages; C and C++ call txm_cache_options_init. */
TXM_API void txm_cache_options_init_sized(txm_cache_options *options, size_t struct_size);

/* The same for a renderer that works as Cycles does: TXM_CACHE_POLICY_RENDER_TILES with one epoch, which
 * txm_cache_end_epoch ends. */
TXM_API void txm_cache_options_init_cycles_sized(txm_cache_options *options, size_t struct_size);

/* Initialises options with these defaults. */
static inline void txm_cache_options_init(txm_cache_options *options)
{
    txm_cache_options_init_sized(options, sizeof *options);
}

/* Initialises options with the defaults for a renderer that works as Cycles does. */
static inline void txm_cache_options_init_cycles(txm_cache_options *options)
{
    txm_cache_options_init_cycles_sized(options, sizeof *options);
}

/* "render-tiles", "lru", "none"; NULL outside the range. */
TXM_API const char *txm_cache_policy_name(txm_cache_policy policy);

/* The names and the description of a policy, for options, tables and manuals. */
typedef struct txm_cache_policy_words {
    const char *name;   /* as txm_cache_policy_name returns it */
    const char *column; /* a shorter name, at most 8 bytes */
    const char *goes;   /* what is evicted and when: a clause without a full stop */
} txm_cache_policy_words;

/* The text is valid as long as the library is loaded; NULL outside the range. */
TXM_API const txm_cache_policy_words *txm_cache_policy_words_of(txm_cache_policy policy);

/* Makes a cache. NULL options mean those of txm_cache_options_init. USAGE, NO_MEMORY. */
TXM_API txm_status txm_cache_new(const txm_cache_options *options, txm_cache **out, txm_error *err);

/* Frees a cache. All tickets and all threads from txm_cache_thread_new must have been freed, and no lookup may be
 * running. NULL-safe; sets *cache to NULL. */
TXM_API void txm_cache_free(txm_cache **cache);

/* ---- textures -------------------------------------------------------------------------------------------------- */

/* Registers a tx file and returns its number in the view. The file must exist; it is opened by the first lookup, or by
 * txm_cache_open. The page table has entries only for tiles that are in use and their neighbours, so a scene may
 * register many more textures than it uses, of any size. Files of two or three channels are widened to four. If the
 * name of the file contains <UDIM>, all files of its folder with a number from 1001 to 9999 in that place are
 * registered, and the result is the number of a set of them (txm_cache_add_udim). NOT_FOUND, NOT_A_FILE, DENIED, IO,
 * NO_MEMORY, TOO_LARGE. */
TXM_API txm_status txm_cache_add(txm_cache *cache, const char *path, txm_extension extension, uint32_t *texture,
                                 txm_error *err);

/* The description of a texture whose tiles are not in a tx file: images in memory, procedural textures, files of
 * another kind. */
typedef struct txm_tile_shape {
    size_t struct_size;     /* set by the cache; all other members are 0 except for the average */
    uint32_t width, height; /* size of level 0, px: 1 to 65536 */
    uint32_t levels;        /* at least 1; each is half as large as the one before, rounded down, and at least 1 px */
    uint32_t tile_px;       /* size of the tiles that are read: a power of two, 8 to 512; a level may have 2^20 tiles */
    uint32_t channels;      /* 1 or 4 */
    uint32_t type;          /* txm_type */
    uint32_t encoding;      /* txm_encoding */
    float average[4]; /* colour that lookups return as long as nothing is loaded. If describe leaves it unchanged, it is
                         grey or, with stand-ins, the colour of the 1x1 level */
    char digest[41];  /* textures with equal digests and shapes share tiles; "": this one shares none */
} txm_tile_shape;

/* The functions of a source. The cache calls them without a lock, several at once, from its own threads and from those
 * that look up. They must not throw, nor call the cache, which could wait for the very tile that they read. A status
 * other than TXM_OK is a failure; a message in *err is optional. Failures with a status that txm_status_retryable
 * names, NOT_FOUND and DENIED are tried again. */
typedef struct txm_tile_source {
    size_t struct_size; /* sizeof(txm_tile_source) */
    void *user;
    /* Called once before anything is read, and again after txm_cache_replace. */
    txm_status (*describe)(void *user, txm_tile_shape *shape, txm_error *err);
    /* Reads a rectangle that lies inside a level, at most tile_px + 4 px wide and high: channels interleaved, in the
     * shape's type, rows from the top. The cache makes the borders from it, as the extension requires. */
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
    /* Called last, when the texture was replaced or the cache is freed; may be NULL. The cache's lock may be held. */
    void (*close)(void *user);
} txm_tile_source;

/* Registers a texture whose tiles come from a source, which is copied; messages, reports and traces show `name` in
 * place of a path. If it fails, no function of the source was called, and the source remains the caller's. USAGE,
 * NO_MEMORY, TOO_LARGE. */
TXM_API txm_status txm_cache_add_source(txm_cache *cache, const char *name, const txm_tile_source *source,
                                        txm_extension extension, uint32_t *texture, txm_error *err);

/* Opens the file of a texture now, to find out early whether it can be read. The failures are those of txm_tx_open, and
 * UNSUPPORTED if tiles are not square or not a power of two. *info, which may be NULL, receives the shape of the
 * texture as it is looked up. */
TXM_API txm_status txm_cache_open(txm_cache *cache, uint32_t texture, txm_view_texture *info, txm_error *err);

/* Opens the file of a texture, which lookups would otherwise have to request first; loads no tile. The failures are
 * those of txm_cache_open, and USAGE for a UDIM set, which has no file. */
TXM_API txm_status txm_cache_register(txm_cache *cache, uint32_t texture, txm_error *err);

/* A texture of UDIM tiles. `base`, if it is not TXM_NO_TEXTURE, is a small texture of the whole grid of base_columns (1
 * to 10) by base_rows tiles. It serves lookups whose level it has, so distant objects open no tile. Lookups in missing
 * tiles are FAILED. */
typedef struct txm_cache_udim {
    const uint32_t *numbers;  /* 1001 to 9999 */
    const uint32_t *textures; /* registered before */
    size_t count;
    uint32_t base, base_columns, base_rows;
} txm_cache_udim;

/* Registers a UDIM set of textures that were registered before, and returns its number in the view; *udim is copied.
 * Opens the base texture. USAGE for a number that is out of range or given twice, or an unknown texture, NO_MEMORY, and
 * the failures of txm_cache_open for the base. */
TXM_API txm_status txm_cache_add_udim(txm_cache *cache, const txm_cache_udim *udim, uint32_t *texture, txm_error *err);

/* Drops the file of a texture, its tiles and its failures, and registers `path` (NULL: the same path) under the same
 * number. For files that changed while the renderer runs. Waits until no thread looks up. */
TXM_API txm_status txm_cache_replace(txm_cache *cache, uint32_t texture, const char *path, txm_error *err);

/* Drops the tiles of a texture that are in memory; later lookups load them again. */
TXM_API txm_status txm_cache_unload(txm_cache *cache, uint32_t texture, txm_error *err);

/* A part of a texture: the levels first to last (clamped), and the tiles of each that the rectangle (0 to 1) touches.
 * The four calls below take UDIM sets too: there a tile of the set is 1 wide, so u goes up to 10, and a whole set
 * includes its base. */
typedef struct txm_cache_part {
    uint32_t first_level, last_level;
    float u0, v0, u1, v1;
} txm_cache_part;

/* Marks a part as changed, for example because the user paints on it: its tiles are dropped, those that are being read
 * are read again, and failures are cleared. Later lookups and views load it anew. If textures share tiles
 * (TXM_COALESCE_DUPLICATE), this applies to all of them. NULL: the whole texture. USAGE. */
TXM_API txm_status txm_cache_invalidate(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);

/* The same for all textures. USAGE: see txm_cache_close_view. */
TXM_API txm_status txm_cache_invalidate_all(txm_cache *cache, txm_error *err);

/* Loads a part and keeps it in memory until it is unpinned, invalidated, unloaded or replaced. Pins do not nest: one
 * unpin is enough. NULL: the whole texture. Pinned tiles take at most half the budget: if a part does not fit, the
 * result is TOO_LARGE, and what was pinned before the call stays pinned. Tiles that fail are counted, but the call
 * succeeds. */
TXM_API txm_status txm_cache_pin(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);
TXM_API txm_status txm_cache_unpin(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);

/* Loads a part, as far as it fits the budget; NULL: the whole texture. Tiles that fail are counted, but the call
 * succeeds. */
TXM_API txm_status txm_cache_preload(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);

/* Changes the budget; tiles beyond it are evicted at once. */
TXM_API txm_status txm_cache_set_max_bytes(txm_cache *cache, uint64_t max_bytes, txm_error *err);

/* Ends a render tile or a frame: begins an epoch, and evicts the tiles that the policy drops at that point. These may
 * be all tiles, so the lock is released every millisecond or so, to let other threads run. USAGE: see
 * txm_cache_close_view. */
TXM_API txm_status txm_cache_end_epoch(txm_cache *cache);

/* ---- blocking lookups ------------------------------------------------------------------------------------------ */

/* The state of a thread that looks up; its memory counts towards the budget. It must be freed before the cache.
 * NO_MEMORY. */
TXM_API txm_status txm_cache_thread_new(txm_cache *cache, txm_cache_thread **out, txm_error *err);
TXM_API void txm_cache_thread_free(txm_cache_thread **thread); /* NULL-safe; sets *thread to NULL */

/* The calling thread's state: made by its first call with this cache, and the same one from then on. For renderers that
 * keep no data per thread. It takes some nanoseconds, and no lock except in the first call. The library owns it and
 * frees it when the thread or the cache ends, whichever comes first: do not free it, nor hand it to another thread.
 * Callbacks of an allocator must not call this. NO_MEMORY. */
TXM_API txm_status txm_cache_thread_current(txm_cache *cache, txm_cache_thread **out, txm_error *err);

/* One lookup: RESIDENT or FAILED. `random` is the random state (txm_chance); NULL: none. */
TXM_API txm_lookup_result txm_cache_sample(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                           const txm_lookup *at, uint32_t *random, float out[4]);

/* The same with the derivatives of the colour. */
TXM_API txm_lookup_result txm_cache_sample_d(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                             const txm_lookup *at, uint32_t *random, float out[4], float du[4],
                                             float dv[4]);

/* Many lookups in one texture; returns the worst of their results. Lookups of one call, up to 2^20 at a time, share
 * what they load, whatever their order: if memory is short, a tile is loaded once and not once per lookup, so large
 * batches pay off. Apart from tiles, they take at most a twelfth of the budget. */
TXM_API txm_lookup_result txm_cache_sample_n(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                             const txm_lookups *batch);

/* The channels of a lookup or of texels, as they are stored in the file. */
typedef struct txm_cache_channels {
    uint32_t first, count; /* of the file's */
    float fill;            /* for channels that the file lacks, and for texels outside of the level */
    const float *missing;  /* `count` numbers in place of what cannot be read, which then counts as found; NULL: it is
                              magenta, and a failure */
} txm_cache_channels;

/* txm_cache_sample for a choice of channels: out has `count` numbers. */
TXM_API txm_lookup_result txm_cache_sample_channels(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                                    const txm_lookup *at, uint32_t *random,
                                                    const txm_cache_channels *channels, float *out);

/* A rectangle of texels of a level of the texture, counted from its upper left corner; it may lie partly outside. */
typedef struct txm_cache_area {
    uint32_t level;
    int32_t x, y;
    uint32_t width, height;
} txm_cache_area;

/* Reads texels: the numbers that lookups filter, at their places in `out`, whose rows are row_floats apart. Their tiles
 * are loaded within the budget, as for any lookup. The failures of txm_cache_open; USAGE for a UDIM set or a level that
 * there is not; CORRUPT if some texels cannot be read: they are magenta. */
TXM_API txm_status txm_cache_texels(txm_cache *cache, uint32_t texture, const txm_cache_area *area,
                                    const txm_cache_channels *channels, float *out, size_t row_floats, txm_error *err);

/* Calls `with` with the open file of a texture, for its description and all of its metadata (txm_tx_info_of,
 * txm_tx_metadata_at): it is opened as for tiles, within max_open and the budget, and must not be used when `with` has
 * returned. `with` must not call the cache. The failures of txm_cache_open; USAGE for a UDIM set; UNSUPPORTED for a
 * source. */
TXM_API txm_status txm_cache_with_file(txm_cache *cache, uint32_t texture, void (*with)(void *user, const txm_tx *tx),
                                       void *user, txm_error *err);

/* txm_cache_sample_d for each lookup of a batch; returns the worst of their results. */
TXM_API txm_lookup_result txm_cache_sample_n_d(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                               const txm_lookups *batch, const txm_lookup_slopes *slopes);

/* txm_sample_udim_blend and txm_sample_latlong as blocking lookups. */
TXM_API txm_lookup_result txm_cache_sample_udim_blend(txm_cache_thread *thread, uint32_t texture,
                                                      const txm_sampler *how, const txm_lookup *at, uint32_t *random,
                                                      float out[4]);
TXM_API txm_lookup_result txm_cache_sample_latlong(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                                   const txm_lookup *at, uint32_t *random, float out[4]);

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* Lengths of the arrays of a view, for copying them to a device. */
typedef struct txm_cache_extent {
    uint32_t textures, tiles, slabs, udims, leaves;
} txm_cache_extent;

/* Makes a view that contains all batches that have ended; with LRU it begins a new epoch. The view is a copy, which
 * lookups mark: changes by loading, evicting, adding or replacing appear in the next view, each batch as a whole.
 * Lookups in it are allowed until the next txm_cache_prepare, _process or _close_view. These three end it and are not
 * refused, so that a program whose lookups all hit need not process an empty list: the threads that look up must have
 * finished before. `extent` may be NULL. The caller adds the bias of `resolution`: txm_cache_bias. NO_MEMORY: no view
 * was made. */
TXM_API txm_status txm_cache_prepare(txm_cache *cache, txm_view *view, txm_cache_extent *extent, txm_error *err);

/* Ends the view of txm_cache_prepare, as txm_cache_process does, when its lookups are done and none of them missed. As
 * long as it is open, the calls that would change what it shows fail with USAGE: txm_cache_end_epoch, _preload,
 * _replace, _unload, _invalidate, _invalidate_all, _pin and _set_max_bytes. Blocking lookups do not fail; they
 * leave its tiles alone. */
TXM_API void txm_cache_close_view(txm_cache *cache);

/* The term to add to txm_sampler.mip_bias: -log2(resolution). */
TXM_API float txm_cache_bias(const txm_cache *cache);

/* Resolves a lookup in a UDIM set: returns the texture of a tile or the base texture, and makes *at relative to it. Any
 * other texture is returned unchanged. TXM_NO_TEXTURE: there is none. For lookups in a prepared view. It takes a lock,
 * so call it only for sets: those whose txm_view_texture.udim_rows is not 0. */
TXM_API uint32_t txm_cache_resolve(const txm_cache *cache, uint32_t texture, const txm_sampler *how, txm_lookup *at);

/* Takes the requests of lanes, empties their lists, and loads the tiles in the order of the files, in the cache's
 * threads. It does not wait for other batches: they queue up. A batch has at most max_requests tiles and, together with
 * those already queued, at most max_queued tiles and half the budget; lookups that need tiles that were left out miss
 * again. Tiles that were loaded stay until the next process. To reuse a lane whose launch was abandoned, set its
 * `count` to 0. NO_MEMORY: no request was taken. The caller owns the ticket and must end it with txm_ticket_wait or
 * txm_ticket_cancel before the cache is freed. */
TXM_API txm_status txm_cache_process(txm_cache *cache, txm_lookup_state *const *lanes, size_t count,
                                     txm_ticket **ticket, txm_error *err);

/* Several views at once, one for each device or group of threads, without a barrier between them: each viewer prepares,
 * looks up and processes as above, at its own pace. From _prepare to the next _prepare, _process or _close of the same
 * viewer its view is open: the memory of tiles that it shows is not reused, whatever is called from any thread. Close a
 * view when its lookups are done, or its tiles stay. If open views hold the memory, batches are cut short, and an
 * eighth of the budget is handed on with every view that is prepared. A view takes 8 bytes of the budget for each
 * registered tile and sizeof(txm_view_texture) for each texture. NO_MEMORY. */
TXM_API txm_status txm_cache_viewer_new(txm_cache *cache, txm_cache_viewer **viewer, txm_error *err);
/* It must be freed before the cache; waits for its batches. NULL-safe; sets *viewer to NULL. */
TXM_API void txm_cache_viewer_free(txm_cache_viewer **viewer);
TXM_API txm_status txm_cache_viewer_prepare(txm_cache_viewer *viewer, txm_view *view, txm_cache_extent *extent,
                                            txm_error *err);
TXM_API txm_status txm_cache_viewer_process(txm_cache_viewer *viewer, txm_lookup_state *const *lanes, size_t count,
                                            txm_ticket **ticket, txm_error *err);
TXM_API void txm_cache_viewer_close(txm_cache_viewer *viewer);
/* Closes the view, too, but keeps the requests of the lanes for the viewer's next batch, which takes them first: for
 * frames that end while a batch is being loaded. At most max_requests are kept, the latest ones. */
TXM_API void txm_cache_viewer_keep(txm_cache_viewer *viewer, txm_lookup_state *const *lanes, size_t count);
/* Whether batches of this viewer may evict tiles; true at first. If not, they load what fits into free memory, and
 * leave the other requests out. */
TXM_API void txm_cache_viewer_evicts(txm_cache_viewer *viewer, bool evicts);
/* Hides a tile of the viewer's open view, before the first lookup there: lookups miss it, and do not request it. The
 * viewer's next view shows it again. A program must not write to the slots of a view itself, because devices would not
 * notice. */
TXM_API void txm_cache_viewer_hide(txm_cache_viewer *viewer, uint32_t number);
/* Lookups in views of this viewer need not find all of their tiles at once, because nobody repeats them: frames show
 * what is in memory. For other viewers batches keep as many tiles as one lookup can need, 32, even beyond the budget.
 * Call it before the first view. */
TXM_API void txm_cache_viewer_never_repeats(txm_cache_viewer *viewer);

TXM_API uint32_t txm_ticket_total(const txm_ticket *ticket);     /* tiles of the batch; 0 for NULL */
TXM_API uint32_t txm_ticket_remaining(const txm_ticket *ticket); /* of these, those not loaded yet; 0 for NULL */

/* Whether all tiles were loaded or given up, so the next view shows them. Does not wait; but if the cache has no
 * threads of its own (threads is 1, or they could not be started), it loads up to 32 tiles itself. True for NULL. */
TXM_API bool txm_ticket_poll(txm_ticket *ticket);

/* Waits until all tiles are loaded and frees the ticket; sets *ticket to NULL. NULL-safe. A ticket has no tiles if
 * other batches load all that was missed, or leave no room for it; then this waits until the first of those batches
 * has ended, because a launch before that would miss the same tiles. So do not call txm_cache_process if no lookup
 * missed. */
TXM_API void txm_ticket_wait(txm_ticket **ticket);

/* Frees the ticket too, but does not load tiles that were not begun: lookups request them again. Does not wait.
 * NULL-safe. To discard the list of a lane, no ticket is needed: set its `count` to 0. */
TXM_API void txm_ticket_cancel(txm_ticket **ticket);

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* Counts since the cache was made; amounts in memory, open or allocated are current. */
typedef struct txm_cache_stats {
    uint64_t lookups, lookups_missed; /* blocking ones */
    uint64_t tile_requests;           /* tiles that lookups requested */
    uint64_t tiles_loaded, tiles_reloaded, tiles_evicted, tiles_failed, tiles_coalesced;
    uint64_t requests_dropped;                      /* requests dropped beyond the limits of a batch, or for lack of
                                                     * memory */
    uint64_t tiles, tiles_peak;                     /* tiles in memory now, and at most */
    uint64_t tile_bytes, tile_bytes_peak;           /* memory of these tiles, padding included */
    uint64_t slab_bytes;                            /* memory of the slabs, which hold the tiles */
    uint64_t overhead_bytes;                        /* page table, texture structs, all else: in the budget too */
    uint64_t allocated_bytes, allocated_bytes_peak; /* slabs and overhead */
    uint64_t virtual_bytes;                         /* size of all tiles of textures that were opened, loaded or not */
    uint64_t loaded_bytes;                          /* size of tiles that were loaded, reloads included */
    uint64_t reloaded_bytes;
    uint64_t waits;             /* times a thread waited for a tile that another was loading */
    uint64_t locks;             /* times a lookup took the cache's lock for a tile: none on hits */
    uint64_t quiescent_states;  /* times that tiles were reused after all threads had moved on */
    uint64_t working_set_bytes; /* estimate: of all tiles that were ever loaded, each once */
    uint32_t textures, textures_opened, textures_failed, duplicates, udim_sets;
    uint32_t files_open, files_open_peak, files_opened; /* reopened ones count again */
    uint32_t epoch;
    double load_seconds;                      /* decoding and reading, summed over all threads */
    uint64_t reader_bytes, reader_bytes_peak; /* memory of open files and their readers; part of the budget */
    /* Requests of lookups in views; of these, those that were rejected and those for which the list was full; and tiles
     * that were given up at the time limit of their batch (launch_seconds). */
    uint64_t requests_made, requests_rejected, requests_full, requests_late;
    uint64_t tiles_queued; /* tiles of batches that have not ended */
    uint64_t kept_bytes;   /* memory of tiles that txm_cache_pin keeps, and of stand-ins */
    /* Times that a file was opened as with read_files, because files of the process had half of the maps that the
     * kernel allows it (vm.max_map_count). */
    uint64_t files_unmapped;
    uint64_t reserved[7];
} txm_cache_stats;

/* Fills in *stats. The latest lookups of running threads may be missing. */
TXM_API void txm_cache_stats_of(txm_cache *cache, txm_cache_stats *stats);

/* Counts from 0 again, for all textures too. Amounts stay, and peaks become what there is now; a trace that is being
 * written is not affected. */
TXM_API void txm_cache_stats_reset(txm_cache *cache);

/* One level of a texture. */
typedef struct txm_cache_level_stats {
    uint32_t width, height;
    uint32_t tiles, resident, loaded_once, failed; /* loaded_once: tiles that were ever loaded, each once */
    uint64_t loads;                                /* reloads included */
} txm_cache_level_stats;

/* One texture. Tiles that coalesced textures share count in each of them. */
typedef struct txm_cache_texture_stats {
    const char *path; /* valid until the texture is replaced; NULL: a UDIM set */
    bool opened, failed;
    uint32_t levels;
    uint64_t resident_bytes, loads, reloads, failures;
    uint32_t opens;      /* times that its file was opened */
    uint32_t tile_bytes; /* size of a tile in memory */
    double load_seconds; /* decoding and reading, summed over all threads */
    txm_cache_level_stats level[TXM_MAX_LOOKUP_LEVELS];
    char message[256]; /* message of the first failure */
    uint32_t failure;  /* txm_status of the first failure; TXM_OK: none */
    uint64_t reserved[7];
} txm_cache_texture_stats;

/* Fills in *stats. USAGE if there is no texture with this number. */
TXM_API txm_status txm_cache_texture_stats_of(txm_cache *cache, uint32_t texture, txm_cache_texture_stats *stats,
                                              txm_error *err);

/* TEXT: all textures, with the names that Cycles and OpenImageIO print, and the verdict. VERDICT: one sentence, which
 * says whether tiles failed, whether the cache is too small or larger than needed, and what is needed. */
typedef enum txm_cache_report_format {
    TXM_CACHE_REPORT_FORMAT_TEXT = 0,
    TXM_CACHE_REPORT_FORMAT_VERDICT
} txm_cache_report_format;

/* Returns a NUL-terminated text; free() it. NULL: out of memory. */
TXM_API char *txm_cache_report(txm_cache *cache, txm_cache_report_format format);

/* ---- traces ----------------------------------------------------------------------------------------------------- */

/* Flags for the contents of a trace. */
enum {
    TXM_TRACE_TILES = 1,  /* the tiles of each lookup, including hits: 1 to 3 bytes per tile */
    TXM_TRACE_LOOKUPS = 2 /* the lookups themselves, about 20 bytes each */
};

/* Records lookups in a file in the format of txmill-trace(5), which trace.h reads: lookups of threads, lookups in a
 * prepared view that are reported by txm_cache_trace_lookup, launches, epochs and tiles of one colour. Lookups are
 * slower meanwhile; the memory for it, some 100 KiB per thread or lane, is not part of the budget. The file appears
 * under its name when it is complete. USAGE if a trace is being written already. */
TXM_API txm_status txm_cache_trace_start(txm_cache *cache, const char *path, uint32_t records, txm_error *err);

/* Records a lookup in a prepared view whose result was used; call it once for each, however often it missed before. The
 * caller numbers the lanes, below 2^31: a trace keeps the order within each lane, and separates launches (the time from
 * one txm_cache_prepare or txm_cache_process to the next). `random` is the state that the lookup began with. Does
 * nothing if no trace is being written. Any thread may call it, but only one at a time for the same lane. */
TXM_API void txm_cache_trace_lookup(txm_cache *cache, uint32_t lane, uint32_t texture, const txm_sampler *how,
                                    const txm_lookup *at, uint32_t random);

/* Completes the file; no thread may look up meanwhile. If anything failed since the start, that is reported here, and
 * no file appears. */
TXM_API txm_status txm_cache_trace_stop(txm_cache *cache, txm_error *err);

/* The same for work that was not finished. The file is marked as partial and holds the reason, `why`: at most 1024
 * bytes of UTF-8, or NULL for a general one. txm_trace_info.partial returns it. */
TXM_API txm_status txm_cache_trace_stop_partial(txm_cache *cache, const char *why, txm_error *err);

/* Ends a trace of work that was not finished: no file appears, and an existing file of that name stays. No thread may
 * look up meanwhile. */
TXM_API void txm_cache_trace_drop(txm_cache *cache);

#ifdef __cplusplus
}
#endif
#endif
