# Fuzz targets: tests/fuzz.sh builds the library with coverage and sanitizers into a build folder of its own first.
ifdef FUZZING
$(B)/fuzz_%: tests/fuzz_%.c $(B)/libtxmill.a
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -MF $@.d -Itests -I. $< $(B)/libtxmill.a $(ALL_LDFLAGS) -fsanitize=fuzzer \
	  $(LIBS) -o $@
-include $(wildcard $(B)/fuzz_*.d)
endif
