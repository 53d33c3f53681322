/* SPDX-License-Identifier: Apache-2.0
 * How much memory a conversion takes, and how --max-memory is respected. */
#ifndef TXM_CONVERT_MEMORY_H
#define TXM_CONVERT_MEMORY_H
#include "mill/convert/conform.h"
#include "txtile/settings.h"

/* The least number of bands of level 0 that must be alive at once: three that the tiler holds and one in transit. Twice
 * as many if the hash reads copies, as for latitude-longitude images. */
enum { TXM_MIN_BANDS = 4 };
/* What `txmill make` takes for a tiny image: libraries and tables, and OpenColorIO if it converts colours. */
enum { TXM_PROCESS_BYTES = 20 << 20, TXM_OCIO_BYTES = 12 << 20 };

/* The estimated peak bytes of one conversion with `bands` bands of level 0 in flight on `threads` threads, without what
 * every process takes (libraries, tables). It is proportional to the width and independent of the height. */
uint64_t txm_convert_memory(const txm_conform *conform, const txm_settings *settings, unsigned bands, unsigned threads);

/* The estimated peak bytes of a process that makes one image: what every process takes, the conversion, for a small
 * image no more than a few copies of it, and what its reader holds. */
uint64_t txm_convert_needs(const txm_conform *conform, const txm_settings *settings, unsigned bands, unsigned threads,
                           uint64_t reader_bytes);

/* The number of bands in flight that keeps `threads` threads busy within max_memory_bytes (0: no bound). 0 if not even
 * the fewest fit; *needed_bytes (may be NULL) then receives what these need. *held (may be NULL) receives how many more
 * may be held back for the hash; 0 if there is no room for them. */
unsigned txm_convert_bands(const txm_conform *conform, const txm_settings *settings, unsigned threads,
                           uint64_t reader_bytes, uint64_t max_memory_bytes, unsigned *held, uint64_t *needed_bytes);

/* Reports that a conversion does not fit, and what would suffice. TOO_LARGE. */
txm_status txm_convert_refuse(const char *path, uint64_t needed_bytes, txm_error *err);
#endif
