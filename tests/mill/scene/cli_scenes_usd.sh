#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# USD scenes: how the helper's answers are used, whatever they are, and, if a Python has usd-core, what it answers.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
real=${TXMILL_PYTHON:-python3}
named() { python3 "$repo/tests/mill/scene/scene_names.py" "$@"; }
states() { python3 -c 'import json, sys
print(sorted((x["name"], x["state"]) for x in map(json.loads, open("out")) if x["type"] == "image"))'; }

# ---- answers of the helper -----------------------------------------------------------------------------------------
mkdir -p shot/tex
for i in a sky b.1001 b.1003; do cp "$golden/rgb8.png" "shot/tex/$i.png"; done
echo '#usda 1.0' >shot/s.usda
helper() { # Replaces Python with a script, which is read from stdin.
    { echo '#!/bin/sh' && cat; } >helper && chmod +x helper
    export TXMILL_PYTHON=$work/helper
}
helper <<END
[ "\$#" = 2 ] && [ "\$2" = "$work/shot/s.usda" ] || exit 9
cat <<'JSON'
{"kind": "layer", "path": "$work/shot/part.usda", "parent": "$work/shot/s.usda", "there": true}
{"kind": "layer", "path": "$work/shot/part.usda", "parent": "$work/shot/s.usda", "there": true}
{"kind": "node", "stored": "tex/a.png", "path": "$work/shot/tex/a.png", "inside": false, "node": "T", "owner": "/M", "owner_type": "material", "library": "", "environment": false, "colorspace": "sRGB", "extension": "clamp"}
{"kind": "node", "stored": "tex/a.png", "path": "$work/shot/tex/../tex/a.png", "node": "U", "owner": "/M", "colorspace": "sRGB", "normal": true}
{"kind": "node", "stored": "tex/b.<UDIM>.png", "path": "$work/shot/tex/b.<UDIM>.png", "node": "N", "owner": "/M", "colorspace": "raw"}
{"kind": "node", "stored": "tex/sky.png", "path": "$work/shot/tex/sky.png", "node": "Sky", "owner": "/Sky", "owner_type": "light", "environment": true}
{"kind": "node", "stored": "x.usdz[0/p.png]", "path": "x.usdz[0/p.png]", "inside": true, "node": "P", "owner": "/P"}
{"kind": "end"}
JSON
END
gives answer 0 -- list --json shot/s.usda
if has_jsonschema; then check answer-schema valid_json list out; fi
check answer-scene json out 'o[0]["format"] == "usd" and o[0]["images"] == 4 and o[0]["libraries"] == 1'
check answer-users json out '[u["node"] for x in o if x["type"] == "image" and x["name"] == "a.png" for u in x["users"]] == ["T", "U"]'
check answer-inside json out '[x["state"] for x in o if x["type"] == "image"].count("packed") == 1'
gives answer 0 says "1 image inside the package is left out: Cycles does not look up tx files for them" -- make shot/s.usda
check name-space test -s "$(named shot/tex/a.png sRGB auto)"
check name-udim test -s "$(named shot/tex/b.1001.png data auto)"
check name-udim-second test -s "$(named shot/tex/b.1003.png data auto)"
check name-light test -s "$(named shot/tex/sky.png scene_linear auto)"
check no-other-names test "$(find shot -name '*.tx' | wc -l)" -eq 4
gives answer 0 prints "ready to render: 4 of 4" says 'image "a.png" feeds a normal input but is in sRGB: set it to raw' \
    -- check shot/s.usda

fails() { # NAME CODE TEXT; the helper is on stdin
    helper
    run timeout 60 "$TXMILL" list shot/s.usda
    check "$1-exit" rc_is "$2"
    check "$1-says" says "$3"
}
fails lacking 3 "reading USD needs usd-core for $work/helper (No module named 'pxr'): pip install 'txmill[usd]', or pip install usd-core" <<'END'
echo "{\"kind\": \"lacking\", \"message\": \"No module named 'pxr'\"}"
END
check lacking-advice eval 'says "not installed; install what the messages name" && ! says "give scenes"'
fails no-room 4 "there is not enough memory to load usd-core: libusd.so: failed to map segment from shared object" <<'END'
echo '{"kind": "lacking", "message": "libusd.so: failed to map segment from shared object"}'
END
fails no-memory 4 "USD needs more memory than there is" <<<'echo "{\"kind\": \"memory\"}"'
fails refused 3 "USD cannot open it: bad" <<<'echo "{\"kind\": \"failed\", \"message\": \"bad\"}"'
fails crashed 3 "USD crashed while reading it, with signal 11" <<<'kill -SEGV $$'
# Without memory Python and USD crash, or end in any way.
if [ -n "${SANITIZED:-}" ]; then
    skip limited "AddressSanitizer reserves more addresses than the limit"
else
    for end in 'kill -SEGV $$' 'exit 1'; do
        helper <<<"$end"
        run bash -c 'ulimit -v 8000000 && exec "$@"' - "$TXMILL" list shot/s.usda
        check "limited-${end% *}" eval 'rc_is 4 && says "USD gave up, most likely for lack of memory"'
    done
fi
fails early 3 "exited with 3 before it had read the scene" <<<'exit 3'
fails without-end 3 "exited with 0 before it had read the scene" <<<'echo "{\"kind\": \"node\", \"path\": \"/x.png\"}"'
fails noise 3 "gave an answer that cannot be read" <<<'echo Traceback'
fails no-object 3 "gave an answer that cannot be read" <<<'echo "[[[[1]]]]"'
fails endless-line 3 "takes more than 4 MiB" <<<'cat /dev/zero'
fails endless-lines 3 "need more than 128 MiB" <<<"while :; do printf '{\"kind\": \"node\", \"path\": \"/x\", \"owner\": \"%s\"}\n' $(head -c 60000 /dev/zero | tr '\0' x) || exit; done"
export TXMILL_USD_SECONDS=1
fails hangs 3 "USD took more than 1 s to read it" <<<'exec sleep 100'
fails hangs-with-pipe-closed 3 "USD crashed while reading it, with signal 9" <<<'exec sleep 100 >/dev/null'
unset TXMILL_USD_SECONDS
# A farm sends the signal to the program alone.
helper <<<'exec sleep 100'
for command in list make; do
    "$TXMILL" $command shot/s.usda >out 2>err &
    pid=$!
    sleep 1 && kill -TERM $pid
    wait $pid
    rc=$?
    check "stopped-$command" test "$rc" -eq 143
done
check nothing-runs-on test -z "$(pgrep -f "^sleep 100$" -P 1)"
helper <<<'echo "{\"kind\": \"node\", \"path\": 7, \"tiles\": {\"a\": []}, \"node\": null, \"colorspace\": 3, \"alpha_type\": []}"; echo "{\"kind\": \"end\"}"'
gives odd-types 0 -- list shot/s.usda
export TXMILL_PYTHON=$work/no-such-python
gives no-python 3 says "there is no $work/no-such-python: install python3, then pip install usd-core" -- list shot/s.usda
gives gone 3 says "gone.usda: cannot open: No such file" -- list gone.usda
mkdir folder.usda && txm list folder.usda
check folder test "$rc" -ne 0
mkfifo pipe.usd && run timeout 20 "$TXMILL" list pipe.usd
check pipe says "not a regular file"

# ---- usd-core itself -----------------------------------------------------------------------------------------------
export TXMILL_PYTHON=$real
if ! "$real" -c 'import pxr' 2>/dev/null; then
    gives really-lacking 3 says "pip install usd-core" -- list shot/s.usda
    skip usd-core "this Python has none: TXMILL_PYTHON names another"
    finish
fi
mkfifo layer.usda
printf '#usda 1.0\ndef Scope "b" (payload = @./layer.usda@</c>) {}\n' >middle.usda
printf '#usda 1.0\ndef Scope "a" (references = @./middle.usda@</b>) {}\n' >top.usda
run timeout 60 "$TXMILL" list top.usda
check pipe-as-layer says "layer.usda is not a regular file"
# A layer for which USD has no reader, and one that is opened only when its variant is chosen.
mkfifo layer.mtlx
printf '#usda 1.0\ndef Scope "a" (references = @./layer.mtlx@</b>) {}\n' >top.usda
run timeout 20 "$TXMILL" list top.usda
check pipe-as-document says "layer.mtlx: not a regular file"
cat >top.usda <<'USD'
#usda 1.0
def Scope "a" (
    variants = { string v = "dry" }
    variantSets = "v"
)
{
    variantSet "v" = {
        "dry" {
        }
        "wet" {
            def Scope "x" (references = @./layer.usda@</c>)
            {
            }
        }
    }
}
USD
run timeout 20 "$TXMILL" list --every-variant top.usda
check pipe-in-a-variant says "layer.usda is not a regular file"
# Images that become normals: of a preview surface, through an interface, and of MaterialX.
cat >normals.usda <<'USD'
#usda 1.0
def Material "M"
{
    asset inputs:pic = @shot/tex/a.png@
    token outputs:surface.connect = </M/S.outputs:surface>
    def Shader "S"
    {
        uniform token info:id = "UsdPreviewSurface"
        token outputs:surface
        normal3f inputs:normal.connect = </M/G.outputs:out>
        color3f inputs:diffuseColor.connect = </M/Colour.outputs:rgb>
    }
    def NodeGraph "G"
    {
        float3 outputs:out.connect = </M/G/T.outputs:rgb>
        def Shader "T"
        {
            uniform token info:id = "UsdUVTexture"
            float3 outputs:rgb
            asset inputs:file.connect = </M.inputs:pic>
            token inputs:sourceColorSpace = "sRGB"
            float2 inputs:st.connect = </M/Warp.outputs:rgb>
        }
    }
    def Shader "Colour"
    {
        uniform token info:id = "UsdUVTexture"
        float3 outputs:rgb
        asset inputs:file = @shot/tex/sky.png@
        token inputs:sourceColorSpace = "sRGB"
    }
    def Shader "Warp"
    {
        uniform token info:id = "UsdUVTexture"
        float3 outputs:rgb
        asset inputs:file = @shot/tex/b.1001.png@
        token inputs:sourceColorSpace = "sRGB"
    }
    def Shader "N"
    {
        uniform token info:id = "ND_normalmap"
        float3 inputs:in.connect = </M/Mul.outputs:out>
    }
    def Shader "Mul"
    {
        uniform token info:id = "ND_multiply_color3"
        color3f outputs:out
        color3f inputs:in1.connect = </M/X.outputs:out>
        color3f inputs:in2.connect = </M/Mul.outputs:out>
    }
    def Shader "X"
    {
        uniform token info:id = "ND_image_color3"
        color3f outputs:out
        asset inputs:file = @shot/tex/b.1003.png@ (
            colorSpace = "sRGB"
        )
    }
}
USD
txm check normals.usda
check normals test "$(sed -n 's/.*image "\([a-z0-9.]*\)" feeds a normal input but is in sRGB: set it to raw$/\1/p' err | sort | tr '\n' ' ')" = "a.png b.1003.png "
if "$real" -c 'import MaterialX' 2>/dev/null; then
    cat >normals.mtlx <<'MTLX'
<?xml version="1.0"?>
<materialx version="1.38" colorspace="sRGB">
  <nodegraph name="g">
    <image name="i" type="vector3"><input name="file" type="filename" value="shot/tex/a.png"/></image>
    <image name="c" type="color3"><input name="file" type="filename" value="shot/tex/sky.png"/></image>
    <convert name="v" type="vector3"><input name="in" type="color3" nodename="c"/></convert>
    <normalmap name="n" type="vector3"><input name="in" type="vector3" nodename="v"/></normalmap>
    <output name="out" type="vector3" nodename="n"/>
  </nodegraph>
</materialx>
MTLX
    txm check normals.mtlx
    check normals-mtlx test "$(sed -n 's/.*image "\([a-z0-9.]*\)" feeds a normal input but is in sRGB: set it to raw$/\1/p' err)" = sky.png
fi
rm -rf shot/tex/blender_tx
cp "$golden/rgb8.png" shot/tex/f1.png && cp "$golden/rgb8.png" shot/tex/f2.png
mkdir -p shot/sub
cat >shot/s.usda <<'USD'
#usda 1.0
(
    defaultPrim = "World"
    subLayers = [@sub/over.usda@]
)
def Xform "World" (
    variants = { string look = "wet" }
    prepend variantSets = "look"
)
{
    def Material "M"
    {
        asset inputs:pic = @./tex/a.png@
        def Shader "T"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file.connect = </World/M.inputs:pic>
            token inputs:sourceColorSpace = "sRGB"
            token inputs:wrapS = "mirror"
            token inputs:wrapT = "black"
        }
        def Shader "N"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @tex/b.<UDIM>.png@
            token inputs:sourceColorSpace = "raw"
        }
        def Shader "A"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file.timeSamples = { 1: @tex/f1.png@, 2: @tex/f2.png@ }
            token inputs:sourceColorSpace = "auto"
        }
        def Shader "X"
        {
            uniform token info:id = "ND_image_color3"
            asset inputs:file = @tex/a.png@ (
                colorSpace = "lin_rec709"
            )
        }
        def Shader "V"
        {
            uniform token info:id = "ND_tiledimage_vector3"
            asset inputs:file = @tex/f1.png@
        }
        def Shader "C"
        {
            uniform token info:id = "cycles_image_texture"
            asset inputs:filename = @tex/b.<UDIM>.png@
            string inputs:colorspace = "Non-Color"
            string inputs:alpha_type = "channel_packed"
            int[] inputs:tiles = [1001, 1003]
        }
        def Shader "Other"
        {
            uniform token info:id = "UsdPrimvarReader_float2"
            asset inputs:file = @tex/not.png@
        }
    }
    def DomeLight "Sky"
    {
        asset inputs:texture:file = @tex/sky.png@
    }
    def "Off" (
        active = false
    )
    {
        def Shader "Z"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @tex/off.png@
        }
    }
    variantSet "look" = {
        "wet" {
            def Shader "Wet"
            {
                uniform token info:id = "UsdUVTexture"
                asset inputs:file = @tex/a.png@
            }
        }
        "dry" {
            def Shader "Dry"
            {
                uniform token info:id = "UsdUVTexture"
                asset inputs:file = @tex/dry.png@
            }
        }
    }
    def "One" (
        instanceable = true
        references = @sub/p.usda@
    )
    {
    }
    def "Two" (
        instanceable = true
        references = @sub/p.usda@
    )
    {
    }
}
USD
cat >shot/sub/p.usda <<'USD'
#usda 1.0
(
    defaultPrim = "P"
)
def Xform "P"
{
    def Shader "Q"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @../tex/a.png@
    }
}
USD
printf '#usda 1.0\n' >shot/sub/over.usda
gives usd 0 -- list --json shot/s.usda
check usd-nodes json out 'sorted(u["node"] for x in o if x["type"] == "image" for u in x["users"]) == sorted(["T", "N", "A", "A", "X", "V", "C", "Sky", "Wet", "Q"])'
check usd-wrap json out '[u["extension"] for x in o if x["type"] == "image" for u in x["users"] if u["node"] == "T"] == ["clip"]'
check usd-layers json out 'sorted(x["path"].rsplit("/", 1)[1] for x in o if x["type"] == "library") == ["over.usda", "p.usda"]'
gives usd-make 0 -- make shot/s.usda
check usd-name-source-space test -s "$(named shot/tex/a.png sRGB auto)"
check usd-name-none test -s "$(named shot/tex/a.png scene_linear auto)"
check usd-name-auto test -s "$(named shot/tex/f2.png auto auto)"
check usd-name-udim test -s "$(named shot/tex/b.1003.png data auto)"
check usd-name-cycles test -s "$(named shot/tex/b.1001.png data channel_packed)"
check usd-name-materialx test -s "$(named shot/tex/a.png lin_rec709 auto)"
check usd-name-vector test -s "$(named shot/tex/f1.png data auto)"
check usd-name-dome test -s "$(named shot/tex/sky.png scene_linear auto)"
check usd-no-variant-else test ! -e shot/tex/dry.png
gives usd-ready 0 -- check shot/s.usda

txm list --json --every-variant shot/s.usda
check usd-every-variant json out 'sorted(u["node"] for x in o if x["type"] == "image" for u in x["users"]).count("Dry") == 1'
# References inside the layer, format arguments, and a Python for several scenes.
cat >inner.usda <<'USD'
#usda 1.0
def Material "M"
{
    def Shader "T"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @shot/tex/a.png@
    }
}
def "Copy" (
    prepend references = [</M>, @./shot/sub/p.usda:SDF_FORMAT_ARGS:lod=high@]
)
{
}
USD
txm check inner.usda
check usd-inner prints "ready to render: 1 of 1"
printf '#!/bin/sh\necho >>%s/starts\nexec "%s" "$@"\n' "$work" "$real" >counted && chmod +x counted
for i in 1 2 3 4; do cp inner.usda inner$i.usda; done
TXMILL_PYTHON=$work/counted txm check inner*.usda gone.usda
check usd-one-python test "$(wc -l <starts)" -eq 1
# MaterialX: with its package, or the name of the package.
cat >look.mtlx <<'XML'
<?xml version="1.0"?>
<materialx version="1.38" fileprefix="shot/tex/">
  <nodegraph name="g">
    <input name="pic" type="filename" value="a.png" colorspace="srgb_texture"/>
    <image name="i" type="color3"><input name="file" type="filename" interfacename="pic"/></image>
    <image name="r" type="float"><input name="file" type="filename" value="f1.png"/></image>
    <output name="out" type="color3" nodename="i"/>
  </nodegraph>
</materialx>
XML
printf '#usda 1.0\ndef "M" (\n    prepend references = @./look.mtlx@</MaterialX>\n)\n{\n}\n' >look.usda
for f in look.mtlx look.usda; do
    txm list --json $f
    if "$real" -c 'import MaterialX' 2>/dev/null; then
        check "materialx-$f" json out 'sorted((x["name"], x["colorspace"]["stored"]) for x in o if x["type"] == "image") == [("a.png", "srgb_texture"), ("f1.png", "data")]'
    else
        check "materialx-$f" says "'pip install materialx' adds it"
    fi
done
# Layers of variants that were not chosen, and of inactive prims, are not needed; those of overrides are.
mkdir part && cd part || exit 1
texture() { printf '%s\n{\n    uniform token info:id = "UsdUVTexture"\n    asset inputs:file = @%s@\n}\n' "$1" "$2"; }
libraries() { python3 -c 'import json
print(" ".join(sorted(x["path"].rsplit("/", 1)[1] + ":" + x["state"] for x in map(json.loads, open("../out")) if x["type"] == "library")))'; }
for i in p q two y w; do cp "$golden/rgb8.png" $i.png; done
cat >needed.usda <<USD
#usda 1.0
def Xform "A" (
    variantSets = "v"
    variants = { string v = "one" }
)
{
    variantSet "v" = {
        "one" {
            $(texture 'def Shader "P"' p.png)
        }
        "two" ( payload = @./gone.usda@</T> ) {
        }
        "three" ( references = [@./deep.usda@</D>, @./look.mtlx@</MaterialX>] ) {
        }
    }
}
def "Off" (
    active = false
    references = @./off.usda@
)
{
}
over "Over" (
    references = @./over.usda@
)
{
}
USD
printf '#usda 1.0\ndef "D" ( references = @./deeper.usda@</E> )\n{\n}\n' >deep.usda
echo '<materialx version="1.38"><image name="i" type="color3"><input name="file" type="filename" value="q.png"/></image></materialx>' >look.mtlx
txm list --json needed.usda
check usd-needed test "$(libraries)" = "over.usda:missing"
txm list --json --every-variant needed.usda
check usd-needed-by-variants eval 'test "$(libraries | sed "s/ look.mtlx:[a-z]*//")" = "deep.usda:read deeper.usda:missing gone.usda:missing over.usda:missing"'
# Variants inside variants, and of instances inside instances.
cat >nest.usda <<USD
#usda 1.0
(
    defaultPrim = "A"
)
def Xform "A" (
    variantSets = ["v", "w"]
    variants = {
        string v = "one"
        string w = "x"
    }
)
{
    variantSet "v" = {
        "one" (
            variantSets = "inner"
            variants = { string inner = "p" }
        ) {
            variantSet "inner" = {
                "p" {
                    $(texture 'def Shader "P"' p.png)
                }
                "q" {
                    $(texture 'def Shader "Q"' q.png)
                }
            }
        }
        "two" {
            $(texture 'def Shader "Two"' two.png)
        }
    }
    variantSet "w" = {
        "x" {
        }
        "y" {
            $(texture 'def Shader "Y"' y.png)
        }
    }
}
USD
{ printf '#usda 1.0\n(\n    defaultPrim = "W"\n)\ndef "W"\n{\n    def "I" (\n        instanceable = true\n        references = @nest.usda@\n    )\n    {\n    }\n' && texture 'def Shader "S"' w.png && echo '}'; } >wrap.usda
printf '#usda 1.0\ndef "A" ( instanceable = true\n references = @wrap.usda@ )\n{\n}\ndef "B" ( instanceable = true\n references = @wrap.usda@ )\n{\n}\n' >instances.usda
txm list --json instances.usda
check usd-instances json "$work/out" 'sorted(x["name"] for x in o if x["type"] == "image") == ["p.png", "w.png"]'
txm list --json --every-variant instances.usda
check usd-instances-variants json "$work/out" 'sorted(x["name"] for x in o if x["type"] == "image") == ["p.png", "q.png", "two.png", "w.png", "y.png"]'
# A layer that cannot be opened is not a layer without images.
printf '#usda 1.0\ndef "X" {{{\n' >damaged.usda
printf 'PXR-USDC%030d' 0 >damaged.usdc
echo '<materialx version="1.38"><image' >damaged.mtlx
arguments=:SDF_FORMAT_ARGS:lod=high
for use in "subLayers @./damaged.usda@" "references @./damaged.usda$arguments@" "payload @./damaged.usdc@</X>" "payload @./damaged.mtlx$arguments@</X>"; do
    case $use in
        sub*) printf '#usda 1.0\n(\n    subLayers = [%s]\n)\n' "${use#* }" ;;
        *) printf '#usda 1.0\ndef "A" (\n    %s = %s\n)\n{\n}\n' "${use%% *}" "${use#* }" ;;
    esac >uses.usda
    texture 'def Shader "S"' p.png >>uses.usda
    file=${use#*./} file=${file%%[@:]*}
    txm make uses.usda
    check "usd-damaged-$file-${use%% *}" eval 'rc_is 3 && says "library of uses.usda: $PWD/$file: " && prints "p.png: " && { says "cannot open it: " && says "damaged or truncated" || says "pip install materialx"; }'
    rm -rf blender_tx
done
# A document with a damaged part, and parts that include each other.
xml() { echo "<?xml version=\"1.0\"?><materialx version=\"1.38\" xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include href=\"$1\"/></materialx>"; }
xml loop.mtlx >loop.mtlx && xml none.mtlx >lacks.mtlx && xml damaged.mtlx >has.mtlx
for f in damaged loop lacks has; do
    run timeout 60 "$TXMILL" list $f.mtlx
    check "materialx-$f" eval 'rc_is 3 && { says "$f.mtlx: MaterialX cannot open it: " || says "pip install materialx"; }'
done
# Prefixes of folders, tokens and tiles in a document, alone, and inside a package, of which Cycles looks nothing up.
cat >tokens.mtlx <<'XML'
<?xml version="1.0"?>
<materialx version="1.38" colorspace="lin_rec709">
  <nodegraph name="g" fileprefix="tex/">
    <token name="which" type="string" value="a"/>
    <image name="i" type="color3"><input name="file" type="filename" value="[which].png" colorspace="srgb_texture"/></image>
    <image name="u" type="color4"><input name="file" type="filename" value="b.&lt;UDIM&gt;.png"/></image>
    <tiledimage name="v" type="vector3"><input name="file" type="filename" value="n.png"/></tiledimage>
  </nodegraph>
</materialx>
XML
mkdir tex && for i in a n b.1001 b.1003; do cp p.png tex/$i.png; done
if "$real" -c 'import MaterialX' 2>/dev/null; then
    txm list --json tokens.mtlx
    check materialx-tokens json "$work/out" 'sorted((x["name"], x["colorspace"]["stored"], x["state"]) for x in o if x["type"] == "image") == [("a.png", "srgb_texture", "ready"), ("b.<UDIM>.png", "lin_rec709", "ready"), ("n.png", "data", "ready")]'
    txm make tokens.mtlx
    check materialx-tokens-made says "4 created"
fi
printf '#usda 1.0\n(\n    defaultPrim = "A"\n)\ndef "A" ( references = @./tokens.mtlx@</MaterialX> )\n{\n}\n' >package.usda
"$real" - <<'PY'
from pxr import Sdf, Usd
writer = getattr(Sdf, "ZipFileWriter", None) or Usd.ZipFileWriter
with writer.CreateNew("package.usdz") as package:
    for name in ("package.usda", "tokens.mtlx", "tex/a.png"):
        package.AddFile(name)
PY
printf '#usda 1.0\ndef "A" ( references = @./package.usdz@ )\n{\n}\n' >unpacked.usda
for f in package.usdz unpacked.usda; do
    gives "materialx-in-${f%.*}" 0 -- list $f
done
cd .. || exit 1
# The same scene in the other containers.
"$real" - <<'PY'
from pxr import Sdf, Usd, UsdUtils
layer = Sdf.Layer.FindOrOpen("shot/s.usda")
layer.Export("shot/s.usdc")
layer.Export("shot/s.usd")
stage = Usd.Stage.CreateNew("shot/small.usda")
shader = stage.DefinePrim("/T", "Shader")
shader.CreateAttribute("info:id", Sdf.ValueTypeNames.Token).Set("UsdUVTexture")
shader.CreateAttribute("inputs:file", Sdf.ValueTypeNames.Asset).Set("./tex/a.png")
stage.Save()
UsdUtils.CreateNewUsdzPackage("shot/small.usda", "shot/small.usdz")
PY
for c in usdc usd; do
    gives "usd-$c" 0 -- check shot/s.$c
done
txm list --json shot/small.usdz
check usdz json out '[x["state"] for x in o if x["type"] == "image"] == ["packed"]'
# Missing files are reported the same way, wherever the program is started.
sed -i 's|@sub/over.usda@|@sub/none.usda@|; s|@./tex/a.png@|@./tex/none.png@|' shot/s.usda
gives usd-missing 3 says "library of shot/s.usda: $work/shot/sub/none.usda: not found" says "$work/shot/tex/none.png: image" \
    -- make shot/s.usda
# One layer cannot be read by this USD, one has text that is not UTF-8, and one scene contains itself.
echo '<x/>' >part.nobody
printf '#usda 1.0\ndef "A" (\n    references = @./part.nobody@\n)\n{\n}\n' >part.usda
gives usd-other-format 3 says "part.nobody: this USD has no reader for such files" -- make part.usda
printf '#usda 1.0\ndef Shader "T"\n{\n    asset inputs:file = @\xff.png@\n}\n' >bytes.usda
txm list bytes.usda
check usd-bytes says "USD cannot open it: it is not UTF-8"
printf '#usda 1.0\n(\n    subLayers = [@./self.usda@]\n)\ndef "A" (\n    references = </A>\n)\n{\n}\n' >self.usda
run timeout 60 "$TXMILL" list self.usda
check usd-self test "$rc" -ne 124
# Layers that another machine named, sublayers, payloads of variants, and references of layers that are found by a map.
mkdir -p lib/more
printf '#usda 1.0\n(\n    subLayers = [@P:\\lib\\sub.usda@, @\\\\SERVER\\share\\x.usda@]\n)\ndef "A" (\n    variantSets = "v"\n    variants = { string v = "one" }\n)\n{\n    variantSet "v" = {\n        "one" {}\n        "two" ( payload = @p:/lib/two.usda@</T> ) {}\n    }\n}\ndef "R" ( references = @/Volumes/more/ref.usda@</T> ) {}\n' >mapped.usda
texture() { printf '%s\n{\n    uniform token info:id = "UsdUVTexture"\n    asset inputs:file = @P:/lib/%s@\n}\n' "$1" "$2"; }
{ echo '#usda 1.0' && texture 'def Shader "S"' s.png && echo 'def "Q" ( references = @P:\lib\more\deep.usda@</T> ) {}'; } >lib/sub.usda
for i in two more/ref more/deep; do { printf '#usda 1.0\ndef "T" {\n' && texture 'def Shader "S"' "${i##*/}.png" && echo '}'; } >lib/$i.usda; done
for i in s two ref deep srv; do cp "$golden/rgb8.png" lib/$i.png; done
mkdir server && sed 's/two.png/srv.png/; s/"T"/"U"/' lib/two.usda >server/x.usda
sum=$(cat mapped.usda lib/*.usda | sha1sum)
maps=(--path-map "P: $PWD" --path-map "/Volumes $PWD/lib" --path-map "\\\\server\\share $PWD/server")
txm list --json mapped.usda "${maps[@]}"
check usd-map-images json out 'sorted(x["name"] for x in o if x["type"] == "image") == ["deep.png", "ref.png", "s.png", "srv.png"]'
check usd-map-files json out 'o[0]["libraries"] == 4 and all(x["state"] == "ready" for x in o if x["type"] == "image")'
txm list --json --every-variant mapped.usda "${maps[@]}"
check usd-map-variants json out 'sorted(x["name"] for x in o if x["type"] == "image") == ["deep.png", "ref.png", "s.png", "srv.png", "two.png"]'
run timeout 60 "$TXMILL" list mapped.usda --path-map "/Volumes /Volumes/a"
check usd-map-loop test "$rc" -ne 124
check usd-map-same test "$(cat mapped.usda lib/*.usda | sha1sum)" = "$sum"
# These are damaged and hostile files.
bad=0
for cut in 0 1 9 88 400 2000; do
    head -c $cut shot/s.usdc >cut.usdc && cp cut.usdc cut.usdz && cp cut.usdc cut.usda
    for c in usdc usdz usda; do
        run timeout 100 "$TXMILL" list cut.$c
        [ "$rc" -eq 3 ] || [ "$cut" -eq 0 ] || { bad=$((bad + 1)); echo "    rc=$rc cut.$c at $cut"; }
    done
done
check usd-cut test $bad -eq 0
python3 - <<'PY'
import random
data = bytearray(open("shot/s.usdc", "rb").read())
random.seed(1)
for i in range(20):
    bad = bytearray(data)
    for _ in range(20):
        bad[random.randrange(len(bad))] = random.randrange(256)
    open("flip%d.usdc" % i, "wb").write(bad)
PY
bad=0
for f in flip*.usdc; do
    run timeout 100 "$TXMILL" list "$f"
    [ "$rc" -eq 0 ] || [ "$rc" -eq 3 ] || { bad=$((bad + 1)); echo "    rc=$rc $f"; }
done
check usd-spoilt test $bad -eq 0
finish
