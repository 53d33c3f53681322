/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies a tx file: runs the checks in order, sorts the findings, and turns them into evidence, from which
 * src/tile/name decides whether Cycles uses the file. A file that cannot be opened is a finding if
 * the file is at fault, and a failure if the system is. Later checks run only if earlier ones have established what
 * they need.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "mill/inspect/verify_impl.h"
#include "tile/name/verdict.h"
#include "tile/reader/acceptance.h"

/* Only these statuses say something about the file; all others are about the machine at this moment. */
bool txm_status_is_finding(txm_status status)
{
    return status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_TOO_LARGE ||
           status == TXM_STATUS_NEWER || status == TXM_STATUS_NOT_DOWNLOADED;
}

/* Sums of rounded halves with both signs may differ by this much. */
enum { ROUNDED_ULPS = 64 };

/* Files made by txmill must match exactly, and so must level 0 of Blender's. Its other levels may differ as far as its
 * arithmetic does between builds and machines. */
void txm_report_level(const txm_verification *v, enum txm_finding_number number, uint32_t level,
                      const txm_level_diff *d)
{
    if (level == 0 && d->worst <= txm_verify_narrowed(v))
        return;
    bool exact = v->maker == TXM_MAKER_TXMILL || level == 0;
    if (d->different <= d->rounded && d->worst <= (v->info->type == TXM_TYPE_HALF ? ROUNDED_ULPS : 1))
        return;
    if (exact ? !d->different : txm_level_diff_is_parity(d, v->info->type))
        return;
    txm_find(v->findings, number, (txm_place){(int)level, (int)d->tile_x, (int)d->tile_y},
             "%llu of %llu samples in %llu tile%s differ, by up to %.6g%s", (unsigned long long)d->different,
             (unsigned long long)d->samples, (unsigned long long)d->tiles, d->tiles == 1 ? "" : "s", d->worst,
             txm_level_diff_unit(v->info->type));
}

uint32_t txm_verify_narrowed(const txm_verification *v)
{
    /* The reader keeps the tag only if it is below the type's. */
    const char *bits = txm_tx_metadata_of(v->tx, "BitsPerSample");
    int n = bits ? atoi(bits) : 0;
    return n > 0 && n < 16 ? (v->info->type == TXM_TYPE_U8 ? 255u : 65535u) / ((1u << n) - 1) + 1 : 0;
}

/* A file that cannot be opened gets one finding, and no other check runs. */
static txm_status open_verified(txm_verification *v, bool *usable, txm_error *err)
{
    txm_error own = {0};
    txm_status status = txm_tx_open(v->path, &v->tx, &own);
    *usable = status == TXM_OK;
    bool serves = false;
    /* Only Cycles' reader supports these samples; it uses the image in place of a tx file. */
    if (status == TXM_STATUS_UNSUPPORTED) {
        txm_status examined = txm_tx_find_serving(v->path, &serves, err);
        if (examined)
            return examined;
    }
    if (serves) {
        txm_find(v->findings, TXM_FINDING_PIXEL_KIND, TXM_NO_PLACE, "%s", txm_error_detail(&own));
        txm_find(v->findings, TXM_FINDING_NAME_OTHER, TXM_NO_PLACE, "a tiled image, used in place of a tx file");
        return TXM_OK;
    }
    /* A system call that failed (for a name that is too long) says nothing about the file. */
    if (txm_status_is_finding(status) && !own.sys_errno) {
        txm_find(v->findings, TXM_FINDING_UNREADABLE, TXM_NO_PLACE, "%s", txm_error_detail(&own));
        return TXM_OK;
    }
    return status ? txm_fail_as(err, &own) : TXM_OK;
}

static txm_status attempt_release(txm_verification *v, txm_release_check *check, txm_findings *out, txm_error *err)
{
    txm_collector own, *callers = v->findings;
    txm_collector_init(&own, out);
    v->findings = &own;
    txm_status status = check(v, err);
    v->findings = callers;
    callers->exhausted |= own.exhausted;
    txm_collector_destroy(&own);
    return status;
}

static bool has_kind(const txm_findings *found, enum txm_finding_number kind)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].kind == txm_finding_kind_at(kind))
            return true;
    return false;
}

txm_status txm_verify_by_release(txm_verification *v, txm_release_check *check, enum txm_finding_number kind,
                                 txm_error *err)
{
    const txm_blender own = v->release;
    txm_findings first = {0}, other = {0};
    if (!v->any_release)
        return check(v, err);
    txm_status status = attempt_release(v, check, &first, err);
    bool fits = !has_kind(&first, kind);
    for (const txm_blender *b = txm_blender_versions(); !status && !fits && *b; b++) {
        if (*b == own)
            continue;
        v->release = *b;
        txm_findings_clear(&other);
        status = attempt_release(v, check, &other, err);
        fits = !has_kind(&other, kind);
    }
    /* Levels of straight alpha are filtered in the same way in every release. */
    if (fits && (kind == TXM_FINDING_DEEP_PIXELS || v->description.alpha == TXM_ALPHA_CHANNEL_PACKED))
        v->any_release = false;
    if (!status && fits && v->release != own)
        txm_find(v->findings, TXM_FINDING_RELEASE, TXM_NO_PLACE,
                 "its pixels are those of Blender %s: Blender %s shows %s pixels; 'txmill make --force --blender %s' "
                 "makes it again",
                 txm_blender_name(v->release), txm_blender_name(own), v->release < own ? "old" : "newer",
                 txm_blender_name(own));
    if (!fits)
        v->release = own;
    const txm_findings *kept = fits && v->release != own ? &other : &first;
    for (size_t i = 0; i < kept->count; i++) {
        const txm_finding *f = &kept->items[i];
        for (int n = 0; n < TXM_FINDING_COUNT; n++)
            if (f->kind == txm_finding_kind_at((size_t)n))
                txm_find(v->findings, (enum txm_finding_number)n, (txm_place){f->level, f->tile_x, f->tile_y}, "%s",
                         f->text);
    }
    txm_findings_clear(&first);
    txm_findings_clear(&other);
    return status;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

static bool is_kind(const txm_finding *f, enum txm_finding_number number)
{
    return f->kind == txm_finding_kind_at(number);
}

static txm_status decide(const txm_verification *v, txm_verdict *out, txm_error *err)
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
    for (size_t i = v->first_finding; i < found->count; i++) {
        /* If there are several of the same kind, the first counts. */
        const txm_finding *f = &found->items[i];
        bool never = is_kind(f, TXM_FINDING_FORMAT);
        if (is_kind(f, TXM_FINDING_UNREADABLE) && !e.tx) {
            e.refusal = f->text;
        } else if (is_kind(f, TXM_FINDING_TILE) && !e.damage) {
            e.damage = f->text;
            e.level = f->level;
            e.tile_x = f->tile_x;
            e.tile_y = f->tile_y;
        } else if (is_kind(f, TXM_FINDING_NAME_OTHER)) {
            e.direct = true;
            e.misfit = f->text;
        } else if (e.fit == TXM_FIT_YES && (never || is_kind(f, TXM_FINDING_NAME_MISFIT))) {
            e.fit = never || !v->other_settings ? TXM_FIT_NAME : TXM_FIT_COLOURS;
            e.misfit = f->text;
        } else if (e.fit == TXM_FIT_YES && (is_kind(f, TXM_FINDING_CONFIG) || is_kind(f, TXM_FINDING_RELEASE))) {
            e.fit = TXM_FIT_COLOURS;
            e.misfit = f->text;
        } else if (e.fit == TXM_FIT_YES && is_kind(f, TXM_FINDING_LIMIT)) {
            e.fit = TXM_FIT_SIZE;
            e.misfit = f->text;
        } else if (is_kind(f, TXM_FINDING_CONTENT)) {
            e.fit = TXM_FIT_CONTENT;
            e.misfit = f->text;
        } else if (is_kind(f, TXM_FINDING_RELEASE_UNKNOWN)) {
            e.doubt = f->text;
        } else if (is_kind(f, TXM_FINDING_SOURCE_MISSING) && !e.misfit) {
            e.misfit = f->text;
        }
    }
    txm_decide(&e, out);
    return TXM_OK;
}

/* ---- the checks ---------------------------------------------------------------------------------------------------
 */

/* Runs the checks from cheap to expensive: header, origin, tiles or pixels, the source converted again. */
static txm_status run_verify(txm_verification *v, txm_error *err)
{
    bool usable = false;
    txm_status status = open_verified(v, &usable, err);
    if (status || !usable)
        return status;
    v->info = txm_tx_info_of(v->tx);
    for (uint32_t l = 0; l < v->info->levels; l++)
        v->tiles += (uint64_t)txm_tx_level_of(v->tx, l)->tiles_x * txm_tx_level_of(v->tx, l)->tiles_y;
    if ((status = txm_tx_describe(v->tx, &v->description, err)))
        return status;
    /* txmill stores the requested colour space, Blender its format version. */
    v->maker = *v->description.requested            ? TXM_MAKER_TXMILL
               : v->description.format_version >= 0 ? TXM_MAKER_BLENDER
                                                    : TXM_MAKER_OTHER;
    txm_verify_header(v);
    if ((status = txm_verify_origin(v, err)))
        return status;
    if (v->options->use_only)
        return v->options->no_decoding ? TXM_OK : txm_verify_tiles(v, NULL, err);
    if ((status = txm_verify_by_release(v, txm_verify_pixels, TXM_FINDING_LEVEL, err)))
        return status;
    return v->options->deep ? txm_verify_by_release(v, txm_verify_deep, TXM_FINDING_DEEP_PIXELS, err) : TXM_OK;
}

/* A file that shrank while it was read shows zeros: findings about these are dropped, and CHANGED is reported. */
txm_status txm_verify(txm_context *context, const char *path, const txm_verify_options *options, txm_findings *findings,
                      txm_error *err)
{
    txm_error_clear(err);
    txm_verify_options o = {0};
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_verify_options", err);
    if (status)
        return status;
    txm_collector collector;
    txm_collector_init(&collector, findings);
    txm_verification v = {
        .context = context, .path = path, .options = &o, .findings = &collector, .first_finding = findings->count};
    status = run_verify(&v, err);
    /* Findings about zeros that were read from a file that shrank are dropped. */
    if (!status && v.tx)
        status = txm_tx_check(v.tx, err);
    if (!status && v.any_release && *v.release_doubt)
        txm_find(v.findings, TXM_FINDING_RELEASE_UNKNOWN, TXM_NO_PLACE, "%s", v.release_doubt);
    txm_collector_sort(&collector);
    if (!status && o.verdict)
        status = decide(&v, o.verdict, err);
    if (!status && collector.exhausted)
        status = txm_no_memory(err, path);
    txm_tx_description_free(&v.description);
    txm_tx_close(&v.tx);
    free(v.source);
    txm_collector_destroy(&collector);
    return status;
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
