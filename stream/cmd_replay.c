/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill replay: replays the trace of a render with other cache sizes and policies.
 *
 * In: a trace written by `txmill stream render --trace` or a renderer. Out: what each size and policy would have read,
 * as a table, JSON or plot, and a sentence that says which size is enough. No texture is opened, so a trace can be
 * examined on another machine. This file parses options and chooses the output; tools/replay prints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/say.h"
#include "commands.h"
#include "replay/policy_words.h"
#include "replay/replay_table.h"
#include "txmill/guard.h"
#include "txmill/out_file.h"

typedef struct replay_args {
    stm_replay_request request;
    uint32_t read_us;
    const char *plot;
    bool overwrite, json, quiet;
} replay_args;

/* ---- options ---- */

/* Calls `take` for each word between commas. Empty words, which strtok would skip, are refused: "16M,,32M" is a
 * mistake. */
static txm_status each_word(const char *text, txm_status (*take)(const char *word, void *user, txm_error *err),
                            void *user, txm_error *err)
{
    txm_status status = TXM_OK;
    char *words = stm_strdup(text), *rest = NULL;
    if (!words)
        return stm_no_memory(err, NULL);
    size_t length = strlen(text);
    if (!length || text[0] == ',' || text[length - 1] == ',' || strstr(text, ",,"))
        status = stm_fail(err, TXM_STATUS_USAGE, "must be words separated by commas");
    for (char *w = strtok_r(words, ",", &rest); w && status == TXM_OK; w = strtok_r(NULL, ",", &rest))
        status = take(w, user, err);
    free(words);
    return status;
}

/* Sizes are kept in ascending order without duplicates, on which the table and its conclusion rely. */
static txm_status take_size(const char *word, void *user, txm_error *err)
{
    stm_replay_request *request = user;
    uint64_t bytes;
    txm_status status = stm_parse_size(word, &bytes, err);
    if (status == TXM_OK && !bytes)
        return stm_fail(err, TXM_STATUS_USAGE, "must be sizes above 0, such as 16M,32M");
    if (status != TXM_OK)
        return status;
    size_t at = 0;
    while (at < request->size_count && request->sizes[at] < bytes)
        at++;
    if (at < request->size_count && request->sizes[at] == bytes)
        return TXM_OK;
    if (request->size_count == STM_REPLAY_SIZES)
        return stm_fail(err, TXM_STATUS_USAGE, "must be at most %d sizes", STM_REPLAY_SIZES);
    memmove(request->sizes + at + 1, request->sizes + at, (request->size_count - at) * sizeof *request->sizes);
    request->sizes[at] = bytes;
    request->size_count++;
    return TXM_OK;
}

/* Accepts the short names and those of the library; a policy named twice is simulated once. */
static txm_status take_policy(const char *word, void *user, txm_error *err)
{
    stm_replay_request *request = user;
    const txm_cache_policy_words *words;
    uint32_t policy = 0;
    while ((words = txm_cache_policy_words_of((txm_cache_policy)policy)) && strcmp(word, words->column) != 0 &&
           strcmp(word, words->name) != 0)
        policy++;
    if (!words)
        policy = TXM_REPLAY_OPT;
    if (!words && strcmp(word, stm_replay_policy_name(policy)) != 0)
        return stm_fail(err, TXM_STATUS_USAGE, "must be words of '%s', separated by commas", stm_replay_policy_values);
    for (size_t i = 0; i < request->policy_count; i++)
        if (request->policies[i] == policy)
            return TXM_OK;
    request->policies[request->policy_count++] = policy;
    return TXM_OK;
}

/* Replaces earlier sizes; with NULL it only checks. */
static txm_status parse_sizes(const char *text, void *field, txm_error *err)
{
    stm_replay_request none = {0}, *request = field ? field : &none;
    request->size_count = 0;
    return each_word(text, take_size, request, err);
}

/* A later --policy replaces an earlier one, as for options with one value. */
static txm_status parse_policies(const char *text, void *field, txm_error *err)
{
    stm_replay_request none = {0}, *request = field ? field : &none;
    request->policy_count = 0;
    return each_word(text, take_policy, request, err);
}

#define AT(member) .offset = offsetof(replay_args, member)
static const stm_option caches[] = {
    STM_OPTION(CUSTOM, "cache", AT(request), .arg = "SIZE,...", .parse = parse_sizes,
               .help = "Sizes of the cache (default: several, from a sixteenth of the working set up)"),
    STM_OPTION(CUSTOM, "policy", AT(request), .arg = "POLICY,...", .values = stm_replay_policy_values,
               .parse = parse_policies, .help = "Which tiles are evicted (default: lru,tiles,opt)",
               .more = stm_replay_policy_more),
    STM_OPTION(UINT, "keep-epochs", AT(request.keep_epochs), .arg = "N", .min = 1, .max = 2,
               .help = "For the policy tiles: render tiles whose textures are kept (default: 1)"),
    STM_OPTION(UINT, "read-time", AT(read_us), .arg = "US", .min = 1, .max = 1000000000,
               .help = "Microseconds to read a tile (default: the mean of the traced run)",
               .more = "To estimate the effect of a slower disk or server."),
    STM_OPTION_JOBS(AT(request.threads)),
    {0},
};
static const stm_option outputs[] = {
    STM_OPTION(STRING, "plot", AT(plot), .arg = "FILE", .values = STM_VALUES_FILE,
               .help = "Write an SVG picture of reads and time by cache size"),
    STM_OPTION_OVERWRITE(AT(overwrite)),
    STM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object"),
    STM_OPTION(FLAG, "quiet", .letter = 'q', AT(quiet), .help = "Print only warnings and errors"),
    {0},
};
static const stm_option_group groups[] = {{"Caches", caches, 0}, {"Output", outputs, 0}, {0}};

/* 0 for the rest: sizes, policies and time are then chosen from the trace. */
static void set_replay_defaults(void *p)
{
    replay_args *a = p;
    *a = (replay_args){.request = {.keep_epochs = 1}};
}

/* ---- running ---- */

/* Counts caches, because the time for each is not known in advance. */
static void show_caches_done(size_t done, size_t all)
{
    if (!stm_say_can_animate())
        return;
    if (!all)
        stm_say_status("reading the trace");
    else
        stm_say_status("%3.0f%%  %zu of %zu caches", 100.0 * (double)done / (double)all, done, all);
}

/* The plot is written before the table is printed, so that a failure to write it is the only result. */
static txm_status replay(const replay_args *a, const char *path, txm_error *err)
{
    txm_trace *trace;
    stm_replay_table table = {0};
    txm_status status = txm_trace_open(path, &trace, err);
    if (status != TXM_OK)
        return status;
    status = stm_replay_table_make(path, trace, &a->request, stm_signal_flag(), a->quiet ? NULL : show_caches_done,
                                   &table, err);
    stm_say_status("%s", "");
    if (status == TXM_OK && a->plot) {
        txm_out_file *file = NULL;
        status = txm_out_file_begin(a->plot, false, &file, err);
        if (status == TXM_OK) {
            stm_replay_plot(txm_out_file_stream(file), &table, true);
            status = txm_out_file_commit(&file, err);
        }
    }
    if (status == TXM_OK && a->json)
        stm_replay_json(&table);
    else if (status == TXM_OK && !a->quiet)
        stm_replay_print(&table);
    stm_replay_table_free(&table);
    txm_trace_free(&trace);
    return status;
}

/* One trace at a time, because a table of several would compare different pictures. */
static int run_replay(void *p, const stm_operands *operands)
{
    replay_args *a = p;
    txm_error err = {0};
    if (a->json)
        stm_finish_in_json("txmill.replay");
    a->request.read_seconds = 1e-6 * a->read_us;
    const txm_output plot = {"--plot", a->plot, TXM_OUTPUT_PLOT, a->overwrite};
    if (operands->count != 1)
        stm_fail(&err, TXM_STATUS_USAGE,
                 operands->count ? "%s: give only one trace"
                                 : "no trace given%s; 'txmill stream render "
                                   "--trace FILE' writes one",
                 operands->count ? operands->items[1] : "");
    else if (txm_guard_operands(&plot, operands->items, operands->count, &err) == TXM_OK)
        replay(a, operands->items[0], &err);
    if (err.status)
        return stm_finish_failed(&err, operands->count == 1);
    return stm_finish(TXM_OK);
}

const stm_command stm_cmd_replay = {
    .name = "replay",
    .purpose = "Replay a trace of texture lookups with other cache sizes and policies",
    .synopsis = "[OPTION...] TRACE",
    .examples = {"replay render.trace", "replay --plot misses.svg render.trace"},
    .groups = groups,
    .args_bytes = sizeof(replay_args),
    .defaults = set_replay_defaults,
    .run = run_replay,
};
