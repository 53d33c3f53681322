# Device plug-ins: a runtime (src/device/cuda, src/device/opencl), and conversion and lookups on top of it. Everything
# but the runtime's calls is plain C, which the tests link with a runtime of their own (tests/device/gpu_runtime.c).
# CUDA=auto builds txmill-cuda.so if nvcc is installed, OPENCL=auto txmill-opencl.so if the ICD loader is; yes makes it
# an error if they are missing, and no leaves the plug-in out.
OPENCL ?= auto
DEVICE_PROGRAMS := convert lookup
DEVICE_OBJ  := $(patsubst %.c,$(B)/%.o,$(filter-out %/program.c,$(wildcard src/device/convert/*.c src/device/lookup/*.c src/device/plugin/*.c)))
# The parts of the library that a plug-in needs. It contains its own copies and exports only its table.
DEVICE_CORE := $(addprefix $(B)/src/,tile/terms/pixel.o tile/ops/tables.o) $(BASE_LIB)
DEVICE_MAP  := src/device/plugin/plugin.map
DEVICE_HEADERS := $(wildcard src/device/*/*.h src/mill/gpu/*.h src/mill/encode/*.h src/tile/decode/*.h src/tile/device/*.h src/base/*.h src/base/os/*.h src/tile/terms/*.h src/tile/ops/*.h src/tile/sample/*.h) \
                  include/txtile/pixel.h include/txtile/sampler.h include/txtile/status.h
device_link = $(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=$(DEVICE_MAP) $(COMPLETE) $(filter %.o %.a,$^)

# ---- kernels of other programs
KERNEL_HEADER := $(B)/gen/include/txtile/kernel.h
all: $(KERNEL_HEADER)
$(KERNEL_HEADER): src/device/lookup/kernel.h scripts/one-header.awk $(DEVICE_HEADERS)
	@mkdir -p $(@D)
	LC_ALL=C awk -f scripts/one-header.awk $< > $@.part && mv $@.part $@

# ---- CUDA
# Machine code for Turing to Hopper, as far as this nvcc supports them, and code that drivers translate for newer
# devices.
NVCC_KNOWS = $(filter 75 80 86 89 90,$(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch)))
NVCC_ARCH  = $(foreach a,$(NVCC_KNOWS),-gencode arch=compute_$(a),code=sm_$(a)) \
             -gencode arch=compute_$(lastword $(NVCC_KNOWS)),code=compute_$(lastword $(NVCC_KNOWS))
# No contraction, no flushing and exact division, to get the bits of scalar C.
NVCC_FLAGS := -O3 -std=c++17 -fmad=false -ftz=false -prec-div=true -prec-sqrt=true -cudart static --threads 2 \
              -Iinclude -Isrc -Xcompiler -fPIC,-Wall
have_nvcc  := $(if $(filter-out no,$(CUDA)),$(shell command -v $(NVCC) 2>/dev/null))
ifeq ($(CUDA)$(have_nvcc),yes)
$(error CUDA=yes, but there is no $(NVCC): name it with NVCC=, or use CUDA=auto)
endif
# CUDA's runtime does not work in a process with sanitizers.
CUDA_PLUGIN := $(if $(SANITIZE),,$(if $(have_nvcc),$(B)/txmill-cuda.so))
ifeq ($(CUDA),yes)
all: $(CUDA_PLUGIN)
else
all: $(CUDA_PLUGIN:%.so=%.tried)
endif
CUDA_OBJ := $(B)/src/device/cuda/runtime_cuda.o $(DEVICE_PROGRAMS:%=$(B)/src/device/%/program-cuda.o)
# If nvcc cannot build the plug-in, for example because the host compiler is too new for it, the rest is still built.
$(B)/txmill-cuda.tried: src/device/cuda/runtime_cuda.cu $(DEVICE_HEADERS) $(DEVICE_OBJ) $(DEVICE_CORE) $(DEVICE_MAP)
	@$(MAKE) --no-print-directory CUDA=yes $(B)/txmill-cuda.so || \
	  echo "note: txmill-cuda.so is left out, because $(NVCC) failed; CUDA=yes makes that an error"
	@touch $@
$(B)/src/device/cuda/runtime_cuda.o: src/device/cuda/runtime_cuda.cu $(DEVICE_HEADERS)
$(DEVICE_PROGRAMS:%=$(B)/src/device/%/program-cuda.o): $(B)/src/device/%/program-cuda.o: src/device/%/program.c $(DEVICE_HEADERS)
# Drivers translate lookups in a second or two when they are first used, and keep the result. It would take nvcc four
# seconds for every kind of device.
$(B)/src/device/lookup/program-cuda.o: NVCC_ARCH = -gencode arch=compute_75,code=compute_75
$(CUDA_OBJ):
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) $(NVCC_ARCH) -x cu -c $< -o $@
$(B)/txmill-cuda.so: $(CUDA_OBJ) $(DEVICE_OBJ) $(DEVICE_CORE) $(DEVICE_MAP)
	$(NVCC) -shared -cudart static -Xlinker --version-script=$(DEVICE_MAP) -Xlinker --no-undefined $(filter %.o %.a,$^) -o $@

# ---- OpenCL
have_opencl := $(if $(filter-out no,$(OPENCL)),$(shell $(PKG_CONFIG) --exists OpenCL && echo yes))
ifeq ($(OPENCL)$(have_opencl),yes)
$(error OPENCL=yes, but pkg-config does not know OpenCL: install the ICD loader, or use OPENCL=auto)
endif
OPENCL_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out %/probe.c,$(wildcard src/device/opencl/*.c))) \
              $(DEVICE_PROGRAMS:%=$(B)/src/device/%/program-opencl.o)
OPENCL_PLUGIN := $(if $(have_opencl),$(B)/txmill-opencl.so $(B)/txmill-opencl-probe)
all: $(OPENCL_PLUGIN)
# The kernels as one text without comments, which drivers compile.
$(DEVICE_PROGRAMS:%=$(B)/gen/device/%.inc): $(B)/gen/device/%.inc: src/device/%/entries.h $(DEVICE_HEADERS)
	@mkdir -p $(@D)
	$(CC) -E -P -undef -nostdinc -D__OPENCL_VERSION__=120 -Iinclude -Isrc -x c $< > $@.cl
	sed -e 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n",/' $@.cl > $@
$(DEVICE_PROGRAMS:%=$(B)/src/device/%/program-opencl.o): $(B)/src/device/%/program-opencl.o: src/device/%/program.c $(B)/gen/device/%.inc $(B)/flags/c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -DTXM_RT_OPENCL -c $< -o $@
$(B)/txmill-opencl.so: $(OPENCL_OBJ) $(DEVICE_OBJ) $(DEVICE_CORE) $(DEVICE_MAP) $(B)/flags/link
	$(device_link) -lOpenCL -lxxhash -lm -o $@
# This helper loads the drivers, and lets them compile, in a separate process.
$(B)/txmill-opencl-probe: $(B)/src/device/opencl/probe.o $(OPENCL_OBJ) $(DEVICE_CORE) $(B)/flags/link
	$(CC) $(ALL_LDFLAGS) $(filter %.o %.a,$^) -lOpenCL -lxxhash -lm -o $@

.PHONY: install-device
install: install-device
install-device: all
	install -D -m 644 $(KERNEL_HEADER) $(DESTDIR)$(INCLUDEDIR)/txtile/kernel.h
	for f in txmill-cuda.so txmill-opencl.so txmill-opencl-probe; do \
	  [ ! -e $(B)/$$f ] || install -D -m 755 $(B)/$$f $(DESTDIR)$(MODULEDIR)/$$f || exit; done

# ---- tests
# The same jobs over a runtime on the CPU, which can lose its devices on demand.
FAKE_OBJ := $(B)/tests/device/gpu_runtime.o $(DEVICE_PROGRAMS:%=$(B)/src/device/%/program.o)
$(B)/tests/gpu/txmill-cuda.so: $(FAKE_OBJ) $(DEVICE_OBJ) $(DEVICE_CORE) $(DEVICE_MAP)
	@mkdir -p $(@D)
	$(device_link) -lm -o $@
# A plug-in with the table of another build, which must be refused.
$(B)/tests/gpu-old/txmill-cuda.so: tests/device/gpu_old.c src/tile/device/device_abi.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -shared $(ALL_LDFLAGS) $< -o $@
# OpenCL drivers that fail or cannot be loaded, and a second platform.
$(B)/tests/opencl/%.so: tests/device/opencl_%.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -O1 -g -Wall -Wextra $< -ldl -o $@
.PHONY: check-gpu check-device-lookups check-device-threads bench-gpu
# Every operation, whole conversions and lookups on the devices of this machine, under compute-sanitizer too where it is
# installed.
check-gpu: all $(B)/tests/device/test_gpu $(B)/tests/tile/device/test_device
	@tests/device/check_gpu.sh $(B)
# Compares LOOKUPS random lookups on DEVICE with scalar C, without and with derivatives: half an hour on a CPU driver.
LOOKUPS ?= 10000000
DEVICE ?= opencl
check-device-lookups: all $(B)/tests/tile/device/test_device
	TXM_DEVICE=$(DEVICE) TXM_DEVICE_LOOKUPS=$(LOOKUPS) TXMILL_PLUGINS=$(B) CK_TIMEOUT_MULTIPLIER=100 \
	  $(B)/tests/tile/device/test_device
# The host's side of lookups under ThreadSanitizer: a few minutes on one core. OpenCL's driver is not instrumented, so
# races inside it are not reported.
check-device-threads:
	$(MAKE) B=build-tsan SANITIZE=thread $(addprefix build-tsan/,txmill-opencl.so txmill-opencl-probe tests/tile/device/test_device)
	for device in "" opencl; do \
	  TXM_DEVICE=$$device TXM_DEVICE_PART=20 TSAN_OPTIONS=halt_on_error=1:suppressions=$$PWD/tests/device/tsan.supp \
	    tests/run.sh build-tsan build-tsan/tests/tile/device/test_device || exit; \
	done
# Compares kernels with a model of their bytes, and conversions and lookups with those on the processor.
bench-gpu: all $(B)/bench_gpu $(B)/bench_device
	bench/gpu.sh $(B)
$(B)/bench_gpu: bench/bench_gpu.c $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d $< $(STATIC) $(ALL_LDFLAGS) $(LIBS) -o $@
$(B)/bench_device: bench/bench_device.c $(STATIC)
	$(CC) $(ALL_CFLAGS) -MF $@.d $< $(STATIC) $(ALL_LDFLAGS) $(LIBS) -o $@
-include $(B)/bench_gpu.d $(B)/bench_device.d

$(TESTS): | $(B)/tests/gpu/txmill-cuda.so $(B)/tests/gpu-old/txmill-cuda.so
ifneq ($(have_opencl),)
$(TESTS) check-one check: | $(addprefix $(B)/tests/opencl/,faults.so crash.so second.so)
endif

-include $(DEVICE_OBJ:.o=.d) $(FAKE_OBJ:.o=.d) $(OPENCL_OBJ:.o=.d) $(B)/src/device/opencl/probe.d
