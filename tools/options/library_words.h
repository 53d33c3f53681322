/* SPDX-License-Identifier: Apache-2.0
 * Words of the command line that come from the library's own lists: the texture cache's policies, and filters. */
#ifndef TXMILL_OPTIONS_LIBRARY_WORDS_H
#define TXMILL_OPTIONS_LIBRARY_WORDS_H

enum { TXM_WORDS_TEXT = 1024 };

/* For txm_option: names in the order of the library's enumeration, and what each means, in sentences for the manual.
 * Policies twice, as caches and as replays name them. */
extern char txm_policy_values[TXM_WORDS_TEXT], txm_policy_more[TXM_WORDS_TEXT];
extern char txm_replay_policy_values[TXM_WORDS_TEXT], txm_replay_policy_more[TXM_WORDS_TEXT];
extern char txm_filter_values[TXM_WORDS_TEXT], txm_filter_more[TXM_WORDS_TEXT];
#endif
