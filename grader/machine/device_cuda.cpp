// Buffers on a GPU: cuMemCreate allocations that the judge exports as POSIX descriptors. The driver is loaded at run
// time, so that one `ridge` runs on machines with and without a GPU. (CUDA Driver API, "Virtual Memory Management".)
#include "grader/base/error.hpp"
#include "grader/machine/device.hpp"

#ifdef RIDGE_HAVE_CUDA

#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "grader/base/clock.hpp"
#include "grader/machine/device_kernel.hpp"
#include "grader/machine/host_buffer.hpp"
#include "grader/machine/large_pages.hpp"
#include "grader/machine/spare_blocks.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

// The driver's functions that the judge needs, by their versioned names.
struct Driver {
  decltype(&::cuInit) init;
  decltype(&::cuDriverGetVersion) version;
  decltype(&::cuDeviceGet) device_get;
  decltype(&::cuDeviceGetCount) device_count;
  decltype(&::cuDeviceGetName) device_name;
  decltype(&::cuDevicePrimaryCtxRetain) retain;
  decltype(&::cuCtxSetCurrent) set_current;
  decltype(&::cuCtxSynchronize) synchronize;
  decltype(&::cuMemGetInfo) mem_info;
  decltype(&::cuMemCreate) create;
  decltype(&::cuMemRelease) release;
  decltype(&::cuMemAddressReserve) reserve;
  decltype(&::cuMemAddressFree) unreserve;
  decltype(&::cuMemMap) map;
  decltype(&::cuMemUnmap) unmap;
  decltype(&::cuMemSetAccess) set_access;
  decltype(&::cuMemGetAllocationGranularity) granularity;
  decltype(&::cuMemExportToShareableHandle) export_handle;
  decltype(&::cuMemcpyHtoD) to_device;
  decltype(&::cuMemcpyHtoDAsync) to_device_later;
  decltype(&::cuMemcpyDtoH) to_host;
  decltype(&::cuMemsetD32) set32;
  decltype(&::cuMemAlloc) alloc;
  decltype(&::cuMemFree) free;
  decltype(&::cuMemcpy2DAsync) copy_2d;
  decltype(&::cuModuleLoadData) load_module;
  decltype(&::cuModuleGetFunction) get_function;
  decltype(&::cuLaunchKernel) launch;
  decltype(&::cuDeviceGetAttribute) attribute;
  decltype(&::cuDeviceGetUuid) uuid;
  decltype(&::cuMemHostRegister) host_register;
  decltype(&::cuMemHostUnregister) host_unregister;
  decltype(&::cuGetErrorName) error_name;
};

const Driver* load_driver(std::string& why) {
  static Driver d{};
  static std::string problem = [] {
    void* lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (lib == nullptr) return std::string("no NVIDIA driver is installed (libcuda.so.1 was not found)");
    std::string missing;
    auto get = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(lib, name));
      if (f == nullptr) missing = name;
    };
    get(d.init, "cuInit");
    get(d.version, "cuDriverGetVersion");
    get(d.device_get, "cuDeviceGet");
    get(d.device_count, "cuDeviceGetCount");
    get(d.device_name, "cuDeviceGetName");
    get(d.retain, "cuDevicePrimaryCtxRetain");
    get(d.set_current, "cuCtxSetCurrent");
    get(d.synchronize, "cuCtxSynchronize");
    get(d.mem_info, "cuMemGetInfo_v2");
    get(d.create, "cuMemCreate");
    get(d.release, "cuMemRelease");
    get(d.reserve, "cuMemAddressReserve");
    get(d.unreserve, "cuMemAddressFree");
    get(d.map, "cuMemMap");
    get(d.unmap, "cuMemUnmap");
    get(d.set_access, "cuMemSetAccess");
    get(d.granularity, "cuMemGetAllocationGranularity");
    get(d.export_handle, "cuMemExportToShareableHandle");
    get(d.to_device, "cuMemcpyHtoD_v2");
    get(d.to_device_later, "cuMemcpyHtoDAsync_v2");
    get(d.to_host, "cuMemcpyDtoH_v2");
    get(d.set32, "cuMemsetD32_v2");
    get(d.alloc, "cuMemAlloc_v2");
    get(d.free, "cuMemFree_v2");
    get(d.copy_2d, "cuMemcpy2DAsync_v2");
    get(d.load_module, "cuModuleLoadData");
    get(d.get_function, "cuModuleGetFunction");
    get(d.launch, "cuLaunchKernel");
    get(d.attribute, "cuDeviceGetAttribute");
    get(d.uuid, "cuDeviceGetUuid_v2");
    get(d.host_register, "cuMemHostRegister_v2");
    get(d.host_unregister, "cuMemHostUnregister");
    get(d.error_name, "cuGetErrorName");
    if (!missing.empty()) return "the NVIDIA driver is too old: it has no " + missing;
    CUdevice device;
    if (d.init(0) != CUDA_SUCCESS || d.device_get(&device, 0) != CUDA_SUCCESS)
      return std::string("the NVIDIA driver finds no GPU (nvidia-smi may say why)");
    return std::string();
  }();
  why = problem;
  return problem.empty() ? &d : nullptr;
}

void must(const Driver& d, CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) return;
  const char* name = nullptr;
  d.error_name(r, &name);
  throw Error(Exit::environment,
              fmt::format("{} failed on the GPU: {}", what, name != nullptr ? name : "unknown error"),
              "look at nvidia-smi: another program may use the GPU's memory, or the GPU may need attention");
}

// The primary context of a GPU: made current in this thread before anything that needs one.
class Context {
 public:
  Context(const Driver& d, int number) : d_(d), number_(number) {
    CUdevice device;
    must(d, d.device_get(&device, number), "cuDeviceGet");
    must(d, d.retain(&context_, device), "creating a context on the GPU");
    use();
  }
  void use() const { must(d_, d_.set_current(context_), "cuCtxSetCurrent"); }
  int number() const { return number_; }

 private:
  const Driver& d_;
  CUcontext context_{};
  int number_;
};

CUmemAllocationProp properties(int device) {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  p.location.id = device;
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return p;
}

// The judge's kernel (device_kernel.hpp) in its context.
class Kernel {
 public:
  explicit Kernel(const Driver& d) : d_(d) {
    CUmodule module;
    must(d, d.load_module(&module, kDeviceKernel), "loading the judge's kernel");
    must(d, d.get_function(&poison_, module, "ridge_poison"), "finding the judge's kernel");
  }
  void poison(CUdeviceptr words, std::uint64_t n, std::uint64_t seed, bool output) const {
    auto a = static_cast<std::uint32_t>(seed), b = static_cast<std::uint32_t>(seed >> 32);
    std::uint32_t set = kPoison | (output ? kPoisonOfOutputs : 0);
    void* arguments[] = {&words, &n, &a, &b, &set};
    auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>((n + 255) / 256, 1, 8192));
    must(d_, d_.launch(poison_, blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr), "poisoning outputs");
  }

 private:
  const Driver& d_;
  CUfunction poison_{};
};

class CudaBuffer : public DeviceBuffer {
 public:
  CudaBuffer(const Driver& d, const Context& context, const Kernel& kernel, std::size_t bytes)
      : d_(d), context_(context), kernel_(kernel), bytes_(bytes) {
    context_.use();
    CUmemAllocationProp p = properties(context.number());
    std::size_t unit = 0;
    must(d, d.granularity(&unit, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "cuMemGetAllocationGranularity");
    reserved_ = (bytes + unit - 1) / unit * unit;
    must(d, d.create(&handle_, reserved_, &p, 0), "allocating device memory");
    must(d, d.reserve(&pointer_, reserved_, 0, 0, 0), "cuMemAddressReserve");
    must(d, d.map(pointer_, reserved_, 0, handle_, 0), "cuMemMap");
    CUmemAccessDesc access{};
    access.location = p.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must(d, d.set_access(pointer_, reserved_, &access, 1), "cuMemSetAccess");
    must(d, d.export_handle(&fd_, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
         "exporting device memory to the worker");
  }
  ~CudaBuffer() override {
    if (fd_ >= 0) close(fd_);
    context_.use();
    d_.unmap(pointer_, reserved_);
    d_.unreserve(pointer_, reserved_);
    d_.release(handle_);
  }
  std::size_t bytes() const override { return bytes_; }
  std::size_t reserved() const override { return reserved_; }
  int descriptor(bool) const override { return fd_; }
  void upload(std::span<const std::byte> from) override {
    context_.use();
    must(d_, d_.to_device(pointer_, from.data(), from.size()), "copying inputs to the GPU");
  }
  void upload_later(std::span<const std::byte> from) override {
    context_.use();
    must(d_, d_.to_device_later(pointer_, from.data(), from.size(), nullptr), "copying inputs to the GPU");
  }
  void download(std::span<std::byte> to) override {
    context_.use();
    must(d_, d_.to_host(to.data(), pointer_, to.size()), "copying outputs from the GPU");
  }
  void poison(std::uint64_t seed, bool output) override {
    context_.use();
    kernel_.poison(pointer_, reserved_ / 4, seed, output);
    must(d_, d_.synchronize(), "poisoning outputs");
  }
  void wipe() override {
    context_.use();
    d_.set32(pointer_, 0, reserved_ / 4);  // a device that failed has nothing left to hide
    d_.synchronize();
  }
  CUdeviceptr address() const { return pointer_; }

 private:
  const Driver& d_;
  const Context& context_;
  const Kernel& kernel_;
  std::size_t bytes_, reserved_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr pointer_ = 0;
  int fd_ = -1;
};

class LockedMemory : public HostMemory {
 public:
  LockedMemory(SpareBlocks& blocks, std::size_t bytes) : blocks_(blocks), block_(blocks.take(bytes)), bytes_(bytes) {}
  ~LockedMemory() override { blocks_.give(block_); }
  std::span<std::byte> bytes() const override { return {static_cast<std::byte*>(block_.memory), bytes_}; }

 private:
  SpareBlocks& blocks_;
  SpareBlocks::Block block_;
  std::size_t bytes_;
};

// An eighth of the memory that is there.
std::size_t most_spare() { return static_cast<std::size_t>(free_host_bytes() / 8); }

class CudaDevice : public Device {
 public:
  CudaDevice(const Driver& d, int number)
      : d_(d),
        context_(d, number),
        kernel_(d),
        locked_(
            [this](std::size_t bytes) {
              context_.use();
              void* const memory = map_large_pages(bytes);
              if (memory == nullptr) must(d_, CUDA_ERROR_OUT_OF_MEMORY, "allocating page-locked memory");
              const CUresult locked = d_.host_register(memory, bytes, 0);
              if (locked != CUDA_SUCCESS) unmap_large_pages(memory, bytes);
              must(d_, locked, "page-locking memory");
              return memory;
            },
            [this](const SpareBlocks::Block& block) {
              context_.use();
              d_.host_unregister(block.memory);
              unmap_large_pages(block.memory, block.bytes);
            },
            most_spare()) {}
  ~CudaDevice() override {
    context_.use();
    if (flood_ != 0) d_.free(flood_);
  }
  DeviceInfo info() const override {
    DeviceInfo i;
    i.kind = DeviceKind::gpu;
    char name[128] = {};
    CUdevice device;
    int version = 0;
    context_.use();
    if (d_.device_get(&device, context_.number()) == CUDA_SUCCESS) d_.device_name(name, sizeof name, device);
    d_.version(&version);
    i.name = name;
    i.runtime = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    std::ifstream proc("/proc/driver/nvidia/version");
    std::getline(proc, i.driver);
    ProcessResult smi = run_process({"nvidia-smi", "--query-gpu=driver_version,clocks.sm,clocks.mem,temperature.gpu",
                                     "--format=csv,noheader", "-i", std::to_string(context_.number())},
                                    {}, {});
    if (smi.exit_code == 0) {
      auto comma = smi.output.find(", ");
      i.driver = smi.output.substr(0, comma);
      if (comma != std::string::npos) i.clocks = smi.output.substr(comma + 2, smi.output.find('\n') - comma - 2);
    }
    std::size_t free = 0, total = 0;
    d_.mem_info(&free, &total);
    i.memory = free;
    i.l2_bytes = l2_bytes();
    int major = 0, minor = 0;
    d_.attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    d_.attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    i.compute = fmt::format("{}.{}", major, minor);
    CUuuid id{};
    if (d_.uuid(&id, device) == CUDA_SUCCESS) i.uuid = text_of(id);
    return i;
  }
  std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes, lab::Place place) override {
    if (place != lab::Place::device) return std::make_unique<SharedHostBuffer>(bytes, true);
    return std::make_unique<CudaBuffer>(d_, context_, kernel_, bytes);
  }
  std::unique_ptr<HostMemory> host_memory(std::size_t bytes) override {
    return std::make_unique<LockedMemory>(locked_, bytes);
  }
  void aim_sample(const std::vector<OutputSample>& samples) override {
    context_.use();
    copies_.clear();
    host_samples_.clear();
    sample_ = 0;
    for (const OutputSample& c : samples) sample_ += c.width * c.rows;
    if (sample_ > room_) {
      arrived_ = std::make_unique<LockedMemory>(locked_, sample_);
      room_ = sample_;
    }
    std::size_t at = 0;
    for (const OutputSample& c : samples) {
      if (const auto* host = dynamic_cast<const SharedHostBuffer*>(c.buffer)) {
        host_samples_.push_back({host->data() + c.first, c, at});
        at += c.width * c.rows;
        continue;
      }
      CUDA_MEMCPY2D copy{};
      copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
      copy.srcDevice = static_cast<const CudaBuffer*>(c.buffer)->address() + c.first;
      copy.srcPitch = std::max(c.step, c.width);
      copy.dstMemoryType = CU_MEMORYTYPE_HOST;
      copy.dstHost = arrived_->bytes().data() + at;
      copy.dstPitch = c.width;
      copy.WidthInBytes = c.width;
      copy.Height = c.rows;
      copies_.push_back(copy);
      at += c.width * c.rows;
    }
  }
  std::vector<std::byte> take_sample() override {
    context_.use();
    for (const CUDA_MEMCPY2D& copy : copies_) must(d_, d_.copy_2d(&copy, nullptr), "sampling outputs");
    for (const HostSample& h : host_samples_)
      for (std::size_t r = 0; r < h.sample.rows; ++r)
        std::memcpy(arrived_->bytes().data() + h.at + r * h.sample.width, h.from + r * h.sample.step, h.sample.width);
    must(d_, d_.synchronize(), "sampling outputs");
    if (sample_ == 0) return {};
    return {arrived_->bytes().data(), arrived_->bytes().data() + sample_};
  }
  void warm_up(double seconds) override {
    context_.use();
    const std::size_t bytes = 4 * std::max<std::size_t>(l2_bytes(), 16 << 20);
    if (flood_ == 0) must(d_, d_.alloc(&flood_, bytes), "allocating device memory");
    double end = now() + seconds;
    do {
      kernel_.poison(flood_, bytes / 4, 0, false);
      must(d_, d_.synchronize(), "warming the GPU up");
    } while (now() < end);
  }
  void settle() override {
    context_.use();
    must(d_, d_.synchronize(), "copying inputs to the GPU");
  }
  std::span<std::byte> staging(std::size_t bytes, int piece) override {
    auto& memory = staging_[static_cast<std::size_t>(piece)];
    if (!memory || bytes > memory->bytes().size()) {
      memory.reset();
      memory = std::make_unique<LockedMemory>(locked_, bytes);
    }
    return memory->bytes().first(bytes);
  }

 private:
  std::size_t l2_bytes() const {
    CUdevice device;
    int bytes = 0;
    if (d_.device_get(&device, context_.number()) == CUDA_SUCCESS)
      d_.attribute(&bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
    return static_cast<std::size_t>(bytes);
  }
  static std::string text_of(const CUuuid& id) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      text += fmt::format("{:02x}", static_cast<unsigned char>(id.bytes[i]));
    }
    return text;
  }

  const Driver& d_;
  Context context_;
  Kernel kernel_;
  SpareBlocks locked_;  // before all that gives its memory back to it
  std::array<std::unique_ptr<LockedMemory>, 2> staging_;
  CUdeviceptr flood_ = 0;
  std::vector<CUDA_MEMCPY2D> copies_;
  struct HostSample {
    const std::byte* from;
    OutputSample sample;
    std::size_t at;  // in the sample
  };
  std::vector<HostSample> host_samples_;
  std::unique_ptr<LockedMemory> arrived_;
  std::size_t room_ = 0, sample_ = 0;
};

}  // namespace

bool cuda_available(std::string& why) { return load_driver(why) != nullptr; }

int cuda_devices() {
  std::string why;
  const Driver* d = load_driver(why);
  int count = 0;
  return d != nullptr && d->device_count(&count) == CUDA_SUCCESS ? count : 0;
}

std::unique_ptr<Device> make_cuda_device(int number) {
  std::string why;
  const Driver* d = load_driver(why);
  if (d == nullptr) throw Error(Exit::environment, "backend cuda: " + why, "use --backend cpu (the SIMT emulator)");
  return std::make_unique<CudaDevice>(*d, number);
}

}  // namespace ridge

#else

namespace ridge {

bool cuda_available(std::string& why) {
  why = "this ridge was built without the CUDA Toolkit";
  return false;
}

int cuda_devices() { return 0; }

std::unique_ptr<Device> make_cuda_device(int) {
  std::string why;
  cuda_available(why);
  throw Error(Exit::environment, "backend cuda: " + why,
              "use --backend cpu (the SIMT emulator), or install the CUDA Toolkit and build again");
}

}  // namespace ridge

#endif
