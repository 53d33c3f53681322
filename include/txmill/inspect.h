/* SPDX-License-Identifier: Apache-2.0
 *
 * Inspecting tx files: whether a file is intact, whether it matches its name and its source, and whether Cycles uses
 * it.
 */
#ifndef TXMILL_INSPECT_H
#define TXMILL_INSPECT_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "txmill/convert.h"
#include "txtile/export.h"
#include "txtile/name.h"
#include "txtile/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Notes say what could not be checked or is worth knowing; a file with warnings or errors fails verification. */
typedef enum txm_severity { TXM_SEVERITY_NOTE = 0, TXM_SEVERITY_WARNING, TXM_SEVERITY_ERROR } txm_severity;

/* "note", "warning", "error". Never NULL. */
TXM_API const char *txm_severity_name(txm_severity severity);

/* A kind of finding. Ids ("TXM-201") are stable: later versions add new ones and change the meaning of none. */
typedef struct txm_finding_kind {
    const char *id;
    txm_severity severity;
    const char *meaning; /* one sentence without its full stop */
} txm_finding_kind;

/* The table of all kinds, in the order of their ids; NULL beyond the last. */
TXM_API const txm_finding_kind *txm_finding_kind_at(size_t index);

/* One finding about a tx file. */
typedef struct txm_finding {
    const txm_finding_kind *kind;
    int level, tile_x, tile_y; /* the place; -1 if the finding is about several */
    char text[480];            /* what was found, in one sentence */
} txm_finding;

enum { TXM_MAX_FINDINGS_A_KIND = 32 }; /* more findings of one kind are counted, but not kept */

/* The findings about a file. Zero-initialise it before the first use. */
typedef struct txm_findings {
    txm_finding *items;
    size_t count, left_out;
    size_t severities[3]; /* number of each severity, those left out included */
} txm_findings;

TXM_API void txm_findings_clear(txm_findings *findings); /* NULL-safe; zeroes */

/* Options for verifying a tx file. They are read during the call only. */
typedef struct txm_verify_options {
    size_t struct_size;            /* set by txm_verify_options_init */
    bool deep;                     /* convert the source again and compare the results */
    bool use_only;                 /* check only what decides whether Cycles uses the file: levels are not recomputed */
    bool no_decoding;              /* with use_only: tiles are not decoded either, so damage in them is not found */
    bool equiangular;              /* the renderer looks for equiangular tx files; Blender 5.2 does not */
    const char *source;            /* the source; NULL: the path that the file stores */
    const struct txm_rules *rules; /* settings that the file must have been made with; NULL, or no rule matches: any */
    struct txm_verdict *verdict;   /* receives whether a render uses the file; may be NULL */
    const struct txm_rules *usual; /* settings that are usual for names of images: a file with others, which a scene may
                                      use, gets a note unless `rules` are given; may be NULL */
    const struct txm_rules *limits; /* the size limits that the settings set, with which a file is compared if one is
                                       for its image; may be NULL */
} txm_verify_options;

/* Initialises options with the defaults. */
static inline void txm_verify_options_init(txm_verify_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Verifies one tx file on the context's threads and adds to *findings. TXM_OK means that the file was checked, whatever
 * was found: damage is a finding, not a failure. Fails if the file cannot be read at all (NOT_FOUND, DENIED, IO and
 * others), memory is exhausted, or work was cancelled. The memory that it takes is proportional to the image's width.
 */
TXM_API txm_status txm_verify(txm_context *context, const char *path, const txm_verify_options *options,
                              txm_findings *findings, txm_error *err);

/* The verdict on one file: txm_verify with use_only set. `options` may be NULL. Failures are as those of txm_verify. */
TXM_API txm_status txm_judge(txm_context *context, const char *path, const txm_verify_options *options,
                             txm_verdict *out, txm_error *err);

/* Settings that give a tx file its name. */
typedef struct txm_name_match {
    char colorspace[128]; /* a name or alias of the config, "auto", or "data" for all data spaces */
    txm_alpha alpha;
    bool equiangular;
    bool absolute_dir;       /* made for an absolute cache folder: the source's folder is part of the name */
    char working_space[128]; /* "" for the context's own */
    char xyz_to_scene_linear[160];
} txm_name_match;

/* Finds settings that give the MD5 in the name of `tx_path`. It tries the names, aliases and roles of the context's
 * config, the words data and auto, all alpha types and formats, other versions of Blender, common working spaces, and
 * `xyz` (may be NULL), the matrix that the file itself holds. `source` (may be NULL) is needed to try names for
 * absolute cache folders. *found is false if no settings give that MD5 or the name is not that of a tx file; *match is
 * valid only if it is true. */
TXM_API txm_status txm_name_search(txm_context *context, const char *tx_path, const char *source, const char *xyz,
                                   txm_name_match *match, bool *found, txm_error *err);

/* How much two files differ in one level. Values are compared as stored, integers divided by their maximum; if the
 * numbers of channels differ, both files are compared as RGBA. */
typedef struct txm_level_error {
    bool compared;                /* both files have the level, in the same size */
    uint32_t width[2], height[2]; /* px in each file, 0 if it lacks the level */
    uint64_t samples, different;
    double max, mean; /* absolute error */
    double psnr;      /* dB, relative to 1 for integers and to the larger maximum for floats; infinite if equal */
    uint32_t worst_x, worst_y; /* pixel of the largest error */
} txm_level_error;

/* The differences between two files, level by level; the first `levels` elements of `level` are valid. */
typedef struct txm_difference {
    bool plain;      /* one of the files is a plain image: only level 0 was compared */
    uint32_t levels; /* the first ones of images of more than 131071 px, of which the others are a few pixels */
    txm_level_error level[TXM_MAX_LOOKUP_LEVELS];
    uint32_t tile_px; /* tile edge of the first file (64 for a plain image), to name the tile of the worst pixel */
    /* Errors of level 0 as a picture of map_width x map_height, rows from the top: each is the largest one of a block
     * of map_block x map_block pixels. Owned; NULL unless requested. */
    float *map;
    uint32_t map_width, map_height, map_block;
} txm_difference;

/* Compares two files: tx files level by level; a plain image (anything that can be converted) is compared with level 0.
 * A plain image is taken as its decoder delivers it: neither its colour nor its alpha is converted. `with_map` requests
 * the map. Fails if a file cannot be read. Free the result with txm_difference_clear. */
TXM_API txm_status txm_diff(txm_context *context, const char *a, const char *b, bool with_map, txm_difference *out,
                            txm_error *err);
TXM_API void txm_difference_clear(txm_difference *difference); /* NULL-safe; zeroes */

/* A tx file of the same image under another name. */
typedef struct txm_other_name {
    char *path;
    char difference[320]; /* how its settings differ from the requested ones, in words */
} txm_other_name;

/* The most other names that are listed; the search ends there. */
enum { TXM_MAX_OTHER_NAMES = 16 };

/* Finds out where Cycles looks for the tx file of an image, and in what state that file is. This is quick, because
 * neither the image nor tiles are decoded. Of `settings`, only colour space, alpha, format and cache folder count;
 * Blender's defaults are found from the image's header. Fails only for problems with the image itself, and with CONFIG
 * if the config lacks a role for it. Free the result with txm_found_clear. */
TXM_API txm_status txm_look_up(const txm_color_config *config, const char *image, const txm_settings *settings,
                               txm_found *out, txm_error *err);

/* The colour space, a string of the config, and alpha type that Blender sets when it loads an image: the meaning of the
 * defaults in txm_settings. Either pointer may be NULL. Fails as opening an image does, and with COLORSPACE if the
 * config lacks a role for it. */
TXM_API txm_status txm_image_defaults(const txm_color_config *config, const char *image, const char **colorspace,
                                      txm_alpha *alpha, txm_error *err);

/* Options of txm_resolve_image. */
typedef struct txm_resolve_options {
    size_t struct_size; /* set by txm_resolve_options_init */
    bool refresh;       /* give an outdated tx file its image's modification time, if nothing else is wrong */
    bool deep;          /* decode tiles: otherwise damage in them is not found */
    /* If the tx file is missing, rename the one that the image had under a former name, if it has the same pixels. */
    bool adopt;
} txm_resolve_options;

/* Initialises options with the defaults. */
static inline void txm_resolve_options_init(txm_resolve_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Where one version of Blender looks for an image's tx file, and what it finds. */
typedef struct txm_version_answer {
    txm_blender blender;
    char *path;
    txm_tx_state state; /* damage is looked for only in the file of the config's version */
} txm_version_answer;

/* The file that Cycles would load for an image. All pointers are owned. */
typedef struct txm_resolution {
    txm_tx_state state;
    char *path; /* the file that Cycles loads, or would look for */
    char
        *reason; /* why the tx file is outdated or unusable, or was not refreshed, or what is uncertain; "" otherwise */
    char *shows; /* what Cycles does, as in txm_verdict */
    char colorspace[128]; /* the colour space in the name: "auto" stays "auto" */
    txm_alpha alpha;
    time_t image_time, tx_time;                 /* modification times; tx_time is 0 if there is no tx file */
    bool refreshed;                             /* it was outdated by its time only, and now has the image's time */
    txm_other_name others[TXM_MAX_OTHER_NAMES]; /* filled only if the tx file is missing */
    size_t other_count;
    txm_version_answer *versions; /* one for each of txm_blender_versions, in that order */
    size_t version_count;
    /* Bit i is set if others[i] differs in settings that `difference` lists, such as "alpha type none, not straight",
     * and in the second, if its colour space is among them. */
    uint32_t other_settings, other_spaces;
    bool harmless; /* what Cycles shows is right, and takes only longer */
    bool adopted;  /* it was missing, and `former` was renamed; its pixels are those of the image */
    /* The tx file that a missing one seems to have been before its image was renamed: it is named for an image that is
     * gone, and has the settings, size and time of this one. NULL: none. */
    char *former;
    uint64_t reserved[3];
} txm_resolution;

/* Finds the file that Cycles would load for an image under these settings, and why; the verdict is that of txm_judge.
 * `settings` and `options` may be NULL, which means the defaults. A file is refreshed only if its image has the content
 * of which it was made. If the file does not record that, or `deep` is set, deep verification has to find nothing wrong
 * but the time. Fails for problems with the image itself. Free the result with txm_resolution_clear. */
TXM_API txm_status txm_resolve_image(txm_context *context, const char *image, const txm_settings *settings,
                                     const txm_resolve_options *options, txm_resolution *out, txm_error *err);
TXM_API void txm_resolution_clear(txm_resolution *resolution); /* NULL-safe; zeroes */

/* Finds the other files of many images whose tx files are missing. The folders are listed once; files that appear in
 * them later are not found. For one thread at a time. `new` returns NULL if memory is exhausted; `free` is NULL-safe.
 */
typedef struct txm_relatives txm_relatives;
TXM_API txm_relatives *txm_relatives_new(void);
TXM_API void txm_relatives_free(txm_relatives **relatives);

/* Finds what txm_resolve_image finds beside the state of a missing tx file: `others` and `former`, the latter without
 * adopting it. `result` is that of a dry run of txm_convert for this image, in which its tx file is MISSING; the image
 * is not opened again. `settings` are those of the dry run; NULL: the defaults. Only these members, path and state of
 * *out are set; free it with txm_resolution_clear. IO if a folder cannot be listed; NO_MEMORY. */
TXM_API txm_status txm_relatives_find(txm_relatives *relatives, txm_context *context, const char *image,
                                      const txm_settings *settings, const txm_result *result, txm_resolution *out,
                                      txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
