#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# In each of these situations, every command says the same about a tx file and about what Cycles shows. The expected
# results were observed in renders of Blender 5.2.2 and 5.2.3.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$TXM_TESTDATA"/blend/materials.blend . && cp -r "$TXM_TESTDATA"/blend/textures . && chmod -R u+w .
cp "$golden/rgb8.png" textures/wood.png
PYTHONPATH="$repo/python" TXMILL="$TXMILL" python3 - "$TXMILL" "$golden" "$repo" >table <<'PY'
import glob, html, importlib, json, os, re, shutil, struct, subprocess, sys, types

TXMILL, GOLDEN, REPO = sys.argv[1:4]
TIME = 1600000000


def txm(*args):
    done = subprocess.run([TXMILL, *args], capture_output=True, text=True)
    return done.returncode, [json.loads(l) for l in done.stdout.splitlines() if l.startswith("{")]


def stamp(path, time=TIME):
    os.utime(path, (time, time), follow_symlinks=False)


class Any(types.ModuleType):
    """A stand-in for Blender."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: a[0] if a else None


import txmill as client
bpy, extension = Any("bpy"), types.ModuleType("extension")
bpy.app, bpy.app.handlers = Any("app"), Any("handlers")
extension.__path__, extension.client = [REPO + "/blender/txmill"], client
sys.modules.update({"bpy": bpy, "bpy.app": bpy.app, "bpy.app.handlers": bpy.app.handlers, "extension": extension, "extension.client": client})
for part in ("blend", "jobs", "preferences"):
    sys.modules["extension." + part] = Any(part)
    setattr(extension, part, sys.modules["extension." + part])
extension_status = importlib.import_module("extension.status")


def page(tx):
    """What a page of `txmill view` says about a file."""
    subprocess.run([TXMILL, "view", "--html", "page.html", tx], capture_output=True)
    found = re.search(r'id="data">(.*?)</script>', open("page.html").read(), re.S)
    return json.loads(found[1])["files"][0] if found else {}


def report(*args):
    """The counts of `txmill report` for a dry run."""
    if os.path.exists("run.jsonl"):
        os.remove("run.jsonl")
    txm("make", "--dry-run", "-q", "--log", "run.jsonl", *args)
    return txm("report", "--json", "run.jsonl")[1][0]


IMAGE = "textures/wood.png"
stamp(IMAGE)
SOUND = "sound.png"
shutil.copyfile(IMAGE, SOUND)
_, listed = txm("list", "--json", "materials.blend")
SPACE, ALPHA, TX = next((o["colorspace"]["lookup"], o["alpha"], f["tx"]["path"]) for o in listed if o["type"] == "image"
                        for f in o["files"] if f["path"].endswith("/wood.png"))
AS = ["-c", SPACE, "-a", ALPHA]
assert os.path.isabs(TX)
os.makedirs(os.path.dirname(TX), exist_ok=True)


def made(*options, image=IMAGE, settings=AS):
    """The bytes of a fresh tx file."""
    shutil.rmtree("made", ignore_errors=True)
    code = subprocess.run([TXMILL, "make", "-q", "-d", "made", *settings, *options, image], stderr=subprocess.DEVNULL).returncode
    file, = glob.glob(os.path.join(os.path.dirname(image), "made", "*.tx"))
    data = bytearray(open(file, "rb").read())
    shutil.rmtree(os.path.dirname(file))
    return data


def directories(data):
    at, = struct.unpack_from("<I", data, 4)
    while at:
        count, = struct.unpack_from("<H", data, at)
        yield at, {struct.unpack_from("<H", data, at + 2 + 12 * i)[0]: at + 2 + 12 * i for i in range(count)}, at + 2 + 12 * count
        at, = struct.unpack_from("<I", data, at + 2 + 12 * count)


def tile(data, level, number):
    tags = list(directories(data))[level][1]
    entry = tags[324]
    count, = struct.unpack_from("<I", data, entry + 4)
    at, = struct.unpack_from("<I", data, entry + 8)
    return at if count == 1 else struct.unpack_from("<I", data, at + 4 * number)[0]


def spoilt(level, number):
    data = made()
    at = tile(data, level, number)
    for i in range(at + 20, at + 60):
        data[i] ^= 0xFF
    return data


def levels(count):
    data = made()
    struct.pack_into("<I", data, list(directories(data))[count - 1][2], 0)
    return data


def rewritten(values, *which):
    """With other values of tags in directories: of `which`, or of all."""
    data = made()
    for at, tags, _ in [list(directories(data))[n] for n in which] or list(directories(data)):
        for tag, value in values.items():
            kind, = struct.unpack_from("<H", data, tags[tag] + 2)
            struct.pack_into("<H" if kind == 3 else "<I", data, tags[tag] + 8, value)
    return data


WIDTH, COMPRESSION = 256, 259


def newer():
    return bytearray(bytes(made()).replace(b"Blender maketx v0", b"Blender maketx v1"))


def from_another():
    shutil.copy(IMAGE, "textures/other.png")
    stamp("textures/other.png")
    return made(image="textures/other.png")


def float_file():
    return made(settings=["-c", "ACEScg", "-a", ALPHA])


def folder():
    os.mkdir(TX)


def dangling():
    os.symlink("nowhere", TX)


def linked():
    open("elsewhere.tx", "wb").write(made())
    stamp("elsewhere.tx")
    os.symlink(os.path.abspath("elsewhere.tx"), TX)


def beside(bytes_of_image):
    """A fresh file of an image that was damaged afterwards, and kept its time."""
    data = made()
    open(IMAGE, "wb").write(bytes_of_image)
    stamp(IMAGE)
    return data


# Name, how the file is made, use, state, what Cycles does, time of the tx file. If the use is None, info and verify
# have no file to examine.
UNTIL = "reads the source image instead"
CASES = [
    ("fresh", made, "loaded", "fresh", "uses it"),
    ("missing", lambda: None, None, "missing", UNTIL),
    ("image newer", made, "outdated", "outdated", UNTIL, TIME - 100000),
    ("image older", made, "outdated", "outdated", UNTIL, TIME + 100000),
    ("tile of level 0", lambda: spoilt(0, 5), "damaged", "unusable", "renders magenta where tile 0,1 of level 0 is damaged"),
    ("tile of level 1", lambda: spoilt(1, 1), "damaged", "unusable", "renders magenta where tile 1,0 of level 1 is damaged"),
    ("last level", lambda: spoilt(0, 19), "damaged", "unusable", "renders magenta where tile 4,3 of level 0 is damaged"),
    ("cut in its header", lambda: made()[:300], "unreadable", "unusable", UNTIL),
    ("cut in half", lambda: made()[:90000], "unreadable", "unusable", UNTIL),
    ("empty", bytearray, "unreadable", "unusable", UNTIL),
    ("a text", lambda: bytearray(b"not a picture at all\n" * 50), "unreadable", "unusable", UNTIL),
    ("a folder", folder, None, "unusable", UNTIL),
    ("a link to nothing", dangling, None, "missing", UNTIL),
    ("a link", linked, "loaded", "fresh", "uses it"),
    ("zstd", lambda: made("--compression", "zstd"), "refused", "unusable", "renders magenta in the official Blender"),
    ("lzma", lambda: rewritten({COMPRESSION: 34925}), "unreadable", "unusable", "renders magenta in the official Blender"),
    ("a narrow level", lambda: rewritten({WIDTH: 100}, 1), "damaged", "unusable", "uses it, and shows wrong pixels in coarse levels"),
    ("a wide level", lambda: rewritten({WIDTH: 600}, 1), "damaged", "unusable", "renders magenta where it needs a coarse level"),
    ("newer format", newer, "refused", "unusable", UNTIL),
    ("one level", lambda: levels(1), "refused", "unusable", UNTIL),
    ("two levels", lambda: levels(2), "refused", "unusable", UNTIL),
    ("tiles of 128", lambda: made("--tile", "128"), "loaded", "fresh", "uses it"),
    ("another colour space", lambda: made(settings=["-c", "Non-Color", "-a", ALPHA]), "name", "unusable", "uses it, with colours"),
    ("a converted space", float_file, "name", "unusable", "uses it, with colours"),
    ("another working space", lambda: made("--working-space", "ACEScg"), "name", "unusable", "uses it, with colours"),
    ("an alpha type of the same pixels", lambda: made(settings=["-c", SPACE, "-a", "straight"]), "loaded", "fresh", "uses it"),
    ("a copy of another image's", from_another, "loaded", "fresh", "uses it"),
    ("an image cut in its header", lambda: beside(open(SOUND, "rb").read()[:20]), "loaded", "fresh", "uses it"),
    ("an image that changed", lambda: beside(open("textures/mask.png", "rb").read()), "stale", "stale", "uses it, and shows the image as it was"),
    ("an empty image", lambda: beside(b""), "loaded", "fresh", "uses it"),
    ("an image that is none", lambda: beside(b"not a picture\n" * 50), "loaded", "fresh", "uses it"),
    ("border section cut off", lambda: made()[:-5], "loaded", "fresh", "uses it"),
]


open("scene.txt", "w").write("""txmill-scene 1
size 8 8
camera orthographic half 1 1 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5
image a "textures/wood.png" colorspace "%s" alpha %s extension repeat interpolation linear
material m diffuse 1 1 1
texture m a input "Base Color" uv "" transform 1 0 0 0 1 0
quad m -1 -1 0 2 0 0 0 2 0
""" % (SPACE, ALPHA))


def same(case, command, said, expected):
    print("ok" if said == expected else "not ok", "%s: %s" % (case, command),
          "" if said == expected else "says %r, not %r" % (said, expected))


# All commands examine files with the same functions: the slower half of them is tried with the first case of each verdict,
# and a sanitizer sees a third of the cases.
seen = set()
for name, build, use, state, shows, *time in CASES[::3] if os.environ.get("SANITIZED") else CASES:
    verdict = use, state, shows[:len("renders magenta where tile")]
    by_all = verdict not in seen or os.environ.get("TXM_THOROUGH")
    seen.add(verdict)
    data = build()
    if data is not None:
        open(TX, "wb").write(data)
    if not os.path.isdir(TX) and os.path.lexists(TX) and not os.path.islink(TX):
        stamp(TX, *time)

    def about_image(command, said, shown):
        same(name, command, said, state)
        same(name, command + " shows", (shown or "")[:len(shows)], shows)

    _, o = txm("resolve", "--deep", "--json", *AS, IMAGE)
    about_image("resolve", o[0]["state"], o[0]["shows"])
    code, o = txm("check", "--deep", "--json", *AS, IMAGE)
    about_image("check", o[0]["id"], o[0]["shows"])
    same(name, "check's exit", code, 0 if state == "fresh" else 5)
    same(name, "check's sum", o[-1]["ready"], state == "fresh")
    _, o = txm("make", "--deep", "--dry-run", "--json", *AS, IMAGE)
    same(name, "make", o[0]["state"], "up-to-date" if state == "fresh" else "would-create")
    if by_all:
        code, o = txm("check", "--deep", "--json", "materials.blend")
        o = [x for x in o if x["type"] == "texture" and x["image"].endswith("/wood.png")]
        about_image("check of the scene", o[0]["id"], o[0]["shows"])
        _, o = txm("list", "--deep", "--json", "materials.blend")
        tx = next(f["tx"] for x in o if x["type"] == "image" for f in x["files"] if f["path"].endswith("/wood.png"))
        about_image("list", tx["state"], tx["shows"])
        _, o = txm("make", "--deep", "--dry-run", "--json", "materials.blend")
        same(name, "make of the scene", [x["state"] for x in o if x["type"] == "file" and x["input"].endswith("/wood.png")][0],
             "up-to-date" if state == "fresh" else "would-create")
    if use:
        _, o = txm("info", "--deep", "--json", TX)
        said = o[0].get("use", "unreadable")
        same(name, "info", said, use)
        if "use" in o[0]:
            same(name, "info shows", o[0]["cycles"]["shows"][:len(shows)], shows)
        _, o = txm("verify", "--json", TX)
        same(name, "verify", o[0]["use"], use)
        same(name, "verify shows", o[0]["shows"][:len(shows)], shows)
    # Commands that read no pixels miss only a tile that cannot be decoded.
    if by_all and not name.startswith(("tile of", "last level")):
        done = subprocess.run([TXMILL, "stream", "budget", "-q", "."], capture_output=True, text=True)
        same(name, "stream", (done.returncode, "its tx file is %s" % state in done.stderr and "; Cycles %s" % shows in done.stderr),
             (0, False) if state == "fresh" else (3, True))
        if use:
            done = subprocess.run([TXMILL, "sample", "--json", TX], capture_output=True, text=True)
            o = json.loads(done.stdout.splitlines()[0])
            if "use" in o:
                same(name, "sample", o["use"], use)
                same(name, "sample shows", o["cycles"]["shows"][:len(shows)], shows)
                same(name, "sample warns", "warning: %s: Cycles %s" % (TX, shows) in done.stderr, not o["cycles"]["accepted"])
            else:
                same(name, "sample refuses", (done.returncode in (3, 4), use in ("unreadable", "refused", "damaged")), (True, True))
        _, o = txm("resolve", "--json", *AS, IMAGE)
        about_image("quick resolve", o[0]["state"], o[0]["shows"])
        _, o = txm("check", "--json", *AS, IMAGE)
        about_image("quick check", o[0]["id"], o[0]["shows"])
        _, o = txm("make", "--dry-run", "--json", *AS, IMAGE)
        same(name, "quick make", o[0]["state"], "up-to-date" if state == "fresh" else "would-create")
        _, o = txm("plan", "--json", "--shards", "1", *AS, IMAGE)
        same(name, "plan", o[-1]["to_create"], 0 if state == "fresh" else 1)
        sums = report(*AS, IMAGE)
        same(name, "report", (sums["up_to_date"], sums["would_create"]), (1, 0) if state == "fresh" else (0, 1))
        status = extension_status.from_scene(client.list_scene("materials.blend"))
        said = next(file[2] for file in status.files if file[6] == TX)
        same(name, "extension", said, state)
        same(name, "extension counts", said in client.READY, TX not in [file[6] for file in status.wanting()])
        if use and use != "unreadable":
            said = page(TX)
            same(name, "page", said["use"], use)
            same(name, "page shows", said["cycles"]["shows"][:len(shows)], shows)
    # gc never removes a file under the name that a render looks for.
    if by_all or state == "fresh":
        _, o = txm("gc", "--json", "--keep-for", "materials.blend", os.path.dirname(TX))
        same(name, "gc", [x["state"] for x in o if x.get("path") == TX and x["type"] == "file"], [])
    # Files that make announces to make are made, and are fresh afterwards.
    if state != "fresh" and not os.path.isdir(TX):
        txm("make", "--deep", "-q", *AS, IMAGE)
        code, o = txm("check", "--deep", "--json", *AS, IMAGE)
        same(name, "made again", (code, o[0]["id"]), (0, "fresh"))
    shutil.copyfile(SOUND, IMAGE)
    stamp(IMAGE)
    os.rmdir(TX) if os.path.isdir(TX) and not os.path.islink(TX) else os.path.lexists(TX) and os.remove(TX)


# A changed image that cannot be converted is damaged rather than stale, since running make would not help.
data = beside(open(SOUND, "rb").read()[:4000])
open(TX, "wb").write(data)
stamp(TX)
_, o = txm("resolve", "--json", *AS, IMAGE)
same("an image cut short", "resolve", o[0]["state"], "stale")
code, o = txm("check", "--json", *AS, IMAGE)
same("an image cut short", "check", (o[0]["id"], code), ("damaged", 3))
shutil.copyfile(SOUND, IMAGE)
stamp(IMAGE)
os.remove(TX)


# ---- other situations -----------------------------------------------------------------------------------------------
# What decides is not the file alone: each command that is asked about an image or its tx file says the same.
def situation(name, state, use, tx, image, settings, scene=None):
    def check(*args):
        code, o = txm("check", "--json", *args)
        mine = next(x for x in o if x["type"] == "texture" and os.path.basename(x["image"]) == os.path.basename(image))
        return mine["id"], mine["shows"], code

    ready = state == "fresh"
    told = []
    _, o = txm("resolve", "--json", *settings, image)
    same(name, "resolve", o[0]["state"], state)
    told.append(("resolve", o[0]["shows"]))
    id, shows, code = check(*settings, image)
    same(name, "check", (id, code), (state, 0 if ready else 5))
    told.append(("check", shows))
    _, o = txm("make", "-n", "--json", *settings, image)
    same(name, "make", o[0]["state"], "up-to-date" if ready else "would-create")
    _, o = txm("plan", "--json", "--shards", "1", *settings, image)
    same(name, "plan", o[-1]["to_create"], 0 if ready else 1)
    if scene:
        id, shows, code = check(scene)
        same(name, "check of the scene", (id, code), (state, 0 if ready else 5))
        told.append(("check of the scene", shows))
        _, o = txm("list", "--json", scene)
        found = next(f["tx"] for x in o if x["type"] == "image" for f in x["files"])
        same(name, "list", found["state"], state)
        told.append(("list", found["shows"]))
    if tx and use:
        _, o = txm("info", "--json", tx)
        same(name, "info", o[0]["use"], use)
        told.append(("info", o[0]["cycles"]["shows"]))
        _, o = txm("verify", "--json", tx)
        same(name, "verify", o[0]["use"], use)
        told.append(("verify", o[0]["shows"]))
        said = page(tx)
        same(name, "page", said["use"], use)
        told.append(("page", said["cycles"]["shows"]))
        _, o = txm("gc", "--json", os.path.dirname(tx))
        same(name, "gc", [x["state"] for x in o if x["type"] == "file" and x["state"] != "kept"], [])
    if ready or len(told) > 3:
        for command, shows in told[1:] if (state, use) in (("fresh", "loaded"), ("unusable", "refused"), ("outdated", "outdated")) else ():
            same(name, command + " shows", shows, told[0][1])


XML = """<cycles><shader name="m"><image_texture name="i" filename="%s" colorspace="%s" alpha_type="auto"/><diffuse_bsdf name="d"/>
<connect from="i color" to="d color"/><connect from="d bsdf" to="output surface"/></shader></cycles>"""


def folder(name, image, space, preset=None):
    os.mkdir(name)
    shutil.copyfile(SOUND, "%s/%s" % (name, image))
    stamp("%s/%s" % (name, image))
    open("%s/shot.xml" % name, "w").write(XML % (image, space))
    if preset:
        open("%s/.txmill" % name, "w").write("preset = %s\n" % preset)
    return "%s/%s" % (name, image)


def tx_of(folder):
    found = glob.glob(folder + "/blender_tx/*.tx")
    return found[0] if len(found) == 1 else None


ao = folder("guess", "wall_ao.png", "Non-Color", "pbr")
situation("guessed preset, nothing made", "missing", None, None, ao, [], "guess/shot.xml")
txm("make", "-q", "-a", "auto", ao)
situation("guessed preset", "fresh", "loaded", tx_of("guess"), ao, ["-a", "auto"], "guess/shot.xml")
situation("guessed preset, other settings asked for", "missing", None, None, ao, ["-c", "sRGB"])

role = folder("role", "wood.png", "default_byte")
txm("make", "-q", "role/shot.xml")
situation("role", "fresh", "loaded", tx_of("role"), role, ["-c", "default_byte", "-a", "auto"], "role/shot.xml")
data = open(tx_of("role"), "rb").read()
stamp(role, TIME + 5)
situation("role, outdated", "outdated", "outdated", tx_of("role"), role, ["-c", "default_byte", "-a", "auto"], "role/shot.xml")
stamp(role)

# Of another writer, as Blender's own files are: what only txmill stores is not there.
other = folder("other", "wood.png", "sRGB")
txm("make", "-q", "--strict", "other/shot.xml")
tx = tx_of("other")
data = bytearray(open(tx, "rb").read().replace(b"txmill", b"others"))
open(tx, "wb").write(data)
stamp(tx)
situation("another writer", "fresh", "loaded", tx, other, ["-c", "sRGB", "-a", "auto"], "other/shot.xml")
newer = bytearray(bytes(data).replace(b"Blender maketx v0", b"Blender maketx v7"))
assert newer != data
open(tx, "wb").write(newer)
stamp(tx)
situation("a newer Blender", "unusable", "refused", tx, other, ["-c", "sRGB", "-a", "auto"], "other/shot.xml")

# The image is gone.
open(tx, "wb").write(data)
stamp(tx)
os.remove(other)
_, o = txm("info", "--json", tx)
same("missing image", "info", o[0]["use"], "no-image")
shows = o[0]["cycles"]["shows"]
_, o = txm("verify", "--json", tx)
same("missing image", "verify", (o[0]["use"], o[0]["shows"]), ("no-image", shows))
said = page(tx)
same("missing image", "page", (said["use"], said["cycles"]["shows"]), ("no-image", shows))
code, o = txm("check", "--json", "other/shot.xml")
same("missing image", "check", (code, o[0]["id"], o[0]["shows"]), (5, "no-image", "renders magenta"))
_, o = txm("list", "--json", "other/shot.xml")
same("missing image", "list", [(f["exists"], f["tx"]) for x in o if x["type"] == "image" for f in x["files"]], [(False, None)])
same("missing image", "extension", len(extension_status.from_scene(client.list_scene("other/shot.xml")).files), 0)
_, o = txm("gc", "--json", "other")
same("missing image", "gc", [x["reason"] for x in o if x["type"] == "file"], ["orphan"])
PY
ran=$?
check runs test "$ran" = 0 -a "$(grep -c '^ok' table)" -gt "$([ -n "${SANITIZED:-}" ] && echo 115 || echo 350)"
while read -r line; do
    case $line in
    ok*) ok "$(cut -d' ' -f2- <<<"$line" | tr ' ' '-')" ;;
    *) not_ok "${line#not ok }" ;;
    esac
done <table
finish
