/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that are missing or unusual count as "no limit", since this only guards against images that could never be
 * decoded here.
 */
#include "base/os/free_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/os/machine.h"

enum { PATH_BYTES = 4096, LINE_BYTES = 4096 };

/* The number after a word at the beginning of a line; after "" the first number of the file. */
static bool number_in(const char *path, const char *word, uint64_t *out)
{
    char line[LINE_BYTES];
    FILE *f = fopen(path, "re");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        found = strncmp(line, word, strlen(word)) == 0 && sscanf(line + strlen(word), "%" SCNu64, out) == 1;
    if (f)
        fclose(f);
    return found;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What one group may still take. Pages of files that nobody uses are given up first. */
static uint64_t left_in_group(const char *folder, const char *limit, const char *usage, const char *idle)
{
    char path[PATH_BYTES + 64];
    uint64_t most, taken, files = 0;
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    if (!number_in(path, "", &most)) /* "max" */
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, usage);
    if (!number_in(path, "", &taken))
        return most;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    if (!number_in(path, idle, &files))
        files = 0;
    taken -= least(files, taken);
    return most > taken ? most - taken : 0;
}

/* The group and all above it, up to the root of the file system of groups. In a container the path may be that of the
 * host and not exist; the root is that of the container then. */
static uint64_t left_in_groups(const char *root, const char *mount, const char *group, const char *limit,
                               const char *usage, const char *idle)
{
    char folder[PATH_BYTES];
    uint64_t left = UINT64_MAX;
    const int base = snprintf(folder, sizeof folder, "%s%s", root, mount);
    const int n = snprintf(folder, sizeof folder, "%s%s%s", root, mount, group);
    if (base < 0 || n < base || n >= PATH_BYTES)
        return UINT64_MAX;
    for (char *slash = folder + n; slash; slash = strrchr(folder + base, '/')) {
        *slash = 0;
        left = least(left, left_in_group(folder, limit, usage, idle));
    }
    return left;
}

static uint64_t left_in_all_groups(const char *root)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    uint64_t left = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        line[strcspn(line, "\n")] = 0;
        if (!group)
            continue;
        *group++ = 0;
        if (!controllers[1])
            left = least(
                left, left_in_groups(root, "/sys/fs/cgroup", group, "memory.max", "memory.current", "inactive_file "));
        else if (strstr(controllers, "memory"))
            left = least(left, left_in_groups(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                                              "memory.usage_in_bytes", "total_inactive_file "));
    }
    if (f)
        fclose(f);
    return left;
}

uint64_t txm_free_memory(const char *root)
{
    char path[PATH_BYTES];
    uint64_t kilobytes;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    const uint64_t machine = number_in(path, "MemAvailable:", &kilobytes) ? kilobytes << 10 : UINT64_MAX;
    /* What the limit of address space leaves. */
    uint64_t most, addresses = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/status", root);
    if (txm_limit_of(TXM_LIMIT_ADDRESSES, &most) && number_in(path, "VmSize:", &kilobytes))
        addresses = most > kilobytes << 10 ? most - (kilobytes << 10) : 0;
    return least(machine, least(left_in_all_groups(root), addresses));
}
