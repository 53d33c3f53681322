# Embree traces the rays of `txmill stream`. It is in a module, which only that command loads. Without Embree's headers the
# module is not built, and the command says so.
EMBREE := $(firstword $(foreach v,4 3,$(shell $(CC) -E -include embree$(v)/rtcore.h -x c /dev/null >/dev/null 2>&1 && echo embree$(v))))
EMBREE_SRC := stream/embree/embree_module.c
ifneq ($(EMBREE),)
all: $(B)/txmill-embree.so
$(B)/txmill-embree.so: $(EMBREE_SRC) $(B)/flags/c $(B)/flags/link
	@mkdir -p $(B)/stream/embree
	$(CC) $(ALL_CFLAGS) -Istream $(patsubst -O2,-O3,$(filter -O2,$(OPT))) -fvisibility=hidden -MF $(B)/stream/embree/embree_module.d -shared $(ALL_LDFLAGS) $< -l$(EMBREE) -lm -o $@
-include $(B)/stream/embree/embree_module.d
$(TESTS): | $(B)/txmill-embree.so
endif
# SDL 2 opens the window of `txmill stream view`. It is used in a module that only this command loads, and that is not
# built without SDL's headers.
# Text is drawn with the font of libSDL2_test.a, which is linked in.
SDL := $(shell $(CC) -E -include SDL2/SDL.h -include SDL2/SDL_test_font.h -x c /dev/null >/dev/null 2>&1 && echo yes)
SDL_SRC := stream/sdl/sdl_module.c
ifneq ($(SDL),)
all: $(B)/txmill-sdl.so
$(B)/txmill-sdl.so: $(SDL_SRC) $(B)/flags/c $(B)/flags/link
	@mkdir -p $(B)/stream/sdl
	$(CC) $(ALL_CFLAGS) -Istream -fvisibility=hidden -MF $(B)/stream/sdl/sdl_module.d -shared $(ALL_LDFLAGS) $< -lSDL2_test -lSDL2 -lm -o $@
-include $(B)/stream/sdl/sdl_module.d
$(TESTS): | $(B)/txmill-sdl.so
endif
# Measures claims about texture caches: tables and plots of docs/streaming.md.
.PHONY: bench-stream
bench-stream: all
	python3 bench/stream.py $(B)/txmill docs/streaming.md
	python3 bench/play.py $(B)/txmill docs/streaming.md
# Measures what each policy of the cache reads, compared with the optimum: a table of docs/streaming.md.
.PHONY: bench-policies
bench-policies: all
	python3 bench/policies.py $(B)/txmill docs/streaming.md
