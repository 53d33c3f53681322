# The filters are written for the vectoriser, which GCC only runs in full at -O3.
$(B)/src/codec/filter.o: ISA := -O3
