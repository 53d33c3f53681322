/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that the textures of scenes need: the scenes with their libraries, images, tiles and frames, and the tx
 * files that Cycles loads in their place. Each file is in the list once, whichever scenes use it.
 *
 * The room tools/files has what commands do with this list: text and manifests (list_out.c), and the way back
 * (restore.c).
 */
#ifndef TXM_TOOLS_NEEDED_H
#define TXM_TOOLS_NEEDED_H
#include "base/names.h"
#include "tools/list/list_report.h"

typedef enum txm_needed_role {
    TXM_NEEDED_SCENE,
    TXM_NEEDED_LIBRARY, /* a .blend file that is linked, an included file of another format */
    TXM_NEEDED_IMAGE,   /* also a tile of a UDIM set and a frame of a sequence */
    TXM_NEEDED_MOVIE,
    TXM_NEEDED_TX,
    TXM_NEEDED_ROLES
} txm_needed_role;
extern const char *const txm_needed_role_names[TXM_NEEDED_ROLES];

enum { TXM_MOST_RANGES = 256, TXM_LAST_FRAME = 1048574 /* Blender's */ };
/* Frames that a user names: "1-100", "1-100:5", "7,9" (txm_opt_parse_fn). */
typedef struct txm_frame_list {
    txm_frame_range ranges[TXM_MOST_RANGES];
    size_t count;
} txm_frame_list;
txm_status txm_frame_list_parse(const char *text, void *list, txm_error *err);

typedef struct txm_needed_file {
    const char *path; /* absolute */
    txm_needed_role role;
    bool there;         /* it exists; a tx file: Cycles loads it */
    bool foreign;       /* it exists, but is neither an image nor a movie, and is treated as missing */
    txm_tx_state state; /* of a tx file */
    uint32_t number;    /* of a tile or frame; 0: none */
    const char *of;     /* the image of a tx file, the file that links a library; NULL: none */
    const char *frames; /* of the render that need it, as txm_frame_list_parse takes them, once txm_needed_finish was
                           called; NULL: all, or it is unknown which */
    bool always;        /* not only in some frames */
} txm_needed_file;

/* Zero-initialise, then set the first members. */
typedef struct txm_needed {
    const txm_frame_list *frames;   /* NULL or empty: those of each scene */
    bool without[TXM_NEEDED_ROLES]; /* roles that are left out */
    txm_needed_file *files;
    size_t count, capacity;
    txm_names names;             /* paths, whose value is 1 + the index; and other texts */
    struct txm_frame_use *shown; /* in which frames which file is needed */
    size_t shown_count, shown_capacity;
    bool shown_dropped;               /* there were too many to be kept */
    size_t absent, steps;             /* missing frames, and frames of nodes that were computed */
    struct txm_image_frames *current; /* of the image at hand */
} txm_needed;

/* txm_scenes_how.wants with a txm_needed: frames that no render needs are not looked up. */
bool txm_needed_wants(void *needed, const txm_list_report *report, const txm_scene_image *image,
                      const txm_scene_image_file *file);
/* Adds the files of a scene. NO_MEMORY. */
txm_status txm_needed_add(txm_needed *needed, const txm_list_report *report, txm_error *err);
/* Call it after the last scene: sets the frames. NO_MEMORY. */
txm_status txm_needed_finish(txm_needed *needed, txm_error *err);
void txm_needed_free(txm_needed *needed);
#endif
