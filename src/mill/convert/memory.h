/* SPDX-License-Identifier: Apache-2.0
 * What a conversion takes in memory, and how --max-memory is obeyed. */
#ifndef TXM_CONVERT_MEMORY_H
#define TXM_CONVERT_MEMORY_H
#include "mill/convert/conform.h"
#include "txtile/settings.h"

/* Bands of level 0 that must be allowed to live at once: three that the tiler holds and one that moves. Twice as many
 * where the hash reads copies, as of latitude-longitude images. */
enum { TXM_MIN_BANDS = 4 };
/* Libraries, OCIO config, tables: what `txmill make` takes on a tiny image. */
enum { TXM_PROCESS_BYTES = 32 << 20 };

/* Estimated peak bytes of one conversion with `bands` bands of level 0 in flight on `threads` threads, without what the
 * process takes anyway (libraries, tables). Proportional to the width, independent of the height. */
uint64_t txm_convert_memory(const txm_conform *conform, const txm_settings *settings, unsigned bands, unsigned threads);

/* Bands in flight that keep `threads` threads busy within max_memory_bytes (0: no bound); 0 when not even the fewest
 * fit: *needed_bytes (may be NULL) then says what they need. */
unsigned txm_convert_bands(const txm_conform *conform, const txm_settings *settings, unsigned threads,
                           uint64_t max_memory_bytes, uint64_t *needed_bytes);

/* Says that a conversion does not fit, and how much would do. TOO_LARGE. */
txm_status txm_convert_refuse(const char *path, uint64_t needed_bytes, txm_error *err);
#endif
