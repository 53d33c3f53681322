# How txmill-stream and its modules are built, for stream/Makefile, which builds them beside an installed txmill, and for
# the Makefile of the whole tree. They set S, the folder of this file with a slash; B, the folder for what is built;
# STREAM_CFLAGS, STREAM_LDFLAGS and STREAM_LIBS, which name the headers and libraries of txmill.
STREAM_OBJ := $(patsubst $(S)%.c,$(B)/stream/%.o,$(foreach d,. base cli command render replay,$(wildcard $(S)$(patsubst .,,$(d))$(if $(filter-out .,$(d)),/)*.c)))
STREAM_ALL := $(B)/txmill-stream
# Inlined vectors and random numbers make rays a twelfth faster.
$(B)/stream/render/%.o $(B)/stream/embree/%.o: STREAM_FAST := -O3
$(STREAM_OBJ) $(B)/stream/embree/embree_module.o $(B)/stream/sdl/sdl_module.o: $(B)/stream/%.o: $(S)%.c $(STREAM_FLAGS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -fPIC -pthread -ffp-contract=off -fno-math-errno -I$(S:%/=%) $(STREAM_CFLAGS) \
	  $(if $(filter -O2,$(STREAM_CFLAGS)),$(STREAM_FAST)) -MMD -MP -c $< -o $@
$(B)/txmill-stream: $(STREAM_OBJ) $(STREAM_DEPENDS)
	$(CC) $(STREAM_OBJ) $(STREAM_LDFLAGS) $(STREAM_LIBS) -lcjson -lcrypto -pthread -ldl -lm -o $@

# Libraries that only some runs need are in modules, which are loaded then. Without a library's headers its module is not
# built, and the program says so. Embree traces rays; SDL 2 opens windows, with the font of libSDL2_test.a.
has_header = $(shell $(CC) -E $(foreach h,$(1),-include $(h)) -x c /dev/null >/dev/null 2>&1 && echo yes)
EMBREE := $(firstword $(foreach v,4 3,$(if $(call has_header,embree$(v)/rtcore.h),embree$(v))))
SDL    := $(call has_header,SDL2/SDL.h SDL2/SDL_test_font.h)
STREAM_MODULES := $(if $(EMBREE),$(B)/txmill-embree.so) $(if $(SDL),$(B)/txmill-sdl.so)
$(B)/txmill-embree.so: $(B)/stream/embree/embree_module.o
	$(CC) -shared $< $(STREAM_LDFLAGS) -l$(EMBREE) -lm -o $@
$(B)/txmill-sdl.so: $(B)/stream/sdl/sdl_module.o
	$(CC) -shared $< $(STREAM_LDFLAGS) -lSDL2_test -lSDL2 -lm -o $@
$(B)/stream/embree/%.o $(B)/stream/sdl/%.o: STREAM_CFLAGS += -fvisibility=hidden
-include $(STREAM_OBJ:.o=.d) $(B)/stream/embree/embree_module.d $(B)/stream/sdl/sdl_module.d
