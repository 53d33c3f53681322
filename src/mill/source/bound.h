/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory an image may take if the user has set no bound: not more than an honest file of its size needs, and
 * not more than there is. Included by the OpenImageIO module too, so it has no functions of the library.
 *
 * Formats whose compression has a limit of its own cannot hold more pixels than that: their ratio is in
 * format_table.h. The others (wavelets, predictors, runs of any length) shrink an image of one colour to some hundred
 * bytes, and honest programs write such images, as masks. Of these every file may hold 8192 x 8192 pixels of 8 bytes
 * and a copy of a fifth of that, and more by what large textures reach.
 */
#ifndef TXM_SOURCE_BOUND_H
#define TXM_SOURCE_BOUND_H
#include <stdint.h>

enum { TXM_BOUND_FREE_MIB = 64, TXM_BOUND_FREE_MIB_WITHOUT_RATIO = 640, TXM_BOUND_USUAL_RATIO = 4096 };

/* `ratio`: that of the table, 0 if there is none. */
static inline double txm_bound_of_file(uint64_t file_bytes, unsigned ratio)
{
    return (ratio ? TXM_BOUND_FREE_MIB : TXM_BOUND_FREE_MIB_WITHOUT_RATIO) * 1048576.0 +
           (double)(ratio ? ratio : (unsigned)TXM_BOUND_USUAL_RATIO) * (double)file_bytes;
}

/* Both end with the option that decides instead, and the variable for commands that do not have it. */
#define TXM_BOUND_FILE_TEXT                                                                                            \
    "%s: decoding it would take %.0f MiB of memory, but a file of %llu bytes holds at most %.0f MiB of pixels if an "  \
    "honest program wrote it; --max-memory %.0fM decodes it nevertheless, in other commands " TXM_BOUND_VARIABLE       \
    "=%.0f"
#define TXM_BOUND_MEMORY_TEXT                                                                                          \
    "%s: decoding it takes %.0f MiB of memory, and %.0f MiB are free; free memory, or --max-memory %.0fM tries it "    \
    "nevertheless, in other commands " TXM_BOUND_VARIABLE "=%.0f"
#define TXM_BOUND_VARIABLE "TXMILL_IMAGE_MEGABYTES"
#endif
