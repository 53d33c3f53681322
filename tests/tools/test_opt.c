/* SPDX-License-Identifier: Apache-2.0
 * Options: parsing, help, what is generated from the tables; the tables of all commands. */
#include <limits.h>
#include <math.h>

#include "base/fail.h"
#include "base/spelling.h"
#include "tools/commands.h"
#include "tools/options/args.h"
#include "util_check.h"

/* ---- a command for the tests ------------------------------------------------------------------------------------- */

typedef struct inner {
    uint32_t count;
    uint64_t size;
} inner;

typedef struct args {
    bool flag, keep, answer;
    const char *text;
    txm_opt_list list;
    int choice;
    double ratio, any;
    txm_pixel_size pixels;
    inner inner;
    txm_settings_args settings;
} args;

static txm_status no_comma(const char *text, void *field, txm_error *err)
{
    (void)field;
    return strchr(text, ',') ? txm_fail(err, TXM_STATUS_USAGE, "must not hold a comma") : TXM_OK;
}

#define AT(member) .offset = offsetof(args, member)
static const txm_option own_options[] = {
    {.name = "flag", .letter = 'f', .type = TXM_OPT_FLAG, AT(flag), .help = "Set the flag"},
    {.name = "no-keep", .letter = 'k', .type = TXM_OPT_CLEAR, AT(keep), .help = "Clear it"},
    {.name = "answer", .type = TXM_OPT_YESNO, AT(answer), .arg = "yes|no", .values = "yes no", .help = "Answer"},
    {.name = "text", .letter = 't', .type = TXM_OPT_STRING, AT(text), .arg = "TEXT", .help = "Text"},
    {.name = "item", .type = TXM_OPT_LIST, AT(list), .arg = "ITEM", .help = "Item", .parse = no_comma},
    {.name = "choice", .type = TXM_OPT_CHOICE, AT(choice), .arg = "WORD", .values = "red green blue", .help = "Choice"},
    {.name = "ratio", .type = TXM_OPT_NUMBER, AT(ratio), .arg = "F", .least = 0.5, .most = 1e9, .help = "Ratio"},
    {.name = "any", .type = TXM_OPT_NUMBER, AT(any), .arg = "F", .least = -INFINITY, .most = INFINITY, .help = "Any"},
    {.name = "pixels", .type = TXM_OPT_PIXELS, AT(pixels), .arg = "WxH", .help = "Pixels"},
    {0},
};
#undef AT
static const txm_option inner_options[] = {
    {.name = "count",
     .letter = 'n',
     .type = TXM_OPT_UINT,
     .offset = offsetof(inner, count),
     .arg = "N",
     .min = 1,
     .max = 100,
     .help = "Count"},
    {.name = "size", .type = TXM_OPT_SIZE, .offset = offsetof(inner, size), .arg = "SIZE", .help = "Size"},
    {0},
};

static void defaults(void *p)
{
    args *a = p;
    a->keep = true;
    a->inner.count = 7;
}

static const txm_option_group groups[] = {{"Own", own_options, 0},
                                          {"Inner", inner_options, offsetof(args, inner)},
                                          {"Settings", txm_settings_options, offsetof(args, settings)},
                                          {0}};
static const txm_command command = {.name = "test",
                                    .purpose = "Test",
                                    .synopsis = "[OPTION...] FILE...",
                                    .groups = groups,
                                    .args_bytes = sizeof(args),
                                    .defaults = defaults};

static args a;
static char *words[16];
static txm_operands operands;
static txm_error err;

/* Splits `line` at spaces, with "_" for an empty word, and parses it. */
static txm_parse_outcome parse(const char *line)
{
    static char copy[512];
    static char *argv[16];
    int argc = 0;
    txm_args_free(&command, &a);
    memset(&a, 0, sizeof a);
    err = (txm_error){0};
    snprintf(copy, sizeof copy, "%s", line);
    for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
        argv[argc++] = strcmp(w, "_") ? w : w + 1;
    operands.items = words;
    return txm_parse(&command, argc, argv, &a, &operands, &err);
}

static void refused(const char *line, const char *why)
{
    ck_assert_msg(parse(line) == TXM_PARSE_FAILED, "accepted: %s", line);
    ck_assert_int_eq(err.status, TXM_STATUS_USAGE);
    ck_assert_msg(strstr(err.message, why) != NULL, "%s: message '%s' lacks '%s'", line, err.message, why);
}

TEST(test_defaults)
{
    ck_assert_int_eq(parse(""), TXM_PARSED);
    ck_assert(!a.flag && a.keep && a.inner.count == 7 && !a.list.items && !operands.count);
    ck_assert(a.settings.settings.mono && a.settings.settings.borders && a.settings.settings.tile_px == 64);
}

TEST(test_every_type)
{
    ck_assert_int_eq(parse("-f -k --answer yes --text=hello --item a --item b --choice blue -n9 --size 1.5K"),
                     TXM_PARSED);
    ck_assert(a.flag && !a.keep && a.answer && a.inner.count == 9 && a.inner.size == 1536 && a.choice == 2);
    ck_assert_str_eq(a.text, "hello");
    ck_assert_uint_eq(a.list.count, 2);
    ck_assert_str_eq(a.list.items[1], "b");
    ck_assert_ptr_null(a.list.items[2]);
}

TEST(test_numbers)
{
    static const char *const bad[] = {"0.4", "1e10", "nan", "1,5", "7x", "_", "50%"};
    static const char *const sizes[] = {"640",      "640x",      "0x480",    "640x0",
                                        "-640x480", "640x480x3", "640x+480", "1400000x1"};
    ck_assert_int_eq(parse("--ratio 0.5 --any -3.25 --pixels 640x65536"), TXM_PARSED);
    ck_assert(a.ratio == 0.5 && a.any == -3.25 && a.pixels.w == 640 && a.pixels.h == 65536);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "--ratio=%s", bad[i]);
        refused(line, "must be a number from 0.5 to 1000000000");
    }
    refused("--any nan", "must be a number, such as 0.25");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char line[64];
        snprintf(line, sizeof line, "--pixels=%s", sizes[i]);
        refused(line, "must be a width and a height in pixels, such as 1920x1080");
    }
}

TEST(test_mixed_operands)
{
    ck_assert_int_eq(parse("one -f two - --text -x -- --flag -k"), TXM_PARSED);
    ck_assert(a.flag && a.keep);
    ck_assert_str_eq(a.text, "-x");
    ck_assert_uint_eq(operands.count, 5);
    ck_assert_str_eq(operands.items[2], "-");
    ck_assert_str_eq(operands.items[3], "--flag");
}

TEST(test_bundles)
{
    ck_assert_int_eq(parse("-fkn42"), TXM_PARSED);
    ck_assert(a.flag && !a.keep && a.inner.count == 42);
    ck_assert_int_eq(parse("-fn 3 rest"), TXM_PARSED);
    ck_assert_uint_eq(a.inner.count, 3);
    ck_assert_uint_eq(operands.count, 1);
}

TEST(test_last_wins)
{
    ck_assert_int_eq(parse("--choice red --choice green --text a --text=b"), TXM_PARSED);
    ck_assert_int_eq(a.choice, 1);
    ck_assert_str_eq(a.text, "b");
    /* Empty words are variables of a script that were not set. */
    ck_assert_int_eq(parse("--text="), TXM_PARSE_FAILED);
}

TEST(test_refusals)
{
    refused("--flga", "did you mean --flag");
    refused("--colourspace x", "did you mean --colorspace");
    refused("--zzzzzz", "'txmill test --help'");
    refused("-z", "unknown option -z");
    refused("-fz", "unknown option -z");
    refused("--flag=1", "takes no argument");
    refused("--text", "needs its argument TEXT");
    refused("-n", "needs its argument N");
    refused("-n 0", "from 1 to 100");
    refused("-n 101", "from 1 to 100");
    refused("-n 1x", "from 1 to 100");
    refused("-n -1", "from 1 to 100");
    refused("-n 99999999999999999999", "from 1 to 100");
    refused("-n _", "from 1 to 100");
    refused("--answer maybe", "must be yes or no");
    refused("--choice re", "must be one of");
    refused("--item a,b", "comma");
    refused("--fla", "did you mean");
}

TEST(test_sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},           {"500000000", 500000000}, {"64k", 65536}, {"512M", 512u << 20},
                {"2G", 2ull << 30}, {"1T", 1ull << 40}};
    static const char *const bad[] = {"",   "M",  "-1",  "1X",  "1MM",   "1e3", "0x10", "nan", "inf", "99999999999T",
                                      " 1", "1 ", "1K ", "1\t", "1.5.5", ".5",  "1@",   "1,5"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t bytes = 1;
        ck_assert_int_eq(txm_parse_size(good[i].text, &bytes, NULL), TXM_OK);
        ck_assert_uint_eq(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t bytes = 1;
        ck_assert_msg(txm_parse_size(bad[i], &bytes, NULL) == TXM_STATUS_USAGE, "accepted '%s'", bad[i]);
        ck_assert_uint_eq(bytes, 1);
    }
}

TEST(test_settings)
{
    ck_assert_int_eq(parse("-c Non-Color -a none --compression zip:12 --tile 256 --borders no --attrib a=b -d cache"),
                     TXM_PARSED);
    txm_settings_args_finish(&a.settings, &(txm_operands){0});
    const txm_settings *s = &a.settings.settings;
    ck_assert_str_eq(s->colorspace, "Non-Color");
    ck_assert_int_eq(s->alpha, TXM_ALPHA_NONE);
    ck_assert(s->compression.codec == TXM_CODEC_ZIP && s->compression.level == 12);
    ck_assert(s->tile_px == 256 && !s->borders && s->mono);
    ck_assert_str_eq(s->attributes[0], "a=b");
    ck_assert_str_eq(s->cache_dir, "cache");
    ck_assert_int_eq(parse("--strict --mono yes"), TXM_PARSED);
    txm_settings_args_finish(&a.settings, &(txm_operands){0});
    ck_assert(!s->mono && !s->borders && !s->attributes);
}

TEST(test_settings_refused)
{
    refused("-a opaque", "channel_packed");
    refused("--compression zip:13", "zip:12");
    refused("--compression zip:0", "zip:12");
    refused("--compression zip:", "zip:12");
    refused("--compression none:1", "none");
    refused("--compression lzw", "zstd");
    refused("--tile 65", "64");
    refused("--tile 2048", "1024");
    refused("--tile 8", "16");
    refused("--attrib name", "NAME=VALUE");
    refused("--attrib =x", "NAME=VALUE");
}

/* Returns everything that a printing function writes. */
static char *printed(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(f);
    print(f);
    fclose(f);
    return text;
}

static void print_help(FILE *f)
{
    txm_help_print(f, &command, &(txm_operands){.help_all = true}, 80);
}

TEST(test_help)
{
    ck_assert_int_eq(parse("x --help --nonsense"), TXM_PARSED_HELP);
    ck_assert_int_eq(parse("-fh"), TXM_PARSED_HELP);
    FREED char *text = printed(print_help);
    ck_assert_ptr_nonnull(strstr(text, "Usage: txmill test [OPTION...] FILE..."));
    ck_assert_ptr_nonnull(strstr(text, "  -t, --text TEXT             Text\n"));
    ck_assert_ptr_nonnull(strstr(text, "      --compression CODEC[:LEVEL]\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nInner:\n"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 80, "too long: %s", line);
}

/* ---- the tables of all commands ---------------------------------------------------------------------------------- */

typedef struct seen {
    const txm_command *command;
    char letters[64];
    const char *names[128];
    size_t count;
} seen;

static void check_option(seen *s, const txm_option_group *group, const txm_option *o)
{
    const char *where = s->command->name;
    ck_assert_msg(o->help && strlen(o->help) && o->help[strlen(o->help) - 1] != '.', "%s --%s: help", where, o->name);
    ck_assert_msg(!o->more || o->more[strlen(o->more) - 1] == '.', "%s --%s: more", where, o->name);
    bool named = txm_opt_takes_argument(o) || o->type == TXM_OPT_WORD; /* a word may follow after "=" */
    ck_assert_msg(named == (o->arg != NULL), "%s --%s: arg", where, o->name);
    ck_assert_msg(o->type != TXM_OPT_CUSTOM || o->parse, "%s --%s: parse", where, o->name);
    ck_assert_msg(o->type != TXM_OPT_CHOICE || o->values, "%s --%s: values", where, o->name);
    ck_assert_msg(o->type != TXM_OPT_UINT || o->max > o->min, "%s --%s: range", where, o->name);
    ck_assert_msg(group->offset + o->offset < s->command->args_bytes + 1, "%s --%s: offset", where, o->name);
    ck_assert_msg(!o->letter || !strchr(s->letters, o->letter), "%s -%c: twice", where, o->letter);
    for (size_t i = 0; i < s->count; i++)
        ck_assert_msg(strcmp(s->names[i], o->name), "%s --%s: twice", where, o->name);
    s->letters[strlen(s->letters)] = o->letter;
    s->names[s->count++] = o->name;
}

TEST(test_tables)
{
    for (const txm_command *const *c = txm_commands; *c; c++) {
        seen s = {.command = *c};
        char page[128];
        ck_assert((*c)->program || ((*c)->run && (*c)->args_bytes));
        ck_assert((*c)->groups && (*c)->synopsis);
        ck_assert_msg((*c)->purpose[strlen((*c)->purpose) - 1] != '.', "%s: purpose", (*c)->name);
        for (txm_option_walk w = {0}; txm_option_next(*c, &w);)
            check_option(&s, w.group, w.option);
        snprintf(page, sizeof page, "man/txmill-%s.1.in", (*c)->name);
        ck_assert_msg((*c)->program || access(page, R_OK) == 0, "%s is missing", page);
        ck_assert_ptr_eq(txm_command_find((*c)->name), *c);
    }
    ck_assert_ptr_null(txm_command_find("no-such-command"));
}

static void unknown_kind(FILE *f)
{
    ck_assert(!txm_generate(f, "tcsh", ""));
    ck_assert(!txm_generate(f, "man-options", "no-such-command"));
}

TEST(test_unknown_generator)
{
    FREED char *text = printed(unknown_kind);
    ck_assert_str_eq(text, "");
}

TEST(test_near)
{
    unsigned d;
    ck_assert_uint_eq(txm_spelling_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(txm_spelling_distance("", "abc"), 3);
    ck_assert_uint_eq(txm_spelling_distance("abc", ""), 3);
    ck_assert_uint_eq(txm_spelling_distance("Non_Color", "non-color"), 0);
    ck_assert_uint_eq(txm_spelling_distance("maek", "make"), 1);
    d = UINT_MAX;
    ck_assert(txm_spelling_better("sRGBB", "sRGB", &d) && d == 1);
    ck_assert(!txm_spelling_better("sRGBB", "sRGA", &d) && d == 1);
    d = UINT_MAX;
    ck_assert(txm_spelling_better("Filmic", "Filmic Log", &d));
    d = UINT_MAX;
    ck_assert(!txm_spelling_better("sRGB", "ACEScg", &d) && d == UINT_MAX);
    /* Longer than the table: names are compared by their beginnings, and no buffer overflows. */
    char x[300], y[300];
    memset(x, 'a', 299);
    memset(y, 'b', 299);
    x[299] = y[299] = 0;
    ck_assert_uint_eq(txm_spelling_distance(x, y), 63);
}

TEST(test_alpha_words)
{
    for (int i = 0; i <= TXM_ALPHA_AUTO; i++) {
        txm_alpha alpha;
        ck_assert(txm_alpha_parse(txm_alpha_name((txm_alpha)i), &alpha) && alpha == (txm_alpha)i);
        ck_assert(txm_alpha_parse(txm_alpha_stored_name((txm_alpha)i), &alpha) && alpha == (txm_alpha)i);
    }
    txm_alpha none;
    ck_assert(!txm_alpha_parse("Straight", &none));
    ck_assert_str_eq(txm_alpha_stored_name((txm_alpha)99), "default");
}
