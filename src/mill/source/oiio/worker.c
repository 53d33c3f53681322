/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts workers, communicates with them, and finds out how they ended. After an image a worker is kept for the next
 * one, up to as many as there are processors. If a worker ends, the cause becomes a message that a user can act on:
 * killed for lack of memory, a crash in a decoder, a time limit.
 */
#include "mill/source/oiio/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/plugin.h"
#include "base/pool.h"

#define WORKER_FILE "txmill-oiio-worker"

enum { LINKER_FAILED = 127 }; /* exit status: the program could not be started, or lacks a function */

struct txm_worker {
    pid_t pid;
    int fd;
    uint32_t cpu_seconds; /* limit of the last request */
    bool encodes;         /* the last request was to encode */
    bool ended;           /* it ended and was waited for */
    bool lacked_large;    /* it ended because it got no large piece of memory */
    pid_t *at_work;       /* its place in the list of workers at work; NULL if there was none, or if it is idle */
    txm_worker *next;     /* next one in the list of idle workers */
};

/* Idle workers. Their processes end with this one, because that closes their socket. */
static struct {
    pthread_mutex_t lock;
    txm_worker *first;
    unsigned count;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Workers that compute for this process, for a signal handler: pid, or -pid after it was told to end. More workers than
 * places end by themselves when they notice that nobody waits for them. */
static pid_t at_work[256];

static void set_to_work(txm_worker *w)
{
    for (size_t i = 0; i < sizeof at_work / sizeof *at_work && !w->at_work; i++) {
        pid_t none = 0;
        if (__atomic_compare_exchange_n(&at_work[i], &none, w->pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            w->at_work = &at_work[i];
    }
}

/* Returns whether it was told to end. To be called before it is waited for, since its pid may then get another owner.
 */
static bool take_from_work(txm_worker *w)
{
    const pid_t was = w->at_work ? __atomic_exchange_n(w->at_work, 0, __ATOMIC_ACQ_REL) : 0;
    w->at_work = NULL;
    return was < 0;
}

void txm_worker_end_all(void)
{
    const int saved_errno = errno;
    for (size_t i = 0; i < sizeof at_work / sizeof *at_work; i++) {
        pid_t pid = __atomic_load_n(&at_work[i], __ATOMIC_ACQUIRE);
        if (pid > 0 && __atomic_compare_exchange_n(&at_work[i], &pid, -pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            kill(pid, SIGTERM);
    }
    errno = saved_errno;
}

/* The child of a fork() has no workers: it closes its copies of the sockets, which would keep the workers alive after
 * its parent has ended, and begins with a free lock and an empty list. */
static void before_fork(void)
{
    pthread_mutex_lock(&idle.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&idle.lock);
}

static void begin_child(void)
{
    for (txm_worker *w = idle.first, *next; w; w = next) {
        next = w->next;
        close(w->fd);
        free(w);
    }
    idle.first = NULL;
    idle.count = 0;
    memset(at_work, 0, sizeof at_work);
    pthread_mutex_init(&idle.lock, NULL);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, begin_child);
}

/* ---- start and end ---- */

extern char **environ;

/* Whatever signals this thread blocks or ignores, exceeding the limit of CPU time must end the worker. */
static int signals_as_new(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    return rc == 0 ? posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) : rc;
}

/* The worker has its socket as descriptor 3 and no other descriptor of this process. posix_spawn is used instead of
 * fork, because this process may have many threads and gigabytes mapped. Actions run in the order in which they are
 * added. */
static int spawn_worker(const char *program, int socket_fd, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char *const argv[] = {(char *)program, NULL};
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0)
        return rc;
    if ((rc = posix_spawnattr_init(&attributes)) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return rc;
    }
    rc = signals_as_new(&attributes);
    /* The socket is duplicated first: if the caller has closed its standard files, it may be one of them. */
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, socket_fd, TXM_WORKER_FD);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    if (rc == 0) /* some decoders print what OpenImageIO reports anyway */
        rc = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(&files, TXM_WORKER_FD + 1);
    if (rc == 0)
        rc = posix_spawn(pid, program, &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* One end of a socket pair becomes the worker's descriptor 3; nothing else is inherited. */
static txm_status start_worker(txm_worker **out, txm_error *err)
{
    int pair[2], rc;
    char *looked_in = NULL, *program = txm_plugin_path(WORKER_FILE, &looked_in);
    txm_worker *w = txm_calloc(1, sizeof *w);
    txm_status status = TXM_OK;
    if (!program && !looked_in) {
        status = txm_no_memory(err, NULL);
    } else if (!program) {
        status = txm_fail(err, TXM_STATUS_NOT_INSTALLED, "this kind of image needs OpenImageIO, and %s", looked_in);
    } else if (!w) {
        status = txm_no_memory(err, NULL);
    } else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        status = txm_fail_errno(err, errno, "a decoder cannot be started");
    } else {
        /* A descriptor that already is 3 would keep its close-on-exec flag when it is duplicated onto itself. */
        int theirs = pair[1] == TXM_WORKER_FD ? fcntl(pair[1], F_DUPFD_CLOEXEC, TXM_WORKER_FD + 1) : pair[1];
        rc = theirs < 0 ? errno : spawn_worker(program, theirs, &w->pid);
        if (theirs >= 0 && theirs != pair[1])
            close(theirs);
        close(pair[1]);
        w->fd = pair[0];
        if (rc != 0) {
            close(pair[0]);
            status = txm_fail_errno(err, rc, "%s cannot be started", program);
        }
    }
    free(program);
    free(looked_in);
    if (status != TXM_OK) {
        free(w);
        return status;
    }
    set_to_work(w);
    *out = w;
    return TXM_OK;
}

/* Ends the worker, which has nothing to save, and waits for it, so that no zombie remains. */
static void kill_worker(txm_worker *w)
{
    close(w->fd);
    if (!w->ended) {
        kill(w->pid, SIGTERM);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    free(w);
}

/* Idle workers that have died are skipped. The one that was used last comes first, because its libraries are loaded and
 * its memory is in the caches. */
txm_status txm_worker_get(txm_worker **out, txm_error *err)
{
    for (;;) {
        pthread_mutex_lock(&idle.lock);
        txm_worker *w = idle.first;
        if (w) {
            idle.first = w->next;
            idle.count--;
        }
        pthread_mutex_unlock(&idle.lock);
        if (!w)
            return start_worker(out, err);
        if (waitpid(w->pid, NULL, WNOHANG) == 0) {
            set_to_work(w);
            *out = w;
            return TXM_OK;
        }
        w->ended = true; /* it was ended while it was idle */
        kill_worker(w);
    }
}

/* Keeps the worker if it is healthy and there are not enough. */
void txm_worker_put(txm_worker *w, bool healthy)
{
    if (!w)
        return;
    bool keep = false;
    healthy &= !take_from_work(w);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (healthy && !w->ended) {
        unsigned enough = txm_cpu_count();
        pthread_mutex_lock(&idle.lock);
        keep = idle.count < enough;
        if (keep) {
            w->next = idle.first;
            idle.first = w;
            idle.count++;
        }
        pthread_mutex_unlock(&idle.lock);
    }
    if (!keep)
        kill_worker(w);
}

bool txm_worker_lacked_large(const txm_worker *worker)
{
    return worker && worker->lacked_large;
}

/* ---- communication ---- */

/* $TXMILL_DECODER_SECONDS is for tests, and for unusual files. */
uint32_t txm_worker_seconds(double honest)
{
    const char *word = getenv("TXMILL_DECODER_SECONDS");
    long seconds = word ? strtol(word, NULL, 10) : 0;
    return seconds > 0 && seconds < 1000000 ? (uint32_t)seconds : (uint32_t)honest;
}

/* Waits for the end of a worker that has closed its socket, and kills one that only closed it. Waits up to two seconds,
 * since a crash may first write a report. */
static pid_t reap(txm_worker *w, int *how)
{
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    pid_t got = 0;
    for (int i = 0; i < 100 && got == 0; i++) {
        got = waitpid(w->pid, how, WNOHANG);
        if (got < 0 && errno == EINTR)
            got = 0;
        if (got == 0)
            nanosleep(&moment, NULL);
    }
    if (got == 0) {
        kill(w->pid, SIGTERM);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    w->ended = true;
    return got;
}

/* Explains why the worker ended, as a message about the image. The status decides whether a retry makes sense: lack of
 * memory may be temporary, a crash caused by a file is not. */
static txm_status explain_end(txm_worker *w, int sys_errno, const char *name, txm_error *err)
{
    int how = 0;
    const bool told = take_from_work(w);
    pid_t got = reap(w, &how);
    const char *who = w->encodes ? "encoder" : "decoder";
    if (told)
        return txm_fail(err, TXM_STATUS_CANCELLED, "%s: the %s was stopped", name, who);
    /* A decoder crashes because of its file; an encoder that crashes is not the input's fault. */
    txm_status fault = w->encodes ? TXM_STATUS_INTERNAL : TXM_STATUS_CORRUPT;
    if (got == w->pid && WIFSIGNALED(how)) {
        int sig = WTERMSIG(how);
        if (sig == SIGXCPU)
            return txm_fail(err, fault, "%s: the %s was stopped after %u s of computing%s", name, who, w->cpu_seconds,
                            w->encodes ? "" : "; the file is damaged or made to keep it busy");
        if (sig == SIGKILL)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: the %s was killed, most likely for lack of memory", name,
                            who);
        /* C++ and the C library abort a program for which they have no memory. */
        if (sig == SIGABRT && w->encodes)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: the encoder gave up, most likely for lack of memory", name);
        return txm_fail(err, fault, "%s: the %s crashed on it (%s)", name, who, strsignal(sig));
    }
    if (got == 0 && sys_errno) /* errno of the call that failed: the worker is alive, but cannot be reached */
        return txm_fail_errno(err, sys_errno, "%s: the %s cannot be reached", name, who);
    /* This has nothing to do with the file. */
    if (got == w->pid && WEXITSTATUS(how) == LINKER_FAILED)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: the %s could not be started, most likely for lack of memory",
                        name, who);
    w->lacked_large = got == w->pid && WEXITSTATUS(how) == TXM_WORKER_LEFT + TXM_WORKER_LARGE;
    if (got == w->pid && WEXITSTATUS(how) > TXM_WORKER_LEFT)
        return txm_fail_errno(err, w->lacked_large ? ENOMEM : WEXITSTATUS(how) - TXM_WORKER_LEFT, "%s: the %s gave up",
                              name, who);
    if (w->encodes) /* libjpeg ends the process like this when memory is exhausted */
        return txm_fail(err, TXM_STATUS_NO_MEMORY,
                        "%s: the encoder gave up without a message, most likely for lack of memory", name);
    return txm_fail(err, fault, "%s: the decoder gave up without a message", name);
}

/* If the worker has ended, the message says how. */
txm_status txm_worker_send_bytes(txm_worker *w, const void *data, size_t bytes, const char *name, txm_error *err)
{
    const char *p = data;
    while (bytes > 0) {
        ssize_t n = send(w->fd, p, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EPIPE || errno == ECONNRESET
                       ? explain_end(w, errno, name, err)
                       : txm_fail_errno(err, errno, "%s: the worker cannot be reached", name);
        p += n;
        bytes -= (size_t)n;
    }
    return TXM_OK;
}

/* The limit and the kind of request are stored for the message, in case the worker ends. */
txm_status txm_worker_send(txm_worker *w, const txm_worker_request *request, const char *cwd, const char *path,
                           txm_error *err)
{
    w->cpu_seconds = request->cpu_seconds;
    w->encodes = request->op == TXM_WORKER_ENCODE;
    txm_status status = txm_worker_send_bytes(w, request, sizeof *request, path, err);
    if (status == TXM_OK && request->cwd_bytes)
        status = txm_worker_send_bytes(w, cwd, request->cwd_bytes, path, err);
    if (status == TXM_OK && request->path_bytes)
        status = txm_worker_send_bytes(w, path, request->path_bytes, path, err);
    return status;
}

/* The timeout is several times the CPU time, since the machine may be busy. It starts again with every piece that
 * arrives, so that a slow worker is not taken for a dead one. */
txm_status txm_worker_receive(txm_worker *w, void *dst, size_t bytes, const char *name, txm_error *err)
{
    char *p = dst;
    while (bytes > 0) {
        /* The system limits CPU time; this is for a decoder that waits forever. */
        struct pollfd ready = {.fd = w->fd, .events = POLLIN};
        int64_t patience_ms = ((int64_t)w->cpu_seconds * 4 + 60) * 1000;
        int rc = poll(&ready, 1, patience_ms > INT32_MAX ? INT32_MAX : (int)patience_ms);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc == 0) {
            kill(w->pid, SIGTERM);
            while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
                ;
            w->ended = true;
            return txm_fail(err, TXM_STATUS_IO, "%s: the %s did not answer within %lld s", name,
                            w->encodes ? "encoder" : "decoder", (long long)(patience_ms / 1000));
        }
        ssize_t n = rc < 0 ? -1 : recv(w->fd, p, bytes, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return explain_end(w, 0, name, err);
        if (n < 0)
            return txm_fail_errno(err, errno, "%s: the worker cannot be reached", name);
        p += n;
        bytes -= (size_t)n;
    }
    return TXM_OK;
}
