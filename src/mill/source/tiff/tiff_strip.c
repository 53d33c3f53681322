/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes deflate, LZW and PackBits as streams. Each decoder delivers as many bytes as requested and can stop in the
 * middle of a run, a string or a deflate block.
 */
#include "mill/source/tiff/tiff_strip.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <tiff.h>
#include <unistd.h>

#include "tile/base/mem.h"

enum { INPUT_BYTES = 64 << 10 };

/* LZW has codes of 9 to 12 bits, most significant bit first. */
enum { CLEAR = 256, END = 257, FIRST = 258, CODES = 4096, MIN_BITS = 9, MAX_BITS = 12 };

typedef struct lzw_string {
    uint16_t prefix; /* the string without its last byte; undefined for single bytes */
    uint16_t length;
    uint8_t first, last;
} lzw_string;

typedef struct lzw {
    lzw_string strings[CODES];
    unsigned next, bits; /* the next free code; width of the next code in the data */
    int previous;        /* previous code, -1 after a CLEAR */
    uint32_t window;     /* the bits that were read, the last one least significant */
    unsigned available;  /* number of bits in it */
    size_t at, end;      /* pending[at .. end) is decoded, but not delivered */
    uint8_t pending[CODES + 1];
} lzw;

typedef struct packbits {
    unsigned literal, repeat; /* bytes that are left of the current run */
    uint8_t value;
} packbits;

struct txm_tiff_strip {
    int fd;
    uint16_t compression;
    uint64_t offset, left; /* the part of the strip that is not in the buffer */
    size_t at, end;        /* unread part of the buffer */
    const char *reason;
    int sys_errno;
    uint8_t input[INPUT_BYTES];
    union {
        struct inflate_state inflate;
        lzw lzw;
        packbits packbits;
    } state;
};

/* NULL for other codecs, and if memory is exhausted. */
txm_tiff_strip *txm_tiff_strip_new(int fd, uint16_t compression)
{
    bool known = compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE ||
                 compression == COMPRESSION_LZW || compression == COMPRESSION_PACKBITS;
    txm_tiff_strip *s = known ? txm_calloc(1, sizeof *s) : NULL;
    if (s) {
        s->fd = fd;
        s->compression = compression;
    }
    return s;
}

void txm_tiff_strip_free(txm_tiff_strip *s)
{
    free(s);
}

const char *txm_tiff_strip_reason(const txm_tiff_strip *s)
{
    return s->reason ? s->reason : "damaged data";
}

int txm_tiff_strip_errno(const txm_tiff_strip *s)
{
    return s->sys_errno;
}

static bool fail_strip(txm_tiff_strip *s, const char *reason)
{
    s->reason = reason;
    return false;
}

/* Makes at least one byte of input available. */
static bool fill(txm_tiff_strip *s)
{
    ssize_t n;
    if (s->at < s->end)
        return true;
    if (s->left == 0)
        return fail_strip(s, "the strip ends before its last row");
    size_t want = s->left < INPUT_BYTES ? (size_t)s->left : INPUT_BYTES;
    do {
        n = pread(s->fd, s->input, want, (off_t)s->offset);
    } while (n < 0 && errno == EINTR);
    s->sys_errno = n < 0 ? errno : 0;
    if (n <= 0)
        return fail_strip(s, n < 0 ? "reading failed" : "the file ends in the middle of the strip");
    s->at = 0;
    s->end = (size_t)n;
    s->offset += (uint64_t)n;
    s->left -= (uint64_t)n;
    return true;
}

static bool next_byte(txm_tiff_strip *s, uint8_t *out)
{
    if (!fill(s))
        return false;
    *out = s->input[s->at++];
    return true;
}

/* ---- deflate ---------------------------------------------------------------------------------------------------- */

/* The zlib header is checked here, but not the checksum at the end, as in libtiff when it reads rows. */
static bool begin_deflate(txm_tiff_strip *s)
{
    uint8_t method, flags;
    if (!next_byte(s, &method) || !next_byte(s, &flags))
        return false;
    if ((method & 15) != 8 || flags & 0x20 || (method * 256 + flags) % 31 != 0)
        return fail_strip(s, "no zlib data");
    isal_inflate_init(&s->state.inflate);
    s->state.inflate.crc_flag = ISAL_DEFLATE;
    return true;
}

/* A stream may end exactly with the previous row: then the next one is missing. */
static bool read_deflate(txm_tiff_strip *s, uint8_t *dst, size_t bytes)
{
    struct inflate_state *z = &s->state.inflate;
    z->next_out = dst;
    z->avail_out = (uint32_t)bytes; /* a row: at most 65536 pixels of 64 channels */
    while (z->avail_out > 0) {
        if (z->block_state == ISAL_BLOCK_FINISH)
            return fail_strip(s, "the deflate stream ends before the last row");
        uint32_t before = z->avail_out;
        /* Without input the decoder may still have output. */
        bool starved = s->at == s->end && s->left == 0;
        if (!starved && !fill(s))
            return false;
        z->next_in = s->input + s->at;
        z->avail_in = (uint32_t)(s->end - s->at);
        int rc = isal_inflate(z);
        s->at = s->end - z->avail_in;
        if (rc < 0)
            return fail_strip(s, "damaged deflate data");
        if (starved && z->avail_out == before)
            return fill(s); /* reports that the strip ends */
    }
    return true;
}

/* ---- LZW -------------------------------------------------------------------------------------------------------- */

/* After CLEAR only single bytes are defined. */
static void clear_strings(lzw *z)
{
    z->next = FIRST;
    z->bits = MIN_BITS;
    z->previous = -1;
}

/* The bit order of very old files is not supported. */
static bool begin_lzw(txm_tiff_strip *s)
{
    lzw *z = &s->state.lzw;
    if (!fill(s))
        return false;
    /* A stream begins with CLEAR, whose bits are at the other end in files of the first versions. */
    if (s->end - s->at >= 2 && s->input[s->at] == 0 && s->input[s->at + 1] & 1)
        return fail_strip(s, "LZW in the old bit order");
    for (unsigned i = 0; i < 256; i++)
        z->strings[i] = (lzw_string){.length = 1, .first = (uint8_t)i, .last = (uint8_t)i};
    z->window = z->available = 0;
    z->at = z->end = 0;
    clear_strings(z);
    return true;
}

/* Codes have their most significant bit first. */
static bool next_code(txm_tiff_strip *s, unsigned *code)
{
    lzw *z = &s->state.lzw;
    while (z->available < z->bits) {
        uint8_t byte;
        if (!next_byte(s, &byte))
            return false;
        z->window = z->window << 8 | byte;
        z->available += 8;
    }
    z->available -= z->bits;
    *code = z->window >> z->available & ((1u << z->bits) - 1);
    return true;
}

/* The string of the previous code and one more byte becomes the next code. The width grows one entry early: a mistake
 * of the first writers that all others had to repeat. */
static void add_string(lzw *z, uint8_t last)
{
    if (z->next == CODES)
        return;
    const lzw_string *p = &z->strings[z->previous];
    z->strings[z->next++] = (lzw_string){(uint16_t)z->previous, (uint16_t)(p->length + 1), p->first, last};
    if (z->next > (1u << z->bits) - 2 && z->bits < MAX_BITS)
        z->bits++;
}

/* Writes the string of a code to `pending`, from its last byte on. */
static void expand(lzw *z, unsigned code)
{
    z->at = 0;
    z->end = z->strings[code].length;
    for (size_t i = z->end; i-- > 0; code = z->strings[code].prefix)
        z->pending[i] = z->strings[code].last;
}

/* A string is stored as its last byte and the string before it, so it is written from its end. */
static bool decode_string(txm_tiff_strip *s)
{
    lzw *z = &s->state.lzw;
    unsigned code;
    do {
        if (!next_code(s, &code))
            return false;
        if (code == CLEAR)
            clear_strings(z);
    } while (code == CLEAR);
    if (code == END)
        return fail_strip(s, "the LZW stream ends before the last row");
    if (z->previous < 0 ? code >= CLEAR : code > z->next || (code == z->next && z->next == CODES))
        return fail_strip(s, "an undefined LZW code");
    /* The code is being defined by this string, which ends with its own first byte. */
    if (z->previous >= 0)
        add_string(z, z->strings[code == z->next ? (unsigned)z->previous : code].first);
    expand(z, code);
    z->previous = (int)code;
    return true;
}

/* A string may be longer than what was requested: the rest stays pending. */
static bool read_lzw(txm_tiff_strip *s, uint8_t *dst, size_t bytes)
{
    lzw *z = &s->state.lzw;
    while (bytes > 0) {
        if (z->at == z->end && !decode_string(s))
            return false;
        size_t n = z->end - z->at < bytes ? z->end - z->at : bytes;
        memcpy(dst, z->pending + z->at, n);
        z->at += n;
        dst += n;
        bytes -= n;
    }
    return true;
}

/* ---- PackBits --------------------------------------------------------------------------------------------------- */

/* 0 to 127: that many bytes plus one follow; 129 to 255: the next byte is repeated 257 minus that many times. */
static bool next_run(txm_tiff_strip *s)
{
    packbits *p = &s->state.packbits;
    uint8_t count;
    if (!next_byte(s, &count))
        return false;
    if (count < 128)
        p->literal = count + 1u;
    else if (count > 128)
        p->repeat = 257u - count;
    return p->repeat == 0 || next_byte(s, &p->value);
}

/* Runs continue over rows. */
static bool read_packbits(txm_tiff_strip *s, uint8_t *dst, size_t bytes)
{
    packbits *p = &s->state.packbits;
    while (bytes > 0) {
        size_t n = p->repeat < bytes ? p->repeat : bytes;
        if (n > 0) {
            memset(dst, p->value, n);
            p->repeat -= (unsigned)n;
        } else if (p->literal > 0) {
            if (!fill(s))
                return false;
            n = p->literal < bytes ? p->literal : bytes;
            n = n < s->end - s->at ? n : s->end - s->at;
            memcpy(dst, s->input + s->at, n);
            s->at += n;
            p->literal -= (unsigned)n;
        } else if (!next_run(s)) {
            return false;
        }
        dst += n;
        bytes -= n;
    }
    return true;
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

/* Called for each strip. */
bool txm_tiff_strip_begin(txm_tiff_strip *s, uint64_t offset, uint64_t bytes)
{
    s->offset = offset;
    s->left = bytes;
    s->at = s->end = 0;
    s->reason = NULL;
    switch (s->compression) {
    case COMPRESSION_LZW:
        return begin_lzw(s);
    case COMPRESSION_PACKBITS:
        s->state.packbits = (packbits){0};
        return true;
    default:
        return begin_deflate(s);
    }
}

bool txm_tiff_strip_read(txm_tiff_strip *s, uint8_t *dst, size_t bytes)
{
    switch (s->compression) {
    case COMPRESSION_LZW:
        return read_lzw(s, dst, bytes);
    case COMPRESSION_PACKBITS:
        return read_packbits(s, dst, bytes);
    default:
        return read_deflate(s, dst, bytes);
    }
}
