#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts for schedulers, and examples/submit_shot.py, with hostile names: farm_names.py REPOSITORY [PART...],
in an empty folder.

txmill and blender are replaced by programs that record their arguments, and schedulers by stand-ins that read what they are
given as the real ones do; GNU parallel and make are real. For each name, either the programs get exactly this name, or the
script refuses it with a message and submits nothing. No part of a name is ever run: most would create a file RAN.
"""
import glob
import importlib.util
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import types
import xml.etree.ElementTree as Et
from contextlib import redirect_stderr, redirect_stdout

try:
    import yaml
except ImportError:
    yaml = None

REPO, WORK = os.path.abspath(sys.argv[1]), os.getcwdb()
FARM = os.path.join(REPO, "farm")
PARTS = [b"$(touch RAN)", b"`touch RAN`", b"; touch RAN ;", b"'; touch RAN; '", b'"; touch RAN; "', b"| touch RAN",
         b"\ntouch RAN\n", b"$(shell touch RAN)", b"${RAN:=x}", b"{= system('touch RAN') =}", b"{}", b"{#}", b"{1}", b"{%}",
         b"{blenderArgs}", b"{txmill}", b"\nPreJobScript=evil.py\n", b"\r\nPostTaskScript=evil.py\r\n",
         b"<QUOTE> --no-claims <QUOTE>", b"<STARTFRAME>", b"#IFRAME#", b"#JOB#", b"####", b"%A", b"%j", b"%%", b"%{FRAME}",
         b"--force", b"-P", b"--", b"@list", b"~", b"*", b"?", b"[a]", b"\\", b"\\n", b"\\x41", b" ", b"  two  ", b"\t", b"!",
         b"&", b"=", b",", b":", b"#", b"'", b'"', b"\xc3\xa9\xe6\xbc\xa2", b"\xff\xfe", b"\xed\xa0\x80", b"\xc2\x9b31m",
         b"\xe2\x80\xaegnp", b"\x1b[2J", b"\x01", b"a"]
failures = 0


def names(count):
    """Each part at the beginning, inside and at the end of a name, then `count` names of several parts. Always the same."""
    rng = random.Random(52)
    found = [n for part in PARTS for n in (part, b"x" + part + b"y.blend", b"z" + part)]
    found += [b"".join(rng.choice(PARTS) for _ in range(rng.randint(2, 5))) for _ in range(count)]
    return [n for n in dict.fromkeys(found) if len(n) < 150 and n not in (b".", b"..")]


def check(name, wrong):
    global failures
    ran = subprocess.run(["find", ".", "-name", "RAN*", "-type", "f"], stdout=subprocess.PIPE, check=True).stdout
    if ran:
        wrong.append("a part of a name was run: %r" % ran)
    failures += bool(wrong)
    print(("not ok %s" if wrong else "ok %s") % name)
    for line in wrong[:5]:
        print("    " + line)


def run(argv, **more):
    more.setdefault("cwd", WORK)
    more["env"] = {**os.environb, b"PATH": WORK + b"/bin:" + os.environb[b"PATH"], b"TXMILL": WORK + b"/bin/txmill",
                   b"BLENDER": WORK + b"/bin/blender", b"RECORD": WORK + b"/record", **more.get("env", {})}
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)


def recorded(what=b"txmill"):
    """The arguments with which a program was started since the last call."""
    calls = []
    for path in sorted(glob.glob(b"record/" + what + b".*")):
        with open(path, "rb") as file:
            calls.append(file.read().split(b"\0")[:-1])
    for path in glob.glob(b"record/*"):
        os.unlink(path)
    return calls


def operands(call):
    return call[call.index(b"--") + 1:] if b"--" in call else None


def after(call, option):
    return call[call.index(option) + 1]


def expect_refusal(wrong, name, result, calls):
    if result.returncode == 0 or not result.stderr.strip() or calls:
        wrong.append("%r: neither processed nor refused: %d %r" % (name, result.returncode, result.stderr[-200:]))


def prepare():
    os.mkdir("bin")
    os.mkdir("record")
    # Output files that arguments name are created, because scripts look at them.
    recorder = """#!/bin/bash
file=$(mktemp "$RECORD/${0##*/}.XXXXXX") && printf '%s\\0' "$@" >"$file"
[ -z "${LOUD:-}" ] || printf 'txmill: progress 37%%\\n%s\\n' "$@"
while [ $# -gt 1 ]; do case $1 in --log | -o) : >"$2" ;; --) break ;; esac; shift; done
"""
    for name in ("txmill", "blender"):
        with open("bin/" + name, "w", encoding="ascii") as file:
            file.write(recorder)
    # As sbatch: options up to the first other word, which is the script. %% is a percent sign, %A and %a are numbers.
    with open("bin/sbatch", "w", encoding="ascii") as file:
        file.write("""#!/usr/bin/env python3
import os, re, subprocess, sys
words = [os.fsencode(w) for w in sys.argv[1:]]
first = next(i for i, w in enumerate(words) if not w.startswith(b"-"))
options, script, rest = words[:first], words[first], words[first + 1:]
for o in options:
    if o.startswith(b"--output="):
        path = o[9:].replace(b"\\\\", b"") if b"\\\\" in o else re.sub(b"%(.)", lambda m: b"%" if m[1] == b"%" else b"7", o[9:])
        open(path, "wb").close()
environment = dict(os.environb)
environment.update({b"SLURM_JOB_ID": b"7", b"SLURM_ARRAY_JOB_ID": b"7", b"SLURM_ARRAY_TASK_ID": b"1"})
subprocess.run([b"bash", script] + rest, env=environment, stdout=subprocess.DEVNULL, check=False)
print(7)
""")
    for name in os.listdir("bin"):
        os.chmod("bin/" + name, 0o755)


# ---- Slurm -----------------------------------------------------------------------------------------------------------
def slurm(all_names):
    wrong, submit = [], [b"bash", os.fsencode(FARM) + b"/slurm/submit.sh"]
    render = os.fsencode(FARM) + b"/slurm/render.sbatch"
    result = run(submit + [b"-n", b"2", b"-l", b"runs", b"-r", render, b"--", b"--"] + all_names, env={b"BLEND": all_names[-1]})
    calls = recorded()
    makes = [c for c in calls if c[0] == b"make"]
    if result.returncode or len(makes) != 1 or operands(makes[0]) != all_names:
        wrong.append("operands: %r" % result.stderr[-300:])
    check("slurm-operands", wrong)
    wrong = []
    for name in all_names[::10]:
        folder = b"slurm/" + name
        result = run(submit + [b"-n", b"1", b"-l", folder, b"--", b"a.blend"])
        calls = recorded()
        if re.search(rb"[\x00-\x1f\x7f\\]", name) or result.returncode:
            expect_refusal(wrong, name, result, calls)
        elif sorted(c[0] for c in calls) != [b"make", b"report", b"verify"] or not os.path.exists(folder + b"/convert.7.7.out"):
            wrong.append("%r: the logs are elsewhere" % name)
        elif [c for c in calls if c[0] == b"report" and operands(c) != [WORK + b"/" + folder + b"/convert.7.1.000.jsonl"]]:
            wrong.append("%r: the report is of other logs" % name)
    check("slurm-folder", wrong)
    wrong = []
    for name in all_names[::10]:
        run([b"bash", render], env={b"BLEND": name})
        calls = recorded(b"blender")
        if len(calls) != 1 or after(calls[0], b"--background") not in (name, b"./" + name) or calls[0][1].startswith(b"-"):
            wrong.append("%r: %r" % (name, calls))
    check("slurm-render", wrong)


# ---- GNU parallel ----------------------------------------------------------------------------------------------------
def gnu_parallel(all_names):
    script = os.fsencode(FARM) + b"/parallel/convert.sh"
    wrong, places = [], [b"tex{= system('touch RAN') =}\n{}$(touch RAN)", b"-\xff{#}'\"`touch RAN`\n"]
    for i, place in enumerate(places):
        os.mkdir(place)
        logs = places[1 - i]
        result = run([b"bash", script, b"-n", b"2", b"-l", logs, b"--", b"--"] + all_names, cwd=WORK + b"/" + place)
        calls = recorded()
        makes = [c for c in calls if c[0] == b"make"]
        logs = WORK + b"/" + place + b"/" + logs
        files = [logs + b"/convert-1.jsonl", logs + b"/convert-2.jsonl"]
        if result.returncode or sorted(after(c, b"--shard") for c in makes) != [b"1/2", b"2/2"]:
            wrong.append("%r: %d %r" % (place, result.returncode, result.stderr[-300:]))
        elif any(operands(c) != all_names for c in makes) or sorted(after(c, b"--log") for c in makes) != files:
            wrong.append("%r: other names arrived" % place)
        elif [c[-2:] for c in calls if c[0] == b"report"] != [files]:
            wrong.append("%r: the report is of other logs" % place)
        elif sorted(os.listdir(logs)) != [b"convert-1.jsonl", b"convert-2.jsonl", b"report.html"]:
            wrong.append("%r: left behind: %r" % (place, os.listdir(logs)))
    check("parallel", wrong)


# ---- Deadline --------------------------------------------------------------------------------------------------------
def job_file(path):
    """A file with a key on each line, as Deadline reads it."""
    with open(path, "rb") as file:
        lines = re.split("\r\n|\n|\r", file.read().decode("utf-8"))
    return {line.split("=", 1)[0]: line.partition("=")[2] for line in lines if line.strip()}


def deadline_words(text):
    """Deadline replaces <QUOTE> and the like, then the line is split."""
    text = text.replace("<QUOTE>", '"').replace("<STARTFRAME>", "2")
    return [os.fsencode(w) for w in re.findall('"([^"]*)"', text)], re.sub('"[^"]*"', "", text).strip()


def deadline(all_names):
    wrong, processed = [], 0
    for number, name in enumerate(all_names[::4]):
        logs = b"deadline/%d" % number
        result = run([b"bash", os.fsencode(FARM) + b"/deadline/submit.sh", b"-p", b"-n", b"2", b"-l", logs, b"--", name])
        path = name if name.startswith(b"/") else WORK + b"/" + name
        if result.returncode:
            expect_refusal(wrong, name, result, glob.glob(logs + b"/*"))
            continue
        processed += 1
        job, plugin = job_file(logs + b"/convert.job"), job_file(logs + b"/convert.plugin")
        words, rest = deadline_words(plugin["Arguments"])
        keys = [{"Plugin", "Name", "Frames", "ChunkSize"}, {"Executable", "Arguments", "StartupDirectory"}]
        if [set(job), set(plugin)] != keys:
            wrong.append("%r: other keys: %r %r" % (name, sorted(job), sorted(plugin)))
        elif rest or operands(words) != [path] or words[0] != b"make" or after(words, b"--shard") != b"2/2":
            wrong.append("%r: arguments %r" % (name, words))
    if processed < len(all_names) // 20:
        wrong.append("only %d names can be processed" % processed)
    check("deadline", wrong)


# ---- OpenCue ---------------------------------------------------------------------------------------------------------
class Layer:
    def __init__(self, name, **arguments):
        self.name, self.arguments = name, arguments

    def depend_on(self, layer):
        pass

    depend_all = depend_on


class Outline:
    def __init__(self, name):
        assert re.fullmatch("[A-Za-z0-9_.-]*", name), name
        self.name, self.layers = name, []

    def add_layer(self, layer):
        self.layers.append(layer)


def launch(job, use_pycuerun):
    """The specification is XML. Cuebot replaces tokens in the commands, and a worker runs each as a shell script."""
    assert not use_pycuerun
    root = Et.Element("spec", {"name": job.name})
    for layer in job.layers:
        Et.SubElement(root, "cmd", {"name": layer.name}).text = " ".join(layer.arguments["command"])
    for element in Et.fromstring(Et.tostring(root)):
        command = element.text
        for token, value in (("ZFRAME", "0002"), ("IFRAME", "2"), ("LAYER", element.get("name")), ("JOB", job.name),
                             ("FRAME", "0002-" + element.get("name"))):
            command = command.replace("#%s#" % token, value)
        run([b"sh", b"-c", os.fsencode(command)])


def load(path):
    spec = importlib.util.spec_from_file_location("script", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def opencue(all_names):
    for name, members in (("outline", {"Outline": Outline}), ("outline.cuerun", {"launch": launch}), ("outline.modules", {}),
                          ("outline.modules.shell", {"Shell": Layer})):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(members)
    sys.modules["outline"].cuerun = sys.modules["outline.cuerun"]
    script, wrong, processed = load(FARM + "/opencue/submit.py"), [], 0
    bin_ = os.fsdecode(WORK) + "/bin/"
    for raw in all_names[::5]:
        name = os.fsdecode(raw)
        try:
            script.submit(script.parse(["--shards=3", "--txmill=%stxmill" % bin_, "--blender=%sblender" % bin_, "--", name]))
        except SystemExit as refused:
            text = str(refused)
            if not re.search("[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff]|#[A-Z_]+#", name) or not text.isprintable() or recorded():
                wrong.append("%r: refused: %r" % (name, text))
            continue
        processed += 1
        rendered = [c for c in glob.glob(b"record/blender.*")]
        with open(rendered[0], "rb") as file:
            render = file.read().split(b"\0")[:-1]
        calls, good = recorded(), (raw, b"./" + raw)
        makes = [c for c in calls if c[0] == b"make"]
        given = operands(makes[0])
        arrived = len(given) == 1 and given[0] in good and given[0][:1] not in b"-@"
        if len(calls) != 2 or after(makes[0], b"--shard") != b"2/3" or not arrived:
            wrong.append("%r: %r" % (name, calls))
        if len(rendered) != 1 or render[1] not in good or render[1].startswith(b"-") or len(render) != 6:
            wrong.append("%r: rendered %r" % (name, render))
    if processed < len(all_names) // 20:
        wrong.append("only %d names can be processed" % processed)
    check("opencue", wrong)


# ---- Flamenco --------------------------------------------------------------------------------------------------------
def flamenco(all_names):
    """The Manager replaces variables in what the job type makes, and a Worker runs it without a shell."""
    variables = {"txmill": os.fsdecode(WORK) + "/bin/txmill", "blender": "blender", "blenderArgs": "-b -y", "jobs": "/srv"}

    def replaced(text):
        for name, value in variables.items():
            text = text.replace("{%s}" % name, value)
        return text
    texts = [n.decode() for n in all_names if is_utf8(n)]
    chosen = [t for t in texts if "{" in t][::5] + [t for t in texts if "{" not in t][::20]
    wrong = []
    for name in chosen:
        path = "/srv/" + name
        settings = {"frames": "1", "shards": 1, "render_output_root": "/out", "format": "PNG", "blendfile": "{jobs}/" + name,
                    "render_output_path": os.fsdecode(WORK) + "/out/######", "scene": name}
        with open("job.json", "w", encoding="utf-8") as file:
            json.dump({"name": name or "x", "created": "2026-11-21T07:00:00Z", "settings": settings}, file)
        result = run(["node", REPO + "/tests/mill/farm/flamenco.js", FARM + "/flamenco/render_with_tx.js", "job.json"])
        if result.returncode:
            if not re.search("{[^{}]*}", name):
                wrong.append("%r: refused: %r" % (name, result.stderr[-300:]))
            continue
        for line in result.stdout.decode().splitlines():
            given = json.loads(line)["commands"][0]["parameters"]
            words = [replaced(w) for w in given["args"]]
            if given["exe"] == "{txmill}":
                if "make" == words[0] and words[words.index("--") + 1:] != [path]:
                    wrong.append("%r: %r" % (name, words))
            elif replaced(given["blendfile"]) != path or words[:2] != ["--scene", name]:
                wrong.append("%r: %r" % (name, given))
    check("flamenco", wrong)


# ---- Open Job Description ----------------------------------------------------------------------------------------------
def run_job(bundle):
    """Runs a bundle as the runner does: values take the places of {{names}}, once, and no shell sees a command. Gives all lines
    that the runner would obey. OPENJD names a real runner instead."""
    if os.environ.get("OPENJD"):
        done = run([os.environ["OPENJD"], "run", bundle + "/template.yaml", "-p", "file://" + bundle + "/parameters.json"], env={b"LOUD": b"yes"})
        obeyed = re.findall("(?:\t|\r)(openjd_[^\n]*)", done.stdout.decode("utf-8", "replace"))
        return done.returncode, obeyed + re.findall("not supported|Unsupported|Failed to parse[^\n]*", done.stdout.decode("utf-8", "replace"))
    with open(bundle + "/template.yaml", encoding="utf-8") as file:
        template = yaml.safe_load(file)
    with open(bundle + "/parameter_values.json", encoding="utf-8") as file:
        values = {"Param." + p["name"]: str(p["value"]) for p in json.load(file)["parameterValues"]}
    with open(bundle + "/parameters.json", encoding="utf-8") as file:
        assert values == {"Param." + name: str(value) for name, value in json.load(file).items()}
    names = {"Param." + p["name"] for p in template["parameterDefinitions"]}
    assert set(values) == names and all(len(v) <= 1024 for v in values.values()), (set(values) ^ names)
    variables, obeyed, steps = {b"LOUD": b"yes"}, [], template["steps"]
    actions = [(e, "onEnter", {}) for e in template["jobEnvironments"]]
    for step in steps:
        parameter = step["parameterSpace"]["taskParameterDefinitions"][0]
        actions += [(e, "onEnter", {}) for e in step.get("stepEnvironments", [])]
        actions += [(step, "onRun", {"Task.Param." + parameter["name"]: "1"})]
    for owner, event, more in actions:
        variables.update({k.encode(): v.encode() for k, v in owner.get("variables", {}).items()})
        action = owner["script"]["actions"][event]
        words = [re.sub(r"{{\s*([\w.]+)\s*}}", lambda m, more=more: {**values, **more}[m[1]], w) for w in [action["command"]] + action["args"]]
        done = run(words, env=variables)
        obeyed += re.findall("^openjd_.*", re.sub("\r\n?", "\n", done.stdout.decode("utf-8", "replace")), re.M)
        if done.returncode:
            return done.returncode, obeyed
    return 0, obeyed


def openjd(all_names):
    wrong, processed, there = [], 0, os.fsdecode(WORK) + "/bin/"
    chosen = all_names[::12] + [
        b"a\nopenjd_fail: x\ny", b"a\ropenjd_env: A=b", b"\n openjd_env A", b"{{Param.Txmill}}", b"}}{{", b"\xff", b"x/" * 600]
    for number, name in enumerate(chosen):
        bundle, path, output = "job%d" % number, os.path.abspath(WORK + b"/" + name), os.path.abspath(WORK + b"/out" + name[:80])
        result = run([sys.executable, FARM + "/openjd/bundle.py", "--shards", "1", "--txmill", there + "txmill", "--worker-txmill",
                      there + "txmill", "--blender", there + "blender", b"--output=" + output, "--logs=logs", "-o", bundle, "--", name])
        listed = recorded()
        if result.returncode:
            if is_utf8(name) and len(path) < 1000 or os.path.exists(bundle):
                wrong.append("%r: refused" % name)
            expect_refusal(wrong, name, result, listed)
            continue
        processed += 1
        code, obeyed = run_job(bundle)
        calls = [c[0:1] + c[1 + (c[0] == b"--background"):] for c in recorded(b"*")]
        manifest = WORK + b"/" + bundle.encode() + b"/manifest.json"
        braces = output.replace(b"{", b"{{").replace(b"}", b"}}")
        good = [[b"--background", b"--render-output", braces + b"/####", b"--render-format", b"PNG", b"--render-frame", b"1"], [b"make", path],
                [b"refresh", path], [b"restore", manifest]]
        if code or set(obeyed) != {"openjd_progress: 37"}:
            wrong.append("%r: exit code %d, commands %r" % (name, code, set(obeyed)))
        elif sorted(c if c[0] == b"--background" else [c[0]] + operands(c) for c in calls) != good:
            wrong.append("%r: %r" % (name, calls))
        elif [operands(c) for c in listed] != [[path], [path]]:
            wrong.append("%r: listed %r" % (name, listed))
    if processed < len(chosen) // 2:
        wrong.append("only %d names can be processed" % processed)
    check("openjd", wrong)


# ---- Blender Asset Tracer ----------------------------------------------------------------------------------------------
TRACER = {"__init__.py": "", "pack.py": """
import collections, pathlib, shutil
class Packer:
    noop, missing = False, 0
    def __init__(self, scene, target):
        self.blendfile, self._target_path, self.project = pathlib.Path(scene), pathlib.Path(target), pathlib.Path(scene).parent
        self.target, self.output_path, self._exclude_globs = target, self._target_path / self.blendfile.name, set()
        self._actions = collections.defaultdict(lambda: type("Action", (), {"usages": [], "new_path": None})())
    def strategise(self):
        # Half of the images are found; what pack.py adds is the other half.
        for image in sorted(self.project.iterdir())[::2]:
            if image.is_file():
                self._actions[image].new_path = self._target_path / image.name
    def execute(self):
        for image, action in self._actions.items():
            self._send_to_target(image, action.new_path)
    def _send_to_target(self, source, target, may_move=False):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
""", "cli.py": """
import sys
from . import pack
def cli_main():
    packer = pack.Packer(*sys.argv[2:])
    packer.strategise()
    packer.execute()
"""}
LISTING = """#!/usr/bin/env python3
import json, os, sys, urllib.parse
def named(key, path):
    return {key: os.fsdecode(path).encode("utf-8", "replace").decode(), key + "_encoded": urllib.parse.quote_from_bytes(path)}
with open(os.environb[b"RECORD"] + b"/txmill." + sys.argv[1].encode(), "wb") as out:
    out.write(b"".join(os.fsencode(word) + b"\\0" for word in sys.argv[1:]))
folder = os.path.dirname(os.fsencode(sys.argv[-1]))
for name in sorted(os.listdir(folder)) if sys.argv[1] == "files" else []:
    image, tx = folder + b"/" + name, folder + b"/blender_tx/" + name + b".tx"
    if os.path.isfile(image):
        print(json.dumps({"type": "file", "role": "image", "state": "ready", **named("path", image)}))
        print(json.dumps({"type": "file", "role": "tx", "state": "fresh", **named("path", tx), **named("of", image)}))
"""


def bat(all_names):
    """Every image of a hostile name arrives with its tx file, and txmill gets the scene of a hostile name."""
    os.makedirs("stub/blender_asset_tracer")
    for name, text in TRACER.items():
        with open("stub/blender_asset_tracer/" + name, "w", encoding="utf-8") as file:
            file.write(text)
    with open("bin/listing", "w", encoding="utf-8") as file:
        file.write(LISTING)
    os.chmod("bin/listing", 0o755)
    wrong, plain = [], [n for n in all_names if b"/" not in n]
    scene, target = WORK + b"/bat/" + plain[3], WORK + b"/packed" + plain[1]
    os.makedirs("bat/blender_tx")
    for name in plain:
        for path in (b"bat/" + name, b"bat/blender_tx/" + name + b".tx"):
            with open(path, "wb") as file:
                file.write(path)
    result = run([sys.executable, FARM + "/bat/pack.py", scene, target],
                 env={b"PYTHONPATH": WORK + b"/stub", b"TXMILL": WORK + b"/bin/listing", b"PYTHONDONTWRITEBYTECODE": b"1"})
    if result.returncode:
        wrong.append("exit code %d: %r" % (result.returncode, result.stderr[-300:]))
    for name in plain:
        for path in (name, b"blender_tx/" + name + b".tx"):
            copy = target + b"/" + path
            if not os.path.exists(copy) or open(copy, "rb").read() != b"bat/" + path:
                wrong.append("%r did not arrive" % path)
    calls = recorded()
    if [(c[0], operands(c)) for c in calls] != [(b"files", [scene]), (b"refresh", [target + b"/" + plain[3]])]:
        wrong.append("%r" % calls)
    check("bat", wrong)


# ---- make, and the example -------------------------------------------------------------------------------------------
def make(all_names):
    wrong, plain = [], [n for n in all_names if not re.search(rb"\s", n) and b"/" not in n]
    recipe = os.fsencode(FARM) + b"/make/textures.mk"
    for name in plain[::5] + [n for n in all_names if re.search(rb"\s", n)][::10]:
        by_option = run([b"make", b"-f", recipe, b"TEXTURES=" + name, b"SCENES=" + name, b"TXMILL=bin/txmill"])
        calls = recorded()
        run([b"make", b"-f", recipe], env={b"TEXTURES": name, b"TXMILL_LOG": b"l" + name, b"TXMILL": b"bin/txmill"})
        others = recorded()
        words = name.split() or [b""]
        if name in plain and (by_option.returncode or [operands(c) for c in calls] != [words + words] or
                              [operands(c) for c in others] != [words] or after(others[0], b"--log") != b"l" + name):
            wrong.append("%r: %r %r %r" % (name, calls, others, by_option.stderr[-200:]))
    os.mkdir("tree")
    # make's own wildcard cannot find names with these.
    found = [n for n in plain if is_utf8(n) and not re.search(rb"[\\*?\[\]~#%:=;|$&]", n)]
    for name in found:
        os.mkdir(b"tree/" + name)
    with open("project.mk", "wb") as file:
        file.write(b"TEXTURES := $(wildcard tree/*)\ninclude " + recipe + b"\n")
    run([b"make", b"-f", b"project.mk", b"textures", b"TXMILL=bin/txmill"])
    got = sorted(operands(recorded()[0]))
    if got != sorted(b"tree/" + n for n in found):
        wrong.append("wildcard: %r" % got)
    check("make", wrong)


def example(all_names):
    """The farm's own command gets its words, and names of images are printed without their control characters."""
    class Image(dict):
        def __missing__(self, key):
            return "missing" if key == "state" else "file"
    module = types.ModuleType("txmill")
    module.TxmillError, module.Progress = RuntimeError, object
    module.make = lambda shot, progress: types.SimpleNamespace(created=[], failed=[])
    module.list_scene = lambda shot: types.SimpleNamespace(images=images)
    sys.modules["txmill"] = module
    script, wrong, out = load(REPO + "/examples/submit_shot.py"), [], io.StringIO()
    images = []
    with redirect_stderr(out), redirect_stdout(out):
        os.environb[b"RECORD"] = WORK + b"/record"
        code = script.main(["shot", "--", "bin/txmill"] + [os.fsdecode(n) for n in all_names])
        if code or recorded() != [all_names]:
            wrong.append("the command got other words: %d" % code)
        images = [Image(name=os.fsdecode(n), path=os.fsdecode(n)) for n in all_names]
        if script.main(["shot", "--", "bin/txmill"]) != 3 or recorded():
            wrong.append("missing images were submitted")
        images = []
        errors = [types.SimpleNamespace(message=os.fsdecode(n), retryable=False) for n in all_names]
        failed = [types.SimpleNamespace(error=e) for e in errors]
        module.make = lambda shot, progress: types.SimpleNamespace(created=[], failed=failed)
        if script.main(["shot", "--", "bin/txmill"]) != 3 or recorded():
            wrong.append("a shot with failures was submitted")
    if re.search("[\\x00-\\x08\\x0b-\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202e]", out.getvalue()):
        wrong.append("control characters were printed")
    check("submit_shot", wrong)


def is_utf8(name):
    try:
        return bool(name.decode())
    except UnicodeDecodeError:
        return False


def main():
    all_names = names(60)
    prepare()
    has = {flamenco: shutil.which("node"), gnu_parallel: shutil.which("parallel"), openjd: yaml or os.environ.get("OPENJD")}
    for part in (slurm, deadline, opencue, openjd, bat, make, example, flamenco, gnu_parallel):
        if sys.argv[2:] and part.__name__ not in sys.argv[2:]:
            continue
        if has.get(part, True):
            part(all_names)
        else:
            print("skip %s (node, GNU parallel or python3-yaml is not installed)" % part.__name__)
    sys.exit(failures != 0)


main()
