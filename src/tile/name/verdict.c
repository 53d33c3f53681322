/* SPDX-License-Identifier: Apache-2.0
 *
 * From evidence to the one answer whether a render uses a tx file, and what it shows.
 *
 * Statements about pictures were checked in renders of Blender 5.2.2 and 5.2.3, with and without Auto Generate.
 */
#include "tile/name/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/words.h"
#include "tile/reader/acceptance.h"
#include "tile/terms/settings.h"
#include "tile/terms/use_table.h"
#include "txtile/describe.h"

const txm_use_row *txm_use_row_of(txm_use use)
{
    static const txm_use_row rows[] = {TXM_USES(TXM_USE_ROW)};
    return &rows[use];
}

const char *txm_use_name(txm_use use)
{
#define ROW(name, id, state, standing, word, shows, meaning) [TXM_USE_##name] = id,
    static const char *const names[] = {TXM_USES(ROW)};
#undef ROW
    return TXM_WORD_OF(names, use);
}

/* The words of the output and of JSON. */
const char *txm_tx_state_name(txm_tx_state state)
{
#define ROW(name, id, check_id, key, ready, word, meaning) [TXM_TX_STATE_##name] = id,
    static const char *const names[] = {TXM_STATES(ROW)};
#undef ROW
    return TXM_WORD_OF(names, state);
}

/* ---- what a render shows ---------------------------------------------------------------------------------------- */

/* This happens with and without Auto Generate, because Cycles reads only the header before the first tile. */
static const char foreign_codec[] =
    "renders magenta in the official Blender; builds whose libtiff has the codec use it";

/* NULL: what the table says that Cycles shows. */
static void say(txm_verdict *v, txm_use use, const char *shows, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void say(txm_verdict *v, txm_use use, const char *shows, const char *format, ...)
{
    const txm_use_row *row = txm_use_row_of(use);
    va_list args;
    shows = shows ? shows : row->shows;
    *v = (txm_verdict){.use = use, .used = row->standing == TXM_STANDING_USED};
    v->harmless = v->used || !strcmp(shows, TXM_SHOWS_SOURCE);
    va_start(args, format);
    txm_vformat(v->reason, sizeof v->reason, format, args);
    va_end(args);
    snprintf(v->shows, sizeof v->shows, "%s", shows);
}

/* ---- deciding --------------------------------------------------------------------------------------------------- */

/* Cycles may open files that txmill cannot read: it checks only the header, and notices bad tiles when it renders. */
static void say_unreadable(const txm_evidence *e, txm_verdict *out)
{
    static const char *const shows[] = {[TXM_OPENING_NONE] = NULL,
                                        [TXM_OPENING_PARTS] = "renders magenta where tiles are missing",
                                        [TXM_OPENING_FOREIGN] = foreign_codec,
                                        [TXM_OPENING_WHOLE] = "uses it, as far as its own libraries can read it"};
    txm_opening how;
    txm_tx_opening(e->path, &how, NULL); /* a failure is the one that the refusal tells of */
    say(out, TXM_USE_UNREADABLE, shows[how], "%s", e->refusal);
}

/* Judges the file by its header; false if nothing in the header is wrong. */
static bool is_refused_by_header(const txm_tx *tx, txm_verdict *out)
{
    char reason[256];
    uint32_t width, height, odd = txm_tx_odd_level(tx, &width, &height);
    const txm_tx_info *i = txm_tx_info_of(tx);
    if (!txm_tx_is_pyramid(tx, reason, sizeof reason))
        say(out, TXM_USE_REFUSED, NULL, "%s", reason);
    else if (!txm_tx_cycles_accepts(tx, reason, sizeof reason))
        say(out, TXM_USE_REFUSED, foreign_codec, "%s", reason);
    else if (odd)
        say(out, TXM_USE_DAMAGED,
            width > txm_level_size(i->width, odd) || height > txm_level_size(i->height, odd)
                ? "renders magenta where it needs a coarse level"
                : "uses it, and shows wrong pixels in coarse levels",
            "level %u is %ux%u px, not %ux%u px", odd, width, height, txm_level_size(i->width, odd),
            txm_level_size(i->height, odd));
    else if (txm_tx_lost_metadata(tx))
        say(out, TXM_USE_UNREADABLE, "uses it, although it was cut short",
            "a directory points to values outside of the file; it was cut short");
    else
        return false;
    return true;
}

static void say_damaged(const txm_evidence *e, txm_verdict *out)
{
    char shows[sizeof out->shows];
    snprintf(shows, sizeof shows, "renders magenta where tile %d,%d of level %d is damaged, and in the tiles around it",
             e->tile_x, e->tile_y, e->level);
    say(out, TXM_USE_DAMAGED, shows, "level %d, tile %d,%d: %s", e->level, e->tile_x, e->tile_y, e->damage);
}

/* A tx file is made for the scenes that use its image in one way; others look for another file. Every image has one of
 * the two common alpha types unless its user chooses another, which is then named too. */
static void say_loaded(const txm_evidence *e, txm_verdict *out)
{
    char shows[sizeof out->shows];
    const txm_tx_info *i = e->tx ? txm_tx_info_of(e->tx) : NULL;
    /* Native samples are used as they are in the file; others are converted whenever a tile is loaded. */
    const bool native = i && (i->channels == 1 || i->channels == 4) && txm_tx_has_native_samples(e->tx);
    const bool usual =
        e->alpha == TXM_ALPHA_DEFAULT || e->alpha == TXM_ALPHA_STRAIGHT || e->alpha == TXM_ALPHA_PREMULTIPLIED;
    snprintf(shows, sizeof shows, "uses it%s%.64s%s%s%s", e->space ? " for scenes that set " : "",
             e->space ? txm_space_shown(e->space) : "", e->space && !usual ? " and alpha type " : "",
             e->space && !usual ? txm_alpha_name(e->alpha) : "",
             native ? "" : ", but converts every tile while rendering: slow");
    say(out, TXM_USE_LOADED, shows, "%s", e->doubt ? e->doubt : "");
}

void txm_decide(const txm_evidence *e, txm_verdict *out)
{
    if (e->missing)
        say(out, TXM_USE_MISSING, NULL, "%s", "");
    else if (e->no_file)
        say(out, TXM_USE_UNREADABLE, NULL, "not a regular file");
    else if (!e->direct && e->has_image && e->image_time != e->tx_time) {
        char span[TXM_TIME_BYTES];
        say(out, TXM_USE_OUTDATED, NULL, "%.300s is %s than the tx file by %s%s", e->image ? e->image : "the image",
            e->image_time > e->tx_time ? "newer" : "older",
            txm_duration_text(difftime(e->image_time, e->tx_time), span),
            e->same_content ? ", but has the same content: 'txmill refresh' restores the time" : "");
    } else if (!e->tx && e->refusal)
        say_unreadable(e, out);
    else if (e->tx && is_refused_by_header(e->tx, out))
        ;
    else if (!e->direct && e->fit == TXM_FIT_CONTENT)
        say(out, TXM_USE_STALE, NULL, "%s", e->misfit);
    else if (!e->direct && e->fit == TXM_FIT_NAME)
        say(out, TXM_USE_NAME, NULL, "%s", e->misfit);
    else if (!e->direct && e->fit == TXM_FIT_COLOURS)
        say(out, TXM_USE_NAME, "uses it, with colours or alpha other than the scene's", "%s", e->misfit);
    else if (!e->direct && e->fit == TXM_FIT_SIZE)
        say(out, TXM_USE_NAME, "uses it, at another size than the settings say", "%s", e->misfit);
    else if (e->damage)
        say_damaged(e, out);
    else if (e->direct)
        say(out, TXM_USE_DIRECT, NULL, "%s", e->misfit ? e->misfit : "");
    else if (!e->has_image)
        say(out, TXM_USE_NO_IMAGE, NULL, "%s", e->misfit ? e->misfit : "");
    else
        say_loaded(e, out);
}
