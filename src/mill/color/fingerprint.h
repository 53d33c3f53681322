/* SPDX-License-Identifier: Apache-2.0
 * Fingerprints of what a config does with a colour space, as stored in tx files. */
#ifndef TXM_COLOR_FINGERPRINT_H
#define TXM_COLOR_FINGERPRINT_H
#include <stdbool.h>

#include "txmill/color.h"

/* "2.1.2 ", then 27 floats of 8 hexadecimal digits. */
enum { TXM_FINGERPRINT_BYTES = 272 };

const char *txm_color_fingerprint(const txm_color_space *space);

/* Whether a stored fingerprint may be that of what this space does now. Also true for a malformed one, which proves
 * nothing. */
bool txm_color_fingerprint_fits(const txm_color_space *space, const char *stored);
#endif
