/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments that the lookup kernels take by value, and the layout of their memories in little-endian words of 32
 * bits. Shared by the host and by the kernels in all dialects.
 */
#ifndef TXM_SAMPLE_DEVICE_ARGS_H
#define TXM_SAMPLE_DEVICE_ARGS_H
#include "tile/terms/dialect.h"
#include "txtile/sampler.h"

enum { TXM_DEVICE_UNIT_BYTES = 64 };

/* The kinds of lookups that kernels of their own do (quick.h): the filter, plus the texture's type. */
enum { TXM_BIN_REST = 0, TXM_BIN_LINEAR = 1, TXM_BIN_PIXEL = 5, TXM_BINS = 9 };

/* The counters at the head of a launch's notes; those from TXM_NOTE_BINS on count the lookups in each bin. */
enum {
    TXM_NOTE_LISTED = 0,
    TXM_NOTE_ASKED,
    TXM_NOTE_REJECTED,
    TXM_NOTE_FULL,
    TXM_NOTE_BINS,
    TXM_NOTES = TXM_NOTE_BINS + TXM_BINS
};

/* A lookup as it is sent to a device, and the result that is returned: 4 floats, or 12 with the derivatives by u and by
 * v. */
typedef struct txm_device_in {
    txm_lookup at;
    uint32_t texture, how, random;
} txm_device_in;

typedef struct txm_device_out {
    float color[4];
    uint32_t random, result;
} txm_device_out;

typedef struct txm_device_slopes {
    float du[4], dv[4];
} txm_device_slopes;

/* One launch. Its memories are the table, the tiles on the device, the tiles in host memory, the input, the output, and
 * the notes. The table holds textures, UDIM grids, and a word for each leaf and each entry; the input holds samplers
 * followed by lookups; the output holds colours followed by derivatives and then a list of lookups for each bin, each
 * with room for all lookups; the notes hold TXM_NOTES counters, the list of requests, and a bit for each entry that was
 * touched. */
typedef struct txm_device_lookup {
    uint32_t count, texture_count;
    uint32_t udims_at, leaves_at, slots_at; /* counted in words of the table; the textures are at its beginning */
    uint32_t lookups_at;                    /* counted in words of the input */
    uint32_t slopes_at;                     /* counted in words of the output; 0: no derivatives */
    uint32_t capacity;                      /* size of the list of requests */
    uint32_t near_units;
    uint32_t launch, round, rejection;
    uint32_t stand_ins; /* 1: a coarser tile that would stand in for a missing one is requested as well */
    uint32_t lists_at;  /* counted in words of the output */
    uint32_t bins;      /* bits of the bins that lookups of the launch may be in, the rest included */
    uint32_t sorted;    /* 1: each bin has a list; 0: only the rest has, because there is at most one other bin */
} txm_device_lookup;

/* A run of units to copy into place. */
typedef struct txm_device_run {
    uint32_t from, to, count; /* places in units of the packet and of the target; number of units */
    uint32_t far_away;        /* 1: in the second target */
} txm_device_run;

/* Copies data that was transferred in one piece to its destinations. The memories are the packet, which begins with its
 * runs, and either two targets, or one target and the notes, which are cleared. Each run has a row of threads, followed
 * by as many rows as clearing needs. */
typedef struct txm_device_place {
    uint32_t runs, unit_words;
    uint32_t clear_words; /* words of the notes, which take the second target's place; 0: there are two targets */
} txm_device_place;

enum { TXM_DEVICE_ROW = 64 }; /* threads in a row: a unit of 64 bytes is a quarter of it */
#endif
