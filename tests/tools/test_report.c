/* SPDX-License-Identifier: Apache-2.0
 * Logs of runs are read: complete lines that txmill wrote, failures that later runs cured, and the verdict. */
#include "base/fail.h"
#include "tools/make/run_log.h"
#include "tools/report/report_data.h"
#include "util_batch.h"
#include "util_check.h"

#define FILE_OBJECT(input, state, more)                                                                                \
    "{\"schema\":\"txmill.make\",\"version\":1,\"type\":\"file\",\"input\":\"" input "\",\"tx\":\"" input              \
    ".tx\",\"state\":\"" state "\"" more "}\n"
#define SUMMARY_OBJECT(inputs, failed, code)                                                                           \
    "{\"schema\":\"txmill.make\",\"version\":1,\"type\":\"summary\",\"inputs\":" #inputs ",\"failed\":" #failed        \
    ",\"exit_code\":" #code "}\n"
#define FAILURE ",\"error\":{\"status\":\"corrupt\",\"retryable\":false,\"message\":\"broken\"}"

static txm_status count_object(void *user, const cJSON *object, txm_error *err)
{
    (void)err;
    *(size_t *)user += txm_run_log_text(object, "input") != NULL;
    return TXM_OK;
}

static void check_counts(const char *log, size_t objects, size_t foreign, bool cut)
{
    size_t files = 0;
    txm_run_log_counts counts;
    txm_error err = {0};
    batch_file("log", log);
    ck_assert_msg(txm_run_log_read("log", count_object, &files, &counts, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(counts.objects, objects);
    ck_assert_uint_eq(counts.foreign, foreign);
    ck_assert_int_eq(counts.cut, cut);
}

TEST(foreign_and_cut_lines_are_passed_over)
{
    batch_enter();
    check_counts("", 0, 0, false);
    check_counts(FILE_OBJECT("a", "created", "") SUMMARY_OBJECT(1, 0, 0), 2, 0, false);
    check_counts("srun: job 7 started\n" FILE_OBJECT("a", "created", ""), 1, 1, false);
    check_counts(FILE_OBJECT("a", "created", "") "{\"schema\":\"txmill.make\",\"ver", 1, 0, true);
    batch_leave();
}

TEST(members_of_another_kind_count_as_absent)
{
    cJSON *o =
        cJSON_Parse("{\"a\":\"x\",\"b\":2.5,\"c\":true,\"d\":-1,\"e\":7,\"p\":\"?\",\"p_encoded\":\"a%2Fb%ff\"}");
    ck_assert_str_eq(txm_run_log_text(o, "a"), "x");
    ck_assert_ptr_null(txm_run_log_text(o, "b"));
    ck_assert(txm_run_log_number(o, "b") > 2.4 && txm_run_log_number(o, "a") < 0.1);
    ck_assert(txm_run_log_flag(o, "c") && !txm_run_log_flag(o, "a"));
    ck_assert_uint_eq(txm_run_log_count(o, "e", 10), 7);
    ck_assert_uint_eq(txm_run_log_count(o, "e", 6), 0);
    ck_assert_uint_eq(txm_run_log_count(o, "d", 10), 0);
    char *path = txm_run_log_path(o, "p");
    ck_assert_str_eq(path, "a/b\xFF");
    free(path);
    cJSON_Delete(o);
}

static txm_report_sums sums_of(const char *log)
{
    SCOPED(txm_report_free) txm_report report = {0};
    txm_report_sums sums;
    txm_error err = {0};
    batch_file("log", log);
    ck_assert_msg(txm_report_add(&report, "log", &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(txm_report_sum(&report, &sums, &err) == TXM_OK, "%s", err.message);
    return sums;
}

static const char *verdict(const char *log)
{
    txm_report_sums s = sums_of(log);
    return txm_report_verdict_name(txm_report_verdict_of(&s));
}

TEST(verdicts)
{
    batch_enter();
    ck_assert_str_eq(verdict(FILE_OBJECT("a", "created", "") SUMMARY_OBJECT(1, 0, 0)), "done");
    ck_assert_str_eq(verdict(FILE_OBJECT("a", "failed", FAILURE) SUMMARY_OBJECT(1, 1, 3)), "failed");
    ck_assert_str_eq(verdict(FILE_OBJECT("a", "would-create", "") SUMMARY_OBJECT(1, 0, 0)), "open");
    ck_assert_str_eq(verdict(FILE_OBJECT("a", "created", "")), "open");
    ck_assert_str_eq(verdict(SUMMARY_OBJECT(0, 0, 0)), "nothing-done");
    batch_leave();
}

/* If a second run makes what the first one could not, no failure remains. */
TEST(later_runs_make_up_for_failures)
{
    batch_enter();
    txm_report_sums s = sums_of(FILE_OBJECT("a", "failed", FAILURE) FILE_OBJECT("b", "created", "") SUMMARY_OBJECT(
        2, 1, 3) FILE_OBJECT("a", "created", "") FILE_OBJECT("b", "up-to-date", "") SUMMARY_OBJECT(2, 0, 0));
    ck_assert_uint_eq(s.images, 2);
    ck_assert_uint_eq(s.states[TXM_MADE_FAILED], 0);
    ck_assert_uint_eq(s.states[TXM_MADE_CREATED], 2);
    ck_assert_uint_eq(s.made_twice, 0);
    ck_assert_int_eq(txm_report_verdict_of(&s), TXM_REPORT_DONE);
    batch_leave();
}
