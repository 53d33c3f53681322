/* SPDX-License-Identifier: Apache-2.0
 * Numbers and letters as text, the same in every locale. */
#include "core/text.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* glibc hands out its static "C" locale, so this neither allocates nor fails there. */
static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t the_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale;
}

int txm_vformat(char *out, size_t bytes, const char *format, va_list args)
{
    /* There is no vsnprintf_l. uselocale() concerns this thread alone, and it is set back at once. */
    locale_t before = uselocale(the_c_locale());
    int n = vsnprintf(out, bytes, format, args);
    uselocale(before);
    return n;
}

int txm_format(char *out, size_t bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = txm_vformat(out, bytes, format, args);
    va_end(args);
    return n;
}

float txm_parse_float(const char *text, char **end)
{
    return strtof_l(text, end, the_c_locale());
}

double txm_parse_double(const char *text, char **end)
{
    return strtod_l(text, end, the_c_locale());
}

int txm_casecmp(const char *a, const char *b)
{
    return strcasecmp_l(a, b, the_c_locale());
}

int txm_ncasecmp(const char *a, const char *b, size_t n)
{
    return strncasecmp_l(a, b, n, the_c_locale());
}
