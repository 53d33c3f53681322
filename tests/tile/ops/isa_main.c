/* SPDX-License-Identifier: Apache-2.0
 * Compares the row operations and lookups of one variant with scalar C, without a test framework: isa_main ISA [ROUNDS
 * [PROVEN]]. cli_neon.sh cross-compiles it for NEON, and it is the only program on the machine that
 * tests/bochs/check.sh emulates for AVX-512, so it prints its results as text. PROVEN is a variant that is correct on
 * real processors, which shows errors of the emulation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "util_isa.h"
#include "util_sample.h"

static int report(const char *what, const char *isa, const char *difference)
{
    printf("%s of %s: %s\n", what, isa, difference ? difference : "equal to scalar");
    return difference != NULL;
}

int main(int argc, char **argv)
{
    const char *isa = argc > 1 ? argv[1] : "";
    const txm_ops *ops = txm_ops_isa(isa), *proven = argc > 3 ? txm_ops_isa(argv[3]) : NULL;
    const txm_sample_ops *look_ups = txm_sample_ops_isa(isa);
    int rounds = argc > 2 ? atoi(argv[2]) : 150;
    const char *lacks = "this machine or build lacks them";
    int failed = report("row operations", isa, ops ? isa_compare(ops, proven) : lacks);
    failed |= report("lookups", isa, look_ups ? sample_compare(look_ups, rounds, 12345) : lacks);
    fflush(stdout);
    tcdrain(STDOUT_FILENO); /* a virtual machine stops as soon as its only program ends, so flush first */
    return failed;
}
