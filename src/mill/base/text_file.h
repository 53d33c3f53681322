/* SPDX-License-Identifier: Apache-2.0
 * Text that people hand over: lists, rules, logs. It may come from a pipe whose writer is slow, or never comes. */
#ifndef TXM_BASE_TEXT_FILE_H
#define TXM_BASE_TEXT_FILE_H
#include <stdio.h>

#include "tile/base/shared.h"

/* Opens a file, FIFO or device for reading, "-" for standard input, which fclose leaves open. Opening a FIFO does not
 * wait for its writer, reading does. Once `cancel` (may be NULL; outlives the stream) asks to stop, reads fail with
 * ECANCELED, at the latest half a second later. NULL with errno. */
TXM_SHARED FILE *txm_text_file_open(const char *path, const volatile int *cancel);
#endif
