/* SPDX-License-Identifier: Apache-2.0 */

#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/text.h"

const char *txm_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *txm_path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return txm_strdup(".");
    while (slash > path && slash[-1] == '/')
        slash--;
    return slash == path ? txm_strdup("/") : txm_strndup(path, (size_t)(slash - path));
}

char *txm_path_join(const char *dir, const char *name)
{
    size_t n = strlen(dir);
    if (!n || txm_path_is_absolute(name))
        return txm_strdup(name);
    return txm_asprintf(dir[n - 1] == '/' ? "%s%s" : "%s/%s", dir, name);
}

const char *txm_path_ext(const char *path)
{
    const char *base = txm_path_base(path), *dot = strrchr(base, '.');
    /* ".hidden" is a name and not an extension. */
    return dot && dot != base ? dot : path + strlen(path);
}

bool txm_path_has_ext(const char *path, const char *ext)
{
    const char *own = txm_path_ext(path);
    return *own && txm_casecmp(own + 1, ext + (*ext == '.')) == 0;
}

size_t txm_path_cut(const char *name, size_t limit)
{
    size_t n = strnlen(name, limit);
    while (name[n] && n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80)
        n--;
    return n;
}

bool txm_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

/* Removes the last component of a normalised path, unless it is ".." or the root. */
static bool drop_last(txm_bytes *b, size_t root)
{
    size_t i = b->size;
    while (i > root && b->data[i - 1] != '/')
        i--;
    if (i == b->size || (b->size - i == 2 && memcmp(b->data + i, "..", 2) == 0))
        return false;
    b->size = i > root ? i - 1 : root;
    b->data[b->size] = 0;
    return true;
}

char *txm_path_normal(const char *path)
{
    txm_bytes b = {0};
    size_t root = txm_path_is_absolute(path) ? 1 : 0;
    txm_bytes_add(&b, "/", root);
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        bool up = n == 2 && memcmp(p, "..", 2) == 0;
        bool skip = n == 0 || (n == 1 && *p == '.');
        /* "/.." is "/"; a leading ".." of a relative path is kept. */
        if (up && (drop_last(&b, root) || root))
            skip = true;
        if (!skip && b.size > root)
            txm_bytes_puts(&b, "/");
        if (!skip)
            txm_bytes_add(&b, p, n);
        p += n + (p[n] == '/');
    }
    if (b.size == 0)
        txm_bytes_puts(&b, ".");
    return txm_bytes_take(&b);
}

static size_t component(const char **p, const char **start)
{
    *start = *p;
    size_t n = strcspn(*p, "/");
    *p += n + ((*p)[n] == '/');
    return n;
}

char *txm_path_relative(const char *path, const char *base)
{
    char *a = txm_path_normal(path), *b = txm_path_normal(base);
    txm_bytes out = {0};
    if (a && b) {
        const char *pa = a + 1, *pb = b + 1, *sa, *sb;
        for (;;) {
            const char *qa = pa, *qb = pb;
            size_t na = component(&qa, &sa), nb = component(&qb, &sb);
            if (!na || na != nb || memcmp(sa, sb, na) != 0)
                break;
            pa = qa;
            pb = qb;
        }
        while (*pb) {
            component(&pb, &sb);
            txm_bytes_puts(&out, out.size ? "/.." : "..");
        }
        if (*pa && out.size)
            txm_bytes_puts(&out, "/");
        txm_bytes_puts(&out, *pa || out.size ? pa : ".");
    }
    free(a);
    free(b);
    return txm_bytes_take(&out);
}

const char *txm_path_hint(const char *path)
{
    bool drive =
        ((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z') && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
    if (drive || strchr(path, '\\'))
        return "is a Windows path, which does not exist here; name it as on this machine, with slashes, as "
               "/mnt/c/textures/wood.png for C:\\textures\\wood.png";
    if (strncmp(path, "file://", 7) == 0)
        return "is an address, not a path; leave out file:// in front of it";
    if (strstr(path, "://"))
        return "is an address, not a file; download it first, then name the file";
    if (strncmp(path, "~/", 2) == 0)
        return "begins with ~, which the shell replaces only outside of quotes; leave them out, or write $HOME";
    if (!*path)
        return "an argument is empty; is a variable of a script unset?";
    if (strpbrk(path, "*?["))
        return "no file matches this pattern; list the folder to see what is there";
    return NULL;
}

/* It serves scenes and projects from systems where Wood.PNG and wood.png are the same file. */
char *txm_path_other_case(const char *path)
{
    const char *base = txm_path_base(path);
    char *folder = txm_path_dir(path), *found = NULL;
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *e; dir && !found && (e = readdir(dir));)
        if (!strcasecmp(e->d_name, base) && strcmp(e->d_name, base))
            found = txm_strdup(e->d_name);
    if (dir)
        closedir(dir);
    free(folder);
    return found;
}

char *txm_path_absolute(const char *path)
{
    errno = ENOMEM; /* unless the current folder is unknown */
    if (txm_path_is_absolute(path))
        return txm_path_normal(path);
    char *cwd = getcwd(NULL, 0);
    if (!cwd)
        return NULL;
    char *joined = txm_path_join(cwd, path);
    char *normal = joined ? txm_path_normal(joined) : NULL;
    free(cwd);
    free(joined);
    errno = normal ? errno : ENOMEM;
    return normal;
}

char *txm_path_absolute_dir(const char *path)
{
    char *dir = txm_path_dir(path), *absolute = dir ? txm_path_absolute(dir) : NULL;
    const int why = dir ? errno : ENOMEM;
    free(dir);
    errno = why;
    return absolute;
}

txm_status txm_path_absolute_failed(const char *path, txm_error *err)
{
    if (errno == ENOMEM)
        return txm_no_memory(err, path);
    return txm_fail_errno(err, errno,
                          "%s: the current folder cannot be found (was it removed? change to one that is there)", path);
}

static txm_status explain(const char *path, int sys_errno, txm_error *err)
{
    char target[PATH_MAX];
    const long n = txm_file_target(path, target, sizeof target - 1);
    if (n < 0 && sys_errno == ENOTDIR) {
        txm_fail(err, TXM_STATUS_USAGE, "%s: a folder is needed, but this is a file", path);
        if (err)
            err->sys_errno = sys_errno;
        return TXM_STATUS_USAGE;
    }
    if (n < 0)
        return txm_fail_errno(err, sys_errno, "%s: cannot create the folder", path);
    target[n] = 0;
    return txm_fail_errno(err, sys_errno, "%s is a link to %s, which cannot be reached (is its disk mounted?)", path,
                          target);
}

txm_status txm_folders_make(const char *path, txm_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? TXM_OK : explain(path, ENOTDIR, err);
    int why = errno;
    /* A parent may be the cause. */
    if (why != ENOENT && why != ENOTDIR && why != ELOOP)
        return explain(path, why, err);
    char *parent = txm_path_dir(path);
    if (!parent)
        return txm_no_memory(err, path);
    txm_status status = strcmp(parent, path) ? txm_folders_make(parent, err) : explain(path, why, err);
    free(parent);
    if (status != TXM_OK || mkdir(path, 0777) == 0)
        return status;
    if (errno != EEXIST)
        return txm_fail_errno(err, errno, "%s: cannot create the folder", path);
    /* Another process has just created it, or it is a dangling link. */
    if (stat(path, &st) != 0)
        return explain(path, errno, err);
    return S_ISDIR(st.st_mode) ? TXM_OK : explain(path, ENOTDIR, err);
}

/* The folder is held open, so that the file that is examined and the one that is removed are in the same folder. The
 * inode's change time distinguishes a file from one that replaced it with the same inode number. */
int txm_file_remove(const char *path, const struct stat *folder, const struct stat *judged)
{
    struct stat now;
    char *dir = txm_path_dir(path);
    int fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, rc = dir ? 0 : ENOMEM;
    const char *name = txm_path_base(path);
    if (dir && (fd < 0 || fstat(fd, &now) != 0))
        rc = errno;
    if (rc == 0 && folder && (now.st_ino != folder->st_ino || now.st_dev != folder->st_dev))
        rc = TXM_REMOVE_OTHER;
    if (rc == 0 && fstatat(fd, name, &now, AT_SYMLINK_NOFOLLOW) != 0)
        rc = errno;
    if (rc == 0 && (now.st_ino != judged->st_ino || now.st_dev != judged->st_dev ||
                    now.st_ctim.tv_sec != judged->st_ctim.tv_sec || now.st_ctim.tv_nsec != judged->st_ctim.tv_nsec))
        rc = TXM_REMOVE_OTHER;
    if (rc == 0 && unlinkat(fd, name, 0) != 0)
        rc = errno;
    if (fd >= 0)
        close(fd);
    free(dir);
    return rc;
}
