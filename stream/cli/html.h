/* SPDX-License-Identifier: Apache-2.0
 * Writes HTML in which text from any source is text, never markup. */
#ifndef STREAM_HTML_H
#define STREAM_HTML_H
#include <stdio.h>

#include "txtile/status.h"

/* Text as content or inside a quoted attribute; bytes that are not UTF-8 and control characters become U+FFFD. NULL is
 * empty. */
void stm_html_text(FILE *out, const char *text);
/* 'sha256-...', the form in which a content security policy names a style. NO_MEMORY. */
txm_status stm_html_digest(FILE *out, const void *data, size_t bytes, txm_error *err);
/* Bytes as base64, for a data: address. NO_MEMORY. */
txm_status stm_html_base64(FILE *out, const void *data, size_t bytes, txm_error *err);
#endif
