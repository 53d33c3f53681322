/* SPDX-License-Identifier: Apache-2.0
 *
 * The state that the parts of a verification share: the file, what it states about itself, and its findings. Findings
 * have ids that never change meaning (finding_table.h). Level 0 goes through the stages of a conversion again, so that
 * a file is checked by the same code that makes it.
 */
#ifndef TXM_INSPECT_VERIFY_IMPL_H
#define TXM_INSPECT_VERIFY_IMPL_H
#include <stdatomic.h>
#include <string.h>

#include "mill/inspect/findings.h"
#include "mill/inspect/level_diff.h"
#include "txmill/color.h"
#include "txtile/describe.h"

/* The program that made a file decides how its levels were filtered, and how closely that can be reproduced. */
typedef enum txm_maker {
    TXM_MAKER_TXMILL,  /* identified by its metadata entry for the requested colour space: compared bit for bit */
    TXM_MAKER_BLENDER, /* compared within parity */
    TXM_MAKER_OTHER    /* OpenImageIO's maketx and similar programs, whose options decide the filter: not compared */
} txm_maker;

typedef struct txm_verification {
    txm_context *context;
    const char *path;
    const txm_verify_options *options;
    txm_collector *findings;
    txm_tx *tx;
    const txm_tx_info *info;
    txm_tx_description description;
    txm_maker maker;
    char *source;       /* path at which the source was found, NULL if it was not; owned */
    time_t source_time; /* valid if the source was found */
    char space[128];    /* the colour space in its name, and the alpha type; "" if it is not known */
    txm_alpha alpha;
    bool other_settings; /* settings that give this name were found, although the file states others */
    size_t
        first_finding; /* index of the first finding of this verification; the caller may have passed in older ones */
    bool regular;      /* all levels have the right sizes */
    /* The release of Blender whose pixels the file should have; `any_release`: it is unknown, so others are tried, and
     * unless that finds it out, release_doubt is a finding. */
    txm_blender release;
    bool any_release;
    char release_doubt[256];
    atomic_bool damaged[TXM_MAX_LEVELS]; /* a tile of the level cannot be decoded */
    atomic_uint_fast64_t tiles_done;     /* decoded, for the context's callback */
    uint64_t tiles;                      /* of all levels */
} txm_verification;

/* The checks, each of which adds findings. They fail if memory is exhausted, for I/O errors, and if work is cancelled.
 */
void txm_verify_header(txm_verification *v);                       /* structure, acceptance, section; sets `regular` */
txm_status txm_verify_origin(txm_verification *v, txm_error *err); /* name and source; sets `source` */
txm_status txm_verify_pixels(txm_verification *v, txm_error *err); /* tiles, level 0, levels, borders */
/* Decodes all tiles; with `expected`, a file of the same shape, it compares those that can be decoded with its own. */
txm_status txm_verify_tiles(txm_verification *v, txm_tx *expected, txm_error *err);
txm_status txm_verify_deep(txm_verification *v, txm_error *err); /* against the source */

/* Runs a check that compares pixels with those of v->release. If the release is unknown, others are tried until one
 * fits, which is a finding. The check adds a finding of `kind` if they differ. */
typedef txm_status txm_release_check(txm_verification *v, txm_error *err);
txm_status txm_verify_by_release(txm_verification *v, txm_release_check *check, enum txm_finding_number kind,
                                 txm_error *err);

/* How far samples of level 0 may be from those that the file was made from: Blender stores them with the bits of the
 * image, after it has taken the SHA-1, the average and the other levels. 0 if it cut off nothing. */
uint32_t txm_verify_narrowed(const txm_verification *v);

/* Removes temporary files of deep comparisons that killed processes left, on its first call. */
void txm_verify_sweep(void);

/* Whether the colour space that a file states denotes this space: by its class, or one of its names. */
bool txm_verify_is_space(const txm_verification *v, const txm_color_space *space, const char *detected);

/* Whether the settings in the file give its name for some absolute cache folder, whatever its path was. */
txm_status txm_name_search_places(txm_verification *v, bool *found, txm_error *err);

/* Adds a finding if a level differs from the expected one by more than its maker explains. Level 0 is not filtered, so
 * it must be identical. */
void txm_report_level(const txm_verification *v, enum txm_finding_number number, uint32_t level,
                      const txm_level_diff *difference);

/* Whether a failure says something about the file, and is a finding, rather than about this attempt to read it. */
bool txm_status_is_finding(txm_status status);

/* Finds the source of a tx file. If the tx file is in a blender_tx folder, it is the image of the right name beside
 * that folder, as for Cycles, if it exists; else the image at the stored path, if it has the name that the tx file is
 * named for; else the image beside the tx file's folder. Returns a new string, or NULL if there is none. *exhausted is
 * set if memory is exhausted; *failure is the errno that kept an image from being examined, and untouched otherwise. */
char *txm_locate_source(const char *tx_path, const char *stored, bool *exhausted, int *failure);
#endif
