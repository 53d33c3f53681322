/* SPDX-License-Identifier: Apache-2.0
 *
 * From findings to the one answer whether a render uses a file.
 *
 * In: findings of a verification. Out: one word and one sentence. The checks are ordered as Cycles meets them: what
 * keeps it from opening a file comes before what makes it show other pixels.
 */
#include <stdio.h>
#include <string.h>

#include "inspect/findings.h"

#include "core/options.h"
#include "core/words.h"

const char *txm_use_name(txm_use use)
{
    static const char *const names[] = {"unreadable", "refused",  "name",   "outdated",
                                        "damaged",    "no-image", "direct", "loaded"};
    return TXM_WORD_OF(names, use);
}

/* What a kind of finding means for the use of a file; TXM_USE_LOADED where it changes nothing. */
static txm_use use_of(const txm_finding_kind *kind)
{
    static const struct {
        enum txm_finding_number number;
        txm_use use;
    } table[] = {
        {TXM_FINDING_UNREADABLE, TXM_USE_UNREADABLE},
        {TXM_FINDING_TILE, TXM_USE_DAMAGED},
        {TXM_FINDING_LEVEL_SIZE, TXM_USE_REFUSED},
        {TXM_FINDING_REFUSED, TXM_USE_REFUSED},
        {TXM_FINDING_NAME_MISFIT, TXM_USE_NAME},
        {TXM_FINDING_FORMAT, TXM_USE_NAME},
        {TXM_FINDING_NAME_RULES, TXM_USE_NAME},
        {TXM_FINDING_CONFIG, TXM_USE_NAME},
        {TXM_FINDING_NAME_OTHER, TXM_USE_DIRECT},
        {TXM_FINDING_SOURCE_STALE, TXM_USE_OUTDATED},
        {TXM_FINDING_SOURCE_MISSING, TXM_USE_NO_IMAGE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (kind == txm_finding_kind_at(table[i].number))
            return table[i].use;
    return TXM_USE_LOADED;
}

/* The finding's own sentence, with its place in front. */
static void set_reason(txm_verdict *v, const txm_finding *f)
{
    char place[64] = "";
    if (f->tile_x >= 0)
        snprintf(place, sizeof place, "level %d, tile %d,%d: ", f->level, f->tile_x, f->tile_y);
    snprintf(v->reason, sizeof v->reason, "%s%s", place, f->text);
}

/* The lowest use of all findings: their enumeration is in the order in which Cycles would give up. A file that
 * scenes name directly has no name to fit and no time to compare. */
void txm_verdict_of(const txm_findings *findings, txm_verdict *out)
{
    *out = (txm_verdict){.use = TXM_USE_LOADED};
    bool named = true;
    for (size_t i = 0; i < findings->count; i++)
        named &= use_of(findings->items[i].kind) != TXM_USE_DIRECT;
    for (size_t i = 0; i < findings->count; i++) {
        const txm_finding *f = &findings->items[i];
        txm_use use = use_of(f->kind);
        /* A file that a scene names itself has no image whose time would count. */
        bool counts = named || (use != TXM_USE_OUTDATED && use != TXM_USE_NO_IMAGE);
        if (counts && use < out->use) {
            out->use = use;
            set_reason(out, f);
        }
    }
    out->used = out->use == TXM_USE_LOADED || out->use == TXM_USE_DIRECT;
}

/* Only what decides (use_only): pixels are not recomputed. */
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
    if (!status)
        status = txm_verify(context, path, &how, &findings, err);
    if (!status)
        txm_verdict_of(&findings, out);
    txm_findings_clear(&findings);
    return status;
}
