/* SPDX-License-Identifier: Apache-2.0
 *
 * Exit codes, the last line, and signals.
 *
 * In: the statuses of a run's files. Out: one exit code, and the last lines on stderr with advice for each kind of
 * failure. Signals set a flag that the work checks; a second one, or work that does not check, ends the process at
 * once.
 */
#include "tools/output/exits.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/process.h"
#include "base/os/signals.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "tools/output/values.h"
#include "txmill/convert.h"
#include "txtile/reader.h"

/* ---- signals ---------------------------------------------------------------------------------------------------- */

/* The handler writes it and any thread reads it, both atomically, as txm_is_cancelled does. */
static volatile int caught;

/* After a signal the work has this long to notice it, and as much processor time, since the machine may be busy or the
 * process may be traced; then it is looked at again and again. A library that opens a file of a gigabyte, for example,
 * does not know the flag. */
enum { PATIENCE_MS = 500, BUSY_MS = 200, AGAIN_MS = 50 };
static uint64_t cpu_ms_at_signal;

static uint64_t cpu_ms(void)
{
    return txm_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000000;
}

/* Ends the process without waiting for its threads. It uses only what a handler may use. */
static void on_patience_over(void)
{
    char line[] = "TXMILL-ERROR code=000 failed=1 total=1\n";
    const int code = 128 + __atomic_load_n(&caught, __ATOMIC_ACQUIRE);
    if (cpu_ms() - cpu_ms_at_signal < BUSY_MS) {
        txm_remove_temporaries(); /* and decoders that were started after the signal */
        return;
    }
    txm_remove_temporaries();
    char *digits = strstr(line, "000");
    for (int i = 2, rest = code; i >= 0; i--, rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
        txm_exit_at_once(code);
    txm_exit_at_once(code);
}

/* Does only what a handler may do: sets a flag, unlinks files, sets a timer, restores signals. */
static void on_signal(int number)
{
    int none = 0;
    const bool first = __atomic_compare_exchange_n(&caught, &none, number, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (first) {
        cpu_ms_at_signal = cpu_ms();
        txm_signals_on_timer(on_patience_over, PATIENCE_MS, AGAIN_MS);
    }
    /* Threads that are still working cannot publish the unlinked files, so nothing half-written appears. */
    txm_remove_temporaries();
    /* Whoever asks a second time wants the end at once. */
    if (!first && txm_signal_is_request(number))
        txm_signal_obey(number);
}

/* The flag is checked between pieces of work, not in the middle of a read. If a tx file is truncated while it is read,
 * or its disk fails, only that file fails. If the reader of the output exits, a conversion must go on: see txm_finish.
 */
void txm_signals_install(void)
{
    txm_signals_on_end(on_signal);
    txm_signals_on_fault(txm_tx_catch_fault);
    txm_signals_let_writes_fail();
}

static const char *memory_step = "free memory, then run the same again";

/* Prints a message and removes unfinished files; visible files are complete. */
static void on_abort(bool lacks_memory)
{
    const char *reason = txm_abort_reason();
    txm_remove_temporaries();
    if (lacks_memory)
        txm_say(TXM_SAY_ERROR,
                "there is not enough memory, or no more threads, for a library that cannot continue: OpenColorIO; %s",
                memory_step);
    else
        txm_say(TXM_SAY_ERROR, "a library threw an exception that nothing caught: %s; %s",
                *reason ? reason : "it has no text", txm_next_step(TXM_STATUS_INTERNAL));
    int code = lacks_memory ? TXM_EXIT_RETRY : TXM_EXIT_INTERNAL;
    txm_say_last("TXMILL-ERROR code=%d failed=1 total=1", code);
    txm_exit_at_once(code);
}

/* OpenColorIO may end the process by an uncaught exception; this installs a handler for it. */
void txm_aborts_install(void)
{
    txm_before_abort(on_abort);
}

/* For the library's `cancel` members, which take an address. */
const volatile int *txm_signal_flag(void)
{
    return &caught;
}

int txm_signal_caught(void)
{
    return __atomic_load_n(&caught, __ATOMIC_ACQUIRE);
}

/* ---- the tally -------------------------------------------------------------------------------------------------- */

static void note_status(txm_tally *tally, txm_status status)
{
    if (status == TXM_STATUS_INTERNAL)
        tally->internal = true;
    else if (status == TXM_STATUS_USAGE)
        tally->usage = true;
    else if (txm_status_retryable(status))
        tally->retryable = true;
    else
        tally->permanent = true;
}

/* Changes the exit code, not the counts. */
void txm_tally_fail(txm_tally *tally, txm_status status)
{
    note_status(tally, status);
}

/* A status from a newer library counts as internal, so that the index stays inside the array. */
void txm_tally_add(txm_tally *tally, txm_status status)
{
    tally->total++;
    if (status != TXM_OK) {
        tally->failed++;
        tally->of[(unsigned)status < TXM_STATUSES ? status : TXM_STATUS_INTERNAL]++;
        note_status(tally, status);
    }
}

/* The kind that matters most to a script: stopped; worth a retry; an internal error; a mistake in the arguments;
 * inputs that failed permanently. */
txm_exit txm_tally_exit(const txm_tally *tally)
{
    if (txm_signal_caught())
        return (txm_exit)(128 + txm_signal_caught());
    if (tally->retryable)
        return TXM_EXIT_RETRY;
    if (tally->internal)
        return TXM_EXIT_INTERNAL;
    if (tally->usage)
        return TXM_EXIT_USAGE;
    if (tally->permanent)
        return TXM_EXIT_FAILED;
    return tally->findings ? TXM_EXIT_FINDINGS : TXM_EXIT_OK;
}

static atomic_bool missing;

/* Output was lost, although all files may be complete, so the results that the caller reads are incomplete. */
void txm_results_missing(void)
{
    atomic_store(&missing, true);
}

/* If there are several places, they are not listed, because each message above names its own. */
static char config_place[TXM_MESSAGE_BYTES], config_advice[TXM_MESSAGE_BYTES + 64];

void txm_advise_config(const char *origin)
{
    const char *line = strrchr(origin, ':');
    size_t bytes = line ? (size_t)(line - origin) : strlen(origin);
    if (bytes >= sizeof config_place)
        bytes = sizeof config_place - 1;
    if (*config_place && (strlen(config_place) != bytes || memcmp(config_place, origin, bytes) != 0)) {
        strcpy(config_place, "the files that the messages name");
    } else {
        memcpy(config_place, origin, bytes);
        config_place[bytes] = 0;
    }
    snprintf(config_advice, sizeof config_advice, "name another OpenColorIO config in %s, or none for the built-in one",
             config_place);
}

static const char *files_read; /* the kind of files that the running command reads */
void txm_advise_for(const char *operand_values)
{
    files_read = operand_values;
}

void txm_advise_memory(const char *step)
{
    memory_step = step;
}

/* Imperative sentences that name a command or an option if possible, because most users read these lines first. A tx
 * file is made again, an image is saved again; the advice for an image is that for its tx file. */
const char *txm_next_step(txm_status status)
{
    static const struct {
        const char *values; /* what the command reads; NULL: anything but images */
        txm_status status;
        const char *step;
    } special[] = {
        {TXM_VALUES_TX, TXM_STATUS_CORRUPT, "make these tx files again with 'txmill make --force', or copy them again"},
        {TXM_VALUES_TX, TXM_STATUS_UNSUPPORTED,
         "give tx files, or folders that contain them; 'txmill make' makes the tx files of images"},
        {TXM_VALUES_TX, TXM_STATUS_NOT_FOUND,
         "check the names, and whether the share is mounted; 'txmill make' makes the tx files of images"},
        {TXM_VALUES_SCENE, TXM_STATUS_CORRUPT, "save these scenes again, or copy them again"},
        {TXM_VALUES_SCENE, TXM_STATUS_UNSUPPORTED, "give scenes, whose formats txmill-list(1) names"},
        {TXM_VALUES_LOG, TXM_STATUS_CORRUPT, "copy these logs again"},
        {TXM_VALUES_LOG, TXM_STATUS_UNSUPPORTED, "give logs; 'txmill make --log run.jsonl' writes one"},
        {TXM_VALUES_FILE, TXM_STATUS_CORRUPT, "copy these files again"},
        {TXM_VALUES_FILE, TXM_STATUS_UNSUPPORTED, "give tx files, images, or folders of them"},
        {NULL, TXM_STATUS_NOT_FOUND, "check the names, and whether the share is mounted"},
        {NULL, TXM_STATUS_DENIED, "have the permissions changed"},
    };
    static const char *const steps[TXM_STATUSES] = {
        [TXM_STATUS_INTERNAL] = "please report it, with the output of 'txmill doctor'",
        [TXM_STATUS_USAGE] = "correct the names or options as the messages above say",
        [TXM_STATUS_NOT_FOUND] =
            "check the names, and whether the share is mounted; 'txmill list' shows the images of a scene",
        [TXM_STATUS_NOT_A_FILE] = "name files",
        [TXM_STATUS_DENIED] =
            "have the permissions changed, or write elsewhere; --cache-dir sets another folder for tx files",
        [TXM_STATUS_IO] = "check the disk and the network, then run the same again; finished files are kept",
        [TXM_STATUS_DISK_FULL] = "free space ('txmill gc' finds unneeded tx files), then run the same again",
        [TXM_STATUS_CORRUPT] = "save or copy these files again",
        [TXM_STATUS_UNSUPPORTED] = "give other files, or save these images as PNG, TIFF or OpenEXR",
        [TXM_STATUS_TOO_LARGE] = "make them smaller, or raise the limit that the messages name",
        [TXM_STATUS_COLORSPACE] = "'txmill colorspaces' lists the names in the config",
        [TXM_STATUS_CONFIG] = "name an OpenColorIO config with --ocio, or unset OCIO for the built-in one",
        [TXM_STATUS_LOCKED] = "another process is making them; run the same again later",
        [TXM_STATUS_CHANGED] = "run the same again when no other program writes to them",
        [TXM_STATUS_CANCELLED] = "run the same again; finished files are kept",
        [TXM_STATUS_NEWER] = "use the newer txmill that wrote them",
        [TXM_STATUS_NOT_DOWNLOADED] = "run 'git lfs pull' in the repository that they belong to",
        [TXM_STATUS_NOT_INSTALLED] = "install what the messages name; 'txmill doctor' shows what is there",
        [TXM_STATUS_DEVICE] = "use --device cpu; 'txmill devices' lists the devices",
    };
    const char *values = files_read && !strcmp(files_read, TXM_VALUES_TX_OR_IMAGE) ? TXM_VALUES_TX : files_read;
    const bool usual = !values || !strcmp(values, TXM_VALUES_IMAGE) || !strcmp(values, TXM_VALUES_DIR);
    const char *step = NULL;
    for (size_t i = 0; !usual && !step && i < sizeof special / sizeof *special; i++)
        if (special[i].status == status && (!special[i].values || !strcmp(values, special[i].values)))
            step = special[i].step;
    if (!step && (unsigned)status < TXM_STATUSES)
        step = steps[status];
    if (status == TXM_STATUS_CONFIG && *config_advice)
        step = config_advice;
    if (status == TXM_STATUS_NO_MEMORY)
        step = memory_step;
    return step ? step : steps[TXM_STATUS_INTERNAL];
}

/* stdio may notice only on flush that the disk of standard output is full. A run whose results are lost counts as
 * failed, and may be retried. */
int txm_finish(const txm_tally *tally)
{
    txm_tally t = *tally;
    txm_say_status("%s", "");
    t.retryable |= atomic_load(&missing);
    errno = 0;
    bool lost = txm_lines_flush() || ferror(stdout);
    /* A reader that exited early, like head(1), misses nothing. The failed write may have been an earlier one, whose
     * errno is lost. */
    if (lost && !txm_reader_is_gone(STDOUT_FILENO)) {
        txm_say(TXM_SAY_ERROR, "standard output: writing failed%s%s; results are missing", errno ? ": " : "",
                errno ? strerror(errno) : "");
        t.retryable = true;
    }
    for (int s = TXM_OK + 1; s < TXM_STATUSES; s++)
        if (t.of[s] && !(caught && s == TXM_STATUS_CANCELLED))
            txm_say(TXM_SAY_INFO, "%zu failed: %s; %s", t.of[s], txm_status_text((txm_status)s),
                    txm_next_step((txm_status)s));
    txm_exit code = txm_tally_exit(&t);
    if (code != TXM_EXIT_OK && code != TXM_EXIT_FINDINGS)
        txm_say_last("TXMILL-ERROR code=%d failed=%zu total=%zu", code, t.failed, t.total);
    return (int)code;
}

/* It is set once the options are known to contain --json; a process runs a single command. */
static const char *json_schema;

/* Called before options are parsed if --json is among them, so that a mistake in them is an object too. */
void txm_finish_in_json(const char *schema)
{
    json_schema = schema;
}

cJSON *txm_json_result(void)
{
    return json_schema ? txm_json_new(json_schema) : NULL;
}

/* Whether the message of a failure has no advice of its own, and that for its kind applies to any file: a list, a
 * log, a folder. */
static bool lacks_advice(const txm_error *err)
{
    switch (err->status) {
    case TXM_STATUS_INTERNAL:
    case TXM_STATUS_NO_MEMORY:
    case TXM_STATUS_NOT_FOUND:
    case TXM_STATUS_DENIED:
    case TXM_STATUS_IO:
    case TXM_STATUS_DISK_FULL:
    case TXM_STATUS_LOCKED:
    case TXM_STATUS_CHANGED:
        return !*txm_error_advice(err);
    default:
        return false;
    }
}

void txm_say_failure(const txm_error *err)
{
    txm_say(TXM_SAY_ERROR, "%s", err->message);
    if (lacks_advice(err))
        txm_say(TXM_SAY_INFO, "%s", txm_next_step(err->status));
}

/* The whole run failed, so all inputs count as failed. */
int txm_finish_failed(const txm_error *err, size_t total)
{
    txm_tally tally = {.total = total, .failed = total};
    txm_say_failure(err);
    if (json_schema) {
        cJSON *o = txm_json_result();
        txm_json_text(o, "type", "error");
        txm_json_error(o, err);
        txm_json_emit(o);
    }
    note_status(&tally, err->status);
    return txm_finish(&tally);
}

const char *txm_exit_text(int code)
{
    static const struct {
        int code;
        const char *text;
    } texts[] = {
        {TXM_EXIT_OK, "Everything was done, or was already up to date."},
        {TXM_EXIT_INTERNAL, "An error inside txmill or one of its libraries."},
        {TXM_EXIT_USAGE, "The command line is wrong."},
        {TXM_EXIT_FAILED, "Some inputs failed; a retry would not help."},
        {TXM_EXIT_RETRY,
         "Some inputs failed, and a retry may succeed (input and output, a lock, memory, a full disk)."},
        {TXM_EXIT_FINDINGS, "Differences or findings."},
        {TXM_EXIT_SIGHUP, "Ended by SIGHUP, because the terminal was closed; temporary files were removed."},
        {TXM_EXIT_SIGINT, "Interrupted by SIGINT; temporary files were removed."},
        {TXM_EXIT_SIGTERM, "Ended by SIGTERM; temporary files were removed."},
        {TXM_EXIT_SIGXCPU,
         "Ended by SIGXCPU, because the limit of processor time was reached; temporary files were removed."},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code)
            return texts[i].text;
    return NULL;
}
