/* SPDX-License-Identifier: Apache-2.0
 *
 * Does Cycles use this file? The one table of answers: what each is called, how it counts, and what Cycles shows. It is
 * expanded where a column is needed; the meanings are in txtile/name.h.
 *
 * USE(name, id, state, standing, word, shows): of a tx file. The state is that of the image whose tx file it is. The
 * word follows a number in a sum. `shows` is NULL where the evidence decides what Cycles shows.
 * STATE(name, id, check_id, key, ready, word): of an image's tx file, in the order in which sums name them. check_id is
 * its id in `txmill check`, key the name of its count in JSON. Ready: a render needs nothing more.
 */
#ifndef TXM_BASE_USE_TABLE_H
#define TXM_BASE_USE_TABLE_H

/* The picture is right, but takes longer. */
#define TXM_SHOWS_SOURCE                                                                                               \
    "reads the source image instead, or, with Auto Generate on, makes the tx file before it renders"
#define TXM_WORD_NO_IMAGE "without an image"

/* BROKEN: no render can use what is in the file. OPEN: neither good nor bad, since its image is not there. */
typedef enum txm_standing {
    TXM_STANDING_USED,
    TXM_STANDING_OPEN,
    TXM_STANDING_UNUSED,
    TXM_STANDING_BROKEN
} txm_standing;

#define TXM_USES(USE)                                                                                                  \
    USE(MISSING, "missing", MISSING, BROKEN, "missing", TXM_SHOWS_SOURCE)                                              \
    USE(UNREADABLE, "unreadable", UNUSABLE, BROKEN, "unreadable", TXM_SHOWS_SOURCE)                                    \
    USE(REFUSED, "refused", UNUSABLE, BROKEN, "refused by Cycles", TXM_SHOWS_SOURCE)                                   \
    USE(NAME, "name", UNUSABLE, UNUSED, "made with other settings", "never looks for this name")                       \
    USE(OUTDATED, "outdated", OUTDATED, UNUSED, "outdated", TXM_SHOWS_SOURCE)                                          \
    USE(DAMAGED, "damaged", UNUSABLE, UNUSED, "damaged", NULL)                                                         \
    USE(NO_IMAGE, "no-image", UNUSABLE, OPEN, TXM_WORD_NO_IMAGE,                                                       \
        "uses it beside its image; renders magenta where the image is missing")                                        \
    USE(DIRECT, "direct", FRESH, USED, "not in a cache folder", "uses it where a scene names this file as its image")  \
    USE(LOADED, "loaded", FRESH, USED, "used", NULL)

#define TXM_STATES(STATE)                                                                                              \
    STATE(FRESH, "fresh", "fresh", "fresh", true, "fresh")                                                             \
    STATE(SOURCE, "source", "as-is", "as_is", true, "used as is")                                                      \
    STATE(OUTDATED, "outdated", "outdated", "outdated", false, "outdated")                                             \
    STATE(MISSING, "missing", "missing", "missing", false, "missing")                                                  \
    STATE(UNUSABLE, "unusable", "unusable", "unusable", false, "unusable")
#endif
