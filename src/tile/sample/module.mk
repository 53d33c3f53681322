# 10^8 random lookups: tiles against whole levels, and every ISA against scalar C. Minutes on all cores but one test at a
# time: TXM_SAMPLE_LOOKUPS says how many.
TXM_SAMPLE_LOOKUPS ?= 100000000
.PHONY: check-sample
check-sample: all $(B)/tests/tile/sample/test_sample
	@TXM_SAMPLE_LOOKUPS=$(TXM_SAMPLE_LOOKUPS) tests/run.sh $(B) $(B)/tests/tile/sample/test_sample

# Lookups per second beside OpenImageIO's TextureSystem; the tables are those of bench/results.md.
.PHONY: bench-lookup
bench-lookup: all $(B)/bench_lookup $(B)/bench_trace
	@bench/lookup.sh $(B)
$(B)/bench_lookup: bench/bench_lookup.c $(B)/bench/oiio_lookup.o $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d -Ibench $< $(B)/bench/oiio_lookup.o $(STATIC) $(ALL_LDFLAGS) \
	  -lOpenImageIO -lOpenImageIO_Util $(LIBS) -o $@
-include $(B)/bench_lookup.d
$(B)/bench_trace: bench/bench_trace.c $(B)/bench/oiio_lookup.o $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d -Ibench $< $(B)/bench/oiio_lookup.o $(STATIC) $(ALL_LDFLAGS) \
	  -lOpenImageIO -lOpenImageIO_Util $(LIBS) -o $@
-include $(B)/bench_trace.d

# OpenImageIO as a second opinion.
$(B)/tests/tile/sample/test_sample_oiio: TEST_LIBS := $(B)/bench/oiio_lookup.o -lOpenImageIO -lOpenImageIO_Util
$(B)/tests/tile/sample/test_sample_oiio: $(B)/bench/oiio_lookup.o
