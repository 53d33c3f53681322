/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

static void (*end_handler)(int number);
static void (*time_handler)(void);
static bool (*fault_handler)(void *address);
static void (*abort_handler)(void);

static void on_end_signal(int number)
{
    const int saved = errno;
    end_handler(number);
    errno = saved;
}

static void on_time_signal(int number)
{
    const int saved = errno;
    (void)number;
    time_handler();
    errno = saved;
}

static void on_fault_signal(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    (void)context;
    if (info->si_code <= 0 || !fault_handler(info->si_addr))
        txm_signal_obey(number);
    errno = saved;
}

/* A scheduler sends SIGXCPU, and a terminal that is closed sends SIGHUP. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
enum { ENDING = sizeof ending / sizeof *ending };

void txm_signals_on_end(void (*on_end)(int number))
{
    struct sigaction action = {.sa_handler = on_end_signal, .sa_flags = SA_RESTART}, before;
    end_handler = on_end;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ENDING; i++)
        sigaddset(&action.sa_mask, ending[i]);
    for (size_t i = 0; i < ENDING; i++)
        if (ending[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
}

void txm_signals_hold_ends(bool hold)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ENDING; i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* The system repeats SIGXCPU every second by itself, and SIGHUP may come both from the shell and from the terminal. */
bool txm_signal_is_request(int number)
{
    return number == SIGINT || number == SIGTERM;
}

void txm_signal_obey(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

void txm_signals_on_timer(void (*on_time)(void), int first_ms, int again_ms)
{
    struct sigaction action = {.sa_handler = on_time_signal, .sa_flags = SA_RESTART};
    const struct itimerval timer = {{again_ms / 1000, again_ms % 1000 * 1000},
                                    {first_ms / 1000, first_ms % 1000 * 1000}};
    time_handler = on_time;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void txm_signals_on_fault(bool (*repair)(void *address))
{
    struct sigaction action = {.sa_sigaction = on_fault_signal, .sa_flags = SA_SIGINFO};
    fault_handler = repair;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void txm_signals_let_writes_fail(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool txm_thread_without_signals(void *(*run)(void *unused))
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool started = pthread_create(&thread, NULL, run, NULL) == 0;
    if (started)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void txm_signals_ignore_terminal(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

static void on_abort_signal(int number)
{
    (void)number;
    abort_handler();
}

void txm_signals_on_abort(void (*give_up)(void))
{
    abort_handler = give_up;
    signal(SIGABRT, give_up ? on_abort_signal : SIG_DFL);
}

_Noreturn void txm_exit_at_once(int code)
{
    _exit(code);
}
