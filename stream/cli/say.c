/* SPDX-License-Identifier: Apache-2.0
 * Messages, numbers and names for people; see say.h. */
#include "cli/say.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/base.h"

/* There is one stderr per process, so its state is global. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stm_say_level most = STM_SAY_INFO;
static bool status_is_shown;
static stm_color_when color_when;

enum { LINE = 4096 };

void stm_say_set_level(stm_say_level level)
{
    most = level;
}

void stm_color_set(stm_color_when when)
{
    color_when = when;
}

static bool colors_wanted(void)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return color_when == STM_COLOR_ALWAYS || (color_when == STM_COLOR_AUTO && isatty(STDERR_FILENO) && !(no && *no) &&
                                              term && *term && strcmp(term, "dumb") != 0);
}

/* If standard output is a pipe, the program at its other end may write to the same terminal in the middle of a line. */
bool stm_say_can_animate(void)
{
    struct stat st;
    const char *term = getenv("TERM");
    const bool piped = fstat(STDOUT_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    return !piped && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

unsigned stm_terminal_columns(int fd, unsigned otherwise)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0)
        return otherwise;
    return size.ws_col >= 40 ? size.ws_col : 80;
}

/* Not shown: control characters of ASCII and from U+0080 to U+009F, and what changes the direction of writing or ends a
 * line. Bytes that are not UTF-8 are shown as they are, but those that terminals take for control characters. */
size_t stm_shown_bytes(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const size_t n = stm_utf8_sequence(text);
    if (n <= 1)
        return n ? c[0] >= 32 && c[0] != 127 : c[0] >= 0xA0 && !(c[0] == 0xED && c[1] >= 0xA0 && c[1] <= 0xBF);
    const bool obeyed = (n == 2 && c[0] == 0xC2 && c[1] < 0xA0) || (n == 2 && c[0] == 0xD8 && c[1] == 0x9C) ||
                        (n == 3 && c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F)) ||
                        (n == 3 && c[0] == 0xE2 && c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE) ||
                        (n == 3 && c[0] == 0xE2 && c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xAF);
    return obeyed ? 0 : n;
}

static locale_t widths;

static void load_widths(void)
{
    widths = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* The C library knows widths only in a locale of UTF-8, which is this thread's for the question alone. */
unsigned stm_character_columns(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    mbstate_t state = {0};
    wchar_t c;
    const size_t bytes = stm_utf8_sequence(text);
    if (bytes < 2)
        return 1;
    pthread_once(&once, load_widths);
    if (!widths)
        return 1;
    const locale_t before = uselocale(widths);
    const int columns = mbrtowc(&c, text, bytes, &state) == bytes ? wcwidth(c) : 1;
    uselocale(before);
    return columns < 0 ? 1 : (unsigned)columns;
}

/* The text with \xHH for what is not shown; NULL if memory is exhausted. */
static char *shown(const char *text)
{
    stm_bytes out = {0};
    stm_bytes_puts(&out, "");
    for (size_t n; *text; text += n) {
        n = stm_shown_bytes(text);
        if (n)
            stm_bytes_add(&out, text, n);
        else if (*text == '\n')
            stm_bytes_puts(&out, "\\n");
        else
            stm_bytes_printf(&out, "\\x%02X", (unsigned)(unsigned char)*text);
        n = n ? n : 1;
    }
    return stm_bytes_take(&out);
}

bool stm_put(int fd, const char *text)
{
    for (size_t left = strlen(text); left;) {
        const ssize_t n = write(fd, text, left);
        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Failures of stderr are ignored on purpose, because they cannot be reported. */
static void put(const char *text)
{
    stm_put(STDERR_FILENO, text);
}

void stm_say(stm_say_level level, const char *format, ...)
{
    static const char *const plain[] = {"txmill: error: ", "txmill: warning: ", "txmill: "};
    static const char *const colored[] = {"txmill: \033[1;31merror:\033[0m ", "txmill: \033[1;33mwarning:\033[0m ",
                                          "txmill: "};
    va_list args;
    if (level > most)
        return;
    va_start(args, format);
    /* Lines of several threads do not mix. */
    char raw[LINE];
    vsnprintf(raw, sizeof raw, format, args);
    char *clean = shown(raw),
         *line = clean ? stm_asprintf("%s%s", (colors_wanted() ? colored : plain)[level], clean) : NULL;
    if (line && isatty(STDERR_FILENO)) {
        char *wrapped = stm_wrapped(line, stm_terminal_columns(STDERR_FILENO, 80));
        free(line);
        line = wrapped;
    }
    pthread_mutex_lock(&lock);
    if (status_is_shown)
        put("\r\033[K");
    status_is_shown = false;
    fflush(stdout); /* earlier output must come first if both go to one place */
    put(line ? line : "txmill: error: out of memory");
    put("\n");
    pthread_mutex_unlock(&lock);
    free(line);
    free(clean);
    va_end(args);
}

/* Cut to the terminal's width, because a wrapped line could not be cleared. */
void stm_say_status(const char *format, ...)
{
    char raw[LINE];
    va_list args;
    if (!stm_say_can_animate() || most < STM_SAY_INFO)
        return;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    char *clean = shown(raw);
    const unsigned width = stm_terminal_columns(STDERR_FILENO, 80);
    unsigned at = 0;
    for (char *c = clean; c && *c; c += stm_utf8_sequence(c) ? stm_utf8_sequence(c) : 1)
        if ((at += stm_character_columns(c)) >= width)
            *c = 0;
    pthread_mutex_lock(&lock);
    put(status_is_shown ? "\r\033[K" : "");
    put(clean ? clean : "");
    status_is_shown = clean && *clean;
    pthread_mutex_unlock(&lock);
    free(clean);
}

void stm_print_safe(const char *text)
{
    for (size_t n; *text; text += n ? n : 1) {
        n = stm_shown_bytes(text);
        if (n)
            fwrite(text, 1, n, stdout);
        else
            printf("\\x%02X", (unsigned)(unsigned char)*text);
    }
}

void stm_print_fitted(const char *text, unsigned columns)
{
    unsigned all = 0;
    for (const char *at = text; *at; at += stm_shown_bytes(at) ? stm_shown_bytes(at) : 1)
        all += stm_shown_bytes(at) ? stm_character_columns(at) : 4;
    const bool cut = all > columns;
    for (; *text && cut && all + 2 > columns; text += stm_shown_bytes(text) ? stm_shown_bytes(text) : 1)
        all -= stm_shown_bytes(text) ? stm_character_columns(text) : 4;
    fputs(cut ? ".." : "", stdout);
    stm_print_safe(text);
}

/* ---- numbers ---- */

char *stm_format_bytes(uint64_t bytes, char out[STM_FORMAT_BYTES])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double value = (double)bytes / 1000;
    int unit = 0;
    /* 999.95 would be printed as 1000.0. */
    for (; value >= 999.95 && unit < 3; unit++)
        value /= 1000;
    if (bytes < 1000)
        snprintf(out, STM_FORMAT_BYTES, "%u B", (unsigned)bytes);
    else
        snprintf(out, STM_FORMAT_BYTES, "%.1f %s", value, units[unit]);
    return out;
}

/* About three digits at every size, because further ones would be noise in a measured time. */
char *stm_format_seconds(double seconds, char out[STM_FORMAT_BYTES])
{
    if (seconds < 0.1)
        snprintf(out, STM_FORMAT_BYTES, "%.0f ms", seconds * 1000);
    else if (seconds < 10)
        snprintf(out, STM_FORMAT_BYTES, "%.2f s", seconds);
    else if (seconds < 59.95)
        snprintf(out, STM_FORMAT_BYTES, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(out, STM_FORMAT_BYTES, "%.0f min %02.0f s", floor(fmax(seconds, 60) / 60),
                 floor(fmod(fmax(seconds, 60), 60)));
    else
        snprintf(out, STM_FORMAT_BYTES, "%.0f h %02.0f min", floor(seconds / 3600), floor(fmod(seconds, 3600) / 60));
    return out;
}

const char *stm_format_count(size_t count, const char *noun, char out[STM_FORMAT_COUNT])
{
    snprintf(out, STM_FORMAT_COUNT, "%zu %s%s", count, noun, count == 1 ? "" : "s");
    return out;
}

const char *stm_format_are(size_t count, const char *noun, char out[STM_FORMAT_COUNT])
{
    snprintf(out, STM_FORMAT_COUNT, "%zu %s%s", count, noun, count == 1 ? " is" : "s are");
    return out;
}
