/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals, exit codes and the last line. A signal sets a flag that the work checks; a second one, or work that does not
 * check in time, ends the process at once.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/say.h"
#include "txmill/convert.h"
#include "txtile/reader.h"

enum { CODE_INTERNAL = 1, CODE_USAGE = 2, CODE_FAILED = 3, CODE_RETRY = 4 };

/* ---- signals ---------------------------------------------------------------------------------------------------- */

static volatile int caught, publishes;

/* The work has this long to notice a signal, and as much processor time, since the machine may be busy. */
enum { PATIENCE_MS = 500, BUSY_MS = 200, AGAIN_MS = 50 };
static uint64_t cpu_ms_at_signal;

static uint64_t cpu_ms(void)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

/* Uses only what a handler may use. */
static void on_patience_over(int number)
{
    char line[] = "TXMILL-ERROR code=000 failed=1 total=1\n";
    const int saved_errno = errno, code = 128 + __atomic_load_n(&caught, __ATOMIC_ACQUIRE);
    (void)number;
    txm_remove_temporaries();
    if (cpu_ms() - cpu_ms_at_signal < BUSY_MS) {
        errno = saved_errno;
        return;
    }
    char *digits = strstr(line, "000");
    for (int i = 2, rest = code; i >= 0; i--, rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
        _exit(code);
    _exit(code);
}

static void on_signal(int number)
{
    const int saved_errno = errno;
    int none = 0;
    const bool first = __atomic_compare_exchange_n(&caught, &none, number, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    const bool goes_on = first && __atomic_load_n(&publishes, __ATOMIC_ACQUIRE);
    if (first && !goes_on) {
        const struct itimerval timer = {{0, AGAIN_MS * 1000}, {0, PATIENCE_MS * 1000}};
        cpu_ms_at_signal = cpu_ms();
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    if (!goes_on)
        txm_remove_temporaries();
    /* The system repeats SIGXCPU every second by itself, and SIGHUP may come from the shell and from the terminal. */
    if (!first && (number == SIGINT || number == SIGTERM)) {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = saved_errno;
}

/* If a file is truncated while it is read, or its disk fails, only that file fails. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int saved_errno = errno;
    (void)context;
    if (info->si_code <= 0 || !txm_tx_catch_fault(info->si_addr)) {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = saved_errno;
}

/* OpenColorIO ends the process if it finds no memory in the wrong place. */
static void on_abort(bool lacks_memory)
{
    const char *reason = txm_abort_reason();
    txm_remove_temporaries();
    if (lacks_memory)
        stm_say(STM_SAY_ERROR, "there is not enough memory for a library that cannot continue; "
                               "free memory, use fewer threads with -j, or a smaller --cache; then run the same again");
    else
        stm_say(STM_SAY_ERROR,
                "a library threw an exception that nothing caught: %s; please report it, with the "
                "output of 'txmill doctor'",
                *reason ? reason : "it has no text");
    fprintf(stderr, "TXMILL-ERROR code=%d failed=1 total=1\n", lacks_memory ? CODE_RETRY : CODE_INTERNAL);
    _exit(lacks_memory ? CODE_RETRY : CODE_INTERNAL);
}

void stm_signals_install(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    enum { ENDING = sizeof ending / sizeof *ending };
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    struct sigaction watch = {.sa_handler = on_patience_over, .sa_flags = SA_RESTART};
    struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigemptyset(&watch.sa_mask);
    sigemptyset(&bus.sa_mask);
    for (size_t i = 0; i < ENDING; i++)
        sigaddset(&action.sa_mask, ending[i]);
    /* nohup has SIGHUP ignored, and it stays so. */
    for (size_t i = 0; i < ENDING; i++)
        if (ending[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    sigaction(SIGALRM, &watch, NULL);
    sigaction(SIGBUS, &bus, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    txm_before_abort(on_abort);
    /* txmill has blocked these until now. */
    if (getenv("TXMILL_PROGRAM"))
        pthread_sigmask(SIG_UNBLOCK, &action.sa_mask, NULL);
}

void stm_signals_publish(void)
{
    __atomic_store_n(&publishes, 1, __ATOMIC_RELEASE);
}

const volatile int *stm_signal_flag(void)
{
    return &caught;
}

int stm_signal_caught(void)
{
    return __atomic_load_n(&caught, __ATOMIC_ACQUIRE);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static const char *json_schema;
static atomic_bool missing;

void stm_finish_in_json(const char *schema)
{
    json_schema = schema;
}

void stm_results_missing(void)
{
    atomic_store(&missing, true);
}

static bool reads_scenes;

void stm_advise_for_scenes(void)
{
    reads_scenes = true;
}

/* Imperative sentences that name a command or an option if possible. */
static const char *next_step(txm_status status)
{
    static const char *const of_traces[] = {
        [TXM_STATUS_NOT_FOUND] = "check the names, and whether the share is mounted",
        [TXM_STATUS_CORRUPT] = "copy these files again",
        [TXM_STATUS_UNSUPPORTED] = "give files of the formats that the messages name",
    };
    static const char *const steps[] = {
        [TXM_STATUS_USAGE] = "correct the names or options as the messages above say",
        [TXM_STATUS_NOT_FOUND] =
            "check the names, and whether the share is mounted; 'txmill make FOLDER' makes the tx files of a "
            "scene's folder",
        [TXM_STATUS_NOT_A_FILE] = "name files",
        [TXM_STATUS_DENIED] = "have the permissions changed, or write elsewhere",
        [TXM_STATUS_IO] = "check the disk and the network, then run the same again",
        [TXM_STATUS_DISK_FULL] = "free space, then run the same again",
        [TXM_STATUS_NO_MEMORY] =
            "free memory, use fewer threads with -j, or a smaller --cache; then run the same again",
        [TXM_STATUS_CORRUPT] =
            "make damaged tx files again with 'txmill make --force'; repair a damaged scene, or export it again",
        [TXM_STATUS_UNSUPPORTED] = "give the folder of a scene, or a built-in scene and images",
        [TXM_STATUS_TOO_LARGE] = "make them smaller, or raise the limit that the messages name",
        [TXM_STATUS_COLORSPACE] = "'txmill colorspaces' lists the names in the config",
        [TXM_STATUS_CONFIG] = "name an OpenColorIO config with --ocio, or unset OCIO for the built-in one",
        [TXM_STATUS_LOCKED] = "another process is making them; run the same again later",
        [TXM_STATUS_CHANGED] = "run the same again when no other program writes to them",
        [TXM_STATUS_CANCELLED] = "run the same again",
        [TXM_STATUS_NEWER] = "use the newer txmill that wrote them",
        [TXM_STATUS_NOT_DOWNLOADED] = "download these files with 'git lfs pull'",
        [TXM_STATUS_NOT_INSTALLED] = "install what the messages name",
        [TXM_STATUS_DEVICE] = "use --device cpu; 'txmill devices' lists the devices",
    };
    const size_t at = (size_t)status;
    const char *step = !reads_scenes && at < sizeof of_traces / sizeof *of_traces ? of_traces[at] : NULL;
    if (!step && at < sizeof steps / sizeof *steps)
        step = steps[at];
    return step ? step : "please report it, with the output of 'txmill doctor'";
}

static int code_of(txm_status status)
{
    if (stm_signal_caught())
        return 128 + stm_signal_caught();
    if (txm_status_retryable(status))
        return CODE_RETRY;
    return status == TXM_OK                ? 0
           : status == TXM_STATUS_INTERNAL ? CODE_INTERNAL
           : status == TXM_STATUS_USAGE    ? CODE_USAGE
                                           : CODE_FAILED;
}

/* stdio may notice only on flush that the disk of standard output is full. */
static int finish(txm_status status, size_t total)
{
    const size_t failed = status == TXM_OK ? 0 : total;
    stm_say_status("%s", "");
    errno = 0;
    const bool lost = !stm_lines_end();
    bool retry = atomic_load(&missing);
    /* A pipe whose reader has exited, as head(1) does, misses nothing. */
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (lost && !(poll(&out, 1, 0) == 1 && (out.revents & POLLERR))) {
        stm_say(STM_SAY_ERROR, "standard output: writing failed%s%s; results are missing", errno ? ": " : "",
                errno ? strerror(errno) : "");
        retry = true;
    }
    const int code = retry && !stm_signal_caught() ? CODE_RETRY : code_of(status);
    if (code) {
        char line[96];
        const int n = snprintf(line, sizeof line, "TXMILL-ERROR code=%d failed=%zu total=%zu\n", code, failed, total);
        if (write(STDERR_FILENO, line, (size_t)n) < 0)
            return code;
    }
    return code;
}

int stm_finish(txm_status status)
{
    if (status != TXM_OK)
        stm_say(STM_SAY_INFO, "1 failed: %s; %s", txm_status_text(status), next_step(status));
    return finish(status, 1);
}

int stm_finish_failed(const txm_error *err, size_t total)
{
    stm_say(STM_SAY_ERROR, "%s", err->message);
    if (err->status != TXM_STATUS_USAGE && err->status != TXM_STATUS_CANCELLED && !*txm_error_advice(err))
        stm_say(STM_SAY_INFO, "%s", next_step(err->status));
    if (json_schema) {
        cJSON *o = stm_json_new(json_schema);
        stm_json_text(o, "type", "error");
        cJSON *e = stm_json_object(o, "error");
        stm_json_text(e, "status", txm_status_name(err->status));
        stm_json_bool(e, "retryable", txm_status_retryable(err->status));
        stm_json_text(e, "message", err->message);
        if (err->subject_bytes) {
            char *subject = strndup(err->message, err->subject_bytes);
            stm_json_text(e, "subject", subject);
            free(subject);
        }
        if (*txm_error_advice(err))
            stm_json_text(e, "advice", txm_error_advice(err));
        stm_json_emit(o);
    }
    return finish(err->status, total);
}

void stm_print_exits(FILE *out)
{
    static const struct {
        int code;
        const char *text;
    } texts[] = {
        {0, "Everything was done."},
        {CODE_INTERNAL, "An error inside txmill or one of its libraries."},
        {CODE_USAGE, "The command line is wrong."},
        {CODE_FAILED, "It failed; a retry would not help."},
        {CODE_RETRY, "It failed, and a retry may succeed (input and output, a lock, memory, a full disk)."},
        {128 + SIGHUP, "Ended by SIGHUP, because the terminal was closed; temporary files were removed."},
        {128 + SIGINT, "Interrupted by SIGINT; temporary files were removed."},
        {128 + SIGTERM, "Ended by SIGTERM; temporary files were removed."},
        {128 + SIGXCPU, "Ended by SIGXCPU, because the limit of processor time was reached; temporary files were "
                        "removed."},
    };
    fputs(".Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fprintf(out, ".It %d\n%s\n", texts[i].code, texts[i].text);
    fputs(".El\n.Pp\nAfter a failure, the last line on standard error is\n.Ql TXMILL-ERROR code=N failed=K total=T .\n",
          out);
}
