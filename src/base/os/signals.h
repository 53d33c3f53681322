/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals of a program. Only programs use these, never a library: a process has one handler for each signal, which is
 * also why the handlers are kept in variables of this file.
 *
 * Elsewhere: macOS has the same calls. Windows has SetConsoleCtrlHandler, which calls on a thread of its own,
 * AddVectoredExceptionHandler for pages that cannot be read, timer queues, and no signal for a pipe without reader.
 */
#ifndef TXM_BASE_OS_SIGNALS_H
#define TXM_BASE_OS_SIGNALS_H
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#define TXM_NORETURN [[noreturn]]
#else
#define TXM_NORETURN _Noreturn
#endif

/* Handlers may only call what is async-signal-safe; errno is kept for them. System calls go on after them. */

/* Calls `on_end` for the signals that ask a program to end: from a terminal, a scheduler, or because its time is used
 * up. What nohup has ignored stays so. */
void txm_signals_on_end(void (*on_end)(int number));
/* Lets such signals wait for this thread, and for a program that it becomes, or no longer. */
void txm_signals_hold_ends(bool hold);
/* Whether a person or a script asks; other such signals are repeated by the system itself. */
bool txm_signal_is_request(int number);
/* Ends this process by a signal, as without a handler. */
void txm_signal_obey(int number);
/* Calls `on_time` after first_ms, and then every again_ms. */
void txm_signals_on_timer(void (*on_time)(void), int first_ms, int again_ms);
/* Calls `repair` when a page cannot be read; if it returns false, the process ends as without it. */
void txm_signals_on_fault(bool (*repair)(void *address));
/* A write that nobody reads, or beyond the limit of file sizes, fails and raises no signal. */
void txm_signals_let_writes_fail(void);
/* Runs a thread that nobody waits for and that takes no signals, which are for the others. Whether it was started. */
bool txm_thread_without_signals(void *(*run)(void *unused));
/* Requests of a terminal are for another process of its group. */
void txm_signals_ignore_terminal(void);
/* Calls `give_up` when a library calls abort; NULL: as without it. */
void txm_signals_on_abort(void (*give_up)(void));
/* Ends the process without waiting for its threads. Async-signal-safe. */
TXM_NORETURN void txm_exit_at_once(int code);

#ifdef __cplusplus
}
#endif
#endif
