# libpng reads what comes before a PNG's pixels.
LIBS += -lpng

# Undoing PNG filters: one file an ISA, chosen at run time.
$(B)/src/source/png_unfilter_sse41.o: ISA := -msse4.1
$(B)/src/source/png_unfilter_avx2.o: ISA := -mavx2
