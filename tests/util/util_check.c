/* SPDX-License-Identifier: Apache-2.0 */
#include "util_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TCase *add_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    suite_add_tcase(suite, tcase);
    return tcase;
}

void add_test_list(TCase *tcase, const TTest *const *tests)
{
    for (; *tests; tests++)
        tcase_add_test(tcase, *tests);
}

static int run(SRunner *runner)
{
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int run_suite(Suite *suite)
{
    return run(srunner_create(suite));
}

int run_suite_in_one_process(Suite *suite)
{
    const char *seconds = getenv("CK_DEFAULT_TIMEOUT");
    alarm(seconds ? (unsigned)atoi(seconds) : 300);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    return run(runner);
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

void use_test_devices(void)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/gpu", getenv("TXM_BUILD") ? getenv("TXM_BUILD") : "build");
    setenv("TXMILL_PLUGINS", folder, 1);
    setenv("TXM_FAKE_DEVICES", "2", 1);
}
