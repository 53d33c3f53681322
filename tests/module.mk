# Fuzz targets: tests/fuzz.sh builds the library with coverage and sanitizers into a build folder of its own first.
ifdef FUZZING
$(B)/fuzz_%: tests/fuzz_%.c $(B)/libtxmill.a
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -MF $@.d -Itests -I. $< $(B)/libtxmill.a $(ALL_LDFLAGS) -fsanitize=fuzzer \
	  $(LIBS) -o $@
-include $(wildcard $(B)/fuzz_*.d)
endif

# bench/padded.sh: padded tiles a second, beside OpenImageIO.
$(B)/bench/bench_oiio.o: bench/bench_oiio.cpp
$(B)/bench_padded: bench/bench_padded.c $(B)/bench/bench_oiio.o $(B)/libtxmill.a
	$(CC) $(ALL_CFLAGS) -MF $@.d -Ibench $< $(B)/bench/bench_oiio.o $(B)/libtxmill.a $(ALL_LDFLAGS) \
	  -lOpenImageIO -lOpenImageIO_Util $(LIBS) -o $@
