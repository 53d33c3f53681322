/* SPDX-License-Identifier: Apache-2.0 Writes HTML in which text from any source is text, never markup. */
#ifndef TXM_TOOLS_HTML_H
#define TXM_TOOLS_HTML_H
#include <stddef.h>
#include <stdio.h>

#include "txtile/status.h"

/* Writes text as content or inside a quoted attribute; bytes that are not UTF-8 and control characters become
 * U+FFFD. NULL is empty. */
void txm_html_text(FILE *out, const char *text);
/* Writes 'sha256-...', the form in which a content security policy names a style or script element. Returns 0, or -1
 * if the crypto library fails. */
void txm_html_digest(FILE *out, const void *data, size_t bytes);
/* Writes bytes as base64, for a data: address. NO_MEMORY, also beyond 1 GiB. */
txm_status txm_html_base64(FILE *out, const void *data, size_t bytes, txm_error *err);
#endif
