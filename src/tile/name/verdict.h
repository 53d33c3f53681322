/* SPDX-License-Identifier: Apache-2.0
 *
 * The one place that decides what Cycles does with a tx file.
 *
 * In: evidence about the file: whether it exists, its time and its image's, its header, whether the settings inside are
 * those that its name was made for, a tile that cannot be decoded. Out: the verdict. Commands that look a tx file up
 * (make, check, resolve, list ...) and commands that are given one (info, verify, view) gather the evidence and call
 * this.
 */
#ifndef TXM_NAME_VERDICT_H
#define TXM_NAME_VERDICT_H
#include <time.h>

#include "base/shared.h"
#include "tile/terms/use_table.h"
#include "txtile/name.h"
#include "txtile/reader.h"

/* The relation of the settings inside to the name. */
typedef enum txm_fit {
    TXM_FIT_YES,     /* the settings fit, or nothing speaks against them */
    TXM_FIT_COLOURS, /* Cycles looks for this name and gets a file that was made with other settings */
    TXM_FIT_SIZE,    /* the same, but the file differs only in its size */
    TXM_FIT_CONTENT, /* Cycles loads the file, which was made of other content than the image has now */
    TXM_FIT_NAME     /* Cycles never looks for this name */
} txm_fit;

typedef struct txm_evidence {
    const char *path;
    bool missing, no_file; /* there is nothing of that name; it is a folder, a device ... */
    bool direct;           /* the file is not named as in a texture cache: neither name nor time matter */
    bool has_image;        /* the image is there; its time is image_time */
    time_t image_time, tx_time;
    const char *image;   /* its name for messages; NULL: "the image" */
    bool same_content;   /* the file is outdated, but was made of the content that the image has */
    const txm_tx *tx;    /* NULL: it cannot be opened, because of `refusal`, or only by Cycles' own reader */
    const char *refusal; /* a sentence without the path; NULL where Cycles can open it */
    const char *space;   /* the scenes that look for the file set this colour space; NULL: that is not known */
    txm_alpha alpha;     /* and this alpha type */
    txm_fit fit;
    const char *misfit; /* a sentence on `fit` */
    const char *doubt;  /* a sentence on what is uncertain about a file that Cycles loads; NULL: nothing */
    const char *damage; /* why the tile at level, tile_x, tile_y cannot be decoded; NULL: no such tile is known */
    int level, tile_x, tile_y;
} txm_evidence;

/* The evidence is taken in the order in which Cycles would notice: the first that speaks against a file decides. */
TXM_SHARED void txm_decide(const txm_evidence *evidence, txm_verdict *out);

/* Its row in the table of words. */
const txm_use_row *txm_use_row_of(txm_use use);
#endif
