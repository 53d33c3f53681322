/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads scenes of Cycles' own program, in XML. From a file <cycles> and those that it includes it lists the image
 * nodes of shaders as Cycles creates them: <image_texture> and <environment_texture> in <shader> and <background>,
 * however deep <transform>, <state> and <object> nest them. For lint the nodes of a shader are followed along <connect>
 * from those that make normals back to images. File names are relative to the file that contains them,
 * missing attributes have the values of a new node, and unknown words are ignored, as in Cycles.
 *
 * Files may be hostile. Expat gets each file in one piece, since with several it would scan a long attribute again for
 * every piece; size and depth are bounded, and a file that declares entities, which Cycles' parser does not support,
 * is refused.
 */
#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "base/text.h"
#include "base/whole.h"
#include "mill/scene/nodes.h"

/* Expat 2.9 replaced the function of older versions, and warns if that is used. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define LINE_OF(parser) XML_GetCurrentLineNumber64(parser)
#else
#define LINE_OF(parser) XML_GetCurrentLineNumber(parser)
#endif

enum { MAX_DEPTH = 256, MAX_NESTING = 64, MAX_FILE_BYTES = 1 << 30, MAX_TILES = TXM_NODE_MAX_TILES };

/* The parser's place in a file. */
typedef enum xml_place { AT_TOP, IN_SCENE, IN_SHADER, ELSEWHERE } xml_place;

/* State that all files of a scene share. */
typedef struct xml_scene {
    txm_scene *scene;
    txm_node_list nodes;
    txm_names seen; /* files that were read */
    unsigned nesting;
} xml_scene;

/* The nodes of a shader and their links, for lint. A name means the last node that has it, as in Cycles. */
#define NO_INDEX UINT32_MAX
enum { MAX_GRAPH_NODES = 1 << 20, MAX_GRAPH_LINKS = 1 << 22 }; /* beyond that, lint gives up */

typedef struct graph_node {
    uint32_t links; /* the first link that leads to it; NO_INDEX: none */
    size_t image;   /* index + 1 of the entry of an image node; else 0 */
    bool passes;    /* its output is a transformed input */
    bool bends;     /* it makes normals of a colour */
    bool seen;
} graph_node;

typedef struct graph_link {
    uint32_t from, next; /* next: another one that leads to the same node */
} graph_link;

typedef struct graph {
    txm_names names; /* index + 1 of the node with a name */
    graph_node *nodes;
    graph_link *links;
    uint32_t *waiting;
    size_t node_count, node_capacity, link_count, link_capacity, waiting_count, waiting_capacity;
} graph;

typedef struct xml_file {
    xml_scene *all;
    XML_Parser parser;
    const char *path, *library; /* library is "" for the scene itself */
    char *folder;
    xml_place places[MAX_DEPTH];
    unsigned depth;
    char *owner;
    bool background;
    graph graph;       /* of the shader that is being read */
    txm_status status; /* why the parser stopped; the message is in `err` */
    txm_error *err;
} xml_file;

static txm_status read_xml_file(xml_scene *all, const char *path, const char *library, txm_error *err);

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static const char *attribute(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* Backslashes come from Windows and are separators too. NULL if memory is exhausted. */
static char *path_in(const xml_file *file, const char *stored)
{
    char *slashes, *joined, *path;
    if (txm_path_map_apply(file->all->scene->options.maps, file->all->scene->options.map_count, stored, &path))
        return path;
    slashes = txm_strdup(stored);
    for (char *p = slashes; p && *p; p++)
        *p = *p == '\\' ? '/' : *p;
    joined = slashes ? txm_path_join(file->folder, slashes) : NULL;
    path = joined ? txm_path_normal(joined) : NULL;
    free(joined);
    free(slashes);
    return path;
}

static void stop(xml_file *file, txm_status status)
{
    file->status = status;
    XML_StopParser(file->parser, XML_FALSE);
}

/* ---- lint -------------------------------------------------------------------------------------------------------- */

static void free_graph(graph *g)
{
    txm_names_free(&g->names);
    free(g->nodes);
    free(g->links);
    free(g->waiting);
    *g = (graph){0};
}

/* `image`: as in graph_node. */
static bool add_graph_node(graph *g, const char *kind, const char *name, size_t image)
{
    static const char *const passing[] = {"separate_color",
                                          "separate_rgb",
                                          "separate_xyz",
                                          "separate_hsv",
                                          "combine_color",
                                          "combine_rgb",
                                          "combine_xyz",
                                          "combine_hsv",
                                          "math",
                                          "vector_math",
                                          "map_range",
                                          "vector_map_range",
                                          "clamp",
                                          "rgb_ramp",
                                          "rgb_to_bw",
                                          "rgb_curves",
                                          "vector_curves",
                                          "float_curve",
                                          "invert",
                                          "gamma",
                                          "hsv",
                                          "mix",
                                          "mix_color",
                                          "mix_float",
                                          "mix_vector",
                                          "reroute",
                                          "squeeze",
                                          "brightness_contrast"};
    if (!name || g->node_count == MAX_GRAPH_NODES) /* without a name, nothing can be connected to it */
        return true;
    if (!TXM_GROW(g->nodes, g->node_capacity, g->node_count))
        return false;
    graph_node *n = &g->nodes[g->node_count++];
    *n = (graph_node){.links = NO_INDEX, .image = image, .bends = strcmp(kind, "normal_map") == 0};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        n->passes |= strcmp(kind, passing[i]) == 0;
    txm_name *entry = txm_names_entry(&g->names, name);
    if (entry)
        entry->value = g->node_count;
    return entry != NULL;
}

/* The node and the socket of "NODE SOCKET", whose node may have blanks in its name; NO_INDEX if there is none. */
static uint32_t graph_end(graph *g, const char *text, const char **socket)
{
    const char *blank = text ? strrchr(text, ' ') : NULL;
    char *name = blank ? txm_strndup(text, (size_t)(blank - text)) : NULL;
    const txm_name *entry = name && txm_names_has(&g->names, name) ? txm_names_entry(&g->names, name) : NULL;
    *socket = blank ? blank + 1 : "";
    free(name);
    return entry ? (uint32_t)(entry->value - 1) : NO_INDEX;
}

/* A factor says how much of the others is mixed, and is not mixed itself. */
static bool add_graph_link(graph *g, const char *from, const char *to)
{
    const char *socket;
    const uint32_t source = graph_end(g, from, &socket), target = graph_end(g, to, &socket);
    if (source == NO_INDEX || target == NO_INDEX || txm_ncasecmp(socket, "fac", 3) == 0 ||
        g->link_count == MAX_GRAPH_LINKS)
        return true;
    if (!TXM_GROW(g->links, g->link_capacity, g->link_count))
        return false;
    g->links[g->link_count] = (graph_link){.from = source, .next = g->nodes[target].links};
    g->nodes[target].links = (uint32_t)g->link_count++;
    return true;
}

/* Marks the images whose colours become normals: from the nodes that make them against the links. */
static bool mark_normals(graph *g, txm_node_list *list)
{
    bool ok = true;
    for (size_t n = 0; ok && n < g->node_count; n++)
        if (g->nodes[n].bends && (ok = TXM_GROW(g->waiting, g->waiting_capacity, g->waiting_count)))
            g->waiting[g->waiting_count++] = (uint32_t)n;
    while (ok && g->waiting_count) {
        const graph_node *n = &g->nodes[g->waiting[--g->waiting_count]];
        for (uint32_t l = n->links; ok && l != NO_INDEX; l = g->links[l].next) {
            graph_node *from = &g->nodes[g->links[l].from];
            if (from->image)
                list->entries.data[from->image - 1].normal = true;
            if (!from->passes || from->seen)
                continue;
            from->seen = true;
            if ((ok = TXM_GROW(g->waiting, g->waiting_capacity, g->waiting_count)))
                g->waiting[g->waiting_count++] = g->links[l].from;
        }
    }
    return ok;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static void take_image_node(xml_file *file, const XML_Char **attributes, bool environment)
{
    const char *name = attribute(attributes, "name"), *filename = attribute(attributes, "filename"),
               *space = attribute(attributes, "colorspace"),
               *numbers = environment ? NULL : attribute(attributes, "tiles");
    uint32_t *tiles = numbers ? txm_calloc(MAX_TILES, sizeof *tiles) : NULL;
    size_t tile_count = 0;
    while (tiles && *numbers && tile_count < MAX_TILES) { /* separated by blanks; those that no tile has are skipped */
        char *end;
        numbers += strspn(numbers, " \t\r\n");
        const long tile = strtol(numbers, &end, 10);
        if (tile > 1000 && tile < 100000)
            tiles[tile_count++] = (uint32_t)tile;
        numbers = end + strcspn(end, " \t\r\n");
    }
    char *path = filename && *filename ? path_in(file, filename) : txm_strdup("");
    if (!path || (numbers && !tiles)) {
        stop(file, txm_no_memory(file->err, file->path));
    } else {
        txm_image_node node = {.node = name          ? name
                                       : environment ? "environment_texture"
                                                     : "image_texture",
                               .owner = file->owner,
                               .owner_type = file->background ? "world" : "material",
                               .library = file->library,
                               .stored_path = filename ? filename : "",
                               .path = path,
                               .colorspace = space ? space : TXM_NODE_COLORSPACE,
                               .alpha = txm_node_alpha(attribute(attributes, "alpha_type")),
                               .environment = environment,
                               .tiles = tiles,
                               .tile_count = tile_count,
                               .extension = txm_node_extension(environment ? NULL : attribute(attributes, "extension")),
                               .interpolation = txm_node_interpolation(attribute(attributes, "interpolation"))};
        node.tiled = node.tile_count > 0;
        txm_status status = txm_nodes_add(file->all->scene, &file->all->nodes, &node, file->err);
        if (status != TXM_OK)
            stop(file, status);
    }
    free(path);
    free(tiles);
}

/* Cycles stops at a file that cannot be included; here it is reported as a missing library, and the rest is listed. */
static void take_include(xml_file *file, const char *src)
{
    xml_scene *all = file->all;
    txm_error why = {0};
    char *path = src ? path_in(file, src) : NULL;
    if (!src)
        return;
    if (!path) {
        stop(file, txm_no_memory(file->err, file->path));
        return;
    }
    txm_status status = TXM_OK;
    if (!txm_names_has(&all->seen, path)) {
        status = all->nesting < MAX_NESTING
                     ? read_xml_file(all, path, path, &why)
                     : txm_fail(&why, TXM_STATUS_CORRUPT, "%s: included through more than %d files", path, MAX_NESTING);
        if (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_TOO_LARGE) {
            stop(file, txm_fail_with(file->err, status, &why));
        } else {
            status = txm_nodes_add_library(all->scene, path, file->path, status, why.message, file->err);
            if (status != TXM_OK)
                stop(file, status);
        }
    }
    free(path);
}

/* The place that the element's children are in. */
static xml_place take_scene_element(xml_file *file, const char *name, const XML_Char **attributes)
{
    static const char *const nesting[] = {"transform", "state", "object"};
    bool background = txm_casecmp(name, "background") == 0;
    if (background || txm_casecmp(name, "shader") == 0) {
        const char *owner = attribute(attributes, "name");
        free(file->owner);
        file->owner = txm_strdup(background ? "background" : owner ? owner : "shader");
        file->background = background;
        if (!file->owner)
            stop(file, txm_no_memory(file->err, file->path));
        return IN_SHADER;
    }
    if (txm_casecmp(name, "include") == 0) {
        take_include(file, attribute(attributes, "src"));
        return ELSEWHERE;
    }
    for (size_t i = 0; i < sizeof nesting / sizeof *nesting; i++)
        if (txm_casecmp(name, nesting[i]) == 0)
            return IN_SCENE;
    return ELSEWHERE;
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    xml_file *file = user;
    xml_place place = file->depth ? file->places[file->depth - 1] : AT_TOP, inside = ELSEWHERE;
    /* Expat calls this a few more times after it was stopped. */
    if (file->status != TXM_OK)
        return;
    if (file->depth == MAX_DEPTH) {
        stop(file, txm_fail(file->err, TXM_STATUS_CORRUPT, "%s: its elements are nested more than %d deep", file->path,
                            MAX_DEPTH));
        return;
    }
    if (place == AT_TOP && strcmp(name, "cycles") != 0) {
        stop(file, txm_fail(file->err, TXM_STATUS_UNSUPPORTED,
                            "%s: not a Cycles scene: its first element is <%.100s>, not <cycles>", file->path, name));
    } else if (place == AT_TOP) {
        inside = IN_SCENE;
    } else if (place == IN_SCENE) {
        inside = take_scene_element(file, name, attributes);
    } else if (place == IN_SHADER) {
        const bool environment = strcmp(name, "environment_texture") == 0;
        const bool image = environment || strcmp(name, "image_texture") == 0;
        if (image)
            take_image_node(file, attributes, environment);
        if (file->all->scene->options.lint && file->status == TXM_OK) {
            /* The image node, if it is one, was just added. */
            const size_t entry = image ? file->all->nodes.entries.count : 0;
            const bool kept =
                txm_casecmp(name, "connect") == 0
                    ? add_graph_link(&file->graph, attribute(attributes, "from"), attribute(attributes, "to"))
                    : add_graph_node(&file->graph, name, attribute(attributes, "name"), entry);
            if (!kept)
                stop(file, txm_no_memory(file->err, file->path));
        }
    }
    file->places[file->depth++] = inside;
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    xml_file *file = user;
    (void)name;
    if (file->depth && file->places[file->depth - 1] == IN_SHADER && file->status == TXM_OK) {
        if (!mark_normals(&file->graph, &file->all->nodes))
            stop(file, txm_no_memory(file->err, file->path));
        free_graph(&file->graph);
    }
    if (file->depth)
        file->depth--;
}

static void XMLCALL on_entity(void *user, const XML_Char *name, int is_parameter, const XML_Char *value, int length,
                              const XML_Char *base, const XML_Char *system_id, const XML_Char *public_id,
                              const XML_Char *notation)
{
    xml_file *file = user;
    (void)is_parameter, (void)value, (void)length, (void)base, (void)system_id, (void)public_id, (void)notation;
    if (file->status == TXM_OK) {
        stop(file, txm_fail(file->err, TXM_STATUS_CORRUPT,
                            "%s: declares an entity (%.100s), which Cycles scenes do not", file->path, name));
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Reads the whole file. It is opened without blocking, since it may be a pipe. */
static txm_status load_xml_bytes(const char *path, txm_bytes *out, txm_error *err)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        txm_status status = txm_fail_errno(err, errno, "%s: cannot open", path);
        if (fd >= 0)
            close(fd);
        return status;
    }
    txm_status status = TXM_OK;
    if (!S_ISREG(st.st_mode))
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", path);
    else if (st.st_size > MAX_FILE_BYTES)
        status = txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: larger than %d MiB", path, MAX_FILE_BYTES >> 20);
    else if (!txm_bytes_reserve(out, (size_t)st.st_size + 1))
        status = txm_no_memory(err, path);
    if (status == TXM_OK) {
        const int64_t got = txm_read_most(fd, out->data, (size_t)st.st_size);
        out->size = got > 0 ? (size_t)got : 0;
        if (got < 0)
            status = txm_fail_errno(err, errno, "%s: cannot read", path);
    }
    close(fd);
    return status;
}

/* If a file is malformed, the nodes before that place are still listed. */
static txm_status read_xml_file(xml_scene *all, const char *path, const char *library, txm_error *err)
{
    txm_bytes bytes = {0};
    xml_file *file = txm_calloc(1, sizeof *file);
    char *folder = txm_path_dir(path);
    txm_status status = TXM_OK;
    if (!file || !folder || !txm_names_put(&all->seen, path))
        status = txm_no_memory(err, path);
    if (status == TXM_OK)
        status = load_xml_bytes(path, &bytes, err);
    if (status == TXM_OK) {
        *file = (xml_file){.all = all, .path = path, .library = library, .folder = folder, .err = err};
        file->parser = XML_ParserCreate(NULL);
        status = file->parser ? TXM_OK : txm_no_memory(err, path);
    }
    if (status == TXM_OK) {
        XML_SetUserData(file->parser, file);
        XML_SetElementHandler(file->parser, on_start, on_end);
        XML_SetEntityDeclHandler(file->parser, on_entity);
        all->nesting++;
        enum XML_Status parsed = XML_Parse(file->parser, (const char *)bytes.data, (int)bytes.size, XML_TRUE);
        enum XML_Error code = XML_GetErrorCode(file->parser);
        all->nesting--;
        status = file->status;
        if (status == TXM_OK && parsed != XML_STATUS_OK) {
            status = code == XML_ERROR_NO_MEMORY
                         ? txm_no_memory(err, path)
                         : txm_fail(err, TXM_STATUS_CORRUPT, "%s: line %lu: %s", path,
                                    (unsigned long)LINE_OF(file->parser), XML_ErrorString(code));
        }
        XML_ParserFree(file->parser);
        free_graph(&file->graph);
        free(file->owner);
    }
    txm_bytes_free(&bytes);
    free(folder);
    free(file);
    return status;
}

txm_status txm_scene_read_xml(txm_scene *scene, const char *path, txm_error *err)
{
    xml_scene all = {.scene = scene};
    txm_status status = read_xml_file(&all, path, "", err);
    if (status == TXM_OK)
        status = txm_nodes_collect(scene, &all.nodes, err);
    txm_names_free(&all.seen);
    free(all.nodes.entries.data);
    return status;
}
