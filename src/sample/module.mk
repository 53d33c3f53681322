# 10^8 random look-ups: tiles against whole levels, and every ISA against scalar C. Minutes on all cores but one test at a
# time: TXM_SAMPLE_LOOKUPS says how many.
TXM_SAMPLE_LOOKUPS ?= 100000000
.PHONY: check-sample
check-sample: all $(B)/tests/test_sample
	@TXM_SAMPLE_LOOKUPS=$(TXM_SAMPLE_LOOKUPS) tests/run.sh $(B) $(B)/tests/test_sample
