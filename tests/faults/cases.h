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

/* The numbers of cases that were tried and that failed, for each group. A case is missed if the run makes fewer such
 * calls than the counted one did, because threads reach calls in another order. */
typedef struct score {
    size_t all, tried, missed, failed;
} score;

/* Returns every call that the run made with every fault that fits it, in a mixed order that depends on the seed, so
 * that a run that stops early has tried some of each kind. The caller frees `faults`. */
cases cases_of(const stage *stage, uint64_t seed);
group case_group(const fault *f);
#endif
