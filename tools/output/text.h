/* SPDX-License-Identifier: Apache-2.0
 * Text from files on standard output. */
#ifndef TXM_TOOLS_TEXT_H
#define TXM_TOOLS_TEXT_H

/* Prints a file name or a text from a file with its control characters as \xHH: it can neither tear the line apart that
 * scripts read nor drive a terminal. */
void txm_print_safe(const char *text);
#endif
