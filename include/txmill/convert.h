/* SPDX-License-Identifier: Apache-2.0
 *
 * Converting one source image into the tx file for which Cycles looks.
 */
#ifndef TXMILL_CONVERT_H
#define TXMILL_CONVERT_H

#include <string.h>
#include <time.h>

#include "txmill/color.h"
#include "txtile/export.h"
#include "txtile/name.h"
#include "txtile/pixel.h"
#include "txtile/settings.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context has what many conversions share: threads, colour config, devices, memory budget. */
typedef struct txm_context txm_context;

/* The importance of a log message. */
typedef enum txm_log_level { TXM_LOG_LEVEL_WARNING, TXM_LOG_LEVEL_INFO } txm_log_level;
/* May be called from any thread. */
typedef void (*txm_log_fn)(void *user, txm_log_level level, const char *message);

/* The resources of a context, and its log. */
typedef struct txm_context_options {
    size_t struct_size; /* set by txm_context_options_init */
    unsigned
        threads; /* number of threads that compute, the caller's included; 0: one per CPU that this process may use */
    uint64_t max_memory_bytes;    /* 0: no bound */
    const char *ocio_path;        /* as in txm_color_options */
    const char *working_space;    /* as --working-space; NULL: the config's own */
    const char *device;           /* "auto", "cpu", "cuda", "cuda:N"; NULL: auto */
    uint64_t device_memory_bytes; /* as --device-memory; 0: no bound but the device's own */
    txm_log_fn log;               /* may be NULL */
    void *log_user;
    /* Work stops with TXM_STATUS_CANCELLED soon after *cancel becomes non-zero. It is read atomically: set it with
     * txm_cancel_request or another atomic store. May be NULL. */
    const volatile int *cancel;
    bool ignore_environment; /* as in txm_color_options */
    txm_blender blender;     /* as --blender */
    /* How much of the file at hand is examined: parts (rows, tiles) that are done, and all of them. Called now and
     * then, on any thread, by functions that read all pixels of one image or tx file; a conversion has a callback of
     * its own. `part_user` must outlive the context. May be NULL. */
    void (*part)(void *user, uint64_t done, uint64_t parts);
    void *part_user;
    /* Compares the content of images with that of which their tx files were made, where the times are equal; otherwise
     * only their sizes are compared. */
    bool content;
} txm_context_options;

/* Initialises options with the defaults. */
static inline void txm_context_options_init(txm_context_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Sets *cancel, so that the work of a context stops. May be called on any thread and in signal handlers. */
TXM_API void txm_cancel_request(volatile int *cancel);

/* `options` may be NULL. Its strings are copied; log_user and cancel must outlive the context. USAGE, NO_MEMORY,
 * CONFIG, COLORSPACE, DEVICE (a device that is named in the options cannot be used). */
TXM_API txm_status txm_context_new(const txm_context_options *options, txm_context **out, txm_error *err);
TXM_API void txm_context_free(txm_context **context); /* NULL-safe */

/* Makes a context that differs from `base` in its working space alone. It shares the threads of `base`, which must
 * outlive it. CONFIG, COLORSPACE, NO_MEMORY. */
TXM_API txm_status txm_context_derive(const txm_context *base, const char *working_space, txm_context **out,
                                      txm_error *err);

/* The same with another OpenColorIO config too: `ocio_path` and `working_space` are as in txm_context_options; each may
 * be NULL. */
TXM_API txm_status txm_context_derive_config(const txm_context *base, const char *ocio_path, const char *working_space,
                                             txm_context **out, txm_error *err);
/* The same for another version of Blender too. */
TXM_API txm_status txm_context_derive_blender(const txm_context *base, const char *ocio_path, const char *working_space,
                                              txm_blender blender, txm_context **out, txm_error *err);

/* The context's colour config. It lives as long as the context does. */
TXM_API const txm_color_config *txm_context_color(const txm_context *context);

/* Calls work(user, 0) to work(user, count - 1) on the context's threads, the caller's included, in any order, and
 * returns when all are done. `work` may itself call functions that take the context: idle threads share that work, and
 * the number of threads that compute never exceeds the context's. */
TXM_API void txm_context_run(txm_context *context, size_t count, void (*work)(void *user, size_t index), void *user);
/* The number of threads that compute, the caller's included. */
TXM_API unsigned txm_context_threads(const txm_context *context);

/* Removes every temporary file of this process and its claims, and ends its decoders and encoders that are at work, at
 * which the functions that wait for them fail with CANCELLED. For a program that ends while conversions run, to call
 * in its handler of SIGINT, SIGTERM, SIGHUP or SIGXCPU. Async-signal-safe. A program should ignore SIGXFSZ and SIGPIPE:
 * the functions then fail with the reason. */
TXM_API void txm_remove_temporaries(void);
/* Sets a function to call before the process would abort inside OpenColorIO, which does not survive lack of memory: it
 * reports a damaged config, reads through NULL, or throws where C++ aborts. `end` is called on the thread that failed,
 * and ends the process in the program's own way. Call this before other threads start. If it is never called, the
 * library installs no handlers. Any other exception that nobody catches ends the process in the same way, with
 * lacks_memory = false. */
TXM_API void txm_before_abort(void (*end)(bool lacks_memory));
/* For `end`: the text of the exception that nobody caught, "" if there is none. Never NULL. */
TXM_API const char *txm_abort_reason(void);

/* The outcome of a conversion that did not fail. */
typedef enum txm_outcome {
    TXM_OUTCOME_CREATED,      /* written */
    TXM_OUTCOME_UP_TO_DATE,   /* the tx file exists and is fresh */
    TXM_OUTCOME_IS_TX,        /* the input is itself a valid tx file and was left alone */
    TXM_OUTCOME_USED_AS_IS,   /* Cycles uses the source itself (1x1 images) */
    TXM_OUTCOME_WOULD_CREATE, /* dry run */
    TXM_OUTCOME_SAME          /* in a batch, another input makes this tx file */
} txm_outcome;

enum { TXM_KEY_HEX = 41 }; /* a settings key: 40 hex digits and the NUL */

/* Seconds of CPU time by stage; measured if txm_convert_options.stages is set. */
typedef struct txm_stage_seconds {
    double decode, conform, color, pyramid, hash, encode, borders, write;
} txm_stage_seconds;

/* The result of a conversion: the tx file, how it was made, and its image. */
typedef struct txm_result {
    txm_outcome outcome;
    char *tx_path;                            /* owned by the result */
    char colorspace[128];                     /* as requested, with defaults resolved; "auto" stays "auto" */
    char detected[128];                       /* class name or space, as stored in the file */
    txm_alpha alpha;                          /* resolved */
    uint32_t width, height, levels, channels; /* width and height of level 0, px */
    txm_type type;
    bool mono, constant; /* stored as one channel because it is grey; all pixels are equal */
    uint64_t source_bytes, tx_bytes, section_bytes;
    double seconds; /* wall */
    txm_stage_seconds stages;
    char reader[24]; /* name of the reader that decoded the source */
    /* Why it was (or would be) made: "missing", "outdated: ...", "forced". Of a file that is up to date: what is
     * uncertain about it, such as the release of Blender that made it; "" if there is nothing to say. */
    char reason[256];
    bool otherwise; /* up to date, but made with other settings than requested: `reason` says which */
    /* The keys of two conversions of an image are equal exactly if their settings give the same pixels; "" if this call
     * did not convert it. */
    char settings_key[TXM_KEY_HEX];
    char device[16]; /* what computed its levels: "cpu", "cuda:0"; "" if this call did not convert it */
    char via[16]; /* how the file was made: "converted"; from a batch's store or another folder: "reflink", "hardlink",
                     "copy"; else "" */
    char *shows;  /* what Cycles does, as in txm_verdict; NULL: not known; owned by the result */
    uint64_t reader_bytes; /* memory that reading the image takes, if that is more than some rows of it; else 0 */
    char *judged;          /* why the tx file has its state, as the reason of txm_found; NULL: no reason; owned */
    int64_t image_time;    /* modification time of the image, s; 0: the image was not opened */
    txm_tx_state state; /* the state in which the tx file was found, as in txm_found; FRESH if it was not looked for */
    bool harmless;      /* what Cycles shows of a file that is not fresh is right, and takes only longer */
    uint32_t image_width, image_height; /* px; 0 if the image was not opened, and its tx file was limited in size */
    uint64_t reserved[2];
} txm_result;

/* Options for one conversion. */
typedef struct txm_convert_options {
    size_t struct_size; /* set by txm_convert_options_init */
    const char *output; /* path to write instead of the one that Cycles looks for; may be NULL */
    bool force;         /* convert even if the tx file is fresh */
    bool dry_run;       /* write nothing: say what would be done */
    bool stages;        /* measure the stages */
    /* Reports progress: rows_done of the `rows` of level 0 are done. Called on any thread; may be NULL. */
    void (*progress)(void *user, uint32_t rows_done, uint32_t rows);
    void *progress_user;
    /* The settings key of a file that is up to date is not needed. Images of formats that need a slow library are then
     * not opened if their tx files say enough. */
    bool no_key;
    /* A fresh tx file that Cycles finds in blender_tx counts as missing in the cache folder of the settings. A batch
     * then copies it there. */
    bool copies;
} txm_convert_options;

/* Initialises options with the defaults. */
static inline void txm_convert_options_init(txm_convert_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Converts `source`. `settings` and `options` may be NULL, which means the defaults. On failure an existing tx file is
 * untouched, no new one appears, and *result is zero. A tx file that cannot be examined for a cause that may pass is a
 * failure too, unless `force` is set. Thread-safe: any number of conversions may share a context. Free the result with
 * txm_result_clear. */
TXM_API txm_status txm_convert(txm_context *context, const char *source, const txm_settings *settings,
                               const txm_convert_options *options, txm_result *result, txm_error *err);
TXM_API void txm_result_clear(txm_result *result); /* NULL-safe; zeroes */

#ifdef __cplusplus
}
#endif
#endif
