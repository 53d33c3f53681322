/* SPDX-License-Identifier: Apache-2.0
 *
 * The images that a scene's shaders use, read without Blender: of a .blend file, Cycles' own XML (.xml) or USD (.usd,
 * .usda, .usdc, .usdz: in a Python with usd-core, UNSUPPORTED without). What is said of .blend files here holds for the
 * others where they have the like: an included file is a library.
 *
 * Every layout since 2.4 is read: 4- and 8-byte pointers, both byte orders, the header of Blender 5, plain, gzip and
 * zstd. Linked libraries are followed, and of them only what is linked. The scene and what its libraries hold are kept
 * in at most 128 MiB, all working memory together stays below 400 MiB whatever the files contain (a scene of 1 GB takes
 * 15 to 45 MB); time is linear in the sizes of the files.
 *
 * Ownership: a txm_blend owns everything that its functions return pointers to, until it is closed. It may be used by
 * several threads at once, but for txm_blend_unpack and txm_blend_entries.
 */
#ifndef TXMILL_SCENE_H
#define TXMILL_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "txmill/color.h"
#include "txtile/export.h"
#include "txtile/reader.h"
#include "txtile/settings.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A scene that was read, with the libraries that it links. */
typedef struct txm_blend txm_blend;

/* What the colour config says about names that scenes hold. Members may be NULL: names then stand for themselves, and
 * "Non-Color" and its old spellings are data. Called during txm_blend_open alone. */
typedef struct txm_blend_colors {
    void *user;
    /* Canonical name of a colour space or alias, NULL if the config does not know it. Copied. */
    const char *(*canonical)(void *user, const char *name);
    /* Whether the space is data (not colour). */
    bool (*is_data)(void *user, const char *name);
} txm_blend_colors;

/* What a config says. It must outlive the call of txm_blend_open. */
TXM_API txm_blend_colors txm_blend_colors_of(const txm_color_config *config);

/* How a scene is read; looked at during txm_blend_open alone. */
typedef struct txm_blend_options {
    size_t struct_size; /* set by txm_blend_options_init */
    txm_blend_colors colors;
    bool lint;                  /* look at what the nodes do with the images: fills the findings */
    const volatile int *cancel; /* reading USD stops soon after it becomes nonzero: CANCELLED; may be NULL */
} txm_blend_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_blend_options_init(txm_blend_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* As Image.source in files. */
typedef enum txm_blend_source {
    TXM_BLEND_SOURCE_FILE = 1,
    TXM_BLEND_SOURCE_SEQUENCE = 2,
    TXM_BLEND_SOURCE_MOVIE = 3,
    TXM_BLEND_SOURCE_GENERATED = 4,
    TXM_BLEND_SOURCE_VIEWER = 5,
    TXM_BLEND_SOURCE_TILED = 6 /* UDIM */
} txm_blend_source;

/* Why an image gives nothing to convert. */
typedef enum txm_blend_state {
    TXM_BLEND_STATE_READY,   /* its files are there */
    TXM_BLEND_STATE_MISSING, /* no file is there */
    TXM_BLEND_STATE_PACKED,  /* its pixels are inside the .blend file: txm_blend_unpack writes them out */
    TXM_BLEND_STATE_NO_PATH, /* it names no file */
    TXM_BLEND_STATE_NO_FILE  /* movie, generated, viewer: never a texture file */
} txm_blend_state;

/* A node that uses an image. */
typedef struct txm_blend_user {
    const char *node;       /* name of the node */
    const char *owner;      /* name of the data-block that holds the tree */
    const char *owner_type; /* "material", "world", "light", "line style", "node group" */
    const char *library;    /* path of the library that holds the owner, "" for the scene itself */
    bool environment;       /* an environment texture */
    txm_extension extension;
    const char *interpolation; /* "linear", "closest", "cubic", "smart" */
} txm_blend_user;

/* A file of an image: one, or a UDIM tile or frame each. */
typedef struct txm_blend_image_file {
    const char *path; /* absolute, normalised */
    uint32_t number;  /* UDIM tile or frame; 0 for a single file */
    bool exists;
    uint64_t bytes;
} txm_blend_image_file;

/* A packed file of an image. */
typedef struct txm_blend_packed_file {
    const char *name; /* file name to unpack it under: Blender's, made into that of an image */
    uint32_t number;  /* UDIM tile, 0 if none */
    uint64_t bytes;
} txm_blend_packed_file;

/* An image data-block that shader trees use, and its files. Lists have as many elements as the count behind them says.
 * */
typedef struct txm_blend_image {
    const char *name;        /* of the data-block */
    const char *stored_path; /* as in the file, after the fix-ups for old versions */
    const char *path;        /* absolute; with its <UDIM> or <UVTILE> token; "" if it has none */
    const char *library;     /* path of the library that holds it, "" for the scene itself */
    txm_blend_source source;
    txm_blend_state state;
    const char *colorspace_stored; /* "" when the file's version stores none */
    const char *colorspace;        /* that its tx file is looked up under, for txm_settings: the stored name, or "="
                                    * where none is stored or the config does not know it */
    bool colorspace_known;         /* false: the config does not know the stored name, which Blender then clears */
    bool data;                     /* the colour space is data */
    txm_alpha alpha;
    const uint32_t *tiles; /* UDIM numbers of the tile list */
    size_t tile_count;
    const txm_blend_image_file *files; /* of tiles and frames only those that exist; a single file always */
    size_t file_count;
    const txm_blend_packed_file *packed;
    size_t packed_count;
    const txm_blend_user *users; /* ordered by owner and node */
    size_t user_count;
    const char *colorspace_name; /* the config's own name for the stored one, or NULL */
} txm_blend_image;

/* What became of a linked library. */
typedef enum txm_blend_library_state {
    TXM_BLEND_LIBRARY_STATE_READ,
    TXM_BLEND_LIBRARY_STATE_PACKED,  /* read from inside the file that links it */
    TXM_BLEND_LIBRARY_STATE_MISSING, /* not there */
    TXM_BLEND_LIBRARY_STATE_BROKEN   /* there, but not readable as .blend file */
} txm_blend_library_state;

/* A library that the scene, or one of its libraries, links. */
typedef struct txm_blend_library {
    const char *path;   /* absolute */
    const char *parent; /* path of the file that links it */
    txm_blend_library_state state;
    txm_status status;   /* TXM_OK when it was read */
    const char *message; /* what is wrong, "" when it was read */
    size_t lost;         /* linked data-blocks that it does not hold (any more) */
} txm_blend_library;

/* What a node setup suggests is wrong. The ids are stable. */
typedef struct txm_blend_finding {
    const char *id; /* "normal-map-color", "color-and-data", "two-colorspaces" */
    const char *message;
    size_t image; /* index */
} txm_blend_finding;

/* The scene's own file. */
typedef struct txm_blend_info {
    const char *path;        /* absolute */
    int version, subversion; /* 405, 501 ...: of the Blender that wrote it */
    const char *compression; /* "plain", "gzip", "zstd" */
    unsigned pointer_bytes;
    bool big_endian;
    const char *working_space; /* scene-linear space of the file (5.1 and later), NULL: the config's */
    const char *format;        /* "blend", "cycles-xml", "usd"; versions are 0 for all but "blend" */
} txm_blend_info;

/* Reads a scene. `options` may be NULL. Libraries that are missing or broken are no failure: txm_blend_library_at
 * tells. NOT_FOUND, NOT_A_FILE, DENIED, IO, CORRUPT, NEWER, TOO_LARGE, NO_MEMORY. */
TXM_API txm_status txm_blend_open(const char *path, const txm_blend_options *options, txm_blend **out, txm_error *err);
TXM_API void txm_blend_close(txm_blend **blend); /* NULL-safe; sets *blend to NULL */

/* The scene's own file. Never NULL. */
TXM_API const txm_blend_info *txm_blend_info_of(const txm_blend *blend);
/* Images in the order of their names (then libraries); NULL beyond the last. */
TXM_API size_t txm_blend_image_count(const txm_blend *blend);
TXM_API const txm_blend_image *txm_blend_image_at(const txm_blend *blend, size_t index);
/* Libraries in the order in which they were met. */
TXM_API size_t txm_blend_library_count(const txm_blend *blend);
TXM_API const txm_blend_library *txm_blend_library_at(const txm_blend *blend, size_t index);
/* Findings, when `lint` was asked for. */
TXM_API size_t txm_blend_finding_count(const txm_blend *blend);
TXM_API const txm_blend_finding *txm_blend_finding_at(const txm_blend *blend, size_t index);

/* Writes a packed file to `folder` (created if need be) under its name. A file of that name with the same content is
 * left alone; one with other content makes the name `name.001.ext`, `.002` and so on. *path receives the file's path
 * (free()). Files appear complete or not at all. IO, DENIED, DISK_FULL, CORRUPT, NO_MEMORY; UNSUPPORTED for what is
 * neither named as an image nor known as one by its first bytes; USAGE for an index out of range. */
TXM_API txm_status txm_blend_unpack(txm_blend *blend, size_t image, size_t packed, const char *folder, char **path,
                                    txm_error *err);

/* ---- what a batch converts ------------------------------------------------------------------------------------ */

/* One file to convert. */
typedef struct txm_blend_entry {
    char *path;             /* absolute; owned */
    const char *pattern;    /* the image's path with its token or frame digits as #, for tiles and frames; else NULL */
    const char *colorspace; /* as txm_blend_image's */
    txm_alpha alpha;
    size_t image; /* index */
} txm_blend_entry;

/* The files that a render of the scene loads, each (path, colour space, alpha) once, in the order of the images; packed
 * images too, unpacked into `packed_folder`, if that is not NULL. The working space is txm_blend_info's. *out is to be
 * freed with txm_blend_entries_free before the scene is closed. As txm_blend_unpack. */
TXM_API txm_status txm_blend_entries(txm_blend *blend, const char *packed_folder, txm_blend_entry **out, size_t *count,
                                     txm_error *err);
TXM_API void txm_blend_entries_free(txm_blend_entry **entries, size_t count); /* NULL-safe */

/* "file", "sequence", "movie", "generated", "viewer", "tiled"; "unknown" for anything else. */
TXM_API const char *txm_blend_source_name(txm_blend_source source);
/* "ready", "missing", "packed", "no-path", "no-file". */
TXM_API const char *txm_blend_state_name(txm_blend_state state);
/* "read", "packed", "missing", "broken". */
TXM_API const char *txm_blend_library_state_name(txm_blend_library_state state);

#ifdef __cplusplus
}
#endif
#endif
