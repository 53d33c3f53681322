# The built-in OCIO config becomes the initialiser of a byte array, so that the binary needs no data file.
$(B)/gen/color/builtin.inc: src/mill/color/builtin.ocio
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp
	mv $@.tmp $@
$(B)/src/mill/color/builtin.o: $(B)/gen/color/builtin.inc

# A table of what OpenColorIO reports about that config, generated once by the build. What reads a config needs the rooms
# base and terms, and no others.
KNOWN_OBJ := $(filter $(B)/src/mill/color/% $(B)/src/base/% $(B)/src/tile/terms/%,$(LIB_OBJ))
$(B)/gen/color/known-maker: $(B)/src/mill/color/generate/known.o $(filter-out $(B)/src/mill/color/known.o,$(KNOWN_OBJ))
	@mkdir -p $(@D)
	rm -f $@.a && ar rcsT $@.a $(filter-out $<,$^)
	$(CXX) $(ALL_LDFLAGS) $< $@.a $(LIBS) -o $@
# The library changes often, but what it reports hardly ever does, so the table is only replaced if it differs.
$(B)/gen/color/known.asked: $(B)/gen/color/known-maker
	ASAN_OPTIONS=detect_leaks=0 $< > $(B)/gen/color/known.tmp
	cmp -s $(B)/gen/color/known.tmp $(B)/gen/color/known.inc || mv $(B)/gen/color/known.tmp $(B)/gen/color/known.inc
	@touch $@
$(B)/gen/color/known.inc: $(B)/gen/color/known.asked ;
$(B)/src/mill/color/known.o: $(B)/gen/color/known.inc
-include $(B)/src/mill/color/generate/known.d
