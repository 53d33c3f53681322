/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the tx file that Cycles would load.
 *
 * In: an image and its settings. Out: the path of the tx file under the name that Cycles asks for, and whether it is
 * fresh, outdated, missing, or unusable, with the reason. The order of the places and the comparison of times follow
 * Cycles' loader.
 */
#include "cache/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fail.h"
#include "core/mem.h"
#include "core/path.h"
#include "core/text.h"
#include "txmill/describe.h"
#include "txmill/reader.h"

enum { REASON_BYTES = 512 };

/* Why a file is of no use: for its codec alone; or only now, as it could not be looked at (TXM_OK otherwise). */
typedef struct shortcoming {
    bool foreign;
    txm_status trouble;
} shortcoming;

/* Whether Cycles would load the file as a native tx; `reason` and *why say why not. */
static bool usable(const char *path, char reason[REASON_BYTES], shortcoming *why)
{
    txm_tx *tx = NULL;
    txm_error err = {0};
    bool accepted = false;
    txm_status status = txm_tx_open(path, &tx, &err);
    *why = (shortcoming){.trouble = txm_status_retryable(status) ? status : TXM_OK};
    if (status != TXM_OK)
        snprintf(reason, REASON_BYTES, "%.*s", REASON_BYTES - 1, err.message);
    else
        accepted = txm_tx_cycles_accepts(tx, reason, REASON_BYTES);
    if (tx)
        why->foreign = !accepted && txm_tx_codec_is_foreign(tx) && txm_tx_is_pyramid(tx, NULL, 0);
    txm_tx_close(&tx);
    return accepted;
}

/* State of one candidate. Outdated goes before unusable: Cycles compares times first. */
static txm_tx_state candidate_state(const char *path, const struct stat *source, char reason[REASON_BYTES],
                                    shortcoming *why)
{
    struct stat st;
    reason[0] = 0;
    *why = (shortcoming){0};
    if (stat(path, &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return TXM_TX_STATE_MISSING;
        snprintf(reason, REASON_BYTES, "cannot be looked at: %s", strerror(errno));
        txm_status status = txm_fail_errno(NULL, errno, " ");
        why->trouble = txm_status_retryable(status) ? status : TXM_OK;
        return TXM_TX_STATE_UNUSABLE;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(reason, REASON_BYTES, "not a regular file");
        return TXM_TX_STATE_UNUSABLE;
    }
    if (st.st_mtime != source->st_mtime) {
        char span[TXM_TIME_BYTES];
        snprintf(reason, REASON_BYTES, "the image is %s than the tx file by %s",
                 source->st_mtime > st.st_mtime ? "newer" : "older",
                 txm_duration_text(difftime(source->st_mtime, st.st_mtime), span));
        return TXM_TX_STATE_OUTDATED;
    }
    return usable(path, reason, why) ? TXM_TX_STATE_FRESH : TXM_TX_STATE_UNUSABLE;
}

/* Whether the source itself serves. Few sources are tx files: those that do not look like a tiled container cost one
 * refused open. */
static bool source_serves(const char *source_path)
{
    char reason[REASON_BYTES];
    shortcoming why;
    return usable(source_path, reason, &why) || (!why.foreign && txm_tx_serves_itself(source_path));
}

/* The default folder's file, when another folder is configured and that file is fresh; NULL otherwise. */
static char *fresh_default(const char *source_path, const char *cache_dir, const txm_tx_key *key,
                           const struct stat *source, bool *exhausted)
{
    char reason[REASON_BYTES];
    shortcoming why;
    *exhausted = false;
    /* As Cycles compares it: by its spelling. */
    if (!cache_dir || !*cache_dir || !strcmp(cache_dir, "blender_tx"))
        return NULL;
    char *path = txm_tx_path(source_path, NULL, key);
    *exhausted = !path;
    if (path && candidate_state(path, source, reason, &why) == TXM_TX_STATE_FRESH)
        return path;
    free(path);
    return NULL;
}

/* Not finding a file is an answer, not a failure. */
txm_status txm_tx_lookup(const char *source_path, const char *cache_dir, const txm_tx_key *key, txm_found *out,
                         txm_error *err)
{
    struct stat source;
    char reason[REASON_BYTES];
    bool exhausted = false;
    shortcoming lacking;
    if (stat(source_path, &source) != 0)
        return txm_fail_errno(err, errno, "%s: cannot examine the image", source_path);
    if (!S_ISREG(source.st_mode))
        return txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not an image but a %s; give the path of a file", source_path,
                        S_ISDIR(source.st_mode) ? "folder" : "device or socket");
    char *path = txm_tx_path(source_path, cache_dir, key);
    if (!path)
        return txm_path_absolute_failed(source_path, err);
    txm_tx_state state = candidate_state(path, &source, reason, &lacking);
    if (state != TXM_TX_STATE_FRESH) {
        char *other = fresh_default(source_path, cache_dir, key, &source, &exhausted);
        if (other || (!exhausted && source_serves(source_path))) {
            free(path);
            state = other ? TXM_TX_STATE_FRESH : TXM_TX_STATE_SOURCE;
            path = other ? other : txm_strdup(source_path);
            reason[0] = 0;
            lacking = (shortcoming){0};
        }
    }
    char *why = txm_strdup(reason);
    if (exhausted || !path || !why) {
        free(path);
        free(why);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", source_path);
    }
    *out = (txm_found){
        .state = state, .path = path, .reason = why, .foreign = lacking.foreign, .trouble = lacking.trouble};
    return TXM_OK;
}

void txm_found_clear(txm_found *lookup)
{
    if (!lookup)
        return;
    free(lookup->path);
    free(lookup->reason);
    *lookup = (txm_found){0};
}
