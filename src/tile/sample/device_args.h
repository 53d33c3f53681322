/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of lookups do with their arguments and memories, in little-endian words of 32 bits. Shared by the
 * host and by the kernels in all dialects.
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
    TXM_NOTE_MISSED,
    TXM_NOTE_BINS,
    TXM_NOTES = TXM_NOTE_BINS + TXM_BINS
};

/* A launch's memories: the table, with textures, UDIM grids, and a word for each leaf and each entry; the tiles on the
 * device; those in host memory; the samplers; the lookups; their answers; the derivatives; and the notes, with
 * TXM_NOTES counters, the list of requests, a bit for each entry that was touched, and a list of lookups for each bin,
 * each with room for all lookups. */
enum {
    TXM_MEMORY_TABLE,
    TXM_MEMORY_NEAR,
    TXM_MEMORY_FAR,
    TXM_MEMORY_SAMPLERS,
    TXM_MEMORY_QUERIES,
    TXM_MEMORY_ANSWERS,
    TXM_MEMORY_SLOPES,
    TXM_MEMORY_NOTES,
    TXM_MEMORIES
};

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
