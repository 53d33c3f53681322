/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/copies.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The process that serves, for the handler of a signal. */
static volatile sig_atomic_t copy;

/* The other side ends the worker with SIGTERM, however busy its copy is; this process then waits for the copy, so that
 * nothing is left of it. */
static void end_copy(int sig)
{
    (void)sig;
    kill(copy, SIGKILL);
}

#ifdef __SANITIZE_ADDRESS__
/* Clang's AddressSanitizer does not prepare its allocator for fork: a lock that a thread of a library holds while it
 * starts would stay locked in the copy. So all of them must have come to rest. */
static void let_threads_start(void)
{
    const struct timespec nap = {.tv_nsec = 1000 * 1000};
    bool busy = true;
    for (int naps = 0; busy && naps < 2000; naps++) {
        nanosleep(&nap, NULL);
        busy = false;
        DIR *tasks = opendir("/proc/self/task");
        for (struct dirent *task; tasks && (task = readdir(tasks));) {
            char path[300], stat[300] = "";
            snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
            FILE *f = *task->d_name != '.' && atoi(task->d_name) != getpid() ? fopen(path, "r") : NULL;
            if (f && fgets(stat, sizeof stat, f) && strrchr(stat, ')') && strncmp(strrchr(stat, ')'), ") S", 3) != 0)
                busy = true;
            if (f)
                fclose(f);
        }
        if (tasks)
            closedir(tasks);
    }
}
#endif

_Noreturn void txm_serve_in_copies(void (*serve)(void), int renew, int failure)
{
#ifdef __SANITIZE_ADDRESS__
    let_threads_start();
#endif
    const pid_t self = getpid();
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    for (;;) {
        int how = 0;
        sigprocmask(SIG_BLOCK, &term, NULL);
        copy = fork();
        if (copy < 0)
            _exit(failure + errno);
        signal(SIGTERM, copy ? end_copy : SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &term, NULL);
        if (copy == 0) {
            if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != self)
                _exit(0);
            serve();
        }
        while (waitpid(copy, &how, 0) < 0 && errno == EINTR)
            ;
        sigprocmask(SIG_BLOCK, &term, NULL);
        if (WIFEXITED(how) && WEXITSTATUS(how) == renew)
            continue;
        /* It ends as the copy did, so that the other side can tell why. */
        if (WIFSIGNALED(how)) {
            sigset_t none;
            signal(WTERMSIG(how), SIG_DFL);
            sigemptyset(&none);
            sigprocmask(SIG_SETMASK, &none, NULL);
            raise(WTERMSIG(how));
        }
        _exit(WIFEXITED(how) ? WEXITSTATUS(how) : failure + EAGAIN);
    }
}
