# The filters are written for the vectoriser, which GCC only runs in full at -O3.
$(B)/src/mill/encode/filter.o: ISA := -O3
# Lanes are kept in registers only if loops over them are unrolled early, and counting lengths needs the vectoriser.
$(B)/src/tile/decode/inflate_parts.o $(B)/src/tile/decode/decode_table.o: ISA := -O3

# Measures time and size of the tile encoder on a raw image.
bench-codec: $(B)/bench_codec
.PHONY: bench-codec
$(B)/bench_codec: bench/bench_codec.c $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d $< $(STATIC) $(ALL_LDFLAGS) $(LIBS) -lz -o $@
