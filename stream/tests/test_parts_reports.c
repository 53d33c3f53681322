/* SPDX-License-Identifier: Apache-2.0
 * What txmill-stream prints and draws: tables and plots of replays, maps of tiles, the page of a render, colours of
 * heat maps, words of options. */
#include <cjson/cJSON.h>
#include <math.h>

#include "base/base.h"
#include "cli/options.h"
#include "cli/say.h"
#include "command/stream_args.h"
#include "commands.h"
#include "replay/policy_words.h"
#include "replay/replay_table.h"
#include "util_batch.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_tx.h"

static double number_of(const cJSON *o, const char *name)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, name);
    ck_assert_msg(cJSON_IsNumber(n), "%s", name);
    return n->valuedouble;
}

/* ---- replays ----------------------------------------------------------------------------------------------------- */

TEST(sizes_can_be_given_back)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{1, "1"},           {1024, "1K"},         {1025, "1025"}, {16 << 20, "16M"}, {3ull << 29, "1536M"},
                 {1ull << 40, "1T"}, {1ull << 50, "1024T"}};
    char text[STM_REPLAY_SIZE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_int_eq(strncmp(stm_replay_size_text(cases[i].bytes, text), cases[i].text, strlen(cases[i].text)), 0);
    for (uint32_t k = 0; k <= TXM_CACHE_POLICY_NONE; k++)
        ck_assert_ptr_nonnull(stm_replay_policy_name(k));
    ck_assert_str_eq(stm_replay_policy_name(TXM_REPLAY_OPT), "opt");
    ck_assert_ptr_null(stm_replay_policy_name(TXM_CACHE_POLICY_NONE + 1));
}

/* A table made by hand, with two sizes, LRU and the optimum. */
static stm_replay_table table_of(txm_replay_counts counts[4], const txm_trace_info *info)
{
    return (stm_replay_table){.path = "t.trace",
                              .info = info,
                              .request = {.sizes = {1 << 20, 4 << 20},
                                          .size_count = 2,
                                          .policies = {TXM_CACHE_POLICY_LRU, TXM_REPLAY_OPT},
                                          .policy_count = 2,
                                          .read_seconds = 0.001},
                              .all = {.lookups = 900, .tiles = 100, .tile_bytes = 3 << 20, .reads = 100},
                              .counts = counts};
}

TEST(verdicts_name_the_size_that_is_enough)
{
    txm_trace_info info = {.textures = 3};
    txm_replay_counts counts[4] = {{.reads = 300, .reads_again = 200},
                                   {.reads = 150, .reads_again = 50},
                                   {.reads = 104, .reads_again = 4},
                                   {.reads = 100}};
    stm_replay_table t = table_of(counts, &info);
    char text[STM_REPLAY_VERDICT], *verdict = stm_replay_verdict(&t, text);
    ck_assert_msg(strstr(verdict, "from 4M on lru reads almost no tile again") &&
                      strstr(verdict, "the optimum reads up to 2.0 times fewer (with 1M)"),
                  "%s", verdict);
    ck_assert_double_eq_tol(stm_replay_seconds(&t, &counts[0]), 0.3, 1e-9);
    ck_assert_ptr_eq(stm_replay_counts_at(&t, 1, 0), &counts[2]);
    counts[2].reads_again = 6;
    stm_replay_verdict(&t, text);
    ck_assert_ptr_nonnull(strstr(verdict, "with all of these sizes lru reads many tiles again"));
    t.all.reads = 0;
    stm_replay_verdict(&t, text);
    ck_assert_str_eq(verdict, "no tile was used");
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

TEST(tables_are_printed_and_drawn)
{
    txm_trace_info info = {.textures = 3,
                           .policy = TXM_CACHE_POLICY_LRU,
                           .tiles_loaded = 200,
                           .tiles_reloaded = 50,
                           .load_seconds = 0.2,
                           .max_bytes = 2 << 20};
    txm_replay_counts counts[4] = {{.reads = 300, .reads_again = 200}, {.reads = 150}, {.reads = 104}, {.reads = 0}};
    stm_replay_table t = table_of(counts, &info);
    batch_catch();
    stm_replay_print(&t);
    char *text = strdup(batch_caught());
    ck_assert_ptr_nonnull(strstr(text, "t.trace: 900 lookups, 100 tiles of 3 textures"));
    ck_assert_ptr_nonnull(strstr(text, "lru with 2M: 200 tiles read, 25.0 % of them again"));
    ck_assert_ptr_nonnull(strstr(text, "      1M     300   0.300 s     150   0.150 s"));
    free(text);
    batch_catch();
    stm_replay_json(&t);
    cJSON *o = cJSON_Parse(batch_caught());
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(o, "runs");
    ck_assert_int_eq(cJSON_GetArraySize(runs), 4);
    ck_assert_double_eq_tol(number_of(cJSON_GetArrayItem(runs, 1), "reads"), 150, 1e-9);
    ck_assert_double_eq_tol(number_of(cJSON_GetArrayItem(runs, 2), "cache_bytes"), 4 << 20, 1e-9);
    cJSON_Delete(o);
    /* There is a curve for each policy and a point for every pair, also if nothing was read; every coordinate is inside
     * the picture. */
    for (int alone = 0; alone < 2; alone++) {
        FREED char *svg = NULL;
        size_t bytes;
        FILE *f = open_memstream(&svg, &bytes);
        stm_replay_plot(f, &t, alone);
        fclose(f);
        ck_assert_uint_eq(occurrences(svg, "<polyline"), 2);
        ck_assert_uint_eq(occurrences(svg, "<circle"), 4);
        ck_assert_uint_eq(occurrences(svg, "<g "), occurrences(svg, "</g>"));
        ck_assert_uint_eq(occurrences(svg, "xmlns="), (size_t)alone);
        ck_assert(!strstr(svg, "nan") && !strstr(svg, "inf"));
        for (const char *at = svg; (at = strstr(at, "cy=\"")); at++) {
            double y = atof(at + 4);
            ck_assert(y >= 48 && y <= 356);
        }
    }
    /* A single size is one point in the middle. */
    t.request.size_count = t.request.policy_count = 1;
    FREED char *svg = NULL;
    size_t bytes;
    FILE *f = open_memstream(&svg, &bytes);
    stm_replay_plot(f, &t, 1);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(svg, "cx=\"375.0\""));
}

static size_t calls;

static void on_progress(size_t done, size_t all)
{
    calls++;
    ck_assert_uint_le(done, all);
}

TEST(tables_are_played)
{
    static const volatile int stop = 1;
    txm_cache_options co;
    txm_cache_options_init(&co);
    co.threads = 1;
    txm_cache *c = new_cache(&co);
    char *tx = write_cached("r.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    uint32_t id = add_texture(c, tx, TXM_EXTENSION_REPEAT);
    txm_cache_thread *thread = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    ck_assert_int_eq(txm_cache_trace_start(c, "r.trace", TXM_TRACE_TILES, NULL), TXM_OK);
    for (int i = 0; i < 400; i++) {
        float out[4];
        txm_lookup at = {(float)(i * 37 % 97) / 97, (float)(i * 53 % 89) / 89, 0, 0, 0, 0};
        txm_cache_sample(thread, id, &how, &at, NULL, out);
    }
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    txm_cache_thread_free(&thread);
    txm_cache_free(&c);
    free(tx);
    SCOPED(txm_trace_free) txm_trace *trace = NULL;
    stm_replay_table t;
    txm_error err = {0};
    const stm_replay_request open = {.keep_epochs = 1, .threads = 2};
    ck_assert_int_eq(txm_trace_open("r.trace", &trace, &err), TXM_OK);
    ck_assert_msg(stm_replay_table_make("r.trace", trace, &open, NULL, on_progress, &t, &err) == TXM_OK, "%s",
                  err.message);
    ck_assert_uint_eq(t.all.tiles, t.info->tiles_loaded);
    ck_assert_uint_eq(t.request.policy_count, 3);
    ck_assert_uint_ge(t.request.size_count, 1);
    ck_assert_uint_eq(calls,
                      1 + t.request.size_count * t.request.policy_count); /* reading the trace, then each cache */
    for (size_t i = 0; i < t.request.size_count; i++) {
        ck_assert(!i || t.request.sizes[i] > t.request.sizes[i - 1]);
        for (size_t k = 0; k < 2; k++) /* no policy reads less than the optimum, which is the last one */
            ck_assert_uint_ge(stm_replay_counts_at(&t, i, k)->reads, stm_replay_counts_at(&t, i, 2)->reads);
    }
    stm_replay_table_free(&t);
    stm_replay_table_free(&t);
    ck_assert_int_eq(stm_replay_table_make("r.trace", trace, &open, &stop, NULL, &t, &err), TXM_STATUS_CANCELLED);
}

/* ---- renders ----------------------------------------------------------------------------------------------------- */

TEST(maps_show_the_finest_level_of_each_place)
{
    /* 4 x 2 tiles of level 0, and a small image of one tile. */
    static const stm_render_part parts[] = {{0, 0, 256, 128, 9, 64}, {1, 0, 10, 10, 4, 64}};
    static const stm_render_tile tiles[] = {{0, 0, 0, 3, 1}, {0, 0, 1, 0, 0}, {0, 0, 2, 0, 0}};
    const stm_render_picture p = {
        .parts = (stm_render_part *)parts, .part_count = 2, .tiles = (stm_render_tile *)tiles, .tile_count = 3};
    stm_stream_map map;
    size_t first = 0;
    ck_assert(stm_stream_map_new(&p, 0, &first, 4, &map));
    ck_assert_uint_eq(first, 3);
    ck_assert(map.width == 4 && map.height == 2 && map.finest == 0 && map.tiles == 3);
    /* Level 0 is the hottest; level 1 hides level 2 below it. */
    ck_assert_float_eq_tol(map.heat[7], 1.0f, 1e-6f);
    ck_assert_float_eq_tol(map.heat[0], 1.0f - 1.0f / 6, 1e-6f);
    ck_assert_float_eq_tol(map.heat[5], 1.0f - 1.0f / 6, 1e-6f);
    ck_assert_float_eq_tol(map.heat[2], 1.0f - 2.0f / 6, 1e-6f);
    free(map.heat);
    ck_assert(stm_stream_map_new(&p, 1, &first, 4, &map));
    ck_assert(map.width == 4 && map.height == 4 && map.tiles == 0 && map.finest == 4);
    ck_assert(map.heat[0] < 0 && map.heat[15] < 0);
    free(map.heat);
    FREED float *rgb = NULL;
    uint32_t width, height;
    txm_error err = {0};
    ck_assert_int_eq(stm_stream_sheet(&p, &rgb, &width, &height, &err), TXM_OK);
    ck_assert(width == 2 * 132 && height == 132);
    ck_assert_float_eq_tol(rgb[0], 0.05f, 1e-6f); /* between maps */
    ck_assert(rgb[3 * (2 * width + 2 + 132)] < 0.01f && rgb[3 * (2 * width + 2)] != 0.05f);
}

/* ---- pictures of numbers ----------------------------------------------------------------------------------------- */

TEST(heat_runs_from_dark_to_white)
{
    const float map[] = {0, 2, 8, -1};
    float most = stm_heat_most(map, 4), *colors = stm_heat_colors(map, 4, most);
    ck_assert_ptr_nonnull(colors);
    ck_assert(most >= 8 && most <= 8);
    for (int c = 0; c < 3; c++) {
        ck_assert(fabsf(colors[6 + c] - 1.0f) < 1e-6f); /* the largest is white */
        ck_assert(colors[9 + c] <= 0.0f);               /* nothing there is black */
        ck_assert(colors[c] < colors[6 + c]);
    }
    free(colors);
    const float zero[] = {0, 0};
    most = stm_heat_most(zero, 2);
    colors = stm_heat_colors(zero, 2, most);
    ck_assert(colors && most <= 0 && colors[0] < 0.1f);
    free(colors);
}

TEST(linear_values_become_srgb_codes)
{
    const float linear[] = {-1, 0, 0.0031308f, 0.21404114f, 1, 7};
    FREED uint8_t *codes = stm_srgb_codes(linear, 6);
    ck_assert_mem_eq(codes, "\x00\x00\x0A\x80\xFF\xFF", 6);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void has_parts(const txm_error *err, size_t subject_bytes, const char *advice)
{
    ck_assert_uint_eq(err->subject_bytes, subject_bytes);
    ck_assert_str_eq(txm_error_advice(err), advice);
}

/* Whatever the values are, and however long the message is. */
TEST(failures_know_their_parts)
{
    char longest[4000];
    txm_error err = {0};
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    stm_fail(&err, TXM_STATUS_IO, "%s: cut; copy it again", "a; b");
    has_parts(&err, 4, "copy it again");
    stm_fail(&err, TXM_STATUS_USAGE, "the first one is kept");
    stm_error_prefix(&err, "scene.txt:12");
    ck_assert_str_eq(err.message, "scene.txt:12: a; b: cut; copy it again");
    has_parts(&err, 12, "copy it again");
    txm_error_clear(&err);
    stm_fail(&err, TXM_STATUS_IO, "cannot read %s", "a; b");
    has_parts(&err, 0, "");
    txm_error_clear(&err);
    stm_fail(&err, TXM_STATUS_IO, "%s; use --device cpu", longest);
    ck_assert_uint_eq(strlen(err.message), TXM_MESSAGE_BYTES - 1);
    has_parts(&err, 0, "use --device cpu");
    txm_error_clear(&err);
    stm_fail(&err, TXM_STATUS_IO, "%s: cut; copy %s", "a", longest);
    has_parts(&err, 1, txm_error_advice(&err));
    stm_error_prefix(&err, longest);
    has_parts(&err, 0, "");
    txm_error_clear(&err);
    stm_fail_errno(&err, 2, "%s", "a; b");
    has_parts(&err, 0, "");
    ck_assert_str_eq(err.message, "a; b: No such file or directory");
    txm_error_clear(&err);
    stm_fail_parts(&err, TXM_STATUS_IO, "a: no; go", 1, 7);
    has_parts(&err, 1, "go");
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

TEST(policies_are_listed)
{
    const txm_cache_policy_words *w;
    for (uint32_t i = 0; (w = txm_cache_policy_words_of((txm_cache_policy)i)); i++) {
        ck_assert_ptr_nonnull(strstr(stm_policy_values, w->name));
        ck_assert_ptr_nonnull(strstr(stm_policy_more, w->goes));
        ck_assert_ptr_nonnull(strstr(stm_replay_policy_values, w->column));
        ck_assert_ptr_nonnull(strstr(stm_replay_policy_more, w->goes));
    }
    ck_assert_ptr_nonnull(strstr(stm_replay_policy_values, " opt"));
    ck_assert_uint_lt(strlen(stm_replay_policy_more), STM_POLICY_TEXT - 1);
}

/* Command lines with one mistake each, and what the message must say. */
static const struct {
    const char *words[4], *says;
} wrong[] = {
    {{"--sise", "3x3"}, "unknown option --sise; did you mean --size? 'txmill stream --help' lists the options"},
    {{"-S", "3x3"}, "unknown option -S; did you mean -s (--size)?"},
    {{"-size", "3x3"}, "-size: did you mean --size? Long options begin with two dashes"},
    {{"--force"}, "unknown option --force; --overwrite replaces a file"},
    {{"--size"}, "option --size needs its argument WxH"},
    {{"--size", "3"}, "--size 3: must be a width and a height in pixels"},
    {{"--samples", "-1"}, "--samples -1: must be a whole number from 1 to 65536"},
    {{"--cache=1 "}, "--cache 1 : must be a number of bytes, such as 500000000, 512M or 1.5G"},
    {{"--cache=1Mx"}, "must be a number of bytes"},
    {{"--resolution", "nan"}, "must be a percentage from 0.01 to 100"},
    {{"--frame", "2"}, "must be a number from 0 to 1"},
    {{"--engine", "waves"}, "must be one of: wave blocking reference; did you mean wave?"},
    {{"--json=yes"}, "option --json takes no argument, but got 'yes'"},
    {{"--output="}, "--output: its argument FILE is empty"},
    {{"--path-map", "here"}, "a map has two parts"},
    {{"--color", "red"}, "must be auto, always or never"},
};

TESTS(mistakes_are_explained, sizeof wrong / sizeof *wrong)
{
    stm_stream_args args;
    txm_error err = {0};
    char *items[8], *words[4];
    stm_operands operands = {.items = items};
    int count = 0;
    for (; count < 4 && wrong[_i].words[count]; count++)
        words[count] = (char *)wrong[_i].words[count];
    ck_assert_int_eq(stm_parse(&stm_cmd_stream, count, words, &args, &operands, &err), STM_PARSE_FAILED);
    ck_assert_int_eq(err.status, TXM_STATUS_USAGE);
    ck_assert_msg(strstr(err.message, wrong[_i].says) != NULL, "%s", err.message);
    stm_args_free(&stm_cmd_stream, &args);
}

TEST(options_and_operands_mix)
{
    static char *words[] = {"render", "-qs3x4", "--cache", "1.5K", "room", "--resolution=50%", "--", "-o"};
    stm_stream_args args;
    txm_error err = {0};
    char *items[8];
    stm_operands operands = {.items = items};
    ck_assert_int_eq(stm_parse(&stm_cmd_stream, 8, words, &args, &operands, &err), STM_PARSED);
    ck_assert(args.quiet && args.size.w == 3 && args.size.h == 4 && args.cache_bytes == 1536);
    ck_assert_double_eq_tol(args.resolution, 0.5, 1e-12);
    ck_assert_uint_eq(operands.count, 3);
    ck_assert_str_eq(operands.items[2], "-o");
    stm_args_free(&stm_cmd_stream, &args);
}

/* A word for a shell is read by one as it was. */
TEST(words_survive_a_shell)
{
    static const char *const words[] = {"plain/a.png", "two words",   "it's",      "\"quoted\"", "$HOME `x` \\",
                                        "new\nline",   "caf\xC3\xA9", "latin\xE9", "",           "!"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *word = stm_shell_word(words[i]), *command = stm_asprintf("printf '%%s' %s", word), got[64] = "";
        setenv("WORD", command, 1);
        FILE *in = popen("bash -c 'eval \"$WORD\"'", "r");
        ck_assert_ptr_nonnull(in);
        got[fread(got, 1, sizeof got - 1, in)] = 0;
        pclose(in);
        ck_assert_str_eq(got, words[i]);
        free(command);
        free(word);
    }
}

static void enter(void)
{
    batch_enter();
}
FIXTURE(enter, batch_leave)

/* Lines fit the terminal, characters count as wide as they are shown, and no word is lost. */
TEST(lines_are_wrapped)
{
    static const char text[] =
        "name   caf\xC3\xA9 \033[1;31mred\033[0m and a_word_that_is_longer_than_the_line so it is";
    for (unsigned columns = 10; columns < 90; columns += 7) {
        char *wrapped = stm_wrapped(text, columns), *rest = wrapped, *line;
        char words[256] = "", all[256] = "";
        ck_assert_ptr_nonnull(wrapped);
        while ((line = strsep(&rest, "\n"))) {
            ck_assert_uint_le(strlen(line), columns + 12); /* of which 12 bytes take no column */
            for (char *at = line, *word; (word = strsep(&at, " "));)
                strcat(words, word);
        }
        for (const char *c = text; *c; c++)
            if (*c != ' ')
                strncat(all, c, 1);
        ck_assert_str_eq(words, all);
        free(wrapped);
    }
    FREED char *wide = stm_wrapped("\xE6\x9C\xA8\xE6\x9C\xA8 e\xCC\x81 \xE6\x9C\xA8\xE6\x9C\xA8\xE6\x9C\xA8", 5);
    ck_assert_str_eq(wide, "\xE6\x9C\xA8\xE6\x9C\xA8\ne\xCC\x81\n\xE6\x9C\xA8\xE6\x9C\xA8\n\xE6\x9C\xA8");
}
