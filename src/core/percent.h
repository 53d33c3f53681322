/* SPDX-License-Identifier: Apache-2.0
 * Percent-encoded bytes: how JSON holds names that are not Unicode. */
#ifndef TXM_CORE_PERCENT_H
#define TXM_CORE_PERCENT_H
#include <stdbool.h>

/* Undoes percent-encoding in place; false where it is broken or holds a NUL byte. */
bool txm_percent_decode(char *text);
#endif
