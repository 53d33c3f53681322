/* SPDX-License-Identifier: Apache-2.0 The rows of use_table.h, for what commands print. */
#ifndef TXM_TOOLS_WORDS_H
#define TXM_TOOLS_WORDS_H
#include "tile/terms/use_table.h"
#include "txmill/convert.h"
#include "txtile/name.h"

const txm_use_row *txm_use_words(txm_use use);
const txm_state_row *txm_state_words(txm_tx_state state);

/* What make says of an image; its values are those of the table. */
#define ROW(name, id, key, title, meaning) TXM_MADE_##name,
typedef enum txm_made { TXM_MADE(ROW) TXM_MADE_COUNT } txm_made;
#undef ROW

typedef struct txm_made_row {
    const char *id, *key, *title, *meaning;
} txm_made_row;
const txm_made_row *txm_made_words(txm_made made);
txm_made txm_made_of(txm_outcome outcome);
/* TXM_MADE_COUNT for a word that this version does not know, or NULL. */
txm_made txm_made_named(const char *id);
#endif
