# txmill-stream in the build of the whole tree: with the flags of this build, the public headers, and the libraries beside
# it. Paths of its headers are relative to its own folder.
S := stream/
STREAM_CFLAGS  = $(filter-out -Isrc -I$(B)/gen -MMD -MP,$(ALL_CFLAGS))
STREAM_LDFLAGS = $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN'
STREAM_LIBS   := $(B)/libtxmill.so $(B)/libtxtile.so
STREAM_DEPENDS = $(B)/libtxmill.so.$(SOVERSION) $(B)/libtxtile.so.$(SOVERSION) $(B)/flags/link
STREAM_FLAGS   = $(B)/flags/c
STREAM_PAGE   := $(B)/gen/page/page.html
STREAM_AWK    := docs/schema/schema.awk
include stream/build.mk
all: $(STREAM_ALL) $(STREAM_MODULES)

# Installed, it is in the folder of the modules, and finds the libraries above it.
$(B)/install/txmill-stream: $(B)/txmill-stream $(B)/flags/prefix
	@mkdir -p $(@D)
	$(CC) $(STREAM_OBJ) $(ALL_LDFLAGS) $(STREAM_LIBS) -lcjson -lcrypto -pthread -ldl -lm \
	  $(if $(filter-out /usr,$(PREFIX)),-Wl$(comma)-rpath$(comma)'$$ORIGIN/..') -o $@
.PHONY: install-stream
install: install-stream
install-stream: all $(B)/install/txmill-stream
	install -d $(DESTDIR)$(MODULEDIR)
	install -m 755 $(B)/install/txmill-stream $(STREAM_MODULES) $(DESTDIR)$(MODULEDIR)/

# Its manual pages are beside the others.
STREAM_PAGES := $(patsubst stream/%.in,$(B)/%,$(wildcard stream/man/*.in))
$(STREAM_PAGES): $(B)/man/%: stream/man/%.in man/expand.sh man/fill.awk $(B)/txmill $(B)/txmill-stream
	@mkdir -p $(@D)
	man/expand.sh $(B)/txmill $< > $@.new && LC_ALL=C awk -f man/fill.awk $@.new > $@.filled && rm $@.new && mv $@.filled $@

STREAM_SCHEMAS := $(patsubst stream/schema/%.table,$(B)/schema/%.schema.json,$(wildcard stream/schema/*.table))
$(STREAM_SCHEMAS): $(B)/schema/%.schema.json: stream/schema/%.table $(STREAM_AWK)
	@mkdir -p $(@D)
	LC_ALL=C awk -f $(STREAM_AWK) /dev/null $< > $@.new && mv $@.new $@

# Its own tests link its objects in addition.
STREAM_TESTS := $(patsubst %.c,$(B)/%,$(wildcard stream/tests/test_*.c))
$(B)/tests/libstream.a: $(filter-out $(B)/stream/main.o,$(STREAM_OBJ))
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
$(STREAM_TESTS:=.o): ALL_CFLAGS += -Istream
$(STREAM_TESTS): TEST_LIBS := $(B)/tests/libstream.a -lcjson -lcrypto -lpthread -ldl -lm
$(STREAM_TESTS): $(B)/tests/libstream.a
$(B)/fuzz_scene: FUZZ_INCLUDE := -Istream
$(B)/fuzz_scene: FUZZ_TOOLS := $(B)/tests/libstream.a
$(B)/fuzz_scene: $(B)/tests/libstream.a
$(TESTS): | $(B)/txmill-stream $(STREAM_MODULES)
# Measures claims about texture caches: tables and plots of docs/streaming.md.
.PHONY: bench-stream
bench-stream: all
	python3 bench/stream.py $(B)/txmill docs/streaming.md
	python3 bench/play.py $(B)/txmill docs/streaming.md
# Measures what each policy of the cache reads, compared with the optimum: a table of docs/streaming.md.
.PHONY: bench-policies
bench-policies: all
	python3 bench/policies.py $(B)/txmill docs/streaming.md
