/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that does not depend on the locale: numbers and letters; percent-encoding, UTF-8, times for users. A program
 * that links the library may have called setlocale(): printf then writes 0,5, strtod stops at the point, and in
 * Turkish "ID" and "id" differ. The library uses these functions for every number that it reads or writes, and for
 * every comparison that ignores case.
 */
#ifndef TXM_BASE_TEXT_H
#define TXM_BASE_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* snprintf and vsnprintf with a decimal point. The program's locale is not changed, nor that of other threads. */
int txm_format(char *out, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
int txm_vformat(char *out, size_t bytes, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* strtof and strtod with a decimal point. */
float txm_parse_float(const char *text, char **end);
double txm_parse_double(const char *text, char **end);

/* strcasecmp and strncasecmp in which only ASCII letters have a case. */
int txm_casecmp(const char *a, const char *b);
int txm_ncasecmp(const char *a, const char *b, size_t n);

/* Undoes percent-encoding in place; false if it is malformed or encodes a NUL. */
bool txm_percent_decode(char *text);

/* Length of the valid UTF-8 sequence at `text`, 0 if there is none (overlong forms and surrogates are not valid). */
size_t txm_utf8_sequence(const char *text);

/* Writes two hex digits for each byte, in upper case as Blender writes digests or in lower case, and a NUL. */
void txm_hex_text(const unsigned char *bytes, size_t count, bool upper, char *out);

enum { TXM_TIME_BYTES = 32 };

/* Formats local time as "2026-11-21 07:30:00" into `out`, which is returned; seconds since 1970 if it cannot be
 * represented as a date. */
const char *txm_time_text(time_t time, char out[TXM_TIME_BYTES]);

/* A duration in its largest unit, rounded: "1 second", "45 minutes", "6 days"; the sign is ignored. */
const char *txm_duration_text(double seconds, char out[TXM_TIME_BYTES]);
#endif
