/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the table of a replay, as text and as JSON.
 *
 * For every size and policy there are reads and time: reads were counted; time is reads times the time of one read in
 * the traced run, or of --read-time, and does not depend on this machine. The JSON also has evictions and peaks.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/say.h"
#include "replay/replay_table.h"

/* ---- text ---- */

/* The width is in characters. At most 80 are used: four policies fit, as many as there are by default. */
enum { SIZE_COLUMNS = 8, POLICY_COLUMNS = 18, USUAL_COLUMNS = 80 };

/* Prints as many policies side by side as fit. */
static void print_policies(const stm_replay_table *t, size_t first, size_t count)
{
    char size[STM_REPLAY_SIZE_TEXT];
    printf("\n%*s", SIZE_COLUMNS, "cache");
    for (size_t k = first; k < first + count; k++)
        printf("%*s", POLICY_COLUMNS, stm_replay_policy_name(t->request.policies[k]));
    putchar('\n');
    for (size_t i = 0; i < t->request.size_count; i++) {
        printf("%*s", SIZE_COLUMNS, stm_replay_size_text(t->request.sizes[i], size));
        for (size_t k = first; k < first + count; k++) {
            const txm_replay_counts *c = stm_replay_counts_at(t, i, k);
            /* All times of a table have the same unit, so that they can be compared. */
            const double seconds = stm_replay_seconds(t, c);
            printf("%8llu %7.*f s", (unsigned long long)c->reads, seconds < 100.0 ? 3 : 0, seconds);
        }
        putchar('\n');
    }
}

/* Prints for comparison what the cache did in the traced run, and whether the render was finished. The line is left out
 * if the run loaded nothing. */
static void print_traced(const stm_replay_table *t)
{
    if (t->info->partial) {
        fputs("partial     the render was not finished: ", stdout);
        stm_print_safe(t->info->partial);
        putchar('\n');
    }
    char size[STM_REPLAY_SIZE_TEXT], seconds[STM_FORMAT_BYTES], tiles[STM_FORMAT_COUNT];
    if (!t->info->tiles_loaded)
        return;
    printf("traced run  %s", stm_replay_policy_name((uint32_t)t->info->policy));
    if (t->info->max_bytes)
        printf(" with %s", stm_replay_size_text(t->info->max_bytes, size));
    printf(": %s read, %.1f %% of them again, in %s\n", stm_format_count(t->info->tiles_loaded, "tile", tiles),
           100.0 * (double)t->info->tiles_reloaded / (double)t->info->tiles_loaded,
           stm_format_seconds(t->info->load_seconds, seconds));
}

/* The conclusion comes before the table, for readers who need nothing else. */
void stm_replay_print(const stm_replay_table *t)
{
    char set[STM_FORMAT_BYTES], textures[STM_FORMAT_COUNT], tiles[STM_FORMAT_COUNT], lookups[STM_FORMAT_COUNT];
    char verdict[STM_REPLAY_VERDICT];
    stm_print_safe(t->path);
    printf(": %s, %s of %s, %s\n", stm_format_count(t->all.lookups, "lookup", lookups),
           stm_format_count(t->all.tiles, "tile", tiles), stm_format_count(t->info->textures, "texture", textures),
           stm_format_bytes(t->all.tile_bytes, set));
    print_traced(t);
    printf("verdict     %s\n", stm_replay_verdict(t, verdict));
    unsigned columns = stm_terminal_columns(STDOUT_FILENO, UINT_MAX);
    columns = columns < USUAL_COLUMNS ? columns : USUAL_COLUMNS;
    size_t at_once = columns > SIZE_COLUMNS + POLICY_COLUMNS ? (columns - SIZE_COLUMNS) / POLICY_COLUMNS : 1;
    for (size_t k = 0; k < t->request.policy_count; k += at_once)
        print_policies(t, k, t->request.policy_count - k < at_once ? t->request.policy_count - k : at_once);
    printf("\nTiles read, and the time that this takes at %.1f us per tile.\n", 1e6 * t->request.read_seconds);
}

/* ---- JSON ---- */

/* Runs are listed by size, the smallest first, then by policy in the order of the option. */
void stm_replay_json(const stm_replay_table *t)
{
    char verdict[STM_REPLAY_VERDICT];
    cJSON *o = stm_json_new("txmill.replay");
    stm_json_text(o, "trace", t->path);
    stm_json_uint(o, "lookups", t->all.lookups);
    stm_json_uint(o, "textures", t->info->textures);
    stm_json_uint(o, "tiles", t->all.tiles);
    stm_json_uint(o, "working_set_bytes", t->all.tile_bytes);
    stm_json_number(o, "read_seconds", t->request.read_seconds, 6);
    cJSON *traced = stm_json_object(o, "traced");
    stm_json_text(traced, "policy", stm_replay_policy_name((uint32_t)t->info->policy));
    stm_json_uint(traced, "keep_epochs", t->info->keep_epochs);
    stm_json_uint(traced, "cache_bytes", t->info->max_bytes); /* 0: that run had no limit */
    stm_json_uint(traced, "reads", t->info->tiles_loaded);
    stm_json_uint(traced, "reads_again", t->info->tiles_reloaded);
    stm_json_uint(traced, "read_bytes", t->info->loaded_bytes);
    stm_json_number(traced, "seconds", t->info->load_seconds, 6);
    stm_json_text(o, "partial", t->info->partial);
    stm_json_text(o, "verdict", stm_replay_verdict(t, verdict));
    cJSON *runs = stm_json_array(o, "runs");
    for (size_t i = 0; i < t->request.size_count; i++)
        for (size_t k = 0; k < t->request.policy_count; k++) {
            /* One object per size and policy, each complete, so that they can be filtered. */
            const txm_replay_counts *c = stm_replay_counts_at(t, i, k);
            cJSON *run_object = stm_json_append(runs);
            stm_json_uint(run_object, "cache_bytes", t->request.sizes[i]);
            stm_json_text(run_object, "policy", stm_replay_policy_name(t->request.policies[k]));
            stm_json_uint(run_object, "reads", c->reads);
            stm_json_uint(run_object, "reads_again", c->reads_again);
            stm_json_uint(run_object, "read_bytes", c->read_bytes);
            stm_json_uint(run_object, "evicted", c->evicted);
            stm_json_uint(run_object, "peak_bytes", c->peak_bytes);
            stm_json_uint(run_object, "peak_allocated_bytes", c->peak_allocated_bytes);
            stm_json_number(run_object, "seconds", stm_replay_seconds(t, c), 6);
        }
    stm_json_emit(o);
}
