#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches OpenColorIO and OpenImageIO of scripts/deps.txt from PyPI: scripts/deps.sh FOLDER. The folder then has bin, include,
# lib and licenses. It appears whole or not at all. Downloads are kept beside it, so that a second run continues, and so
# that none of them is fetched twice by the builds that share them. The Makefile calls this once; see DEPS there.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1")
top=$(dirname "$folder")
python=${PYTHON:-python3}
machine=$(uname -m)
otherwise="make DEPS=system builds with the libraries of this system"
fail() { echo "scripts/deps.sh: $*" >&2; exit 1; }

grep -q "^$machine " scripts/deps.txt || fail "scripts/deps.txt has no libraries for $machine; $otherwise"
mkdir -p "$top/downloads" 2>/dev/null && [ -w "$top" ] || fail "$top cannot be written; TXM_DEPS names another folder"
exec 9>"$top/lock"
flock -n 9 || { echo "scripts/deps.sh: another build is fetching the same libraries; waiting for it" >&2; flock 9; }
[ ! -e "$folder/complete" ] || exit 0
new=$top/new
rm -rf "$new" "$folder"
mkdir "$new"
trap 'rm -rf "$new"' EXIT

# ---- downloads, which are known by their digests ----
present=$(sha256sum "$top"/downloads/* 2>/dev/null || :)
file_of() { # SHA-256
    echo "$present" | awk -v digest="$1" '$1 == digest { print substr($0, 67); exit }'
}
wanted() { # KIND: lines for pip of what is not there yet
    local kind package digest
    while read -r kind package digest; do
        [ "$kind" != "$1" ] || [ -n "$(file_of "$digest")" ] || echo "$package --hash=sha256:$digest"
    done < <(grep -v '^#' scripts/deps.txt)
}
# Debian has pip as a wheel too, without what python3-pip brings along; it runs from there, as it does for Python's ensurepip.
find_pip() {
    local wheel
    "$python" -c '' 2>/dev/null || fail "'$python' does not run (apt-get install python3); $otherwise"
    "$python" -m pip --version >/dev/null 2>&1 && return
    for wheel in "$("$python" -c 'import ensurepip; print(ensurepip.__path__[0])' 2>/dev/null)"/_bundled/pip-*.whl \
        /usr/share/python-wheels/pip-*.whl; do
        PYTHONPATH=$wheel "$python" -m pip --version >/dev/null 2>&1 || continue
        pip_path=$wheel
        return
    done
    fail "'$python' has no pip (apt-get install python3-pip-whl); $otherwise"
}
download() { # KIND PIP-OPTION...
    mkdir "$new/$1"
    wanted "$1" >"$new/$1.txt"
    [ -s "$new/$1.txt" ] || return 0
    PYTHONPATH=$new/backend:$pip_path "$python" -m pip download -q --no-input --no-cache-dir --disable-pip-version-check --no-deps \
        --require-hashes "${@:2}" -d "$new/$1" -r "$new/$1.txt" >"$new/$1.log" 2>&1
}
pip_path=
if [ -n "$(wanted headers; wanted "$machine")" ]; then
    find_pip
    # pip asks a source package for its metadata, for which both would configure a whole build. It gets what they contain.
    mkdir -p "$new"/backend/{setuptools,scikit_build_core}
    touch "$new"/backend/{setuptools,scikit_build_core}/__init__.py
    tee "$new"/backend/setuptools/build_meta.py >"$new/backend/scikit_build_core/build.py" <<'EOF'
import email, os, shutil


def prepare_metadata_for_build_wheel(folder, settings=None):
    with open("PKG-INFO", encoding="utf-8") as text:
        about = email.message_from_file(text)
    name = "%s-%s.dist-info" % (about["Name"].replace("-", "_"), about["Version"])
    os.mkdir(os.path.join(folder, name))
    shutil.copy("PKG-INFO", os.path.join(folder, name, "METADATA"))
    return name
EOF
    download headers --no-build-isolation --no-binary opencolorio,openimageio &
    headers=$!
    # Nothing is linked with Python, so the wheels for its oldest version will do.
    failed=
    download "$machine" --only-binary :all: --python-version 3.9 --platform "manylinux_2_28_$machine" --platform "manylinux2014_$machine" ||
        failed=$machine
    wait $headers || failed=headers
    find "$new/headers" "$new/$machine" -type f -exec mv -t "$top/downloads" {} +
    if [ -n "$failed" ]; then
        if grep -q 'DO NOT MATCH THE HASHES' "$new/$failed.log"; then
            fail "a file that PyPI or its mirror sends for $(cut -d' ' -f1 "$new/$failed.txt" | paste -sd' ') has another digest" \
                "than scripts/deps.txt says, and was not used; try another mirror (PIP_INDEX_URL), or $otherwise"
        fi
        fail "pip cannot download $(cut -d' ' -f1 "$new/$failed.txt" | paste -sd' '): there is no network, or PyPI refuses or lacks them" \
            "($(grep -i error "$new/$failed.log" | tail -n 1)); PIP_INDEX_URL names a mirror, TXM_DEPS a folder" \
            "that another build has filled, and $otherwise"
    fi
    present=$(sha256sum "$top"/downloads/*)
fi

# ---- the folder ----
tree=$new/tree
mkdir -p "$tree"/{bin,include,lib,licenses} "$new/source"
while read -r kind package digest; do
    file=$(file_of "$digest")
    case $kind in
        headers) tar -x -f "$file" -C "$new/source" --wildcards '*/include/Open*' '*/PKG-INFO' '*/LICENSE*' '*/THIRD-PARTY*' ;;
        "$machine") "$python" -m zipfile -e "$file" "$new/packages" ;;
    esac || fail "$file cannot be unpacked into $new"
done < <(grep -v '^#' scripts/deps.txt)
ocio=$(echo "$new"/source/opencolorio-*) oiio=$(echo "$new"/source/openimageio-*)
for source in "$ocio" "$oiio"; do
    mkdir "$tree/licenses/$(basename "$source")"
    cp "$source"/{LICENSE,THIRD-PARTY}* "$tree/licenses/$(basename "$source")/"
done
cp -R "$ocio/include/OpenColorIO" "$oiio/src/include/OpenImageIO" "$tree/include/"
# The headers that these libraries generate when they are built.
numbers() { # VERSION: commands of sed that fill in its parts as @1@ ...
    echo "$1" | tr . '\n' | awk '{ printf "s/@%d@/%s/g;", NR, $0 }'
}
sed -e 's/@OCIO_NAMESPACE@/OpenColorIO_v@1@_@2@/; s/@OpenColorIO_VERSION@/@1@.@2@.@3@/; s/@OpenColorIO_VERSION_RELEASE_TYPE@//' \
    -e 's/@OpenColorIO_VERSION_MAJOR@/@1@/; s/@OpenColorIO_VERSION_MINOR@/@2@/; s/@OpenColorIO_VERSION_PATCH@/@3@/' \
    -e "$(numbers "${ocio##*-}")" "$ocio/include/OpenColorIO/OpenColorABI.h.in" >"$tree/include/OpenColorIO/OpenColorABI.h"
sed -e 's/@PROJECT_VERSION_MAJOR@/@1@/; s/@PROJECT_VERSION_MINOR@/@2@/; s/@PROJECT_VERSION_PATCH@/@3@/; s/@PROJECT_VERSION_TWEAK@/@4@/' \
    -e 's/@PROJECT_VERSION_RELEASE_TYPE@//; s/@PROJ_NAMESPACE@/OpenImageIO/; s/@PROJ_VERSION_NAMESPACE@/v@1@_@2@/' \
    -e 's/@CMAKE_CXX_STANDARD@/17/; s/#cmakedefine01 OIIO_TBB/#define OIIO_TBB 0/' \
    -e 's/@Imath_VERSION_MAJOR@/3/; s/@Imath_VERSION_MINOR@/1/' \
    -e "$(numbers "${oiio##*-}")" "$oiio/src/include/OpenImageIO/oiioversion.h.in" >"$tree/include/OpenImageIO/oiioversion.h"
rm "$tree"/include/*/*.in
! grep -rnE '@[A-Za-z0-9_]+@|#cmake' "$tree"/include/OpenColorIO/OpenColorABI.h "$tree/include/OpenImageIO/oiioversion.h" >&2 ||
    fail "a header of a library has a new place to fill in"
mkdir "$tree/include/OpenImageIO/detail/fmt"
for header in format ostream printf; do
    echo "#include <fmt/$header.h>" >"$tree/include/OpenImageIO/detail/fmt/$header.h"
done
cp "$new"/packages/PyOpenColorIO/libOpenColorIO.so "$new"/packages/OpenImageIO/lib/libOpenImageIO*.so.* "$tree/lib/"
for l in OpenImageIO OpenImageIO_Util; do ln -s "$(basename "$tree/lib/lib$l".so.*)" "$tree/lib/lib$l.so"; done
cp "$new"/packages/OpenImageIO/bin/* "$tree/bin/"
chmod 755 "$tree"/bin/* "$tree"/lib/*
touch "$tree/complete"
sync -f "$tree" 2>/dev/null || :
mv "$tree" "$folder"
