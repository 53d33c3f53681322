/* SPDX-License-Identifier: Apache-2.0
 * Test programs: functions that register themselves as tests. Tests need not include the headers of C that this
 * includes. */
#ifndef TESTS_UTIL_CHECK_H
#define TESTS_UTIL_CHECK_H
#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A test registers itself. main, which the library of the tests has, runs a program's tests in the order of its file.
 */
#define TEST(name) TEST_RAISING(name, 1, 0)
/* Runs `count` times, with `_i` from 0; not at all if `count` is 0. It is computed right before. */
#define TESTS(name, count) TEST_RAISING(name, count, 0)
/* The same for a test that has to end by that signal. */
#define TEST_RAISING(name, count, signal)                                                                              \
    static void name(int _i);                                                                                          \
    static int name##_count(void)                                                                                      \
    {                                                                                                                  \
        return (int)(count);                                                                                           \
    }                                                                                                                  \
    __attribute__((constructor)) static void name##_registers(void)                                                    \
    {                                                                                                                  \
        static const TTest test = {#name, name, __FILE__, __LINE__};                                                   \
        register_test(&test, name##_count, signal);                                                                    \
    }                                                                                                                  \
    static void name(int _i __attribute__((unused)))
void register_test(const TTest *test, int (*count)(void), int signal);
/* These are called before and after each test of the program, or before the first and after the last one. */
#define FIXTURE(before, after) REGISTERED_FIXTURE(before, after, false)
#define FIXTURE_ONCE(before, after) REGISTERED_FIXTURE(before, after, true)
#define REGISTERED_FIXTURE(before, after, once)                                                                        \
    __attribute__((constructor)) static void before##_registers(void)                                                  \
    {                                                                                                                  \
        register_fixture(before, after, once);                                                                         \
    }
void register_fixture(void (*before)(void), void (*after)(void), bool once);
/* For a program whose main prepares something: runs its tests and returns the exit code. */
int run_tests(void);
/* The same without a process for each test: tests share what is started once, such as OpenImageIO's worker processes,
 * which take longer to start than most tests. The time limit of a test is the program's. */
int run_tests_in_one_process(void);

/* Variables that are released at the end of their block: SCOPED(txm_tx_close) txm_tx *tx = open_tx(path); */
#define SCOPED(release) __attribute__((cleanup(release)))
#define FREED SCOPED(free_memory)
static inline void free_memory(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}
static inline void close_descriptor(int *fd)
{
    close(*fd);
}

/* `make check-all` sets TXM_THOROUGH: tests try every case. Otherwise they try some of many cases of one kind. */
bool thorough(void);
/* One of how many cases of one kind is tried: of 1 if thorough, of 4 otherwise, and of 16 under a sanitizer, which
 * finds most errors of memory in the first. */
size_t case_part(void);
/* How many of `cases` cases are tried: at least one. */
size_t some_of(size_t cases);

/* The path of a file of testdata: up to four calls at a time. */
const char *testdata(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on the processor plays two CUDA devices, through a plug-in for tests; no other plug-in is found any more. */
void use_test_devices(void);
#endif
