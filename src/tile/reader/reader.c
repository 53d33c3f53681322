/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens tx files: the map, the shape of levels, the metadata. reader_tile.c reads the pixels.
 *
 * An open file has its bytes mapped, its levels checked and its metadata copied. Opening reads no pixels, and of EXR
 * files not even the sizes of tiles, because a renderer opens thousands of files and reads a few tiles of each.
 * tiff_reader.c and exr_reader.c parse the two containers, section_reader.c the borders at the end.
 */
#include "txtile/reader.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/os/pages.h"
#include "base/whole.h"
#include "base/words.h"
#include "tile/reader/identity.h"
#include "tile/reader/reader_impl.h"
#include "tile/reader/reader_memory.h"
#include "tile/reader/section.h"
#include "tile/reader/section_reader.h"
#include "tile/terms/extension.h"

typedef enum tx_access { ACCESS_MAP, ACCESS_RENDER, ACCESS_OUTLINE, ACCESS_READ, ACCESS_MAP_TABLES } tx_access;

/* Maps the whole file, or prepares to read it. */
static txm_status map_file(txm_tx *tx, int fd, tx_access how, txm_error *err)
{
    txm_status status = TXM_OK;
    struct stat st;
    if (fstat(fd, &st) != 0)
        status = txm_fail_errno(err, errno, "%s: cannot examine the file", tx->path);
    else if (!S_ISREG(st.st_mode))
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", tx->path);
    else if (st.st_size < 8)
        status = txm_fail(err, TXM_STATUS_CORRUPT, "%s: only %lld bytes long, not an image", tx->path,
                          (long long)st.st_size);
    if (status == TXM_OK) {
        int rc = how == ACCESS_READ ? txm_map_open_read(&tx->map, fd, (size_t)st.st_size)
                                    : txm_map_open(&tx->map, fd, (size_t)st.st_size);
        if (rc)
            status = txm_fail_errno(err, rc, "%s: cannot map %lld bytes", tx->path, (long long)st.st_size);
    }
    if (status == TXM_OK) /* the magic number, and the header of a TIFF */
        txm_map_needs(&tx->map, 0, tx->map.bytes < 16 ? tx->map.bytes : 16);
    return status;
}

/* Files on network shares may shrink while they are mapped. The last page is probed before tiles are read, which turns
 * most SIGBUS signals into an error. */
txm_status txm_tx_check(const txm_tx *tx, txm_error *err)
{
    txm_error_clear(err);
    if (txm_map_lost(&tx->map))
        return txm_map_fail(&tx->map, tx->path, err);
    return txm_map_is_whole(&tx->map) ? TXM_OK : txm_map_fail(&tx->map, tx->path, err);
}

void txm_tx_drop_pages(const txm_tx *tx)
{
    txm_map_drop_pages(&tx->map);
}

bool txm_tx_reads_tiles(const txm_tx *tx)
{
    return tx->map.reads;
}

bool txm_tx_is_mapped(const txm_tx *tx)
{
    return tx->map.place;
}

bool txm_tx_lost(const txm_tx *tx)
{
    return txm_map_lost(&tx->map);
}

/* Whether a page was lost can only be determined after reading; the data is invalid in that case. */
txm_status txm_tx_settle(const txm_tx *tx, txm_status status, txm_error *err)
{
    if (!txm_map_lost(&tx->map))
        return status;
    txm_error_clear(err);
    return txm_map_fail(&tx->map, tx->path, err);
}

/* The names used on the command line and in scenes. */
const char *txm_extension_name(txm_extension extension)
{
    static const char *const words[] = {TXM_EXTENSION_TABLE(TXM_EXTENSION_WORD)};
    return TXM_WORD_OF(words, extension);
}

const char *txm_container_name(txm_container container)
{
#define TITLE(name, prefix, word, title, floats) [TXM_CONTAINER_##name] = title,
    static const char *const titles[] = {TXM_CONTAINER_TABLE(TITLE)};
    return TXM_WORD_OF(titles, container);
}

const char *txm_container_word(txm_container container)
{
#define WORD(name, prefix, word, title, floats) [TXM_CONTAINER_##name] = word,
    static const char *const words[] = {TXM_CONTAINER_TABLE(WORD)};
    return TXM_WORD_OF(words, container);
}

bool txm_tx_has_native_samples(const txm_tx *tx)
{
#define FLOATS(name, prefix, word, title, floats) [TXM_CONTAINER_##name] = floats,
    static const bool floats_in[] = {TXM_CONTAINER_TABLE(FLOATS)};
    return floats_in[tx->info.container] == txm_type_is_float(tx->info.type);
}

#define READER(name, prefix, word, title, floats) [TXM_CONTAINER_##name] = &txm_tx_##prefix##_reader,
const txm_container_reader *const txm_container_readers[] = {TXM_CONTAINER_TABLE(READER)};

const char *txm_section_state_name(txm_section_state state)
{
    static const char *const words[] = {"none", "valid", "stale", "damaged", "newer"};
    return TXM_WORD_OF(words, state);
}

/* Called from a program's SIGBUS handler. False if the address is not in any open file. */
bool txm_tx_catch_fault(void *address)
{
    return txm_map_catch(address);
}

/* The descriptor may be closed afterwards. */
static txm_status open_fd(int fd, const char *path, tx_access how, txm_tx **out, txm_error *err)
{
    *out = NULL;
    txm_tx *tx = txm_calloc(1, sizeof *tx);
    if (!tx)
        return txm_no_memory(err, path);
    pthread_mutex_init(&tx->lock, NULL);
    tx->path = txm_strdup(path);
    tx->outline = how == ACCESS_OUTLINE;
    bool is = false;
    txm_status status = tx->path ? TXM_OK : txm_no_memory(err, path);
    if (status == TXM_OK)
        status = map_file(tx, fd, how, err);
    for (unsigned i = 0; status == TXM_OK && !is && i < TXM_CONTAINERS; i++) {
        tx->info.container = (txm_container)i;
        tx->ops = txm_container_readers[i];
        status = tx->ops->open(tx, &is, err);
    }
    if (status == TXM_OK && !is)
        status = txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: neither TIFF nor OpenEXR, so not a tx file", path);
    if (status == TXM_OK && !tx->outline)
        status = txm_section_find(tx, err);
    status = txm_tx_settle(tx, status, err);
    if (status != TXM_OK) {
        txm_tx_close(&tx);
        return status;
    }
    if (how == ACCESS_READ) { /* the identity of the file is recorded now for later comparison */
        uint64_t identity;
        txm_tx_identity(tx, &identity);
        txm_map_seal(&tx->map);
    } else if (how == ACCESS_MAP_TABLES) {
        txm_map_keep_descriptor(&tx->map, fd);
    }
    tx->info.file_bytes = tx->map.bytes;
    tx->info.encoding = txm_tx_read_encoding(tx);
    *out = tx;
    return TXM_OK;
}

/* A file that is opened for its outline has no tiles read, so kinds that cannot be decoded are accepted. */
static txm_status open_path(const char *path, tx_access how, txm_tx **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no tx file given: its path is NULL");
    /* O_NONBLOCK: opening a pipe must not wait for its writer; it has no effect on files. */
    static const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    int fd = how == ACCESS_MAP || how == ACCESS_OUTLINE ? txm_file_look(path, flags) : open(path, flags);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot open", path);
    txm_status status = open_fd(fd, path, how, out, err);
    /* The map remains valid; renderers keep thousands of textures open. */
    close(fd);
    return status != TXM_OK && err && txm_explain_pointer(path, err) ? err->status : status;
}

/* Everything that reading tiles relies on has been checked when this returns. */
txm_status txm_tx_open(const char *path, txm_tx **out, txm_error *err)
{
    txm_error_clear(err);
    return open_path(path, ACCESS_MAP, out, err);
}

txm_status txm_tx_open_to_render(const char *path, txm_tx **out, txm_error *err)
{
    return open_path(path, ACCESS_RENDER, out, err);
}

txm_status txm_tx_open_outline(const char *path, txm_tx **out, txm_error *err)
{
    return open_path(path, ACCESS_OUTLINE, out, err);
}

txm_status txm_tx_open_cached(const char *path, bool maps, txm_tx **out, txm_error *err)
{
    return open_path(path, maps && !txm_maps_are_scarce() ? ACCESS_MAP_TABLES : ACCESS_READ, out, err);
}

/* The caller keeps the descriptor. `path` is for messages, and for inspecting the file again when pages are lost. */
txm_status txm_tx_open_fd(int fd, const char *path, txm_tx **out, txm_error *err)
{
    return open_fd(fd, path, ACCESS_MAP, out, err);
}

/* No thread may be reading. NULL is allowed. */
void txm_tx_close(txm_tx **tx)
{
    txm_tx *t = tx ? *tx : NULL;
    if (!t)
        return;
    txm_scratch_free_all(t);
    if (t->ops && t->ops->release)
        t->ops->release(t);
    txm_metadata_free(&t->metadata);
    txm_map_close(&t->map);
    pthread_mutex_destroy(&t->lock);
    free(t->section);
    free(t->path);
    free(t);
    *tx = NULL;
}

/* Counts the usable sizes that the C library reports for the allocations. */
uint64_t txm_tx_own_bytes(const txm_tx *tx)
{
    return txm_usable_bytes((void *)tx) + txm_usable_bytes(tx->path) + txm_usable_bytes(tx->section) +
           txm_usable_bytes(tx->metadata.entries) + txm_usable_bytes(tx->metadata.text.data) +
           (tx->ops->own_bytes ? tx->ops->own_bytes(tx) : 0) + tx->map.present_bytes +
           txm_usable_bytes(tx->map.present) + txm_usable_bytes(tx->map.copy);
}

/* The end of the image part, where a section may begin, according to the container. */
uint64_t txm_tx_image_end(const txm_tx *tx)
{
    return tx->ops->image_end(tx);
}

bool txm_tx_identity(const txm_tx *tx, uint64_t *identity)
{
    return txm_tx_check(tx, NULL) == TXM_OK && txm_map_identity(&tx->map, (size_t)tx->info.image_bytes, identity) &&
           txm_tx_settle(tx, TXM_OK, NULL) == TXM_OK;
}

/* The kernel copies from the map, so a lost page makes the call fail instead of raising a signal. */
txm_status txm_section_copy_image(const txm_tx *tx, int fd, txm_error *err)
{
    int rc = txm_pwrite_all(fd, tx->map.data, (size_t)tx->info.image_bytes, 0);
    if (rc == EFAULT) /* a lost page of the map makes pwrite fail without a signal */
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: became shorter while it was read", tx->path);
    if (rc)
        return txm_fail_errno(err, rc, "%s: cannot write the new file beside it", tx->path);
    return txm_tx_settle(tx, TXM_OK, err);
}

/* Whether entries are beyond the end of the file, for example because it was cut short; the pixels may still be
 * complete. */
bool txm_tx_lost_metadata(const txm_tx *tx)
{
    return tx->ops->has_lost_values && tx->ops->has_lost_values(tx);
}

/* It is valid while the file is open. */
const txm_tx_info *txm_tx_info_of(const txm_tx *tx)
{
    return &tx->info;
}

const txm_tx_level *txm_tx_shape_of(const txm_tx *tx, uint32_t level)
{
    return level < tx->info.levels ? &tx->levels[level].shape : NULL;
}

/* NULL beyond the last level. */
const txm_tx_level *txm_tx_level_of(const txm_tx *tx, uint32_t level)
{
    const txm_tx_level *shape = txm_tx_shape_of(tx, level);
    /* EXR stores the sizes of tiles in front of the tiles themselves. They are read on demand only, because that
     * touches pages all over the file. */
    if (shape && !atomic_load_explicit(&tx->sized, memory_order_acquire))
        tx->ops->measure((txm_tx *)tx);
    return shape;
}

/* All limits are checked here for both containers. */
txm_status txm_reader_add_level(txm_tx *tx, uint32_t level, uint32_t width, uint32_t height, txm_error *err)
{
    txm_tx_info *info = &tx->info;
    if (!width || !height)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: level %u is %ux%u pixels", tx->path, level, width, height);
    if (width > TXM_MAX_SIZE_PX || height > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %ux%u pixels; at most %u a side are read", tx->path, width,
                        height, TXM_MAX_SIZE_PX);
    if (!info->tile_w || !info->tile_h)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: tiles of %ux%u pixels", tx->path, info->tile_w, info->tile_h);
    if (info->tile_w > TXM_MAX_TILE_PX || info->tile_h > TXM_MAX_TILE_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: tiles of %ux%u pixels; at most %u a side are read", tx->path,
                        info->tile_w, info->tile_h, TXM_MAX_TILE_PX);
    if (!level) {
        info->width = width;
        info->height = height;
        tx->pixel_bytes = info->channels * txm_type_bytes(info->type);
    }
    txm_reader_level *l = &tx->levels[level];
    l->shape.width = width;
    l->shape.height = height;
    l->shape.tiles_x = (width - 1) / info->tile_w + 1;
    l->shape.tiles_y = (height - 1) / info->tile_h + 1;
    const txm_reader_level *above = level ? l - 1 : NULL;
    l->first_tile = above ? above->first_tile + (uint64_t)above->shape.tiles_x * above->shape.tiles_y : 0;
    return TXM_OK;
}

/* ---- metadata: the file decides how many pairs of strings there are, and how long: both are bounded ------------- */

/* Appends a string and replaces characters that would disturb a terminal. */
static bool add_clean(txm_bytes *text, const char *s, size_t n)
{
    size_t start = text->size;
    if (!txm_bytes_add(text, s, n) || !txm_bytes_add(text, "", 1))
        return false;
    for (char *p = text->data + start; p < text->data + start + n; p++)
        if (iscntrl((unsigned char)*p) && *p != '\n' && *p != '\t')
            *p = '?';
    return true;
}

/* Entries are offsets into the text, which moves as it grows. Those beyond the limits are dropped silently; the ones
 * that Cycles reads are among the first. */
bool txm_metadata_add(txm_metadata *metadata, const char *name, const char *value, size_t value_bytes)
{
    size_t name_bytes = strlen(name);
    value_bytes = strnlen(value, value_bytes);
    if (metadata->count == TXM_METADATA_MAX_ENTRIES ||
        metadata->text.size + name_bytes + value_bytes + 2 > TXM_METADATA_MAX_BYTES)
        return true;
    if (!TXM_GROW(metadata->entries, metadata->capacity, metadata->count))
        return false;
    uint32_t name_at = (uint32_t)metadata->text.size;
    if (!add_clean(&metadata->text, name, name_bytes))
        return false;
    uint32_t value_at = (uint32_t)metadata->text.size;
    if (!add_clean(&metadata->text, value, value_bytes))
        return false;
    metadata->entries[metadata->count].word = false;
    metadata->entries[metadata->count].name = name_at;
    metadata->entries[metadata->count++].value = value_at;
    return true;
}

/* Parses a value in double quotes, in which quotes and backslashes are escaped by a backslash, and moves past it. */
static bool add_quoted(txm_metadata *metadata, const char *name, const char **p, const char *end)
{
    txm_bytes value = {0};
    bool ok = true;
    const char *at = *p + 1;
    for (; ok && at < end && *at != '"'; at++) {
        at += *at == '\\' && at + 1 < end;
        ok = txm_bytes_add(&value, at, 1);
    }
    *p = at + (at < end);
    ok = ok && txm_metadata_add(metadata, name, value.data ? value.data : "", value.size);
    txm_bytes_free(&value);
    return ok;
}

/* OpenImageIO stores attributes for which TIFF has no tag in the description, as name=value. */
bool txm_metadata_add_words(txm_metadata *metadata, const char *text, size_t text_bytes)
{
    const char *end = text + strnlen(text, text_bytes);
    const size_t first = metadata->count;
    for (const char *p = text; p < end;) {
        const char *start = p;
        while (p < end && (isalnum((unsigned char)*p) || strchr(":_-.", *p)))
            p++;
        char name[64];
        size_t name_bytes = (size_t)(p - start);
        bool ok = true, word = p < end && *p == '=' && name_bytes && name_bytes < sizeof name;
        if (word) {
            memcpy(name, start, name_bytes);
            name[name_bytes] = 0;
            p++;
        }
        bool quoted = word && p < end && *p == '"';
        if (quoted)
            ok = add_quoted(metadata, name, &p, end);
        /* The rest of the word is the value, or text without a name. */
        const char *value = p;
        while (p < end && !isspace((unsigned char)*p))
            p++;
        if (word && !quoted)
            ok = txm_metadata_add(metadata, name, value, (size_t)(p - value));
        if (!ok)
            return false;
        while (p < end && isspace((unsigned char)*p))
            p++;
    }
    for (size_t i = first; i < metadata->count; i++)
        metadata->entries[i].word = true;
    return true;
}

/* Leaves the object ready to be filled again. */
void txm_metadata_free(txm_metadata *metadata)
{
    txm_bytes_free(&metadata->text);
    free(metadata->entries);
    memset(metadata, 0, sizeof *metadata);
}

/* The entries are in file order. The strings belong to the file. */
bool txm_tx_metadata_at(const txm_tx *tx, size_t index, const char **name, const char **value)
{
    const txm_metadata *m = &tx->metadata;
    if (index >= m->count)
        return false;
    *name = m->text.data + m->entries[index].name;
    *value = m->text.data + m->entries[index].value;
    return true;
}

/* The first entry of that name, or the last word: a description begins with what its image brought along, which may
 * have the words of another tx file, and an image cannot have the tags. */
const char *txm_tx_metadata_of(const txm_tx *tx, const char *name)
{
    const char *entry, *value, *word = NULL;
    for (size_t i = 0; txm_tx_metadata_at(tx, i, &entry, &value); i++) {
        if (strcmp(entry, name) != 0)
            continue;
        if (!tx->metadata.entries[i].word)
            return value;
        word = value;
    }
    return word;
}
