/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks that need no pixels: sizes of levels, what Cycles requires of a file, metadata, and the state of the border
 * section.
 */
#include "mill/inspect/verify_impl.h"
#include "tile/reader/acceptance.h"

/* Each level has half the size of the one before it, rounded down, at least 1; the last one has a single pixel. */
static void check_levels(txm_verification *v)
{
    const txm_tx_info *i = v->info;
    uint32_t full = txm_level_count(i->width, i->height);
    v->regular = true;
    for (uint32_t l = 1; l < i->levels; l++) {
        const txm_tx_level *level = txm_tx_level_of(v->tx, l);
        uint32_t w = txm_level_size(i->width, l), h = txm_level_size(i->height, l);
        if (l < full && level->width == w && level->height == h)
            continue;
        v->regular = false;
        txm_find(v->findings, TXM_FINDING_LEVEL_SIZE, (txm_place){(int)l, -1, -1},
                 l < full ? "level %u is %ux%u px, not %ux%u px"
                          : "level %u of %ux%u px is one too many: the level before it is %ux%u px already",
                 l, level->width, level->height, w, h);
    }
    uint32_t width, height, odd = txm_tx_odd_level(v->tx, &width, &height);
    if (odd)
        txm_find(v->findings, TXM_FINDING_LEVEL_SIZE, (txm_place){(int)odd, -1, -1},
                 "level %u is %ux%u px, not %ux%u px", odd, width, height, txm_level_size(i->width, odd),
                 txm_level_size(i->height, odd));
    if (i->levels < full)
        txm_find(v->findings, TXM_FINDING_LEVELS_MISSING, TXM_NO_PLACE, "%u levels, where %ux%u px have %u", i->levels,
                 i->width, i->height, full);
}

void txm_verify_header(txm_verification *v)
{
    const txm_tx_description *d = &v->description;
    /* Texts may be stored after the last tile: a file that lost only them can still be read. */
    if (txm_tx_lost_metadata(v->tx))
        txm_find(v->findings, TXM_FINDING_UNREADABLE, TXM_NO_PLACE,
                 "a directory points to values outside of the file; it was cut short");
    check_levels(v);
    /* What Cycles requires when it opens a file, and what it expects of a native one. */
    char reason[256];
    const txm_tx_info *i = v->info;
    if (!txm_tx_cycles_accepts(v->tx, reason, sizeof reason))
        txm_find(v->findings, TXM_FINDING_REFUSED, TXM_NO_PLACE, "%s", reason);
    if (i->channels != 1 && i->channels != 4)
        txm_find(v->findings, TXM_FINDING_PIXEL_KIND, TXM_NO_PLACE, "%u channels, where native files have 1 or 4",
                 i->channels);
    if (!txm_tx_has_native_samples(v->tx))
        txm_find(v->findings, TXM_FINDING_PIXEL_KIND, TXM_NO_PLACE, "%s samples in %s", txm_type_name(i->type),
                 txm_container_name(i->container));
    /* Files of other programs need not have this metadata. */
    if (v->maker != TXM_MAKER_OTHER && !*d->sha1)
        txm_find(v->findings, TXM_FINDING_SHA1_ABSENT, TXM_NO_PLACE, "oiio:SHA-1 is missing or malformed");
    if (v->maker != TXM_MAKER_OTHER && (!*d->detected || !*d->xyz_to_scene_linear || !d->has_alpha_type))
        txm_find(v->findings, TXM_FINDING_SETTINGS_ABSENT, TXM_NO_PLACE, "%s missing or malformed",
                 !*d->detected              ? "the source's colour space is"
                 : !*d->xyz_to_scene_linear ? "the working space's matrix is"
                                            : "the alpha type is");
    /* A section is stale if the image part was rewritten after it; one of a newer version cannot be checked here. */
    static const enum txm_finding_number numbers[] = {[TXM_SECTION_STATE_STALE] = TXM_FINDING_SECTION_STALE,
                                                      [TXM_SECTION_STATE_DAMAGED] = TXM_FINDING_SECTION_DAMAGED,
                                                      [TXM_SECTION_STATE_NEWER] = TXM_FINDING_SECTION_NEWER};
    const uint64_t end = txm_tx_image_end(v->tx);
    if (i->section == TXM_SECTION_STATE_VALID)
        return;
    if (i->section != TXM_SECTION_STATE_NONE)
        txm_find(v->findings, numbers[i->section], TXM_NO_PLACE, "%s", i->section_reason);
    /* Other programs may pad the image; txmill does not, so any byte after it is the rest of a section. */
    else if (v->maker == TXM_MAKER_TXMILL && end < i->file_bytes)
        txm_find(v->findings, TXM_FINDING_SECTION_DAMAGED, TXM_NO_PLACE, "%llu bytes follow the image: cut off",
                 (unsigned long long)(i->file_bytes - end));
    else
        txm_find(v->findings, TXM_FINDING_SECTION_NONE, TXM_NO_PLACE, "the file ends with its image");
}
