# Fuzz targets: tests/fuzz.sh builds the library with coverage and sanitizers into a build folder of its own first.
ifdef FUZZING
# -fsanitize-link-c++-runtime: what reads a config brings the shim over OpenColorIO, which is C++.
vpath fuzz_%.c tests/fuzz stream/tests
$(B)/fuzz_%: fuzz_%.c $(STATIC)
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -MF $@.d -Itests/util -I. $(FUZZ_INCLUDE) $< $(FUZZ_TOOLS) $(STATIC) $(ALL_LDFLAGS) \
	  -fsanitize=fuzzer -fsanitize-link-c++-runtime $(LIBS) $(FUZZ_TOOL_LIBS) -o $@
# What the commands do with a file is partly theirs alone.
$(B)/fuzz_verify: FUZZ_TOOLS := $(TOOL_LIB)
$(B)/fuzz_verify: FUZZ_TOOL_LIBS = $(TOOL_LIBS)
$(B)/fuzz_verify: $(TOOL_LIB)
-include $(wildcard $(B)/fuzz_*.d)
endif

# bench/padded.sh: padded tiles a second, beside OpenImageIO.
$(B)/bench/bench_oiio.o: bench/bench_oiio.cpp
$(B)/bench_padded: bench/bench_padded.c $(B)/bench/bench_oiio.o $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d -Ibench $< $(B)/bench/bench_oiio.o $(STATIC) $(ALL_LDFLAGS) \
	  -lOpenImageIO -lOpenImageIO_Util $(LIBS) -o $@

# An official build of Blender beside txmill: make judge BPY=5.3.0, see tests/blender/judge.py. ONLY="names random" runs
# these parts. BLENDER=blender compares random images with that Blender alone; FOLDER="a b" adds those of folders.
# /usr/bin/python3 has Debian's OpenImageIO.
.PHONY: judge
judge: all blender-extension
	@PATH=/usr/bin:$$PATH tests/blender/judge.py --bpy "$(BPY)" --blender "$(BLENDER)" -n $(or $(N),2000) --seed $(or $(SEED),1) \
	  --only "$(ONLY)" --build $(B) --extension $(EXTENSION) $(FOLDER)

# make check-faults: txmill under injected faults, see tests/faults/faults.c. FAULT_SECONDS=0 tries all cases, for hours,
# and renews the table of docs/reliability.md.
FAULT_SECONDS ?= 60
FAULTS_SRC := $(wildcard tests/faults/*.c)
FAULTS_FLAGS := -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) -MMD -MP
$(B)/tests/faults/inject.so: tests/faults/inject.c
	@mkdir -p $(@D)
	$(CC) $(FAULTS_FLAGS) -fPIC -shared $< -ldl -o $@
$(B)/tests/faults/%.o: tests/faults/%.c
	@mkdir -p $(@D)
	$(CC) $(FAULTS_FLAGS) -c $< -o $@
$(B)/tests/faults/faults: $(patsubst %.c,$(B)/%.o,$(filter-out %/inject.c,$(FAULTS_SRC)))
	$(CC) $^ -o $@
.PHONY: check-faults
check-faults: all $(B)/tests/faults/faults $(B)/tests/faults/inject.so
	@$(B)/tests/faults/faults --build $(B) --seconds $(FAULT_SECONDS) \
	  $(if $(filter 0,$(FAULT_SECONDS)),--table docs/reliability.md) $(FAULTS)
-include $(FAULTS_SRC:%.c=$(B)/%.d)

# txmill beside real Blenders in chroots under build/chroots (or $TXM_CHROOTS): root and network; skips what cannot be had.
.PHONY: check-blender
check-blender: all blender-extension
	@tests/blender/check.sh $(EXTENSION)
