/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs are started with posix_spawn instead of fork, because this process may have many threads and gigabytes
 * mapped.
 */
#include "base/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"

extern char **environ;

/* Actions run in the order in which they are added; `high` has the files above all targets. The thread's mask and what
 * this process ignores must not reach the program: a limit of processor time has to end it. */
static int spawn(const txm_program *program, const int *high, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (program->group ? POSIX_SPAWN_SETPGROUP : 0);
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGHUP);
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    if ((rc = posix_spawnattr_init(&attributes)) == 0) {
        rc = posix_spawnattr_setsigmask(&attributes, &none);
        if (rc == 0)
            rc = posix_spawnattr_setsigdefault(&attributes, &all);
        if (rc == 0)
            rc = posix_spawnattr_setflags(&attributes, (short)flags);
        for (int i = 0; rc == 0 && i < program->file_count; i++) {
            if (program->files[i] == TXM_FILE_NOTHING)
                rc = posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
            else if (program->files[i] != TXM_FILE_SAME)
                rc = posix_spawn_file_actions_adddup2(&actions, high[i], i);
        }
        if (rc == 0)
            rc = posix_spawn_file_actions_addclosefrom_np(&actions, program->file_count);
        if (rc == 0)
            rc = posix_spawnp(pid, program->argv[0], &actions, &attributes, program->argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

int txm_process_start(const txm_program *program, long *pid)
{
    int high[TXM_PROGRAM_FILES], rc = 0, count = 0;
    pid_t started = 0;
    for (; rc == 0 && count < program->file_count; count++) {
        const int fd = program->files[count];
        high[count] = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, TXM_PROGRAM_FILES);
        if (fd >= 0 && high[count] < 0)
            rc = errno;
    }
    if (rc == 0)
        rc = spawn(program, high, &started);
    for (int i = 0; i < count; i++)
        if (high[i] >= 0)
            close(high[i]);
    *pid = rc == 0 ? (long)started : 0;
    return rc;
}

int txm_process_become(const char *path, char *const *argv)
{
    execv(path, argv);
    return errno;
}

/* A signal of these kinds has a cause that callers know; all others are crashes. */
static txm_end_cause cause_of(int number)
{
    switch (number) {
    case SIGHUP:
    case SIGINT:
    case SIGTERM:
        return TXM_END_STOPPED;
    case SIGKILL:
        return TXM_END_KILLED;
    case SIGABRT:
        return TXM_END_GAVE_UP;
    case SIGXCPU:
        return TXM_END_OVERTIME;
    default:
        return TXM_END_CRASHED;
    }
}

/* Asks at growing intervals, since a wait with a time limit would need SIGCHLD, which belongs to the program. */
bool txm_process_wait(long pid, double seconds, txm_end *end)
{
    const double until = txm_clock_seconds() + seconds;
    long nap_ms = 1;
    *end = (txm_end){TXM_END_UNKNOWN, 0};
    for (;;) {
        int how = 0;
        const pid_t got = waitpid((pid_t)pid, &how, seconds < 0 ? 0 : WNOHANG);
        if (got == (pid_t)pid) {
            *end = WIFSIGNALED(how) ? (txm_end){cause_of(WTERMSIG(how)), WTERMSIG(how)}
                                    : (txm_end){TXM_END_EXIT, WEXITSTATUS(how)};
            return true;
        }
        if (got < 0 && errno != EINTR)
            return true;
        if (got == 0 && txm_clock_seconds() >= until)
            return false;
        if (got == 0)
            nanosleep(&(struct timespec){.tv_nsec = nap_ms * 1000000}, NULL);
        nap_ms = nap_ms < 16 ? 2 * nap_ms : 20;
    }
}

const char *txm_end_text(const txm_end *end)
{
    return strsignal(end->code);
}

void txm_process_stop(long pid)
{
    kill((pid_t)pid, SIGTERM);
}

void txm_process_kill(long pid, bool group)
{
    kill((pid_t)(group ? -pid : pid), SIGKILL);
}

/* Processes of other users exist, too. */
bool txm_process_exists(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

long txm_process_self(void)
{
    return (long)getpid();
}

int txm_socket_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno;
}

int txm_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
}

long txm_socket_send(int fd, const void *data, size_t bytes)
{
    return (long)send(fd, data, bytes, MSG_NOSIGNAL);
}

int txm_wait_readable(int fd, int ms)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    return poll(&waiting, 1, ms);
}

bool txm_reader_is_gone(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}
