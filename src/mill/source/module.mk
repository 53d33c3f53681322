# libpng reads the chunks before a PNG's pixels.
LIBS += -lpng
LIBS += -lwebpdemux -lwebp

# Undoing PNG filters: one file per ISA, chosen at run time.
$(B)/src/mill/source/png/png_unfilter_sse41.o: ISA := -msse4.1
$(B)/src/mill/source/png/png_unfilter_avx2.o: ISA := -mavx2

# OpenImageIO's decoders run in a separate process, which loads the module.
program: $(B)/txmill-oiio-worker
$(B)/txmill-oiio-worker: $(B)/src/mill/source/oiio/worker/main.o $(B)/src/mill/source/oiio/worker/reads.o $(STATIC)
	$(CC) $(ALL_LDFLAGS) $^ -ldl $(SAN_EXCEPTIONS) -o $@
-include $(B)/src/mill/source/oiio/worker/main.d $(B)/src/mill/source/oiio/worker/reads.d

# A module that crashes, loops and hangs on demand, with a worker beside it, for tests.
$(B)/tests/decoders/txmill-oiio.so: tests/mill/source/decoder_module.c | $(B)/txmill-oiio-worker
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MF $@.d -shared $(ALL_LDFLAGS) $< -o $@
$(B)/tests/decoders/txmill-oiio-worker: $(B)/txmill-oiio-worker
	@mkdir -p $(@D)
	cp $< $@
$(TESTS): | $(B)/txmill-oiio-worker $(B)/tests/decoders/txmill-oiio.so $(B)/tests/decoders/txmill-oiio-worker
-include $(B)/tests/decoders/txmill-oiio.so.d
