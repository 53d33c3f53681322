/* SPDX-License-Identifier: Apache-2.0
 *
 * A texture cache: of any number of tx files, only the tiles that lookups need are in memory, within a budget.
 *
 * A renderer registers tx files and looks up from any number of threads, each with a txm_cache_thread of its own. What
 * comes out has the bits of the sampler (sampler.h) with every tile in memory, whatever the budget, the policy, the
 * number of threads and the order in which tiles come in.
 *
 * Tiles come from tx files, or from sources of the caller's own (txm_tile_source).
 *
 * Two ways to use it:
 *  - Blocking: txm_cache_sample loads what it misses and answers when the colour is there. Two threads that want one
 *    tile load it once. A lookup that hits takes no lock and writes nothing that is shared, but a mark that is tested
 *    before it is set.
 *  - Batches, for wavefronts and devices: txm_cache_prepare -> lookups in the view (txm_sample), whose lanes collect
 *    what they miss -> txm_cache_process -> txm_ticket_wait -> txm_cache_prepare -> the lookups that missed again.
 *    Interactive renderers don't wait: they prepare the next view and look up in it while the ticket's tiles load, and
 *    see these as soon as all of them are there and another view is prepared.
 *
 * Memory: what the cache has allocated (tiles, tables and the lists of batches: txm_cache_stats.allocated_bytes) and
 * what open files keep (reader_bytes, with what OpenEXR's library keeps of them) stay at or below max_bytes plus one
 * batch together at every instant. A batch is what is queued by txm_cache_process, or for each thread that is waiting
 * for a tile a slab of 512 KiB, or the tiles of its lookup where they are more, and what it reads with: 200 KiB with
 * Blender's tiles, 1.2 MB with tiles that OpenEXR's PIZ compressed. While viewers keep views open, threads that wait
 * may need that twice. Of the budget a sixteenth is set aside for open files (256 KiB at least, 64 MiB at most), and up
 * to a quarter where files would otherwise be opened again and again. A budget that is too small costs time, never a
 * colour. Open files are mapped; their pages are the system's (but see read_files), and so are the stacks of threads
 * that load. Not counted are some 100 bytes for each of these threads that a batch waits for.
 *
 * Tiles that cannot be read are FAILED: magenta, and counted. Where the file is damaged, shrank, was replaced or
 * written to, that lasts until txm_cache_replace. Lack of memory or descriptors, a file that is not there and errors of
 * disks and servers may pass, so such tiles, levels and textures are tried again: by the next lookup or launch that
 * needs them, or, where that fails too, after as long again as trying took. While tiles of an open file are read, the
 * cache checks ten times a second whether the file was written to. A time that somebody gives it, such as 'txmill
 * resolve --touch' sets, is no change where the file holds the SHA-1 of its pixels, as Blender's and txmill's do; nor
 * is a copy that takes its place. Plain touch(1) looks like writing. See reader.h about SIGBUS.
 *
 * NULL: as status.h says; options, `info`, `part`, `extent`, `random`, `why` and the path of txm_cache_replace may be
 * NULL, with what their functions say. Lookups check no pointer. The two functions of an allocator are called with the
 * cache's lock held: they may not call functions of the cache, nor throw.
 *
 * Thread safety: all functions may be called at the same time from any thread, but for txm_cache_free. What a viewer
 * (txm_cache_viewer) has prepared stays as it is, whatever else is called, until the viewer prepares again, processes
 * or is closed. The view of txm_cache_prepare is weaker, so that programs which prepare and never process keep no
 * memory: while somebody looks up in it, nobody may call txm_cache_prepare, _process, _end_epoch, _preload, _replace,
 * _unload, _invalidate, _pin, _set_max_bytes, nor lookups that load by themselves. A txm_cache_thread and a viewer
 * serve one thread at a time; any number of threads may look up in a view.
 *
 * After fork() the child may use no cache of its parent, nor free it: threads that may hold its lock are not there any
 * more. It may make caches of its own, and execute another program.
 */
#ifndef TXTILE_CACHE_H
#define TXTILE_CACHE_H

#include "txtile/export.h"
#include "txtile/sampler.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The cache, what each thread needs to look up in it, what each device or group of threads needs that works in
 * launches, and a batch of tiles that is being loaded. */
typedef struct txm_cache txm_cache;
typedef struct txm_cache_thread txm_cache_thread;
typedef struct txm_cache_viewer txm_cache_viewer;
typedef struct txm_ticket txm_ticket;

/* ---- options --------------------------------------------------------------------------------------------------- */

/* What goes when memory is needed. */
typedef enum txm_cache_policy {
    /* Cycles: at txm_cache_end_epoch, where a render tile is finished, the tiles go that were not used in the last
     * `keep_epochs` render tiles. When the budget is reached earlier, those not used for longest. */
    TXM_CACHE_POLICY_RENDER_TILES = 0,
    /* Least recently used, as far as epochs tell: they also advance by themselves, with every policy but NONE, 16 times
     * while as many tiles are loaded as fit the budget. */
    TXM_CACHE_POLICY_LRU,
    /* OptiX Toolkit: counters of 4 bits that count the logarithm of the epochs a tile was not used for. */
    TXM_CACHE_POLICY_CLOCK4,
    /* Nothing goes, and max_bytes is exceeded. */
    TXM_CACHE_POLICY_NONE,
    /* What came first, without heeding when it was used. The next quarter to go is staged: lookups miss it, but what
     * they ask for comes back without being read, as if it had come last. */
    TXM_CACHE_POLICY_SECOND_CHANCE
} txm_cache_policy;

/* Which tiles share memory: any of these together. */
enum {
    TXM_COALESCE_CONSTANT = 1, /* tiles of one colour share one tile in memory */
    TXM_COALESCE_DUPLICATE = 2 /* files with the same pixels (oiio:SHA-1 and the sizes of all levels) share tiles */
};

/* Where the cache gets its memory from. NULL functions: the C library. */
typedef struct txm_cache_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment); /* NULL: no memory */
    void (*release)(void *user, void *memory, size_t bytes);
    void *user;
} txm_cache_allocator;

/* What a cache may take, and how it works; copied. */
typedef struct txm_cache_options {
    size_t struct_size;    /* set by txm_cache_options_init */
    uint64_t max_bytes;    /* the budget; 0: no bound */
    uint32_t policy;       /* txm_cache_policy */
    uint32_t keep_epochs;  /* 1 as Cycles' code does, 2 as its description says */
    uint32_t max_requests; /* tiles that one txm_cache_process loads at most; those beyond are asked for again */
    uint32_t threads;      /* that process loads with, the waiting one included; 0: one per processor. They are started
                              by the first batch that has work for them */
    uint32_t max_open;     /* files that are mapped at the same time, 1 or more */
    float resolution;      /* share of the resolution that is wanted, over 0 to 1: 0.25 is two levels of bias */
    uint32_t limit_px;     /* levels that are longer than this are left out; 0: none */
    uint32_t coalesce;     /* TXM_COALESCE_* */
    float spurious;        /* for tests: 0 to 1, chance that a lookup drops tiles that it is about to use */
    txm_cache_allocator allocator;
    uint32_t max_queued;   /* tiles of all batches that are not over; those beyond are asked for again */
    uint32_t reject;       /* not 0: where lists of requests are too short, requests are left out at random
                              (txm_view.rejection): 1 - unique / total of the viewer's last launch */
    uint64_t launch_bytes; /* of tiles that one txm_cache_process loads at most, but one tile; 0: no limit */
    float launch_seconds;  /* that a batch has; what nobody has begun by then, but one tile, is given up; 0: no limit */
    uint32_t stand_in;     /* txm_stand_in_kind */
    uint32_t read_files;   /* 0: files are mapped, and the memory for it is given back after every 1024 tiles: see
                              docs/texture-cache.md for what that adds to the process. Not 0: they are read (pread) into
                              memory that goes with the tile, so that the process is no larger than the budget says, as
                              farms count it, and a file that is cut short or whose disk fails raises no SIGBUS; each
                              open file keeps a descriptor. Tables of a file may then take 64 MiB */
    uint32_t keep_rgb; /* not 0: opaque textures have three channels in memory, which is a quarter less. Those are of
                          files of three channels, and of four whose average alpha is 1; a tile that shows otherwise
                          is no failure: the texture is opened again, with four. Not with TXM_EXTENSION_CLIP */
} txm_cache_options;

/* What every texture has in memory from txm_cache_add on, so that a lookup has a colour from the first launch on
 * (txm_on_miss). Its file is opened then; that it cannot be is no failure of txm_cache_add. */
typedef enum txm_stand_in_kind {
    TXM_STAND_IN_KIND_NONE = 0, /* nothing: until the file is opened by a lookup, the colour is grey */
    TXM_STAND_IN_KIND_AVERAGE,  /* the colour of the 1x1 level: TXM_ON_MISS_AVERAGE; takes no tile */
    TXM_STAND_IN_KIND_TILE      /* also the finest level that fits a tile, as far as half the budget goes:
                                   TXM_ON_MISS_COARSER */
} txm_stand_in_kind;

/* Opens options of struct_size bytes for a renderer of any kind: 1 GiB, the tiles that were used least recently go,
 * 8192 requests a batch and queued, 128 open files, full resolution, everything coalesced, no stand-ins. Nobody needs
 * to call txm_cache_end_epoch. For other languages; C and C++ call txm_cache_options_init. */
TXM_API void txm_cache_options_init_sized(txm_cache_options *options, size_t struct_size);

/* The same for a renderer that does as Cycles does: render tiles with one epoch, which txm_cache_end_epoch ends. */
TXM_API void txm_cache_options_init_cycles_sized(txm_cache_options *options, size_t struct_size);

/* Opens options with these defaults. */
static inline void txm_cache_options_init(txm_cache_options *options)
{
    txm_cache_options_init_sized(options, sizeof *options);
}

/* Opens options with the defaults for what does as Cycles does. */
static inline void txm_cache_options_init_cycles(txm_cache_options *options)
{
    txm_cache_options_init_cycles_sized(options, sizeof *options);
}

/* "render-tiles", "lru", "clock4", "none", "second-chance"; NULL outside the range. */
TXM_API const char *txm_cache_policy_name(txm_cache_policy policy);

/* What a policy is called and does, for options, tables and manuals. */
typedef struct txm_cache_policy_words {
    const char *name;   /* that of txm_cache_policy_name */
    const char *column; /* a shorter one, at most 8 bytes */
    const char *goes;   /* what goes when: a clause without a full stop */
} txm_cache_policy_words;

/* Valid as long as the library; NULL outside the range. */
TXM_API const txm_cache_policy_words *txm_cache_policy_words_of(txm_cache_policy policy);

/* NULL options: those of txm_cache_options_init. USAGE, NO_MEMORY. */
TXM_API txm_status txm_cache_new(const txm_cache_options *options, txm_cache **out, txm_error *err);

/* All threads of txm_cache_thread_new and tickets must have been freed, and nobody may look up any more. NULL-safe;
 * sets *cache to NULL. */
TXM_API void txm_cache_free(txm_cache **cache);

/* ---- textures -------------------------------------------------------------------------------------------------- */

/* Registers a tx file and answers its number in the view. The file must exist; it is opened by the first lookup, or
 * by txm_cache_open, and only levels that are asked for get a place in the page table, so that a scene may register
 * many more textures than it uses. Files of two and three channels are widened to four. NOT_FOUND, NOT_A_FILE, DENIED,
 * IO, NO_MEMORY, TOO_LARGE. */
TXM_API txm_status txm_cache_add(txm_cache *cache, const char *path, txm_extension extension, uint32_t *texture,
                                 txm_error *err);

/* Where tiles come from that are in no tx file: images in memory, procedural textures, files of another kind. What it
 * describes itself as. */
typedef struct txm_tile_shape {
    size_t struct_size;     /* set by the cache, with all else 0 but the average */
    uint32_t width, height; /* of level 0, px: 1 to 65536 */
    uint32_t levels;        /* each half as large as the one before, rounded down, and at least 1 px; at least one */
    uint32_t tile_px;       /* what is read at a time: a power of two, 8 to 512; a level may have 2^20 tiles */
    uint32_t channels;      /* 1 or 4 */
    uint32_t type;          /* txm_type */
    uint32_t encoding;      /* txm_encoding */
    float average[4]; /* as looked up: what is shown where nothing is loaded. Left as it is: grey, or with stand-ins
                         the colour of the 1x1 level */
    char digest[41];  /* textures with equal digests and shapes share tiles; "": it shares none */
} txm_tile_shape;

/* The functions that the cache calls, from any of its threads and of those that look up, several at once, without a
 * lock; they may not call the cache, which could wait for the very tile that they read, nor throw. A status other than
 * TXM_OK is a failure, with a message in *err or without. Those that txm_status_retryable names, and NOT_FOUND and
 * DENIED, are tried again.
 */
typedef struct txm_tile_source {
    size_t struct_size; /* sizeof(txm_tile_source) */
    void *user;
    /* Once, before anything is read; again after txm_cache_replace. */
    txm_status (*describe)(void *user, txm_tile_shape *shape, txm_error *err);
    /* A rectangle that lies in a level, at most tile_px + 4 px wide and high: channels interleaved, in the shape's
     * type, from the top down. The cache makes borders of it as the extension says. */
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
    /* After everything else, when the texture was replaced or the cache is freed; may be NULL. The cache may be locked.
     */
    void (*close)(void *user);
} txm_tile_source;

/* Registers a texture whose tiles come from a source, which is copied; `name` stands for its path in messages, reports
 * and traces. Where it fails nothing was called, and the source is the caller's. USAGE, NO_MEMORY, TOO_LARGE. */
TXM_API txm_status txm_cache_add_source(txm_cache *cache, const char *name, const txm_tile_source *source,
                                        txm_extension extension, uint32_t *texture, txm_error *err);

/* Opens the file of a texture now, to know early whether it can be read: what txm_tx_open returns, UNSUPPORTED where
 * tiles are not square or not a power of two. *info, which may be NULL, receives the shape as it is looked up. */
TXM_API txm_status txm_cache_open(txm_cache *cache, uint32_t texture, txm_view_texture *info, txm_error *err);

/* Opens the file of a texture and gives all of its levels a place in the page table, so that lookups need not ask for
 * one first; loads no tile. What txm_cache_open returns, and USAGE for a UDIM set, which has no file. */
TXM_API txm_status txm_cache_register(txm_cache *cache, uint32_t texture, txm_error *err);

/* A texture of UDIM tiles. `base`, or TXM_NO_TEXTURE, is a small texture of the whole grid of base_columns (1 to 10) by
 * base_rows tiles: it serves lookups whose level it has, so that far objects open no tile. Holes are FAILED. */
typedef struct txm_cache_udim {
    const uint32_t *numbers;  /* 1001 to 9999 */
    const uint32_t *textures; /* that were added */
    size_t count;
    uint32_t base, base_columns, base_rows;
} txm_cache_udim;

/* Registers a UDIM set of textures that were added, and answers its number in the view; *udim is copied. Opens the base
 * texture. USAGE for a number out of range or a texture that is not there, NO_MEMORY, and what txm_cache_open returns
 * for the base. */
TXM_API txm_status txm_cache_add_udim(txm_cache *cache, const txm_cache_udim *udim, uint32_t *texture, txm_error *err);

/* Forgets the file, its tiles and its failures, and registers `path` (NULL: the same one) under the same number. For
 * files that changed while the renderer runs. Waits until no thread looks up. */
TXM_API txm_status txm_cache_replace(txm_cache *cache, uint32_t texture, const char *path, txm_error *err);

/* Drops the tiles of a texture that are in memory; later lookups load them again. */
TXM_API txm_status txm_cache_unload(txm_cache *cache, uint32_t texture, txm_error *err);

/* A part of a texture: levels first to last (clamped), and of them the tiles that the rectangle touches (0 to 1). */
typedef struct txm_cache_part {
    uint32_t first_level, last_level;
    float u0, v0, u1, v1;
} txm_cache_part;

/* What was read of a part is not valid any more, as where somebody paints: its tiles go, those that are being read are
 * read again, failures are forgotten. Later lookups and views load it anew. For textures that share tiles
 * (TXM_COALESCE_DUPLICATE) it holds for all of them. NULL: all of the texture. USAGE. */
TXM_API txm_status txm_cache_invalidate(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);

/* Loads a part and keeps it in memory until it is unpinned, invalidated, unloaded or replaced. Pinning twice is pinning
 * once. NULL: all. At most half the budget is kept: TOO_LARGE where a part does not fit, and what was pinned before the
 * call stays pinned. Tiles that fail are counted, and are no failure here. */
TXM_API txm_status txm_cache_pin(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);
TXM_API txm_status txm_cache_unpin(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);

/* Loads a part, as far as it fits the budget; NULL: all. Tiles that fail are counted, and are no failure here. */
TXM_API txm_status txm_cache_preload(txm_cache *cache, uint32_t texture, const txm_cache_part *part, txm_error *err);

/* Changes the budget; tiles beyond it go at once. */
TXM_API txm_status txm_cache_set_max_bytes(txm_cache *cache, uint64_t max_bytes, txm_error *err);

/* Ends a render tile, a frame: forgets who used which tile, as far as the policy does, and drops what it lets go. */
TXM_API void txm_cache_end_epoch(txm_cache *cache);

/* ---- blocking lookups ------------------------------------------------------------------------------------------ */

/* What a thread looks up with; its memory counts in the budget. To be freed before the cache. NO_MEMORY. */
TXM_API txm_status txm_cache_thread_new(txm_cache *cache, txm_cache_thread **out, txm_error *err);
TXM_API void txm_cache_thread_free(txm_cache_thread **thread); /* NULL-safe; sets *thread to NULL */

/* What the calling thread looks up with: made by its first call with this cache, the same one from then on. For
 * renderers that keep nothing for each thread; it takes no lock but in the first call, and some nanoseconds. It belongs
 * to the library, which frees it when the thread or the cache ends, whichever comes first: do not free it, nor hand it
 * to another thread. Callbacks of an allocator must not call this. NO_MEMORY. */
TXM_API txm_status txm_cache_thread_current(txm_cache *cache, txm_cache_thread **out, txm_error *err);

/* One lookup: RESIDENT or FAILED. `random` is the state of Cycles' generator, NULL for none: see txm_lane. */
TXM_API txm_look txm_cache_sample(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                  const txm_lookup *at, uint32_t *random, float out[4]);

/* The same with the derivatives of the colour. */
TXM_API txm_look txm_cache_sample_d(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                    const txm_lookup *at, uint32_t *random, float out[4], float du[4], float dv[4]);

/* Many lookups in one texture; the worst of their results. Up to 2^20 that come in one call share what they load,
 * whatever their order, so that memory which is short costs a tile once, not once a lookup: large batches pay off.
 * What they take beside tiles is at most a twelfth of the budget. */
TXM_API txm_look txm_cache_sample_n(txm_cache_thread *thread, uint32_t texture, const txm_sampler *how,
                                    const txm_lookups *batch);

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* How many elements the arrays of a view have: what a device needs a copy of. */
typedef struct txm_cache_extent {
    uint32_t textures, tiles, slabs, udims;
} txm_cache_extent;

/* The view with all batches that are over; a new epoch for LRU and CLOCK4. It is a copy, which lookups mark: what is
 * loaded, evicted, added or replaced meanwhile is seen by the next one, each batch as a whole. Lookups in it may be
 * made until the next txm_cache_prepare or _process; `extent` may be NULL. Biases of `resolution` are the caller's:
 * txm_cache_bias. NO_MEMORY: there is no view. */
TXM_API txm_status txm_cache_prepare(txm_cache *cache, txm_view *view, txm_cache_extent *extent, txm_error *err);

/* What to add to txm_sampler.mip_bias: -log2(resolution). */
TXM_API float txm_cache_bias(const txm_cache *cache);

/* The texture that a lookup in a UDIM set goes to: a tile of it, or its base texture, and the lookup as seen from
 * there. Any other texture is returned as it is. TXM_NO_TEXTURE: none. For lookups in a prepared view. It takes a
 * lock, so call it only for sets: those whose txm_view_texture.udim_rows is not 0. */
TXM_API uint32_t txm_cache_resolve(const txm_cache *cache, uint32_t texture, const txm_sampler *how, txm_lookup *at);

/* Takes over what lanes have missed, empties their lists, and loads it in the order of the files, in threads of the
 * cache's own. Waits for no other batch: they queue up. At most max_requests, and with what is queued max_queued and
 * half the budget; lookups that need what was left out miss again. Tiles that were loaded stay until the next process.
 * A lane whose launch was given up may be used again with `count` 0. NO_MEMORY: nothing was taken over. The ticket is
 * the caller's: end it with txm_ticket_wait or txm_ticket_cancel before the cache is freed. */
TXM_API txm_status txm_cache_process(txm_cache *cache, txm_lane *const *lanes, size_t count, txm_ticket **ticket,
                                     txm_error *err);

/* Several views at once, one for each device or group of threads, without a barrier between them: prepare, look up,
 * process as above, each viewer at its own pace. From _prepare to the next _prepare, _process or _close of the same
 * viewer its view is open: the memory of tiles that it shows is not used for others, whatever is called and from where.
 * Close a view that nobody looks up in, or its tiles stay. Where open views hold the memory, batches are cut, and an
 * eighth of the budget is handed on with every view that is prepared. A view takes 8 bytes a tile that is registered
 * and sizeof(txm_view_texture) a texture, of the budget. NO_MEMORY. */
TXM_API txm_status txm_cache_viewer_new(txm_cache *cache, txm_cache_viewer **viewer, txm_error *err);
/* To be freed before the cache; waits for its batches. NULL-safe; sets *viewer to NULL. */
TXM_API void txm_cache_viewer_free(txm_cache_viewer **viewer);
TXM_API txm_status txm_cache_viewer_prepare(txm_cache_viewer *viewer, txm_view *view, txm_cache_extent *extent,
                                            txm_error *err);
TXM_API txm_status txm_cache_viewer_process(txm_cache_viewer *viewer, txm_lane *const *lanes, size_t count,
                                            txm_ticket **ticket, txm_error *err);
TXM_API void txm_cache_viewer_close(txm_cache_viewer *viewer);

TXM_API uint32_t txm_ticket_total(const txm_ticket *ticket);     /* tiles that are loaded; 0 for NULL */
TXM_API uint32_t txm_ticket_remaining(const txm_ticket *ticket); /* of these not yet; 0 for NULL */

/* Whether all are loaded, or were given up: the next view shows them. Waits for nothing; but where the cache has no
 * threads of its own (threads is 1, or they could not be started) it loads up to 32 tiles itself. True for NULL. */
TXM_API bool txm_ticket_poll(txm_ticket *ticket);

/* Waits until all are loaded and frees the ticket; sets *ticket to NULL. NULL-safe. A ticket without tiles, where
 * lookups missed what other batches load or found no room beside them, waits until the first of those is over: another
 * launch before that would miss the same. So process nothing where no lookup missed. */
TXM_API void txm_ticket_wait(txm_ticket **ticket);

/* Frees the ticket as well, but loads nothing that was not begun: lookups ask for it again. Waits for nobody.
 * NULL-safe. What lanes have on their lists needs no cancelling: set their `count` to 0. */
TXM_API void txm_ticket_cancel(txm_ticket **ticket);

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* Counts since the cache was made; what is in memory, open or allocated is as of now. */
typedef struct txm_cache_stats {
    uint64_t lookups, lookups_missed; /* blocking ones */
    uint64_t tile_requests;           /* tiles that lookups asked to load */
    uint64_t tiles_loaded, tiles_reloaded, tiles_evicted, tiles_failed, tiles_coalesced;
    uint64_t requests_dropped;                      /* beyond the limits of a batch, or without memory for now */
    uint64_t tiles, tiles_peak;                     /* in memory */
    uint64_t tile_bytes, tile_bytes_peak;           /* of tiles in memory, padding included */
    uint64_t slab_bytes;                            /* memory that holds them */
    uint64_t overhead_bytes;                        /* page table, texture structs, all else */
    uint64_t allocated_bytes, allocated_bytes_peak; /* slabs and overhead */
    uint64_t virtual_bytes;                         /* of all tiles of textures that were opened */
    uint64_t loaded_bytes;                          /* of tiles that were loaded, reloads included */
    uint64_t reloaded_bytes;
    uint64_t waits;             /* times a thread waited for a tile that another was loading */
    uint64_t locks;             /* times a lookup took the cache's lock for a tile: none on hits */
    uint64_t quiescent_states;  /* times tiles were reused after all threads had moved on */
    uint64_t working_set_bytes; /* estimate: of tiles that were ever loaded, each once */
    uint32_t textures, textures_opened, textures_failed, duplicates, udim_sets;
    uint32_t files_open, files_open_peak, files_opened; /* reopened ones count again */
    uint32_t epoch;
    double load_seconds;                      /* decoding and reading, of all threads */
    uint64_t reader_bytes, reader_bytes_peak; /* that open files and their readers keep; part of the budget */
    /* Requests that lookups in views made, of which these were rejected, and for these the list was full; tiles that
     * were given up when a batch had had its time (launch_seconds). */
    uint64_t requests_made, requests_rejected, requests_full, requests_late;
    uint64_t tiles_queued; /* of batches that are not over */
    uint64_t kept_bytes;   /* of tiles that txm_cache_pin keeps, and of stand-ins */
    /* With TXM_CACHE_POLICY_SECOND_CHANCE: times that tiles were staged, and that they came back without being read. */
    uint64_t tiles_staged, tiles_restored;
    uint64_t reserved[6];
} txm_cache_stats;

/* Fills in *stats. While threads look up, their latest lookups may be missing. */
TXM_API void txm_cache_stats_of(txm_cache *cache, txm_cache_stats *stats);

/* One level of a texture. */
typedef struct txm_cache_level_stats {
    uint32_t width, height;
    uint32_t tiles, resident, loaded_once, failed; /* loaded_once: ever, each tile once */
    uint64_t loads;                                /* reloads included */
} txm_cache_level_stats;

/* One texture. Tiles that coalesced textures share count in each of them. */
typedef struct txm_cache_texture_stats {
    const char *path; /* valid until the texture is replaced; NULL: a UDIM set */
    bool opened, failed;
    uint32_t levels;
    uint64_t resident_bytes, loads, reloads, failures;
    uint32_t opens;      /* of its file */
    uint32_t tile_bytes; /* of a tile in memory */
    double load_seconds; /* decoding and reading, of all threads */
    txm_cache_level_stats level[TXM_MAX_LEVELS];
    char message[256]; /* of the first failure */
    uint32_t failure;  /* txm_status of it; TXM_OK: none */
    uint64_t reserved[7];
} txm_cache_texture_stats;

/* USAGE if there is no such texture. */
TXM_API txm_status txm_cache_texture_stats_of(txm_cache *cache, uint32_t texture, txm_cache_texture_stats *stats,
                                              txm_error *err);

/* A report with the names that Cycles and OpenImageIO print, and a verdict in a sentence. */
typedef enum txm_cache_report_format {
    TXM_CACHE_REPORT_FORMAT_TEXT = 0,
    TXM_CACHE_REPORT_FORMAT_JSON
} txm_cache_report_format;

/* NUL-terminated; free() it. NULL: no memory. */
TXM_API char *txm_cache_report(txm_cache *cache, txm_cache_report_format format);

/* ---- traces ----------------------------------------------------------------------------------------------------- */

/* What a trace holds: any of these together. */
enum {
    TXM_TRACE_TILES = 1,  /* the tiles of each lookup, hits included: 1 to 3 bytes per tile */
    TXM_TRACE_LOOKUPS = 2 /* the lookups themselves, about 20 bytes each */
};

/* Writes what lookups use to a file as txmill-trace(5) describes it, which trace.h reads: lookups of threads, those
 * in a prepared view that txm_cache_trace_look is told of, launches, epochs and tiles of one colour. Lookups are
 * slower meanwhile; the memory that it takes, some 100 KiB per thread or lane, is not in the budget. The file appears
 * under its name when it is complete. USAGE if a trace is being written. */
TXM_API txm_status txm_cache_trace_start(txm_cache *cache, const char *path, uint32_t records, txm_error *err);

/* A lookup in a prepared view whose result was used; call it once for each, however often it missed before. `lane` is
 * a number of the caller's, below 2^31: a trace keeps the order in each lane, and launches (the time from one
 * txm_cache_prepare or txm_cache_process to the next) apart. `random` is the state that the lookup began with. Does
 * nothing while no trace is written. From any thread, one at a time a lane. */
TXM_API void txm_cache_trace_look(txm_cache *cache, uint32_t lane, uint32_t texture, const txm_sampler *how,
                                  const txm_lookup *at, uint32_t random);

/* Completes the file; no thread may look up meanwhile. What went wrong since the start is reported here, and leaves no
 * file. */
TXM_API txm_status txm_cache_trace_stop(txm_cache *cache, txm_error *err);

/* The same for work that was not finished. The file is marked as partial and holds the reason, `why`: at most 1024
 * bytes of UTF-8, or NULL for a general one. Readers find it in txm_trace_info.partial. */
TXM_API txm_status txm_cache_trace_stop_partial(txm_cache *cache, const char *why, txm_error *err);

/* Ends a trace of work that was not finished: no file appears, and one that was there under its name stays. No thread
 * may look up meanwhile. */
TXM_API void txm_cache_trace_drop(txm_cache *cache);

#ifdef __cplusplus
}
#endif
#endif
