/* SPDX-License-Identifier: Apache-2.0
 *
 * Unwrapping the mesh of a Ptex file.
 *
 * It reads both files, and writes pages as pictures and the mesh with texture coordinates. Several threads write a page
 * each, in bands, to temporary files beside the targets. Once all files are complete they are renamed, the mesh last.
 *
 * Every file contains a key: a digest of the options and of both inputs' sizes and times. If all files have the key of
 * this run, nothing needs to be done; after a run that was killed between two renames, some keys differ. Files without
 * the mark were not written by txmill and are not replaced, nor are files whose bytes are not those that were written
 * (mill/write/seal.h). Several processes that unwrap the same files take turns, by a claim on the mesh.
 */
#include "txmill/unwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "base/os/machine.h"
#include "base/path.h"
#include "base/pool.h"
#include "base/whole.h"
#include "mill/farm/claims.h"
#include "mill/unwrap/mesh.h"
#include "mill/unwrap/page.h"
#include "mill/write/publish.h"
#include "mill/write/seal.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"

enum {
    LAYOUT_VERSION = 3, /* part of the key: raised when pages or meshes are written differently */
    BAND_BYTES = 8 << 20,
    HEAD_BYTES = 4 << 10, /* bytes at the start of a file in which its mark lies */
    FIRST_PAGE = 1001,
    LAST_PAGE = 9999
};

typedef struct unwrap_job {
    txm_unwrap_options options;
    const char *ptex_path, *mesh_path;
    txm_ptex *ptex;
    txm_ptex_pages *pages;
    const txm_ptex_pages_info *packed;
    txm_mesh mesh;
    const page_format *format;
    uint32_t channels; /* channels of the pictures */
    char key[TXM_SHA1_HEX];
    char mark[sizeof TXM_PICTURE_MARK + TXM_SHA1_HEX + sizeof TXM_OUT_FILE_SEAL];
    txm_unwrapped *made;
    txm_publish **pending; /* one for each page */
    txm_out_file *mesh_out;
    atomic_bool stop;
    atomic_ullong rows_done;
    uint64_t rows;
    atomic_uint next_page;
    atomic_int failed; /* set by the first thread that fails, whose error is returned */
    txm_error error;
} unwrap_job;

/* ---- names and keys ---------------------------------------------------------------------------------------------- */

enum { STATE_BYTES = 64 };

static txm_status describe_file(const char *path, char out[STATE_BYTES], txm_error *err)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    snprintf(out, STATE_BYTES, "%llu %lld.%09ld", (unsigned long long)s.st_size, (long long)s.st_mtim.tv_sec,
             s.st_mtim.tv_nsec);
    return TXM_OK;
}

static txm_status hash_inputs(unwrap_job *job, txm_error *err)
{
    char ptex[STATE_BYTES], mesh[STATE_BYTES], text[256];
    txm_status status = describe_file(job->ptex_path, ptex, err);
    if (status == TXM_OK)
        status = describe_file(job->mesh_path, mesh, err);
    if (status != TXM_OK)
        return status;
    const int n = snprintf(text, sizeof text, "%d %s, %s, %u, %u", LAYOUT_VERSION, ptex, mesh, job->options.page_px,
                           job->options.padding_px);
    txm_sha1_of(text, (size_t)n, job->key);
    snprintf(job->mark, sizeof job->mark, "%s %s %s", TXM_PICTURE_MARK, job->key, TXM_OUT_FILE_SEAL);
    return TXM_OK;
}

static char *stem_of(const char *path)
{
    const char *base = txm_path_base(path), *ext = txm_path_ext(base);
    return txm_strndup(base, ext > base ? (size_t)(ext - base) : strlen(base));
}

static txm_status name_outputs(unwrap_job *job, txm_error *err)
{
    char *own = txm_path_dir(job->ptex_path), *stem = stem_of(job->ptex_path), *mesh_stem = stem_of(job->mesh_path);
    const char *folder = job->options.folder ? job->options.folder : strchr(job->ptex_path, '/') ? own : "";
    char *page = stem ? txm_asprintf("%s.<UDIM>.%s", stem, job->format->extension) : NULL;
    char *mesh = mesh_stem ? txm_asprintf("%s.uv.%s", mesh_stem, job->mesh.format->extension) : NULL;
    if (own && page && mesh) {
        job->made->pattern = txm_path_join(folder, page);
        job->made->mesh_path = txm_path_join(folder, mesh);
    }
    free(own);
    free(stem);
    free(mesh_stem);
    free(page);
    free(mesh);
    return job->made->pattern && job->made->mesh_path ? TXM_OK : txm_no_memory(err, job->ptex_path);
}

char *txm_unwrapped_page_path(const txm_unwrapped *result, uint32_t page)
{
    const char *tag = NULL, *next = result->pattern;
    while (next && (next = strstr(next, "<UDIM>"))) /* takes the last one, since folders may be called anything */
        tag = next++;
    return tag ? txm_asprintf("%.*s%u%s", (int)(tag - result->pattern), result->pattern, FIRST_PAGE + page,
                              tag + strlen("<UDIM>"))
               : NULL;
}

/* The kind of file that a name has. */
typedef enum found { NOTHING, OURS, OURS_OF_THIS_KEY, ANOTHERS } found;

static txm_status read_mark(const unwrap_job *job, const char *path, const char *mark, found *what, txm_error *err)
{
    char head[HEAD_BYTES];
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int error = fd < 0 ? errno : fstat(fd, &s) != 0 ? errno : 0;
    const bool is_file = fd >= 0 && !error && S_ISREG(s.st_mode);
    const int64_t n = is_file ? txm_read_most(fd, head, HEAD_BYTES) : 0;
    error = n < 0 ? errno : error;
    if (fd >= 0)
        close(fd);
    *what = NOTHING;
    if (error)
        return error == ENOENT ? TXM_OK : txm_fail_errno(err, error, "%s: cannot be examined", path);
    const size_t bytes = n > 0 ? (size_t)n : 0;
    const char *at = memmem(head, bytes, mark, strlen(mark));
    const bool has_key = at && (size_t)(head + bytes - at) >= strlen(mark) + MESH_MARK_BYTES &&
                         memcmp(at + strlen(mark), job->key, MESH_MARK_BYTES) == 0;
    /* An empty file may be replaced, since nothing is lost. */
    *what = has_key ? OURS_OF_THIS_KEY : at || (is_file && bytes == 0) ? OURS : ANOTHERS;
    return TXM_OK;
}

static txm_status check_target(const unwrap_job *job, const char *path, const char *mark, bool *fresh, txm_error *err)
{
    found what;
    txm_status status = read_mark(job, path, mark, &what, err);
    *fresh &= what == OURS_OF_THIS_KEY;
    return status != TXM_OK || what != ANOTHERS
               ? status
               : txm_fail(err, TXM_STATUS_USAGE,
                          "%s: the file already exists and txmill did not write it; nothing was written. Move it "
                          "away, or choose another folder",
                          path);
}

/* A file with a mark must be as it was written, or missing, or empty. */
static txm_status check_unchanged(const unwrap_job *job, const char *path, const char *mark, bool *unused,
                                  txm_error *err)
{
    struct stat s;
    bool unchanged = true;
    (void)job, (void)mark, (void)unused;
    const bool is_there = stat(path, &s) == 0 && s.st_size > 0;
    const txm_status status = is_there ? txm_out_file_check(path, &unchanged, err) : TXM_OK;
    return unchanged || status != TXM_OK
               ? status
               : txm_fail(err, TXM_STATUS_USAGE,
                          "%s: the file was changed after txmill wrote it, or an earlier version wrote it; nothing was "
                          "written. Move it away, or choose another folder",
                          path);
}

typedef txm_status check_function(const unwrap_job *job, const char *path, const char *mark, bool *fresh,
                                  txm_error *err);

static txm_status check_each(const unwrap_job *job, check_function *check, bool *fresh, txm_error *err)
{
    txm_status status = check(job, job->made->mesh_path, MESH_MARK, fresh, err);
    for (uint32_t i = 0; i < job->packed->pages && status == TXM_OK; i++) {
        char *path = txm_unwrapped_page_path(job->made, i);
        status = path ? check(job, path, TXM_PICTURE_MARK " ", fresh, err) : txm_no_memory(err, job->ptex_path);
        free(path);
    }
    return status;
}

/* *fresh: all files exist and have this key, and are kept as they are. Otherwise they are written again: files that
 * txmill did not write, or that were changed since, are refused. */
static txm_status check_targets(const unwrap_job *job, bool *fresh, txm_error *err)
{
    *fresh = true;
    txm_status status = check_each(job, check_target, fresh, err);
    if (status == TXM_OK && (!*fresh || job->options.force))
        status = check_each(job, check_unchanged, fresh, err);
    return status;
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

/* Divides by alpha, choosing the colour from which the conversion, which multiplies by alpha and truncates, computes
 * the original value again. */
static uint32_t unassociate(uint32_t colour, uint32_t alpha, uint32_t one)
{
    if (!alpha)
        return 0;
    const uint64_t straight = ((uint64_t)colour * one + alpha - 1) / alpha;
    return straight < one ? (uint32_t)straight : one;
}

/* Converts a row in place from the page's four channels to the picture's. */
static void shape_row(const unwrap_job *job, uint8_t *row, uint32_t width)
{
    const size_t bytes = txm_type_bytes(job->packed->type);
    uint16_t *wide = (uint16_t *)(void *)row;
    if (job->packed->channels == 1)
        return;
    if (job->channels == 3)
        for (uint32_t x = 1; x < width; x++)
            memmove(row + 3 * bytes * x, row + 4 * bytes * x, 3 * bytes);
    else if (job->packed->type == TXM_TYPE_U8)
        for (uint32_t i = 0; i < 4 * width; i++)
            row[i] = (uint8_t)(i % 4 == 3 ? row[i] : unassociate(row[i], row[i | 3], 255));
    else if (job->packed->type == TXM_TYPE_U16)
        for (uint32_t i = 0; i < 4 * width; i++)
            wide[i] = (uint16_t)(i % 4 == 3 ? wide[i] : unassociate(wide[i], wide[i | 3], 65535));
}

static txm_status count_page_rows(unwrap_job *job, uint32_t rows, txm_error *err)
{
    const uint64_t done = atomic_fetch_add(&job->rows_done, rows) + rows;
    if (job->options.progress)
        job->options.progress(job->options.progress_user, done, job->rows);
    if (job->options.cancel && __atomic_load_n(job->options.cancel, __ATOMIC_RELAXED))
        return txm_fail(err, TXM_STATUS_CANCELLED, "%s: stopped on request", job->ptex_path);
    return atomic_load(&job->stop) ? txm_fail(err, TXM_STATUS_CANCELLED, "%s: stopped", job->ptex_path) : TXM_OK;
}

static txm_status write_bands(unwrap_job *job, uint32_t page, void *writer, uint32_t width, uint32_t height,
                              txm_error *err)
{
    const size_t row_bytes = (size_t)width * job->packed->channels * txm_type_bytes(job->packed->type);
    const size_t fit = BAND_BYTES / row_bytes / PAGE_BAND_ROWS * PAGE_BAND_ROWS;
    const uint32_t most = fit < PAGE_BAND_ROWS ? PAGE_BAND_ROWS : fit < height ? (uint32_t)fit : height;
    uint8_t *band = txm_alloc_pixels(most, row_bytes);
    txm_status status = band ? TXM_OK : txm_no_memory(err, job->ptex_path);
    for (uint32_t y = 0; y < height && status == TXM_OK; y += most) {
        const uint32_t rows = most < height - y ? most : height - y;
        status = txm_ptex_page_read(job->pages, page, 0, 0, y, width, rows, band, row_bytes, err);
        for (uint32_t i = 0; i < rows && status == TXM_OK; i++)
            shape_row(job, band + i * row_bytes, width);
        if (status == TXM_OK)
            status = job->format->rows(writer, band, row_bytes, rows, err);
        if (status == TXM_OK)
            status = count_page_rows(job, rows, err);
    }
    free(band);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* The time to set on a page: in a later second than that of the page that it replaces. Otherwise the old page's tx file
 * could be mistaken for one of the new page. */
static struct timespec page_time(const char *path)
{
    struct timespec now = txm_clock_today();
    struct stat old;
    if (stat(path, &old) == 0 && old.st_mtim.tv_sec >= now.tv_sec)
        now = (struct timespec){old.st_mtim.tv_sec + 1, 0};
    return now;
}

static txm_status write_page(unwrap_job *job, uint32_t page, txm_error *err)
{
    char *path = txm_unwrapped_page_path(job->made, page);
    page_shape shape = {.name = path, .mark = job->mark, .channels = job->channels, .type = job->packed->type};
    void *writer = NULL;
    struct stat s;
    txm_ptex_page_size(job->pages, page, &shape.width, &shape.height);
    txm_status status = path ? txm_publish_begin(path, TXM_PUBLISH_IN_NEW_FOLDER, &job->pending[page], err)
                             : txm_no_memory(err, job->ptex_path);
    if (status == TXM_OK) {
        shape.fd = txm_publish_fd(job->pending[page]);
        status = job->format->begin(&shape, &writer, err);
    }
    if (status == TXM_OK)
        status = write_bands(job, page, writer, shape.width, shape.height, err);
    if (status == TXM_OK)
        status = job->format->end(writer, err);
    job->format->close(writer);
    if (status == TXM_OK)
        status = txm_seal_file(shape.fd, path, err);
    const uint64_t bytes = status == TXM_OK && fstat(shape.fd, &s) == 0 ? (uint64_t)s.st_size : 0;
    const struct timespec time = path ? page_time(path) : (struct timespec){0};
    if (status == TXM_OK)
        status = txm_publish_settle(job->pending[page], &time, err);
    if (status == TXM_OK)
        __atomic_fetch_add(&job->made->page_bytes, bytes, __ATOMIC_RELAXED);
    free(path);
    return status;
}

static txm_status write_mesh(unwrap_job *job, txm_error *err)
{
    txm_status status = txm_out_file_begin(job->made->mesh_path, true, &job->mesh_out, err);
    if (status != TXM_OK)
        return status;
    FILE *out = txm_out_file_stream(job->mesh_out);
    status = job->mesh.format->write(&job->mesh, job->pages, job->key, out, err);
    fflush(out);
    if (status == TXM_OK)
        status = txm_out_file_status(job->mesh_out, err);
    if (txm_map_lost(&job->mesh.map))
        status = txm_fail(err, TXM_STATUS_CHANGED, "%s: cut short while it was read", job->mesh_path);
    return status;
}

static void run_pages(void *arg)
{
    unwrap_job *job = arg;
    for (uint32_t page;
         !atomic_load(&job->stop) && (page = atomic_fetch_add(&job->next_page, 1)) <= job->packed->pages;) {
        txm_error own = {0};
        /* The number after the last page is that of the mesh. */
        const txm_status status = page < job->packed->pages ? write_page(job, page, &own) : write_mesh(job, &own);
        int none = 0;
        if (status != TXM_OK && atomic_compare_exchange_strong(&job->failed, &none, 1)) {
            job->error = own;
            atomic_store(&job->stop, true);
        }
    }
}

/* Deletes further pages that an earlier, larger run left behind, up to one that was changed. */
static void remove_rest(const unwrap_job *job)
{
    for (uint32_t i = job->packed->pages;; i++) {
        char *path = txm_unwrapped_page_path(job->made, i);
        found what = NOTHING;
        const bool is_rest = path && FIRST_PAGE + i <= LAST_PAGE &&
                             read_mark(job, path, TXM_PICTURE_MARK " ", &what, NULL) == TXM_OK && what == OURS &&
                             check_unchanged(job, path, NULL, NULL, NULL) == TXM_OK && unlink(path) == 0;
        free(path);
        if (!is_rest)
            return;
    }
}

/* Pages and mesh appear under their names once all are written, the mesh last. */
static txm_status write_all(unwrap_job *job, txm_error *err)
{
    const struct timespec unused = {0};
    const unsigned wanted = job->options.threads ? job->options.threads : txm_cpu_count();
    const unsigned threads = wanted < job->packed->pages + 1 ? wanted : job->packed->pages + 1;
    job->pending = txm_calloc(job->packed->pages, sizeof *job->pending);
    if (!job->pending)
        return txm_no_memory(err, job->ptex_path);
    txm_pool *pool = threads > 1 ? txm_pool_new(threads) : NULL;
    txm_group *group = pool ? txm_group_new(pool) : NULL;
    for (unsigned i = 1; group && i < threads; i++)
        txm_group_submit(group, false, run_pages, job); /* jobs that could not be queued run below */
    run_pages(job);
    txm_group_free(group);
    txm_pool_free(pool);
    txm_status status = atomic_load(&job->failed) ? txm_fail_as(err, &job->error) : TXM_OK;
    for (uint32_t i = 0; i < job->packed->pages && status == TXM_OK; i++)
        status = txm_publish_commit(&job->pending[i], &unused, err);
    if (status == TXM_OK)
        status = txm_out_file_commit(&job->mesh_out, err);
    if (status == TXM_OK)
        remove_rest(job);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static txm_status pack_faces(unwrap_job *job, txm_error *err)
{
    const txm_ptex_pages_options o = {sizeof o, job->options.page_px, job->options.padding_px, 0};
    txm_status status = txm_ptex_pages_new(job->ptex, &o, &job->pages, err);
    if (status != TXM_OK)
        return status;
    job->packed = txm_ptex_pages_info_of(job->pages);
    job->format = txm_type_is_float(job->packed->type) ? &txm_page_exr : &txm_page_png;
    job->channels = job->packed->channels == 4 && !job->packed->has_alpha ? 3 : job->packed->channels;
    for (uint32_t i = 0; i < job->packed->pages; i++) {
        uint32_t width, height;
        txm_ptex_page_size(job->pages, i, &width, &height);
        job->rows += height;
    }
    job->made->pages = *job->packed;
    job->made->faces = txm_ptex_info_of(job->ptex)->faces;
    job->made->polygons = job->mesh.polygons;
    return TXM_OK;
}

static txm_status open_both(unwrap_job *job, txm_error *err)
{
    txm_status status = txm_ptex_open(job->ptex_path, TXM_PTEX_PREMULTIPLY, &job->ptex, err);
    if (status == TXM_OK)
        status =
            txm_mesh_file_open(job->mesh_path, txm_ptex_info_of(job->ptex)->mesh == TXM_PTEX_QUADS, &job->mesh, err);
    if (status == TXM_OK)
        status =
            txm_mesh_file_judge(&job->mesh, job->ptex, job->ptex_path, &job->made->edges, &job->made->edges_apart, err);
    if (job->mesh.map.data && txm_map_lost(&job->mesh.map))
        status = txm_fail(err, TXM_STATUS_CHANGED, "%s: cut short while it was read", job->mesh_path);
    return status;
}

/* Another process may have written the files in the meantime. */
static txm_status write_in_turn(unwrap_job *job, txm_error *err)
{
    bool fresh = false;
    txm_claim *claim = NULL;
    txm_claims *claims = txm_claims_new(NULL);
    if (!claims)
        return txm_fail_errno(err, errno, "%s: cannot start the thread that renews claims", job->ptex_path);
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    txm_status status;
    for (;;) { /* while another process holds the claim */
        txm_error own = {0};
        status = txm_claims_take(claims, job->made->mesh_path, &claim, &own);
        if (status == TXM_STATUS_LOCKED && txm_is_cancelled(job->options.cancel))
            status = txm_fail(err, TXM_STATUS_CANCELLED, "%s: stopped on request", job->ptex_path);
        else if (status == TXM_STATUS_LOCKED)
            nanosleep(&pause, NULL);
        else if (status != TXM_OK)
            txm_fail_as(err, &own);
        if (status != TXM_STATUS_LOCKED)
            break;
    }
    if (status == TXM_OK)
        status = check_targets(job, &fresh, err);
    if (status == TXM_OK && fresh && !job->options.force)
        job->made->outcome = TXM_OUTCOME_UP_TO_DATE;
    else if (status == TXM_OK)
        status = write_all(job, err);
    if (status == TXM_OK)
        txm_sweep_beside(job->made->mesh_path);
    txm_claims_drop(claims, &claim);
    txm_claims_free(&claims);
    return status;
}

static txm_status unwrap_pages(unwrap_job *job, txm_error *err)
{
    bool fresh = false;
    txm_status status = hash_inputs(job, err);
    if (status == TXM_OK)
        status = open_both(job, err);
    if (status == TXM_OK)
        status = pack_faces(job, err);
    if (status == TXM_OK)
        status = name_outputs(job, err);
    if (status == TXM_OK)
        status = check_targets(job, &fresh, err);
    job->made->outcome = fresh && !job->options.force ? TXM_OUTCOME_UP_TO_DATE
                         : job->options.dry_run       ? TXM_OUTCOME_WOULD_CREATE
                                                      : TXM_OUTCOME_CREATED;
    /* What a run that was killed at its end left is removed here, since nothing is written. */
    if (status == TXM_OK && job->made->outcome == TXM_OUTCOME_UP_TO_DATE && !job->options.dry_run)
        txm_sweep_beside(job->made->mesh_path);
    if (status != TXM_OK || job->made->outcome != TXM_OUTCOME_CREATED)
        return status;
    return job->options.no_claims ? write_all(job, err) : write_in_turn(job, err);
}

static void close_job(unwrap_job *job)
{
    for (uint32_t i = 0; job->pending && i < job->packed->pages; i++)
        txm_publish_abort(&job->pending[i]);
    txm_out_file_abort(&job->mesh_out);
    free(job->pending);
    txm_ptex_pages_free(&job->pages);
    txm_mesh_file_close(&job->mesh);
    txm_ptex_close(&job->ptex);
}

txm_status txm_unwrap_ptex(const char *ptex_path, const char *mesh_path, const txm_unwrap_options *options,
                           txm_unwrapped *result, txm_error *err)
{
    txm_error own = {0};
    txm_unwrapped made = {0};
    unwrap_job job = {.ptex_path = ptex_path, .mesh_path = mesh_path ? mesh_path : ptex_path, .made = &made};
    const double begin = txm_clock_seconds();
    txm_error_clear(err);
    *result = made;
    txm_unwrap_options_init(&job.options);
    txm_status status = txm_options_take(&job.options, sizeof job.options, options, "txm_unwrap_options", &own);
    if (status == TXM_OK)
        status = unwrap_pages(&job, &own);
    close_job(&job);
    made.seconds = txm_clock_seconds() - begin;
    if (status == TXM_OK)
        *result = made;
    else
        txm_unwrapped_clear(&made);
    return status == TXM_OK ? TXM_OK : txm_fail_as(err, &own);
}

void txm_unwrapped_clear(txm_unwrapped *result)
{
    if (!result)
        return;
    free(result->mesh_path);
    free(result->pattern);
    *result = (txm_unwrapped){0};
}
