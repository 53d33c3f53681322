/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs of runs: what `txmill make --json` printed, read back.
 *
 * A log is a line per object, possibly from several runs and from several hosts that appended to one file. A
 * last line that was cut off, as by a full disk or a kill, is counted and passed over; lines that are no
 * objects of txmill's are counted as foreign. `report` reads whole logs through here, `verify` the names of the
 * tx files that a run made.
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
    size_t objects, foreign; /* foreign: lines that are no objects of `txmill make` */
    bool cut;                /* the last line is not whole: the run was killed, or goes on */
} txm_run_log_counts;

/* Called with each object of a run, "file" or "summary" by its member `type`; it is freed afterwards. A status that is
 * not TXM_OK ends the reading. */
typedef txm_status (*txm_run_log_fn)(void *user, const cJSON *object, txm_error *err);

/* Reads a log, "-" for standard input. Lines that are none of ours are counted and passed over: schedulers mix other
 * output in. NOT_FOUND, DENIED, IO, CORRUPT for a line of more than 16 MiB, NEWER, NO_MEMORY, what `fn` returned. */
txm_status txm_run_log_read(const char *path, txm_run_log_fn fn, void *user, txm_run_log_counts *counts,
                            txm_error *err);

/* Members of an object: NULL, 0 or false where they are absent or of another kind. */
const char *txm_run_log_text(const cJSON *object, const char *name);
double txm_run_log_number(const cJSON *object, const char *name);
bool txm_run_log_flag(const cJSON *object, const char *name);
/* A whole number from 0 to `most`; others count as 0. */
uint64_t txm_run_log_count(const cJSON *object, const char *name, uint64_t most);
/* The exact bytes of a path member: those of NAME_encoded, where it is there. New string; NULL when it is absent or
 * memory is exhausted. */
char *txm_run_log_path(const cJSON *object, const char *name);

/* ---- the stages of a conversion, as `txmill make` reports them and `txmill report` reads them ---- */

/* In the order of the pipeline, as JSON calls them. */
enum { TXM_STAGES = 8 };
extern const char *const txm_stage_names[TXM_STAGES];

/* Seconds in this order. */
void txm_stages_from(const txm_stage_seconds *seconds, double out[TXM_STAGES]);
/* Adds the member "stage_seconds". */
void txm_json_stages(cJSON *object, const double seconds[TXM_STAGES]);

/* ---- the tx files of a run, for commands that take tx files ---- */

/* Adds the tx files that the logs say were made or up to date, each once, and none that is there already. As
 * txm_run_log_read. */
txm_status txm_run_tx_read(txm_inputs *inputs, const txm_opt_list *logs, txm_error *err);
#endif
