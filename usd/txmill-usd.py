# SPDX-License-Identifier: Apache-2.0
"""Lists the images that USD scenes and MaterialX documents use, for txmill: txmill-usd.py [--every-variant] [--map FROM TO]...
SCENE, run by a python3 that has usd-core (pxr).

Standard output has one JSON object per line: a node, a layer, or the reason why there are none. The last line is "end"; if it
is missing, the script was killed. The nodes are those that become image nodes in Cycles' Hydra delegate, with the names and
values that it gives them; src/mill/scene/usd.c interprets the rest.

Each line of standard input then asks for another scene: a JSON array of such arguments. Every scene is read by a copy of this
process, because loading pxr takes longer than most scenes, and USD may crash on one of them.
"""
import json
import os
import re
import signal
import sys
import threading

# Standard output is for JSON only: what USD prints goes to standard error.
OUT = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape", newline="\n")
os.dup2(2, 1)
SAID = set()
LAYERS = {}  # by identifier
NEEDED = set()  # (layer, path as it stores it) of references and payloads
MAX_SAMPLES = 10000
MAX_VARIANTS, MAX_DEPTH = 10000, 8


def say(kind, **fields):
    line = json.dumps({"kind": kind, **fields})
    if line not in SAID:  # the same nodes come in several variants
        SAID.add(line)
        OUT.write(line + "\n")


def limit_memory():
    """The script then fails where it would otherwise start to swap."""
    try:
        import resource
        pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (pages * page, pages * page))
    except (ImportError, OSError, ValueError):
        pass


try:
    from pxr import Ar, Sdf, Usd, UsdShade
except ImportError as e:
    say("lacking", message=str(e))
    OUT.flush()
    sys.exit(0)


# Also what only overrides something that is missing.
THERE = Usd.PrimIsActive & Usd.PrimIsLoaded & ~Usd.PrimIsAbstract


def text(value):
    """The text of a token, a string or None."""
    return "" if value is None else str(value)


def producers(shader, names):
    """(name of Cycles' socket, attribute) of the inputs that have a value, through the interfaces of materials and groups."""
    for given in shader.GetInputs():
        base = given.GetBaseName()
        name = names.get(base, base.lower())
        for attribute in given.GetValueProducingAttributes():
            if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Input:
                yield name, attribute


def anchored(layer, path):
    """The absolute path of an asset that the resolver does not find: a <UDIM> set, or a missing file. USD searches for names
    without ./ in other places first; if they are not found there, they are relative to the layer."""
    absolute = layer.ComputeAbsolutePath(path)
    if os.path.isabs(absolute) or Ar.IsPackageRelativePath(absolute):
        return absolute
    return os.path.join(os.path.dirname(layer.realPath), path)


def anchored_in(attribute, path):
    for spec in attribute.GetPropertyStack(Usd.TimeCode.EarliestTime()):
        if spec.layer:
            return anchored(spec.layer, path)
    return path


def images_of(attribute):
    """(path as stored, absolute path) for every frame for which the attribute has a value."""
    times = attribute.GetTimeSamples()[:MAX_SAMPLES] or [Usd.TimeCode.Default()]
    seen = set()
    for time in times:
        value = attribute.Get(time)
        if isinstance(value, Sdf.AssetPath):
            stored, path = value.path, value.resolvedPath or (anchored_in(attribute, value.path) if value.path else "")
        else:
            stored = path = text(value)
        if (stored, path) not in seen:
            seen.add((stored, path))
            yield stored, path


def layer_of(prim, root):
    """The strongest layer that defines the prim; "" for the scene itself."""
    for spec in prim.GetPrimStack():
        path = spec.layer.realPath
        if path:
            return "" if path == root else path
    return ""


def say_images(attribute, **fields):
    for stored, path in images_of(attribute):
        # "package.usdz[picture.png]"
        inside = Ar.IsPackageRelativePath(path)
        if path and not inside:
            path = os.path.abspath(path)
        say("node", stored=stored, path=path, inside=inside, **fields)


USD_NAMES = {"file": "filename", "sourceColorSpace": "colorspace", "wrapS": "wrap_s", "wrapT": "wrap_t"}


def value_of(attributes, name):
    attribute = attributes.get(name)
    return None if attribute is None else attribute.Get(Usd.TimeCode.EarliestTime())


def material_x_space(kind, attribute):
    """The space that the document gives for a colour; other types are data."""
    if not kind.endswith(("_color3", "_color4")):
        return "data"
    space = attribute.GetColorSpace() if attribute.HasColorSpace() else ""
    return space or "scene_linear"


# Inputs whose values are not part of the output: places in an image, and how much of the others is mixed.
ASIDE = {"st", "texcoord", "uv", "mix", "mask", "fac", "factor", "file", "filename"}


def is_image(kind):
    return kind.startswith(("UsdUVTexture", "ND_image_", "ND_tiledimage_", "ND_hextiledimage_", "cycles_image_texture"))


def makes_normals(kind, name):
    """Whether an input of a node becomes a normal."""
    if "UsdPreviewSurface" in kind:
        return name == "normal"
    return (kind.startswith("ND_normalmap") and name == "in") or (kind == "cycles_normal_map" and name == "color")


def used_for_normals(prims):
    """The paths of the image nodes whose colours become normals, also through nodes between."""
    found, seen, waiting = set(), set(), []
    for prim in prims:
        if prim.IsDefined() and prim.IsA(UsdShade.Shader):
            shader = UsdShade.Shader(prim)
            kind = text(shader.GetIdAttr().Get())
            waiting += [given for given in shader.GetInputs() if makes_normals(kind, given.GetBaseName())]
    while waiting and len(seen) < MAX_SAMPLES:
        for attribute in waiting.pop().GetValueProducingAttributes():
            if UsdShade.Utils.GetType(attribute.GetName()) != UsdShade.AttributeType.Output or attribute.GetPrim().GetPath() in seen:
                continue
            prim = attribute.GetPrim()
            seen.add(prim.GetPath())
            shader = UsdShade.Shader(prim)
            if is_image(text(shader.GetIdAttr().Get())):
                found.add(prim.GetPath())
            elif shader:
                waiting += [given for given in shader.GetInputs() if given.GetBaseName().lower() not in ASIDE]
    return found


def say_shader(prim, shader, root, normals):
    kind = text(shader.GetIdAttr().Get())
    material_x = kind.startswith(("ND_image_", "ND_tiledimage_", "ND_hextiledimage_"))
    cycles = kind[7:] if kind.startswith("cycles") else ""
    if kind != "UsdUVTexture" and not material_x and cycles not in ("image_texture", "environment_texture"):
        return
    attributes = dict(producers(shader, {} if cycles else USD_NAMES))
    if "filename" not in attributes:
        return
    fields = {"node": prim.GetName(), "owner": text(prim.GetParent().GetPath()), "owner_type": "material",
              "library": layer_of(prim, root), "environment": cycles == "environment_texture"}
    if prim.GetPath() in normals:
        fields["normal"] = True
    if "colorspace" in attributes:
        fields["colorspace"] = text(value_of(attributes, "colorspace"))
    elif material_x:
        fields["colorspace"] = material_x_space(kind, attributes["filename"])
    for name in ("alpha_type", "extension", "interpolation"):
        if name in attributes:
            fields[name] = text(value_of(attributes, name))
    # The delegate sets the extension from both, so the second one counts.
    for name in ("wrap_s", "wrap_t"):
        if name in attributes:
            fields["extension"] = {"repeat": "periodic"}.get(text(value_of(attributes, name)), text(value_of(attributes, name)))
    tiles = value_of(attributes, "tiles")
    if tiles is not None:
        fields["tiles"] = [int(tile) for tile in tiles][:MAX_SAMPLES]
    say_images(attributes["filename"], **fields)


def say_light(prim, root):
    for name in ("inputs:texture:file", "texture:file"):
        attribute = prim.GetAttribute(name)
        if attribute and attribute.HasValue() and text(attribute.Get(Usd.TimeCode.EarliestTime())):
            say_images(attribute, node=prim.GetName(), owner=text(prim.GetPath()), owner_type="light",
                       library=layer_of(prim, root), environment=prim.GetTypeName().startswith("DomeLight"))
            return


def what_is_wrong(e):
    """From pxr come one or more texts "Error in 'function' at line N in file F : 'what is wrong'"."""
    try:
        whole = " ".join(str(e).split())
    except UnicodeDecodeError:  # the text quotes the file
        whole = "it is not UTF-8"
    return ("; ".join(re.findall(r" : '(.*?)'(?= Error in |$)", whole)) or whole or type(e).__name__)[:400].strip()


def is_pointer(path):
    """Whether the file is a pointer of Git LFS, in place of one that was not downloaded."""
    try:
        if not os.path.isfile(path):  # opening a pipe would wait for its writer
            return False
        with open(path, "rb") as layer:
            return layer.read(32).startswith((b"version https://git-lfs.", b"version https://hawser."))
    except OSError:
        return False


def say_unread(path, found, parent):
    """A layer for which USD has no reader. usd-core lacks the one for MaterialX; the package materialx has another."""
    if not found.lower().rstrip("]").endswith(".mtlx"):
        say("layer", path=path, parent=parent, there=True, message="this USD has no reader for such files")
        return
    try:
        if os.path.isfile(found):
            say_document(found, path)
        elif not Ar.IsPackageRelativePath(found):  # Cycles looks up no tx files for images inside a package
            say("layer", path=path, parent=parent, there=True, message="not a regular file")
    except Lacking as e:
        say("layer", path=path, parent=parent, there=True, status="not-installed", message=str(e))
    except LookupError as e:
        say("layer", path=path, parent=parent, there=True, status="corrupt", message="MaterialX cannot open it: %s" % e)
    else:
        say("layer", path=path, parent=parent, there=True)


class Lacking(LookupError):
    """A package that is not installed."""


def say_document(path, library):
    """The images of a MaterialX document, all of its materials; LookupError says why there are none."""
    try:
        import MaterialX
    except ImportError:
        raise Lacking("usd-core does not read MaterialX; 'pip install materialx' adds it for " + sys.executable) from None

    def include(document, name, search, options):
        found = search.find(name).asString()
        if os.path.exists(found) and not os.path.isfile(found):
            raise LookupError("it includes %s, which is not a regular file" % found)
        MaterialX.readFromXmlFile(document, name, search, options)

    document, options = MaterialX.createDocument(), MaterialX.XmlReadOptions()
    options.readXIncludeFunction = include
    try:
        MaterialX.readFromXmlFile(document, path, MaterialX.FileSearchPath(), options)
    except MemoryError:
        raise
    except Exception as e:
        raise LookupError(" ".join(str(e).split()).rstrip(".")[:300]) from None
    normals = document_normals(document)
    elements = [e for e in document.traverseTree() if e.isA(MaterialX.Input) and e.getType() == "filename"]
    for given in elements[:MAX_SAMPLES]:
        stored = given.getValueString()
        if not stored:
            continue
        owner = given.getParent()
        name = os.path.join(os.path.dirname(given.getActiveSourceUri() or path), given.getResolvedValueString())
        fields = {"stored": stored, "path": os.path.abspath(name), "inside": False, "node": owner.getName(),
                  "owner": "/" + owner.getNamePath(), "owner_type": "material", "library": library, "environment": False}
        kinds = document_kinds(owner, given.getName())
        fields["colorspace"] = (given.getActiveColorSpace() or "scene_linear") if kinds & {"color3", "color4"} else "data"
        if owner.getNamePath() in normals:
            fields["normal"] = True
        modes = {owner.getInputValue(n) for n in ("uaddressmode", "vaddressmode")} if hasattr(owner, "getInputValue") else set()
        for mode in modes & {"periodic", "clamp", "constant", "mirror"}:
            fields["extension"] = {"constant": "black"}.get(mode, mode)
        say("node", **fields)


def document_normals(document):
    """The names of the image nodes whose colours become normals."""
    found, seen = set(), set()
    waiting = [i for n in document.traverseTree() for i in (n.getInputs() if hasattr(n, "getCategory") and hasattr(n, "getInputs") else [])
               if (n.getCategory().startswith("normalmap") and i.getName() == "in") or
               (n.getCategory() == "UsdPreviewSurface" and i.getName() == "normal")]
    while waiting and len(seen) < MAX_SAMPLES:
        node = waiting.pop().getConnectedNode()
        if node is None or node.getNamePath() in seen:
            continue
        seen.add(node.getNamePath())
        if "image" in node.getCategory():
            found.add(node.getNamePath())
        else:
            waiting += [i for i in node.getInputs() if i.getName().lower() not in ASIDE]
    return found


def document_kinds(owner, name):
    """The types of the nodes that read a file: of the node itself, or of those in a graph that use the graph's input."""
    users = [n for n in owner.getNodes() if any(i.getInterfaceName() == name for i in n.getInputs())] if hasattr(owner, "getNodes") else []
    return {n.getType() for n in users or [owner]}


def mapped(path, maps):
    """The path here of a layer that is stored with a path of another machine, by the rules of txm_path_map; "" if no map
    applies."""
    for start, to in maps:
        start = start.replace("\\", "/")
        folds = start.startswith("//") or re.match(r"[A-Za-z]:(/|$)", start)
        start = start.rstrip("/") or "/"
        plain = path.replace("\\", "/")
        head, rest = plain[:len(start)], plain[len(start):]
        same = head.lower() == start.lower() if folds else head == start
        if same and (not rest or rest[0] == "/") and not (start.startswith("//") and not path.startswith("\\\\")):
            return os.path.normpath(to + "/" + rest)
    return ""


def map_layers(stage, maps):
    """Changes, in memory, the paths by which layers name others. The stage then opens those, which may name further ones."""
    done = set()
    again = bool(maps)
    while again:
        again = False
        for layer in stage.GetUsedLayers():
            for identifier in layer.GetCompositionAssetDependencies():
                named, arguments = Sdf.Layer.SplitIdentifier(identifier)
                path = mapped(named, maps) if identifier not in done else ""
                if path:
                    target = Sdf.Layer.CreateIdentifier(path, arguments)
                    done.add(target)
                    layer.SetPermissionToEdit(True)
                    again |= layer.UpdateCompositionAssetDependency(identifier, target)


def note_references(prim):
    """Which layers the prim needs: a layer also names those of other variants and of inactive prims."""
    for spec in prim.GetPrimStack():
        for items in (spec.referenceList, spec.payloadList) if spec.hasReferences or spec.hasPayloads else ():
            NEEDED.update((spec.layer.identifier, item.assetPath) for item in items.GetAppliedItems())


def keep_layers(stage):
    """Layers of a variant would be closed when another one is chosen."""
    for layer in stage.GetUsedLayers():
        if not layer.anonymous and layer.identifier not in LAYERS:
            LAYERS[layer.identifier] = Sdf.Layer.FindOrOpen(layer.identifier) or layer


def say_layers(root):
    resolver = Ar.GetResolver()
    for layer in list(LAYERS.values()):
        if layer.realPath and layer.realPath != root:
            say("layer", path=layer.realPath, parent=root, there=True)
        for identifier in layer.GetCompositionAssetDependencies():
            named, arguments = Sdf.Layer.SplitIdentifier(identifier)
            if not named:  # a reference inside the layer
                continue
            if (layer.identifier, identifier) not in NEEDED and identifier not in layer.subLayerPaths:
                continue
            path = anchored(layer, named)
            if Sdf.Layer.IsAnonymousLayerIdentifier(path):
                continue
            parent = layer.realPath or root
            found = resolver.Resolve(path)
            if not found:
                say("layer", path=path, parent=parent, there=False)
            elif Sdf.Layer.Find(path, arguments) or Sdf.Layer.Find(path):
                continue
            elif is_pointer(str(found)):
                say("layer", path=path, parent=parent, there=True, status="not-downloaded",
                    message="a pointer of Git LFS in place of the file; 'git lfs pull' downloads the file")
            elif not Sdf.FileFormat.FindByExtension(str(found)):
                say_unread(path, str(found), parent)
            else:
                say_damaged(path, parent)


def say_damaged(path, parent):
    """A layer that the stage needs and has not: USD says why only if it is opened once more."""
    try:
        Sdf.Layer.FindOrOpen(path)
    except MemoryError:
        raise
    except Exception as e:
        say("layer", path=path, parent=parent, there=True, status="corrupt", message="USD cannot open it: " + what_is_wrong(e))


def say_prims(prims, root):
    normals = used_for_normals(prims)
    for prim in prims:
        note_references(prim)
        if not prim.IsDefined():
            continue
        if prim.IsA(UsdShade.Shader):
            say_shader(prim, UsdShade.Shader(prim), root, normals)
        elif prim.GetTypeName().endswith(("Light", "Light_1")):
            say_light(prim, root)


def say_variants(prim, root, maps, done, depth=0):
    """What is below the prim in each of its variants, and in the variants that are inside them. The choices are made in the
    session layer, which is not saved."""
    for name in prim.GetVariantSets().GetNames():
        chosen = prim.GetVariantSet(name)
        before = chosen.GetVariantSelection()
        for variant in chosen.GetVariantNames():
            key = (str(prim.GetPath()), name, variant, depth and before)
            if key in done or len(done) >= MAX_VARIANTS or variant == before or depth >= MAX_DEPTH:
                continue
            done.add(key)
            chosen.SetVariantSelection(variant)
            map_layers(prim.GetStage(), maps)
            say_prims(Usd.PrimRange(prim, THERE), root)
            keep_layers(prim.GetStage())
            for inner in [p.GetPath() for p in Usd.PrimRange(prim) if p.HasVariantSets()]:
                say_variants(prim.GetStage().GetPrimAtPath(inner), root, maps, done, depth + 1)
        chosen.SetVariantSelection(before)


def refuse_pipes(done):
    """Ends the script if a layer is a pipe, a device or a folder: USD would wait for ever for a pipe's writer. Variants may
    name such layers too, which USD opens only when they are chosen."""
    while not done.wait(1):
        for layer in Sdf.Layer.GetLoadedLayers():
            if layer.realPath and os.path.exists(layer.realPath) and not os.path.isfile(layer.realPath):
                say("failed", message="its layer %s is not a regular file" % layer.realPath)
                say("end")
                OUT.flush()
                os._exit(0)


def read(path, every_variant, maps):
    if path.lower().endswith(".mtlx") and not Sdf.FileFormat.FindByExtension(path):
        say_document(path, "")
        return
    done = threading.Event()
    threading.Thread(target=refuse_pipes, args=(done,), daemon=True).start()
    try:
        stage = Usd.Stage.Open(path, Usd.Stage.LoadAll)
        map_layers(stage, maps)
        read_stage(stage, every_variant, maps)
    finally:
        done.set()


def open_prototypes(stage):
    """Makes one instance of each prototype an ordinary prim, as variants can be chosen only there. More instances may appear."""
    done, found = set(), {None: None}
    while found and len(done) < MAX_VARIANTS:
        new = [p for p in stage.GetPrototypes() if p.GetPath() not in done]
        found = {p.GetPath(): i.GetPath() for p in new for i in p.GetInstances() if not i.IsInPrototype()}
        done.update(found)
        for instance in found.values():
            stage.GetPrimAtPath(instance).SetInstanceable(False)


def read_stage(stage, every_variant, maps):
    root = stage.GetRootLayer().realPath
    if every_variant:
        stage.SetEditTarget(stage.GetSessionLayer())
        open_prototypes(stage)
    # Each prototype is visited once, however many instances it has.
    for prims in [stage.Traverse(THERE)] + [Usd.PrimRange(prototype, THERE) for prototype in stage.GetPrototypes()]:
        say_prims(prims, root)
    keep_layers(stage)
    if every_variant:
        chosen = set()
        for path in [p.GetPath() for p in stage.Traverse() if p.HasVariantSets()]:
            say_variants(stage.GetPrimAtPath(path), root, maps, chosen)
    say_layers(root)


def answer(arguments):
    try:
        starts = [i for i, word in enumerate(arguments[:-1]) if word == "--map"]
        read(arguments[-1], "--every-variant" in arguments[:-1], [arguments[i + 1:i + 3] for i in starts])
    except MemoryError:
        say("memory")
    except Lacking as e:
        say("unread", status="not-installed", message=str(e))
    except LookupError as e:
        say("failed", reader="MaterialX", message=str(e))
    except Exception as e:
        say("failed", message=what_is_wrong(e))
    say("end")
    OUT.flush()


limit_memory()
arguments = sys.argv[1:]
while arguments:
    copy = os.fork()
    if copy == 0:
        answer(arguments)
        os._exit(0)
    how = os.waitpid(copy, 0)[1]
    if os.WIFSIGNALED(how):
        # Whoever reads the answers finds out how this one ended, as if it had been this process.
        signal.signal(os.WTERMSIG(how), signal.SIG_DFL) if os.WTERMSIG(how) not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), os.WTERMSIG(how))
    if how != 0:
        os._exit(os.WEXITSTATUS(how))
    line = sys.stdin.buffer.readline()
    arguments = json.loads(line.decode("utf-8", "surrogateescape")) if line else []
