/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages on stderr.
 *
 * In: messages from any thread. Out: whole lines on stderr; the status line is cleared before and restored after.
 * Control characters are made visible, because names come from files of other people.
 */
#include "tools/output/say.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/os/clock.h"
#include "base/os/signals.h"
#include "base/os/terminal.h"
#include "base/shell.h"
#include "base/text.h"

#include "tools/output/line.h"

/* There is one stderr per process, so its state is global. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static txm_say_level most = TXM_SAY_INFO;
static unsigned status_columns; /* width of the visible status line; 0: none */

enum { LINE = 4096 };

/* It is set before threads start, and read without a lock. */
void txm_say_set_level(txm_say_level level)
{
    most = level;
}

/* Progress must not fill a log file, nor a terminal that cannot rewrite a line. If standard output is a pipe, the
 * program at its other end may write to the same terminal in the middle of such a line. */
bool txm_say_can_animate(void)
{
    struct stat st;
    const char *term = getenv("TERM");
    bool piped = fstat(STDOUT_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    return !piped && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* 80 if the width is unknown, or so small that nothing would fit. */
unsigned txm_terminal_columns(int fd)
{
    txm_window_size size;
    return txm_window_size_of(fd, &size) && size.columns >= 40 ? size.columns : 80;
}

/* Escapes the control characters of ASCII and of U+0080 to U+009F, which terminals obey as well, characters that change
 * the direction of writing, with which a name can look like another, Unicode's line ends, and surrogates, which some
 * terminals decode. */
size_t txm_shown_bytes(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t n = txm_utf8_sequence(text);
    if (n == 0)
        return c[0] >= 0xA0 && !(c[0] == 0xED && c[1] >= 0xA0 && c[1] <= 0xBF);
    if (n == 1)
        return c[0] >= 32 && c[0] != 127;
    const bool obeyed = (n == 2 && c[0] == 0xC2 && c[1] < 0xA0) || (n == 2 && c[0] == 0xD8 && c[1] == 0x9C) ||
                        (n == 3 && c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F)) ||
                        (n == 3 && c[0] == 0xE2 && c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE) ||
                        (n == 3 && c[0] == 0xE2 && c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xAF);
    return obeyed ? 0 : n;
}

size_t txm_escape(const char *text, char out[TXM_ESCAPE_BYTES])
{
    size_t n = txm_utf8_sequence(text), at = 0;
    for (size_t i = 0; i < (n ? n : 1); i++)
        at += (size_t)snprintf(out + at, TXM_ESCAPE_BYTES - at, "\\x%02X", (unsigned char)text[i]);
    return n ? n : 1;
}

/* Makes control characters visible. Cut where `out` is full. */
static void sanitize(const char *in, char *out, size_t out_bytes)
{
    size_t n = 0;
    char escape[TXM_ESCAPE_BYTES];
    while (*in && n + TXM_ESCAPE_BYTES < out_bytes) {
        size_t shown = txm_shown_bytes(in), hidden = shown ? 0 : txm_escape(in, escape);
        if (shown)
            memcpy(out + n, in, shown);
        else
            strcpy(out + n, *in == '\n' ? "\\n" : escape);
        n += shown ? shown : strlen(out + n);
        in += shown + hidden;
    }
    out[n] = 0;
}

bool txm_put(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(fd, text, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Failures of stderr are ignored on purpose, because they cannot be reported. */
static void put(const char *text)
{
    txm_put(STDERR_FILENO, text, strlen(text));
}

/* Returns the real width, however small, because a wrapped line could not be cleared. */
static unsigned status_width(void)
{
    txm_window_size size;
    return txm_window_size_of(STDERR_FILENO, &size) ? size.columns : 80;
}

/* The lock must be held. If the terminal was made narrower, it has wrapped the line, whose first row is above the
 * cursor. */
static void clear_status(void)
{
    char rows[32] = "";
    if (!status_columns)
        return;
    unsigned folded = (status_columns - 1) / status_width();
    if (folded)
        snprintf(rows, sizeof rows, "\033[%uA", folded);
    put("\r");
    put(rows);
    put(folded ? "\033[J" : "\033[K");
    status_columns = 0;
}

/* Between hold and release no other message is written, and no status line is shown, because standard output may be
 * the same terminal. */
void txm_say_hold(void)
{
    pthread_mutex_lock(&lock);
    clear_status();
}

void txm_say_release(void)
{
    pthread_mutex_unlock(&lock);
}

/* It may not wait: a thread that writes a message waits for standard output, and clears the status line itself. */
void txm_say_make_room(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    clear_status();
    pthread_mutex_unlock(&lock);
}

/* One mistake may fail many files, such as a line of a project's .txmill; an error that equals the previous message
 * is not repeated. */
static bool is_repeated(const char *line, txm_say_level level)
{
    static char last[LINE + 64];
    pthread_mutex_lock(&lock);
    bool repeated = level == TXM_SAY_ERROR && strcmp(line, last) == 0;
    snprintf(last, sizeof last, "%s", line);
    pthread_mutex_unlock(&lock);
    return repeated;
}

/* A line is written with one call, so that lines of several processes on one terminal do not mix. Text longer than LINE
 * is cut. */
static void put_line(txm_say_level level, const char *prefix, const char *format, va_list args)
{
    char raw[LINE], clean[LINE], line[LINE + 64];
    vsnprintf(raw, sizeof raw, format, args);
    sanitize(raw, clean, sizeof clean);
    snprintf(line, sizeof line, "%s%s", prefix, clean);
    if (is_repeated(line, level))
        return;
    char *wrapped = isatty(STDERR_FILENO) ? txm_line_wrap(line, txm_terminal_columns(STDERR_FILENO)) : NULL;
    if (!wrapped)
        strcat(line, "\n");
    pthread_mutex_lock(&lock);
    clear_status();
    fflush(stdout); /* earlier output must come first if both go to one place */
    put(wrapped ? wrapped : line);
    pthread_mutex_unlock(&lock);
    free(wrapped);
}

/* Any thread may call it. Messages below the level are not even formatted. */
void txm_say(txm_say_level level, const char *format, ...)
{
    static const char *const plain[] = {"txmill: error: ", "txmill: warning: ", "txmill: ", "txmill: "};
    static const char *const coloured[] = {"txmill: \033[1;31merror:\033[0m ", "txmill: \033[1;33mwarning:\033[0m ",
                                           "txmill: ", "txmill: "};
    if (level > most)
        return;
    va_list args;
    va_start(args, format);
    put_line(level, (txm_color_wanted(STDERR_FILENO) ? coloured : plain)[level], format, args);
    va_end(args);
}

/* ---- what the command works on ----------------------------------------------------------------------------------- */

/* What is shown once it takes more than a second. Guarded by the lock. */
static struct {
    char doing[64];
    size_t done, total;   /* files */
    uint64_t part, parts; /* of the file at hand; 0: not known */
    double since, told;   /* when the number of files changed; when the part did */
    bool one_by_one;      /* the parts are those of one file */
} work;
static double drawn; /* when the status line was last shown */

enum { TICK_MS = 250 };

/* A thread, since the one that works does not look at the clock. It ends with the process. */
static void *tick(void *unused)
{
    for (;;) {
        const struct timespec pause = {0, TICK_MS * 1000000L};
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
        const double now = txm_clock_seconds();
        if (*work.doing && now - work.since >= 1 && now - drawn >= TICK_MS / 1000.0) {
            char more[48];
            /* Work that follows the last part, or that tells no parts, takes seconds. */
            if (work.part < work.parts && work.one_by_one && now - work.told < 2)
                snprintf(more, sizeof more, "%.0f%%", 100.0 * (double)work.part / (double)work.parts);
            else
                snprintf(more, sizeof more, "%.0f s", now - work.since);
            if (work.total > 1)
                txm_say_status("%s %zu of %zu files, %s of the next", work.doing, work.done, work.total, more);
            else if (work.total || !work.done)
                txm_say_status("%s, %s", work.doing, more);
            else
                txm_say_status("%s %zu files, %s", work.doing, work.done, more);
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void note_work(const char *doing, size_t done, size_t total, bool one_by_one)
{
    if (!txm_say_can_animate() || most < TXM_SAY_INFO)
        return;
    pthread_mutex_lock(&lock);
    if (done != work.done || strcmp(doing, work.doing) != 0) {
        work.since = txm_clock_seconds();
        work.part = work.parts = 0;
    }
    snprintf(work.doing, sizeof work.doing, "%s", doing);
    work.done = done;
    work.total = total;
    work.one_by_one = one_by_one || total == 1;
    static bool ticking;
    if (!ticking)
        txm_thread_without_signals(tick);
    ticking = true;
    pthread_mutex_unlock(&lock);
}

void txm_say_part(uint64_t done, uint64_t parts)
{
    pthread_mutex_lock(&lock);
    work.part = done;
    work.parts = parts;
    work.told = txm_clock_seconds();
    pthread_mutex_unlock(&lock);
}

static void show_progress(const char *doing, size_t done, size_t total)
{
    static _Atomic double shown;
    const double now = txm_clock_seconds();
    if (!txm_say_can_animate() || now - shown < 0.1)
        return;
    shown = now;
    if (total)
        txm_say_status("%s %zu of %zu files", doing, done, total);
    else
        txm_say_status("%s %zu files", doing, done);
}

void txm_say_progress(const char *doing, size_t done, size_t total)
{
    note_work(doing, done, total, false);
    show_progress(doing, done, total);
}

void txm_say_file_progress(const char *doing, size_t done, size_t total, bool quiet)
{
    note_work(doing, done, total, true);
    if (total > 1 && (quiet || !isatty(STDOUT_FILENO)))
        show_progress(doing, done, total);
}

static struct {
    int argc;
    char **argv;
} started;

void txm_say_started(int argc, char **argv)
{
    started.argc = argc;
    started.argv = argv;
}

/* The option comes after the command, because "--" may follow. The words were quoted by the user's shell before. */
void txm_say_again(const char *message, const char *option)
{
    txm_bytes line = {0};
    bool ok = txm_bytes_puts(&line, "txmill");
    for (int i = 1; ok && i < started.argc; i++) {
        char *word = txm_shell_word(started.argv[i]);
        ok = word && txm_bytes_puts(&line, " ") && txm_bytes_puts(&line, word) &&
             (i > 1 || (txm_bytes_puts(&line, " ") && txm_bytes_puts(&line, option)));
        free(word);
    }
    if (ok)
        txm_say(TXM_SAY_INFO, "%s: %s", message, line.data);
    txm_bytes_free(&line);
}

/* It has the form of the library's callback for warnings. */
void txm_say_warning(void *user, const char *message)
{
    (void)user;
    txm_say(TXM_SAY_WARNING, "%s", message);
}

/* Without the program's name in front and at any level, because scripts look for this line. */
void txm_say_last(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(TXM_SAY_INFO, "", format, args);
    va_end(args);
}

/* The line is overwritten in place, so it is cut to the terminal's width: a wrapped line could not be cleared. */
void txm_say_status(const char *format, ...)
{
    if (!txm_say_can_animate() || most < TXM_SAY_INFO)
        return;
    char raw[LINE], clean[LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    sanitize(raw, clean, sizeof clean);
    unsigned columns = status_width();
    if (columns < sizeof clean)
        clean[columns - 1] = 0;
    pthread_mutex_lock(&lock);
    clear_status();
    put(clean);
    status_columns = txm_text_columns(clean);
    drawn = txm_clock_seconds();
    if (!*clean)
        *work.doing = 0; /* it is done */
    pthread_mutex_unlock(&lock);
}
