/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the table of words.
 */
#include "tools/output/words.h"

#include <string.h>

const txm_use_row *txm_use_words(txm_use use)
{
    static const txm_use_row rows[] = {TXM_USES(TXM_USE_ROW)};
    return &rows[use];
}

const txm_state_row *txm_state_words(txm_tx_state state)
{
    static const txm_state_row rows[] = {TXM_STATES(TXM_STATE_ROW)};
    return &rows[state];
}

const txm_made_row *txm_made_words(txm_made made)
{
#define ROW(name, id, key, title, meaning) [TXM_MADE_##name] = {id, key, title, meaning},
    static const txm_made_row rows[] = {TXM_MADE(ROW)};
#undef ROW
    return &rows[made];
}

txm_made txm_made_of(txm_outcome outcome)
{
#define ROW(name, made) [TXM_OUTCOME_##name] = TXM_MADE_##made,
    static const txm_made of[] = {TXM_OUTCOMES(ROW)};
#undef ROW
    return of[outcome];
}

txm_made txm_made_named(const char *id)
{
    int made = 0;
    while (made < TXM_MADE_COUNT && (!id || strcmp(id, txm_made_words((txm_made)made)->id)))
        made++;
    return (txm_made)made;
}
