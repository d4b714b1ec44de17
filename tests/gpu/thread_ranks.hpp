// Ranks that are threads of this process and share its GPU, which NCCL does not allow: what the engine makes
// of ranks with a GPU each can be tested on one.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/exchange/communicator.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/exec/cuda_check.cuh"

namespace sluice::test {

/// Where threads lay down what the others shall see. A thread that throws ends the process: others wait.
class Meeting {
 public:
  explicit Meeting(int size) : barrier_(size), boards_(static_cast<std::size_t>(size)) {}

  int size() const { return static_cast<int>(boards_.size()); }
  /// Shows `mine` to the others; `read(rank, theirs)` for every rank, while all still have it.
  template <class T>
  void exchange(int rank, const T& mine, const std::function<void(std::size_t, const T&)>& read) {
    boards_[static_cast<std::size_t>(rank)] = &mine;
    barrier_.arrive_and_wait();
    for (std::size_t r = 0; r < boards_.size(); ++r) read(r, *static_cast<const T*>(boards_[r]));
    barrier_.arrive_and_wait();
  }

  /// Runs body(rank) on a thread for every rank.
  static void run(int size, const std::function<void(int, Meeting&)>& body) {
    Meeting meeting(size);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) threads.emplace_back([&, rank] { body(rank, meeting); });
  }

 private:
  std::barrier<> barrier_;
  std::vector<const void*> boards_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(int rank, Meeting& meeting) : meeting_(meeting) {
    place_.rank = place_.node_rank = rank;
    place_.size = place_.node_size = meeting.size();
  }

  void barrier(const char*, Patience) override {
    meeting_.exchange<int>(rank(), 0, [](std::size_t, const int&) {});
  }
  void broadcast(std::span<std::byte> bytes, int root, const char*, Patience) override {
    meeting_.exchange<std::span<std::byte>>(rank(), bytes, [&](std::size_t r, const auto& theirs) {
      if (static_cast<int>(r) == root && rank() != root) std::ranges::copy(theirs, bytes.begin());
    });
  }
  void all_reduce(std::span<std::uint64_t> values, Reduce how, const char*, Patience) override {
    reduce(values, how);
  }
  void all_reduce(std::span<double> values, Reduce how, const char*, Patience) override {
    reduce(values, how);
  }
  std::vector<std::string> all_gather(const std::string& bytes, const char*, Patience) override {
    std::vector<std::string> all;
    meeting_.exchange<std::string>(rank(), bytes,
                                   [&](std::size_t, const std::string& theirs) { all.push_back(theirs); });
    return all;
  }
  void all_to_all(std::span<const std::span<const std::byte>> send, std::vector<std::byte>& received,
                  std::vector<std::uint64_t>& received_bytes, const char*, Patience) override {
    received.clear(), received_bytes.clear();
    meeting_.exchange<std::span<const std::span<const std::byte>>>(
        rank(), send, [&](std::size_t, const auto& theirs) {
          const auto part = theirs[static_cast<std::size_t>(rank())];
          received.insert(received.end(), part.begin(), part.end());
          received_bytes.push_back(part.size());
        });
  }
  void announce_failure() noexcept override {}
  void throw_if_failed(const char*) override {}
  std::vector<std::string> last_words(const std::string& bytes, Patience) noexcept override {
    return {bytes};
  }
  void close() noexcept override {}
  void abort(int status) noexcept override { std::_Exit(status); }

 private:
  template <class T>
  void reduce(std::span<T> values, Reduce how) {
    const std::vector<T> mine(values.begin(), values.end());
    meeting_.exchange<std::vector<T>>(rank(), mine, [&](std::size_t r, const std::vector<T>& theirs) {
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (r == 0) {
          values[i] = theirs[i];
        } else if (how == Reduce::sum) {
          values[i] += theirs[i];
        } else {
          values[i] = how == Reduce::min ? std::min(values[i], theirs[i]) : std::max(values[i], theirs[i]);
        }
      }
    });
  }

  Meeting& meeting_;
};

/// Copies within the GPU's memory.
class ThreadDeviceRanks final : public DeviceRanks {
 public:
  ThreadDeviceRanks(int rank, Meeting& meeting) : rank_(rank), meeting_(meeting) {}

  void all_gather_ranges(void*, const std::vector<std::uint64_t>&, std::size_t, void*) override {
    throw std::logic_error("walks gather no ranges");
  }
  void all_gather(const void* from, void* to, std::size_t bytes, void* stream) override {
    wait(stream, "a test");
    meeting_.exchange<const void*>(rank_, from, [&](std::size_t r, const void* const& theirs) {
      copy(static_cast<std::byte*>(to) + r * bytes, theirs, bytes);
    });
  }
  void all_to_all(const void* from, std::span<const std::uint64_t> send, void* to,
                  std::span<const std::uint64_t> receive, void* stream) override {
    wait(stream, "a test");
    const Parcel mine{static_cast<const std::byte*>(from), send};
    auto* at = static_cast<std::byte*>(to);
    meeting_.exchange<Parcel>(rank_, mine, [&](std::size_t r, const Parcel& theirs) {
      const auto own = static_cast<std::ptrdiff_t>(rank_);
      if (theirs.sizes[static_cast<std::size_t>(rank_)] != receive[r])
        throw std::logic_error("ranks disagree on what goes from one to the other");
      const auto before = std::accumulate(theirs.sizes.begin(), theirs.sizes.begin() + own, std::uint64_t{0});
      copy(at, theirs.from + before, receive[r]);
      at += receive[r];
    });
  }
  void reduce_scatter_min(std::uint32_t* values, std::uint64_t each, void* stream) override {
    wait(stream, "a test");
    const std::uint64_t first = static_cast<std::uint64_t>(rank_) * each;
    std::vector<std::uint32_t> least(each, ~0u), part(each);
    meeting_.exchange<std::uint32_t*>(rank_, values, [&](std::size_t, std::uint32_t* const& theirs) {
      copy(part.data(), theirs + first, each * sizeof(std::uint32_t));
      for (std::uint64_t i = 0; i < each; ++i) least[i] = std::min(least[i], part[i]);
    });
    copy(values + first, least.data(), each * sizeof(std::uint32_t));
  }
  void throw_if_failed(const char*) override {}
  void abort() noexcept override {}

 private:
  struct Parcel {
    const std::byte* from;
    std::span<const std::uint64_t> sizes;
  };

  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    cuda::check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "a copy between ranks");
    cuda::check(cudaDeviceSynchronize(), "a copy between ranks");
  }

  int rank_;
  Meeting& meeting_;
};

}  // namespace sluice::test
