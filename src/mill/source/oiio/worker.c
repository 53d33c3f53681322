/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts workers, communicates with them, and finds out how they ended. After an image a worker is kept for the next
 * one, up to as many as there are processors. If a worker ends, the cause becomes a message that a user can act on:
 * killed for lack of memory, a crash in a decoder, a time limit.
 */
#include "mill/source/oiio/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/machine.h"
#include "base/os/plugin.h"
#include "base/os/process.h"
#include "base/pool.h"

#define WORKER_FILE "txmill-oiio-worker"

enum { LINKER_FAILED = 127 }; /* exit status: the program could not be started, or lacks a function */

struct txm_worker {
    long pid;
    int fd;
    uint32_t cpu_seconds; /* limit of the last request */
    bool encodes;         /* the last request was to encode */
    bool ended;           /* it ended and was waited for */
    bool lacked_large;    /* it ended because it got no large piece of memory */
    long *at_work;        /* its place in the list of workers at work; NULL if there was none, or if it is idle */
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
static long at_work[256];

static void set_to_work(txm_worker *w)
{
    for (size_t i = 0; i < sizeof at_work / sizeof *at_work && !w->at_work; i++) {
        long none = 0;
        if (__atomic_compare_exchange_n(&at_work[i], &none, w->pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            w->at_work = &at_work[i];
    }
}

/* Returns whether it was told to end. To be called before it is waited for, since its pid may then get another owner.
 */
static bool take_from_work(txm_worker *w)
{
    const long was = w->at_work ? __atomic_exchange_n(w->at_work, 0, __ATOMIC_ACQ_REL) : 0;
    w->at_work = NULL;
    return was < 0;
}

void txm_worker_end_all(void)
{
    const int saved_errno = errno;
    for (size_t i = 0; i < sizeof at_work / sizeof *at_work; i++) {
        long pid = __atomic_load_n(&at_work[i], __ATOMIC_ACQUIRE);
        if (pid > 0 && __atomic_compare_exchange_n(&at_work[i], &pid, -pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            txm_process_stop(pid);
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

/* Ends the worker, which has nothing to save, and waits for it, so that no zombie remains. */
static void stop_worker(txm_worker *w)
{
    txm_end end;
    if (!w->ended) {
        txm_process_stop(w->pid);
        txm_process_wait(w->pid, -1, &end);
        w->ended = true;
    }
}

static void kill_worker(txm_worker *w)
{
    close(w->fd);
    stop_worker(w);
    free(w);
}

/* Idle workers that have died are skipped. The one that was used last comes first, because its libraries are loaded and
 * its memory is in the caches. Of a new one, an end of a socket pair becomes descriptor 3; nothing else is inherited.
 */
txm_status txm_worker_get(txm_worker **out, txm_error *err)
{
    txm_worker *w;
    for (;;) {
        pthread_mutex_lock(&idle.lock);
        if ((w = idle.first)) {
            idle.first = w->next;
            idle.count--;
        }
        pthread_mutex_unlock(&idle.lock);
        txm_end end;
        if (!w)
            break;
        if (!txm_process_wait(w->pid, 0, &end)) {
            set_to_work(w);
            *out = w;
            return TXM_OK;
        }
        w->ended = true; /* it was ended while it was idle */
        kill_worker(w);
    }
    int pair[2], rc = 0;
    char *looked_in = NULL, *program = txm_plugin_path(WORKER_FILE, &looked_in);
    txm_status status = TXM_OK;
    w = txm_calloc(1, sizeof *w);
    if (!w || (!program && !looked_in)) {
        status = txm_no_memory(err, NULL);
    } else if (!program) {
        status = txm_fail(err, TXM_STATUS_NOT_INSTALLED, "this kind of image needs OpenImageIO, and %s", looked_in);
    } else if ((rc = txm_socket_pair(pair)) != 0) {
        status = txm_fail_errno(err, rc, "a decoder cannot be started");
    } else {
        /* Some decoders print what OpenImageIO reports anyway. */
        char *const argv[] = {program, NULL};
        const txm_program worker = {.argv = argv,
                                    .file_count = TXM_WORKER_FD + 1,
                                    .files = {TXM_FILE_NOTHING, TXM_FILE_NOTHING, TXM_FILE_NOTHING, pair[1]}};
        rc = txm_process_start(&worker, &w->pid);
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

/* $TXMILL_DECODER_SECONDS is for tests, and for unusual files. */
uint32_t txm_worker_seconds(double honest)
{
    const char *word = getenv("TXMILL_DECODER_SECONDS");
    long seconds = word ? strtol(word, NULL, 10) : 0;
    return seconds > 0 && seconds < 1000000 ? (uint32_t)seconds : (uint32_t)honest;
}

/* Explains why the worker ended, as a message about the image. The status decides whether a retry makes sense: lack of
 * memory may be temporary, a crash caused by a file is not. */
static txm_status explain_end(txm_worker *w, int sys_errno, const char *name, txm_error *err)
{
    txm_end how;
    /* A worker that only closed its socket is ended after two seconds, since a crash may first write a report. */
    const bool told = take_from_work(w), ended = w->ended = txm_process_wait(w->pid, 2, &how);
    stop_worker(w);
    const char *who = w->encodes ? "encoder" : "decoder";
    if (told)
        return txm_fail(err, TXM_STATUS_CANCELLED, "%s: the %s was stopped", name, who);
    /* A decoder crashes because of its file; an encoder that crashes is not the input's fault. */
    txm_status fault = w->encodes ? TXM_STATUS_INTERNAL : TXM_STATUS_CORRUPT;
    if (ended && how.cause > TXM_END_EXIT) {
        if (how.cause == TXM_END_OVERTIME)
            return txm_fail(err, fault, "%s: the %s was stopped after %u s of computing%s", name, who, w->cpu_seconds,
                            w->encodes ? "" : "; the file is damaged or made to keep it busy");
        if (how.cause == TXM_END_KILLED)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: the %s was killed, most likely for lack of memory", name,
                            who);
        /* C++ and the C library abort a program for which they have no memory. */
        if (how.cause == TXM_END_GAVE_UP && w->encodes)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: the encoder gave up, most likely for lack of memory", name);
        return txm_fail(err, fault, "%s: the %s crashed on it (%s)", name, who, txm_end_text(&how));
    }
    if (!ended && sys_errno) /* errno of the call that failed: the worker is alive, but cannot be reached */
        return txm_fail_errno(err, sys_errno, "%s: the %s cannot be reached", name, who);
    /* This has nothing to do with the file. */
    const int code = ended && how.cause == TXM_END_EXIT ? how.code : 0;
    if (code == LINKER_FAILED)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: the %s could not be started, most likely for lack of memory",
                        name, who);
    w->lacked_large = code == TXM_WORKER_LEFT + TXM_WORKER_LARGE;
    if (code > TXM_WORKER_LEFT)
        return txm_fail_errno(err, w->lacked_large ? ENOMEM : code - TXM_WORKER_LEFT, "%s: the %s gave up", name, who);
    if (w->encodes) /* libjpeg ends the process like this when memory is exhausted */
        return txm_fail(err, TXM_STATUS_NO_MEMORY,
                        "%s: the encoder gave up without a message, most likely for lack of memory", name);
    return txm_fail(err, fault, "%s: the decoder gave up without a message", name);
}

txm_status txm_worker_send_bytes(txm_worker *w, const void *data, size_t bytes, const char *name, txm_error *err)
{
    const char *p = data;
    while (bytes > 0) {
        const long n = txm_socket_send(w->fd, p, bytes);
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
        int64_t patience_ms = ((int64_t)w->cpu_seconds * 4 + 60) * 1000;
        int rc = txm_wait_readable(w->fd, patience_ms > INT32_MAX ? INT32_MAX : (int)patience_ms);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc == 0) {
            stop_worker(w);
            return txm_fail(err, TXM_STATUS_IO, "%s: the %s did not answer within %lld s", name,
                            w->encodes ? "encoder" : "decoder", (long long)(patience_ms / 1000));
        }
        ssize_t n = rc < 0 ? -1 : read(w->fd, p, bytes);
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

txm_status txm_worker_answer(txm_worker *w, txm_worker_reply *reply, char **text, const char *name, txm_error *err)
{
    txm_status status = txm_worker_receive(w, reply, sizeof *reply, name, err);
    *text = NULL;
    if (status == TXM_OK && (reply->text_bytes > TXM_WORKER_MAX_TEXT_BYTES || reply->status >= TXM_STATUSES))
        status = txm_fail(err, TXM_STATUS_INTERNAL, "%s: the %s gave an invalid answer", name,
                          w->encodes ? "encoder" : "decoder");
    if (status == TXM_OK && !(*text = txm_calloc(reply->text_bytes + 1, 1)))
        status = txm_no_memory(err, name);
    if (status == TXM_OK)
        status = txm_worker_receive(w, *text, reply->text_bytes, name, err);
    if (status != TXM_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}
