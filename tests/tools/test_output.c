/* SPDX-License-Identifier: Apache-2.0
 * The form of the program's output: HTML, widths and wrapped lines, sums, and the guard of output files. */
#include <limits.h>
#include <signal.h>

#include "base/fail.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/summary.h"
#include "tools/output/text.h"
#include "txmill/guard.h"
#include "util_batch.h"
#include "util_check.h"

/* ---- widths ------------------------------------------------------------------------------------------------------ */

TEST(columns_are_not_bytes)
{
    ck_assert_uint_eq(txm_text_columns(""), 0);
    ck_assert_uint_eq(txm_text_columns("wood"), 4);
    ck_assert_uint_eq(txm_text_columns("caf\xC3\xA9"), 4);
    ck_assert_uint_eq(txm_text_columns("cafe\xCC\x81"), 4);
    ck_assert_uint_eq(txm_text_columns("\xE6\x9C\xA8"), 2);
    ck_assert_uint_eq(txm_text_columns("a\nb"), 6);
    ck_assert_uint_eq(txm_text_columns("\xFF"), 1);
    ck_assert_uint_eq(txm_text_columns("\x85"), 4);
}

TEST(paths_lose_their_beginning_and_texts_their_end)
{
    batch_enter();
    batch_catch();
    txm_print_fitted("/a/long/way/to/wood.png", 10);
    putchar('|');
    txm_print_fitted("wood.png", 10);
    putchar('|');
    txm_print_cut("a sentence", 6);
    putchar('|');
    txm_print_cut("short", 6);
    ck_assert_str_eq(batch_caught(), "..wood.png|wood.png|a se..|short");
    batch_leave();
}

TEST(control_characters_are_shown)
{
    batch_enter();
    batch_catch();
    txm_print_safe("a\nb\x1B[1m\xC2\x85\xC3\xA9");
    ck_assert_str_eq(batch_caught(), "a\\x0Ab\\x1B[1m\\xC2\\x85\xC3\xA9");
    batch_leave();
}

TEST(arguments_survive_a_shell)
{
    batch_enter();
    batch_catch();
    txm_print_argument("a/b-1.png");
    putchar(' ');
    txm_print_argument("two words");
    putchar(' ');
    txm_print_argument("it's");
    putchar(' ');
    txm_print_argument("");
    putchar(' ');
    txm_print_argument("$5's!");
    putchar(' ');
    txm_print_argument("a\nb\xFF'");
    putchar(' ');
    txm_print_argument("-c");
    putchar(' ');
    txm_print_operand("-c.png");
    putchar(' ');
    txm_print_operand("- a.png");
    ck_assert_str_eq(batch_caught(), "a/b-1.png \"two words\" \"it's\" \"\" '$5'\\''s!' $'a\\012b\\377\\'' -c ./-c.png "
                                     "\"./- a.png\"");
    batch_leave();
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void check_wrapped(const char *text, unsigned columns, const char *expected)
{
    FREED char *got = txm_line_wrap(text, columns);
    ck_assert_str_eq(got, expected);
}

TEST(lines_are_wrapped_at_spaces)
{
    check_wrapped("short", 40, "short\n");
    check_wrapped("", 40, "\n");
    check_wrapped("  label   one two three four five", 22, "  label   one two\n          three four\n          five\n");
    /* Escape sequences take no columns. */
    check_wrapped("\033[1mone\033[0m two", 8, "\033[1mone\033[0m two\n");
}

TEST(pipes_get_whole_lines)
{
    batch_enter();
    batch_catch();
    ck_assert_uint_eq(txm_line_columns(), UINT_MAX);
    txm_print_line("wood.png", TXM_GOOD, "created", "4 levels");
    txm_print_line("wood.png", TXM_GOOD, "created", NULL);
    ck_assert_str_eq(batch_caught(), "wood.png: created: 4 levels\nwood.png: created\n");
    batch_leave();
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

TEST(sums_keep_the_order_of_their_words)
{
    batch_enter();
    txm_summary s = {.words = {"fresh", "outdated"}};
    batch_catch();
    txm_summary_print(&s, "file"); /* nothing was counted */
    txm_summary_add(&s, "outdated");
    txm_summary_add(&s, "missing");
    txm_summary_add(&s, "fresh");
    txm_summary_add(&s, "outdated");
    txm_summary_print(&s, "file");
    txm_summary one = {0};
    txm_summary_add(&one, "missing");
    txm_summary_print(&one, "file");
    ck_assert_str_eq(batch_caught(), "4 files: 1 fresh, 2 outdated, 1 missing\n1 file: 1 missing\n");
    batch_leave();
}

/* ---- the guard --------------------------------------------------------------------------------------------------- */

static txm_status guard(const char *path, txm_output_kind kind, bool force, txm_error *err)
{
    static char wood[] = "wood.png";
    char *inputs[] = {wood};
    txm_error_clear(err);
    return txm_guard_operands(&(txm_output){"--html", path, kind, force}, inputs, 1, err);
}

TEST(no_output_replaces_an_input)
{
    txm_error err = {0};
    batch_enter();
    batch_png("wood.png", 1);
    batch_png("other.png", 2);
    batch_folder("folder");
    ck_assert_int_eq(symlink("wood.png", "link"), 0);
    ck_assert_int_eq(guard("new.html", TXM_OUTPUT_PAGE, false, &err), TXM_OK);
    ck_assert_int_eq(guard(NULL, TXM_OUTPUT_PAGE, false, &err), TXM_OK);
    ck_assert_int_eq(guard("-", TXM_OUTPUT_PAGE, false, &err), TXM_OK);
    ck_assert_int_eq(guard("/dev/null", TXM_OUTPUT_PAGE, false, &err), TXM_OK);
    ck_assert_int_eq(guard("folder", TXM_OUTPUT_PAGE, true, &err), TXM_STATUS_USAGE);
    /* This is the input itself, under any name; --overwrite does not help. */
    ck_assert_int_eq(guard("wood.png", TXM_OUTPUT_PAGE, true, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(guard("link", TXM_OUTPUT_PAGE, true, &err), TXM_STATUS_USAGE);
    /* It does not help either with a picture that txmill did not write, which may be a texture. */
    ck_assert_int_eq(guard("other.png", TXM_OUTPUT_PAGE, false, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "a PNG image"));
    ck_assert_int_eq(guard("other.png", TXM_OUTPUT_PAGE, true, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(guard("other.png", TXM_OUTPUT_LOG, true, &err), TXM_STATUS_USAGE);
    batch_leave();
}

TEST(kinds_go_by_the_first_bytes)
{
    const char *noun;
    batch_enter();
    batch_png("wood.jpg", 1);
    batch_file("scene.png", "BLENDER-v500");
    batch_folder("folder");
    ck_assert_int_eq(txm_kind_of_file("wood.jpg", &noun), TXM_FILE_IMAGE);
    ck_assert_str_eq(noun, "a PNG image");
    ck_assert_int_eq(txm_kind_of_file("scene.png", &noun), TXM_FILE_SCENE);
    ck_assert_str_eq(noun, "a Blender scene");
    ck_assert_int_eq(txm_kind_of_file("folder", &noun), TXM_FILE_FOLDER);
    ck_assert_str_eq(noun, "a folder");
    batch_leave();
}

/* Takes the JSON of an error in a report, with one more member in it. */
static void take_error(const char *member)
{
    setenv("TXMILL_CHECK_JSON", "yes", 1);
    cJSON *o = txm_json_new("txmill.view");
    txm_json_error(o, &(txm_error){.status = TXM_STATUS_IO, .message = "a: no"});
    txm_json_text(cJSON_GetObjectItem(o, "error"), member, "caf\xE9");
    free(txm_json_take(o));
}

TEST(members_of_the_table_are_written)
{
    take_error("subject");
}

TEST_RAISING(members_without_a_row_are_refused, 1, SIGABRT)
{
    take_error("subjects");
}
