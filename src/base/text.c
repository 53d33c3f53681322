/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* glibc returns its static "C" locale, so this neither allocates nor fails there. */
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
    /* There is no vsnprintf_l. uselocale() affects only this thread, and is undone at once. */
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

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool txm_percent_decode(char *text)
{
    char *out = text;
    for (char *p = text; *p; p++) {
        if (*p != '%') {
            *out++ = *p;
            continue;
        }
        int high = hex_digit(p[1]), low = high < 0 ? -1 : hex_digit(p[2]);
        if (low < 0 || high + low == 0)
            return false;
        *out++ = (char)(high * 16 + low);
        p += 2;
    }
    *out = 0;
    return true;
}

size_t txm_utf8_sequence(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    unsigned low = 0x80, high = 0xBF;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    /* The range of the second byte excludes overlong forms, surrogates and values beyond U+10FFFF. */
    if (s[0] == 0xE0)
        low = 0xA0;
    else if (s[0] == 0xED)
        high = 0x9F;
    else if (s[0] == 0xF0)
        low = 0x90;
    else if (s[0] == 0xF4)
        high = 0x8F;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

void txm_hex_text(const unsigned char *bytes, size_t count, bool upper, char *out)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = 0;
}

const char *txm_time_text(time_t time, char out[TXM_TIME_BYTES])
{
    struct tm local;
    if (!localtime_r(&time, &local) || !strftime(out, TXM_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &local))
        snprintf(out, TXM_TIME_BYTES, "%lld", (long long)time);
    return out;
}

const char *txm_duration_text(double seconds, char out[TXM_TIME_BYTES])
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"year", 365.25 * 86400}, {"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}};
    size_t u = 0;
    seconds = seconds < 0 ? -seconds : seconds;
    /* A value that would round up to the next unit uses that: 23.6 hours are a day. Years are too coarse below two. */
    while (u + 1 < sizeof units / sizeof *units && seconds < units[u].seconds * (u ? 0.98 : 2))
        u++;
    long long count = (long long)(seconds / units[u].seconds + 0.5);
    snprintf(out, TXM_TIME_BYTES, "%lld %s%s", count, units[u].name, count == 1 ? "" : "s");
    return out;
}
