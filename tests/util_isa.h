/* SPDX-License-Identifier: Apache-2.0
 * Comparing an ISA's row operations with scalar C. */
#ifndef UTIL_ISA_H
#define UTIL_ISA_H
#include "device/ops.h"

/* Runs every operation on random and on edge input of every length around the vector widths. NULL when every bit is
 * equal, else the first difference in words. */
const char *isa_compare(const txm_ops *ops);
#endif
