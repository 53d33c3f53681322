/* SPDX-License-Identifier: Apache-2.0
 * Text: numbers and letters, the same in every locale; percent-encoding, UTF-8, times for people.
 *
 * A program that links the library may have called setlocale(): printf then writes 0,5, strtod stops at the point, and
 * in Turkish "ID" and "id" differ. Every number that the library reads or writes goes through here, and so does every
 * comparison that ignores case. */
#ifndef TXM_BASE_TEXT_H
#define TXM_BASE_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "tile/base/shared.h"

/* snprintf and vsnprintf with a decimal point. The program's locale is left alone, other threads' too. */
TXM_SHARED int txm_format(char *out, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
TXM_SHARED int txm_vformat(char *out, size_t bytes, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* strtof and strtod with a decimal point. */
TXM_SHARED float txm_parse_float(const char *text, char **end);
TXM_SHARED double txm_parse_double(const char *text, char **end);

/* strcasecmp and strncasecmp where only ASCII letters have a case. */
TXM_SHARED int txm_casecmp(const char *a, const char *b);
TXM_SHARED int txm_ncasecmp(const char *a, const char *b, size_t n);

/* Undoes percent-encoding in place; false where it is broken or holds a NUL byte. */
TXM_SHARED bool txm_percent_decode(char *text);

/* Length of the valid UTF-8 sequence at `text`, 0 if there is none (overlong forms and surrogates are not valid). */
TXM_SHARED size_t txm_utf8_sequence(const char *text);

enum { TXM_TIME_BYTES = 32 };

/* "2026-11-21 07:30:00", local time, into `out`, which is returned; seconds since 1970 where no calendar reaches. */
TXM_SHARED const char *txm_time_text(time_t time, char out[TXM_TIME_BYTES]);

/* A duration in its largest unit, "1 second", "45 minutes", "6 days", rounded; the sign does not count. */
TXM_SHARED const char *txm_duration_text(double seconds, char out[TXM_TIME_BYTES]);
#endif
