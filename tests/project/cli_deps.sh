#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/deps.sh with small packages of the same names: what it fetches, and what stands in its way.
# Plain builds only: nothing that is compiled runs
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
mkdir -p tree/scripts files
cp "$repo/scripts/deps.sh" tree/scripts/
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE
export PIP_RETRIES=0 PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS=$work/files

# Packages with what the script takes out of the real ones, and pins for them.
python3 - "$(uname -m)" <<'EOF'
import hashlib, io, pathlib, sys, tarfile, zipfile
machine = sys.argv[1]
pins = open("tree/scripts/deps.txt", "w")
def pin(kind, name, version, path):
    print("%s  %s==%s  %s" % (kind, name, version, hashlib.sha256(path.read_bytes()).hexdigest()), file=pins)
def source(name, version, files):
    path = pathlib.Path("files/%s-%s.tar.gz" % (name, version))
    backend = {"opencolorio": "setuptools.build_meta", "openimageio": "scikit_build_core.build"}[name]
    files = {"PKG-INFO": "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version), "LICENSE": "", "THIRD-PARTY.md": "",
             "pyproject.toml": '[build-system]\nrequires = ["none==9"]\nbuild-backend = "%s"\n' % backend, **files}
    with tarfile.open(path, "w:gz") as tar:
        for file, text in files.items():
            entry = tarfile.TarInfo("%s-%s/%s" % (name, version, file))
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    pin("headers", name, version, path)
def wheel(name, version, system, files):
    path = pathlib.Path("files/%s-%s-cp39-cp39-%s_%s.whl" % (name, version, system, machine))
    with zipfile.ZipFile(path, "w") as made:
        for file in files:
            made.writestr(file, file)
        made.writestr("%s-%s.dist-info/WHEEL" % (name, version), "Wheel-Version: 1.0\n")
        made.writestr("%s-%s.dist-info/METADATA" % (name, version), "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
    pin(machine, name, version, path)
source("opencolorio", "2.5.7", {"include/OpenColorIO/OpenColorIO.h": "", "include/OpenColorIO/OpenColorABI.h.in":
       '@OCIO_NAMESPACE@ "@OpenColorIO_VERSION@" @OpenColorIO_VERSION_MAJOR@ @OpenColorIO_VERSION_PATCH@\n'})
source("openimageio", "3.1.20.4", {"src/include/OpenImageIO/detail/x.h": "", "src/include/OpenImageIO/oiioversion.h.in":
       "@PROJ_NAMESPACE@ @PROJ_VERSION_NAMESPACE@ @PROJECT_VERSION_PATCH@ @PROJECT_VERSION_TWEAK@\n#cmakedefine01 OIIO_TBB\n"})
wheel("opencolorio", "2.5.7", "manylinux2014", ["PyOpenColorIO/libOpenColorIO.so"])
wheel("openimageio", "3.1.20.4", "manylinux_2_28", ["OpenImageIO/bin/maketx"] + ["OpenImageIO/lib/lib%s.so.3.1.20" % l
      for l in ("OpenImageIO", "OpenImageIO_Util")])
EOF
cp tree/scripts/deps.txt pins
fetch() { run tree/scripts/deps.sh "$work/deps/one"; }
one_sentence() { [ "$(wc -l <err)" -eq 1 ] && grep -q '^scripts/deps.sh: .*make DEPS=system builds with' err; }
nothing_is_there() { [ ! -e deps/one ] && [ ! -e deps/new ]; }
refused() { # NAME PATTERN: one sentence with it, and nothing that looks like a result
    check "$1-is-one-sentence" one_sentence
    check "$1-says-why" grep -q "$2" err
    check "$1-leaves-nothing" nothing_is_there
    check "$1-exit" rc_is 1
}

PYTHON=$work/none fetch
refused no-python "'$work/none' does not run (apt-get install python3)"
# A Python without packages has pip at most in a wheel of ensurepip or of Debian.
printf '#!/bin/sh\n[ "$1 $2" != "-m pip" ] || exit 1\nexec python3 "$@"\n' >no-pip
chmod +x no-pip
PYTHON=$work/no-pip fetch
refused no-pip "'$work/no-pip' has no pip (apt-get install python3-pip-whl)"
PIP_NO_INDEX=0 PIP_FIND_LINKS='' PIP_INDEX_URL=http://127.0.0.1:9/simple fetch
refused no-network 'pip cannot download opencolorio==2.5.7 openimageio==3.1.20.4: there is no network, or .* (ERROR: .*PIP_INDEX_URL names a mirror'
cat >refuse.py <<'EOF'
import http.server
class Refuse(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(403)
server = http.server.HTTPServer(("127.0.0.1", 0), Refuse)
print(server.server_port, flush=True)
server.serve_forever()
EOF
python3 refuse.py >port 2>/dev/null &
registry=$!
for _ in $(seq 100); do [ -s port ] || sleep 0.05; done
PIP_NO_INDEX=0 PIP_FIND_LINKS='' PIP_INDEX_URL=http://127.0.0.1:$(cat port)/simple fetch
kill $registry
refused refusal 'pip cannot download opencolorio==2.5.7 openimageio==3.1.20.4: there is no network, or PyPI refuses'
sed "s/^\(headers  openimageio.*\)\(.\{60\}\)$/\1$(printf '%060d' 0)/" pins >tree/scripts/deps.txt
fetch
refused digest 'for .*openimageio==3.1.20.4 has another digest than scripts/deps.txt says, and was not used'
check what-was-right-is-kept test "$(find deps/downloads -name '*.whl' | wc -l)" -eq 2
cp pins tree/scripts/deps.txt
printf '#!/bin/sh\necho abacus\n' >uname
chmod +x uname
PATH=$work:$PATH fetch
refused machine 'scripts/deps.txt has no libraries for abacus'
run tree/scripts/deps.sh /proc/deps/one
check folder-cannot-be-written says 'scripts/deps.sh: /proc/deps cannot be written; TXM_DEPS names another folder'

# Continues: the wheels are there, and one of them is damaged. Two at once do not disturb each other.
mkdir away && mv files/opencolorio-*.whl away
mkdir -p deps/new/left && echo damage >>"$(echo deps/downloads/openimageio-*.whl)"
tree/scripts/deps.sh "$work/deps/one" 2>other &
fetch
check fetched rc_is 0
wait $!
check fetched-beside test $? -eq 0
for f in lib/libOpenColorIO.so lib/libOpenImageIO.so.3.1.20 lib/libOpenImageIO_Util.so bin/maketx include/OpenColorIO/OpenColorIO.h \
    include/OpenImageIO/detail/x.h include/OpenImageIO/detail/fmt/format.h licenses/opencolorio-2.5.7/LICENSE complete; do
    check "has-$(basename $f)" test -e "deps/one/$f"
done
check header-of-colors grep -qx 'OpenColorIO_v2_5 "2.5.7" 2 7' deps/one/include/OpenColorIO/OpenColorABI.h
check header-of-images test "$(tr '\n' ' ' <deps/one/include/OpenImageIO/oiioversion.h)" = "OpenImageIO v3_1 20 4 #define OIIO_TBB 0 "
check leaves-no-work test ! -e deps/new
# Everything is there: no registry is asked, and a new folder is made of the downloads.
rm -r files
fetch
check again rc_is 0
PYTHON=$work/no-pip run tree/scripts/deps.sh "$work/deps/two"
check offline test "$rc" -eq 0 -a -e deps/two/complete
finish
