/* SPDX-License-Identifier: Apache-2.0
 *
 * The image part of a tx file, which comes before its border section. txmill-borders(5) documents the section.
 */
#ifndef TXM_READER_SECTION_H
#define TXM_READER_SECTION_H
#include "base/shared.h"
#include "txtile/reader.h"

/* Writes the image part of an open file to `fd`, so that a section can be appended. CHANGED if the file became
 * shorter. */
TXM_SHARED txm_status txm_section_copy_image(const txm_tx *tx, int fd, txm_error *err);
#endif
