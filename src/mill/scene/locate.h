/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the struct definitions, without which no struct can be read, and which are at the end of the file. If the
 * stream can seek (plain files, zstd with a seek table), the end is read first, which takes milliseconds even for a
 * scene of gigabytes; otherwise all blocks are walked, and what will be needed again is recorded, so that the file is
 * decompressed only once.
 */
#ifndef TXM_SCENE_LOCATE_H
#define TXM_SCENE_LOCATE_H
#include "mill/scene/dna.h"
#include "mill/scene/tape.h"

/* Finds and parses the DNA1 block: from the end if the stream can seek there cheaply, else by walking all blocks, which
 * `tape` then records (it stays empty otherwise). */
txm_status txm_locate_dna(txm_stream *stream, const txm_blend_layout *format, txm_tape *tape, txm_dna **out,
                          txm_error *err);
#endif
