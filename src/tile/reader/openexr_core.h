/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenEXRCore for the readers of tx files. It is loaded when the first tile needs one of the rarer codecs, so a program
 * that only reads tiles neither links it nor starts it.
 */
#ifndef TXM_READER_OPENEXR_CORE_H
#define TXM_READER_OPENEXR_CORE_H
#include <openexr.h>
#include <stdbool.h>

#define TXM_OPENEXR_FUNCTIONS(F)                                                                                       \
    F(exr_start_read)                                                                                                  \
    F(exr_finish)                                                                                                      \
    F(exr_read_tile_chunk_info)                                                                                        \
    F(exr_decoding_initialize)                                                                                         \
    F(exr_decoding_update)                                                                                             \
    F(exr_decoding_choose_default_routines)                                                                            \
    F(exr_decoding_run)                                                                                                \
    F(exr_decoding_destroy)                                                                                            \
    F(exr_get_default_error_message)

/* The functions, under their own names. */
typedef struct txm_openexr_core {
#define MEMBER(name) __typeof__(name) *name;
    TXM_OPENEXR_FUNCTIONS(MEMBER)
#undef MEMBER
} txm_openexr_core;

/* NULL if the library version of this build (TXM_OPENEXR_SONAME) is not installed. Thread-safe. */
const txm_openexr_core *txm_openexr_core_load(void);
/* Whether it was not loaded for lack of memory. */
bool txm_openexr_core_lacked_memory(void);
#endif
