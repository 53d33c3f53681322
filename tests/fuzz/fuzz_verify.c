/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes any bytes through the commands that read tx files: verify, info with its table of tiles, the pictures of
 * extract and view, the data of a page, and diff with itself. Each may report anything, but must not crash, and must
 * stay within the fuzzer's limits of memory and time.
 * Seeds: testdata/tx/[gbu]*.tx */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/inspect/info_report.h"
#include "tools/output/json.h"
#include "tools/view/view_blocks.h"
#include "tools/view/view_data.h"
#include "txmill/inspect.h"
#include "txmill/level.h"

/* A few kilobytes may claim to be gigabytes of pictures and pages, which txmill refuses or makes. A fuzzer need not. */
enum { MAX_PIXELS = 1 << 22, PAGE_BYTES = 1 << 16 };

static txm_context *context;
static char path[128];
static const volatile int never;

/* The name has the form that Cycles looks up, so that names are judged as well. */
static void set_up(void)
{
    static char folder[] = "/dev/shm/txmill-fuzz-XXXXXX";
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = 1};
    txm_error err = {0};
    if (!mkdtemp(folder) || txm_context_new(&options, &context, &err) != TXM_OK)
        abort();
    snprintf(path, sizeof path, "%s/rgb8.png.0-926BDA8569F1F2504902F06ABA51E46D.tx", folder);
}

static void write_file(const uint8_t *data, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes || close(fd))
        abort();
}

static void verify(void)
{
    txm_findings findings = {0};
    txm_error err = {0};
    if (txm_verify(context, path, NULL, &findings, &err) != TXM_OK && !err.message[0])
        abort(); /* every failure has a message */
    for (size_t i = 0; i < findings.count; i++)
        if (!findings.items[i].text[0])
            abort();
    txm_findings_clear(&findings);
}

static void compare(void)
{
    txm_difference d;
    if (txm_diff(context, path, path, true, &d, NULL) != TXM_OK)
        return;
    /* A file does not differ from itself, even if it has NaN. */
    for (uint32_t l = 0; l < d.levels; l++)
        if (d.level[l].compared && d.level[l].different)
            abort();
    txm_difference_clear(&d);
}

static void look(txm_info *info)
{
    txm_level_picture picture;
    txm_tx *tx = info->tx;
    const txm_tx_info *i = txm_tx_info_of(tx);
    txm_bytes text = {0};
    bool fits, embedded[TXM_MAX_LEVELS] = {false};
    cJSON *object = NULL;
    uint32_t last = i->levels - 1;
    const txm_tx_level *l = txm_tx_level_of(tx, last);
    if ((uint64_t)l->width * l->height <= MAX_PIXELS &&
        txm_level_picture_read(tx, last, false, &picture, NULL) == TXM_OK) {
        if (txm_level_picture_encode(tx, &picture, NULL) == TXM_OK)
            txm_level_picture_to_8_bits(&picture, NULL);
        txm_level_picture_clear(&picture);
    }
    if ((uint64_t)l->width * l->height <= MAX_PIXELS &&
        txm_view_blocks(context, tx, last, PAGE_BYTES, &never, &text, &fits, NULL) == TXM_OK && text.size > PAGE_BYTES)
        abort();
    txm_bytes_free(&text);
    if (txm_view_data(info, &never, &object, NULL) == TXM_OK) {
        txm_view_data_embedded(object, embedded, i->levels);
        free(txm_json_take(object));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_info info;
    if (!context)
        set_up();
    write_file(data, size);
    verify();
    if (txm_info_load(context, NULL, path, false, &info, NULL) == TXM_OK) {
        look(&info);
        compare();
        txm_info_clear(&info);
    }
    return 0;
}
