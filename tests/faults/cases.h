/* SPDX-License-Identifier: Apache-2.0
 * All cases of a scenario, and what came of those that were tried. */
#ifndef FAULTS_CASES_H
#define FAULTS_CASES_H
#include <stddef.h>

#include "scenario.h"

typedef struct cases {
    fault *faults;
    size_t count;
} cases;

typedef enum group { GROUP_CALLS, GROUP_ALLOCATIONS, GROUP_DEATHS, GROUPS } group;

/* Tried ones and failures a group. A case is missed where the run made fewer such calls than the one that was counted,
 * as threads come to it in another order. */
typedef struct score {
    size_t all, tried, missed, failed;
} score;

/* Every call of every name that the run made, with every fault that fits it, in an order that depends on the seed and
 * mixes them: whoever stops early has tried some of everything. The caller frees `faults`. */
cases cases_of(const stage *stage, uint64_t seed);
group case_group(const fault *f);
#endif
