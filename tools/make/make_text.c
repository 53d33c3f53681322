/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats the result for one file.
 *
 * In: one result. Out: its line of text, in which the path and not the outcome is cut to the terminal's width, and the
 * words that JSON shares with it.
 */
#include "tools/make/make_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/output/format.h"
#include "tools/output/say.h"
#include "tools/output/text.h"

const char *txm_make_state(txm_outcome outcome)
{
    return txm_made_words(txm_made_of(outcome))->id;
}

/* Why an input was skipped; for the others the library says why they were or would be made. */
const char *txm_make_reason(const txm_result *result)
{
    if (result->outcome == TXM_OUTCOME_SAME)
        return "another input has the same tx file";
    if (result->outcome == TXM_OUTCOME_IS_TX)
        return "is a tx file itself";
    if (result->outcome == TXM_OUTCOME_USED_AS_IS)
        return "Cycles uses 1x1 images as they are";
    return result->reason;
}

void txm_make_content_key(const txm_batch_file *file, char out[TXM_SHA1_HEX])
{
    char text[TXM_SHA1_HEX + TXM_CONTENT_HEX];
    int n = snprintf(text, sizeof text, "%s%s", file->result->settings_key, file->content);
    txm_sha1_of(text, (size_t)n, out);
}

bool txm_make_is_limited(const txm_result *r)
{
    /* An image of one colour is stored as one tile. */
    return !r->constant && (r->image_width != r->width || r->image_height != r->height);
}

const char *txm_make_size(const txm_result *r, char out[TXM_MAKE_SIZE_BYTES])
{
    if (!txm_make_is_limited(r))
        snprintf(out, TXM_MAKE_SIZE_BYTES, "%ux%u", r->width, r->height);
    else if (r->image_width)
        snprintf(out, TXM_MAKE_SIZE_BYTES, "%ux%u of %ux%u", r->width, r->height, r->image_width, r->image_height);
    else
        snprintf(out, TXM_MAKE_SIZE_BYTES, "%ux%u of a larger image", r->width, r->height);
    return out;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

enum { DETAILS = 1024 };

typedef struct details {
    char text[DETAILS];
    size_t used;
} details;

static void add_detail(details *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_detail(details *d, const char *format, ...)
{
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(d->text + d->used, sizeof d->text - d->used, format, args);
    va_end(args);
    d->used += n > 0 ? (size_t)n : 0;
    if (d->used >= sizeof d->text)
        d->used = sizeof d->text - 1;
}

/* The least important details come last, because a narrow terminal leaves them out. */
static details details_of(const txm_batch_file *file, bool costs)
{
    const txm_result *r = file->result;
    char size[TXM_FORMAT_BYTES], time[TXM_FORMAT_BYTES], levels[TXM_FORMAT_COUNT], pixels[TXM_MAKE_SIZE_BYTES];
    details d = {.used = 0};
    if (r->outcome == TXM_OUTCOME_CREATED) {
        add_detail(&d, "%s%s%s, %s %s, %s, %s, %s, %s", strcmp(r->via, "converted") ? r->via : "",
                   strcmp(r->via, "converted") ? " of a finished file, " : "", txm_make_size(r, pixels),
                   txm_type_name(r->type), txm_format_channels(r->channels),
                   txm_format_count(r->levels, "level", levels), r->detected, txm_format_bytes(r->tx_bytes, size),
                   txm_format_seconds(r->seconds, time));
        return d;
    }
    if (r->otherwise)
        add_detail(&d, "made with other settings: %s; --force rewrites it", r->reason);
    else
        add_detail(&d, "%s", txm_make_reason(r));
    if (r->outcome == TXM_OUTCOME_WOULD_CREATE && costs) {
        char memory[TXM_FORMAT_BYTES], cpu[TXM_FORMAT_BYTES];
        add_detail(&d, "; %.3g MP, %s, %s", file->cost.megapixels, txm_format_bytes(file->cost.memory_bytes, memory),
                   txm_format_seconds(file->cost.seconds, cpu));
    }
    if (r->outcome == TXM_OUTCOME_WOULD_CREATE && file->decided_by)
        add_detail(&d, "; \"%s\" by %s", r->colorspace, file->decided_by);
    return d;
}

static txm_style style_of(const txm_result *r)
{
    return r->outcome == TXM_OUTCOME_CREATED ? TXM_GOOD : r->otherwise ? TXM_DOUBTFUL : TXM_PLAIN;
}

/* As much as fits: the end of the path, the state, then as many details as there is room for. */
static void print_fitted(const txm_batch_file *file, const details *d, unsigned columns)
{
    const txm_result *r = file->result;
    const char *state = txm_make_state(r->outcome);
    unsigned name = txm_text_columns(file->input->path), rest = (unsigned)strlen(state) + 2 + (d->used ? 2 : 0);
    unsigned taken = txm_text_columns(d->text), most = columns - rest;
    /* The path gets the room that the details leave, and at least half of the line. */
    unsigned room = most > taken ? most - taken : 0;
    if (room < most / 2)
        room = most / 2;
    name = name < room ? name : room;
    txm_print_fitted(file->input->path, name);
    fputs(": ", stdout);
    txm_print_styled(style_of(r), state);
    if (d->used) {
        fputs(", ", stdout);
        txm_print_cut(d->text, most - name);
    }
    putchar('\n');
}

void txm_make_print_file(const txm_batch_file *file, bool costs)
{
    const details d = details_of(file, costs);
    txm_print_begin();
    if (isatty(STDOUT_FILENO))
        print_fitted(file, &d, txm_terminal_columns(STDOUT_FILENO));
    else {
        const txm_result *r = file->result;
        bool has_tx = r->tx_path && r->outcome != TXM_OUTCOME_IS_TX && r->outcome != TXM_OUTCOME_USED_AS_IS &&
                      r->outcome != TXM_OUTCOME_SAME;
        txm_print_safe(file->input->path);
        printf(": %-12s ", txm_make_state(r->outcome));
        if (has_tx)
            txm_print_safe(r->tx_path);
        if (d.used)
            txm_print_format("%s(%s)", has_tx ? "  " : "", d.text);
        putchar('\n');
    }
    fflush(stdout);
    txm_print_end();
}

void txm_make_print_key(const txm_batch_file *file)
{
    char key[TXM_SHA1_HEX];
    if (file->content)
        txm_make_content_key(file, key);
    txm_print_begin();
    txm_print_format("%s  %s\n", file->content ? key : file->result->settings_key, file->input->path);
    txm_print_end();
}

/* Cycles keeps colours with alpha. */
uint64_t txm_make_pixel_bytes(const txm_result *result)
{
    const uint64_t channels = result->channels == 1 ? 1 : 4;
    return (uint64_t)result->width * result->height * channels * txm_type_bytes(result->type);
}

void txm_make_add_pixels(txm_make_pixels *pixels, const txm_result *result)
{
    pixels->bytes += txm_make_pixel_bytes(result);
    pixels->limited += txm_make_is_limited(result);
}

void txm_make_say_saves(const txm_make_pixels *pixels)
{
    char all[TXM_FORMAT_BYTES], half[TXM_FORMAT_BYTES], limited[TXM_FORMAT_COUNT];
    if (!pixels->bytes)
        return;
    txm_say(TXM_SAY_INFO, "%s of textures%s%s; about %s at half resolution", txm_format_bytes(pixels->bytes, all),
            pixels->limited ? ", with limited sizes of " : "",
            pixels->limited ? txm_format_count(pixels->limited, "image", limited) : "",
            txm_format_bytes(pixels->bytes / 3, half));
}
