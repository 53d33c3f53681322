/* SPDX-License-Identifier: Apache-2.0
 * Valid UTF-8. */
#include "core/utf8.h"

size_t txm_utf8_sequence(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    unsigned low = 0x80, high = 0xBF;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    /* The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF. */
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
