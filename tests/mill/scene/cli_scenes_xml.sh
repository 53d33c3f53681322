#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Scenes of Cycles in XML: which images they use, the names of their tx files, includes; damaged and hostile files.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"

mkdir -p shot/tex shot/parts
cp "$golden/rgb8.png" shot/tex/a.png
cp "$golden/rgb8.png" shot/tex/b.1001.png && cp "$golden/rgb8.png" shot/tex/b.1002.png
cp "$golden/gray8.png" shot/parts/c.png
cat >shot/s.xml <<'XML'
<?xml version="1.0"?>
<!DOCTYPE cycles>
<cycles>
  <camera width="10" height="10"/>
  <transform translate="0 0 1"><State interpolation="smooth">
    <shader name="floor">
      <image_texture name="t1" filename="tex/a.png" colorspace="sRGB" alpha_type="associated" extension="mirror"/>
      <image_texture name="t2" filename="tex\a.png" interpolation="cubic"/>
      <image_texture name="t3" filename="tex/b.&lt;UDIM&gt;.png" tiles="1001 1002 1003" colorspace="raw"/>
      <image_texture name="t4" colorspace="auto" filename="tex/../tex/a.png" alpha_type="wrong"/>
      <image_texture name="t5" colorspace="" filename="tex/a.png"><image_texture filename="not/a/node.png"/></image_texture>
      <Image_Texture name="other" filename="other.png"/>
      <connect from="t1 color" to="b color"/>
    </shader></State></transform>
  <BACKGROUND><environment_texture name="env" filename="tex/a.png" extension="clamp" colorspace="Non-Color"/></BACKGROUND>
  <include src="parts/i.xml"/>
  <include src="parts/i.xml"/>
</cycles>
XML
cat >shot/parts/i.xml <<'XML'
<cycles><shader name="wall"><image_texture name="t" filename="c.png" colorspace="Non-Color" alpha_type="ignore"/></shader>
<include src="../s.xml"/></cycles>
XML

gives list 0 -- list --json shot/s.xml
if has_jsonschema; then check list-schema valid_json list out; fi
check list-scene json out 'o[0]["format"] == "cycles-xml" and o[0]["images"] == 7 and o[0]["libraries"] == 1'
check list-nodes json out '{u["node"] for x in o if x["type"] == "image" for u in x["users"]} == {"t1", "t2", "t3", "t4", "t5", "env", "t"}'
check list-words json out '({(u["node"], u["extension"], u["interpolation"]) for x in o if x["type"] == "image" for u in x["users"]} >=
    {("t1", "mirror", "linear"), ("t2", "repeat", "cubic"), ("env", "repeat", "linear")})'
gives list 0 prints "s.xml: XML of Cycles" prints "3 UDIM tiles, 1001 to 1003" -- list shot/s.xml

# The expected names are composed by a separate script.
gives make 0 says "its colour space auto is not in the config: treated as scene-linear, as in Cycles" -- make -v shot/s.xml
named() { python3 "$repo/tests/mill/scene/scene_names.py" "$@"; }
check name-of-settings test -s "$(named shot/tex/a.png sRGB associated)"
check name-of-new-node test -s "$(named shot/tex/a.png scene_linear auto)"
check name-of-tile test -s "$(named shot/tex/b.1001.png data auto)"
check name-of-second-tile test -s "$(named shot/tex/b.1002.png data auto)"
check name-of-word-auto test -s "$(named shot/tex/a.png auto auto)"
check name-of-empty test -s "$(named shot/tex/a.png '' auto)"
check name-of-background test -s "$(named shot/tex/a.png data auto)"
check name-in-include test -s "$(named shot/parts/c.png data ignore)"
check no-other-names test "$(find shot -name '*.tx' | wc -l)" -eq 8
gives ready 0 prints "ready to render: 8 of 8 textures fresh" -- check shot/s.xml
gives verified 0 -- verify shot
gives plan 0 prints "shard" -- plan --shards 2 shot/s.xml
gives again 0 says "8 up to date" -- make shot/s.xml
echo "s.xml" >shot/list && (cd shot && "$TXMILL" check @list) >out 2>err
check in-a-list prints "ready to render: 8 of 8"
gives gc-keeps 0 reports 'not any(x.get("state") == "would-remove" for x in o)' -- gc --keep-for shot/s.xml --json shot

# ---- images that become normals ------------------------------------------------------------------------------------
for i in direct mixed named space linear factor other loop late; do cp "$golden/rgb8.png" "shot/tex/n_$i.png"; done
cat >normals.xml <<'XML'
<cycles><shader name="m">
  <image_texture name="a" filename="shot/tex/n_direct.png" colorspace="sRGB"/>
  <image_texture name="b b" filename="shot/tex/n_mixed.png" colorspace="sRGB"/>
  <image_texture name="c" filename="shot/tex/n_space.png" colorspace="Non-Color"/>
  <image_texture name="d" filename="shot/tex/n_linear.png"/>
  <image_texture name="e" filename="shot/tex/n_factor.png" colorspace="sRGB"/>
  <image_texture name="f" filename="shot/tex/n_other.png" colorspace="sRGB"/>
  <image_texture name="l" filename="shot/tex/n_loop.png" colorspace="sRGB"/>
  <image_texture filename="shot/tex/n_named.png" colorspace="sRGB"/>
  <separate_color name="s"/><combine_color name="k"/><mix name="x"/><mix name="y"/><normal_map name="nm" space="tangent"/>
  <diffuse_bsdf name="bsdf"/>
  <connect from="a color" to="nm color"/><connect from="b b color" to="s color"/><connect from="s red" to="k red"/>
  <Connect from="k color" to="x color1"/><connect from="x color" to="nm color"/><connect from="c color" to="nm color"/>
  <connect from="d color" to="nm color"/><connect from="e color" to="x fac"/><connect from="f color" to="bsdf color"/>
  <connect from="x color" to="y color1"/><connect from="y color" to="x color2"/><connect from="l color" to="y color2"/>
  <connect from="nm normal" to="bsdf normal"/><connect from="none color" to="nm color"/><connect from="a" to="nm"/><connect/>
</shader><shader name="n">
  <normal_map name="nm"/><image_texture name="a" filename="shot/tex/n_late.png" colorspace="sRGB"/>
  <connect from="b b color" to="nm color"/>
</shader></cycles>
XML
txm check normals.xml
check normals test "$(sed -n 's/.*image "\(n_[a-z]*\).png" feeds a Normal Map node but is in sRGB: set it to Non-Color$/\1/p' err | sort | tr '\n' ' ')" = "n_direct n_loop n_mixed "
txm list --lint --json normals.xml
check normals-json json out 'sum(x["type"] == "finding" and x["id"] == "normal-map-color" for x in o) == 3'
if has_jsonschema; then check normals-schema valid_json list out; fi
txm make -n normals.xml
check normals-unasked test "$(grep -c 'Normal Map' err)" = 0
python3 - >chain.xml <<'PY'
print('<cycles><shader name="m"><normal_map name="n"/><image_texture name="i" filename="shot/tex/a.png" colorspace="sRGB"/>')
print("".join('<gamma name="g%d"/>' % i for i in range(20000)))
print("".join('<connect from="g%d color" to="g%d color"/>' % (i + 1, i) for i in range(19999)) * 5)
print('<connect from="g0 color" to="n color"/><connect from="i color" to="g19999 color"/></shader></cycles>')
PY
run timeout 20 "$TXMILL" check chain.xml
check normals-chain says 'image "a.png" feeds a Normal Map node'

# Absolute paths, and paths of missing files, are listed, too.
printf '<cycles><shader><image_texture filename="%s/shot/tex/a.png"/><image_texture filename="gone.png"/><image_texture/></shader></cycles>' "$work" >abs.xml
txm list --json abs.xml
check absolute json out '{x["state"] for x in o if x["type"] == "image"} == {"ready", "missing", "no-path"}'
gives missing-image 3 says 'image "gone.png" of abs.xml does not exist' -- make abs.xml
echo '<cycles><include src="none.xml"/></cycles>' >inc.xml
gives missing-include 5 prints "library of inc.xml: $work/none.xml: cannot open" -- check inc.xml

# ---- damaged and hostile ------------------------------------------------------------------------------------------
refused() { # NAME FILE TEXT
    run timeout 20 "$TXMILL" list "$2"
    check "$1-exit" rc_is 3
    check "$1-says" says "$3"
    run timeout 20 "$TXMILL" make "$2"
    check "$1-make" rc_is 3
}
head -c 900 shot/s.xml >cut.xml
refused cut cut.xml "cut.xml: line"
: >empty.xml
refused empty empty.xml "empty.xml: line 1: no element found"
echo '<materialx version="1.38"/>' >other.xml
refused other other.xml "not a Cycles scene: its first element is <materialx>"
cat >bomb.xml <<'XML'
<!DOCTYPE cycles [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>
<cycles><shader name="&c;"/></cycles>
XML
refused entities bomb.xml "declares an entity (a)"
echo '<!DOCTYPE cycles [<!ENTITY x SYSTEM "file:///etc/passwd">]><cycles><shader name="&x;"/></cycles>' >external.xml
refused external external.xml "declares an entity (x)"
python3 -c 'print("<cycles>" + "<transform>" * 100000)' >deep.xml
refused deep deep.xml "more than 256 deep"
python3 -c 'open("big.xml", "wb").truncate((1 << 30) + 1)'
refused big big.xml "larger than 1024 MiB"
rm big.xml
mkfifo pipe.xml
refused pipe pipe.xml "not a regular file"
echo "<cycles><shader><image_texture filename='pipe.xml'/></shader></cycles>" >of-pipe.xml
for c in list check make resolve "plan -N 1"; do
    # shellcheck disable=SC2086
    run timeout 20 "$TXMILL" $c of-pipe.xml
    check "pipe-in-scene-${c%% *}" test "$(cat out err | grep -c 'pipe.xml: is not a regular file')" -ge 1 -a \
        "$(cat out err | grep -c 'does not exist')" -eq 0
done
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket.png")'
echo "<cycles><shader><image_texture filename='socket.png'/></shader></cycles>" >of-socket.xml
gives socket-in-scene 3 says "socket.png: is not a regular file" -- make of-socket.xml
mkdir folder.xml
txm list folder.xml
check folder-exit test "$rc" -ne 0
for i in $(seq 0 99); do echo "<cycles><include src='n$((i + 1)).xml'/></cycles>" >n$i.xml; done
run timeout 20 "$TXMILL" list n0.xml
check nested-too-deep-says prints "included through more than 64 files"
python3 - <<'PY'
open("many.xml", "w").write("<cycles><shader>" + "".join(f'<image_texture filename="i{i}.png"/>' for i in range(20000)) + "</shader></cycles>")
open("tiles.xml", "w").write('<cycles><shader><image_texture filename="i.png" tiles="' + "1001 " * 200000 + '-5 x 99999999999999999999"/></shader></cycles>')
open("mesh.xml", "w").write('<cycles><mesh P="' + "0.25 " * 4000000 + '"/><shader><image_texture filename="shot/tex/a.png"/></shader></cycles>')
PY
run timeout 30 "$TXMILL" list --json many.xml
check many json out 'o[0]["images"] == 20000'
run timeout 30 "$TXMILL" list --json tiles.xml
check many-tiles rc_is 0
run timeout 30 "$TXMILL" list --json mesh.xml
check large-attribute json out 'o[0]["images"] == 1'
printf '<cycles><shader name="\xff\xfe"/></cycles>' >bytes.xml
refused bytes bytes.xml "bytes.xml: line 1"
printf '<cycles><shader name="&#27;[31m"><image_texture filename="a&#10;b.png"/></shader></cycles>' >control.xml
txm list control.xml
check control-bytes test "$(grep -c $'\e' out)" -eq 0
# Paths of another machine.
mkdir -p farm/mnt farm/srv
cp "$golden/rgb8.png" farm/mnt/a.png && cp "$golden/rgb8.png" farm/srv/b.png
cat >farm/s.xml <<'XML'
<cycles>
<shader name="m"><image_texture filename="P:\tex\a.png" colorspace="sRGB"/></shader>
<shader name="n"><image_texture filename="\\server\my share\b.png" colorspace="sRGB"/></shader>
</cycles>
XML
txm check --path-map "p:/tex $PWD/farm/mnt" farm/s.xml
check map-one prints "0 of 2 textures fresh, 1 missing, 1 without an image"
printf 'map = P:\\tex %s/farm/mnt\nmap = \\\\SERVER\\my share\\ %s/farm/srv\n' "$PWD" "$PWD" >farm/.txmill
for command in check make check resolve list; do txm $command farm/s.xml; done
check map-list rc_is 0
check map-made test "$(find farm/mnt farm/srv -name '*.tx' | wc -l)" -eq 2
txm settings farm
check map-settings test "$(grep -c '^map ' out)" -eq 2
gives map-plan 0 -- plan --shards 2 farm/s.xml
gives map-relative 2 says "a map has two parts" -- check --path-map 'P: mnt' farm/s.xml
TXMILL_MAP='nothing' txm check farm/s.xml
check map-variable says "TXMILL_MAP: map is 'nothing'"
finish
