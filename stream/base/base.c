/* SPDX-License-Identifier: Apache-2.0
 * Memory, failures, bytes and paths; see base.h. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- memory ---- */

char *stm_strdup(const char *s)
{
    return s ? strdup(s) : NULL;
}

static char *print_new(const char *format, va_list args)
{
    char *s = NULL;
    return vasprintf(&s, format, args) < 0 ? NULL : s;
}

char *stm_asprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *s = print_new(format, args);
    va_end(args);
    return s;
}

bool stm_grow(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
    enum { FIRST = 16 };
    if (count < *capacity)
        return true;
    const size_t more = *capacity ? 2 * *capacity : FIRST;
    void *grown = more > *capacity ? reallocarray(*items, more, item_bytes) : NULL;
    if (!grown)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

/* ---- failures ---- */

/* Records a message. If it is too long its middle is left out: paths are long, and what is wrong with them comes last.
 * An advice that begins in what was left out is none. */
static void record(txm_error *err, txm_status status, const char *message, size_t subject_bytes, size_t advice_at)
{
    static const char gap[] = " ... ";
    const size_t room = sizeof err->message, head = room / 2, tail = room - head - (sizeof gap - 1);
    const size_t bytes = strlen(message) + 1, cut = bytes > room ? bytes - room : 0;
    *err = (txm_error){.status = status};
    if (cut) {
        memcpy(err->message, message, head);
        memcpy(err->message + head, gap, sizeof gap - 1);
        memcpy(err->message + room - tail, message + bytes - tail, tail);
    } else {
        memcpy(err->message, message, bytes);
    }
    if (cut && advice_at >= head)
        advice_at = advice_at >= bytes - tail ? advice_at - cut : 0;
    err->subject_bytes = (uint16_t)(subject_bytes < head ? subject_bytes : 0);
    err->advice_at = (uint16_t)advice_at;
}

/* The parts of a message are found from its format, since the values could contain anything. */
static void compose(txm_error *err, txm_status status, const char *suffix, const char *format, va_list args)
{
    const char *advice = strstr(format, "; "), *subject = NULL;
    char *text, *whole = NULL, *begin = advice ? strndup(format, (size_t)(advice - format)) : NULL;
    int advice_at = -2;
    va_list again;
    if (begin) {
        va_copy(again, args);
        advice_at = vsnprintf(NULL, 0, begin, again);
        va_end(again);
        free(begin);
    }
    if (!strncmp(format, "%s: ", 4)) {
        va_copy(again, args);
        subject = va_arg(again, const char *);
        va_end(again);
    }
    text = print_new(format, args);
    if (text && asprintf(&whole, "%s%s", text, suffix) >= 0)
        record(err, status, whole, subject ? strlen(subject) : 0, (size_t)(advice_at + 2));
    else
        record(err, status, "out of memory", 0, 0);
    free(whole);
    free(text);
}

txm_status stm_fail_v(txm_error *err, txm_status status, const char *format, va_list args)
{
    if (err && err->status == TXM_OK)
        compose(err, status, "", format, args);
    return status;
}

txm_status stm_fail(txm_error *err, txm_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    stm_fail_v(err, status, format, args);
    va_end(args);
    return status;
}

txm_status stm_fail_parts(txm_error *err, txm_status status, const char *message, size_t subject_bytes,
                          size_t advice_at)
{
    if (err && err->status == TXM_OK)
        record(err, status, message, subject_bytes, advice_at);
    return status;
}

static txm_status status_of_errno(int sys_errno)
{
    switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
        return TXM_STATUS_NOT_FOUND;
    case EISDIR:
        return TXM_STATUS_NOT_A_FILE;
    case EACCES:
    case EPERM:
    case EROFS:
        return TXM_STATUS_DENIED;
    case ENOSPC:
    case EDQUOT:
        return TXM_STATUS_DISK_FULL;
    case ENOMEM:
        return TXM_STATUS_NO_MEMORY;
    case ECANCELED:
        return TXM_STATUS_CANCELLED;
    case EOVERFLOW:
    case ENAMETOOLONG:
        return TXM_STATUS_TOO_LARGE;
    default:
        return TXM_STATUS_IO;
    }
}

txm_status stm_fail_errno(txm_error *err, int sys_errno, const char *format, ...)
{
    const txm_status status = status_of_errno(sys_errno);
    if (err && err->status == TXM_OK) {
        char text[128], reason[132];
        va_list args;
        /* GNU strerror_r returns the text, which may or may not be in the buffer. */
        snprintf(reason, sizeof reason, ": %s", strerror_r(sys_errno, text, sizeof text));
        va_start(args, format);
        compose(err, status, reason, format, args);
        va_end(args);
        err->sys_errno = sys_errno;
    }
    return status;
}

txm_status stm_no_memory(txm_error *err, const char *subject)
{
    return subject ? stm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", subject)
                   : stm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
}

txm_status stm_fail_as(txm_error *err, const txm_error *cause)
{
    if (err && err->status == TXM_OK)
        *err = *cause;
    return cause->status;
}

txm_status stm_error_prefix(txm_error *err, const char *prefix)
{
    if (!err)
        return TXM_OK;
    const txm_error cause = *err;
    const size_t bytes = strlen(prefix);
    char *message = stm_asprintf("%s: %s", prefix, cause.message);
    if (message) {
        record(err, cause.status, message, bytes, cause.advice_at ? cause.advice_at + bytes + 2 : 0);
        err->sys_errno = cause.sys_errno;
    }
    free(message);
    return err->status;
}

/* ---- text ---- */

bool stm_bytes_add(stm_bytes *b, const void *data, size_t size)
{
    while (!b->failed && b->capacity - b->size <= size) {
        const size_t more = b->capacity ? 2 * b->capacity : 256;
        char *grown = more > b->capacity ? realloc(b->data, more) : NULL;
        b->failed = !grown;
        b->data = grown ? grown : b->data;
        b->capacity = grown ? more : b->capacity;
    }
    if (b->failed)
        return false;
    memcpy(b->data + b->size, data, size);
    b->size += size;
    b->data[b->size] = 0;
    return true;
}

bool stm_bytes_puts(stm_bytes *b, const char *s)
{
    return stm_bytes_add(b, s, strlen(s));
}

bool stm_bytes_printf(stm_bytes *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = print_new(format, args);
    va_end(args);
    b->failed |= !text;
    if (text)
        stm_bytes_puts(b, text);
    free(text);
    return !b->failed;
}

char *stm_bytes_take(stm_bytes *b)
{
    char *text = b->failed ? NULL : b->data;
    if (!text)
        free(b->data);
    *b = (stm_bytes){0};
    return text;
}

void stm_bytes_free(stm_bytes *b)
{
    free(b->data);
    *b = (stm_bytes){0};
}

/* Overlong forms, surrogates and numbers above U+10FFFF are not valid. */
size_t stm_utf8_sequence(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80)
        return c[0] ? 1 : 0;
    const size_t n = c[0] >= 0xC2 && c[0] < 0xE0 ? 2 : (c[0] & 0xF0) == 0xE0 ? 3 : c[0] >= 0xF0 && c[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    const bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    const bool beyond = (c[0] == 0xED && c[1] >= 0xA0) || (c[0] == 0xF4 && c[1] >= 0x90);
    return overlong || beyond ? 0 : n;
}

/* ---- paths ---- */

const char *stm_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool stm_path_has_ext(const char *path, const char *ext)
{
    const char *base = stm_path_base(path), *dot = strrchr(base, '.');
    return dot && dot != base && strcasecmp(dot + 1, ext) == 0;
}

char *stm_path_join(const char *dir, const char *name)
{
    const size_t n = strlen(dir);
    if (!n || *name == '/')
        return strdup(name);
    return stm_asprintf(dir[n - 1] == '/' ? "%s%s" : "%s/%s", dir, name);
}

char *stm_program_path(void)
{
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    /* Without /proc it is the path with which the program was started. */
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (n <= 0 && (!started || !strchr(started, '/') || !realpath(started, path)))
        return NULL;
    return strdup(path);
}

char *stm_beside_program(const char *file)
{
    char *program = stm_program_path(), *path = NULL;
    if (program)
        path = stm_asprintf("%.*s/%s", (int)(strrchr(program, '/') - program), program, file);
    free(program);
    return path;
}

/* ---- words for a shell ---- */

/* Messages have commands in single quotes, so double quotes are preferred inside. What a terminal cannot show is
 * escaped in $'...', which bash, ksh and zsh read. */
char *stm_shell_word(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    stm_bytes out = {0};
    bool hidden = false;
    if (*word && !word[strspn(word, plain)])
        return strdup(word);
    for (size_t n, i = 0; word[i] && !hidden; i += n) {
        n = stm_utf8_sequence(word + i);
        hidden =
            !n || iscntrl((unsigned char)word[i]) || (n == 2 && !memcmp(word + i, "\xC2", 1) && word[i + 1] < '\xA0');
    }
    const bool dollar = hidden, twice = !hidden && !strpbrk(word, "\"$`\\!");
    stm_bytes_puts(&out, dollar ? "$'" : twice ? "\"" : "'");
    for (const char *c = word; *c; c++)
        if (dollar && ((unsigned char)*c < ' ' || (unsigned char)*c >= 127))
            stm_bytes_printf(&out, "\\%03o", (unsigned)(unsigned char)*c);
        else if (dollar && (*c == '\'' || *c == '\\'))
            stm_bytes_printf(&out, "\\%c", *c);
        else if (!dollar && !twice && *c == '\'')
            stm_bytes_puts(&out, "'\\''");
        else
            stm_bytes_add(&out, c, 1);
    stm_bytes_puts(&out, twice ? "\"" : "'");
    return stm_bytes_take(&out);
}

/* A name must not look like an option. */
char *stm_shell_path(const char *path)
{
    char *whole = *path == '-' ? stm_asprintf("./%s", path) : strdup(path),
         *word = whole ? stm_shell_word(whole) : NULL;
    free(whole);
    return word;
}

/* ---- spelling ---- */

/* The edit distance, by two rows of its table. */
bool stm_spelling_better(const char *word, const char *candidate, unsigned *least)
{
    enum { LONGEST = 63 };
    unsigned row[LONGEST + 1];
    const size_t n = strnlen(word, LONGEST), m = strnlen(candidate, LONGEST), shorter = n < m ? n : m;
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            const bool same = tolower((unsigned char)word[i - 1]) == tolower((unsigned char)candidate[j - 1]);
            const unsigned above = row[j], edit = corner + !same;
            const unsigned step = (above < row[j - 1] ? above : row[j - 1]) + 1;
            row[j] = edit < step ? edit : step;
            corner = above;
        }
    }
    const bool close = row[m] <= (n + 2) / 3 || (shorter >= 3 && strncasecmp(word, candidate, shorter) == 0);
    if (!close || row[m] >= *least)
        return false;
    *least = row[m];
    return true;
}
