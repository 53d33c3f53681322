/* SPDX-License-Identifier: Apache-2.0 Formats numbers for people. */
#ifndef TXM_TOOLS_FORMAT_H
#define TXM_TOOLS_FORMAT_H
#include <stddef.h>
#include <stdint.h>

enum { TXM_FORMAT_BYTES = 24 };

/* "812 B", "1.2 kB", "34.5 MB", "2.1 GB" (powers of 1000) into `out`, which is returned. */
char *txm_format_bytes(uint64_t bytes, char out[TXM_FORMAT_BYTES]);
/* "8 ms", "0.42 s", "12.3 s", "4 min 05 s". */
char *txm_format_seconds(double seconds, char out[TXM_FORMAT_BYTES]);
/* "1 image", "3 images"; of nouns in "y" ("library") "3 libraries". With `are`: "1 image is", "3 images are". */
enum { TXM_FORMAT_COUNT = 64 };
const char *txm_format_count(size_t count, const char *noun, char out[TXM_FORMAT_COUNT]);
const char *txm_format_were(size_t count, const char *noun, char out[TXM_FORMAT_COUNT]);
const char *txm_format_are(size_t count, const char *noun, char out[TXM_FORMAT_COUNT]);
/* "grey", "grey+alpha", "RGB", "RGBA" for 1 to 4 channels. */
const char *txm_format_channels(uint32_t channels);
#endif
