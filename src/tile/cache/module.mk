# The texture cache beside the sampler alone and OpenImageIO; the tables are those of bench/results.md.
.PHONY: bench-cache
bench-cache: all $(B)/bench_cache bench-scale
	@bench/cache.sh $(B)
$(B)/bench_cache: bench/bench_cache.c $(B)/bench/oiio_lookup.o $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d -Ibench $< $(B)/bench/oiio_lookup.o $(STATIC) $(ALL_LDFLAGS) \
	  -lOpenImageIO -lOpenImageIO_Util $(LIBS) -o $@
-include $(B)/bench_cache.d

# From a hundred files to a hundred thousand, and a scene with 20,000 Ptex files: a table of docs/streaming.md.
.PHONY: bench-scale
bench-scale: all $(B)/bench_scale
	@python3 bench/scale.py $(B) docs/streaming.md
$(B)/bench_scale: bench/bench_scale.c $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d -Ibench $< $(STATIC) $(ALL_LDFLAGS) $(LIBS) -o $@
-include $(B)/bench_scale.d

# Lookups of many threads under ThreadSanitizer, in a build of its own: make check-cache-threads
.PHONY: check-cache-threads
check-cache-threads:
	$(MAKE) B=build-tsan SANITIZE=thread build-tsan/tests/tile/cache/test_publish build-tsan/tests/tile/cache/test_cache_files \
	  build-tsan/tests/tile/cache/test_cache_memory build-tsan/tests/tile/cache/test_cache_mixed \
	  build-tsan/tests/tile/cache/test_cache_views \
	  build-tsan/tests/tile/ptex/test_ptex_threads
	TXM_CACHE_LOOKUPS=200 tests/run.sh build-tsan build-tsan/tests/tile/cache/test_publish \
	  build-tsan/tests/tile/cache/test_cache_files build-tsan/tests/tile/cache/test_cache_memory build-tsan/tests/tile/cache/test_cache_mixed \
	  build-tsan/tests/tile/cache/test_cache_views \
	  build-tsan/tests/tile/ptex/test_ptex_threads

# Every call at once, 10^8 lookups under a sanitizer, in a build of its own: make check-cache-stress, and with
# STRESS=address,undefined; TXM_MIXED_LOOKUPS says how many.
TXM_MIXED_LOOKUPS ?= 100000000
STRESS ?= thread
STRESS_B = build-stress-$(firstword $(subst $(comma), ,$(STRESS)))
.PHONY: check-cache-stress
check-cache-stress:
	$(MAKE) B=$(STRESS_B) SANITIZE=$(STRESS) $(STRESS_B)/tests/tile/cache/test_cache_mixed
	TXM_MIXED_LOOKUPS=$(TXM_MIXED_LOOKUPS) tests/run.sh $(STRESS_B) $(STRESS_B)/tests/tile/cache/test_cache_mixed
