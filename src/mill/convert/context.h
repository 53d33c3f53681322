/* SPDX-License-Identifier: Apache-2.0
 * The state that conversions share. */
#ifndef TXM_CONVERT_CONTEXT_H
#define TXM_CONVERT_CONTEXT_H
#include "base/pool.h"
#include "mill/convert/gpus.h"
#include "tile/ops/ops.h"
#include "txmill/color.h"
#include "txmill/convert.h"

struct txm_context {
    txm_pool *pool;
    txm_color_config *color;
    const txm_ops *ops;
    txm_gpus *gpus; /* NULL: the CPU does everything */
    uint64_t max_memory_bytes;
    txm_log_fn log;
    void *log_user;
    void (*part)(void *user, uint64_t done, uint64_t parts); /* may be NULL */
    void *part_user;
    const volatile int *cancel;
    char *ocio_path; /* the path that was passed in, for derived contexts; may be NULL */
    bool ignore_environment, borrows_pool, whole_content;
};

void txm_context_log(const txm_context *context, txm_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says that so many files are to be converted (0: it is not known), and has spare threads begin others while some wait
 * for devices. Returns the number that may be begun at once. */
size_t txm_context_expect(txm_context *context, size_t files);

/* The context's threads, which live as long as it does; NULL for a context that is NULL. */
txm_pool *txm_context_pool(txm_context *context);

#endif
