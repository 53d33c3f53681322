/* SPDX-License-Identifier: Apache-2.0
 * The stages of a conversion, as `txmill make` reports them and `txmill report` reads them. */
#ifndef TXM_TOOLS_STAGES_H
#define TXM_TOOLS_STAGES_H
#include "tools/output/json.h"
#include "txmill/convert.h"

/* In the order of the pipeline, as JSON calls them. */
enum { TXM_STAGES = 8 };
extern const char *const txm_stage_names[TXM_STAGES];

/* Seconds in this order. */
void txm_stages_from(const txm_stage_seconds *seconds, double out[TXM_STAGES]);
/* Adds the member "stage_seconds". */
void txm_json_stages(cJSON *object, const double seconds[TXM_STAGES]);
#endif
