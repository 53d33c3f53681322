# Residuals of borders are written for the vectoriser, which GCC only runs in full at -O3.
$(B)/src/mill/write/border_encode.o: ISA := -O3
