/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of a conversion: those that are part of the name of a tx file, and those that affect only its content.
 *
 * NULL: as in status.h. A word to parse may be NULL, which is not a valid word; strings of settings may be NULL if they
 * say so.
 */
#ifndef TXTILE_SETTINGS_H
#define TXTILE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of `--alpha-type`. DEFAULT is what Blender sets when it loads the image; AUTO is the literal word. */
typedef enum txm_alpha {
    TXM_ALPHA_DEFAULT = 0,
    TXM_ALPHA_STRAIGHT,       /* stored "unassociated" */
    TXM_ALPHA_PREMULTIPLIED,  /* "associated" */
    TXM_ALPHA_CHANNEL_PACKED, /* "channel_packed" */
    TXM_ALPHA_NONE,           /* "ignore" */
    TXM_ALPHA_AUTO            /* "auto" */
} txm_alpha;

/* The command-line word ("straight"), and the word stored in names and files ("unassociated"). Never NULL. */
TXM_API const char *txm_alpha_name(txm_alpha alpha);
TXM_API const char *txm_alpha_stored_name(txm_alpha alpha);
/* Parses a command-line or stored word. Returns false, and leaves *out unchanged, if it is neither. */
TXM_API bool txm_alpha_parse(const char *word, txm_alpha *out);

/* The compression of tiles. */
typedef enum txm_codec { TXM_CODEC_ZIP = 0, TXM_CODEC_ZSTD, TXM_CODEC_NONE } txm_codec;

/* "zip", "zstd", "none". Never NULL. */
TXM_API const char *txm_codec_name(txm_codec codec);

/* A codec and its level. */
typedef struct txm_compression {
    txm_codec codec;
    int level; /* zip: 1 (fastest) to 12 (smallest), 0: chosen for each tile; zstd: 1 to 19, 0: 3 */
} txm_compression;

/* Settings that the user chose explicitly. A tx file that is up to date but was made with another compression, tile
 * size, borders or channels is kept, and txm_result.otherwise is set. Rules do not replace a colour space or alpha type
 * that was chosen explicitly. */
typedef enum txm_asked {
    TXM_ASKED_COMPRESSION = 1,
    TXM_ASKED_TILE = 2,
    TXM_ASKED_BORDERS = 4,
    TXM_ASKED_MONO = 8,
    TXM_ASKED_COLORSPACE = 16,
    TXM_ASKED_ALPHA = 32
} txm_asked;

/* An image keeps its size, whatever rules say. */
#define TXM_NO_LIMIT UINT32_MAX

/* Settings and options contain their size, so that later versions can add members at the end: initialise each with its
 * txm_..._init before use. In a smaller struct, of a program that is older than the library, the missing members have
 * their defaults; a larger one is USAGE only if members that this library does not have are set. */
typedef struct txm_settings {
    size_t struct_size; /* set by txm_settings_init */
    const char
        *colorspace; /* a name, alias or role; "auto"; or NULL or "default" for Blender's default for the image.
                        "=default" and "=auto" mean a config's own spaces or roles of these names. "=" is the empty name
                        in a scene: the tx file is named as with "auto", and pixels are taken as scene-linear. "==NAME"
                        is a name that the config lacks; pixels are again taken as scene-linear */
    txm_alpha alpha;
    bool equiangular; /* --envlatl */
    bool strict;  /* write what Blender itself would: implies mono = false and borders = false; unknown spaces cause a
                     warning and count as linear */
    bool mono;    /* store opaque grey RGB or RGBA as one channel */
    bool borders; /* append the border section */
    uint32_t tile_px; /* edge of a tile: power of two, 16 to 1024 */
    txm_compression compression;
    const char *cache_dir;         /* NULL or "": blender_tx; relative to the source's folder, or absolute */
    bool redact;                   /* store the source's file name, not its path */
    const char *const *attributes; /* NAME=VALUE strings to store, NULL-terminated; may be NULL */
    unsigned asked;                /* bits of txm_asked */
    uint32_t unused;
    /* The image is halved until neither side has more pixels. 0: as often as rules say, else never; TXM_NO_LIMIT:
     * never; else at least TXM_MIN_LIMIT_PX */
    uint32_t limit_px;
    uint32_t unused_2;
} txm_settings;

/* Initialises settings of struct_size bytes with the defaults of `txmill make`: default colour space and alpha, mono,
 * borders, 64 px tiles, zip with a level chosen for each tile. For other languages; C and C++ call txm_settings_init.
 */
TXM_API void txm_settings_init_sized(txm_settings *settings, size_t struct_size);

/* Initialises settings with these defaults. */
static inline void txm_settings_init(txm_settings *settings)
{
    txm_settings_init_sized(settings, sizeof *settings);
}

#ifdef __cplusplus
}
#endif
#endif
