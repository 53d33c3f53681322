/* SPDX-License-Identifier: Apache-2.0
 *
 * Which image goes to which device: words of --device, the estimate of `auto` with its reasons, places and memory of
 * devices. Over the runtime on the CPU (tests/device/gpu_runtime.c), which no estimate ever prefers to the CPU.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mill/convert/gpu_rates.h"
#include "mill/convert/gpus.h"
#include "util_check.h"

static char why[TXM_MESSAGE_BYTES];

static txm_gpus *gpus_new(const char *word, uint64_t memory_bytes, txm_status expected)
{
    const txm_gpus_options options = {word, memory_bytes, 2, txm_ops_best()};
    txm_gpus *g = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_gpus_new(&options, &g, why, &err) == expected, "%s: %s", word, err.message);
    if (err.status)
        memcpy(why, err.message, sizeof why);
    return g;
}

static bool leased(txm_gpu_choice choice)
{
    return choice == TXM_GPU_LEASED;
}

static txm_gpu_plan plan_of(uint32_t width, uint32_t height)
{
    return (txm_gpu_plan){.width = width,
                          .height = height,
                          .tile_px = 64,
                          .conform = {3, 4, false, false, false},
                          .channels = 4,
                          .srgb = true,
                          .filter = true,
                          .borders = true,
                          .rows = true};
}

START_TEST(words)
{
    setenv("TXM_FAKE_DEVICES", "2", 1);
    ck_assert_ptr_null(gpus_new("cpu", 0, TXM_OK));
    ck_assert_str_eq(why, "");
    ck_assert_ptr_null(gpus_new("cuda:2", 0, TXM_STATUS_DEVICE));
    ck_assert_ptr_nonnull(strstr(why, "there are 2 CUDA devices"));
    txm_gpus *g = gpus_new("cuda:1", 0, TXM_OK);
    txm_gpu_lease lease;
    const txm_gpu_plan plan = plan_of(300, 300);
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &lease, why)));
    ck_assert_str_eq(lease.label, "cuda:1");
    txm_gpus_return(&lease, false);
    txm_gpus_return(&lease, false); /* harmless */
    txm_gpus_free(&g);
    setenv("TXM_FAKE_DEVICES", "0", 1);
    ck_assert_ptr_null(gpus_new("cuda", 0, TXM_STATUS_DEVICE));
    ck_assert_ptr_nonnull(strstr(why, "there is no CUDA device"));
    setenv("TXM_FAKE_DEVICES", "2", 1);
}
END_TEST

/* Files are spread; a device takes two, then there is no place; one that failed gets nothing. */
START_TEST(places)
{
    setenv("TXM_FAKE_DEVICES", "2", 1);
    txm_gpus *g = gpus_new("cuda", 0, TXM_OK);
    const txm_gpu_plan plan = plan_of(1000, 1000);
    txm_gpu_lease l[5];
    for (int i = 0; i < 4; i++)
        ck_assert(leased(txm_gpus_lease(g, &plan, 0, &l[i], why)) && l[i].device == (uint32_t)i % 2);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[4], why), TXM_GPU_NONE);
    ck_assert_str_eq(why, "the devices are busy");
    txm_gpus_return(&l[0], true);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[4], why), TXM_GPU_NONE);
    txm_gpus_return(&l[1], false);
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &l[4], why)) && l[4].device == 1);
    for (int i = 2; i < 5; i++)
        txm_gpus_return(&l[i], false);
    txm_gpus_free(&g);
}
END_TEST

/* Whatever the bound, what is planned stays within it, and what two files take together as well. */
START_TEST(memory)
{
    uint64_t device, pinned;
    txm_gpu_lease a, b;
    for (uint64_t bound = 1 << 16; bound < 1ull << 29; bound += bound / 3) {
        txm_gpus *g = gpus_new("cuda:0", bound, TXM_OK);
        txm_gpu_plan plan = plan_of(3000, 2000);
        bool first = leased(txm_gpus_lease(g, &plan, 0, &a, why));
        if (!first)
            ck_assert_ptr_nonnull(strstr(why, "it would take"));
        bool second = leased(txm_gpus_lease(g, &plan, 0, &b, why));
        plan.chunk_rows = 64;
        plan.slots = 2;
        txm_gpu_plugin_load(txm_gpu_backend_at(0), NULL)->memory(&plan, &device, &pinned);
        ck_assert_int_eq(first, device <= bound); /* refused only where the least does not fit */
        ck_assert(!second || a.device_bytes + b.device_bytes <= bound);
        ck_assert(!first || (a.device_bytes <= bound && a.plan.chunk_rows % 64 == 0 && a.plan.slots >= 2));
        if (first)
            txm_gpus_return(&a, false);
        if (second)
            txm_gpus_return(&b, false);
        ck_assert_int_eq(txm_gpus_lease(g, &plan, pinned - 1, &a, why), TXM_GPU_REFUSED);
        if (first)
            ck_assert(leased(txm_gpus_lease(g, &plan, pinned, &a, why)) && a.plan.chunk_rows == 64 &&
                      a.plan.slots == 2);
        if (first)
            txm_gpus_return(&a, false);
        txm_gpus_free(&g);
    }
}
END_TEST

/* Nothing is started for little; once it could pay, the device is measured, and here found slower than the CPU. */
START_TEST(auto_decides_by_measuring)
{
    txm_gpus *g = gpus_new("auto", 0, TXM_OK);
    txm_gpu_lease lease;
    txm_gpu_plan plan = plan_of(500, 500);
    ck_assert_ptr_nonnull(g);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    ck_assert_str_eq(why, "small images stay there");
    plan = plan_of(2100, 2100);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    ck_assert_msg(strstr(why, "starting one takes about"), "%s", why);
    plan = plan_of(65536, 65536);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    ck_assert_msg(strstr(why, "s there by estimate"), "%s", why);
    txm_gpus_free(&g);
    setenv("TXM_FAKE_DEVICES", "0", 1);
    g = gpus_new("auto", 0, TXM_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
        ck_assert_str_eq(why, "there is no CUDA device");
    }
    txm_gpus_free(&g);
    setenv("TXM_FAKE_DEVICES", "1", 1);
}
END_TEST

/* Forty milliseconds a row: no device is slower, not even this one under sanitizers on a busy machine. */
static void slow_box(uint32_t channels, const float *row0, const float *row1, float *dst, size_t count)
{
    clock_t begin = clock();
    txm_ops_best()->box(channels, row0, row1, dst, count);
    while (clock() - begin < CLOCKS_PER_SEC / 25)
        ;
}

START_TEST(auto_takes_what_pays)
{
    txm_ops slow = *txm_ops_best();
    slow.box = slow_box;
    const txm_gpus_options options = {NULL, 0, 1, &slow};
    txm_gpus *g = NULL;
    txm_gpu_lease lease;
    const txm_gpu_plan plan = plan_of(4096, 4096);
    ck_assert(!txm_gpus_new(&options, &g, why, NULL));
    ck_assert_msg(leased(txm_gpus_lease(g, &plan, 0, &lease, why)), "%s", why);
    ck_assert_msg(strstr(why, "s there by estimate"), "%s", why);
    ck_assert_str_eq(lease.label, "cuda:0");
    txm_gpus_return(&lease, false);
    txm_gpus_free(&g);
}
END_TEST

START_TEST(rates)
{
    for (txm_type type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++) {
        txm_gpu_plan plan = plan_of(64, 64);
        plan.type = type;
        double s = txm_cpu_seconds_per_pixel(txm_ops_best(), &plan);
        ck_assert_msg(s > 0 && s < 1e-5, "%g s a pixel", s);
    }
    txm_gpu_rates r = {0};
    txm_error err = {0};
    const txm_gpu_plugin *p = txm_gpu_plugin_load(txm_gpu_backend_at(0), &err);
    ck_assert_msg(p && !txm_gpu_rates_measure(p, 0, &r, &err), "%s", err.message);
    ck_assert(r.per_buffer_byte > 0 && r.per_stored_byte > 0);
    txm_gpu_plan small = plan_of(1000, 1000), large = plan_of(4000, 4000);
    small.chunk_rows = large.chunk_rows = 64;
    small.slots = large.slots = 2;
    ck_assert(txm_gpu_seconds(p, &r, &large) > txm_gpu_seconds(p, &r, &small));
}
END_TEST

int main(void)
{
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/tests/gpu", getenv("TXM_BUILD"));
    setenv("TXMILL_PLUGINS", folder, 1);
    Suite *suite = suite_create("gpus");
    TCase *t = add_case(suite, "gpus");
    add_tests(t, words, places, memory, auto_decides_by_measuring, auto_takes_what_pays, rates);
    return run_suite(suite);
}
