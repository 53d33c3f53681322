/* SPDX-License-Identifier: Apache-2.0
 *
 * Inspecting tx files: is a file whole and right, and is it what its name and its source say?
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

/* Notes say what could not be checked or is worth knowing; warnings and errors are findings that fail a file. */
typedef enum txm_severity { TXM_SEVERITY_NOTE = 0, TXM_SEVERITY_WARNING, TXM_SEVERITY_ERROR } txm_severity;

/* "note", "warning", "error". Never NULL. */
TXM_API const char *txm_severity_name(txm_severity severity);

/* Kinds of findings. Ids ("TXM-201") are stable: new ones are added, none changes its meaning. */
typedef struct txm_finding_kind {
    const char *id;
    txm_severity severity;
    const char *meaning; /* one sentence, no full stop */
} txm_finding_kind;

/* The table of all kinds, in the order of their ids; NULL beyond the last. */
TXM_API const txm_finding_kind *txm_finding_kind_at(size_t index);

/* One finding about a tx file. */
typedef struct txm_finding {
    const txm_finding_kind *kind;
    int level, tile_x, tile_y; /* place; -1 where the finding is about more than one */
    char text[480];            /* what was found, in one sentence */
} txm_finding;

enum { TXM_MAX_FINDINGS_A_KIND = 32 }; /* further ones of a kind are counted, not kept */

/* Zero-initialise before first use. */
typedef struct txm_findings {
    txm_finding *items;
    size_t count, left_out;
    size_t severities[3]; /* number of each severity, those left out included */
} txm_findings;

TXM_API void txm_findings_clear(txm_findings *findings); /* NULL-safe; zeroes */

/* How a tx file is verified; looked at during the call alone. */
typedef struct txm_verify_options {
    size_t struct_size;            /* set by txm_verify_options_init */
    bool deep;                     /* convert the source again and compare */
    bool use_only;                 /* only what decides whether Cycles uses the file: levels are not recomputed */
    bool no_decoding;              /* with use_only: tiles are not decoded either, so damage in them stays unseen */
    bool equiangular;              /* the renderer asks for that format where files hold it: Blender 5.2 does not */
    const char *source;            /* the source, where the path in the file does not lead to it; may be NULL */
    const struct txm_rules *rules; /* files must be made as these ask for; NULL, or none that matches: as they say */
    struct txm_verdict *verdict;   /* receives whether a render uses the file; may be NULL */
} txm_verify_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_verify_options_init(txm_verify_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Verifies one tx file on the context's threads. TXM_OK means that it was looked at, whatever was found; a damaged file
 * is a finding, not a failure. Fails when the file cannot be read at all (NOT_FOUND, DENIED, IO ...), memory is
 * exhausted, or work was cancelled. Memory is proportional to the width. *findings is added to. */
TXM_API txm_status txm_verify(txm_context *context, const char *path, const txm_verify_options *options,
                              txm_findings *findings, txm_error *err);

/* The verdict on one file: txm_verify, always with use_only. `options` may be NULL. As txm_verify. */
TXM_API txm_status txm_judge(txm_context *context, const char *path, const txm_verify_options *options,
                             txm_verdict *out, txm_error *err);

/* Settings that lead to a tx file's name. */
typedef struct txm_name_match {
    char colorspace[128]; /* as asked for: a name or alias of the config, "auto", or "data" for all data spaces */
    txm_alpha alpha;
    bool equiangular;
    bool absolute_dir;       /* made for an absolute cache folder: the source's place is in the name */
    char working_space[128]; /* "" for the context's own */
    char xyz_to_scene_linear[160];
} txm_name_match;

/* Which settings give the MD5 in the name of `tx_path`: tries the names, aliases and roles of the context's config, the
 * words data and auto, all alpha types and formats, other versions of Blender, common working spaces, and `xyz` (may be
 * NULL), the matrix that the file itself holds. `source` (may be NULL) is needed to try names for absolute cache
 * folders. *found is false when nothing leads there or the name is none of a tx file; *match means something only where
 * it is true. */
TXM_API txm_status txm_name_search(txm_context *context, const char *tx_path, const char *source, const char *xyz,
                                   txm_name_match *match, bool *found, txm_error *err);

/* How far one level of two files is apart. Values are compared as stored, integers as shares of their maximum; where
 * the channels differ in number, both count as RGBA. */
typedef struct txm_level_error {
    bool compared;                /* both have the level, in one size */
    uint32_t width[2], height[2]; /* px in either file, 0 where it lacks the level */
    uint64_t samples, different;
    double max, mean; /* absolute error */
    double psnr;      /* dB, against 1 for integers and the larger maximum for floats; infinite when nothing differs */
    uint32_t worst_x, worst_y; /* pixel of the largest error */
} txm_level_error;

/* How far two files are apart, level by level: `levels` elements of `level` count. `map` is owned, map_width by
 * map_height, rows from the top. */
typedef struct txm_difference {
    bool plain; /* one side is no pyramid: level 0 alone was compared */
    uint32_t levels;
    txm_level_error level[TXM_MAX_LEVELS];
    uint32_t tile_px; /* of the first file (64 for a plain image): tiles that the worst pixels lie in */
    /* Errors of level 0 for a picture: the largest one of each block of map_block squared pixels. NULL unless asked
     * for. */
    float *map;
    uint32_t map_width, map_height, map_block;
} txm_difference;

/* Compares two files: tx files level by level, a plain image (anything that can be converted) with level 0. A plain
 * image is taken as its decoder delivers it: neither its colour nor its alpha is converted. `with_map` asks for the
 * map. Fails when a file cannot be read. */
TXM_API txm_status txm_diff(txm_context *context, const char *a, const char *b, bool with_map, txm_difference *out,
                            txm_error *err);
TXM_API void txm_difference_clear(txm_difference *difference); /* NULL-safe; zeroes */

/* A tx file of the same image under another name. */
typedef struct txm_other_name {
    char *path;
    char difference[320]; /* how its settings differ from those asked for, in words */
} txm_other_name;

/* Other names that are kept; further ones are not looked for. */
enum { TXM_MAX_OTHER_NAMES = 16 };

/* Where Cycles looks for the tx file of an image, and in what state it is there: what is quick to know, since neither
 * the image nor tiles are decoded. Of `settings` colour space, alpha, format and cache folder count; those that ask for
 * Blender's defaults are looked up in the image's header. Fails only for problems with the image itself, and CONFIG
 * where the config has no role for it. Free the result with txm_found_clear. */
TXM_API txm_status txm_look_up(const txm_color_config *config, const char *image, const txm_settings *settings,
                               txm_found *out, txm_error *err);

/* The colour space, which belongs to the config, and alpha type that Blender sets when it loads an image: what DEFAULT
 * means. Either may be NULL. As opening an image; COLORSPACE when the config has no role for it. */
TXM_API txm_status txm_image_defaults(const txm_color_config *config, const char *image, const char **colorspace,
                                      txm_alpha *alpha, txm_error *err);

/* How txm_resolve_image looks at a tx file. */
typedef struct txm_resolve_options {
    size_t struct_size; /* set by txm_resolve_options_init */
    bool touch;         /* give an outdated tx file its image's time, if all else is right */
    bool deep;          /* decode tiles: damage in them stays unseen otherwise */
} txm_resolve_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_resolve_options_init(txm_resolve_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Where one version of Blender looks for an image's tx file, and what it finds. */
typedef struct txm_version_answer {
    txm_blender blender;
    char *path;
    txm_tx_state state; /* for versions other than the config's, damage is not looked for */
} txm_version_answer;

/* What Cycles would load for an image. What it points at is owned. */
typedef struct txm_resolution {
    txm_tx_state state;
    char *path;           /* that Cycles loads, or would look for */
    char *reason;         /* why it is outdated or unusable, or was not touched, "" otherwise */
    char *shows;          /* what Cycles does, as in txm_verdict */
    char colorspace[128]; /* that the name was made for: "auto" stays "auto" */
    txm_alpha alpha;
    time_t image_time, tx_time;                 /* tx_time: 0 where there is no tx file */
    bool touched;                               /* it was outdated by its time alone, and has the image's time now */
    txm_other_name others[TXM_MAX_OTHER_NAMES]; /* only when it is missing */
    size_t other_count;
    txm_version_answer *versions; /* one for each of txm_blender_versions, in that order */
    size_t version_count;
    uint64_t reserved[6];
} txm_resolution;

/* Which file Cycles would load for an image under these settings, and why; the verdict is that of txm_judge. `settings`
 * and `options` may be NULL: the defaults. To touch, deep verification must find nothing but the time. Fails for
 * problems with the image itself. */
TXM_API txm_status txm_resolve_image(txm_context *context, const char *image, const txm_settings *settings,
                                     const txm_resolve_options *options, txm_resolution *out, txm_error *err);
TXM_API void txm_resolution_clear(txm_resolution *resolution); /* NULL-safe; zeroes */

#ifdef __cplusplus
}
#endif
#endif
