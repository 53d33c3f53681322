/* SPDX-License-Identifier: Apache-2.0
 * Whether a run that a fault struck ended as it should. */
#ifndef FAULTS_JUDGE_H
#define FAULTS_JUDGE_H
#include "scenario.h"

/* Looks at how the run ended, at what it said and at its folder; runs the command once more, without a fault, where
 * something is missing, and looks again. What is wrong, a line each; empty: nothing. The caller's. */
char *judge(const surroundings *around, const stage *stage, const fault *f, const run_result *result);
#endif
