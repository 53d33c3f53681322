/* SPDX-License-Identifier: Apache-2.0
 * The NEON back-end against scalar C: cross-compiled and run by cli_neon.sh. */
#include <stdio.h>

#include "util_isa.h"

int main(void)
{
    const txm_ops *ops = txm_ops_isa("neon");
    const char *difference = ops ? isa_compare(ops) : "this build has no NEON back-end";
    if (difference)
        fprintf(stderr, "%s\n", difference);
    return difference != NULL;
}
