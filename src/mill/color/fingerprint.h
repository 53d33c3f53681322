/* SPDX-License-Identifier: Apache-2.0
 * What a config makes of a colour space, as tx files record it. */
#ifndef TXM_COLOR_FINGERPRINT_H
#define TXM_COLOR_FINGERPRINT_H
#include <stdbool.h>

#include "txmill/color.h"

/* "2.1.2 ", then 27 floats of 8 hexadecimal digits. */
enum { TXM_FINGERPRINT_BYTES = 272 };

/* The text that a tx file gets whose image is in this space. */
const char *txm_color_fingerprint(const txm_color_space *space);

/* Whether a file's text may come from what this space does now. True also for a text that cannot be read: it proves
 * nothing. */
bool txm_color_fingerprint_fits(const txm_color_space *space, const char *stored);
#endif
