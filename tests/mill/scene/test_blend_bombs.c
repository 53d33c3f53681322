/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenes that are small files and claim to be huge are refused, within bounded memory. */
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/path.h"
#include "util_blend.h"
#include "util_check.h"

/* Returns the peak memory of the process in MB, or 0 under sanitizers, which use memory differently. */
static long peak_megabytes(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return 0;
#else
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
#endif
}

/* Writes `head` and then `times` times `piece`, each as a frame. */
static uint8_t *repeated(const txm_bytes *head, const txm_bytes *piece, size_t times, size_t *bytes)
{
    size_t head_bytes, piece_bytes;
    FREED uint8_t *a = scene_zstd((uint8_t *)head->data, head->size, head->size, false, &head_bytes);
    FREED uint8_t *b = scene_zstd((uint8_t *)piece->data, piece->size, piece->size, false, &piece_bytes);
    uint8_t *out = malloc(head_bytes + times * piece_bytes);
    memcpy(out, a, head_bytes);
    for (size_t i = 0; i < times; i++) {
        memcpy(out + head_bytes + i * piece_bytes, b, piece_bytes);
    }
    *bytes = head_bytes + times * piece_bytes;
    return out;
}

static void put_head(txm_bytes *b, const char *code, size_t bytes, uint64_t address)
{
    uint8_t head[24] = {0};
    memcpy(head, code, strlen(code));
    patch(head + 4, bytes, 4);
    patch(head + 8, address, 8);
    ck_assert(txm_bytes_add(b, head, sizeof head));
}

TEST(bombs_are_refused)
{
    txm_bytes head = {0}, piece = {0};
    enum { ZEROS = 64 << 20 };
    ck_assert(txm_bytes_puts(&head, "BLENDER-v304"));
    put_head(&piece, "DATA", ZEROS, 1);
    ck_assert(txm_bytes_reserve(&piece, ZEROS));
    memset(piece.data + piece.size, 0, ZEROS);
    piece.size += ZEROS;
    size_t bytes;
    FREED uint8_t *bomb = repeated(&head, &piece, 200, &bytes); /* 12.5 GiB from some 400 kB */
    txm_bytes_free(&head);
    txm_bytes_free(&piece);
    txm_error err;
    ck_assert_int_eq(try_bytes(bomb, bytes, NULL, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(err.message, "bomb"));
    ck_assert_int_lt(peak_megabytes(), 200);
    /* If it is a library, the library is broken and the rest of the scene is listed. */
    char *folder = make_folder(), *lib = txm_path_join(folder, "lib"), *library = txm_path_join(lib, "library.blend"),
         *path = txm_path_join(folder, "linked.blend");
    ck_assert_int_eq(mkdir(lib, 0777), 0);
    spill(library, bomb, bytes);
    scene_file *file = small_scene("linked.blend", "MA WO ID LI IM GLOB", scene_plain);
    size_t scene_bytes;
    uint8_t *scene = scene_encode(file, &scene_bytes);
    spill(path, scene, scene_bytes);
    txm_scene *blend = open_scene(path, false);
    ck_assert_int_eq(txm_scene_library_at(blend, 0)->state, TXM_SCENE_LIBRARY_STATE_BROKEN);
    ck_assert_int_eq(txm_scene_library_at(blend, 0)->status, TXM_STATUS_TOO_LARGE);
    ck_assert_uint_eq(txm_scene_image_count(blend), 1);
    txm_scene_close(&blend);
    scene_free(file);
    free(scene);
    free(path);
    free(library);
    free(lib);
    remove_folder(folder);
}

TEST(masses_of_data_blocks_are_refused)
{
    /* There are millions of placeholders of libraries, the smallest data-blocks that are kept. */
    scene_file *file = small_scene("linked.blend", "ID GLOB", scene_plain);
    size_t encoded_bytes, bytes;
    uint8_t *encoded = scene_encode(file, &encoded_bytes);
    uint8_t *definitions = memmem(encoded, encoded_bytes, "DNA1", 4);
    scene_block *id = scene_find(file, "ID", NULL);
    txm_bytes head = {0}, piece = {0}, end = {0};
    ck_assert(txm_bytes_add(&head, encoded, 12));
    uint32_t sdna = 0;
    for (size_t at = 12; at < encoded_bytes && !sdna;) { /* the number of struct ID in this file */
        sdna = memcmp(encoded + at, "ID\0\0", 4) == 0 ? encoded[at + 16] : 0;
        at += 24 + (encoded[at + 4] | (size_t)encoded[at + 5] << 8 | (size_t)encoded[at + 6] << 16);
    }
    for (size_t i = 0; i < 20000; i++) {
        put_head(&piece, "ID", id->bytes, 4096 + 16 * i);
        patch((uint8_t *)piece.data + piece.size - 8, sdna, 4);
        ck_assert(txm_bytes_add(&piece, id->data, id->bytes));
    }
    uint8_t *masses = repeated(&head, &piece, 100, &bytes); /* two million */
    ck_assert(txm_bytes_add(&end, definitions, (size_t)(encoded + encoded_bytes - definitions)));
    size_t end_bytes;
    uint8_t *tail = scene_zstd((uint8_t *)end.data, end.size, end.size, false, &end_bytes);
    masses = realloc(masses, bytes + end_bytes);
    memcpy(masses + bytes, tail, end_bytes);
    txm_bytes_free(&head);
    txm_bytes_free(&piece);
    txm_bytes_free(&end);
    txm_error err;
    ck_assert_int_eq(try_bytes(masses, bytes + end_bytes, NULL, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(err.message, "128 MiB"));
    ck_assert_int_lt(peak_megabytes(), 200);
    free(tail);
    free(masses);
    free(encoded);
    scene_free(file);
}
