/* SPDX-License-Identifier: Apache-2.0
 *
 * From an image's path to its tx file: the name that Cycles looks for, and whether the file with that name is one that
 * it uses.
 *
 * The name of a tx file depends on how a scene uses its image: colour space, alpha mode, working space. The caller
 * passes these as the scene stores them, so that no colour config has to be read; nor does this header choose Blender's
 * defaults for an image. txm_look_up of inspect.h, in libtxmill, does both.
 *
 * NULL: as in status.h; members of txm_tx_wanted that may be NULL say so.
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

/* ---- whether Cycles uses a file --------------------------------------------------------------------------------- */

/* Whether a render uses a tx file, and if not, why. All commands and functions agree on it. */
typedef enum txm_use {
    TXM_USE_MISSING,    /* the file does not exist */
    TXM_USE_UNREADABLE, /* it is not a tx file, or it is cut short */
    TXM_USE_REFUSED,    /* Cycles refuses its version, codec, tiles or levels */
    TXM_USE_NAME,       /* its name does not match the settings inside, or is one that Cycles never looks for */
    TXM_USE_OUTDATED,   /* its modification time is not the image's */
    TXM_USE_STALE,      /* Cycles uses it, although it was made of other content than the image has now */
    TXM_USE_DAMAGED,    /* tiles cannot be decoded */
    TXM_USE_NO_IMAGE,   /* it is valid, but its image does not exist, so their times cannot be compared */
    TXM_USE_DIRECT,     /* its name is not one of the texture cache: used if a scene names this file as its image */
    TXM_USE_LOADED      /* Cycles loads it as it is */
} txm_use;

/* "missing", "unreadable", "refused", "name", "outdated", "stale", "damaged", "no-image", "direct", "loaded". Never
 * NULL. */
TXM_API const char *txm_use_name(txm_use use);

/* Whether a render uses a file, why not, and what it shows. */
typedef struct txm_verdict {
    txm_use use;
    bool used;        /* true for LOADED and DIRECT */
    char reason[512]; /* why it is not used, or what is uncertain, in one sentence; "" if there is nothing to say */
    char shows[160];  /* what Cycles does, as a sentence without its subject, such as "renders magenta where ..." */
    bool harmless;    /* the picture is right, and only takes longer */
    uint64_t reserved[4];
} txm_verdict;

/* The state of an image's tx file. */
typedef enum txm_tx_state {
    TXM_TX_STATE_FRESH,    /* Cycles loads the tx file */
    TXM_TX_STATE_SOURCE,   /* the image is a tx file itself, or 1x1: Cycles loads it as it is */
    TXM_TX_STATE_OUTDATED, /* the modification time of the tx file is not the image's */
    TXM_TX_STATE_STALE,    /* the times are equal, but the tx file was made of other content */
    TXM_TX_STATE_UNUSABLE, /* Cycles refuses the tx file */
    TXM_TX_STATE_MISSING
} txm_tx_state;

/* "fresh", "source", "outdated", "stale", "unusable", "missing". Never NULL. */
TXM_API const char *txm_tx_state_name(txm_tx_state state);

/* Whether an image has the content of which its tx file was made. txmill records it, Blender does not. */
typedef enum txm_content { TXM_CONTENT_UNKNOWN, TXM_CONTENT_SAME, TXM_CONTENT_OTHER } txm_content;

/* The tx file of an image, judged by its name, time and header. */
typedef struct txm_found {
    txm_tx_state state;
    char *path;         /* the file that Cycles would load, or the one that it would (re)write; owned, free() */
    char *reason;       /* why it is outdated or unusable, or what is uncertain about it; "" otherwise; owned, free() */
    char *shows;        /* what Cycles does, as in txm_verdict; owned, free() */
    bool foreign;       /* it is unusable only because of its codec: readers that support the codec may use it */
    txm_status failure; /* not OK: the file could not be examined, and may be fresh; a retry may help */
    bool harmless;      /* the picture is right, and only takes longer */
    txm_content content; /* of the image of an outdated file; UNKNOWN if more than the time speaks against the file */
    uint64_t reserved[3];
} txm_found;
TXM_API void txm_found_clear(txm_found *found); /* NULL-safe; zeroes */

/* ---- from an image to its tx file ------------------------------------------------------------------------------- */

/* A scene's use of an image. It is read during the call only. */
typedef struct txm_tx_wanted {
    size_t struct_size; /* set by txm_tx_wanted_init */
    /* The name of the image's colour space, as the scene stores it: "sRGB", "Non-Color", "Linear Rec.709". "auto" is
     * the default of 'blender --command maketx'; scenes never use it. */
    const char *colorspace;
    /* Set it if the space is data, not colours, in a config of your own. "Non-Color" and its other names in Blender's
     * config are recognised: leave this false for them. */
    bool data;
    bool equiangular; /* Blender 5.2 never looks for equiangular tx files */
    txm_alpha alpha;  /* any but TXM_ALPHA_DEFAULT */
    /* The working space: "Linear Rec.709", "Linear Rec.2020" or "ACEScg" of Blender's config, or for a config of your
     * own the 12 numbers that 'txmill colorspaces' prints. NULL or "": Linear Rec.709. */
    const char *working_space;
    /* The folder of tx files: absolute, or relative to the image's folder. NULL or "": blender_tx. */
    const char *cache_dir;
} txm_tx_wanted;

/* Initialises a struct of struct_size bytes with the defaults: sRGB, straight alpha, Linear Rec.709, blender_tx. For
 * other languages; C and C++ call txm_tx_wanted_init. */
TXM_API void txm_tx_wanted_init_sized(txm_tx_wanted *wanted, size_t struct_size);

/* Initialises it with these defaults, which fit a PNG or JPEG in a Blender scene with default settings. */
static inline void txm_tx_wanted_init(txm_tx_wanted *wanted)
{
    txm_tx_wanted_init_sized(wanted, sizeof *wanted);
}

/* Computes the path at which Cycles looks for the tx file of an image, whether that file exists or not. *path is a new
 * string: free() it. `image` may be relative to the current folder, and need not exist. `wanted` may be NULL, which
 * means the defaults. USAGE for a colour space that is NULL or "", an invalid alpha mode, or a working space that is
 * neither a known name nor 12 numbers; NO_MEMORY; NOT_FOUND or DENIED if the cache folder is absolute and the current
 * folder was removed or cannot be read. */
TXM_API txm_status txm_tx_path_of(const char *image, const txm_tx_wanted *wanted, char **path, txm_error *err);

/* Looks for the tx file where Cycles does: in `cache_dir`, then in blender_tx, then at the image itself, which may be a
 * tx file already. For FRESH and SOURCE, found->path is the file to open: its modification time is the image's, to the
 * second, and Cycles accepts its header. For OUTDATED, UNUSABLE and MISSING it is the path that 'txmill make' would
 * write, and found->reason says why. The settings stored inside the file are not compared with its name. Free the
 * result with txm_found_clear. Fails as txm_tx_path_of does, and with NOT_FOUND, NOT_A_FILE, DENIED and IO for the
 * image. */
TXM_API txm_status txm_tx_find(const char *image, const txm_tx_wanted *wanted, txm_found *found, txm_error *err);

/* ---- from the name of a tx file to its image --------------------------------------------------------------------- */

/* Splits the name of a tx file: *source_name_bytes receives the length of the image's name in it, md5_hex its 32 hex
 * digits. false if it is not such a name, or its format version is not the current one; *version receives the version
 * if the name has that form. `version` and `md5_hex` may be NULL. */
TXM_API bool txm_tx_name_parse(const char *tx_name, size_t *source_name_bytes, unsigned *version, char md5_hex[33]);

#ifdef __cplusplus
}
#endif
#endif
