/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that can only be decompressed from their start are decompressed once: everything that a second pass needs is
 * recorded on a tape. */
#include <sys/mman.h>

#include "mill/scene/blend/digest.h"
#include "mill/scene/blend/walk.h"
#include "util_blend.h"
#include "util_check.h"
#include "util_scene_file.h"

/* Records a scene that is one gzip stream in memory. */
typedef struct recorded {
    int fd;
    size_t bytes;
    txm_stream *stream;
    txm_blend_layout format;
    txm_tape tape;
    txm_dna *dna;
} recorded;

static recorded record(const char *name, bool graph, size_t limit_bytes)
{
    recorded r = {.tape = {.graph = graph, .limit_bytes = limit_bytes}};
    FREED char *path = scene_path(name);
    size_t plain_bytes;
    FREED uint8_t *plain = scene_load(path, &plain_bytes), *gzip = scene_gzip(plain, plain_bytes, &r.bytes);
    r.fd = memfd_create("scene", MFD_CLOEXEC);
    ck_assert_int_eq(write(r.fd, gzip, r.bytes), (ssize_t)r.bytes);
    ck_assert_int_eq(txm_stream_from_fd(dup(r.fd), name, &r.stream, NULL), TXM_OK);
    ck_assert_int_eq(txm_blend_read_header(r.stream, &r.format, NULL), TXM_OK);
    ck_assert_int_eq(txm_locate_dna(r.stream, &r.format, &r.tape, &r.dna, NULL), TXM_OK);
    return r;
}

static void release(recorded *r)
{
    txm_dna_free(&r->dna);
    txm_tape_free(&r->tape);
    txm_stream_close(&r->stream);
    close(r->fd);
}

/* Returns whether a scan reads the block's payload. */
static bool wanted(const txm_tape *tape, const txm_block *block)
{
    txm_role role = txm_role_of(block->code);
    return txm_block_is(block, "DATA") || txm_block_is(block, "GLOB") ||
           (txm_block_is_id(block) && role != TXM_ROLE_INTERFACE && (tape->graph || role != TXM_ROLE_OTHER));
}

/* The second pass reads the same from the stream and, after every byte of the file was cleared, from the tape: all
 * blocks that matter, in order and with their payloads. Returns how many of the stream's blocks are not on the tape. */
static size_t compare_walks(const recorded *r)
{
    txm_walk stream = {.stream = r->stream, .format = &r->format},
             tape = {.stream = r->stream, .format = &r->format, .tape = &r->tape};
    txm_block there, block;
    size_t left_out = 0, n = 0;
    FREED uint8_t *expected = NULL;
    txm_error err = {0};
    /* First reads the stream and lists its blocks. */
    struct {
        txm_block block;
        size_t at, kept;
    } *blocks = NULL;
    size_t count = 0, used = 0;
    do {
        ck_assert_int_eq(txm_walk_next(&stream, &there, NULL), TXM_OK);
        size_t kept = there.bytes < TXM_RUN_MAX_BLOCK_BYTES ? (size_t)there.bytes : TXM_RUN_MAX_BLOCK_BYTES;
        blocks = realloc(blocks, (count + 1) * sizeof *blocks);
        expected = realloc(expected, used + kept + 1);
        ck_assert_int_eq(txm_walk_read(&stream, &there, expected + used, kept, NULL), TXM_OK);
        blocks[count].block = there;
        blocks[count].at = used;
        blocks[count++].kept = kept;
        used += kept;
    } while (!txm_block_is(&there, "ENDB"));
    ck_assert_int_eq(ftruncate(r->fd, 0), 0);
    FREED uint8_t *got = malloc(TXM_RUN_MAX_BLOCK_BYTES);
    do {
        ck_assert_int_eq(txm_walk_next(&tape, &block, NULL), TXM_OK);
        for (; blocks[n].block.position != block.position; n++, left_out++) {
            ck_assert_str_eq(blocks[n].block.code, "DATA");
            ck_assert_uint_lt(n, count);
        }
        ck_assert_str_eq(blocks[n].block.code, block.code);
        ck_assert_uint_eq(blocks[n].block.address, block.address);
        ck_assert_uint_eq(blocks[n].block.bytes, block.bytes);
        if (tape.kept >= blocks[n].kept) {
            ck_assert_msg(txm_walk_read(&tape, &block, got, blocks[n].kept, &err) == TXM_OK, "%s", err.message);
            ck_assert_mem_eq(got, expected + blocks[n].at, blocks[n].kept);
        } else { /* blocks that are not on the tape are searched in the file */
            ck_assert(block.sdna == 0 || !wanted(&r->tape, &block));
            ck_assert_int_ne(txm_walk_read(&tape, &block, got, blocks[n].kept, NULL), TXM_OK);
        }
        n++;
    } while (!txm_block_is(&block, "ENDB"));
    ck_assert_uint_eq(n, count);
    free(blocks);
    return left_out;
}

TEST(a_second_walk_needs_no_stream)
{
    recorded r = record("lint.blend", false, TXM_TAPE_MAX_BYTES);
    ck_assert_uint_gt(r.tape.data.size, 0);
    ck_assert_uint_gt(compare_walks(&r), 100); /* windows, brushes: not on the tape */
    release(&r);
}

TEST(libraries_keep_every_data_block)
{
    recorded scene = record("lib/graph.blend", false, TXM_TAPE_MAX_BYTES),
             library = record("lib/graph.blend", true, TXM_TAPE_MAX_BYTES);
    ck_assert_uint_gt(compare_walks(&scene), compare_walks(&library));
    release(&scene);
    release(&library);
}

TEST(a_full_tape_is_thrown_away)
{
    recorded whole = record("lint.blend", false, TXM_TAPE_MAX_BYTES);
    size_t needed = whole.tape.data.size;
    release(&whole);
    recorded r = record("lint.blend", false, needed);
    ck_assert(!r.tape.failed);
    release(&r);
    for (size_t limit = 0; limit < needed; limit = limit * 4 + 1000) {
        r = record("lint.blend", false, limit < needed ? limit : needed - 1);
        ck_assert(r.tape.failed);
        ck_assert_uint_eq(r.tape.data.size, 0);
        ck_assert_ptr_nonnull(r.dna); /* it is found nevertheless */
        release(&r);
    }
    r = record("lint.blend", false, needed - 1);
    ck_assert(r.tape.failed);
    release(&r);
}

TEST(seekable_files_need_no_tape)
{
    FREED char *path = scene_path("lint.blend"); /* zstd with a seek table */
    txm_stream *stream = NULL;
    txm_blend_layout format;
    txm_tape tape = {.limit_bytes = TXM_TAPE_MAX_BYTES};
    txm_dna *dna = NULL;
    ck_assert_int_eq(txm_stream_open(path, &stream, NULL), TXM_OK);
    ck_assert_int_eq(txm_blend_read_header(stream, &format, NULL), TXM_OK);
    ck_assert_int_eq(txm_locate_dna(stream, &format, &tape, &dna, NULL), TXM_OK);
    ck_assert_uint_eq(tape.data.size, 0);
    txm_dna_free(&dna);
    txm_stream_close(&stream);
}
