/* SPDX-License-Identifier: Apache-2.0
 *
 * Listing the images that the shaders of a scene use, without Blender. A scene is a .blend file, Cycles' own XML (.xml)
 * or USD (.usd, .usda, .usdc, .usdz, .mtlx: read by a Python that has usd-core, NOT_INSTALLED without it). The comments
 * here speak of .blend files; for the other formats they apply to whatever corresponds, for example an included file is
 * a library.
 *
 * All .blend files since Blender 2.4 are read: 4- and 8-byte pointers, both byte orders, the header of Blender 5,
 * plain, gzip and zstd. Linked libraries are read too, but only what is linked from them. The result takes at most 128
 * MiB and all working memory together at most 400 MiB, whatever the files contain (a scene of 1 GB takes 15 to 45 MB);
 * time is linear in the sizes of the files.
 *
 * Ownership: a txm_scene owns everything that its functions return pointers to, until it is closed. Several threads may
 * use it at once, except for txm_scene_unpack and txm_scene_entries.
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

/* A format of scenes. Strings are static. */
typedef struct txm_scene_format {
    const char *id;         /* "blend", "cycles-xml", "usd" */
    const char *noun;       /* "USD" */
    const char *extensions; /* without dots, in lower case, separated by blanks; the extension decides the format */
    const char *mark;       /* text near the beginning of a scene, if other files have the extension too; else NULL */
    const char *begins;     /* first bytes that no other format has; NULL: it has none */
    const char *what;       /* "a USD scene" */
} txm_scene_format;

/* The formats one after the other; NULL behind the last one. */
TXM_API const txm_scene_format *txm_scene_format_at(size_t index);
/* The format that a file has by its name, which need not exist. NULL: it is not named like a scene. */
TXM_API const txm_scene_format *txm_scene_format_of(const char *path);

/* A scene in memory, with the libraries that it links. */
typedef struct txm_scene txm_scene;

/* How names of colour spaces in scenes are looked up in a colour config. Members may be NULL: names are then taken as
 * they are, and "Non-Color" and its old spellings are data. Called during txm_scene_open only. */
typedef struct txm_scene_colors {
    void *user;
    /* The canonical name of a colour space or alias, which is copied; NULL if the config lacks it. */
    const char *(*canonical)(void *user, const char *name);
    /* Whether the space is data and not colour. */
    bool (*is_data)(void *user, const char *name);
} txm_scene_colors;

/* Looks names up in `config`, which must outlive the call of txm_scene_open. */
TXM_API txm_scene_colors txm_scene_colors_of(const txm_color_config *config);

/* The name of a stored colour space after the config's version of Blender has opened the scene, for `opened` in
 * txm_scene_options; `config` is the user of `colors`. It is `name` itself, one of the config's, or NULL. */
TXM_API const char *txm_scene_opened_name(void *config, const char *name, const char *interop_id);

/* Where files of another machine are on this one. `from` is the start of a path as a scene stores it, such as "P:\\",
 * "\\\\server\\share" or "/Volumes/tex", and `to` the folder here. The start ends where a component of the path does;
 * slashes and backslashes are equal, and with a drive or a server upper and lower case as well. */
typedef struct txm_path_map {
    const char *from, *to;
} txm_path_map;

/* Whether one of `count` maps applies to a stored path; the first that does counts. *out is then the path here,
 * absolute and owned by the caller, NULL if memory is exhausted; otherwise *out is NULL. */
TXM_API bool txm_path_map_apply(const txm_path_map *maps, size_t count, const char *stored, char **out);

/* Options for reading a scene. They are used during txm_scene_open only. */
typedef struct txm_scene_options {
    size_t struct_size; /* set by txm_scene_options_init */
    txm_scene_colors colors;
    bool lint;                  /* examine what nodes do with the images, for txm_scene_finding_at */
    const volatile int *cancel; /* stop reading USD soon after it becomes non-zero: CANCELLED; may be NULL */
    /* What a colour space that a .blend file stores by name and interop id ("": none) is called after Blender has
     * opened the file, with the user of `colors`: txm_scene_opened_name. NULL as a result: Blender clears it. NULL as
     * the member: as Blender 5.2 does, which keeps names that the config knows. */
    const char *(*opened)(void *user, const char *name, const char *interop_id);
    bool every_variant;       /* USD: also the images of variants that are not chosen */
    const txm_path_map *maps; /* the first one that applies to a path counts; a path without one is as Blender has it */
    size_t map_count;
} txm_scene_options;

/* Initialises options with the defaults. */
static inline void txm_scene_options_init(txm_scene_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* The values of Image.source in .blend files. */
typedef enum txm_scene_source {
    TXM_SCENE_SOURCE_FILE = 1,
    TXM_SCENE_SOURCE_SEQUENCE = 2,
    TXM_SCENE_SOURCE_MOVIE = 3,
    TXM_SCENE_SOURCE_GENERATED = 4,
    TXM_SCENE_SOURCE_VIEWER = 5,
    TXM_SCENE_SOURCE_TILED = 6 /* UDIM */
} txm_scene_source;

/* Whether an image has files to convert, and if not, why. */
typedef enum txm_scene_state {
    TXM_SCENE_STATE_READY,   /* its files exist */
    TXM_SCENE_STATE_MISSING, /* none of its files exists */
    TXM_SCENE_STATE_PACKED,  /* its file is packed in the .blend file: txm_scene_unpack writes it out */
    TXM_SCENE_STATE_NO_PATH, /* its file path is empty */
    TXM_SCENE_STATE_NO_FILE  /* movie, generated, viewer: these have no texture file */
} txm_scene_state;

/* A node that uses an image. */
typedef struct txm_scene_user {
    const char *node;       /* name of the node */
    const char *owner;      /* name of the data-block that holds the tree */
    const char *owner_type; /* "material", "world", "light", "line style", "node group" */
    const char *library;    /* path of the library that holds the owner, "" for the scene itself */
    bool environment;       /* an environment texture */
    txm_extension extension;
    const char *interpolation; /* "linear", "closest", "cubic", "smart" */
} txm_scene_user;

/* Frames of an animation: first, first + step and so on, up to last; step is at least 1. */
typedef struct txm_frame_range {
    int32_t first, last, step;
} txm_frame_range;

/* One file of an image: its only file, or the file of one UDIM tile or frame. */
typedef struct txm_scene_image_file {
    const char *path; /* absolute, normalised */
    uint32_t number;  /* UDIM tile or frame; 0 for a single file */
    bool exists;
    uint64_t bytes;
} txm_scene_image_file;

/* A packed file of an image. */
typedef struct txm_scene_packed_file {
    const char *name; /* file name to unpack it to: Blender's, with an extension of an image */
    uint32_t number;  /* UDIM tile, 0 if none */
    uint64_t bytes;
} txm_scene_packed_file;

/* An image data-block that shader trees use, and its files. Each list is followed by the number of its elements. */
typedef struct txm_scene_image {
    const char *name;        /* name of the data-block */
    const char *stored_path; /* the path in the file, after the fix-ups for old versions */
    const char *path;        /* absolute, including a <UDIM> or <UVTILE> token; "" if the image has no path */
    const char *library;     /* path of the library that holds it, "" for the scene itself */
    txm_scene_source source;
    txm_scene_state state;
    const char *colorspace_stored; /* "" if the file's version stores none */
    const char *colorspace; /* the colour space for txm_settings: the stored name, or "=" if none is stored or the
                               config lacks it */
    bool colorspace_known;  /* false: the config lacks the stored name, and Blender then clears it */
    bool data;              /* the colour space is data */
    txm_alpha alpha;
    const uint32_t *tiles; /* UDIM numbers of the tile list */
    size_t tile_count;
    const txm_scene_image_file *files; /* tiles and frames that exist; a single file even if it does not */
    size_t file_count;
    const txm_scene_packed_file *packed;
    size_t packed_count;
    const txm_scene_user *users; /* ordered by owner and node */
    size_t user_count;
    const char *colorspace_name; /* the config's canonical name for the stored one, or NULL */
} txm_scene_image;

/* The state of a linked library. */
typedef enum txm_scene_library_state {
    TXM_SCENE_LIBRARY_STATE_READ,
    TXM_SCENE_LIBRARY_STATE_PACKED,  /* read from inside the file that links it */
    TXM_SCENE_LIBRARY_STATE_MISSING, /* its file does not exist */
    TXM_SCENE_LIBRARY_STATE_BROKEN   /* its file exists, but cannot be read as a .blend file */
} txm_scene_library_state;

/* A library that the scene, or one of its libraries, links. */
typedef struct txm_scene_library {
    const char *path;   /* absolute */
    const char *parent; /* path of the file that links it */
    txm_scene_library_state state;
    txm_status status;   /* TXM_OK if it was read */
    const char *message; /* what is wrong; "" if it was read */
    size_t lost;         /* linked data-blocks that it does not contain */
} txm_scene_library;

/* A likely mistake that the nodes of a scene show. The ids are stable. */
typedef struct txm_scene_finding {
    const char *id; /* "normal-map-color", "color-and-data", "two-colorspaces" */
    const char *message;
    size_t image; /* its index */
} txm_scene_finding;

/* The scene's own file. */
typedef struct txm_scene_info {
    const char *path;        /* absolute */
    int version, subversion; /* version of the Blender that wrote it: 405, 501 */
    const char *compression; /* "plain", "gzip", "zstd" */
    unsigned pointer_bytes;
    bool big_endian;
    const char *working_space; /* scene-linear space of the file (5.1 and later); NULL: the config's */
    const char *format;        /* id of its txm_scene_format; versions are 0 for all but "blend" */
} txm_scene_info;

/* Reads a scene. `options` may be NULL. A library that is missing or broken is reported by txm_scene_library_at and
 * does not fail the call. NOT_FOUND, NOT_A_FILE, DENIED, IO, CORRUPT, NEWER, TOO_LARGE, UNSUPPORTED, CANCELLED,
 * NO_MEMORY. */
TXM_API txm_status txm_scene_open(const char *path, const txm_scene_options *options, txm_scene **out, txm_error *err);
TXM_API void txm_scene_close(txm_scene **scene); /* NULL-safe; sets *scene to NULL */

/* The scene's own file. Never NULL. */
TXM_API const txm_scene_info *txm_scene_info_of(const txm_scene *scene);
/* Images in the order of their names (then libraries); NULL beyond the last. */
TXM_API size_t txm_scene_image_count(const txm_scene *scene);
TXM_API const txm_scene_image *txm_scene_image_at(const txm_scene *scene, size_t index);
/* Libraries in the order in which they were found; NULL beyond the last. */
TXM_API size_t txm_scene_library_count(const txm_scene *scene);
TXM_API const txm_scene_library *txm_scene_library_at(const txm_scene *scene, size_t index);
/* The frames that a render of the file computes, one range for each of its scenes; *count is 0 for other formats than
 * .blend. */
TXM_API const txm_frame_range *txm_scene_frames(const txm_scene *scene, size_t *count);
/* The number of the file of a sequence that a node, one of the image's users, shows at a frame of the scene. false if
 * this is unknown, as when it is animated: it may then be any file of the sequence. */
TXM_API bool txm_scene_frame_number(const txm_scene *scene, const txm_scene_user *user, int32_t frame,
                                    uint32_t *number);
/* The path of the frame or tile with that number, whether it exists or not: a new string, free() it; NULL if memory is
 * exhausted or the image is a single file. */
TXM_API char *txm_scene_numbered_path(const txm_scene_image *image, uint32_t number);
/* Findings, if `lint` was set; NULL beyond the last. */
TXM_API size_t txm_scene_finding_count(const txm_scene *scene);
TXM_API const txm_scene_finding *txm_scene_finding_at(const txm_scene *scene, size_t index);

/* Writes a packed file under its name to `folder`, which is created if it does not exist. A file of that name with the
 * same content is left alone; if it has other content, the name becomes `name.001.ext`, `.002` and so on. *path
 * receives the file's path: free() it. Files appear complete or not at all. IO, DENIED, DISK_FULL, CORRUPT, NO_MEMORY;
 * UNSUPPORTED if neither its name nor its first bytes are those of an image; USAGE for an index out of range. */
TXM_API txm_status txm_scene_unpack(txm_scene *scene, size_t image, size_t packed, const char *folder, char **path,
                                    txm_error *err);

/* Finds the file that txm_scene_unpack has written, or would write, and writes nothing; *there: it exists. */
TXM_API txm_status txm_scene_find_unpacked(txm_scene *scene, size_t image, size_t packed, const char *folder,
                                           char **path, bool *there, txm_error *err);

/* ---- what a batch converts ------------------------------------------------------------------------------------ */

/* One file to convert. */
typedef struct txm_scene_entry {
    char *path;             /* absolute; owned */
    const char *pattern;    /* the image's path with its token, or frame digits as #, if it has tiles or frames; else
                             * NULL */
    const char *colorspace; /* as in txm_scene_image */
    txm_alpha alpha;
    size_t image; /* its index */
} txm_scene_entry;

/* Lists the files that a render of the scene loads, each combination of path, colour space and alpha once, in the order
 * of the images. If `packed_folder` is not NULL, packed images are unpacked into it and included. The working space is
 * that of txm_scene_info. Free *out with txm_scene_entries_free before the scene is closed. Failures are as those of
 * txm_scene_unpack. */
TXM_API txm_status txm_scene_entries(txm_scene *scene, const char *packed_folder, txm_scene_entry **out, size_t *count,
                                     txm_error *err);
TXM_API void txm_scene_entries_free(txm_scene_entry **entries, size_t count); /* NULL-safe */

/* "file", "sequence", "movie", "generated", "viewer", "tiled"; "unknown" for anything else. */
TXM_API const char *txm_scene_source_name(txm_scene_source source);
/* "ready", "missing", "packed", "no-path", "no-file". */
TXM_API const char *txm_scene_state_name(txm_scene_state state);
/* "read", "packed", "missing", "broken". */
TXM_API const char *txm_scene_library_state_name(txm_scene_library_state state);

#ifdef __cplusplus
}
#endif
#endif
