/* SPDX-License-Identifier: Apache-2.0
 *
 * What a conversion is asked to do: the settings that enter the name of a tx file, and those that shape its content.
 *
 * NULL: as status.h says. Words that are parsed may be NULL, and are none then; so may strings of settings that say so.
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

/* Values of `--alpha-type`. DEFAULT is what a Blender scene would hold for the file; AUTO is the literal word. */
typedef enum txm_alpha {
    TXM_ALPHA_DEFAULT = 0,
    TXM_ALPHA_STRAIGHT,       /* stored "unassociated" */
    TXM_ALPHA_PREMULTIPLIED,  /* "associated" */
    TXM_ALPHA_CHANNEL_PACKED, /* "channel_packed" */
    TXM_ALPHA_NONE,           /* "ignore" */
    TXM_ALPHA_AUTO            /* "auto" */
} txm_alpha;

/* Command-line word ("straight") and word stored in names and files ("unassociated"). Never NULL. */
TXM_API const char *txm_alpha_name(txm_alpha alpha);
TXM_API const char *txm_alpha_stored_name(txm_alpha alpha);
/* Parses a command-line or stored word; false, with *out as it was, if it is neither. */
TXM_API bool txm_alpha_parse(const char *word, txm_alpha *out);

/* How tiles are compressed. */
typedef enum txm_codec { TXM_CODEC_ZIP = 0, TXM_CODEC_ZSTD, TXM_CODEC_NONE } txm_codec;

/* "zip", "zstd", "none". Never NULL. */
TXM_API const char *txm_codec_name(txm_codec codec);

/* A codec and how hard it tries. */
typedef struct txm_compression {
    txm_codec codec;
    int level; /* 0: zip chosen for each tile, zstd 3; zip 1 (fastest) to 12 (smallest), zstd 1 to 19 */
} txm_compression;

/* Settings that were asked for by name. A tx file that is up to date but was made otherwise is left alone, and said so:
 * its name does not tell these settings. */
typedef enum txm_asked {
    TXM_ASKED_COMPRESSION = 1,
    TXM_ASKED_TILE = 2,
    TXM_ASKED_BORDERS = 4,
    TXM_ASKED_MONO = 8
} txm_asked;

/* Settings and options carry their size, so that later versions can add members at the end: open each with its
 * txm_..._init before use. A smaller one, of a program that is older than the library, keeps the defaults of what it
 * does not know; a larger one is USAGE only if it asks for something that this library does not know. */
typedef struct txm_settings {
    size_t struct_size;     /* set by txm_settings_init */
    const char *colorspace; /* a name, alias or role; "auto"; or NULL / "default": what a Blender scene would ask for.
                             * "=default" and "=auto" are a config's spaces or roles of these names, "=" is the empty
                             * name of a scene: the name of auto, pixels taken for scene-linear; "==NAME" is a name
                             * that the config lacks, pixels taken likewise */
    txm_alpha alpha;
    bool equiangular; /* --envlatl */
    bool strict;      /* write what Blender itself would: implies mono = false, borders = false, unknown spaces
                       * are warned about and count as linear */
    bool mono;        /* store opaque grey RGB(A) as one channel */
    bool borders;     /* append the border section */
    uint32_t tile_px; /* edge of a tile: power of two, 16 to 1024 */
    txm_compression compression;
    const char *cache_dir;         /* NULL or "": blender_tx; relative to the source's folder, or absolute */
    bool redact;                   /* store the source's file name, not its path */
    const char *const *attributes; /* NAME=VALUE strings to store, NULL-terminated; may be NULL */
    unsigned asked;                /* bits of txm_asked */
} txm_settings;

/* Opens settings of struct_size bytes with the defaults of `txmill make`: default colour space and alpha, mono,
 * borders, 64 px tiles, adaptive zip. For other languages; C and C++ call txm_settings_init. */
TXM_API void txm_settings_init_sized(txm_settings *settings, size_t struct_size);

/* Opens settings with these defaults. */
static inline void txm_settings_init(txm_settings *settings)
{
    txm_settings_init_sized(settings, sizeof *settings);
}

#ifdef __cplusplus
}
#endif
#endif
