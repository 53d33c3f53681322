/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels of lookups are told, by value, and how their memories are laid out: words of 32 bits, little-endian.
 * Shared by the host and by kernels in all dialects.
 */
#ifndef TXM_SAMPLE_DEVICE_ARGS_H
#define TXM_SAMPLE_DEVICE_ARGS_H
#include "tile/base/dialect.h"
#include "txtile/sampler.h"

enum { TXM_DEVICE_UNIT_BYTES = 64 };

/* Counters of a launch, at the head of its notes. */
enum { TXM_NOTE_LISTED = 0, TXM_NOTE_ASKED, TXM_NOTE_REJECTED, TXM_NOTE_FULL, TXM_NOTES };

/* A lookup as it travels to a device, and what comes back: of 4 floats, or with derivatives by u and by v of 12. */
typedef struct txm_device_in {
    txm_lookup at;
    uint32_t texture, how, random;
} txm_device_in;

typedef struct txm_device_out {
    float color[4];
    uint32_t random, look;
} txm_device_out;

typedef struct txm_device_slopes {
    float du[4], dv[4];
} txm_device_slopes;

/* One launch. Memories: the table, tiles on the device, tiles in memory of the machine, what goes in, what comes out,
 * notes. The table holds textures, UDIM grids and a word for each entry; what goes in are samplers and then lookups;
 * what comes out are colours and then derivatives; notes are TXM_NOTES counters, the list of requests, and a bit for
 * each entry that was touched. */
typedef struct txm_device_look {
    uint32_t count, texture_count;
    uint32_t udims_at, slots_at; /* words of the table; textures are at its beginning */
    uint32_t lookups_at;         /* words of what goes in */
    uint32_t slopes_at;          /* words of what comes out; 0: without derivatives */
    uint32_t capacity;           /* of the list of requests */
    uint32_t near_units;
    uint32_t launch, round, rejection;
    uint32_t stand_ins; /* 1: what stands in for a missing tile is asked for as well */
} txm_device_look;

/* A run of units to be put in place. */
typedef struct txm_device_run {
    uint32_t from, to, count; /* units of the packet, of the target; how many */
    uint32_t far_away;        /* 1: in the second target */
} txm_device_run;

/* Puts what has travelled in one piece where it belongs. Memories: the packet, which begins with its runs, and two
 * targets; or one, and notes that are zeroed. Rows of threads: one a run, then as many as zeroing needs. */
typedef struct txm_device_place {
    uint32_t runs, unit_words;
    uint32_t clear_words; /* of the second target; 0: it is a target */
} txm_device_place;

enum { TXM_DEVICE_ROW = 64 }; /* threads in a row: a unit of 64 bytes is a quarter of it */
#endif
