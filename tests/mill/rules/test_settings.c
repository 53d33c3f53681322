/* SPDX-License-Identifier: Apache-2.0
 * Settings: which .txmill applies, what its lines and the variables mean; and rules in their order. */
#include "base/fail.h"
#include "tools/options/project.h"
#include "tools/options/rule_args.h"
#include "txmill/batch.h"
#include "util_batch.h"
#include "util_check.h"

static void forget_variables(void)
{
    static const char *const names[] = {"CACHE_DIR", "OCIO", "WORKING_SPACE", "PRESET", "RULE", "RULES", "THREADS"};
    char name[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "TXMILL_%s", names[i]);
        unsetenv(name);
    }
}

/* Returns the settings for one path. The caller frees them. */
static txm_status find(const char *path, txm_project *out, txm_error *err)
{
    char text[256];
    char *paths[] = {text};
    snprintf(text, sizeof text, "%s", path);
    txm_error_clear(err);
    return txm_project_find(paths, 1, out, err);
}

static const char *value_of(const txm_project *p, txm_project_key key)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->values[i].key == key)
            return p->values[i].value;
    return NULL;
}

TEST(the_nearest_file_above_holds)
{
    txm_project p;
    txm_error err = {0};
    batch_enter();
    forget_variables();
    batch_folder("film");
    batch_folder("film/shot");
    batch_file("film/.txmill", "# a comment\n\n  cache-dir = /fast/tx \nthreads=8\nrule = *_n.*=Non-Color\n");
    batch_png("film/shot/wood.png", 1);
    ck_assert_msg(find("film/shot/wood.png", &p, &err) == TXM_OK, "%s", err.message);
    ck_assert_ptr_nonnull(p.path);
    ck_assert_str_eq(value_of(&p, TXM_KEY_CACHE_DIR), "/fast/tx");
    ck_assert_str_eq(value_of(&p, TXM_KEY_THREADS), "8");
    ck_assert_str_eq(value_of(&p, TXM_KEY_RULE), "*_n.*=Non-Color");
    ck_assert_ptr_nonnull(strstr(p.values[0].origin, ".txmill:3"));
    txm_project_free(&p);
    batch_file("film/shot/.txmill", "threads = 2\n");
    ck_assert_int_eq(find("film/shot/wood.png", &p, &err), TXM_OK);
    ck_assert_str_eq(value_of(&p, TXM_KEY_THREADS), "2");
    ck_assert_str_eq(value_of(&p, TXM_KEY_CACHE_DIR), "/fast/tx");
    ck_assert_uint_eq(p.above_count, 1);
    ck_assert_ptr_nonnull(strstr(p.above[0], "film/.txmill"));
    txm_project_free(&p);
    batch_file("film/shot/.txmill", "\xEF\xBB\xBFroot = true\nthreads = 2 # of them\n");
    ck_assert_int_eq(find("film/shot/wood.png", &p, &err), TXM_OK);
    ck_assert_str_eq(value_of(&p, TXM_KEY_THREADS), "2");
    ck_assert_ptr_null(value_of(&p, TXM_KEY_CACHE_DIR));
    ck_assert_uint_eq(p.above_count, 0);
    txm_project_free(&p);
    batch_leave();
}

TEST(variables_come_first)
{
    txm_project p;
    txm_error err = {0};
    batch_enter();
    forget_variables();
    batch_file(".txmill", "threads = 2\n");
    setenv("TXMILL_THREADS", "5", 1);
    ck_assert_int_eq(find("wood.png", &p, &err), TXM_OK);
    ck_assert_str_eq(value_of(&p, TXM_KEY_THREADS), "5");
    ck_assert_str_eq(p.values[0].origin, "TXMILL_THREADS");
    txm_project_free(&p);
    setenv("TXMILL_THREADS", "many", 1);
    ck_assert_int_eq(find("wood.png", &p, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "TXMILL_THREADS"));
    forget_variables();
    batch_leave();
}

/* An invalid line fails the run with an error that names its number. */
TEST(mistakes_are_named_with_their_line)
{
    static const struct {
        const char *line, *says;
    } cases[] = {{"thread = 8", "threads"},
                 {"threads 8", "SETTING = VALUE"},
                 {"threads = 0", "1 to 1024"},
                 {"threads =", "has no value"},
                 {"preset = film", "preset"}};
    txm_error err = {0};
    batch_enter();
    forget_variables();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        txm_project p;
        snprintf(text, sizeof text, "# first\n%s\n", cases[i].line);
        batch_file(".txmill", text);
        ck_assert_msg(find("wood.png", &p, &err) == TXM_STATUS_USAGE, "%s", cases[i].line);
        ck_assert_msg(strstr(err.message, ".txmill:2") && strstr(err.message, cases[i].says), "%s", err.message);
    }
    batch_leave();
}

TEST(several_projects_are_none)
{
    static char a[] = "a/wood.png", b[] = "b/wood.png";
    char *paths[] = {a, b};
    txm_project p;
    txm_error err = {0};
    batch_enter();
    forget_variables();
    batch_folder("a");
    batch_folder("b");
    batch_file("a/.txmill", "threads = 2\n");
    batch_file("b/.txmill", "threads = 3\n");
    ck_assert_int_eq(txm_project_find(paths, 2, &p, &err), TXM_OK);
    ck_assert_ptr_null(p.path);
    ck_assert_uint_eq(p.count, 0);
    txm_project_free(&p);
    batch_leave();
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

TEST(the_first_rule_that_fits_wins)
{
    const char *given[] = {"*_n.png=Non-Color", NULL}, *files[] = {"rules.txt", NULL};
    const txm_rule_args args = {.rules = {given, 1}, .rule_files = {files, 1}, .preset = "pbr"};
    txm_rules *rules = NULL;
    txm_error err = {0};
    batch_enter();
    batch_file("rules.txt", "# ours\n*_n.png=sRGB\n*_mask.png=Non-Color\n");
    ck_assert_msg(txm_rule_args_read(&args, &rules, &err) == TXM_OK, "%s", err.message);
    ck_assert_str_eq(txm_rules_match(rules, "wood_n.png")->colorspace, "Non-Color");
    ck_assert_str_eq(txm_rules_match(rules, "wood_n.png")->origin, "--rule");
    ck_assert_str_eq(txm_rules_match(rules, "wood_mask.png")->colorspace, "Non-Color");
    ck_assert_ptr_nonnull(txm_rules_match(rules, "wood_roughness.png")); /* of the preset */
    ck_assert_ptr_null(txm_rules_match(rules, "wood.png"));
    txm_rules_free(&rules);
    const txm_rule_args unknown = {.preset = "film"};
    ck_assert_int_eq(txm_rule_args_read(&unknown, &rules, &err), TXM_STATUS_USAGE);
    txm_rules_free(&rules);
    batch_leave();
}
