/* SPDX-License-Identifier: Apache-2.0
 *
 * Does Cycles use this file? The one table of answers. C, the JSON schemas, the manual, the pages and the Python
 * package take their words from it (`txmill --generate words`); the meanings for programmers are in txtile/name.h.
 *
 * USE(name, id, state, standing, word, shows, meaning): of a tx file. The state is that of the image whose tx file it
 * is. The word follows a number in a sum. `shows` is NULL where the evidence decides what Cycles shows.
 * STATE(name, id, check_id, key, ready, word, meaning): of an image's tx file, in the order in which sums name them.
 * check_id is its id in `txmill check`, key the name of its count in JSON. Ready: a render needs nothing more.
 * CHECK(the same): what check finds beside these, because the image prevents it from judging a tx file.
 * MADE(name, id, key, title, meaning): what `txmill make` says of an image; the title is that of a column or card.
 * OUTCOME(name, made): which of these an outcome of the library is.
 * SOURCE(name, id, remark, meaning): the image that a tx file names.
 */
#ifndef TXM_TERMS_USE_TABLE_H
#define TXM_TERMS_USE_TABLE_H
#include <stdbool.h>

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

// clang-format off
#define TXM_USES(USE)                                                                                                  \
    USE(MISSING, "missing", MISSING, BROKEN, "missing", TXM_SHOWS_SOURCE,                                              \
        "The file does not exist.")                                                                                    \
    USE(UNREADABLE, "unreadable", UNUSABLE, BROKEN, "unreadable", TXM_SHOWS_SOURCE,                                    \
        "It is not a tx file, or it is cut short.")                                                                    \
    USE(REFUSED, "refused", UNUSABLE, BROKEN, "refused by Cycles", TXM_SHOWS_SOURCE,                                   \
        "Cycles refuses its version, codec, tiles or levels.")                                                         \
    USE(NAME, "name", UNUSABLE, UNUSED, "made with other settings", "never looks for this name",                       \
        "Its name does not match the settings inside, or is one that Cycles never looks for.")                         \
    USE(OUTDATED, "outdated", OUTDATED, UNUSED, "outdated", TXM_SHOWS_SOURCE,                                          \
        "Its modification time is not that of its image.")                                                             \
    USE(STALE, "stale", STALE, UNUSED, "stale", "uses it, and shows the image as it was before it changed",            \
        "Its image has the same time, but other content than when the file was made.")                                 \
    USE(DAMAGED, "damaged", UNUSABLE, UNUSED, "damaged", NULL,                                                         \
        "Some of its tiles cannot be decoded, or its levels do not fit together.")                                     \
    USE(NO_IMAGE, "no-image", UNUSABLE, OPEN, TXM_WORD_NO_IMAGE,                                                       \
        "uses it beside its image; renders magenta where the image is missing",                                        \
        "It is valid, but its image does not exist, so their times cannot be compared.")                               \
    USE(DIRECT, "direct", FRESH, USED, "not in a cache folder", "uses it where a scene names this file as its image",  \
        "Its name is not one of the texture cache. Cycles uses it where a scene names this file as its image.")        \
    USE(LOADED, "loaded", FRESH, USED, "used", NULL,                                                                   \
        "Cycles loads it as it is.")

#define TXM_STATES(STATE)                                                                                              \
    STATE(FRESH, "fresh", "fresh", "fresh", true, "fresh",                                                             \
          "Cycles uses the tx file.")                                                                                  \
    STATE(SOURCE, "source", "as-is", "as_is", true, "used as is",                                                      \
          "Cycles loads the image itself, because it is a tx file already or has a single pixel.")                     \
    STATE(OUTDATED, "outdated", "outdated", "outdated", false, "outdated",                                             \
          "The modification times of the image and its tx file differ. Cycles requires them to be equal to the "       \
          "second, so a tx file that is newer than its image is outdated as well.")                                    \
    STATE(STALE, "stale", "stale", "stale", false, "stale",                                                            \
          "The image has other content than when its tx file was made, although their times are equal. Cycles uses "   \
          "the tx file, and shows the image as it was.")                                                               \
    STATE(MISSING, "missing", "missing", "missing", false, "missing",                                                  \
          "There is no tx file under the name that Cycles looks for.")                                                 \
    STATE(UNUSABLE, "unusable", "unusable", "unusable", false, "unusable",                                             \
          "The tx file exists, but Cycles refuses it, it is damaged, or it was made with other settings than those "   \
          "in its name. The reason is given.")

#define TXM_CHECKS(CHECK)                                                                                              \
    CHECK(NO_IMAGE, "no-image", "no-image", "no_image", false, TXM_WORD_NO_IMAGE,                                      \
          "The scene names an image that does not exist, which renders magenta.")                                      \
    CHECK(DAMAGED, "damaged", "damaged", "damaged", false, "damaged",                                                  \
          "The image itself is damaged, so no tx file can be made of it. Save or copy it again.")                      \
    CHECK(FAILED, "failed", "failed", "failed", false, "not checked",                                                  \
          "The texture could not be checked: its image, tx file or folder cannot be read, or its settings are "        \
          "invalid.")

#define TXM_MADE(MADE)                                                                                                 \
    MADE(FAILED, "failed", "failed", "Failed", "It could not be made; the message says why.")                          \
    MADE(CREATED, "created", "created", "Created", "Its tx file was written.")                                         \
    MADE(UP_TO_DATE, "up-to-date", "up_to_date", "Up to date", "Its tx file is fresh.")                                \
    MADE(SKIPPED, "skipped", "skipped", "Used as they are", "It needs no tx file of its own.")                         \
    MADE(WOULD_CREATE, "would-create", "would_create", "To create", "With --dry-run: its tx file would be written.")

#define TXM_OUTCOMES(OUTCOME)                                                                                          \
    OUTCOME(CREATED, CREATED)                                                                                          \
    OUTCOME(UP_TO_DATE, UP_TO_DATE)                                                                                    \
    OUTCOME(IS_TX, SKIPPED)                                                                                            \
    OUTCOME(USED_AS_IS, SKIPPED)                                                                                       \
    OUTCOME(WOULD_CREATE, WOULD_CREATE)                                                                                \
    OUTCOME(SAME, SKIPPED)

#define TXM_SOURCES(SOURCE)                                                                                            \
    SOURCE(UNKNOWN, "unknown", "", "No absolute path is stored, or it cannot be examined.")                            \
    SOURCE(FRESH, "fresh", "", "The tx file has the modification time of the image.")                                  \
    SOURCE(OUTDATED, "outdated", " (changed since: its time differs)", "Their modification times differ.")             \
    SOURCE(MISSING, "missing", " (missing)", "The image does not exist.")
// clang-format on

/* The rows of arrays that are indexed by txm_use and txm_tx_state of txtile/name.h. */
typedef struct txm_use_row {
    const char *id, *word, *shows, *meaning;
    int state; /* txm_tx_state */
    txm_standing standing;
} txm_use_row;
#define TXM_USE_ROW(name, id, state, standing, word, shows, meaning)                                                   \
    [TXM_USE_##name] = {id, word, shows, meaning, TXM_TX_STATE_##state, TXM_STANDING_##standing},

typedef struct txm_state_row {
    const char *id, *check_id, *key, *word, *meaning;
    bool ready;
} txm_state_row;
#define TXM_STATE_ROW(name, id, check_id, key, ready, word, meaning)                                                   \
    [TXM_TX_STATE_##name] = {id, check_id, key, word, meaning, ready},
#endif
