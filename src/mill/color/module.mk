# The built-in OCIO config as the initialiser of a byte array: the binary needs no file beside it.
$(B)/gen/color/builtin.inc: src/mill/color/builtin.ocio
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp
	mv $@.tmp $@
$(B)/src/mill/color/builtin.o: $(B)/gen/color/builtin.inc

# What OpenColorIO says of that config, asked once by the build.
$(B)/gen/color/known-maker: $(B)/src/mill/color/generate/known.o $(filter-out $(B)/src/mill/color/known.o,$(LIB_OBJ))
	@mkdir -p $(@D)
	$(CXX) $(ALL_LDFLAGS) $^ $(LIBS) -o $@
# The library changes often, the answer hardly ever: what depends on the answer sees only a new one.
$(B)/gen/color/known.asked: $(B)/gen/color/known-maker
	ASAN_OPTIONS=detect_leaks=0 $< > $(B)/gen/color/known.tmp
	cmp -s $(B)/gen/color/known.tmp $(B)/gen/color/known.inc || mv $(B)/gen/color/known.tmp $(B)/gen/color/known.inc
	@touch $@
$(B)/gen/color/known.inc: $(B)/gen/color/known.asked ;
$(B)/src/mill/color/known.o: $(B)/gen/color/known.inc
-include $(B)/src/mill/color/generate/known.d
