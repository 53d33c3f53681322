/* SPDX-License-Identifier: Apache-2.0
 * Text from files on standard output. */
#include "tools/output/text.h"

#include <stdio.h>

void txm_print_safe(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 32 || c == 127)
            printf("\\x%02X", c);
        else
            putchar(c);
    }
}
