/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the struct definitions, which are at the end of the file, after everything that they explain.
 *
 * Without them no struct can be read. Where the stream can move freely (plain files, zstd with a seek table)
 * the end is looked at first, which for a scene of gigabytes takes milliseconds; otherwise all blocks are
 * walked, and what will be needed again is recorded so that the file is decompressed only once.
 */
#ifndef TXM_SCENE_LOCATE_H
#define TXM_SCENE_LOCATE_H
#include "mill/scene/dna.h"
#include "mill/scene/tape.h"

/* Finds and parses the DNA1 block: from the end where the stream can get there cheaply, else by walking all blocks, and
 * then `tape` records them (it stays empty otherwise). */
txm_status txm_locate_dna(txm_stream *stream, const txm_blend_format *format, txm_tape *tape, txm_dna **out,
                          txm_error *err);
#endif
