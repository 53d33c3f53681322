/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups on devices (GPUs, and processors with an OpenCL driver) over a texture cache (cache.h).
 *
 * A device holds copies of the data that lookups need: the page table, the shapes of the textures, and the tiles that
 * its own lookups have requested. A launch runs an array of lookups, in any textures. It returns colours, and passes
 * the tiles that it missed to the cache, which reads each of them once however many devices requested it. Lookups that
 * missed are launched again and then find those tiles. Colours are bit-identical to those of txm_sample, whatever the
 * device, its memory and the order of launches.
 *
 *     txm_device_open -> txm_device_submit -> txm_device_collect -> txm_ticket_wait -> the lookups that missed again
 *
 * If the caller has nothing else to do in the meantime, txm_device_sample runs this loop until every lookup has its
 * colour, on several devices at once. A device may have two launches under way, so one can run while the tiles of the
 * other are loaded.
 *
 * A launch copies at most one piece to the device for the page table and one for tiles, in the same queue as its
 * kernel, and copies only data that has changed. txm_device_collect is the only one of these steps that blocks on the
 * device.
 *
 * Memory: tiles that do not fit into the device's own memory are put in memory of the machine, which the device reads
 * directly but more slowly. If that is full too, lookups miss the tile, and the least recently used tiles are evicted.
 * Any memory size therefore gives correct results, only more slowly.
 *
 * The driver is reached through a plug-in (txmill-opencl.so, txmill-cuda.so) that the first call loads; this library is
 * linked with none. Plug-ins stay loaded. After fork(), the child must not use its parent's devices.
 *
 * NULL: as described in status.h; members of txm_device_batch that may be NULL are marked.
 *
 * Thread safety: a device may be used by one thread at a time; different threads may use different devices of one
 * cache. A device must be closed before its cache is freed.
 */
#ifndef TXTILE_DEVICE_H
#define TXTILE_DEVICE_H

#include "txtile/cache.h"
#include "txtile/export.h"
#include "txtile/sampler.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device for lookups in one cache, and a launch that is under way on it. */
typedef struct txm_device txm_device;
typedef struct txm_device_launch txm_device_launch;

/* The maximum number of launches that a device may have under way. */
enum { TXM_DEVICE_LAUNCHES = 2 };

/* Limits of a device; txm_device_open copies them. */
typedef struct txm_device_options {
    size_t struct_size;    /* set by txm_device_options_init */
    uint64_t memory_bytes; /* device memory for tiles. 0: the cache's budget, but at most three quarters of the device's
                              memory and at most its largest allocation */
    uint64_t host_bytes;  /* machine memory for tiles that do not fit there, allocated when first needed. 0: the part of
                             the cache's budget that memory_bytes does not cover */
    uint32_t max_lookups; /* per launch of txm_device_sample: 1 to 2^22 */
    uint32_t max_requests;  /* most tiles that a launch requests, 64 to 2^20; later launches request the rest */
    uint64_t copy_bytes;    /* most bytes of tiles that one launch copies, but at least one tile */
    uint32_t fail_launches; /* number of the launch that fails in tests as if the device were lost; 0: none */
    uint32_t unused;
} txm_device_options;

/* Fills in the defaults for options of struct_size bytes: as much memory as is useful, 2^18 lookups, 2^16 requests,
 * copies of 64 MiB. This is for other languages; C and C++ call txm_device_options_init. */
TXM_API void txm_device_options_init_sized(txm_device_options *options, size_t struct_size);

/* Fills in the same defaults. */
static inline void txm_device_options_init(txm_device_options *options)
{
    txm_device_options_init_sized(options, sizeof *options);
}

/* Opens the device with the given name ("opencl", "opencl:1", "cuda:0") for lookups in a cache. NULL options: the
 * defaults. USAGE for an invalid name, DEVICE if the device does not exist or cannot be used, with the reason in the
 * message; NO_MEMORY. */
TXM_API txm_status txm_device_open(txm_cache *cache, const char *name, const txm_device_options *options,
                                   txm_device **out, txm_error *err);
/* Waits for launches that are under way and discards their results. NULL-safe; sets *device to NULL. */
TXM_API void txm_device_close(txm_device **device);
/* The driver's name for the device, and the name that it was opened with; both are valid until it is closed. */
TXM_API const char *txm_device_title(const txm_device *device);
TXM_API const char *txm_device_name(const txm_device *device);
/* Whether the device was lost: one of its launches failed, and all later calls on it fail too. */
TXM_API bool txm_device_is_lost(const txm_device *device);
/* Why the device was lost or, if it was not, what went wrong on it without stopping it, such as compiled kernels that
 * could not be kept; "" if nothing did. Valid until it is closed. */
TXM_API const char *txm_device_problem(const txm_device *device);

/* Lookups in any textures, in arrays of `count` elements. The arrays belong to the caller and must not change until the
 * launch is collected. The caller adds the bias for the cache's resolution: see txm_cache_bias. */
typedef struct txm_device_batch {
    size_t count;
    const txm_sampler *samplers; /* each has passed txm_sampler_check */
    uint32_t sampler_count;
    const uint32_t *how;     /* index of each lookup's sampler, plus TXM_QUERY_*; NULL: the first for all */
    const uint32_t *texture; /* each lookup's texture, as in the view; NULL: `one_texture` for all */
    uint32_t one_texture;
    const txm_lookup *at;
    uint32_t *random; /* random state of each lookup, or its number (txm_chance); advanced if a colour was found. NULL:
                         none */
    float (*out)[4];  /* colours; for missed lookups, as the sampler's on_miss says */
    float (*du)[4];   /* derivatives of the colours by u and by v; both or neither are NULL */
    float (*dv)[4];
    uint8_t
        *result; /* txm_lookup_result of each lookup. With `again`, only those that are TXM_LOOKUP_MISS are looked up */
    bool again;
} txm_device_batch;

/* Begins a launch: updates the device's view and queues the lookups. DEVICE: the device is lost, and the launch was not
 * begun; USAGE: TXM_DEVICE_LAUNCHES are already under way; NO_MEMORY: the launch was not begun, but a smaller one may
 * succeed. */
TXM_API txm_status txm_device_submit(txm_device *device, const txm_device_batch *batch, txm_device_launch **launch,
                                     txm_error *err);

/* ---- lookups that stay on the device ----
 *
 * Two kinds of launches leave lookups and colours in memory of the device. txm_device_submit_arrays looks up arrays
 * that kernels of the caller have written. txm_device_begin lends the view to kernels of the caller, which look up
 * themselves with the functions of kernel.h. Both are collected with txm_device_collect, and neither copies anything
 * per lookup; only changes of the page table, tiles and requests travel. Base textures of UDIM sets (txm_cache_udim)
 * are not used: lookups are in the tiles of the set. */

/* What programs of the driver's own need in order to share memory and order with the device. CUDA: `queue` is a
 * cudaStream_t of the primary context, and memory a device pointer. OpenCL: a cl_context, a cl_device_id and an
 * in-order cl_command_queue, and memory a cl_mem of that context. Commands that the caller queues there run in order
 * with those of launches. All are valid until the device is closed. */
typedef struct txm_device_handles {
    void *context, *device, *queue;
} txm_device_handles;

TXM_API void txm_device_handles_of(const txm_device *device, txm_device_handles *handles);

/* Arrays of `count` elements in memory of the device, each at an offset in bytes that is a multiple of 4. They belong
 * to the caller and must stay until the launch is collected. */
typedef struct txm_device_arrays {
    size_t struct_size; /* sizeof(txm_device_arrays) */
    size_t count;
    const txm_sampler *samplers; /* in the machine's memory, and copied; each has passed txm_sampler_check */
    uint32_t sampler_count;
    bool again;    /* only lookups whose answer is TXM_LOOKUP_MISS are looked up */
    void *queries; /* txm_device_query; the indices of samplers are below sampler_count */
    void *answers; /* txm_device_answer */
    void *slopes;  /* txm_device_slopes; NULL: none */
    uint64_t queries_at, answers_at, slopes_at;
} txm_device_arrays;

/* Begins a launch, like txm_device_submit. USAGE also for arrays that are not as described. */
TXM_API txm_status txm_device_submit_arrays(txm_device *device, const txm_device_arrays *arrays,
                                            txm_device_launch **launch, txm_error *err);

/* What kernels of the caller need to look up in a view; `args` is passed by value. */
typedef struct txm_device_scope {
    void *table, *near_tiles, *far_tiles, *notes; /* memory of the device; far_tiles may be NULL */
    txm_device_args args;
} txm_device_scope;

/* Begins a launch for kernels of the caller, which must be queued in the device's queue before the launch is collected.
 * `lookups` is about how many they will make, from which the size of the list of requests follows. Errors as those of
 * txm_device_submit. */
TXM_API txm_status txm_device_begin(txm_device *device, size_t lookups, txm_device_scope *scope,
                                    txm_device_launch **launch, txm_error *err);

/* ---- all launches ---- */

/* Waits for a launch, fills in the arrays of its batch and passes the tiles that it missed to the cache. *missed is the
 * number of lookups without a colour; *ticket is that of txm_cache_viewer_process, or NULL if nothing was missed. Sets
 * *launch to NULL. DEVICE: the device was lost, and all of its lookups count as missed; NO_MEMORY: the cache took none
 * of the requests. */
TXM_API txm_status txm_device_collect(txm_device_launch **launch, txm_ticket **ticket, size_t *missed, txm_error *err);

/* Looks up until no lookup misses, on all of the given devices, each of which takes one part of the batch after
 * another. If a device is lost, the others take over its part. If none is left, or memory is too small even for one
 * lookup, the processor looks up instead; this is not an error. NO_MEMORY. */
TXM_API txm_status txm_device_sample(txm_device *const *devices, size_t count, const txm_device_batch *batch,
                                     txm_error *err);

/* Looks up in an open view of the cache, as txm_sample does with a lookup state that has no capacity: lookups whose
 * tiles are not in the view are missed, and nothing is requested from the cache. `look` is therefore final, and `again`
 * must be false. Tiles that are in the view but not on a device are copied to it; if they do not fit there, or the
 * device is lost, the processor looks up. Colours, random states and the marks in the view are those of txm_sample. The
 * view's UDIM sets are used unchanged. NO_MEMORY. */
TXM_API txm_status txm_device_sample_view(txm_device *const *devices, size_t count, const txm_view *view,
                                          const txm_cache_extent *extent, const txm_device_batch *batch,
                                          txm_error *err);

/* Statistics since a device was opened. */
typedef struct txm_device_stats {
    uint64_t launches, lookups;           /* lookups of all launches, including repeated ones */
    uint64_t lookups_missed;              /* those of `lookups` that missed */
    uint64_t requests;                    /* tiles requested, counted once per launch */
    uint64_t table_copies, tile_copies;   /* pieces copied to the device: at most one of each per launch */
    uint64_t table_bytes, tile_bytes;     /* size of those pieces */
    uint64_t tiles_copied, copied_pixels; /* tiles copied, and their own bytes: tile_bytes without its overhead */
    uint64_t lookup_bytes, result_bytes;  /* lookups sent to the device, results copied back */
    uint64_t syncs;                       /* times that the processor waited for a launch */
    uint64_t tiles_dropped;               /* evicted to make room for others */
    uint64_t tiles_far;                   /* placed in memory of the machine */
    uint64_t memory_bytes, host_bytes;    /* allocated for tiles at present */
    uint32_t longest;                     /* most launches that one part of a batch needed (txm_device_sample) */
    uint32_t lost;                        /* 1: the device was lost */
    double copy_seconds, kernel_seconds;  /* time of copies to and from the device, and of lookups, by its clock */
    uint64_t by_processor;                /* lookups of the device's part of a batch that the processor did */
    uint64_t reserved[6];
} txm_device_stats;

/* Copies the device's statistics so far to *stats. */
TXM_API void txm_device_stats_of(const txm_device *device, txm_device_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
