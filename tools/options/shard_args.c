/* SPDX-License-Identifier: Apache-2.0
 *
 * Determines the shard of this run.
 *
 * In: "3/8", or the variables of a Slurm array. Out: the number of the shard and of all shards. The option takes
 * precedence over the environment, so --shard 1/1 disables the latter.
 */
#include "tools/options/shard_args.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static bool parse_number(const char *text, const char *end, uint32_t *out)
{
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 9 || text + digits != end)
        return false;
    *out = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

static txm_status parse_shard(const char *text, void *field, txm_error *err)
{
    const char *slash = strchr(text, '/');
    txm_shard_args shard;
    if (!slash || !parse_number(text, slash, &shard.index) ||
        !parse_number(slash + 1, slash + strlen(slash), &shard.count) || shard.count > TXM_MAX_SHARDS ||
        shard.index < 1 || shard.index > shard.count)
        return txm_fail(err, TXM_STATUS_USAGE, "must be I/N, from 1/N to N/N, N at most %d", TXM_MAX_SHARDS);
    *(txm_shard_args *)field = shard;
    return TXM_OK;
}

const txm_option txm_shard_options[] = {
    TXM_OPTION(
        CUSTOM, "shard", .rare = true, .offset = 0, .arg = "I/N", .parse = parse_shard,
        .help = "Convert the I-th of N parts of the inputs, 1/N to N/N (default: from a Slurm array)",
        .more = "In a task of a Slurm array, I and N are computed from SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_MIN, "
                "SLURM_ARRAY_TASK_STEP and SLURM_ARRAY_TASK_COUNT; with 1/1 the task converts all inputs. See SHARDS."),
    {0},
};

static txm_status from_environment(const char *name, uint32_t otherwise, uint32_t *out, txm_error *err)
{
    const char *text = getenv(name);
    *out = otherwise;
    if (!text || !*text || parse_number(text, text + strlen(text), out))
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE,
                    "%s is \"%s\", which is not a number; give the part of this task with --shard I/N", name, text);
}

/* The ids of a Slurm array may begin and step in any way (--array=5-20:5); the shard is the task's place in the
 * array. */
txm_status txm_shard_args_finish(txm_shard_args *args, txm_error *err)
{
    enum { NONE = UINT32_MAX };
    uint32_t id, count, first, step;
    if (args->count)
        return TXM_OK;
    if (from_environment("SLURM_ARRAY_TASK_ID", NONE, &id, err) != TXM_OK ||
        from_environment("SLURM_ARRAY_TASK_COUNT", NONE, &count, err) != TXM_OK ||
        from_environment("SLURM_ARRAY_TASK_MIN", 0, &first, err) != TXM_OK ||
        from_environment("SLURM_ARRAY_TASK_STEP", 1, &step, err) != TXM_OK)
        return err->status;
    if (id == NONE || count == NONE)
        return TXM_OK;
    /* The place of task 7 in an array such as 1,5,7 is unknown. */
    if (!step || id < first || (id - first) % step || (id - first) / step >= count || count > TXM_MAX_SHARDS)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "task %u of a Slurm array of %u that begins with %u: the steps are uneven; give the part of "
                        "this task with --shard I/N",
                        id, count, first);
    *args = (txm_shard_args){(id - first) / step + 1, count};
    return TXM_OK;
}
