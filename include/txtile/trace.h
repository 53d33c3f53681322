/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading traces of texture lookups, as txm_cache_trace_start writes them and txmill-trace(5) describes them, and
 * replaying them on caches of other sizes and policies.
 *
 * A replay runs the code of the cache itself (cache.h) without reading tx files, so that its counts are those that the
 * cache would have. TXM_REPLAY_OPT gives the optimum with knowledge of the future, which bounds every policy.
 *
 * Sizes, numbers and checksums of a file are checked before use. Memory is bounded by 16 MiB plus 64 times the file's
 * size, except for TXM_REPLAY_OPT, which says what it takes. A file that changes while it is read causes an error.
 *
 * NULL: as in status.h. If its options are NULL, txm_replay takes those of txm_replay_options_init.
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

/* An open trace. It owns whatever its functions return pointers to. */
typedef struct txm_trace txm_trace;

/* Opens a trace. CORRUPT (damaged, or incomplete because its writer was stopped), NEWER, NOT_FOUND, NOT_A_FILE, DENIED,
 * IO, NO_MEMORY. */
TXM_API txm_status txm_trace_open(const char *path, txm_trace **out, txm_error *err);
TXM_API void txm_trace_free(txm_trace **trace); /* NULL-safe; sets *trace to NULL */

/* A texture that was looked up. If the cache reused a number for another file, each file is a texture of its own here.
 */
typedef struct txm_trace_texture {
    const char *path;
    uint32_t number; /* number in the trace */
    uint32_t width, height, levels, tile_px;
    uint32_t tile_bytes; /* size of a tile in memory */
    txm_type type;
    uint32_t channels; /* channels in memory: 1, 3 or 4 */
    txm_extension extension;
    bool widened; /* the number of channels differs from that in the file */
    uint64_t reserved[4];
} txm_trace_texture;

/* The contents of a trace, and statistics of the cache that wrote it. */
typedef struct txm_trace_info {
    uint32_t records; /* TXM_TRACE_TILES, TXM_TRACE_LOOKUPS */
    uint32_t lanes;   /* threads, or lanes of batches */
    uint32_t textures;
    uint64_t constants; /* tiles that have one colour */
    /* Settings and statistics of the cache that wrote the trace. */
    txm_cache_policy policy;
    uint32_t keep_epochs;
    uint64_t max_bytes, lookups; /* blocking ones */
    uint64_t tiles_loaded, loaded_bytes, tiles_reloaded;
    double load_seconds;
    const char *partial; /* why the traced work was not finished; NULL if it was */
    uint64_t reserved[7];
} txm_trace_info;

/* The description of the trace, never NULL; and of each of its textures, NULL beyond the last. */
TXM_API const txm_trace_info *txm_trace_info_of(const txm_trace *trace);
TXM_API const txm_trace_texture *txm_trace_texture_at(const txm_trace *trace, uint32_t index);

/* A cursor over the events of a trace. Those of one thread or lane are in order; threads alternate in blocks, in the
 * order in which the blocks were filled. */
typedef struct txm_trace_cursor txm_trace_cursor;

/* Kinds of events. */
typedef enum txm_trace_event_kind {
    TXM_TRACE_EVENT_END = 0,
    TXM_TRACE_EVENT_TILES,   /* the tiles of one lookup, unless they repeat those of the previous one */
    TXM_TRACE_EVENT_LOOKUP,  /* a lookup; with its tiles if the trace has no records of tiles */
    TXM_TRACE_EVENT_LAUNCH,  /* a launch ended */
    TXM_TRACE_EVENT_EPOCH,   /* a render tile or frame ended */
    TXM_TRACE_EVENT_REPLACED /* `texture` is not used any more: from now on its number denotes another file */
} txm_trace_event_kind;

/* One event. Its kind decides which members are valid. */
typedef struct txm_trace_event {
    txm_trace_event_kind kind;
    uint32_t thread;            /* counted from 1; for a lane of a batch, 2^31 plus its number */
    const txm_tile_name *tiles; /* `texture` is an index of txm_trace_texture_at; valid until the next call */
    uint32_t tile_count;
    uint32_t texture, launch, epoch; /* the lookup's texture, and the launch and epoch that it belongs to */
    uint32_t random;
    txm_sampler how;
    txm_lookup at;
    uint64_t reserved[4];
} txm_trace_event;

/* Makes a cursor before the first event; the trace must outlive it. NO_MEMORY. */
TXM_API txm_status txm_trace_cursor_new(const txm_trace *trace, txm_trace_cursor **out, txm_error *err);
/* Reads the next event; its kind is END after the last. CORRUPT, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_trace_next(txm_trace_cursor *cursor, txm_trace_event *event, txm_error *err);
TXM_API void txm_trace_cursor_free(txm_trace_cursor **cursor); /* NULL-safe; sets *cursor to NULL */

/* ---- replaying -------------------------------------------------------------------------------------------------- */

/* A policy in addition to those of txm_cache_policy: if memory is needed, the tile whose next use is furthest in the
 * future is evicted (Belady's MIN), and the whole budget holds tiles. No policy reads fewer tiles if all have the same
 * size; otherwise none reads fewer bytes, assuming that parts of tiles can be read. A replay with it takes 8 more bytes
 * of memory per tile in the trace. */
enum { TXM_REPLAY_OPT = 255 };

/* The cache that a trace is replayed on. */
typedef struct txm_replay_options {
    size_t struct_size;         /* set by txm_replay_options_init */
    uint64_t max_bytes;         /* the budget; 0: no bound */
    uint32_t policy;            /* txm_cache_policy, TXM_REPLAY_OPT */
    uint32_t keep_epochs;       /* for the policy of render tiles, 1 or 2 */
    const volatile int *cancel; /* as in txm_context_options; may be NULL */
} txm_replay_options;

/* Initialises options of struct_size bytes with the defaults: no bound, the policy of render tiles with one epoch. For
 * other languages; C and C++ call txm_replay_options_init. */
TXM_API void txm_replay_options_init_sized(txm_replay_options *options, size_t struct_size);

/* Initialises options with these defaults. */
static inline void txm_replay_options_init(txm_replay_options *options)
{
    txm_replay_options_init_sized(options, sizeof *options);
}

/* The counts of a replay: lookups, tiles and bytes. */
typedef struct txm_replay_counts {
    uint64_t lookups;            /* number of lookups, without those that repeat the tiles of the previous one */
    uint64_t tiles, tile_bytes;  /* distinct tiles and their size: the working set */
    uint64_t reads, reads_again; /* tiles read; of these, tiles that had been read before */
    uint64_t read_bytes, evicted;
    uint64_t peak_bytes;           /* the most that tiles took at one time */
    uint64_t peak_allocated_bytes; /* the same with the cache's data about them */
    uint64_t reserved[8];
} txm_replay_counts;

/* Replays a whole trace on the calling thread, one lookup at a time: with LRU launches end epochs, but they load
 * nothing in advance. USAGE, CANCELLED, and the failures of txm_trace_next. */
TXM_API txm_status txm_replay(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out,
                              txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
