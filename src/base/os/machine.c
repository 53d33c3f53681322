/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/machine.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

/* CPUs that this process may run on; 0 if unknown. */
static unsigned affinity_cpus(void)
{
    /* A cpu_set_t has 1024 CPUs, and the call fails if the kernel supports more. */
    for (int possible = CPU_SETSIZE; possible <= 1 << 20; possible *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)possible);
        if (!set)
            return 0;
        size_t bytes = CPU_ALLOC_SIZE((size_t)possible);
        unsigned cpus = sched_getaffinity(0, bytes, set) == 0 ? (unsigned)CPU_COUNT_S(bytes, set) : 0;
        bool too_small = !cpus && errno == EINVAL;
        CPU_FREE(set);
        if (!too_small)
            return cpus;
    }
    return 0;
}

unsigned txm_cpu_count(void)
{
    unsigned cpus = affinity_cpus(), quota = 0;
    long granted, period;
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (f && fscanf(f, "%ld %ld", &granted, &period) == 2 && granted > 0 && period > 0)
        quota = (unsigned)((granted + period - 1) / period);
    if (f)
        fclose(f);
    if (quota && quota < cpus)
        cpus = quota;
    return cpus ? cpus : 1;
}

uint64_t txm_machine_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static const __rlimit_resource_t resources[] = {
    [TXM_LIMIT_ADDRESSES] = RLIMIT_AS,     [TXM_LIMIT_DATA] = RLIMIT_DATA, [TXM_LIMIT_FILES] = RLIMIT_NOFILE,
    [TXM_LIMIT_FILE_BYTES] = RLIMIT_FSIZE, [TXM_LIMIT_CORE] = RLIMIT_CORE, [TXM_LIMIT_PROCESSES] = RLIMIT_NPROC};

bool txm_limit_of(txm_limit limit, uint64_t *value)
{
    struct rlimit r;
    const bool limited = getrlimit(resources[limit], &r) == 0 && r.rlim_cur != RLIM_INFINITY;
    *value = limited ? r.rlim_cur : UINT64_MAX;
    return limited;
}

static bool set_soft(__rlimit_resource_t resource, uint64_t value)
{
    struct rlimit r;
    if (getrlimit(resource, &r) != 0)
        return false;
    const rlim_t soft = value == UINT64_MAX ? RLIM_INFINITY : (rlim_t)value;
    r.rlim_cur = r.rlim_max != RLIM_INFINITY && soft > r.rlim_max ? r.rlim_max : soft;
    return setrlimit(resource, &r) == 0 && r.rlim_cur == soft;
}

/* The soft limit, so that it can be raised again. */
bool txm_limit_set(txm_limit limit, uint64_t value)
{
    return set_soft(resources[limit], value);
}

/* RLIMIT_CPU counts whole seconds from the start of the process; one is added for the part that is cut off. */
void txm_limit_time(uint32_t seconds)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        set_soft(RLIMIT_CPU, (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds + 1);
}

void txm_system_text(char out[TXM_SYSTEM_BYTES])
{
    struct utsname system;
    *out = 0;
    if (uname(&system) == 0)
        snprintf(out, TXM_SYSTEM_BYTES, "%.64s %.64s, %.64s", system.sysname, system.release, system.machine);
}

/* Names for the numbers of statfs(2), those of network file systems first. */
static void name_kind(unsigned long type, txm_volume *out)
{
    enum { NETWORK = 14 };
    static const struct {
        unsigned long type;
        const char *name;
    } kinds[] = {
        {0x6969, "nfs"},          {0xFE534D42, "smb"},      {0xFF534D42, "cifs"},      {0x517B, "smb"},
        {0x65735546, "fuse"},     {0x00C36400, "ceph"},     {0x0BD00BD0, "lustre"},    {0x47504653, "gpfs"},
        {0x19830326, "beegfs"},   {0x5346414F, "afs"},      {0x6B414653, "afs"},       {0x01021997, "9p"},
        {0x7461636F, "ocfs2"},    {0x01161970, "gfs2"},     {0xEF53, "ext4"},          {0x58465342, "xfs"},
        {0x9123683E, "btrfs"},    {0x01021994, "tmpfs"},    {0x794C7630, "overlayfs"}, {0x2FC12FC1, "zfs"},
        {0x4D44, "vfat"},         {0x5346544E, "ntfs"},     {0x7366746E, "ntfs3"},     {0x2011BAB0, "exfat"},
        {0xF2F52010, "f2fs"},     {0x73717368, "squashfs"}, {0xE0F5E1E2, "erofs"},     {0x858458F6, "ramfs"},
        {0x9660, "isofs"},        {0x52654973, "reiserfs"}, {0x3153464A, "jfs"},       {0x6A656A63, "virtiofs"},
        {0xCA451A4E, "bcachefs"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == (type & 0xFFFFFFFF)) {
            snprintf(out->kind, sizeof out->kind, "%s", kinds[i].name);
            out->network = i < NETWORK;
            return;
        }
    snprintf(out->kind, sizeof out->kind, "file system 0x%lX", type & 0xFFFFFFFF);
}

bool txm_volume_of(const char *path, txm_volume *out)
{
    struct statvfs space;
    struct statfs system;
    *out = (txm_volume){.kind = "an unknown file system"};
    if (statvfs(path, &space) != 0)
        return false;
    out->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    out->read_only = (space.f_flag & ST_RDONLY) != 0;
    out->no_reads = (space.f_flag & (ST_NOATIME | ST_RDONLY)) != 0;
    if (statfs(path, &system) == 0)
        name_kind((unsigned long)system.f_type, out);
    return true;
}
