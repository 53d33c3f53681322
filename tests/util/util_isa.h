/* SPDX-License-Identifier: Apache-2.0
 * Compares an ISA's row operations with scalar C. */
#ifndef UTIL_ISA_H
#define UTIL_ISA_H
#include "tile/ops/ops.h"

/* Runs every operation on random and on edge input, for every length around the vector widths. Returns NULL if all bits
 * are equal, else a description of the first difference. `proven`, if not NULL, is an ISA that passes on a real
 * processor: if even that one rounds ties up when it makes halves, so does the machine, and `ops` may do so too. */
const char *isa_compare(const txm_ops *ops, const txm_ops *proven);
#endif
