/* SPDX-License-Identifier: Apache-2.0
 *
 * What txmill-stream needs of any program's basics: memory, failures, bytes, paths, words for a shell, clocks.
 *
 * The program uses the public headers of txtile and txmill alone, so it has its own. It never calls setlocale(): printf
 * writes decimal points.
 */
#ifndef STREAM_BASE_H
#define STREAM_BASE_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "txtile/status.h"

/* ---- memory ---- */

/* calloc, which is never NULL for a size of 0. */
static inline void *stm_calloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1);
}
/* strdup of a string that may be NULL. */
char *stm_strdup(const char *s);
/* printf into a new string; NULL if memory is exhausted. */
char *stm_asprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more item after `count` in an array that doubles when it is full. false if memory is exhausted:
 * the array is then unchanged. */
#define STM_GROW(items, capacity, count) stm_grow((void **)&(items), &(capacity), count, sizeof *(items))
bool stm_grow(void **items, size_t *capacity, size_t count, size_t item_bytes);

/* ---- failures: the first one is kept; each function returns the status ---- */

/* The parts of a message are found in its format: "%s: " at its beginning makes the first value the subject, and what
 * follows the first "; " is the advice. */
txm_status stm_fail(txm_error *err, txm_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
txm_status stm_fail_v(txm_error *err, txm_status status, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
/* A message whose parts are known, as in txm_error. */
txm_status stm_fail_parts(txm_error *err, txm_status status, const char *message, size_t subject_bytes,
                          size_t advice_at);
/* Of a system call: the status follows from `sys_errno`, whose text is appended. */
txm_status stm_fail_errno(txm_error *err, int sys_errno, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "SUBJECT: out of memory"; the subject may be NULL. */
txm_status stm_no_memory(txm_error *err, const char *subject);
/* Copies the failure of a called function. */
txm_status stm_fail_as(txm_error *err, const txm_error *cause);
/* Puts "prefix: " in front of the message, as its subject. */
txm_status stm_error_prefix(txm_error *err, const char *prefix);

/* Whether the flag, which another thread or a signal handler sets, requests a stop. `flag` may be NULL. */
static inline bool stm_is_cancelled(const volatile int *flag)
{
    return flag && __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/* Seconds of the monotonic clock, of which only differences are meaningful. */
static inline double stm_seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double stm_clock_seconds(void)
{
    return stm_seconds_of(CLOCK_MONOTONIC);
}

/* Processor time of the calling thread, and of the whole process. */
static inline double stm_thread_seconds(void)
{
    return stm_seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

static inline double stm_process_seconds(void)
{
    return stm_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- text and paths ---- */

/* A growable text. Zero-initialise it; after a failure nothing more is added. */
typedef struct stm_bytes {
    char *data;
    size_t size, capacity;
    bool failed;
} stm_bytes;
bool stm_bytes_add(stm_bytes *b, const void *data, size_t size);
bool stm_bytes_puts(stm_bytes *b, const char *s);
bool stm_bytes_printf(stm_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *stm_bytes_take(stm_bytes *b); /* the caller's; NULL if any addition has failed */
void stm_bytes_free(stm_bytes *b);

/* Length of the valid UTF-8 sequence at `text`, 0 if there is none. */
size_t stm_utf8_sequence(const char *text);

const char *stm_path_base(const char *path);
bool stm_path_has_ext(const char *path, const char *ext); /* "tx"; case does not matter */
char *stm_path_join(const char *dir, const char *name);   /* the name alone if it is absolute */
/* The path of the running program; NULL if it is unknown, or memory is exhausted. */
char *stm_program_path(void);
/* The path of a file in the program's folder; NULL in the same cases. */
char *stm_beside_program(const char *file);

/* A word, or the name of a file, as a shell reads it; quoted if it needs to be. NULL if memory is exhausted. */
char *stm_shell_word(const char *word);
char *stm_shell_path(const char *path);

/* Whether `candidate` was probably meant, and rather than those before. *least, UINT_MAX at first, is then the number
 * of letters that differ. */
bool stm_spelling_better(const char *word, const char *candidate, unsigned *least);
#endif
