# How txmill-stream and its modules are built, for stream/Makefile, which builds them beside an installed txmill, and for
# the Makefile of the whole tree. They set S, the folder of this file with a slash; B, the folder for what is built;
# STREAM_CFLAGS, STREAM_LDFLAGS and STREAM_LIBS, which name the headers and libraries of txmill; STREAM_PAGE, the shell of its
# pages; STREAM_AWK, the script that reads tables of reports.
STREAM_OBJ := $(patsubst $(S)%.c,$(B)/stream/%.o,$(foreach d,. base cli command render replay,$(wildcard $(S)$(patsubst .,,$(d))$(if $(filter-out .,$(d)),/)*.c)))
STREAM_ALL := $(B)/txmill-stream
# Inlined vectors and random numbers make rays a twelfth faster.
$(B)/stream/render/%.o: STREAM_FAST := -O3
$(STREAM_OBJ) $(B)/stream/sdl/sdl_module.o: $(B)/stream/%.o: $(S)%.c $(STREAM_FLAGS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -fPIC -pthread -ffp-contract=off -fno-math-errno -I$(S:%/=%) $(STREAM_CFLAGS) \
	  $(if $(filter -O2,$(STREAM_CFLAGS)),$(STREAM_FAST)) -MMD -MP -c $< -o $@
# The shell of the pages is txmill's, as an initialiser of an array of bytes.
$(B)/stream/page.html.inc: $(STREAM_PAGE)
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp && mv $@.tmp $@
# What the tables of its reports say, for the writers.
STREAM_TABLES := $(wildcard $(S)schema/*.table)
$(B)/stream/reports.inc: $(STREAM_TABLES) $(STREAM_AWK)
	@mkdir -p $(@D)
	LC_ALL=C awk -v members=1 -f $(STREAM_AWK) /dev/null $(STREAM_TABLES) > $@.tmp && mv $@.tmp $@
$(B)/stream/command/pages.o: $(B)/stream/page.html.inc
$(B)/stream/cli/json.o: $(B)/stream/reports.inc
$(B)/stream/command/pages.o $(B)/stream/cli/json.o: STREAM_CFLAGS += -I$(B)/stream
$(B)/txmill-stream: $(STREAM_OBJ) $(STREAM_DEPENDS)
	$(CC) $(STREAM_OBJ) $(STREAM_LDFLAGS) $(STREAM_LIBS) -lcjson -lcrypto -pthread -ldl -lm -o $@

# SDL 2 opens windows, with text by SDL_ttf, in a module, which is loaded for that. Without the headers the module is not
# built, and the program says so.
has_header = $(shell $(CC) -E $(foreach h,$(1),-include $(h)) -x c /dev/null >/dev/null 2>&1 && echo yes)
SDL    := $(call has_header,SDL2/SDL.h SDL2/SDL_ttf.h fontconfig/fontconfig.h)
STREAM_MODULES := $(if $(SDL),$(B)/txmill-sdl.so)
$(B)/txmill-sdl.so: $(B)/stream/sdl/sdl_module.o
	$(CC) -shared $< $(STREAM_LDFLAGS) -lSDL2_ttf -lSDL2 -lfontconfig -o $@
$(B)/stream/sdl/%.o: STREAM_CFLAGS += -fvisibility=hidden
-include $(STREAM_OBJ:.o=.d) $(B)/stream/sdl/sdl_module.d
