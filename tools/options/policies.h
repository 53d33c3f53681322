/* SPDX-License-Identifier: Apache-2.0
 * The texture cache's policies as words of the command line: all of them come from the library's own list. */
#ifndef TXMILL_OPTIONS_POLICIES_H
#define TXMILL_OPTIONS_POLICIES_H

enum { TXM_POLICY_TEXT = 1024 };

/* For txm_option: names in the order of txm_cache_policy, then those of replays, and what each does, in sentences for
 * the manual. */
extern char txm_policy_values[TXM_POLICY_TEXT], txm_policy_more[TXM_POLICY_TEXT];
extern char txm_replay_policy_values[TXM_POLICY_TEXT], txm_replay_policy_more[TXM_POLICY_TEXT];
#endif
