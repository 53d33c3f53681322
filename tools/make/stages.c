/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of a conversion.
 *
 * One table of names serves both directions, so that a stage that is added appears in text, JSON and report alike.
 */
#include "tools/make/stages.h"

#include <string.h>

const char *const txm_stage_names[TXM_STAGES] = {"decode", "conform", "color",   "pyramid",
                                                 "hash",   "encode",  "borders", "write"};

void txm_stages_from(const txm_stage_seconds *s, double out[TXM_STAGES])
{
    const double seconds[TXM_STAGES] = {s->decode, s->conform, s->color,   s->pyramid,
                                        s->hash,   s->encode,  s->borders, s->write};
    memcpy(out, seconds, sizeof seconds);
}

void txm_json_stages(cJSON *object, const double seconds[TXM_STAGES])
{
    cJSON *stages = txm_json_object(object, "stage_seconds");
    for (int i = 0; i < TXM_STAGES; i++)
        txm_json_number(stages, txm_stage_names[i], seconds[i], 6);
}
