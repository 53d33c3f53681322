#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill stream view: a window on a display of its own, with real key presses and screenshots.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

# SDL and the X libraries keep memory until the process ends; test_view_worker.c finds our own leaks.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

bin=$(dirname "$TXMILL")
cp "$golden"/{rgb8.png,rgba8.png} . && "$TXMILL" make -q -c sRGB -a straight rgb8.png rgba8.png
# A window that is never closed would stay open.
run() { timeout 60 "$@" >"$work/out" 2>"$work/err"; rc=$?; }
view=("$TXMILL" stream view room rgb8.png rgba8.png --size 320x180 --bounces 1)

# ---- errors, and missing libraries ----
for option in "--path orbit" "--rest 5" "--warm-up 5" "--keys 4" --virtual "--tile-ms 1"; do
    # shellcheck disable=SC2086
    run "${view[@]}" $option
    check "view-refuses ${option%% *}" says "use 'txmill stream play'"
done
run "${view[@]}" --html page.html
check view-no-page says "--html: use 'txmill stream render'"
# One program lacks the module, and in the other the module cannot load its library.
copy_program alone && cp "$bin"/txmill-stream alone/
without=(env -u TXMILL_PLUGINS alone/txmill "${view[@]:1}")
run "${without[@]}"
check view-no-module rc_is 3
check view-no-module-says says "a window cannot be opened without SDL 2"
echo "no library" > alone/txmill-sdl.so
run "${without[@]}"
check view-no-library says "on Debian and Ubuntu install libsdl2-ttf-2.0-0 libfontconfig1"
check view-no-library-exit rc_is 3
if [ ! -e "$bin/txmill-sdl.so" ]; then
    skip view "built without SDL"
    finish
fi
# The processor draws, whatever this machine's graphics can do.
export SDL_RENDER_DRIVER=software
unset WAYLAND_DISPLAY SDL_VIDEODRIVER
run env -u DISPLAY "${view[@]}"
check view-no-display rc_is 3
check view-no-display-says says "no window can be opened: there is no display"
run env DISPLAY=:63999 "${view[@]}"
check view-wrong-display rc_is 3
check view-wrong-display-says says "no window can be opened: "

# ---- without a screen: SDL's dummy driver ----
run env SDL_VIDEODRIVER=dummy "${view[@]}" --size 64x36 --frames 12 --json -o last.exr
check view-frames rc_is 0
check view-json json out 'o[0]["action"] == "view" and o[0]["path"] == "flight" and o[0]["totals"]["frames"] == 12 and not o[0]["stopped"]'
check view-last json out 'len(o[0]["frames"]) == 1 and o[0]["frames"][0]["accumulated"] == 12 and o[0]["frames"][0]["texels"] > 0'
if has_jsonschema; then check view-schema valid_json stream out; else skip view-schema "python3-jsonschema is missing"; fi
run env SDL_VIDEODRIVER=dummy "${view[@]}" --size 64x36 --frames 12 -q -o unmoved.exr
check view-picture test -s unmoved.exr
run env SDL_VIDEODRIVER=dummy "${view[@]}" --size 64x36 --frames 3
check view-prints prints "room: 64 x 36 px, 3 frames of 1 sample"

# Textures whose tiles cannot be read are magenta, counted and named. A missing one ends the program before the first
# frame.
mkdir bad && cp rgb8.png rgba8.png bad/ && "$TXMILL" make -q -c sRGB -a straight bad/rgb8.png bad/rgba8.png
for name in rgb8 rgba8; do
    python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    size = f.seek(0, 2)
    f.seek(size // 4)
    f.write(b"\xAA" * (size // 4))' bad/blender_tx/$name.png.*.tx
    touch -r bad/$name.png bad/blender_tx/$name.png.*.tx
done
run env SDL_VIDEODRIVER=dummy "$TXMILL" stream view room bad/rgb8.png bad/rgba8.png --size 160x90 --frames 30 --json
check view-unreadable rc_is 3
check view-unreadable-says says "of its tiles could not be read and are magenta"
check view-unreadable-counts json out 'o[0]["totals"]["frames"] == 30 and o[0]["totals"]["load_failures"] > 0 and o[0]["frames"][0]["failed"] > 0'
rm bad/blender_tx/rgb8.png.*
run env SDL_VIDEODRIVER=dummy "$TXMILL" stream view room bad/rgb8.png bad/rgba8.png --size 64x36
check view-missing rc_is 3
check view-missing-says says "bad/rgb8.png: "
# With a cache of one tile, a list of one request, or waves without lookups, frames go on.
run env SDL_VIDEODRIVER=dummy "${view[@]}" --size 64x36 --frames 20 --cache 20K --requests 1 --wave 0 --json
check view-smallest json out 'o[0]["totals"]["frames"] == 20 and o[0]["totals"]["accepted"] <= 20 and o[0]["totals"]["requested"] > 20'

# ---- with a screen ----
for tool in Xvfb xdotool import; do
    if ! command -v $tool >/dev/null; then
        skip view-window "$tool is missing"
        finish
    fi
done
# Without -noreset the server starts anew when its last client ends, and a client that comes at that moment is refused.
Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp -noreset 3>display 2>xvfb.log &
xvfb=$!
viewer=
trap 'kill $viewer $xvfb 2>/dev/null; wait 2>/dev/null; clean_up' EXIT

# Repeats the command for up to 30 seconds.
eventually() {
    local i
    for ((i = 0; i < 300; i++)); do
        "$@" && return
        sleep 0.1
    done
    return 1
}
if ! eventually test -s display; then
    skip view-window "Xvfb does not start: $(head -n 1 xvfb.log)"
    finish
fi
DISPLAY=:$(cat display)
export DISPLAY

find_window() { window=$(xdotool search --onlyvisible --pid "$viewer" --name 'txmill stream view' 2>/dev/null | head -n 1) && [ -n "$window" ]; }
# Some actions have no xdotool command: asking a window to close, as the button in its frame does, and taking the focus
# from all windows.
x11() {
    python3 - "$@" <<'END'
import ctypes, sys
class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong), ("format", ctypes.c_int),
                ("data", ctypes.c_long * 5), ("rest", ctypes.c_long * 24)]
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XInternAtom.restype = ctypes.c_ulong
display = ctypes.c_void_p(x.XOpenDisplay(None))
if sys.argv[1] == "unfocus":
    x.XSetInputFocus(display, ctypes.c_ulong(0), 0, ctypes.c_ulong(0))
else:
    window = ctypes.c_ulong(int(sys.argv[2]))
    event = ClientMessage(type=33, window=window, format=32, message_type=x.XInternAtom(display, b"WM_PROTOCOLS", 0))
    event.data[0] = x.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
    x.XSendEvent(display, window, 0, ctypes.c_long(0), ctypes.byref(event))
x.XCloseDisplay(display)
END
}
# xdotool waits for ever for a window that appears or disappears at that moment.
shoot() { timeout 10 import -window "$window" -depth 8 "ppm:$1" 2>/dev/null; }
# looks EXPRESSION FILE...: whether it is true of screenshots; `shots` is their list. share() is the share of pixels for
# which a function of r, g and b, from 0 to 255, holds; below() leaves rows out at the top; difference() is how different
# two pictures are outside of the overlay, apart from noise.
cat >looks.py <<'END'
import sys
class Shot:
    def __init__(self, width, rgb):
        self.width, self.height, self.rgb = width, len(rgb) // (3 * width), rgb
    def below(self, rows):
        return Shot(self.width, self.rgb[3 * self.width * rows:])
    def corner(self, width, top, height):
        rows = (self.rgb[3 * self.width * y:][:3 * width] for y in range(top, top + height))
        return Shot(width, b"".join(rows))
    def share(self, holds):
        return sum(map(holds, self.rgb[::3], self.rgb[1::3], self.rgb[2::3])) / (self.width * self.height)
    def deviation(self):
        mean = sum(self.rgb) / len(self.rgb)
        return (sum(map(pow, self.rgb, [2] * len(self.rgb))) / len(self.rgb) - mean ** 2) ** 0.5 / 255
    def means(self, columns=12, rows=6):
        across = [x * self.width // columns for x in range(columns + 1)]
        down = [y * self.height // rows for y in range(rows + 1)]
        for y, end in zip(down, down[1:]):
            lines = [self.rgb[3 * self.width * row:3 * self.width * (row + 1)] for row in range(y, end)]
            for x, right in zip(across, across[1:]):
                for c in range(3):
                    yield sum(sum(line[3 * x + c:3 * right:3]) for line in lines) / (len(lines) * (right - x)) / 255
def difference(a, b):
    pairs = list(zip(a.below(70).means(), b.below(70).means()))
    return sum(abs(x - y) for x, y in pairs) / len(pairs)
shots = []
for name in sys.argv[2:]:
    data = open(name, "rb").read()
    kind, width, height, most, _ = data.split(None, 4)
    assert (kind, most) == (b"P6", b"255")
    shots.append(Shot(int(width), data[-3 * int(width) * int(height):]))
sys.exit(not eval(sys.argv[1]))
END
looks() { python3 -SE looks.py "$@"; }
# The picture is there once it has more than one colour.
has_picture() { shoot begin && looks 'shots[0].below(80).deviation() >= 0.02' begin; }
# A window draws all the time; with one thread it leaves a processor to other tests.
start_view() { # OPTION...
    "${view[@]}" -j 1 --json "$@" >out 2>err &
    viewer=$!
    eventually find_window && eventually has_picture && xdotool windowfocus --sync "$window" && sleep 0.5
}
end_view() { wait "$viewer"; rc=$?; viewer=; }
# Takes screenshots until a condition on $shot holds.
shot_that() {
    shot=$1
    shift
    again() { shoot "$shot" && "$@"; }
    eventually again "$@"
}
key() { xdotool key "$1"; }
# Two screenshots in a row hardly differ: the camera rests and the textures are loaded.
is_still() { cp "$shot" before && sleep 0.7 && shoot "$shot" && looks 'difference(*shots) <= 0.003' before "$shot"; }
has_moved() { looks 'difference(*shots) >= 0.01' "$1" "$shot"; }
# The screenshot is nearer to the first picture than to the second.
has_returned() { looks 'difference(shots[1], shots[2]) >= 2 * difference(shots[0], shots[2])' "$1" "$2" "$shot"; }
white='share(lambda r, g, b: min(r, g, b) > 200)'
has_letters() { looks "shots[0].corner($1).$white >= 0.04" "$shot"; }
has_no_letters() { looks "shots[0].corner($1).$white <= 0.01" "$shot"; }
# Textures that are not there yet are grey.
has_colours() { looks 'shots[0].share(lambda r, g, b: max(r, g, b) - min(r, g, b) > 60) >= 0.25' "$shot"; }
magenta='share(lambda r, g, b: g < 25 and r > 40 and b > 40)'
has_magenta() { looks "shots[0].$magenta >= 0.1" "$shot"; }
has_no_magenta() { looks "shots[0].$magenta <= 0.05" "$shot"; }

if [ -n "${SANITIZED:-}" ]; then
    # Every key and the mouse; the plain pass looks at what they show.
    check view-opens start_view --requests 1 --batch 1
    [ -n "${window:-}" ] || finish # each screenshot of no window would wait for ten seconds
    touch txmill-view-0001.png
    xdotool keydown w mousemove --window "$window" 160 90 mousedown 1 mousemove_relative 60 0 sleep 0.3 mouseup 1 keyup w
    for k in Home h h F1 F1 m p m minus plus plus r r r m l l t t F12; do key $k; done
    check view-shot eventually test -s txmill-view-0002.png
    key space && sleep 0.5 && key space
    skip view-keys "the plain pass tests it"
else
    # Flying changes the picture. When the key is released, the camera stops and the picture accumulates.
    #
    # With one tile for each frame, textures take a while.
    check view-opens start_view --requests 1 --batch 1
    [ -n "${window:-}" ] || finish
    check view-textures-arrive shot_that a has_colours
    xdotool keydown w
    check view-w-flies shot_that b has_moved a
    xdotool keyup w
    check view-stops shot_that b is_still
    xdotool mousemove --window "$window" 160 90 mousedown 1 mousemove_relative 60 0 && sleep 0.3 && xdotool mouseup 1
    check view-mouse-turns shot_that c has_moved b
    key Home
    check view-home-returns shot_that d has_returned a c
    # The overlay has white letters until H hides it.
    check view-overlay has_letters 300,0,40
    key h
    check view-overlay-hidden shot_that e has_no_letters 300,0,40
    key h
    key F1
    check view-keys shot_that f has_letters 200,60,80
    key F1
    # The picture shows missing texels, because the cache of another policy starts empty, and levels. Turning magenta off and
    # on begins the picture anew, so that it is not the average with frames from before.
    check view-no-magenta shot_that g has_no_magenta
    key m
    empty_and_magenta() { key p && key m && key m && sleep 0.3 && shoot "$shot" && has_magenta; }
    check view-magenta shot_that g empty_and_magenta
    for k in minus plus plus r r r m; do key $k; done
    check view-magenta-ends shot_that h has_no_magenta
    check view-settles shot_that h is_still
    key l
    check view-levels shot_that i has_moved h
    key l && key t && key t
    check view-untextured shot_that j has_moved h
    key t
    # A screenshot goes to the first name that is free.
    touch txmill-view-0001.png
    key F12
    check view-shot eventually test -s txmill-view-0002.png
    check view-shot-says eventually grep -q 'wrote txmill-view-0002.png' err
    check view-shot-keeps-others test ! -s txmill-view-0001.png
    # While paused, the picture does not change. The frame that was being traced at that moment may still appear.
    key space && sleep 0.5
    is_paused() { shoot k && sleep 1 && shoot l && looks 'shots[0].below(100).rgb == shots[1].below(100).rgb' k l; }
    check view-paused eval 'is_paused || is_paused'
    key space
fi
# After a resize, the picture has as many pixels as the window, and the figures report the size.
xdotool windowsize "$window" 420 260
fills_window() { looks '(shots[0].width, shots[0].height) == (420, 260)' "$shot" && is_still; }
check view-resizes shot_that m fills_window
sleep 0.5
key Escape
end_view
check view-escape rc_is 0
check view-resized json out '(o[0]["width"], o[0]["height"]) == (420, 260)'
check view-rests json out 'o[0]["frames"][0]["accumulated"] > 1'

# A key that is down when the window loses focus counts as released; otherwise the camera would fly on.
if [ -z "${SANITIZED:-}" ]; then
    check view-opens-again start_view
    shoot a
    xdotool keydown w
    check view-flies-on shot_that b has_moved a
    kill -INT "$viewer"
    end_view
    xdotool keyup w
    check view-interrupted rc_is 130
    check view-interrupted-json json out 'o[0]["stopped"] and o[0]["frames"][0]["accumulated"] == 1'
    start_view
    shoot a
    xdotool keydown w
    check view-flies-yet shot_that b has_moved a
    x11 unfocus
    check view-focus-lost-stops shot_that c is_still
    kill -INT "$viewer"
    end_view
    xdotool keyup w
    check view-focus-lost json out 'o[0]["frames"][0]["accumulated"] > 1'
    # A smaller budget is kept although the camera rests and nothing is missing. Without a budget, the first key makes it half
    # of the memory in use, and no key makes it less than 128 KiB.
    start_view --cache 0
    check view-without-budget shot_that n is_still
    for k in minus minus minus minus minus; do key $k; done
    sleep 1
    check view-small-budget shot_that n is_still
    key Escape
    end_view
    check view-budget json out 'o[0]["totals"]["loaded"] > 14 and 0 < o[0]["frames"][0]["allocated_bytes"] < 1 << 18 and o[0]["frames"][0]["accumulated"] > 1'
else
    skip view-focus "the plain pass tests it"
    skip view-budget "the plain pass tests it"
fi
# The window is closed with its own button.
start_view
x11 close "$window"
end_view
check view-closed rc_is 0

# The window is closed, and the program interrupted, while the scene is being opened, which a slow file delays.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    slow=(strace -f -o strace.log -P "$(echo blender_tx/rgb8.png.*.tx)" -e trace=openat -e inject=openat:delay_exit=3000000)
    for way in close interrupt; do
        "${slow[@]}" "${view[@]}" --json >out 2>err &
        viewer=$!
        slow_window() { window=$(xdotool search --onlyvisible --name 'txmill stream view' 2>/dev/null | head -n 1) && [ -n "$window" ]; }
        check "view-slow-$way-opens" eventually slow_window
        if [ $way = close ]; then x11 close "$window"; else pkill -INT -P "$viewer"; fi
        end_view
        check "view-slow-$way" test "$rc" -eq "$([ $way = close ] && echo 0 || echo 130)"
        check "view-slow-$way-json" json out 'o[0]["action"] == "view" and o[0]["totals"]["frames"] == 0 and o[0]["frames"] == []'
    done
else
    skip view-slow "strace cannot trace here"
fi

# The same while the tree of a large mesh is built, which is given up.
mkdir mesh && python3 - mesh/grid.ply <<'END'
import array, sys
n = 1000
corners = array.array("f", (v for y in range(n + 1) for x in range(n + 1) for v in (x / n - 0.5, y / n - 0.5, x * y % 7 / n)))
faces = b"".join(b"\4" + array.array("i", (i, i + 1, i + n + 2, i + n + 1)).tobytes() for y in range(n) for i in range(y * (n + 1), y * (n + 1) + n))
with open(sys.argv[1], "wb") as f:
    f.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
            b"element face %d\nproperty list uchar int vertex_indices\nend_header\n" % ((n + 1) ** 2, n * n))
    corners.tofile(f)
    f.write(faces)
END
printf '%s\n' 'txmill-scene 1' 'size 160 90' 'camera perspective half 0.8 0.45 shift 0 0 clip 0.01 1000 to-world 1 0 0 0 0 1 0 0 0 0 1 1' \
    'world color 1 1 1' 'material m diffuse 1 1 1' 'mesh grid "grid.ply"' 'instance grid m 1 0 0 0 0 1 0 0 0 0 1 0' >mesh/scene.txt
for way in close interrupt; do
    "$TXMILL" stream view mesh --json >out 2>err &
    viewer=$!
    check "view-build-$way-opens" eventually find_window
    if [ $way = close ]; then x11 close "$window"; else kill -INT "$viewer"; fi
    end_view
    check "view-build-$way" test "$rc" -eq "$([ $way = close ] && echo 0 || echo 130)"
    check "view-build-$way-json" json out 'o[0]["action"] == "view" and o[0]["totals"]["frames"] == 0'
done
check view-no-temporaries no_temporaries
finish
