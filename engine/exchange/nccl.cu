#include "engine/exchange/nccl.hpp"

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "engine/exec/backend.hpp"
#include "engine/exec/cuda_check.cuh"

#if __has_include(<nccl.h>)
#define SLUICE_HAVE_NCCL 1
#include <dlfcn.h>
#include <nccl.h>
#endif

namespace sluice {

#if defined(SLUICE_HAVE_NCCL)

namespace {

/// The functions of NCCL that are used; `loaded` is false if the library or one of them is missing.
struct Nccl {
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  bool loaded = library != nullptr;
  decltype(&ncclGetVersion) get_version = find("ncclGetVersion");
  decltype(&ncclGetErrorString) error_string = find("ncclGetErrorString");
  decltype(&ncclGetUniqueId) unique_id = find("ncclGetUniqueId");
  decltype(&ncclCommInitRankConfig) init_rank = find("ncclCommInitRankConfig");
  decltype(&ncclCommDestroy) destroy = find("ncclCommDestroy");
  decltype(&ncclCommAbort) abort = find("ncclCommAbort");
  decltype(&ncclCommGetAsyncError) async_error = find("ncclCommGetAsyncError");
  decltype(&ncclGroupStart) group_start = find("ncclGroupStart");
  decltype(&ncclGroupEnd) group_end = find("ncclGroupEnd");
  decltype(&ncclBroadcast) broadcast = find("ncclBroadcast");
  decltype(&ncclAllGather) all_gather = find("ncclAllGather");
  decltype(&ncclReduceScatter) reduce_scatter = find("ncclReduceScatter");
  decltype(&ncclSend) send = find("ncclSend");
  decltype(&ncclRecv) receive = find("ncclRecv");

 private:
  /// The address of a function, as the type that is asked for.
  struct Symbol {
    void* address;
    template <class Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol find(const char* name) {
    void* const address = loaded ? dlsym(library, name) : nullptr;
    loaded = address != nullptr;
    return {address};
  }
};

const Nccl& nccl() {
  static const Nccl library;
  return library;
}

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess)
    throw RunError(std::string("NCCL: ") + call + ": " + nccl().error_string(status));
}

std::atomic<std::uint64_t> max_nccl_bytes{0};  ///< bytes, by NCCL for itself

std::uint64_t free_bytes() {
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

class NcclRanks final : public DeviceRanks {
 public:
  NcclRanks(Communicator& ranks, unsigned max_blocks)
      : ranks_(ranks), rank_(ranks.rank()), size_(ranks.size()) {
    ncclUniqueId id{};
    if (ranks.is_root()) check(nccl().unique_id(&id), "ncclGetUniqueId");
    ranks.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0, "NCCL's address");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (max_blocks > 0) {
      config.maxCTAs = static_cast<int>(max_blocks);
      config.cgaClusterSize = 0;  // a cluster would need free multiprocessors close together
    }
    check(nccl().init_rank(&comm_, size_, id, rank_, &config), "ncclCommInitRankConfig");
  }
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;
  ~NcclRanks() override {
    if (comm_ == nullptr) return;
    const std::uint64_t before = free_bytes();
    nccl().destroy(comm_);
    const std::uint64_t after = free_bytes();
    if (before > 0 && after > before) max_nccl_bytes = std::max(max_nccl_bytes.load(), after - before);
  }

  /// Connects the GPUs before the first round. NCCL connects them when an operation first needs it, in
  /// different ways for short and long messages, which takes half a second.
  void connect() {
    constexpr std::size_t kLong = std::size_t{4} << 20, kAll = std::size_t{64} << 20;
    const auto size = static_cast<std::size_t>(size_);
    const std::size_t longest = std::min(kLong, kAll / size);
    std::byte* memory = nullptr;
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&memory), 2 * size * longest), "connecting GPUs");
    for (const std::size_t part_bytes : {sizeof(std::uint64_t), longest}) {
      const std::vector<std::uint64_t> bytes(size, part_bytes);
      std::vector<ElementRange> ranges;
      for (std::size_t r = 0; r < size; ++r) ranges.push_back({r, r + 1});
      all_to_all(memory, 0, bytes, memory + size * part_bytes, bytes, nullptr);
      all_gather_ranges(memory, ranges, part_bytes, nullptr);
      all_gather(memory + static_cast<std::size_t>(rank_) * part_bytes, memory + size * part_bytes,
                 part_bytes, nullptr);
    }
    wait(nullptr, "connecting GPUs");
    cuda::check(cudaFree(memory), "connecting GPUs");
    bytes_sent_ = 0;
  }

  void all_gather_ranges(void* memory, std::span<const ElementRange> ranges, std::size_t element_bytes,
                         void* stream) override {
    check(nccl().group_start(), "ncclGroupStart");
    for (int root = 0; root < size_; ++root) {
      const ElementRange range = ranges[static_cast<std::size_t>(root)];
      const std::size_t bytes = (range.end - range.begin) * element_bytes;
      if (bytes == 0) continue;
      void* const elements = static_cast<std::byte*>(memory) + range.begin * element_bytes;
      check(nccl().broadcast(elements, elements, bytes, ncclInt8, root, comm_,
                             static_cast<cudaStream_t>(stream)),
            "ncclBroadcast");
      if (root == rank_) bytes_sent_ += bytes * static_cast<std::uint64_t>(size_ - 1);
    }
    check(nccl().group_end(), "ncclGroupEnd");
  }

  void all_gather(const void* from, void* to, std::size_t bytes, void* stream) override {
    check(nccl().all_gather(from, to, bytes, ncclInt8, comm_, static_cast<cudaStream_t>(stream)),
          "ncclAllGather");
    bytes_sent_ += bytes * static_cast<std::uint64_t>(size_ - 1);
  }

  void all_to_all(const void* from, std::uint64_t stride, std::span<const std::uint64_t> send, void* to,
                  std::span<const std::uint64_t> receive, void* stream) override {
    const auto cuda_stream = static_cast<cudaStream_t>(stream);
    const auto* out = static_cast<const std::byte*>(from);
    auto* in = static_cast<std::byte*>(to);
    check(nccl().group_start(), "ncclGroupStart");
    for (int peer = 0; peer < size_; ++peer) {
      const auto p = static_cast<std::size_t>(peer);
      if (peer == rank_) {
        if (send[p] > 0)
          cuda::check(cudaMemcpyAsync(in, out, send[p], cudaMemcpyDeviceToDevice, cuda_stream),
                      "a copy on the GPU");
      } else {
        if (send[p] > 0) check(nccl().send(out, send[p], ncclInt8, peer, comm_, cuda_stream), "ncclSend");
        if (receive[p] > 0)
          check(nccl().receive(in, receive[p], ncclInt8, peer, comm_, cuda_stream), "ncclRecv");
        bytes_sent_ += send[p];
      }
      out += stride > 0 ? stride : send[p], in += receive[p];
    }
    check(nccl().group_end(), "ncclGroupEnd");
  }

  void reduce_scatter_min(std::uint32_t* values, std::uint64_t per_rank, void* stream) override {
    check(nccl().reduce_scatter(values, values + static_cast<std::uint64_t>(rank_) * per_rank, per_rank,
                                ncclUint32, ncclMin, comm_, static_cast<cudaStream_t>(stream)),
          "ncclReduceScatter");
    bytes_sent_ += per_rank * sizeof(std::uint32_t) * static_cast<std::uint64_t>(size_ - 1);
  }

  void throw_if_failed(const char* label) override {
    ranks_.throw_if_failed(label);
    ncclResult_t status = ncclSuccess;
    check(nccl().async_error(comm_, &status), "ncclCommGetAsyncError");
    check(status, "another GPU");
  }

  void abort() noexcept override {
    if (comm_ != nullptr) nccl().abort(comm_);
    comm_ = nullptr;
  }

 private:
  Communicator& ranks_;
  int rank_, size_;
  ncclComm_t comm_ = nullptr;
};

/// A name of this rank's GPU that is unique among all machines.
std::string name_of_gpu(const Communicator& ranks) {
  int gpu = 0;
  cuda::check(cudaGetDevice(&gpu), "cudaGetDevice");
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties");
  return std::to_string(ranks.node_leader()) + std::string(properties.uuid.bytes, sizeof properties.uuid);
}

}  // namespace

std::unique_ptr<DeviceRanks> make_device_ranks(Communicator& ranks, unsigned max_blocks) {
  if (ranks.size() == 1) return nullptr;
  const std::string own_name = nccl().loaded ? name_of_gpu(ranks) : std::string();
  const auto all = ranks.all_gather(own_name, "the GPUs of all ranks");
  const std::set<std::string> distinct(all.begin(), all.end());
  if (distinct.size() < all.size() || distinct.contains(std::string())) return nullptr;
  auto link = std::make_unique<NcclRanks>(ranks, max_blocks);
  link->connect();
  return link;
}

std::uint64_t nccl_device_bytes() {
  return max_nccl_bytes;
}

std::string nccl_version() {
  int version = 0;
  if (!nccl().loaded || nccl().get_version(&version) != ncclSuccess) return "not found";
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

#else

std::unique_ptr<DeviceRanks> make_device_ranks(Communicator&, unsigned) {
  return nullptr;
}

std::uint64_t nccl_device_bytes() {
  return 0;
}

std::string nccl_version() {
  return "not built";
}

#endif

}  // namespace sluice
