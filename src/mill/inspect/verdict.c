/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict on a tx file by its path: turns the findings of a verification into evidence, from which src/tile/name
 * decides, as it does for txm_tx_find.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/path.h"
#include "mill/inspect/verify_impl.h"
#include "tile/name/verdict.h"

static bool is_kind(const txm_finding *f, enum txm_finding_number number)
{
    return f->kind == txm_finding_kind_at(number);
}

/* Turns one finding into evidence. If there are several of the same kind, the first counts. */
static void add_evidence(const txm_verification *v, const txm_finding *f, txm_evidence *e)
{
    bool never = is_kind(f, TXM_FINDING_FORMAT);
    if (is_kind(f, TXM_FINDING_UNREADABLE) && !e->tx) {
        e->refusal = f->text;
    } else if (is_kind(f, TXM_FINDING_TILE) && !e->damage) {
        e->damage = f->text;
        e->level = f->level;
        e->tile_x = f->tile_x;
        e->tile_y = f->tile_y;
    } else if (is_kind(f, TXM_FINDING_NAME_OTHER)) {
        e->direct = true;
        e->misfit = f->text;
    } else if (e->fit == TXM_FIT_YES && (never || is_kind(f, TXM_FINDING_NAME_MISFIT))) {
        e->fit = never || !v->asked_for ? TXM_FIT_NAME : TXM_FIT_COLOURS;
        e->misfit = f->text;
    } else if (e->fit == TXM_FIT_YES && (is_kind(f, TXM_FINDING_CONFIG) || is_kind(f, TXM_FINDING_RELEASE))) {
        e->fit = TXM_FIT_COLOURS;
        e->misfit = f->text;
    } else if (e->fit == TXM_FIT_YES && is_kind(f, TXM_FINDING_LIMIT)) {
        e->fit = TXM_FIT_SIZE;
        e->misfit = f->text;
    } else if (is_kind(f, TXM_FINDING_CONTENT)) {
        e->fit = TXM_FIT_CONTENT;
        e->misfit = f->text;
    } else if (is_kind(f, TXM_FINDING_RELEASE_UNKNOWN)) {
        e->doubt = f->text;
    } else if (is_kind(f, TXM_FINDING_SOURCE_MISSING) && !e->misfit) {
        e->misfit = f->text;
    }
}

txm_status txm_verify_decide(const txm_verification *v, txm_verdict *out, txm_error *err)
{
    struct stat st;
    const txm_findings *found = v->findings->findings;
    txm_evidence e = {.path = v->path,
                      .tx = v->tx,
                      .has_image = v->source != NULL,
                      .image = v->source ? txm_path_base(v->source) : NULL,
                      .image_time = v->source_time,
                      .space = *v->space ? v->space : NULL,
                      .alpha = v->alpha};
    e.missing = stat(v->path, &st) != 0;
    /* A file that was open a moment ago is not missing but was removed meanwhile, and nothing is known about its
     * successor. */
    if (e.missing && (v->tx || (errno != ENOENT && errno != ENOTDIR)))
        return txm_fail_errno(err, errno, "%s: cannot be examined", v->path);
    e.tx_time = e.missing ? 0 : st.st_mtime;
    for (size_t i = v->first_finding; i < found->count; i++)
        add_evidence(v, &found->items[i], &e);
    txm_decide(&e, out);
    return TXM_OK;
}

/* Pixels are not recomputed: they do not decide whether Cycles uses the file. */
txm_status txm_judge(txm_context *context, const char *path, const txm_verify_options *options, txm_verdict *out,
                     txm_error *err)
{
    txm_verify_options how;
    txm_findings findings = {0};
    txm_error_clear(err);
    *out = (txm_verdict){0};
    txm_verify_options_init(&how);
    txm_status status = txm_options_take(&how, sizeof how, options, "txm_verify_options", err);
    how.use_only = true;
    how.verdict = out;
    if (!status)
        status = txm_verify(context, path, &how, &findings, err);
    txm_findings_clear(&findings);
    return status;
}
