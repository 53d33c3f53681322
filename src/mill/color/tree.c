/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, edits and writes a config's YAML tree. txm_config_scan_text must have bounded depth and size before, so
 * recursion over the tree is shallow and writing aliases out in full stays small. Comments and styles of the original
 * are not kept, since only the library reads the result.
 */
#include "mill/color/tree.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

txm_status txm_tree_load(txm_tree *tree, const char *text, size_t size_bytes, txm_error *err)
{
    yaml_parser_t parser;
    memset(tree, 0, sizeof *tree);
    if (!yaml_parser_initialize(&parser))
        return txm_no_memory(err, NULL);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size_bytes);
    tree->has_document = yaml_parser_load(&parser, &tree->document);
    txm_status status = TXM_OK;
    if (!tree->has_document)
        status = txm_yaml_lacks_memory(&parser) ? txm_no_memory(err, NULL)
                                                : txm_fail(err, TXM_STATUS_CONFIG, "invalid YAML: %s",
                                                           parser.problem ? parser.problem : "unreadable");
    yaml_parser_delete(&parser);
    if (status != TXM_OK)
        return status;
    tree->nodes = (size_t)(tree->document.nodes.top - tree->document.nodes.start);
    tree->dropped = txm_calloc(tree->nodes + 1, sizeof *tree->dropped);
    return tree->dropped ? TXM_OK : txm_no_memory(err, NULL);
}

void txm_tree_free(txm_tree *tree)
{
    if (tree->has_document)
        yaml_document_delete(&tree->document);
    free(tree->dropped);
    memset(tree, 0, sizeof *tree);
}

static yaml_node_t *node_of(txm_tree *tree, int node, yaml_node_type_t type)
{
    yaml_node_t *n = node > 0 ? yaml_document_get_node(&tree->document, node) : NULL;
    return n && n->type == type ? n : NULL;
}

int txm_tree_root(txm_tree *tree)
{
    return yaml_document_get_root_node(&tree->document) ? 1 : 0;
}

const char *txm_tree_text(txm_tree *tree, int node)
{
    yaml_node_t *n = node_of(tree, node, YAML_SCALAR_NODE);
    return n ? (const char *)n->data.scalar.value : NULL;
}

/* The first entry with that key; pointers into the document are valid until it is edited. */
static yaml_node_pair_t *find_pair(txm_tree *tree, int node, const char *key)
{
    yaml_node_t *n = node_of(tree, node, YAML_MAPPING_NODE);
    for (yaml_node_pair_t *p = n ? n->data.mapping.pairs.start : NULL; n && p < n->data.mapping.pairs.top; p++) {
        const char *text = txm_tree_text(tree, p->key);
        if (text && strcmp(text, key) == 0)
            return p;
    }
    return NULL;
}

int txm_tree_value(txm_tree *tree, int node, const char *key)
{
    yaml_node_pair_t *p = find_pair(tree, node, key);
    return p ? p->value : 0;
}

size_t txm_tree_count(txm_tree *tree, int node)
{
    yaml_node_t *list = node_of(tree, node, YAML_SEQUENCE_NODE), *map = node_of(tree, node, YAML_MAPPING_NODE);
    if (list)
        return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
    return map ? (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start) : 0;
}

int txm_tree_item(txm_tree *tree, int node, size_t n, int *key)
{
    yaml_node_t *list = node_of(tree, node, YAML_SEQUENCE_NODE), *map = node_of(tree, node, YAML_MAPPING_NODE);
    if (list)
        return list->data.sequence.items.start[n];
    if (key)
        *key = map->data.mapping.pairs.start[n].key;
    return map->data.mapping.pairs.start[n].value;
}

void txm_tree_drop(txm_tree *tree, int node, bool drop)
{
    if (node > 0 && (size_t)node <= tree->nodes)
        tree->dropped[node] = drop;
}

bool txm_tree_is_dropped(const txm_tree *tree, int node)
{
    return node > 0 && (size_t)node <= tree->nodes && tree->dropped[node];
}

static int add_text(txm_tree *tree, const char *text)
{
    return yaml_document_add_scalar(&tree->document, NULL, (const yaml_char_t *)text, -1, YAML_ANY_SCALAR_STYLE);
}

bool txm_tree_set(txm_tree *tree, int mapping, const char *key, const char *text)
{
    int value = add_text(tree, text);
    yaml_node_pair_t *p = find_pair(tree, mapping, key);
    if (value && p)
        p->value = value;
    return value && p;
}

static bool add_pair(txm_tree *tree, int mapping, const char *key, int value)
{
    int name = add_text(tree, key);
    return name && value && yaml_document_append_mapping_pair(&tree->document, mapping, name, value);
}

static bool append_item(txm_tree *tree, int mapping, const char *key, int item)
{
    int list = txm_tree_value(tree, mapping, key);
    /* libyaml asserts this, but the document need not satisfy it. */
    if (!node_of(tree, mapping, YAML_MAPPING_NODE))
        return false;
    if (!node_of(tree, list, YAML_SEQUENCE_NODE)) {
        list = yaml_document_add_sequence(&tree->document, NULL, YAML_FLOW_SEQUENCE_STYLE);
        if (!add_pair(tree, mapping, key, list))
            return false;
    }
    return item && yaml_document_append_sequence_item(&tree->document, list, item);
}

bool txm_tree_append(txm_tree *tree, int mapping, const char *key, const char *text)
{
    return append_item(tree, mapping, key, add_text(tree, text));
}

bool txm_tree_append_mapping(txm_tree *tree, int mapping, const char *key, const char *tag,
                             const char *const (*entries)[2], size_t count)
{
    int item = yaml_document_add_mapping(&tree->document, (const yaml_char_t *)tag, YAML_FLOW_MAPPING_STYLE);
    bool ok = item != 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_pair(tree, item, entries[i][0], add_text(tree, entries[i][1]));
    return ok && append_item(tree, mapping, key, item);
}

static int add_output(void *user, unsigned char *data, size_t size)
{
    return txm_bytes_add(user, data, size);
}

/* The document gives untagged nodes a default tag, which is not written. */
static yaml_char_t *tag_of(yaml_node_t *n, const char *implicit)
{
    return n->tag && strcmp((const char *)n->tag, implicit) != 0 ? n->tag : NULL;
}

/* Aliases are written out in full; the scan has bounded their size. */
static bool write_node(txm_tree *tree, yaml_emitter_t *emitter, int node)
{
    yaml_node_t *n = yaml_document_get_node(&tree->document, node);
    yaml_event_t event;
    yaml_char_t *tag;
    bool ok = false, list;
    switch (n->type) {
    case YAML_SCALAR_NODE:
        tag = tag_of(n, YAML_DEFAULT_SCALAR_TAG);
        return yaml_scalar_event_initialize(&event, NULL, tag, n->data.scalar.value, (int)n->data.scalar.length, !tag,
                                            !tag, n->data.scalar.style) &&
               yaml_emitter_emit(emitter, &event);
    case YAML_SEQUENCE_NODE:
        tag = tag_of(n, YAML_DEFAULT_SEQUENCE_TAG);
        ok = yaml_sequence_start_event_initialize(&event, NULL, tag, !tag, n->data.sequence.style);
        break;
    case YAML_MAPPING_NODE:
        tag = tag_of(n, YAML_DEFAULT_MAPPING_TAG);
        ok = yaml_mapping_start_event_initialize(&event, NULL, tag, !tag, n->data.mapping.style);
        break;
    default:
        break;
    }
    ok = ok && yaml_emitter_emit(emitter, &event);
    list = n->type == YAML_SEQUENCE_NODE;
    for (size_t i = 0, count = txm_tree_count(tree, node); ok && i < count; i++) {
        int key = 0, value = txm_tree_item(tree, node, i, &key);
        if (txm_tree_is_dropped(tree, value))
            continue;
        ok = (list || write_node(tree, emitter, key)) && write_node(tree, emitter, value);
    }
    return ok && (list ? yaml_sequence_end_event_initialize(&event) : yaml_mapping_end_event_initialize(&event)) &&
           yaml_emitter_emit(emitter, &event);
}

txm_status txm_tree_write(txm_tree *tree, txm_bytes *out, txm_error *err)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&emitter))
        return txm_no_memory(err, NULL);
    yaml_emitter_set_output(&emitter, add_output, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    bool ok = yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) && yaml_emitter_emit(&emitter, &event) &&
              yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
              yaml_emitter_emit(&emitter, &event) && write_node(tree, &emitter, txm_tree_root(tree)) &&
              yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(&emitter, &event) &&
              yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(&emitter, &event);
    txm_status status = TXM_OK;
    if (!ok)
        status = emitter.error == YAML_EMITTER_ERROR
                     ? txm_fail(err, TXM_STATUS_CONFIG, "cannot be written as YAML again: %s", emitter.problem)
                     : txm_no_memory(err, NULL);
    yaml_emitter_delete(&emitter);
    return status;
}
