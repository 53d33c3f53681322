/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of texture lookups, as txm_cache_trace_start writes them and txmill-trace(5) describes them: read, and played
 * to caches of other sizes and policies.
 *
 * A replay runs the cache itself (cache.h), but for reading files: what it counts is what the cache would do. Beside it
 * is the optimum of whoever knows the future, which no policy beats.
 *
 * Files are checked: sizes, numbers and checksums before use, and memory is bounded by 64 times the file's size and 16
 * MiB, but for TXM_REPLAY_OPT: see there. A file that changes while it is read gives an error.
 *
 * NULL: as status.h says. txm_replay with NULL options takes those of txm_replay_options_init.
 *
 * Thread safety: a txm_trace may be read and replayed from any number of threads; a txm_trace_cursor serves one.
 */
#ifndef TXTILE_TRACE_H
#define TXTILE_TRACE_H

#include <stdbool.h>

#include "txtile/cache.h"
#include "txtile/export.h"
#include "txtile/sampler.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* A trace that was read. It owns whatever its functions return pointers to. */
typedef struct txm_trace txm_trace;

/* CORRUPT (damaged, or incomplete: its writer was stopped), NEWER, NOT_FOUND, NOT_A_FILE, DENIED, IO,
 * NO_MEMORY. */
TXM_API txm_status txm_trace_open(const char *path, txm_trace **out, txm_error *err);
TXM_API void txm_trace_free(txm_trace **trace); /* NULL-safe; sets *trace to NULL */

/* A texture that was looked up. Numbers of the trace that were used for another file later are other textures here. */
typedef struct txm_trace_texture {
    const char *path;
    uint32_t number; /* in the trace */
    uint32_t width, height, levels, tile_px;
    uint32_t tile_bytes; /* of a tile in memory */
    txm_type type;
    uint32_t channels; /* in memory: 1, 3 or 4 */
    txm_extension extension;
    bool widened; /* or narrowed, from other channels in the file */
    uint64_t reserved[4];
} txm_trace_texture;

/* What a trace holds, and what its cache did. */
typedef struct txm_trace_info {
    uint32_t records; /* TXM_TRACE_TILES, TXM_TRACE_LOOKUPS */
    uint32_t lanes;   /* threads, or lanes of batches */
    uint32_t textures;
    uint64_t constants; /* tiles of one colour */
    /* What the cache that wrote the trace did meanwhile. */
    txm_cache_policy policy;
    uint32_t keep_epochs;
    uint64_t max_bytes, lookups; /* blocking ones */
    uint64_t tiles_loaded, loaded_bytes, tiles_reloaded;
    double load_seconds;
    const char *partial; /* why the traced work was not finished; NULL: it was */
    uint64_t reserved[7];
} txm_trace_info;

/* The trace as a whole, never NULL, and its textures, NULL beyond the last. */
TXM_API const txm_trace_info *txm_trace_info_of(const txm_trace *trace);
TXM_API const txm_trace_texture *txm_trace_texture_at(const txm_trace *trace, uint32_t index);

/* The trace in its order: that of each thread or lane, whose blocks follow each other as they were filled. */
typedef struct txm_trace_cursor txm_trace_cursor;

/* What an event tells. */
typedef enum txm_trace_event_kind {
    TXM_TRACE_EVENT_END = 0,
    TXM_TRACE_EVENT_TILES,   /* of one lookup; those of a repetition are left out */
    TXM_TRACE_EVENT_LOOKUP,  /* its tiles, too, where the trace has no records of tiles */
    TXM_TRACE_EVENT_LAUNCH,  /* one ended */
    TXM_TRACE_EVENT_EPOCH,   /* a render tile or frame ended */
    TXM_TRACE_EVENT_REPLACED /* `texture` is not looked up any more: its number is that of another file from now on */
} txm_trace_event_kind;

/* One event. Its kind says which members count. */
typedef struct txm_trace_event {
    txm_trace_event_kind kind;
    uint32_t thread;            /* from 1 on; lanes of batches: 2^31 and their number */
    const txm_tile_name *tiles; /* texture: an index of txm_trace_texture_at; valid until the next call */
    uint32_t tile_count;
    uint32_t texture, launch, epoch; /* of a lookup */
    uint32_t random;
    txm_sampler how;
    txm_lookup at;
    uint64_t reserved[4];
} txm_trace_event;

/* A cursor before the first event; the trace must outlive it. NO_MEMORY. */
TXM_API txm_status txm_trace_cursor_new(const txm_trace *trace, txm_trace_cursor **out, txm_error *err);
/* CORRUPT, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_trace_next(txm_trace_cursor *cursor, txm_trace_event *event, txm_error *err);
TXM_API void txm_trace_cursor_free(txm_trace_cursor **cursor); /* NULL-safe; sets *cursor to NULL */

/* ---- replaying -------------------------------------------------------------------------------------------------- */

/* A policy beside those of txm_cache_policy: when memory is needed, what is used again last goes (Belady's MIN), and
 * all of the budget holds tiles. The fewest reads there can be where tiles have one size; else the fewest bytes, where
 * parts of tiles could be read. Takes 8 bytes per tile of the trace. */
enum { TXM_REPLAY_OPT = 255 };

/* The cache that a trace is played to. */
typedef struct txm_replay_options {
    size_t struct_size;         /* set by txm_replay_options_init */
    uint64_t max_bytes;         /* the budget; 0: no bound */
    uint32_t policy;            /* txm_cache_policy, TXM_REPLAY_OPT */
    uint32_t keep_epochs;       /* of render tiles: 1 or 2 */
    const volatile int *cancel; /* may be NULL; see txm_context_options */
} txm_replay_options;

/* Opens options of struct_size bytes: no bound, render tiles with one epoch. For other languages; C and C++ call
 * txm_replay_options_init. */
TXM_API void txm_replay_options_init_sized(txm_replay_options *options, size_t struct_size);

/* Opens options with these defaults. */
static inline void txm_replay_options_init(txm_replay_options *options)
{
    txm_replay_options_init_sized(options, sizeof *options);
}

/* What a replay took: lookups, tiles and bytes. */
typedef struct txm_replay_counts {
    uint64_t lookups;            /* but for those that repeat the tiles of the one before */
    uint64_t tiles, tile_bytes;  /* different ones, each once: the working set */
    uint64_t reads, reads_again; /* tiles read; of these, those that had been there before */
    uint64_t read_bytes, evicted;
    uint64_t peak_bytes;           /* of tiles at once */
    uint64_t peak_allocated_bytes; /* with all that the cache keeps about them */
    uint64_t restored;             /* staged tiles that came back without being read */
    uint64_t reserved[7];
} txm_replay_counts;

/* One thread plays all of the trace, a lookup at a time: launches end epochs of LRU and CLOCK4 but load nothing in
 * advance. USAGE, CANCELLED, and what txm_trace_next returns. */
TXM_API txm_status txm_replay(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out,
                              txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
