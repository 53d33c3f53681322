/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of OpenColorIO that textures need, as C. No function throws or prints. Strings belong to the config and
 * live as long as it does. All functions except loading, roles and freeing may be called from several threads.
 */
#ifndef TXM_COLOR_OCIO_H
#define TXM_COLOR_OCIO_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct txm_ocio txm_ocio;
typedef struct txm_ocio_processor txm_ocio_processor;

typedef struct txm_ocio_space {
    const char *name, *family, *description;
    size_t aliases; /* number of aliases */
    bool is_data;
} txm_ocio_space;

/* The highest config profile that the library loads ("2.1"), and whether it supports `ocio://` names and .ocioz
 * archives. */
void txm_ocio_newest_profile(unsigned *major, unsigned *minor);
bool txm_ocio_has_archives(void);
/* Version of the library: "2.1.2". */
const char *txm_ocio_version(void);

/* Loads a config from its text; relative paths in it are resolved against `folder` (NULL: none). `strict`: warnings of
 * the library are failures. CONFIG with the library's message. */
txm_status txm_ocio_from_text(const char *text, size_t size_bytes, const char *folder, bool strict, txm_ocio **out,
                              txm_error *err);
/* Loads the built-in config from its text, with the tables that it refers to (tables.cpp). */
txm_status txm_ocio_from_builtin(const char *text, size_t size_bytes, txm_ocio **out, txm_error *err);
/* Loads an archive or an `ocio://` name, if the library supports them. */
txm_status txm_ocio_from_library(const char *name, txm_ocio **out, txm_error *err);
/* OpenColorIO does not survive lack of memory: it reports that a config is damaged or loads a part of it, reads through
 * NULL, or throws from functions that are declared not to throw, at which C++ aborts. A program can set `end`, which is
 * then called on the thread that failed, to end the process in its own way. A thread that a library
 * could not start counts as lack of memory. */
void txm_ocio_before_abort(void (*end)(bool lacks_memory));
/* The text of the exception that ends the process, "" if there is none. */
const char *txm_ocio_abort_reason(void);
void txm_ocio_free(txm_ocio **ocio); /* NULL-safe */

void txm_ocio_profile(const txm_ocio *ocio, unsigned *major, unsigned *minor);
txm_status txm_ocio_set_role(txm_ocio *ocio, const char *role, const char *space, txm_error *err);

/* All colour spaces in the config's order, including inactive and display-referred ones. */
size_t txm_ocio_count(const txm_ocio *ocio);
void txm_ocio_space_at(const txm_ocio *ocio, size_t index, txm_ocio_space *out);
const char *txm_ocio_alias_at(const txm_ocio *ocio, size_t index, size_t alias);

/* Canonical name of a space, alias or role; NULL if unknown. */
const char *txm_ocio_canonical(const txm_ocio *ocio, const char *name);
/* The space that the config assigns to a role, whether it exists or not; NULL if it lacks the role. */
const char *txm_ocio_role(const txm_ocio *ocio, const char *role);
size_t txm_ocio_role_count(const txm_ocio *ocio);
const char *txm_ocio_role_at(const txm_ocio *ocio, size_t index); /* name of the role */
/* The space that a file rule other than the default one assigns to a path; NULL if none matches. */
const char *txm_ocio_file_rule(const txm_ocio *ocio, const char *path);

/* The library's default CPU processor between two spaces. COLORSPACE with the library's message. */
txm_status txm_ocio_processor_new(const txm_ocio *ocio, const char *from, const char *to, txm_ocio_processor **out,
                                  txm_error *err);
void txm_ocio_processor_free(txm_ocio_processor **processor); /* NULL-safe */
/* The library's digest of all that the processor does; "" if it has none. Lives as long as the processor. */
const char *txm_ocio_processor_id(const txm_ocio_processor *processor);
void txm_ocio_apply_rgb(const txm_ocio_processor *processor, float rgb[3]);
void txm_ocio_apply_rgba(const txm_ocio_processor *processor, float *rgba, size_t count);

#ifdef __cplusplus
}
#endif
#endif
