#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the Python package with the program that was built. Python's unittest runs them; each becomes a line here.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}
export TXTILE=$build/libtxtile.so TXMILL TXM_TESTDATA PYTHONPATH=$repo/python PYTHONDONTWRITEBYTECODE=1
# Python stops if the library writes beyond memory of Python.
export PYTHONMALLOC=debug

for file in "$repo"/tests/python/test_*.py; do
    name=$(basename "$file" .py)
    case $name:$(basename "$build") in
        test_abi:build | test_t[ie]*:build | test_abi:build-clang | test_t[ie]*:build-clang) ;;
        test_abi:* | test_tiles:* | test_texture:*) skip "python-${name#test_}" "a sanitized library needs a sanitized Python"; continue ;;
    esac
    run timeout 300 python3 -W error::ResourceWarning "$file" -v
    sed -nE 's/^(test_[a-z0-9_]+) .*\.\.\. ok$/ok python-\1/p; s/^(test_[a-z0-9_]+) .*\.\.\. skipped (.*)$/skip python-\1 (\2)/p' err
    check "python-$name" rc_is 0
done
# What follows looks at sources.
[ -z "${SANITIZED:-}" ] || { finish; exit; }
# The oldest Python that the package supports is not installed, but at least its grammar is checked.
run python3 -c "
import ast, pathlib, sys
for path in pathlib.Path('$repo/python').rglob('*.py'):
    ast.parse(path.read_text(), str(path), feature_version=(3, 9))"
check python-3.9-grammar rc_is 0
# The code in docs/python.md and the examples has types, and must pass mypy's strict mode.
if command -v mypy >/dev/null; then
    mkdir typed
    awk '/^    (import txmill|with txmill)/ { block = 1 } /^[^ ]/ { block = 0 } block { print substr($0, 5) }' "$repo/docs/python.md" >typed/manual.py
    check python-manual-has-examples grep -q 'txmill.tiles' typed/manual.py
    sed -i '1i import txmill' typed/manual.py
    run env MYPYPATH="$repo/python" mypy --strict --cache-dir=/dev/null "$repo/python/txmill" "$repo"/examples/*.py typed/manual.py
    check python-typed rc_is 0
    # Scripts for Blender, which no test here runs, must at least know all names that they use.
    echo 'def f(): return bpy.data' >typed/wrong.py
    (cd "$repo" && find bench blender examples scripts tests "$work/typed/wrong.py" -name '*.py' -print0 | xargs -0 mypy --check-untyped-defs \
        --follow-imports=skip --ignore-missing-imports --explicit-package-bases --namespace-packages --cache-dir=/dev/null) >names 2>err
    check python-names-unknown grep -q 'wrong.py.*"bpy" is not defined' names
    run grep -F '[name-defined]' names
    check python-names-known test "$(grep -vc wrong.py out)" = 0
else
    skip python-typed "mypy is not installed"
fi
finish
