/* SPDX-License-Identifier: Apache-2.0
 * Percent-encoded bytes. */
#include "core/percent.h"

#include <string.h>

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
