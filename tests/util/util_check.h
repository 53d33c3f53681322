/* SPDX-License-Identifier: Apache-2.0
 * The main function of a test program: a suite of cases with their tests, run once. */
#ifndef TESTS_UTIL_CHECK_H
#define TESTS_UTIL_CHECK_H
#include <check.h>

/* Adds a case with that name to `suite`. */
TCase *add_case(Suite *suite, const char *name);
/* Adds the tests, one or more, to `tcase`, in this order. */
#define add_tests(tcase, ...) add_test_list(tcase, (const TTest *const[]){__VA_ARGS__, NULL})
void add_test_list(TCase *tcase, const TTest *const *tests);
/* Runs and frees `suite`; returns the exit code of the program. */
int run_suite(Suite *suite);
/* The same without a process for each test. */
int run_suite_in_one_process(Suite *suite);

/* Of many cases of one kind, tests try this fraction under a sanitizer, which finds most errors of memory in the first;
 * the plain pass tries all. */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED_PART = 4 };
#else
enum { SANITIZED_PART = 1 };
#endif

/* From now on the processor plays two CUDA devices, through a plug-in for tests; no other plug-in is found any more. */
void use_test_devices(void);
#endif
