/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a batch, for the files that plan and run it.
 *
 * This folder makes a plan from the arguments of a command and runs it. inputs, folder, pattern and list find the
 * images; the rules decide their settings; plan looks at all of them and orders the work; shard divides it among
 * machines; claims keep processes from making the same file; run converts; store, garbage and trim manage files that
 * exist. The public header is txmill/batch.h.
 */
#ifndef TXM_FARM_BATCH_H
#define TXM_FARM_BATCH_H
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/names.h"
#include "mill/convert/context.h"
#include "mill/farm/claims.h"
#include "txmill/batch.h"

enum { TXM_NO_INDEX = -1 };

/* One input in the plan. There may be hundreds of thousands, so it stores the parts of a txm_result compactly. Its
 * strings belong to the batch or the inputs. */
typedef struct txm_item {
    /* requested */
    txm_context *context; /* has its working space */
    const char *colorspace, *decided_by;
    txm_alpha requested_alpha;
    uint32_t limit_px;
    /* found by looking at the image */
    bool examined;
    txm_status status;
    txm_failure failure;
    const char *tx_path, *requested, *detected, *reader, *reason, *settings_key, *content, *shows, *judged;
    uint8_t outcome, alpha, type, channels; /* as in txm_result */
    uint8_t state;                          /* of the tx file, as in txm_result */
    bool harmless;
    bool otherwise;
    bool remake; /* up to date by name and time, but damaged */
    bool by_preset;
    uint8_t lint;
    uint32_t width, height, image_width, image_height;
    uint64_t source_bytes, reader_bytes, device, inode;
    int64_t image_time;
    float seconds; /* time that looking at it took */
    float weight;  /* weight in the division into shards: seconds that making it takes, whether it is needed or not */
    uint32_t shard;
    txm_cost cost;
    ptrdiff_t same_as; /* index of the input that makes the same tx file; TXM_NO_INDEX: none */
} txm_item;

/* A context that differs from `base` in its working space. */
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
    txm_batch_events events; /* options.events, or zero */
    txm_item *items;         /* one per input */
    size_t count;
    size_t *order; /* indexes of the items to make, biggest first */
    size_t order_count;
    txm_batch_space *spaces;
    size_t space_count;
    pthread_mutex_t names_lock;  /* guards names */
    txm_names names;             /* strings of the items */
    pthread_mutex_t events_lock; /* events come one at a time */
    txm_claims *claims;          /* set while the batch runs; NULL: without claims */
    char list_key[TXM_SHA1_HEX]; /* digest of the inputs that were divided into shards */
    bool tries;                  /* images that would be made are read when planning */
    atomic_bool failed;          /* a conversion failed: with fail_fast no other is started */
    atomic_bool exhausted;       /* memory is exhausted */
};

/* Whether a new conversion may be started. */
bool txm_batch_may_start(const txm_batch *batch);
bool txm_batch_cancelled(const txm_batch *batch);

/* The settings of one input. */
txm_settings txm_batch_settings_of(const txm_batch *batch, size_t index);
/* The path of its tx file if the user chose one; else NULL. */
const char *txm_batch_output_of(const txm_batch *batch, size_t index);

/* Reports that an input is done. If `result` is NULL, it failed because of `err`. */
void txm_batch_tell(txm_batch *batch, size_t index, const txm_result *result, const txm_error *err);
void txm_batch_warn(txm_batch *batch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Stores the reason why an input failed. */
void txm_item_fail(txm_batch *batch, txm_item *item, const txm_error *err);
/* Finds inputs whose tx file an earlier one makes, and fails those that would overwrite another input's. Sweeps the
 * folders in which files will be made. NO_MEMORY. */
txm_status txm_find_same_work(txm_batch *batch, txm_error *err);

/* Convert between a result and its compact form. The strings of an expanded result are borrowed: do not clear it. */
bool txm_item_take(txm_batch *batch, txm_item *item, const txm_result *result);
txm_result txm_item_expand(const txm_item *item);

/* Estimates what converting costs, from the header of the image. `threads` is the number of threads of the pool. */
txm_cost txm_cost_estimate(const char *path, const txm_item *item, const txm_settings *settings, unsigned threads);
/* Guesses the size of its tx file: how well an image of the same format is compressed says how well its pixels are. */
uint64_t txm_cost_tx_bytes(const txm_item *item, const txm_settings *settings);
/* Warns if the files that will be made do not fit on their disks. NO_MEMORY. */
txm_status txm_batch_check_room(txm_batch *batch, txm_error *err);

/* ---- shards ------------------------------------------------------------------------------------------------------ */

/* Shards divide a batch among machines that do not communicate. Each of them sees the same inputs and must compute the
 * same division, whatever the state of the tx files is at that time. It therefore depends only on the paths and on the
 * costs estimated from the images' headers. */

/* Assigns every item to a shard, 1 to options.shards, and fills in batch->list_key. Call it once, after all inputs were
 * looked at and txm_find_same_work has run. NO_MEMORY, INTERNAL. */
txm_status txm_shards_assign(txm_batch *batch, txm_error *err);

/* Whether this batch handles an item: all except those of other shards. */
bool txm_batch_is_mine(const txm_batch *batch, size_t index);

/* ---- lint: likely mistakes in an image or its settings ------------------------------------------------------------
 */

/* Returns findings, bits of txm_lint, from the name and the class of the colour space as stored in tx files. */
unsigned txm_lint_settings(const char *path, const char *detected, uint32_t width, uint32_t height);
/* Adds findings from the pixels to *findings. Reads until every suspicion is refuted, which for most images takes the
 * first rows; with `whole`, all of them, so that damage anywhere is a failure. Fails as reading does, and with
 * CANCELLED. `cancel` may be NULL. */
txm_status txm_lint_pixels(const txm_context *context, const char *path, const volatile int *cancel, bool whole,
                           unsigned *findings, txm_error *err);

/* ---- images that could not be read to their end -------------------------------------------------------------------
 */

/* A look at their headers does not show it, so planning would announce them again and again. */

/* Remembers a failure that says something about the image itself; ignores all others, and an image whose size or time
 * (s) is no longer the one that was read. It is lost without a message if it cannot be written. */
void txm_damaged_remember(const char *image, uint64_t read_bytes, int64_t read_time, const txm_error *failure);
/* Repeats the failure, if it is remembered for the image with this status; else OK. */
txm_status txm_damaged_recall(const char *image, const struct stat *st, txm_error *err);
/* Forgets it, because the image was read. */
void txm_damaged_forget(const char *image);
#endif
