/* SPDX-License-Identifier: Apache-2.0
 *
 * From an image's path to its tx file: the name that Cycles looks up, and whether the file there is one that it uses.
 *
 * A tx file is named after what a scene says of its image: colour space, alpha mode, working space. The caller says
 * these in the scene's own words, so no colour config is read, and what Blender does to choose them is not repeated.
 * (txm_look_up of inspect.h, in libtxmill, does both.)
 *
 * NULL: as status.h says; members of txm_tx_wanted that may be NULL say so.
 *
 * Thread safety: all functions may be called at the same time from any thread.
 */
#ifndef TXTILE_NAME_H
#define TXTILE_NAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/export.h"
#include "txtile/settings.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what Cycles does with a file ------------------------------------------------------------------------------- */

/* Whether a render uses a tx file: one answer for every command that gives it. */
typedef enum txm_use {
    TXM_USE_MISSING,    /* there is no file of that name */
    TXM_USE_UNREADABLE, /* no tx file at all, or one that is cut short */
    TXM_USE_REFUSED,    /* Cycles refuses its version, codec, tiles or levels */
    TXM_USE_NAME,       /* settings inside and name do not fit, or Cycles never asks for this name */
    TXM_USE_OUTDATED,   /* the image has another time */
    TXM_USE_DAMAGED,    /* tiles cannot be decoded */
    TXM_USE_NO_IMAGE,   /* all is well with it, but its image is not there, so its time cannot be compared */
    TXM_USE_DIRECT,     /* no name of a texture cache: used where a scene names this very file as its image */
    TXM_USE_LOADED      /* Cycles loads it as it is */
} txm_use;

/* "missing", "unreadable", "refused", "name", "outdated", "damaged", "no-image", "direct", "loaded". Never NULL. */
TXM_API const char *txm_use_name(txm_use use);

/* Whether a render uses a file, why not, and what it shows. */
typedef struct txm_verdict {
    txm_use use;
    bool used;        /* LOADED and DIRECT: nothing keeps Cycles from it */
    char reason[512]; /* why not, or what is uncertain, in one sentence; "" for LOADED */
    char shows[160];  /* what Cycles does, a sentence without its subject: "renders magenta where ..." */
    uint64_t reserved[4];
} txm_verdict;

/* The state of an image's tx file. */
typedef enum txm_tx_state {
    TXM_TX_STATE_FRESH,    /* Cycles loads the tx file */
    TXM_TX_STATE_SOURCE,   /* the image is a tx file itself, or 1x1: Cycles loads it as it is */
    TXM_TX_STATE_OUTDATED, /* the tx file has another time than the image */
    TXM_TX_STATE_UNUSABLE, /* Cycles refuses the tx file */
    TXM_TX_STATE_MISSING
} txm_tx_state;

/* "fresh", "source", "outdated", "unusable", "missing". Never NULL. */
TXM_API const char *txm_tx_state_name(txm_tx_state state);

/* The tx file of an image by its name and time alone. */
typedef struct txm_found {
    txm_tx_state state;
    char *path;         /* the file that Cycles would load, or the one that it would (re)write; owned, free() */
    char *reason;       /* why it is outdated or unusable, "" otherwise; owned, free() */
    char *shows;        /* what Cycles does, as in txm_verdict; owned, free() */
    bool foreign;       /* it is unusable for its codec alone: as good as fresh for readers that know the codec */
    txm_status trouble; /* it could not be looked at, and a retry may help: it may well be fresh. Else TXM_OK */
    uint64_t reserved[4];
} txm_found;
TXM_API void txm_found_clear(txm_found *found); /* NULL-safe; zeroes */

/* ---- from an image to its tx file ------------------------------------------------------------------------------- */

/* What a scene says of an image. Looked at during the call alone. */
typedef struct txm_tx_wanted {
    size_t struct_size; /* set by txm_tx_wanted_init */
    /* The name of the image's colour space, as the scene holds it: "sRGB", "Non-Color", "Linear Rec.709". "auto" is
     * what 'blender --command maketx' uses by itself; no scene asks for it. */
    const char *colorspace;
    /* The space holds data, not colours, in a config of your own. "Non-Color" and its other names in Blender's config
     * are known: leave this false for them. */
    bool data;
    bool equiangular; /* Blender 5.2 never asks for that */
    txm_alpha alpha;  /* any but TXM_ALPHA_DEFAULT */
    /* The working space: "Linear Rec.709", "Linear Rec.2020" or "ACEScg" of Blender's config, or for a config of your
     * own the 12 numbers that 'txmill colorspaces' prints. NULL or "": Linear Rec.709. */
    const char *working_space;
    /* The folder of tx files: absolute, or relative to the image's folder. NULL or "": blender_tx. */
    const char *cache_dir;
} txm_tx_wanted;

/* Opens what is wanted, of struct_size bytes: sRGB, straight alpha, Linear Rec.709, blender_tx. For other languages; C
 * and C++ call txm_tx_wanted_init. */
TXM_API void txm_tx_wanted_init_sized(txm_tx_wanted *wanted, size_t struct_size);

/* Opens it with these defaults: those of a PNG or JPEG in a scene of Blender that nobody has touched. */
static inline void txm_tx_wanted_init(txm_tx_wanted *wanted)
{
    txm_tx_wanted_init_sized(wanted, sizeof *wanted);
}

/* The path under which Cycles looks for the tx file of an image, whether there is one or not. *path is a new string:
 * free() it. `image` may be relative to the current folder, and need not exist. `wanted` NULL: the defaults. USAGE for
 * a colour space that is NULL or "", no alpha mode, or a working space that is neither a name nor 12 numbers;
 * NO_MEMORY, NOT_FOUND or DENIED where the cache folder is absolute and there is no current folder. */
TXM_API txm_status txm_tx_path_of(const char *image, const txm_tx_wanted *wanted, char **path, txm_error *err);

/* Looks where Cycles does: in the folder that is wanted, then in blender_tx, then at the image itself, which may be a
 * tx file already. A tx file is of use if it has the image's time, to the second, and Cycles takes its header: states
 * FRESH and SOURCE, whose found->path is what to open. OUTDATED, UNUSABLE and MISSING come with the path that 'txmill
 * make' would write, and why. What is inside is taken to be what the name says. Free the result with txm_found_clear.
 * What txm_tx_path_of returns, and NOT_FOUND, NOT_A_FILE, DENIED and IO for the image. */
TXM_API txm_status txm_tx_find(const char *image, const txm_tx_wanted *wanted, txm_found *found, txm_error *err);

/* ---- the other way ---------------------------------------------------------------------------------------------- */

/* Splits a tx file name: length of the source name part and the 32 hex digits. False if it is no such name or its
 * format version is not `version` (written out when the name has the shape). */
TXM_API bool txm_tx_name_parse(const char *tx_name, size_t *source_name_bytes, unsigned *version, char md5_hex[33]);

#ifdef __cplusplus
}
#endif
#endif
