/* SPDX-License-Identifier: Apache-2.0
 * Text files that users provide: lists, rules, logs. They may be pipes whose writer is slow, or never comes. */
#ifndef TXM_BASE_TEXT_FILE_H
#define TXM_BASE_TEXT_FILE_H
#include <stdio.h>

/* Opens a file, FIFO or device for reading; "-" is standard input, which fclose leaves open. Opening a FIFO does not
 * wait for its writer, but reading does. Once *cancel is set (`cancel` may be NULL, and must outlive the stream), reads
 * fail with ECANCELED within half a second. NULL with errno on failure. */
FILE *txm_text_file_open(const char *path, const volatile int *cancel);
#endif
