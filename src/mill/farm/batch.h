/* SPDX-License-Identifier: Apache-2.0
 *
 * The batch as its parts see it: what is known of every input, and who may touch it when.
 *
 * The room src/mill/farm is many conversions: from the arguments of a command to a plan and a run. inputs, folder,
 * pattern and list find the images; rules, kind and names decide their settings; plan looks at all of them and orders
 * the work; shard divides it among machines; claims keep processes from doing the same; run converts; store, sweep,
 * garbage and trim look after what is there already. The public header is txmill/batch.h.
 */
#ifndef TXM_FARM_BATCH_H
#define TXM_FARM_BATCH_H
#include <pthread.h>
#include <stdatomic.h>

#include "mill/base/hash.h"
#include "mill/base/names.h"
#include "mill/convert/context.h"
#include "mill/farm/claims.h"
#include "txmill/batch.h"

enum { TXM_NO_INDEX = -1 };

/* One input in the plan. There may be hundreds of thousands: what a txm_result says is kept here in a fraction of its
 * size. Strings are the batch's or the inputs'. */
typedef struct txm_item {
    /* asked for */
    txm_context *context; /* of its working space */
    const char *colorspace, *decided_by;
    txm_alpha asked_alpha;
    /* found out */
    bool looked_at;
    txm_status status;
    const char *message; /* of a failure */
    const char *tx_path, *requested, *detected, *reader, *reason, *settings_key, *content;
    uint8_t outcome, alpha, type, channels; /* as in txm_result */
    bool otherwise;
    bool remake; /* up to date by name and time, but damaged */
    uint8_t lint;
    uint32_t width, height;
    uint64_t source_bytes, device, inode;
    float seconds; /* that looking at it took */
    float weight;  /* in the division into shards: seconds that making it costs, whether it is needed or not */
    uint32_t shard;
    txm_cost cost;
    ptrdiff_t same_as; /* index of the input that makes the same tx file, TXM_NO_INDEX: none */
} txm_item;

/* A context for another working space than that of the context it is derived from. */
typedef struct txm_batch_space {
    const txm_context *base;
    const char *name;
    txm_context *context;
} txm_batch_space;

struct txm_batch {
    txm_context *context;
    const txm_inputs *inputs;
    txm_batch_options options;
    txm_settings settings;   /* options.settings, or the defaults */
    txm_batch_events events; /* options.events, or none */
    txm_item *items;         /* one an input */
    size_t count;
    size_t *order; /* indexes of what is to be made, biggest first */
    size_t order_count;
    txm_batch_space *spaces;
    size_t space_count;
    pthread_mutex_t names_lock;  /* guards names */
    txm_names names;             /* strings of the items */
    pthread_mutex_t events_lock; /* events come one at a time */
    txm_claims *claims;          /* while running; NULL: without */
    char list_key[TXM_SHA1_HEX]; /* digest of what was divided into shards */
    atomic_bool failed;          /* something failed: with fail_fast nothing more is started */
    atomic_bool exhausted;       /* memory ran out */
};

/* Whether something new may be started. */
bool txm_batch_may_start(const txm_batch *batch);
bool txm_batch_cancelled(const txm_batch *batch);

/* The settings of one input. */
txm_settings txm_batch_settings_of(const txm_batch *batch, size_t index);
/* Where its tx file goes when that is said; else NULL. */
const char *txm_batch_output_of(const txm_batch *batch, size_t index);

/* Reports that an input is settled. `result` NULL: it failed, for `err`. */
void txm_batch_tell(txm_batch *batch, size_t index, const txm_result *result, const txm_error *err);
void txm_batch_warn(txm_batch *batch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps why an input failed. */
void txm_item_fail(txm_batch *batch, txm_item *item, const txm_error *err);
/* Finds the inputs that make the same tx file as an earlier one, and fails those that would overwrite another's. Sweeps
 * the folders that files will be made in. NO_MEMORY. */
txm_status txm_find_same_work(txm_batch *batch, txm_error *err);

/* Between a result and its compact form. expand borrows the strings: do not clear what it returns. */
bool txm_item_take(txm_batch *batch, txm_item *item, const txm_result *result);
txm_result txm_item_expand(const txm_item *item);

/* What converting costs, from what the header says. `threads`: of the pool. */
txm_cost txm_cost_estimate(const char *path, const txm_item *item, const txm_settings *settings, unsigned threads);
#endif
