/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of a verification share: the file, what it says of itself, and where findings go.
 *
 * The room src/mill/inspect asks questions of finished files, through the readers that everybody uses: verify (is it
 * whole, and what its name and source say), diff (how far are two files apart), resolve (what would Cycles load).
 * Answers are findings with ids that never change meaning (finding_table.h) and one verdict. Level 0 goes through the
 * stages of a conversion again, so that a file is judged by the code that would make it.
 */
#ifndef TXM_INSPECT_VERIFY_IMPL_H
#define TXM_INSPECT_VERIFY_IMPL_H
#include <stdatomic.h>
#include <string.h>

#include "mill/inspect/findings.h"
#include "mill/inspect/level_diff.h"
#include "txmill/color.h"
#include "txtile/describe.h"

/* Who made a file decides how its levels were filtered, and how exactly we know it. */
typedef enum txm_maker {
    TXM_MAKER_TXMILL,  /* recognised by the metadata word for the requested colour space: compared bit for bit */
    TXM_MAKER_BLENDER, /* compared within parity */
    TXM_MAKER_OTHER    /* OpenImageIO's maketx and its kin filter as their options say: not compared */
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
    char *source;                        /* where the source was found, NULL if it was not; owned */
    time_t source_time;                  /* where it was found */
    bool asked_for;                      /* settings are known that lead to the name, although others are inside */
    size_t first_finding;                /* of this verification: the caller may have had some before */
    bool regular;                        /* levels are as tall and wide as they must be */
    atomic_bool damaged[TXM_MAX_LEVELS]; /* a tile of the level cannot be decoded */
} txm_verification;

/* Each adds what it finds. They fail for lack of memory, for I/O errors, and when work is cancelled. */
txm_status txm_verify_header(txm_verification *v, txm_error *err); /* structure, acceptance, section; sets `regular` */
txm_status txm_verify_origin(txm_verification *v, txm_error *err); /* name and source; sets `source` */
txm_status txm_verify_pixels(txm_verification *v, txm_error *err); /* tiles, level 0, levels, borders */
txm_status txm_verify_decoding(txm_verification *v, txm_error *err); /* tiles alone */
txm_status txm_verify_deep(txm_verification *v, txm_error *err);     /* against the source */

/* The verdict, once everything was found. */
txm_status txm_verify_decide(const txm_verification *v, txm_verdict *out, txm_error *err);

/* Removes what killed processes left of deep comparisons, the first time that it is called. */
void txm_verify_sweep(void);

/* Whether what a file says of its colour space is said of this space: its class, or one of its names. */
bool txm_verify_is_space(const txm_verification *v, const txm_color_space *space, const char *detected);

/* Whether the settings that the file holds lead to its name for some absolute cache folder, wherever that was. */
txm_status txm_name_search_places(txm_verification *v, bool *found, txm_error *err);

/* Adds a finding if a level differs from what it should be by more than its maker explains. Level 0 is never filtered:
 * it must be the same. */
void txm_report_level(const txm_verification *v, enum txm_finding_number number, uint32_t level,
                      const txm_level_diff *difference);

/* Whether a failure says something about the file (a finding), rather than about this attempt to look at it. */
bool txm_status_is_finding(txm_status status);

/* The part of a message after "<path>: ", which reports show on their own. */
const char *txm_message_without_path(const char *message, const char *path);

/* Where the source of a tx file is: for one in a blender_tx folder the image beside that folder, as Cycles sees it, if
 * there is one of that name; else where the file says, if that image has the name that the tx file is named for; else
 * beside the tx file's folder. New string, NULL if it is
 * nowhere; *exhausted says whether memory is, *trouble (untouched otherwise) which errno kept it from being looked at.
 */
char *txm_locate_source(const char *tx_path, const char *stored, bool *exhausted, int *trouble);
#endif
