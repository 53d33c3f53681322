/* SPDX-License-Identifier: Apache-2.0
 * The words of the cache's policies for options, which are constants: composed before main begins. */
#ifndef STREAM_POLICY_WORDS_H
#define STREAM_POLICY_WORDS_H

enum { STM_POLICY_TEXT = 1024 };
/* The names of the policies, and what each evicts. */
extern char stm_policy_values[STM_POLICY_TEXT], stm_policy_more[STM_POLICY_TEXT];
/* The same with the short names of columns, and with the optimum. */
extern char stm_replay_policy_values[STM_POLICY_TEXT], stm_replay_policy_more[STM_POLICY_TEXT];
#endif
