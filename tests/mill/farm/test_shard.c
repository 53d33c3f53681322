/* SPDX-License-Identifier: Apache-2.0
 * Shards: every file is in exactly one, loads are even, hosts agree, few files move; the number that Slurm gives. */
#include "base/mem.h"
#include "mill/farm/batch.h"
#include "tools/options/shard_args.h"
#include "util_check.h"

/* Makes a batch of files that were examined, with everything that determines how it is divided. */
typedef struct sample {
    txm_inputs *inputs;
    txm_batch batch;
} sample;

typedef float (*weight_of)(size_t i);

static float even(size_t i)
{
    (void)i;
    return 1;
}

/* Sizes are like those of textures: many small and few large ones, over three orders of magnitude. */
static float uneven(size_t i)
{
    return 0.0015F + (float)(i % 7 == 0) * 0.2F + (float)(i % 61 == 0) * 2;
}

/* Makes files `first` to `first + count - 1`, in reverse order if `reversed`. */
static void fill(sample *s, size_t first, size_t count, bool reversed, weight_of weight, unsigned shards)
{
    *s = (sample){0};
    ck_assert_int_eq(txm_inputs_new(NULL, &s->inputs, NULL), TXM_OK);
    s->batch = (txm_batch){.inputs = s->inputs, .count = count, .options = {.shards = shards}};
    s->batch.items = txm_calloc(count, sizeof *s->batch.items);
    for (size_t i = 0; i < count; i++) {
        size_t number = first + (reversed ? count - 1 - i : i);
        char path[64];
        snprintf(path, sizeof path, "textures/%zu/t%05zu.png", number % 9, number);
        const txm_input input = {.path = path};
        ck_assert_int_eq(txm_inputs_add_entry(s->inputs, &input, NULL), TXM_OK);
        s->batch.items[i] =
            (txm_item){.examined = true, .weight = weight(number), .requested = "sRGB", .same_as = TXM_NO_INDEX};
    }
}

static void assign(sample *s)
{
    txm_error err = {0};
    ck_assert_msg(txm_shards_assign(&s->batch, &err) == TXM_OK, "%s", err.message);
}

static void drop(sample *s)
{
    txm_inputs_free(&s->inputs);
    free(s->batch.items);
}

static double heaviest_over_even(const sample *s)
{
    double loads[64] = {0}, total = 0, most = 0;
    for (size_t i = 0; i < s->batch.count; i++) {
        unsigned shard = s->batch.items[i].shard;
        ck_assert_uint_ge(shard, 1);
        ck_assert_uint_le(shard, s->batch.options.shards);
        loads[shard] += (double)s->batch.items[i].weight;
        total += (double)s->batch.items[i].weight;
    }
    for (unsigned i = 1; i <= s->batch.options.shards; i++)
        most = loads[i] > most ? loads[i] : most;
    return most * s->batch.options.shards / total;
}

TEST(test_balance)
{
    static const struct {
        size_t count;
        weight_of weight;
        unsigned shards;
        double most;
    } cases[] = {{2000, even, 8, 1.021}, {2000, uneven, 8, 1.021},     {2000, uneven, 40, 1.3}, {12, even, 4, 1.001},
                 {5, even, 5, 1.001},    {7, even, 4, 8.0 / 7 + 1e-6}, {500, even, 1, 1.001}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s;
        fill(&s, 0, cases[i].count, false, cases[i].weight, cases[i].shards);
        assign(&s);
        double most = heaviest_over_even(&s);
        ck_assert_msg(most <= cases[i].most, "case %zu: %.4f", i, most);
        drop(&s);
    }
}

TEST(test_order_does_not_count)
{
    enum { COUNT = 1000 };
    sample a, b;
    fill(&a, 0, COUNT, false, uneven, 6);
    fill(&b, 0, COUNT, true, uneven, 6);
    assign(&a);
    assign(&b);
    ck_assert_str_eq(a.batch.list_key, b.batch.list_key);
    ck_assert_uint_eq(strlen(a.batch.list_key), 40);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(a.batch.items[i].shard, b.batch.items[COUNT - 1 - i].shard);
    drop(&a);
    drop(&b);
}

/* A list with one more file has another key, and nearly all files stay in their shards. */
TEST(test_few_moves)
{
    enum { COUNT = 2000 };
    sample a, b;
    size_t moved = 0;
    fill(&a, 0, COUNT, false, uneven, 8);
    fill(&b, 0, COUNT + 1, false, uneven, 8);
    assign(&a);
    assign(&b);
    ck_assert_str_ne(a.batch.list_key, b.batch.list_key);
    for (size_t i = 0; i < COUNT; i++)
        moved += a.batch.items[i].shard != b.batch.items[i].shard;
    ck_assert_uint_lt(moved, COUNT / 20);
    drop(&a);
    drop(&b);
}

/* The list key covers paths, weights and colour spaces, but not how paths are spelled. */
TEST(test_list_key)
{
    char keys[5][TXM_SHA1_HEX];
    for (int i = 0; i < 5; i++) {
        sample s;
        fill(&s, i == 1, 20, false, even, 3);
        if (i == 2)
            s.batch.items[3].weight = 2;
        if (i == 3)
            s.batch.items[3].requested = "Non-Color";
        if (i == 4) {
            txm_inputs_free(&s.inputs);
            ck_assert_int_eq(txm_inputs_new(NULL, &s.inputs, NULL), TXM_OK);
            s.batch.inputs = s.inputs;
            for (size_t n = 0; n < 20; n++) {
                char path[64];
                snprintf(path, sizeof path, "./textures//%zu/../%zu/t%05zu.png", n % 9, n % 9, n);
                const txm_input input = {.path = path};
                ck_assert_int_eq(txm_inputs_add_entry(s.inputs, &input, NULL), TXM_OK);
            }
        }
        assign(&s);
        strcpy(keys[i], s.batch.list_key);
        drop(&s);
    }
    for (int i = 1; i < 4; i++)
        ck_assert_str_ne(keys[i], keys[0]);
    ck_assert_str_eq(keys[4], keys[0]);
}

TEST(test_same_work_stays_together)
{
    sample s;
    fill(&s, 0, 300, false, even, 7);
    for (size_t i = 150; i < 300; i++)
        s.batch.items[i].same_as = (ptrdiff_t)(i - 150);
    assign(&s);
    for (size_t i = 150; i < 300; i++)
        ck_assert_uint_eq(s.batch.items[i].shard, s.batch.items[i - 150].shard);
    s.batch.options.shard = 3;
    for (size_t i = 0; i < 300; i++)
        ck_assert_int_eq(txm_batch_is_mine(&s.batch, i), s.batch.items[i].shard == 3);
    drop(&s);
    fill(&s, 0, 0, false, even, 7);
    assign(&s);
    ck_assert_uint_eq(strlen(s.batch.list_key), 40);
    drop(&s);
}

/* ---- where the number of the shard comes from ------------------------------------------------------------------- */

static void environment(const char *id, const char *count, const char *min, const char *step)
{
    const char *names[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
                           "SLURM_ARRAY_TASK_STEP"},
               *values[] = {id, count, min, step};
    for (int i = 0; i < 4; i++) {
        if (values[i])
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
    }
}

TEST(test_slurm)
{
    static const struct {
        const char *id, *count, *min, *step;
        unsigned index, shards; /* 0, 0: not divided */
        txm_status status;
    } cases[] = {{NULL, NULL, NULL, NULL, 0, 0, TXM_OK},
                 {"1", "4", "1", NULL, 1, 4, TXM_OK},
                 {"4", "4", "1", "1", 4, 4, TXM_OK},
                 {"0", "4", NULL, NULL, 1, 4, TXM_OK},
                 {"3", "4", "", "", 4, 4, TXM_OK},
                 {"17", "3", "7", "5", 3, 3, TXM_OK},
                 {"7", "3", "1", "1", 0, 0, TXM_STATUS_USAGE},
                 {"8", "3", "7", "5", 0, 0, TXM_STATUS_USAGE},
                 {"1", "3", "2", "1", 0, 0, TXM_STATUS_USAGE},
                 {"1", "3", "1", "0", 0, 0, TXM_STATUS_USAGE},
                 {"x", "3", "1", "1", 0, 0, TXM_STATUS_USAGE},
                 {"-1", "3", "1", "1", 0, 0, TXM_STATUS_USAGE},
                 {"1", "99999999999", "1", "1", 0, 0, TXM_STATUS_USAGE},
                 {"1", NULL, "1", "1", 0, 0, TXM_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_shard_args args = {0};
        txm_error err = {0};
        environment(cases[i].id, cases[i].count, cases[i].min, cases[i].step);
        ck_assert_msg(txm_shard_args_finish(&args, &err) == cases[i].status, "case %zu: %s", i, err.message);
        ck_assert_msg(args.index == cases[i].index && args.count == cases[i].shards, "case %zu: %u/%u", i, args.index,
                      args.count);
    }
    /* The command line takes precedence. */
    txm_shard_args args = {2, 9};
    environment("1", "4", "1", "1");
    ck_assert_int_eq(txm_shard_args_finish(&args, NULL), TXM_OK);
    ck_assert_uint_eq(args.count, 9);
    environment(NULL, NULL, NULL, NULL);
}

TEST(test_option)
{
    static const char *const bad[] = {"",    "1",    "/",   "1/",   "/2",   "0/2",      "3/2",
                                      "1/0", "1/2x", "x/2", "-1/2", "1/ 2", "1/100001", "1/2/3"};
    txm_shard_args args = {0};
    ck_assert_int_eq(txm_shard_options[0].parse("3/8", &args, NULL), TXM_OK);
    ck_assert_uint_eq(args.index, 3);
    ck_assert_uint_eq(args.count, 8);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(txm_shard_options[0].parse(bad[i], &args, NULL) == TXM_STATUS_USAGE, "%s", bad[i]);
    ck_assert_uint_eq(args.count, 8);
}
