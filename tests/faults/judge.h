/* SPDX-License-Identifier: Apache-2.0
 * Whether a run that a fault struck ended as it should. */
#ifndef FAULTS_JUDGE_H
#define FAULTS_JUDGE_H
#include "scenario.h"

/* Judges how the run ended, its output and its folder. If something is missing, it runs the command once more without a
 * fault and judges the folder again. Returns the errors, one in each line, or an empty string. The caller frees it. */
char *judge(const surroundings *around, const stage *stage, const fault *f, const run_result *result);
#endif
