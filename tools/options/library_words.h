/* SPDX-License-Identifier: Apache-2.0
 * Words of the command line that come from the library's own list of filters. */
#ifndef TXMILL_OPTIONS_LIBRARY_WORDS_H
#define TXMILL_OPTIONS_LIBRARY_WORDS_H

enum { TXM_WORDS_TEXT = 1024 };

/* For txm_option: names in the order of the library's enumeration, and what each means, in sentences for the manual. */
extern char txm_filter_values[TXM_WORDS_TEXT], txm_filter_more[TXM_WORDS_TEXT];
#endif
