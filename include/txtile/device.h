/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups on devices: GPUs, and processors with an OpenCL driver, over a texture cache (cache.h).
 *
 * A device holds copies of what lookups need: the page table, the shapes of textures and those tiles that its own
 * lookups have asked for. A launch is an array of lookups, in any textures; it answers with colours, and the tiles
 * that it missed are handed to the cache, which reads each of them once, whoever asked. What is launched again finds
 * them. Colours have the bits of txm_sample, whatever the device, its memory, and the order of launches.
 *
 *     txm_device_open -> txm_device_submit -> txm_device_collect -> txm_ticket_wait -> the lookups that missed again
 *
 * or, where nothing else is to be done meanwhile, txm_device_sample, which does that until every lookup has its
 * colour, on several devices at once. Two launches of a device may be under way, so that one runs while tiles of the
 * other load.
 *
 * A launch copies at most one piece to the device for the page table and one for tiles, in line with its kernel; only
 * what has changed travels. Nothing waits but txm_device_collect.
 *
 * Memory: tiles that a device has no room for lie in memory of the machine that it reaches by itself, slower, and
 * beyond that are not there: lookups miss them, and what was used longest ago makes room. So any size is right, if not
 * fast.
 *
 * The driver is reached through a plug-in (txmill-opencl.so, txmill-cuda.so) that the first call loads; this library
 * links none. Plug-ins stay loaded. After fork() the child may not use its parent's devices.
 *
 * NULL: as status.h says; members of txm_device_batch that may be NULL say so.
 *
 * Thread safety: a device serves one thread at a time; devices of one cache may serve different threads. A device must
 * be closed before its cache is freed.
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

/* A device that looks up in a cache, and lookups that are under way on it. */
typedef struct txm_device txm_device;
typedef struct txm_device_launch txm_device_launch;

/* How many launches of a device may be under way. */
enum { TXM_DEVICE_LAUNCHES = 2 };

/* What a device may take; copied. */
typedef struct txm_device_options {
    size_t struct_size;     /* set by txm_device_options_init */
    uint64_t memory_bytes;  /* of the device, for tiles. 0: the cache's budget, but at most three quarters of what the
                               device has, and at most what it gives in one piece */
    uint64_t host_bytes;    /* of the machine, for tiles that have no room there; taken when it is needed. 0: what is
                               missing to the cache's budget */
    uint32_t max_lookups;   /* of a launch of txm_device_sample: 1 to 2^22 */
    uint32_t max_requests;  /* tiles that a launch asks for at most, 64 to 2^20; those beyond are asked for again */
    uint64_t copy_bytes;    /* of tiles that one launch copies at most, but one tile */
    uint32_t fail_launches; /* for tests: not 0: the launch of this number fails as if the device were lost */
    uint32_t unused;
} txm_device_options;

/* Opens options of struct_size bytes: all memory that may be of use, 2^18 lookups, 2^16 requests, copies of 64 MiB.
 * For other languages; C and C++ call txm_device_options_init. */
TXM_API void txm_device_options_init_sized(txm_device_options *options, size_t struct_size);

/* Opens options with these defaults. */
static inline void txm_device_options_init(txm_device_options *options)
{
    txm_device_options_init_sized(options, sizeof *options);
}

/* Opens the device of a name, "opencl", "opencl:1", "cuda:0", for lookups in a cache. NULL options: the defaults.
 * USAGE for an invalid name, DEVICE if the device does not exist or cannot be used: the message says why;
 * NO_MEMORY. */
TXM_API txm_status txm_device_open(txm_cache *cache, const char *name, const txm_device_options *options,
                                   txm_device **out, txm_error *err);
/* Waits for launches that are under way, and drops what they found. NULL-safe; sets *device to NULL. */
TXM_API void txm_device_close(txm_device **device);
/* What the driver calls it, and the name that it was opened by; valid until it is closed. */
TXM_API const char *txm_device_title(const txm_device *device);
TXM_API const char *txm_device_name(const txm_device *device);
/* Whether it was lost: a launch of it failed, and so does whatever is asked of it. */
TXM_API bool txm_device_is_lost(const txm_device *device);
/* Why it was lost, "" if it was not; valid until it is closed. */
TXM_API const char *txm_device_problem(const txm_device *device);

/* Lookups in any textures, in arrays of `count` elements. They are the caller's, and stay as they are until the launch
 * is collected. Bias for the cache's resolution is the caller's: txm_cache_bias. */
typedef struct txm_device_batch {
    size_t count;
    const txm_sampler *samplers; /* that have passed txm_sampler_check */
    uint32_t sampler_count;
    const uint32_t *how;     /* the sampler of each lookup; NULL: the first */
    const uint32_t *texture; /* of each, as in the view; NULL: `one_texture` */
    uint32_t one_texture;
    const txm_lookup *at;
    uint32_t
        *random; /* state of each lookup, or its number (txm_chance); moved on where a colour was found. NULL: none */
    float (*out)[4]; /* colours; of what is missed, what the sampler says (on_miss) */
    float (*du)[4];  /* with derivatives by u and by v; both or neither are NULL */
    float (*dv)[4];
    uint8_t *look; /* txm_look of each. With `again`, those that are not TXM_LOOK_MISSED are left out */
    bool again;
} txm_device_batch;

/* Begins a launch: brings the device's view up to date and puts the lookups in line. DEVICE: the device is lost, and
 * the launch was not begun; USAGE: TXM_DEVICE_LAUNCHES are under way; NO_MEMORY: not begun, and may be in smaller
 * parts. */
TXM_API txm_status txm_device_submit(txm_device *device, const txm_device_batch *batch, txm_device_launch **launch,
                                     txm_error *err);

/* Waits for a launch, fills in the arrays of its batch and hands what it missed to the cache. *missed: lookups that
 * found no colour; the ticket is that of txm_cache_viewer_process, NULL where nothing was missed. Sets *launch to NULL.
 * DEVICE: the device was lost, and all of its lookups are missed; NO_MEMORY: no request was taken over. */
TXM_API txm_status txm_device_collect(txm_device_launch **launch, txm_ticket **ticket, size_t *missed, txm_error *err);

/* Looks up until no lookup misses, on all devices given: each takes parts of the batch, one after the other. What a
 * lost device had is done by the others, or, where none is left or memory is too short for a lookup, by the processor:
 * that is no failure. NO_MEMORY. */
TXM_API txm_status txm_device_sample(txm_device *const *devices, size_t count, const txm_device_batch *batch,
                                     txm_error *err);

/* Looks up in a view of the cache that is open, as txm_sample does with a lane of no capacity: what the view lacks is
 * missed, and the cache is asked for nothing. So what `look` says is final, and `again` must be false. Tiles that the
 * view shows and a device lacks are copied; where it has no room for them, or is lost, the processor looks up. Colours,
 * random states and the marks in the view are those of txm_sample. The view's UDIM sets are taken as they are.
 * NO_MEMORY. */
TXM_API txm_status txm_device_sample_view(txm_device *const *devices, size_t count, const txm_view *view,
                                          const txm_cache_extent *extent, const txm_device_batch *batch,
                                          txm_error *err);

/* Counts since a device was opened. */
typedef struct txm_device_stats {
    uint64_t launches, lookups;         /* lookups of all launches, repeated ones included */
    uint64_t lookups_missed;            /* of these */
    uint64_t requests;                  /* tiles that were asked for, once for each launch */
    uint64_t table_copies, tile_copies; /* pieces that were copied to the device: at most one of each a launch */
    uint64_t table_bytes, tile_bytes;   /* that these took */
    uint64_t tiles_copied,
        copied_pixels;                   /* tiles, and their own bytes: what tile_bytes would be without any overhead */
    uint64_t lookup_bytes, result_bytes; /* lookups that went in, results that came out */
    uint64_t syncs;                      /* times that a launch was waited for */
    uint64_t tiles_dropped;              /* that made room for others */
    uint64_t tiles_far;                  /* that were put in memory of the machine */
    uint64_t memory_bytes, host_bytes;   /* for tiles, as of now */
    uint32_t longest;                    /* most launches until a part of a batch was complete (txm_device_sample) */
    uint32_t lost;                       /* 1: it was lost */
    double copy_seconds, kernel_seconds; /* of copies to and from it, of lookups, as the device measures them */
    uint64_t by_processor;               /* lookups of its part of a batch that the processor did */
    uint64_t reserved[6];
} txm_device_stats;

/* Fills in *stats. */
TXM_API void txm_device_stats_of(const txm_device *device, txm_device_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
