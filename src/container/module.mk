# Residuals of rings are written for the vectoriser, which GCC only runs in full at -O3.
$(B)/src/container/ring_encode.o: ISA := -O3
