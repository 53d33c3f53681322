/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the struct definitions, which are at the end of the file, after everything that they explain. */
#ifndef TXM_BLEND_LOCATE_H
#define TXM_BLEND_LOCATE_H
#include "blend/dna.h"
#include "blend/tape.h"

/* Finds and parses the DNA1 block: from the end where the stream can get there cheaply, else by walking all blocks, and
 * then `tape` records them (it stays empty otherwise). */
txm_status txm_locate_dna(txm_stream *stream, const txm_blend_format *format, txm_tape *tape, txm_dna **out,
                          txm_error *err);
#endif
