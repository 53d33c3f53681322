# txmill. Targets:
#     make                 everything: program, libraries, streaming, plug-ins, manual, completion
#     make program         the program and the libraries, as scripts/try.sh needs them
#     make check           the tests; check-one T="test_pyramid cli_info": these; check-slow, check-all: what takes longer
#     make install         with PREFIX, DESTDIR
#     make docs            the manual as HTML and the reference of the libraries
#     make bench, fuzz, deb, wheel, blender-extension, judge, and others that are described where they are defined
# Variables: CC, CXX, CFLAGS, OPT, PREFIX, DESTDIR, SANITIZE=address,undefined (a build of its own beside the plain one),
# CUDA=auto|yes|no, OPENCL=auto|yes|no, DEPS=pypi|system (where OpenColorIO and OpenImageIO come from), TXM_DEPS (the folder of
# those from PyPI).
VERSION    := 0.1.0
SOVERSION  := 0
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
DATADIR    ?= $(PREFIX)/share/txmill
MODULEDIR  := $(LIBDIR)/txmill
# Debian's Python finds packages in /usr/lib/python3, and modules that were installed by hand in /usr/local/lib/python3.X.
PYTHON     ?= python3
PYTHONDIR  ?= $(LIBDIR)/python3$(if $(filter-out /usr,$(PREFIX)),$(shell $(PYTHON) -c 'import sys; print(".%d" % sys.version_info[1])' 2>/dev/null))/dist-packages
SANITIZE   ?=
CUDA       ?= auto
NVCC       ?= nvcc

comma := ,
B := build$(if $(SANITIZE),-sanitize)
PKG_CONFIG ?= pkg-config
# OpenColorIO and OpenImageIO are those of scripts/deps.txt, from PyPI, so that colours and decoders are Blender's. They are
# kept in TXM_DEPS (also in the environment), which several trees can share, in a folder for each state of these two files.
DEPS     ?= pypi
TXM_DEPS ?= deps
ifeq ($(DEPS),pypi)
DEPS_DIR     := $(abspath $(TXM_DEPS))/$(shell { uname -m; cat scripts/deps.txt scripts/deps.sh; } | cksum | cut -d' ' -f1)
DEPS_STAMP   := $(DEPS_DIR)/complete
DEPS_CFLAGS  := -isystem $(DEPS_DIR)/include
DEPS_LDFLAGS := -L$(DEPS_DIR)/lib
# What is not installed finds them at their place. The libraries of txmill find them beside themselves or, installed, in
# the folder of the modules, and so do programs that link these.
DEPS_RPATH   := -Wl,-rpath,$(DEPS_DIR)/lib
DEPS_ORIGIN  := -Wl,-rpath,'$$ORIGIN/txmill:$$ORIGIN'
else ifneq ($(DEPS),system)
$(error DEPS is $(DEPS); it can be pypi or system)
endif
PACKAGES := libtiff-4 OpenEXR libdeflate libzstd libcrypto libxxhash libisal libjpeg \
            yaml-0.1 libcjson
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
# OpenEXR's pkg-config names the C++ libraries too; only the C core is used.
LIBS := -lOpenColorIO -ltiff -lOpenEXRCore -ldeflate -lzstd -lcrypto -lxxhash -lisal -ljpeg -lyaml \
        -lcjson -lstdc++ -lpthread -ldl -lm

# -g1 names functions and lines, and takes two thirds of the time of -g, which records variables too (OPT="-O2 -g").
OPT    ?= -O2 -g1
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wcast-align -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
WARNXX := -Wall -Wextra
SAN    := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
# Clang links a sanitizer's runtime into programs only: a sanitized library lacks its symbols, and C programs lack the
# checks of C++ classes. Unlike GCC, it defines no macro for sanitizers. AddressSanitizer looks for the functions that throw
# exceptions when a program starts, so libstdc++ must be loaded before a plug-in loads it.
COMPLETE := $(if $(SANITIZE),,-Wl,--no-undefined)
ifneq ($(and $(SANITIZE),$(findstring clang,$(CC))),)
SAN += -fno-sanitize=vptr,function $(if $(findstring address,$(SANITIZE)),-D__SANITIZE_ADDRESS__=1)
SAN_EXCEPTIONS := -Wl,--no-as-needed -lstdc++
endif
# Pixel arithmetic is specified without contraction: scalar C, SIMD and CUDA agree to the bit.
# A function that must be inlined is instrumented in each place anew: the vector code of lookups took minutes to compile.
COMMON := $(OPT) $(SAN) $(if $(SAN),-Dalways_inline=unused) -fPIC -ffp-contract=off -fno-math-errno -pthread -Iinclude -Isrc -I$(B)/gen -MMD -MP \
          -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DTXM_VERSION='"$(VERSION)"'
ALL_CFLAGS   := -std=c11 $(COMMON) $(WARN) $(PKG_CFLAGS) $(CFLAGS)
ALL_CXXFLAGS := -std=c++17 $(COMMON) $(WARNXX) $(PKG_CFLAGS) $(CXXFLAGS)
ALL_LDFLAGS  := $(SAN) -pthread $(DEPS_LDFLAGS) $(LDFLAGS)

# The folder determines to which library a file belongs. Programs of the build and plug-ins have rules of their own.
# Each library and each program links what it needs of src/base for itself, and exports none of it.
BASE_OBJ   := $(patsubst %.c,$(B)/%.o,$(wildcard src/base/*.c src/base/*/*.c))
BASE_LIB   := $(B)/libbase.a
MODULE_SRC := $(addprefix src/mill/source/oiio/,oiio_module.cpp oiio_read.cpp oiio_write.cpp luminance_chroma.cpp)
MODULE_OBJ := $(MODULE_SRC:%.cpp=$(B)/%.o)
TILE_OBJ   := $(patsubst %.c,$(B)/%.o,$(wildcard src/tile/*/*.c src/tile/*/*/*.c))
MILL_OBJ   := $(patsubst %.c,$(B)/%.o,$(filter-out src/mill/color/generate/%,$(wildcard src/mill/*/*.c src/mill/*/*/*.c))) \
              $(patsubst %.cpp,$(B)/%.o,$(filter-out $(MODULE_SRC),$(wildcard src/mill/*/*.cpp)))
LIB_OBJ    := $(BASE_OBJ) $(TILE_OBJ) $(MILL_OBJ)

# Renderers link libtxtile, which reads and samples tx files, in plain C with no dependencies but the codecs. libtxmill
# converts; it links libtxtile and contains none of its code.
TILE_LIBS  := -ldeflate -lisal -lzstd -lxxhash -lpthread -ldl -lm
TILE_API   := $(wildcard include/txtile/*.h include/txtile/*.hpp)
MILL_API   := $(wildcard include/txmill/*.h)
# Headers of functions that a library exports only to the rest of txmill.
TILE_SHARED := $(shell grep -l '^TXM_SHARED ' src/tile/*/*.h)
# Linked by programs of the build that use more than the libraries export: tests, benchmarks, the worker process.
STATIC     := $(B)/libtxmill.a $(B)/libtxtile.a
$(LIB_OBJ): ALL_CFLAGS += -fvisibility=hidden
$(LIB_OBJ): ALL_CXXFLAGS += -fvisibility=hidden
TOOL_SRC   := $(wildcard tools/*.c tools/*/*.c)
TOOL_OBJ   := $(TOOL_SRC:%.c=$(B)/%.o)
TOOL_LIB   := $(filter-out $(B)/tools/txmill.o,$(TOOL_OBJ))
# Tests are in a folder named after the one that they test.
TESTS      := $(patsubst %.c,$(B)/%,$(wildcard tests/*/test_*.c tests/*/*/test_*.c stream/tests/test_*.c))
TEST_UTIL  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/util/*.c))
SCRIPTS    := $(wildcard tests/*/cli_*.sh tests/*/*/cli_*.sh stream/tests/cli_*.sh)
# Scripts with a line "# Slow: REASON" are run by make check-slow, a part of make check-all.
SLOW       := $(shell grep -l '^\# Slow: ' $(SCRIPTS))

# These take longest and start first, so that no processor idles at the end.
LONG       := $(filter %/cli_window.sh %/cli_opencl.sh %/cli_stream.sh %/cli_lookups_opencl.sh %/cli_gpu_opencl.sh %/cli_play.sh \
                       %/cli_verdicts.sh %/cli_install.sh %/cli_python.sh %/cli_settings.sh,$(SCRIPTS))

.PHONY: all program check check-slow check-all check-one check-slurm check-farm check-avx512 bench install uninstall clean fuzz FORCE
.DELETE_ON_ERROR:
# Intermediate files are kept, so that they need not be built again the next time.
.SECONDARY:
# These take longest to compile and start first, so that no processor idles at the end.
LONG_OBJ := $(addprefix $(B)/src/,tile/sample/x86/sample_avx512.o tile/sample/x86/sample_avx2.o \
                                  mill/source/oiio/luminance_chroma.o mill/color/project.o)
all: program
program: $(LONG_OBJ) $(B)/txmill $(B)/libtxmill.a $(B)/libtxmill.so $(B)/libtxtile.a $(B)/libtxtile.so $(B)/txmill-oiio.so

-include $(wildcard stream/module.mk src/*/module.mk src/*/*/module.mk tools/*/module.mk page/module.mk tests/module.mk \
                    man/module.mk blender/module.mk desktop/module.mk scripts/module.mk)

# A change of flags causes a rebuild: objects and programs depend on files that contain the flags of the last build, and
# that are written when the flags change.
same = $(if $(subst x$(strip $(1))x,,x$(strip $(2))x)$(subst x$(strip $(2))x,,x$(strip $(1))x),,yes)
define remember
$(B)/flags/$(1): $(if $(call same,$(file <$(B)/flags/$(1)),$(2)),,FORCE)
	@mkdir -p $$(@D)
	@printf '%s\n' '$(subst ','\'',$(strip $(2)))' > $$@
endef
$(eval $(call remember,c,$(CC) $(ALL_CFLAGS)))
$(eval $(call remember,cxx,$(CXX) $(ALL_CXXFLAGS) $(DEPS_CFLAGS)))
$(eval $(call remember,link,$(CC) $(CXX) $(ALL_LDFLAGS) $(LIBS)))
$(eval $(call remember,prefix,$(PREFIX) $(MODULEDIR)))
$(B)/src/base/os/plugin.o: ALL_CFLAGS += -DTXM_MODULE_DIR='"$(MODULEDIR)"'
$(B)/src/base/os/plugin.o: $(B)/flags/prefix

# The readers of tx files load OpenEXRCore by the name of the version for which they were compiled.
OPENEXR_SONAME := $(shell objdump -p "$$($(CC) -print-file-name=libOpenEXRCore.so)" | sed -n 's/.*SONAME *//p')
$(B)/src/tile/reader/%.o: ALL_CFLAGS += -DTXM_OPENEXR_SONAME='"$(OPENEXR_SONAME)"'

# There is one file per ISA, compiled with the flags that it needs; the ISA is chosen at run time.
$(B)/src/tile/ops/x86/%_avx2.o $(B)/src/tile/sample/x86/%_avx2.o: ISA := -mavx2 -mf16c -O3
$(B)/src/tile/ops/x86/%_avx512.o $(B)/src/tile/sample/x86/%_avx512.o: ISA := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c -mprefer-vector-width=512 -O3

# Paths of the program's headers are relative to the top folder.
$(TOOL_OBJ): ALL_CFLAGS += -I.

$(B)/%.o: %.c $(B)/flags/c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ISA) -c $< -o $@
# What is in C++ is there for the two libraries' sake.
$(B)/%.o: %.cpp $(B)/flags/cxx | $(DEPS_STAMP)
	@mkdir -p $(@D)
	$(CXX) $(ALL_CXXFLAGS) $(DEPS_CFLAGS) -c $< -o $@
$(DEPS_DIR)/complete:
	@echo "Fetching OpenColorIO and OpenImageIO ..."
	@scripts/deps.sh $(@D)
ifneq ($(DEPS_DIR),)
program: $(DEPS_STAMP)
$(B)/tests/% $(B)/fuzz_% $(B)/bench_% $(B)/gen/color/known-maker: private ALL_LDFLAGS += $(DEPS_RPATH)
endif

# Static libraries contain what they need of src/base, since no other program has it. libtxtile needs no digests, which
# would bring OpenSSL.
$(BASE_LIB): $(BASE_OBJ)
$(B)/libtxmill.a: $(MILL_OBJ) $(BASE_OBJ)
$(B)/libtxtile.a: $(TILE_OBJ) $(filter-out %/hash.o,$(BASE_OBJ))
$(B)/lib%.a:
	rm -f $@
	ar rcs $@ $^
# A library exports what its headers declare.
$(B)/gen/libtxtile.map: $(TILE_API) $(TILE_SHARED)
$(B)/gen/libtxmill.map: $(MILL_API)
$(B)/gen/lib%.map: scripts/exports.sh
	@mkdir -p $(@D)
	scripts/exports.sh $* $(VERSION) $(filter %.h,$^) > $@
$(B)/libtxtile.so: $(TILE_OBJ) $(BASE_LIB) $(B)/gen/libtxtile.map $(B)/flags/link
	$(CC) -shared -Wl,-soname,$(@F).$(SOVERSION) -Wl,--version-script=$(B)/gen/libtxtile.map $(COMPLETE) \
	  -Wl,-Bsymbolic-functions \
	  $(ALL_LDFLAGS) $(TILE_OBJ) $(BASE_LIB) $(TILE_LIBS) -o $@
$(B)/libtxmill.so: $(MILL_OBJ) $(BASE_LIB) $(B)/libtxtile.so $(B)/gen/libtxmill.map $(B)/flags/link
	$(CC) -shared -Wl,-soname,$(@F).$(SOVERSION) -Wl,--version-script=$(B)/gen/libtxmill.map $(ALL_LDFLAGS) $(DEPS_ORIGIN) \
	  $(MILL_OBJ) $(BASE_LIB) $(B)/libtxtile.so $(LIBS) -o $@
	$(if $(DEPS_DIR),ln -sf $(DEPS_DIR)/lib/*.so* $(B)/)
# The program links the libraries by the names under which it will find them.
LINK_TXMILL = $(CC) $(ALL_LDFLAGS) $(TOOL_OBJ) $(BASE_LIB) $(B)/libtxmill.so $(B)/libtxtile.so -Wl,--as-needed $(LIBS) $(TOOL_LIBS)
$(B)/lib%.so.$(SOVERSION): $(B)/lib%.so
	ln -sf $(<F) $@
$(B)/txmill: $(TOOL_OBJ) $(BASE_LIB) $(B)/libtxmill.so.$(SOVERSION) $(B)/libtxtile.so.$(SOVERSION) $(B)/flags/link
	$(LINK_TXMILL) -Wl,-rpath,'$$ORIGIN' -o $@
# The installed program searches the folder of the installed libraries, unless the system searches it anyway.
$(B)/install/txmill: $(B)/txmill $(B)/flags/prefix
	@mkdir -p $(@D)
	$(LINK_TXMILL) $(if $(filter-out /usr,$(PREFIX)),-Wl$(comma)-rpath$(comma)'$$ORIGIN/../$(patsubst $(PREFIX)/%,%,$(LIBDIR))') -o $@
# OpenImageIO is in a module that is loaded when a source needs it.
$(B)/txmill-oiio.so: $(MODULE_OBJ) $(BASE_LIB) $(B)/flags/link
	$(CXX) -shared $(ALL_LDFLAGS) $(DEPS_ORIGIN) $(MODULE_OBJ) $(BASE_LIB) -lOpenImageIO -lOpenImageIO_Util $(shell $(PKG_CONFIG) --libs OpenEXR) -o $@

# Compiling a test takes longer than what it runs itself: the time of most is spent in the library and in tests/util.
TEST_OPT := $(patsubst -O2,-O1,$(filter -O2,$(OPT)))
# lld links in a third of the time.
TEST_LD  := $(if $(shell command -v ld.lld),-fuse-ld=lld)
TEST_OBJ := $(TESTS:=.o)
$(TEST_OBJ): ALL_CFLAGS += $(TEST_OPT) $(shell $(PKG_CONFIG) --cflags check) -Itests/util -I.
# Test programs are small: all link one library, which holds what they share and both libraries, private functions too. It
# binds its own functions, as the libraries do, but calls of libc are found in the program first: some tests replace them.
$(B)/tests/private.a: tests/unhide.py $(LIB_OBJ)
	@mkdir -p $(@D)
	$^ $@
$(B)/tests/libtest.so: $(TEST_UTIL) $(TOOL_LIB) $(B)/tests/private.a $(B)/flags/link
	$(CC) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic $(ALL_LDFLAGS) $(TEST_LD) $(TEST_UTIL) $(TOOL_LIB) \
	  -Wl,--whole-archive $(B)/tests/private.a -Wl,--no-whole-archive $(LIBS) $(TOOL_LIBS) -lz -o $@
# A test program is linked again only if the names in the library have changed.
$(B)/tests/libtest.asked: $(B)/tests/libtest.so
	nm -D --defined-only $< | sed 's/^[^ ]* //' > $(B)/tests/libtest.tmp
	cmp -s $(B)/tests/libtest.tmp $(B)/tests/libtest.names || mv $(B)/tests/libtest.tmp $(B)/tests/libtest.names
	@touch $@
$(B)/tests/libtest.names: $(B)/tests/libtest.asked ;
$(TESTS): $(B)/%: $(B)/%.o $(B)/tests/libtest.names $(B)/flags/link | $(B)/tests/libtest.so $(B)/txmill $(B)/txmill-oiio.so
	$(CC) $(ALL_LDFLAGS) $(TEST_LD) $< $(B)/tests/libtest.so -Wl,-rpath,'$$ORIGIN$(subst $() ,,$(patsubst %,/..,$(wordlist 2,9,$(subst /, ,$*))))/tests' \
	  $(shell $(PKG_CONFIG) --libs check) -Wl,--as-needed $(LIBS) -lz $(TEST_LIBS) -o $@

# THOROUGH=yes: every case, where a test otherwise tries some of many cases of one kind.
ifneq ($(THOROUGH),)
export TXM_THOROUGH := $(THOROUGH)
endif
check: all $(TESTS)
	@TXM_MAKE_VARS='$(subst ','\'',$(MAKEOVERRIDES))' tests/run.sh $(B) $(LONG) $(TESTS) \
	  $(filter-out $(SLOW) $(LONG),$(SCRIPTS))
check-slow: all
	@tests/run.sh $(B) $(SLOW)

# Everything that this machine can run, for hours: the tests, the campaigns, the packages, real Blenders. Parts that lack
# something are skipped with a reason.
CAMPAIGNS := check-slow check-abi check-cache-threads check-gpu check-avx512 check-slurm check-farm check-deb check-wheel check-blender fuzz
check-all:
	@failed=; for t in "check THOROUGH=yes" $(CAMPAIGNS) "check-faults FAULT_SECONDS=0"; do \
	  echo "==== $$t"; $(MAKE) $$t || failed="$$failed $$t;"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# Test programs and scripts by their names: make check-one T="test_pyramid cli_info"
ONE = $(foreach t,$(T),$(filter %/$(t),$(TESTS)) $(filter %/$(t).sh,$(SCRIPTS)))
# Scripts name the programs of tests that they run.
ONE_USES = $(addprefix $(B)/,$(shell sed -n 's|.*"$$build/\(tests/[a-z_/]*/test_[a-z_]*\)".*|\1|p' $(filter %.sh,$(ONE)) /dev/null | sort -u))
# Any test program brings the plug-ins that scripts use, as what has to be there before it.
check-one: all $(filter $(B)/%,$(ONE)) $(ONE_USES) $(if $(filter %.sh,$(ONE)),$(firstword $(TESTS)))
	@tests/run.sh $(B) $(ONE)

# Runs the Slurm scripts of farm/ on three Slurm nodes on this machine, of which one is switched off: minutes, as root.
check-slurm: all
	@tests/run.sh $(B) tests/slurm/check.sh

# Runs the job of farm/openjd with openjd-cli, and farm/bat with Blender Asset Tracer, both from PyPI: a minute, network.
check-farm: all
	@tests/run.sh $(B) tests/farm/check.sh

# Runs the AVX-512 back-end on an emulated processor, for machines without it: minutes, any user.
check-avx512: all
	@tests/run.sh $(B) tests/bochs/check.sh

bench: all
	bench/run.sh $(B)

# libFuzzer targets (Clang): make fuzz builds them all in build-fuzz, FUZZ_SECONDS=60 runs each that long.
fuzz:
	tests/fuzz.sh

clean:
	rm -rf build build-sanitize build-clang build-fuzz

install: all $(B)/install/txmill
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/txmill $(DESTDIR)$(MODULEDIR) \
	  $(DESTDIR)$(INCLUDEDIR)/txmill $(DESTDIR)$(INCLUDEDIR)/txtile $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man5
	install -m 755 $(B)/install/txmill $(DESTDIR)$(BINDIR)/txmill
	install -m 644 $(B)/libtxmill.a $(B)/libtxtile.a $(DESTDIR)$(LIBDIR)/
	for l in libtxmill libtxtile; do \
	  install -m 755 $(B)/$$l.so $(DESTDIR)$(LIBDIR)/$$l.so.$(VERSION) && \
	  ln -sf $$l.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$$l.so.$(SOVERSION) && \
	  ln -sf $$l.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/$$l.so || exit; done
	install -m 755 $(B)/txmill-oiio.so $(B)/txmill-oiio-worker $(DESTDIR)$(MODULEDIR)/
	for l in $(if $(DEPS_DIR),$(DEPS_DIR)/lib/*.so*); do [ -L $$l ] || install -m 755 $$l $(DESTDIR)$(MODULEDIR)/ || exit; done
	install -m 644 $(TILE_API) $(DESTDIR)$(INCLUDEDIR)/txtile/
	install -m 644 $(MILL_API) $(DESTDIR)$(INCLUDEDIR)/txmill/
	install -d $(DESTDIR)$(PYTHONDIR)/txmill
	install -m 644 python/txmill/*.py python/txmill/py.typed $(DESTDIR)$(PYTHONDIR)/txmill/
	for f in farm/*/*; do install -D -m $$([ -x $$f ] && echo 755 || echo 644) $$f $(DESTDIR)$(DATADIR)/$$f || exit; done
	for f in txmill.pc txmill-static.pc txtile.pc txtile-static.pc txmill-config.cmake txmill-config-version.cmake; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@DATADIR@|$(DATADIR)|; s|@VERSION@|$(VERSION)|' \
	    -e 's|@LIBS_PRIVATE@|$(if $(DEPS_DIR),-L$${libdir}/txmill -Wl$(comma)-rpath$(comma)$${libdir}/txmill) $(LIBS)|; s|@TILE_LIBS_PRIVATE@|$(TILE_LIBS)|' scripts/$$f.in \
	    > $(DESTDIR)$(LIBDIR)/$$(case $$f in *.pc) echo pkgconfig;; *) echo cmake/txmill;; esac)/$$f || exit; done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/txmill $(foreach l,txmill txtile,$(DESTDIR)$(LIBDIR)/lib$(l).a \
	  $(DESTDIR)$(LIBDIR)/lib$(l).so* $(addprefix $(DESTDIR)$(LIBDIR)/pkgconfig/,$(l).pc $(l)-static.pc)) \
	  $(addprefix $(DESTDIR)$(INCLUDEDIR)/,$(patsubst include/%,%,$(TILE_API) $(MILL_API)) txtile/kernel.h)
	rm -rf $(DESTDIR)$(MODULEDIR) $(DESTDIR)$(LIBDIR)/cmake/txmill $(DESTDIR)$(DATADIR)/farm $(DESTDIR)$(DATADIR)/page.html $(DESTDIR)$(DATADIR)/schema.awk $(DESTDIR)$(PYTHONDIR)/txmill
	rmdir $(DESTDIR)$(INCLUDEDIR)/txmill 2>/dev/null || true

-include $(LIB_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(TEST_UTIL:.o=.d) $(TEST_OBJ:.o=.d) $(MODULE_OBJ:.o=.d)
