/* SPDX-License-Identifier: Apache-2.0
 * Numbers and letters as text, the same in every locale.
 *
 * A program that links the library may have called setlocale(): printf then writes 0,5, strtod stops at the point, and
 * in Turkish "ID" and "id" differ. Every number that the library reads or writes goes through here, and so does every
 * comparison that ignores case. */
#ifndef TXM_CORE_TEXT_H
#define TXM_CORE_TEXT_H
#include <stdarg.h>
#include <stddef.h>

/* snprintf and vsnprintf with a decimal point. The program's locale is left alone, other threads' too. */
int txm_format(char *out, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
int txm_vformat(char *out, size_t bytes, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* strtof and strtod with a decimal point. */
float txm_parse_float(const char *text, char **end);
double txm_parse_double(const char *text, char **end);

/* strcasecmp and strncasecmp where only ASCII letters have a case. */
int txm_casecmp(const char *a, const char *b);
int txm_ncasecmp(const char *a, const char *b, size_t n);
#endif
