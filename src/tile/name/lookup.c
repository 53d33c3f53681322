/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the tx file that Cycles would load.
 *
 * In: an image and its settings. Out: the path of the tx file under the name that Cycles looks for, and the verdict on
 * it (verdict.h). The order of the places follows Cycles' loader.
 */
#include "tile/name/lookup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "tile/name/verdict.h"
#include "tile/reader/acceptance.h"
#include "txtile/describe.h"
#include "txtile/reader.h"

/* The subject of a lookup: the image's name, its status, and a function that decides whether a file has the right
 * settings. */
typedef struct wanted {
    const char *image, *cache_dir;
    const txm_tx_key *key;
    const struct stat *st;
    const txm_tx_match *match; /* may be NULL */
} wanted;

/* Why a file is not used: `foreign` if only its codec prevents it, `failure` if it could not be examined just now
 * (TXM_OK otherwise); `content` as in txm_found. */
typedef struct shortcoming {
    bool foreign;
    txm_content content;
    txm_status failure;
} shortcoming;

/* Whether only the time speaks against an outdated file. Reading the image takes a small part of the time that
 * converting it would take. */
static txm_content compare_content(const wanted *w, const char *path)
{
    txm_tx *tx = NULL;
    txm_tx_description d;
    char misfit[sizeof((txm_verdict *)NULL)->reason];
    bool same = false;
    txm_content content = TXM_CONTENT_UNKNOWN;
    if (!w->match || txm_tx_open(path, &tx, NULL) != TXM_OK)
        return content;
    if (txm_tx_cycles_accepts(tx, NULL, 0) && txm_tx_describe(tx, &d, NULL) == TXM_OK) {
        if (d.content && w->match->fits(w->match->user, &d, misfit, sizeof misfit) == TXM_FIT_YES && !*misfit &&
            !txm_content_compare(w->image, (uint64_t)w->st->st_size, d.content, true, w->match->cancel, &same, NULL))
            content = same ? TXM_CONTENT_SAME : TXM_CONTENT_OTHER;
        txm_tx_description_free(&d);
    }
    txm_tx_close(&tx);
    return content;
}

/* Checks the content of a file that has the right name and time. */
static txm_status judge_content(const wanted *w, txm_evidence *e, txm_verdict *verdict, shortcoming *why,
                                txm_error *err)
{
    txm_tx *tx = NULL;
    txm_tx_description d;
    char misfit[sizeof verdict->reason];
    txm_status status = txm_tx_open(e->path, &tx, err);
    if (status != TXM_OK) {
        e->refusal = err ? txm_error_detail(err) : "";
        txm_decide(e, verdict);
        return status;
    }
    e->tx = tx;
    e->space = w->match ? w->match->space : NULL;
    e->alpha = w->key->alpha;
    if (w->match && (status = txm_tx_describe(tx, &d, err)) == TXM_OK) {
        bool same = true;
        if (d.content)
            status = txm_content_compare(w->image, (uint64_t)w->st->st_size, d.content, w->match->whole,
                                         w->match->cancel, &same, err);
        uint64_t made;
        if (same)
            e->fit = w->match->fits(w->match->user, &d, misfit, sizeof misfit);
        else if (!status && txm_content_key_parse(d.content, &made) && made != (uint64_t)w->st->st_size)
            snprintf(misfit, sizeof misfit, "it was made of %" PRIu64 " bytes, and the image has %" PRId64 " now", made,
                     (int64_t)w->st->st_size);
        else if (!status)
            snprintf(misfit, sizeof misfit, "the image has other content than when it was made");
        if (!same && !status)
            e->fit = TXM_FIT_CONTENT;
        if (e->fit != TXM_FIT_YES)
            e->misfit = misfit;
        else if (*misfit)
            e->doubt = misfit;
        txm_tx_description_free(&d);
    }
    txm_decide(e, verdict);
    why->foreign = verdict->use == TXM_USE_REFUSED && e->fit == TXM_FIT_YES && txm_tx_codec_is_foreign(tx) &&
                   txm_tx_is_pyramid(tx, NULL, 0);
    txm_tx_close(&tx);
    return status;
}

/* Times are compared before the file is opened, as Cycles does. */
static void judge_once(const wanted *w, const char *path, txm_verdict *verdict, shortcoming *why)
{
    struct stat st;
    txm_error err = {0};
    txm_evidence e = {.path = path, .has_image = true, .image_time = w->st->st_mtime};
    *why = (shortcoming){0};
    if (stat(path, &st) != 0) {
        txm_status status = txm_fail_errno(&err, errno, "cannot be examined");
        e.missing = errno == ENOENT || errno == ENOTDIR;
        e.tx_time = e.image_time;
        e.refusal = err.message;
        why->failure = !e.missing && txm_status_retryable(status) ? status : TXM_OK;
        txm_decide(&e, verdict);
        return;
    }
    e.no_file = !S_ISREG(st.st_mode);
    e.tx_time = st.st_mtime;
    if (e.no_file || e.tx_time != e.image_time) {
        why->content = e.no_file ? TXM_CONTENT_UNKNOWN : compare_content(w, path);
        e.same_content = why->content == TXM_CONTENT_SAME;
        txm_decide(&e, verdict);
        return;
    }
    txm_status status = judge_content(w, &e, verdict, why, &err);
    why->failure = txm_status_retryable(status) ? status : TXM_OK;
}

/* The verdict on one candidate. A share that lost one request usually answers the next. */
static void judge(const wanted *w, const char *path, txm_verdict *verdict, shortcoming *why)
{
    judge_once(w, path, verdict, why);
    if (why->failure)
        judge_once(w, path, verdict, why);
}

/* The default folder's file, when another folder is configured and that file is fresh, or could be and nothing worse is
 * known; NULL otherwise. */
static char *fresh_default(const wanted *w, txm_verdict *verdict, shortcoming *lacking, bool *exhausted)
{
    shortcoming why;
    txm_verdict other;
    *exhausted = false;
    /* Cycles compares the spelling. */
    if (!w->cache_dir || !*w->cache_dir || !strcmp(w->cache_dir, "blender_tx"))
        return NULL;
    char *path = txm_tx_path(w->image, NULL, w->key);
    *exhausted = !path;
    if (path)
        judge(w, path, &other, &why);
    if (path && (other.used || (why.failure && !lacking->failure))) {
        *verdict = other;
        *lacking = other.used ? (shortcoming){0} : why;
        return path;
    }
    free(path);
    return NULL;
}

/* Not finding a file is an answer, not a failure. */
txm_status txm_tx_lookup(const char *source_path, const char *cache_dir, const txm_tx_key *key,
                         const txm_tx_match *match, txm_found *out, txm_error *err)
{
    struct stat source;
    bool exhausted = false, serves = false;
    shortcoming lacking;
    txm_verdict verdict;
    const wanted w = {source_path, cache_dir, key, &source, match};
    if (stat(source_path, &source) != 0)
        return txm_fail_errno(err, errno, "%s: cannot examine the image", source_path);
    if (!S_ISREG(source.st_mode))
        return txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not an image but a %s; give the path of a file", source_path,
                        S_ISDIR(source.st_mode) ? "folder" : "device or socket");
    char *path = txm_tx_path(source_path, cache_dir, key);
    if (!path)
        return txm_path_absolute_failed(source_path, err);
    judge(&w, path, &verdict, &lacking);
    if (!verdict.used) {
        char *other = fresh_default(&w, &verdict, &lacking, &exhausted);
        txm_status status = other || exhausted ? TXM_OK : txm_tx_find_serving(source_path, &serves, err);
        if (status) {
            free(path);
            return status;
        }
        if (other || serves) {
            free(path);
            path = other ? other : txm_strdup(source_path);
        }
        if (serves)
            lacking = (shortcoming){0};
    }
    if (serves)
        verdict =
            (txm_verdict){.use = TXM_USE_LOADED, .used = true, .harmless = true, .shows = "uses the image as it is"};
    char *why = txm_strdup(verdict.reason), *shows = txm_strdup(verdict.shows);
    if (exhausted || !path || !why || !shows) {
        free(path);
        free(why);
        free(shows);
        return txm_no_memory(err, source_path);
    }
    *out = (txm_found){.state = serves ? TXM_TX_STATE_SOURCE : (txm_tx_state)txm_use_row_of(verdict.use)->state,
                       .path = path,
                       .reason = why,
                       .shows = shows,
                       .foreign = lacking.foreign,
                       .harmless = verdict.harmless,
                       .content = lacking.content,
                       .failure = lacking.failure};
    return TXM_OK;
}

void txm_found_clear(txm_found *lookup)
{
    if (!lookup)
        return;
    free(lookup->path);
    free(lookup->reason);
    free(lookup->shows);
    *lookup = (txm_found){0};
}
