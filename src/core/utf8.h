/* SPDX-License-Identifier: Apache-2.0
 * Valid UTF-8: names of files are bytes, JSON and HTML are not. */
#ifndef TXM_CORE_UTF8_H
#define TXM_CORE_UTF8_H
#include <stddef.h>

/* Length of the valid UTF-8 sequence at `text`, 0 if there is none (overlong forms and surrogates are not valid). */
size_t txm_utf8_sequence(const char *text);
#endif
