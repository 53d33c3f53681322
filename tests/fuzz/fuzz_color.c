/* SPDX-License-Identifier: Apache-2.0
 *
 * Treats any text as a config's YAML, as is done before OpenColorIO sees it. A text that passes the scan must load as
 * a tree, survive edits, and be written as YAML that passes the scan again.
 *
 * Seeds: testdata/color/[a-z]*.ocio */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mill/color/scan.h"
#include "mill/color/tree.h"

static void edit(txm_tree *tree, const uint8_t *data, size_t size)
{
    static const char *const rule[][2] = {{"name", "Default"}, {"colorspace", "default"}};
    int root = txm_tree_root(tree);
    txm_tree_set(tree, root, "ocio_profile_version", "2.1");
    txm_tree_append(tree, root, "aliases", "another: name");
    if (!txm_tree_value(tree, root, "file_rules"))
        txm_tree_append_mapping(tree, root, "file_rules", "Rule", rule, 2);
    for (size_t i = 0; i < size && i < 32; i++)
        txm_tree_drop(tree, data[i] % (int)(tree->nodes + 2), true);
    txm_tree_drop(tree, root, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_config_scan found;
    txm_tree tree;
    txm_bytes out = {0};
    txm_error err = {0};
    if (txm_config_scan_text((const char *)data, size, &found, NULL) != TXM_OK)
        return 0;
    if (txm_tree_load(&tree, (const char *)data, size, &err) == TXM_OK && txm_tree_root(&tree)) {
        edit(&tree, data, size);
        if (txm_tree_write(&tree, &out, &err) == TXM_OK &&
            txm_config_scan_text(out.data, out.size, &found, &err) != TXM_OK && !strstr(err.message, "more entries"))
            abort();
    }
    txm_tree_free(&tree);
    txm_bytes_free(&out);
    return 0;
}
