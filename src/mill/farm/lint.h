/* SPDX-License-Identifier: Apache-2.0
 * Lint: likely mistakes in an image or its settings. */
#ifndef TXM_FARM_LINT_H
#define TXM_FARM_LINT_H
#include "txmill/batch.h"

/* From the name and what the pixels are taken for (the class as stored in tx files): findings as bits of txm_lint. */
unsigned txm_lint_settings(const char *path, const char *detected, uint32_t width, uint32_t height);
/* From the pixels. Reads until every suspicion is refuted, which for most images is the first rows. Adds to *findings.
 * As reading; CANCELLED. `cancel` may be NULL. */
txm_status txm_lint_pixels(const char *path, uint64_t max_memory_bytes, const volatile int *cancel, unsigned *findings,
                           txm_error *err);
#endif
