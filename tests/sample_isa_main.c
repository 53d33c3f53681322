/* SPDX-License-Identifier: Apache-2.0
 * Look-ups of one back-end against scalar C, without a test framework: cross-compiled for NEON by cli_neon.sh, and to
 * be carried to a machine that has AVX-512. sample_isa_main ISA [ROUNDS] */
#include <stdio.h>
#include <stdlib.h>

#include "util_sample.h"

int main(int argc, char **argv)
{
    const txm_sample_ops *ops = argc > 1 ? txm_sample_ops_isa(argv[1]) : NULL;
    const char *difference =
        ops ? sample_compare(ops, argc > 2 ? atoi(argv[2]) : 150, 12345) : "this machine or build lacks it";
    if (difference)
        fprintf(stderr, "%s\n", difference);
    return difference != NULL;
}
