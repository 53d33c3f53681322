/* SPDX-License-Identifier: Apache-2.0 */
#include "util_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util_tx.h"

enum { TESTS_MAX = 256 };
static struct registered {
    const TTest *test;
    int (*count)(void);
    int signal;
} tests[TESTS_MAX];
static size_t test_count;
static void (*before_each)(void), (*after_each)(void), (*before_all)(void), (*after_all)(void);

void register_test(const TTest *test, int (*count)(void), int signal)
{
    if (test_count == TESTS_MAX)
        abort();
    tests[test_count++] = (struct registered){test, count, signal};
}

void register_fixture(void (*before)(void), void (*after)(void), bool once)
{
    *(once ? &before_all : &before_each) = before;
    *(once ? &after_all : &after_each) = after;
}

static int by_line(const void *a, const void *b)
{
    const struct registered *x = a, *y = b;
    return x->test->line - y->test->line;
}

static int run(enum fork_status how)
{
    Suite *suite = suite_create(tests[0].test->file);
    TCase *all = tcase_create("all");
    suite_add_tcase(suite, all);
    tcase_add_checked_fixture(all, before_each, after_each);
    tcase_add_unchecked_fixture(all, before_all, after_all);
    qsort(tests, test_count, sizeof *tests, by_line); /* a compiler may put constructors in another order */
    for (size_t i = 0; i < test_count; i++)
        _tcase_add_test(all, tests[i].test, tests[i].signal, 0, 0, tests[i].count());
    temp_file(""); /* the folder belongs to this process and not to a test's */
    SRunner *runner = srunner_create(suite);
    if (how == CK_NOFORK)
        srunner_set_fork_status(runner, how);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int run_tests(void)
{
    return run(CK_FORK);
}

int run_tests_in_one_process(void)
{
    const char *seconds = getenv("CK_DEFAULT_TIMEOUT");
    alarm(seconds ? (unsigned)atoi(seconds) : 300);
    return run(CK_NOFORK);
}

int main(void)
{
    return run_tests();
}

bool thorough(void)
{
    return getenv("TXM_THOROUGH") != NULL;
}

size_t case_part(void)
{
#ifdef __SANITIZE_ADDRESS__
    const size_t part = 16;
#else
    const size_t part = 4;
#endif
    return thorough() ? 1 : part;
}

size_t some_of(size_t cases)
{
    return (cases + case_part() - 1) / case_part();
}

const char *testdata(const char *format, ...)
{
    static char path[4][4096];
    static unsigned turn;
    const char *folder = getenv("TXM_TESTDATA");
    char *p = path[turn++ % 4];
    int at = snprintf(p, sizeof path[0], "%s/", folder ? folder : "testdata");
    va_list parts;
    va_start(parts, format);
    vsnprintf(p + at, sizeof path[0] - (size_t)at, format, parts);
    va_end(parts);
    return p;
}

void use_test_devices(void)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/gpu", getenv("TXM_BUILD") ? getenv("TXM_BUILD") : "build");
    setenv("TXMILL_PLUGINS", folder, 1);
    setenv("TXM_FAKE_DEVICES", "2", 1);
}
