/* SPDX-License-Identifier: Apache-2.0
 * Writing HTML: text that came from anywhere becomes text, never markup. */
#ifndef TXM_TOOLS_HTML_H
#define TXM_TOOLS_HTML_H
#include <stddef.h>
#include <stdio.h>

#include "txtile/status.h"

/* Text as content or inside a quoted attribute; bytes that are not UTF-8 and control characters become U+FFFD. NULL is
 * nothing. */
void txm_html_text(FILE *out, const char *text);
/* 'sha256-...', as a content security policy names the content of a style or script element. 0, or -1 if the crypto
 * library refuses. */
void txm_html_digest(FILE *out, const void *data, size_t bytes);
/* Bytes as base64, for a data: address. NO_MEMORY, beyond 1 GiB in any case. */
txm_status txm_html_base64(FILE *out, const void *data, size_t bytes, txm_error *err);
#endif
