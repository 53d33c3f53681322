/* SPDX-License-Identifier: Apache-2.0
 * Comparing row operations of two ISAs, one of which is scalar C where the machine can be trusted. */
#ifndef UTIL_ISA_H
#define UTIL_ISA_H
#include "device/ops.h"

/* Runs every operation on random and on edge input of every length around the vector widths. NULL when every bit is
 * equal, else the first difference in words. */
const char *isa_compare(const txm_ops *ops, const txm_ops *with);
#endif
