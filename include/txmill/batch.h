/* SPDX-License-Identifier: Apache-2.0
 *
 * Many conversions at once: collecting inputs, planning, running.
 *
 *     txm_inputs_new .. txm_inputs_add ..   what to convert: files, folders, patterns, lists
 *     txm_rules_new  .. txm_rules_add  ..   which colour space and alpha go with which names
 *     txm_batch_new                         both, and how to run
 *     txm_batch_plan                        looks at every input: what would happen, why, at what cost
 *     txm_batch_run                         makes what is missing, biggest first, in parallel
 *
 * Ownership: inputs, rules and context must outlive the batch, and so must the strings in its options and settings.
 * Inputs and rules copy the strings that are passed to them. */
#ifndef TXMILL_BATCH_H
#define TXMILL_BATCH_H

#include <string.h>

#include "txmill/convert.h"
#include "txmill/rules.h"
#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* One image, and what the list, scene or caller that named it specified about it. Zero means "not specified". */
typedef struct txm_input {
    const char *path;
    const char *pattern;       /* the operand that it was found by, if that matches many files ("wood.<UDIM>.png") */
    const char *origin;        /* where it was named ("list.txt:12", a scene); NULL: the command line */
    const char *colorspace;    /* NULL: not specified */
    txm_alpha alpha;           /* DEFAULT: not specified */
    const char *working_space; /* scene-linear space of the scene; NULL: the context's */
    const char *cache_dir;     /* NULL: as in the batch's settings */
    const char *output;        /* path of the tx file; NULL: where Cycles looks for it */
    bool from_scene;           /* a scene named it; what a scene specifies is final, so rules do not apply */
    bool ruled;                /* rules were applied to it already, so the batch's are not */
    bool by_preset;            /* of these rules a preset decided, which only guesses from the name */
    uint32_t limit_px;         /* as in txm_settings; 0: not specified. Rules limit images of scenes too */
    const char *decided_by;    /* what decided colour space and alpha, for messages; NULL: its origin */
    txm_status status;         /* not OK: an argument that could not be read as an image; `message` says why */
    uint16_t subject_bytes, advice_at; /* parts of the message, as in txm_error */
    const char *message;
} txm_input;

/* The inputs of a batch, in the order in which they were added. For one thread at a time. */
typedef struct txm_inputs txm_inputs;

/* Adds the images of a Blender scene. The members origin, working_space and cache_dir of `settings` apply to all of the
 * scene's images; its path is ignored. Fails with NO_MEMORY and CONFIG only: what cannot be read becomes an input with
 * a status. */
typedef txm_status (*txm_inputs_scene)(void *user, txm_inputs *inputs, const char *path, const txm_input *settings,
                                       txm_error *err);

/* Options for collecting inputs. Callbacks run on the thread that adds inputs; each gets the `..._user` pointer that
 * belongs to it. */
typedef struct txm_inputs_options {
    size_t struct_size;         /* set by txm_inputs_options_init */
    bool recursive;             /* take folders with their subfolders; if false, a folder is an input that failed */
    bool tx_files;              /* in folders, take tx files instead of images, those in blender_tx folders included */
    const char *const *include; /* globs, NULL-terminated: what to take in folders; NULL: images by their extension */
    const char *const *exclude; /* globs of files and subfolders to leave out in folders; may be NULL */
    void (*empty)(void *user, const char *message); /* called for folders and lists without inputs; may be NULL */
    void *empty_user;
    txm_inputs_scene scene; /* called for files with the extension "blend" and for folders of scenes, txmill-scene(5);
                               NULL: these are treated as images */
    void *scene_user;
    const volatile int *cancel; /* stop waiting for a list once it is not 0; may be NULL */
    bool ptex_files;            /* with tx_files: take Ptex files too, recognised by their extension */
    const char *what; /* what the globs of `include` look for, for messages ("scene"); NULL: a user gave them */
} txm_inputs_options;

/* Initialises options with the defaults. */
static inline void txm_inputs_options_init(txm_inputs_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* `options` may be NULL; what it points at must outlive the inputs. USAGE, NO_MEMORY. */
TXM_API txm_status txm_inputs_new(const txm_inputs_options *options, txm_inputs **out, txm_error *err);
TXM_API void txm_inputs_free(txm_inputs **inputs); /* NULL-safe */

/* Adds what an argument names: a file, a folder, a pattern (<UDIM>, <UVTILE>, ####, %04d, <f>; unless a file has
 * exactly that name), or a list (@FILE, or @- or - for standard input). What cannot be read becomes an input with a
 * status: it is reported with the others, and the rest is still added. NO_MEMORY, and CANCELLED while a list was read.
 */
TXM_API txm_status txm_inputs_add(txm_inputs *inputs, const char *argument, txm_error *err);
/* Adds one entry as it is. NO_MEMORY, and USAGE for an unknown alpha type. */
TXM_API txm_status txm_inputs_add_entry(txm_inputs *inputs, const txm_input *entry, txm_error *err);

/* Marks an input as failed, for the reason in `failure`. NO_MEMORY, and USAGE for an index beyond the last. */
TXM_API txm_status txm_inputs_fail(txm_inputs *inputs, size_t index, const txm_error *failure, txm_error *err);

/* Replaces what is specified about an input: colour space, alpha type, limit, working space, cache folder, whether
 * rules apply, and what decided them. NO_MEMORY, and USAGE for an index beyond the last or an unknown alpha type. */
TXM_API txm_status txm_inputs_say(txm_inputs *inputs, size_t index, const txm_input *said, txm_error *err);

/* Inputs by index. The returned input belongs to `inputs`, and is valid until one is added or changed. */
TXM_API size_t txm_inputs_count(const txm_inputs *inputs);
TXM_API const txm_input *txm_inputs_at(const txm_inputs *inputs, size_t index); /* NULL beyond the last */

/* The number, 1001 to 9999, of the UDIM tile that an input is; 0 if it was not found by a UDIM pattern. */
TXM_API uint32_t txm_input_udim(const txm_input *input);

/* What rules (which may be NULL) decide about one image, whether they were applied to it already or not: *out is the
 * rule that matches, without a colour space or alpha type that its scene or list, or an explicit setting, decides.
 * Returns false if nothing is left for a rule to decide. */
TXM_API bool txm_rules_decide(const txm_rules *rules, const txm_input *input, const txm_settings *settings,
                              txm_rule *out);
/* Changes settings to those of one image, as a batch decides them: what its scene or list says comes first, then what
 * the settings ask for explicitly, then rules (which may be NULL), then the settings. The strings in *settings then
 * belong to the rules or the input. */
TXM_API void txm_rules_apply(const txm_rules *rules, const txm_input *input, txm_settings *settings);

/* ---- lint ------------------------------------------------------------------------------------------------------- */

/* Likely mistakes in the choice or content of an image; each is one bit. */
typedef enum txm_lint {
    TXM_LINT_DATA_AS_COLOR = 1, /* a normal or roughness map by its name, set to a colour space */
    TXM_LINT_COLOR_AS_DATA = 2, /* a colour map by its name, set to Non-Color */
    TXM_LINT_WIDE = 4,          /* 16 bits with the content of 8 */
    TXM_LINT_OPAQUE = 8,        /* alpha is 1 everywhere */
    TXM_LINT_GREY = 16,         /* three equal channels */
    TXM_LINT_LARGE = 32,        /* an edge is longer than 16384 pixels */
    TXM_LINT_END = 64
} txm_lint;

/* Stable name ("grey-rgb") and sentence of one finding. Never NULL. */
TXM_API const char *txm_lint_name(txm_lint finding);
TXM_API const char *txm_lint_text(txm_lint finding);

/* Looks for likely mistakes in an image that will be converted with a colour space (as in txm_settings): *findings
 * receives bits of txm_lint. The image is read until every suspicion is refuted, which for most images takes the first
 * rows. `cancel` may be NULL. Fails as opening and reading an image do, and with COLORSPACE and CANCELLED. */
TXM_API txm_status txm_lint_image(const txm_color_config *config, const char *path, const char *colorspace,
                                  const volatile int *cancel, unsigned *findings, txm_error *err);

/* ---- the batch -------------------------------------------------------------------------------------------------- */

enum { TXM_CONTENT_HEX = 65 }; /* SHA-256 in lower-case hex, and the NUL */

/* The expected cost of a conversion. */
typedef struct txm_cost {
    double megapixels;     /* millions of pixels in level 0 */
    uint64_t memory_bytes; /* peak of a process that makes this image alone, without a bound */
    double seconds;        /* time of one processor */
} txm_cost;

/* One input as planned or done. Pointers are valid during the callback that receives it. */
typedef struct txm_batch_file {
    size_t index; /* the input's index */
    const txm_input *input;
    const char *decided_by;   /* what chose colour space or alpha: a rule's glob and origin, a list; NULL: settings */
    const txm_result *result; /* meaningless when `err` holds a failure */
    const txm_error *err;     /* status TXM_OK: no failure */
    txm_cost cost;            /* zero if there is nothing to do */
    const txm_input *same_as; /* the input that makes the same tx file; NULL: none */
    unsigned lint;            /* findings, bits of txm_lint */
    unsigned shard;           /* the shard that it belongs to, from 1; 0: the batch is not divided */
    double weight_s;          /* its weight in the division: seconds that making it takes, whether needed or not */
    const char *content;      /* SHA-256 of the source; NULL unless options.content is set */
    txm_context *context;     /* the context that it is converted with, which has its config and working space */
    bool by_preset;           /* what decided is a preset of rules, which only guesses from the name */
} txm_batch_file;

/* The totals of a plan; its list_key is valid during the callback that receives it. */
typedef struct txm_batch_totals {
    size_t inputs;        /* number of inputs of this shard; all of them if the batch is not divided */
    size_t to_create;     /* of these, inputs whose tx file is missing or outdated */
    txm_cost cost;        /* sums; memory_bytes: the largest */
    size_t listed;        /* number of inputs of all shards together */
    const char *list_key; /* with shards: 40 hex digits, equal for runs that divide the same inputs; else "" */
    uint64_t tx_bytes;    /* what the files to create will take on the disk: a guess from the images' sizes */
} txm_batch_totals;

/* Callbacks of a batch. They may run on any thread, but never two at a time. Members may be NULL. */
typedef struct txm_batch_events {
    size_t struct_size; /* set by txm_batch_events_init */
    void *user;
    /* The plan is made. */
    void (*planned)(void *user, const txm_batch_totals *totals);
    /* One input is done: at planning if there is nothing to do, else when it was made or failed. */
    void (*done)(void *user, const txm_batch_file *file);
    /* A conversion begins; then, in steps of several rows, how many rows of level 0 were read. */
    void (*begin)(void *user, const txm_batch_file *file);
    void (*rows)(void *user, size_t index, uint32_t rows_done, uint32_t rows);
    void (*warn)(void *user, const char *message);
    /* While inputs are examined: how many of them were. */
    void (*examined)(void *user, size_t done, size_t inputs);
} txm_batch_events;

/* Initialises options with the defaults. */
static inline void txm_batch_events_init(txm_batch_events *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Options of a batch. The objects that it points to must outlive the batch, unless they are copied. */
typedef struct txm_batch_options {
    size_t struct_size;             /* set by txm_batch_options_init */
    const txm_settings *settings;   /* settings that an input does not specify itself; copied; NULL: the defaults */
    const txm_rules *rules;         /* may be NULL */
    const char *output;             /* where the tx file of a single input goes; may be NULL */
    bool force;                     /* make files again that are up to date */
    bool dry_run;                   /* only plan: `done` gets what would be made as TXM_OUTCOME_WOULD_CREATE */
    bool largest_first;             /* a dry run reports the inputs in the order in which they would be made */
    bool no_claims;                 /* do not keep other processes from making the same files */
    bool lint;                      /* also read images to look for likely mistakes; their names are always checked */
    bool deep;                      /* decode the tiles of files that are up to date, and make damaged ones again */
    bool content;                   /* compute the SHA-256 of sources when planning */
    const char *store;              /* folder of finished tx files to take from and add to; may be NULL */
    bool fail_fast;                 /* start nothing more after a failure */
    bool stages;                    /* time the stages of conversions */
    uint64_t max_memory_bytes;      /* bound for all conversions together; 0: no bound */
    unsigned shards;                /* number of parts that the inputs are divided into; 0: not divided */
    unsigned shard;                 /* the part to plan and make, 1 to `shards`; 0: all */
    const txm_batch_events *events; /* copied; may be NULL */
    /* One context for each input, derived from the batch's; an element that is NULL means the batch's own. The array
     * and the contexts must outlive the batch. NULL: the batch's own for all inputs. */
    txm_context *const *contexts;
    bool no_keys; /* as no_key in txm_convert_options */
    /* Not 0: images that would be made and that an earlier run of this user could not read fail, as they would in the
     * run. Planning also reads the others, if making all of them takes no longer than this. */
    double try_seconds;
    bool copies; /* copy fresh tx files from blender_tx to the cache folder of the settings instead of leaving them */
} txm_batch_options;

/* Initialises options with the defaults. */
static inline void txm_batch_options_init(txm_batch_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* It is planned with txm_batch_plan, then run with txm_batch_run. */
typedef struct txm_batch txm_batch;

/* `options` is copied; it may be NULL. USAGE, NO_MEMORY. */
TXM_API txm_status txm_batch_new(txm_context *context, const txm_inputs *inputs, const txm_batch_options *options,
                                 txm_batch **out, txm_error *err);
TXM_API void txm_batch_free(txm_batch **batch); /* NULL-safe */

/* Examines all inputs and makes the plan. A batch of one shard reports and makes the inputs of that shard only; how
 * inputs are divided depends on the inputs, not on their order, their tx files, or the host. Failures of single inputs
 * are reported to `done`. NO_MEMORY, CONFIG (a working space that the config lacks), CANCELLED. */
TXM_API txm_status txm_batch_plan(txm_batch *batch, txm_error *err);
/* Carries the plan out; call it once. Failures of single inputs are reported to `done`. NO_MEMORY, CANCELLED. */
TXM_API txm_status txm_batch_run(txm_batch *batch, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
