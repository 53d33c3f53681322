/* SPDX-License-Identifier: Apache-2.0
 * What a space does with values: converting images of one channel, and fingerprints, as stored in tx files. */
#ifndef TXM_COLOR_VALUES_H
#define TXM_COLOR_VALUES_H
#include <stdbool.h>

#include "txmill/color.h"

/* As txm_color_apply, for pixels whose three colours are equal before: *grey receives one value for each, the mean of
 * the three after conversion. `rgba` is overwritten, and may begin where `grey` does. */
void txm_color_apply_grey(const txm_color_space *space, float *rgba, float *grey, size_t count);

/* "2.1.2 ", then 27 floats of 8 hexadecimal digits. */
enum { TXM_FINGERPRINT_BYTES = 272 };

const char *txm_color_fingerprint(const txm_color_space *space);

/* Whether a stored fingerprint may be that of what this space does now. Also true for a malformed one, which proves
 * nothing. */
bool txm_color_fingerprint_fits(const txm_color_space *space, const char *stored);
#endif
