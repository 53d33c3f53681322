/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads logs of runs, the output of `txmill make --json`.
 *
 * A log has a line per object, possibly from several runs and hosts that appended to one file. A last line that is cut
 * off, because of a full disk or a kill, is counted and skipped; lines that are not objects of txmill are counted as
 * foreign. `report` uses whole logs, `verify` the names of the tx files that a run made.
 */
#ifndef TXM_TOOLS_RUN_LOG_H
#define TXM_TOOLS_RUN_LOG_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/options/opt.h"
#include "tools/output/json.h"
#include "txmill/batch.h"
#include "txmill/convert.h"
#include "txtile/status.h"

typedef struct txm_run_log_counts {
    size_t objects, foreign; /* foreign: lines that are not objects of `txmill make` */
    bool cut;                /* the last line is incomplete: the run was killed, or is still running */
} txm_run_log_counts;

/* Called with each object of a run, which is "file" or "summary" by its member `type`; it is freed afterwards.
 * Another status than TXM_OK ends the reading. */
typedef txm_status (*txm_run_log_fn)(void *user, const cJSON *object, txm_error *err);

/* Reads a log, "-" for standard input. Other lines are counted and skipped, because schedulers mix other output in.
 * NOT_FOUND, DENIED, IO, CORRUPT for a line of more than 16 MiB, NEWER, NO_MEMORY, what `fn` returned. */
txm_status txm_run_log_read(const char *path, txm_run_log_fn fn, void *user, txm_run_log_counts *counts,
                            txm_error *err);

/* Members of an object: NULL, 0 or false if they are missing or of another type. */
const char *txm_run_log_text(const cJSON *object, const char *name);
double txm_run_log_number(const cJSON *object, const char *name);
bool txm_run_log_flag(const cJSON *object, const char *name);
/* A whole number from 0 to `most`; others count as 0. */
uint64_t txm_run_log_count(const cJSON *object, const char *name, uint64_t most);
/* The exact bytes of a path: those of NAME_encoded if there is one. New string; NULL if it is missing or memory is
 * exhausted. */
char *txm_run_log_path(const cJSON *object, const char *name);

/* ---- the stages of a conversion, as `txmill make` reports them and `txmill report` reads them ---- */

/* The stages in the order of the pipeline, with their names in JSON. */
enum { TXM_STAGES = 8 };
extern const char *const txm_stage_names[TXM_STAGES];

/* Seconds in this order. */
void txm_stages_from(const txm_stage_seconds *seconds, double out[TXM_STAGES]);
/* Adds the member "stage_seconds". */
void txm_json_stages(cJSON *object, const double seconds[TXM_STAGES]);

/* ---- the tx files of a run, for commands that take tx files ---- */

/* Adds the tx files that were made or up to date according to the logs, each once, except those that are among the
 * inputs already. Fails as txm_run_log_read does. */
txm_status txm_run_tx_read(txm_inputs *inputs, const txm_opt_list *logs, txm_error *err);
#endif
