/* SPDX-License-Identifier: Apache-2.0
 *
 * Converting one source image into the tx file that Cycles looks up.
 */
#ifndef TXMILL_CONVERT_H
#define TXMILL_CONVERT_H

#include <string.h>
#include <time.h>

#include "txmill/color.h"
#include "txtile/export.h"
#include "txtile/pixel.h"
#include "txtile/settings.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What many conversions share: threads, colour config, devices, memory budget. */
typedef struct txm_context txm_context;

/* How much a log message matters. */
typedef enum txm_log_level { TXM_LOG_LEVEL_WARNING, TXM_LOG_LEVEL_INFO } txm_log_level;
/* May be called from any thread. */
typedef void (*txm_log_fn)(void *user, txm_log_level level, const char *message);

/* What a context may use, and whom it tells. */
typedef struct txm_context_options {
    size_t struct_size;           /* set by txm_context_options_init */
    unsigned threads;             /* threads that compute, the caller included; 0: all that this process may use */
    uint64_t max_memory_bytes;    /* 0: no bound */
    const char *ocio_path;        /* as --ocio */
    const char *working_space;    /* as --working-space */
    const char *device;           /* "auto", "cpu", "cuda", "cuda:N"; NULL: auto */
    uint64_t device_memory_bytes; /* as --device-memory; 0: no bound but the device's own */
    txm_log_fn log;               /* may be NULL */
    void *log_user;
    /* May be NULL: work stops with TXM_STATUS_CANCELLED soon after *cancel becomes non-zero. Read atomically: set it
     * with txm_cancel_request or another atomic store. */
    const volatile int *cancel;
    bool ignore_environment; /* do not look at $OCIO */
    txm_blender blender;     /* as --blender */
} txm_context_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_context_options_init(txm_context_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Asks for the work of a context to stop. From any thread; safe in signal handlers. */
TXM_API void txm_cancel_request(volatile int *cancel);

/* `options` may be NULL. What its strings say is copied; log and cancel must outlive the context. USAGE, NO_MEMORY,
 * CONFIG, COLORSPACE, DEVICE (a device that was asked for by name). */
TXM_API txm_status txm_context_new(const txm_context_options *options, txm_context **out, txm_error *err);
TXM_API void txm_context_free(txm_context **context); /* NULL-safe */

/* A context that differs in the working space alone and shares the threads of `base`, which must outlive it. CONFIG,
 * COLORSPACE, NO_MEMORY. */
TXM_API txm_status txm_context_derive(const txm_context *base, const char *working_space, txm_context **out,
                                      txm_error *err);

/* A context with another OpenColorIO config, too: `ocio_path` and `working_space` as in txm_context_options, each may
 * be NULL. As txm_context_derive. */
TXM_API txm_status txm_context_derive_config(const txm_context *base, const char *ocio_path, const char *working_space,
                                             txm_context **out, txm_error *err);
/* The same for another version of Blender, too. */
TXM_API txm_status txm_context_derive_blender(const txm_context *base, const char *ocio_path, const char *working_space,
                                              txm_blender blender, txm_context **out, txm_error *err);

/* The context's colour config. It lives as long as the context does. */
TXM_API const txm_color_config *txm_context_color(const txm_context *context);

/* Calls work(user, 0) to work(user, count - 1) on the context's threads, the caller's included, in any order, and
 * returns when all are done. `work` may call whatever takes the context: threads that are free share its work, and no
 * more of them compute than the context has. */
TXM_API void txm_context_run(txm_context *context, size_t count, void (*work)(void *user, size_t index), void *user);
/* How many threads compute, the caller's included. */
TXM_API unsigned txm_context_threads(const txm_context *context);

/* For programs that end while conversions run, in a handler of SIGINT or SIGTERM: removes every temporary file of this
 * process. Async-signal-safe. */
TXM_API void txm_remove_temporaries(void);
/* OpenColorIO does not survive lack of memory: it takes it for a damaged config, reads through NULL, or throws where
 * C++ aborts. A program that says so at its start has `end` called instead, on the thread that it happens on, to end
 * the process in its own way. Without that the library installs nothing. */
TXM_API void txm_before_abort(void (*end)(bool lacks_memory));

/* What became of a conversion that did not fail. */
typedef enum txm_outcome {
    TXM_OUTCOME_CREATED,      /* written */
    TXM_OUTCOME_UP_TO_DATE,   /* a fresh tx file is there */
    TXM_OUTCOME_IS_TX,        /* the input is a valid tx file itself and was left alone */
    TXM_OUTCOME_USED_AS_IS,   /* Cycles uses the source itself (1x1 images) */
    TXM_OUTCOME_WOULD_CREATE, /* dry run */
    TXM_OUTCOME_SAME          /* of a batch: another input makes this tx file */
} txm_outcome;

enum { TXM_KEY_HEX = 41 }; /* a settings key: 40 hex digits and the NUL */

/* Seconds of CPU time by stage; collected when stages are asked for. */
typedef struct txm_stage_seconds {
    double decode, conform, color, pyramid, hash, encode, borders, write;
} txm_stage_seconds;

/* What a conversion made or found: the tx file, how it was made, and its image (level 0, px). */
typedef struct txm_result {
    txm_outcome outcome;
    char *tx_path;        /* owned by the result */
    char colorspace[128]; /* as asked for after defaults were resolved; "auto" stays "auto" */
    char detected[128];   /* class name or space, as stored in the file */
    txm_alpha alpha;      /* resolved */
    uint32_t width, height, levels, channels;
    txm_type type;
    bool mono, constant;
    uint64_t source_bytes, tx_bytes, section_bytes;
    double seconds; /* wall */
    txm_stage_seconds stages;
    char reader[24];  /* which reader served the source */
    char reason[256]; /* why it was (or would be) made: "missing", "outdated: ...", "forced" */
    bool otherwise;   /* up to date, but made with other settings than were asked for: `reason` says which */
    /* Equal exactly where settings give the same pixels of an image; "" when it was not converted here. */
    char settings_key[TXM_KEY_HEX];
    char device[16]; /* what computed its levels: "cpu", "cuda:0"; "" when it was not converted here */
    char via[16];    /* how it came about: "converted"; from a batch's store: "reflink", "hardlink", "copy"; else "" */
    uint64_t reserved[8];
} txm_result;

/* How one conversion runs. */
typedef struct txm_convert_options {
    size_t struct_size; /* set by txm_convert_options_init */
    const char *output; /* write exactly here instead of the place that Cycles looks at; may be NULL */
    bool force;         /* write even if fresh */
    bool dry_run;
    bool stages; /* time the stages */
    /* Progress, may be NULL: rows of level 0 done so far of `rows`. Called from any thread. */
    void (*progress)(void *user, uint32_t rows_done, uint32_t rows);
    void *progress_user;
} txm_convert_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_convert_options_init(txm_convert_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Converts `source`; `settings` and `options` may be NULL: the defaults. On failure nothing is published, an existing
 * tx file is untouched and *result is zero. Thread-safe: any number of conversions may share a context. Free the result
 * with txm_result_clear. */
TXM_API txm_status txm_convert(txm_context *context, const char *source, const txm_settings *settings,
                               const txm_convert_options *options, txm_result *result, txm_error *err);
TXM_API void txm_result_clear(txm_result *result); /* NULL-safe; zeroes */

#ifdef __cplusplus
}
#endif
#endif
