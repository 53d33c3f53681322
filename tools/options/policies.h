/* SPDX-License-Identifier: Apache-2.0
 * The texture cache's policies as values of options, taken from the library's list. */
#ifndef TXMILL_OPTIONS_POLICIES_H
#define TXMILL_OPTIONS_POLICIES_H

enum { TXM_POLICY_TEXT = 1024 };

/* For txm_option: the names in the order of txm_cache_policy, then those that only replays have, and sentences about
 * each for the manual. */
extern char txm_policy_values[TXM_POLICY_TEXT], txm_policy_more[TXM_POLICY_TEXT];
extern char txm_replay_policy_values[TXM_POLICY_TEXT], txm_replay_policy_more[TXM_POLICY_TEXT];
#endif
