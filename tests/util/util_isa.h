/* SPDX-License-Identifier: Apache-2.0
 * Comparing an ISA's row operations with scalar C. */
#ifndef UTIL_ISA_H
#define UTIL_ISA_H
#include "tile/ops/ops.h"

/* Runs every operation on random and on edge input of every length around the vector widths. NULL when every bit is
 * equal, else the first difference in words. `proven`, if not NULL, is an ISA that passes on a real processor: where
 * even that one rounds ties up as it makes halves, the machine does, and `ops` may. */
const char *isa_compare(const txm_ops *ops, const txm_ops *proven);
#endif
