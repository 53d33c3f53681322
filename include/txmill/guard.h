/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks an output that a user named, before anything is written, because a name that was left out before a glob must
 * not cost a texture:
 *
 *     txmill view --html textures/blender_tx/(all).tx    would write the page over the first of them
 *
 *     const txm_output page = {"--html", path, TXM_OUTPUT_PAGE, false};
 *     if (txm_guard_operands(&page, inputs, input_count, &err) != TXM_OK)
 *         return report(&err);
 *
 * Refused are a folder; an input of the command, by whatever name or link; an image that has a tx file, or from which
 * an input was made; and, unless the user said that it may be overwritten, a file of another kind than that to be
 * written. Pictures, pages and plots are of the same kind only if txmill's functions wrote them (TXM_OUT_FILE_SEAL) and
 * nobody changed them since; others may be textures, so nothing replaces them, nor a scene, a tx file or a log.
 */
#ifndef TXMILL_GUARD_H
#define TXMILL_GUARD_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/export.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be written. */
typedef enum txm_output_kind {
    TXM_OUTPUT_TX,
    TXM_OUTPUT_PICTURE,
    TXM_OUTPUT_PAGE,
    TXM_OUTPUT_LOG,    /* JSON lines of txmill */
    TXM_OUTPUT_PIXELS, /* pixels of a tile, as text or raw bytes */
    TXM_OUTPUT_TRACE,  /* a texture cache's trace */
    TXM_OUTPUT_TABLE,  /* lines of tiles, whose first line names the columns: "# image", part ... between tabs */
    TXM_OUTPUT_PLOT,   /* SVG */
    TXM_OUTPUT_ARCHIVE /* txmill/archive.h */
} txm_output_kind;

/* An output, by the option that named it. */
typedef struct txm_output {
    const char *option; /* for messages: "--html" */
    const char *path;   /* NULL and "-": nothing to guard */
    txm_output_kind kind;
    bool overwrite; /* files of other kinds may be replaced, unless they are sources */
} txm_output;

/* The inputs of a command; a call beyond the last returns NULL. */
typedef const char *(*txm_guard_input)(const void *user, size_t index);

/* TXM_OK, or USAGE with the file that is in the way and what to do. A name that does not exist yet, a device, a pipe
 * or a socket is accepted. */
TXM_API txm_status txm_guard_output(const txm_output *output, txm_guard_input input, const void *user, txm_error *err);

/* The same for inputs in an array: operands. */
TXM_API txm_status txm_guard_operands(const txm_output *output, char *const *items, size_t count, txm_error *err);

/* Refuses to replace a tx file that belongs, by its name, to another image than `image`. Returns the same as
 * txm_guard_output. */
TXM_API txm_status txm_guard_tx_of(const txm_output *output, const char *image, txm_error *err);

/* What a file is. */
typedef enum txm_file_kind {
    TXM_FILE_OTHER,
    TXM_FILE_FOLDER,
    TXM_FILE_TX,
    TXM_FILE_IMAGE,
    TXM_FILE_SCENE,
    TXM_FILE_PTEX,
    TXM_FILE_RIFF,
    TXM_FILE_PACKED, /* by gzip or zstd: a scene may be in it */
    TXM_FILE_PAGE,
    TXM_FILE_LOG
} txm_file_kind;

/* The kind of a file by its first bytes. *noun (may be NULL) receives its name with an article, for messages: "a PNG
 * image", "a Blender scene", "a folder". */
TXM_API txm_file_kind txm_kind_of_file(const char *path, const char **noun);

#ifdef __cplusplus
}
#endif
#endif
