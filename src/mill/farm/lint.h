/* SPDX-License-Identifier: Apache-2.0
 * Lint: likely mistakes in an image or its settings. */
#ifndef TXM_FARM_LINT_H
#define TXM_FARM_LINT_H
#include "mill/convert/context.h"
#include "txmill/batch.h"

/* Returns findings, bits of txm_lint, from the name and the class of the colour space as stored in tx files. */
unsigned txm_lint_settings(const char *path, const char *detected, uint32_t width, uint32_t height);
/* Adds findings from the pixels to *findings. Reads until every suspicion is refuted, which for most images takes the
 * first rows; with `whole`, all of them, so that damage anywhere is a failure. Fails as reading does, and with
 * CANCELLED. `cancel` may be NULL. */
txm_status txm_lint_pixels(const txm_context *context, const char *path, const volatile int *cancel, bool whole,
                           unsigned *findings, txm_error *err);
#endif
