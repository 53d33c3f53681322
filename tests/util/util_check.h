/* SPDX-License-Identifier: Apache-2.0
 * The main function of a test program: a suite of cases with their tests, run once. */
#ifndef TESTS_UTIL_CHECK_H
#define TESTS_UTIL_CHECK_H
#include <check.h>
#include <stdbool.h>
#include <stddef.h>

/* Adds a case with that name to `suite`. */
TCase *add_case(Suite *suite, const char *name);
/* Adds the tests, one or more, to `tcase`, in this order. */
#define add_tests(tcase, ...) add_test_list(tcase, (const TTest *const[]){__VA_ARGS__, NULL})
void add_test_list(TCase *tcase, const TTest *const *tests);
/* Runs and frees `suite`; returns the exit code of the program. */
int run_suite(Suite *suite);
/* The same without a process for each test: tests share what is started once, such as OpenImageIO's worker processes,
 * which take longer to start than most tests. The time limit of a test is the program's. */
int run_suite_in_one_process(Suite *suite);

/* `make check-all` sets TXM_THOROUGH: tests try every case. Otherwise they try some of many cases of one kind. */
bool thorough(void);
/* One of how many cases of one kind is tried: of 1 if thorough, of 4 otherwise, and of 16 under a sanitizer, which
 * finds most errors of memory in the first. */
size_t case_part(void);
/* How many of `cases` cases are tried: at least one. */
size_t some_of(size_t cases);

/* From now on the processor plays two CUDA devices, through a plug-in for tests; no other plug-in is found any more. */
void use_test_devices(void);
#endif
