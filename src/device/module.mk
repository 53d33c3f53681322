# The CUDA plug-in, txmill-cuda.so: CUDA=auto builds it where nvcc is, yes insists on it, no leaves it out. Everything but
# the runtime's calls is plain C, which the tests link with a runtime of their own (tests/device/gpu_runtime.c).
GPU_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard src/device/convert/*.c src/device/plugin/*.c))
# What a plug-in needs of the library; it carries its own copies and shows nothing but its table.
GPU_CORE := $(addprefix $(B)/src/,tile/base/status.o tile/base/text.o tile/base/mem.o tile/base/pixel.o tile/ops/tables.o)
GPU_MAP  := src/device/plugin/plugin.map

# Turing to Hopper as far as this compiler knows them, and what drivers translate for anything newer.
NVCC_KNOWS = $(filter 75 80 86 89 90,$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch)))
NVCC_ARCH  = $(foreach a,$(NVCC_KNOWS),-gencode arch=compute_$(a),code=sm_$(a)) \
             -gencode arch=compute_$(lastword $(NVCC_KNOWS)),code=compute_$(lastword $(NVCC_KNOWS))
# No contraction, no flushing, exact division: the bits of scalar C.
NVCC_FLAGS := -O3 -std=c++17 -fmad=false -ftz=false -prec-div=true -prec-sqrt=true -cudart static --threads 2 \
              -Iinclude -Isrc -Xcompiler -fPIC,-Wall
have_nvcc  := $(if $(filter-out no,$(CUDA)),$(shell command -v $(NVCC) 2>/dev/null))
ifeq ($(CUDA)$(have_nvcc),yes)
$(error CUDA=yes, but there is no $(NVCC): name it with NVCC=, or use CUDA=auto)
endif
# Sanitizers and CUDA's runtime do not share a process.
CUDA_PLUGIN := $(if $(SANITIZE),,$(if $(have_nvcc),$(B)/txmill-cuda.so))
ifeq ($(CUDA),yes)
all: $(CUDA_PLUGIN)
else
all: $(CUDA_PLUGIN:%.so=%.tried)
endif

.PHONY: install-cuda
install: install-cuda
install-cuda: all
	[ ! -e $(B)/txmill-cuda.so ] || install -D -m 755 $(B)/txmill-cuda.so $(DESTDIR)$(MODULEDIR)/txmill-cuda.so

CUDA_SRC := src/device/cuda/runtime_cuda.cu $(wildcard src/device/*/*.h src/mill/gpu/*.h) src/tile/ops/arith.h src/tile/ops/pow_table.h \
            src/tile/ops/tables.h include/txtile/pixel.h include/txtile/status.h
# An nvcc that cannot build it (it knows no compiler as new as this one, say) must not stop what needs no GPU.
$(B)/txmill-cuda.tried: $(CUDA_SRC) $(GPU_OBJ) $(GPU_CORE) $(GPU_MAP)
	@$(MAKE) --no-print-directory CUDA=yes $(B)/txmill-cuda.so || \
	  echo "note: txmill-cuda.so is left out, because $(NVCC) failed; CUDA=yes makes that an error"
	@touch $@
$(B)/src/device/cuda/runtime_cuda.o: $(CUDA_SRC)
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) $(NVCC_ARCH) -c $< -o $@
$(B)/txmill-cuda.so: $(B)/src/device/cuda/runtime_cuda.o $(GPU_OBJ) $(GPU_CORE) $(GPU_MAP)
	$(NVCC) -shared -cudart static -Xlinker --version-script=$(GPU_MAP) -Xlinker --no-undefined $(filter %.o,$^) -o $@

# The same jobs over a runtime on the CPU, which can lose its devices on demand.
$(B)/tests/gpu/txmill-cuda.so: $(B)/tests/device/gpu_runtime.o $(GPU_OBJ) $(GPU_CORE) $(GPU_MAP)
	@mkdir -p $(@D)
	$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=$(GPU_MAP) $(filter %.o,$^) -lm -o $@
# And a table of another build.
$(B)/tests/gpu-old/txmill-cuda.so: tests/device/gpu_old.c src/mill/gpu/gpu_abi.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -shared $(ALL_LDFLAGS) $< -o $@
.PHONY: check-gpu bench-gpu
# Every operation and whole conversions on the GPUs of this machine, under compute-sanitizer too where it is installed.
check-gpu: all $(B)/tests/device/test_gpu
	@tests/device/check_gpu.sh $(B)
# Kernels against plain copies, conversions against the CPU.
bench-gpu: all $(B)/bench_gpu
	bench/gpu.sh $(B)
$(B)/bench_gpu: bench/bench_gpu.c $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d $< $(STATIC) $(ALL_LDFLAGS) $(LIBS) -o $@
-include $(B)/bench_gpu.d

$(TESTS): | $(B)/tests/gpu/txmill-cuda.so $(B)/tests/gpu-old/txmill-cuda.so

-include $(GPU_OBJ:.o=.d) $(B)/tests/device/gpu_runtime.d
