// Ranks that are threads of this process. They count the bytes that MPI would send (engine/exchange/mpi.cpp).
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice::test {

/// A board on which threads show data to each other. A thread that throws ends the process, since others
/// wait.
class Meeting {
 public:
  explicit Meeting(int size) : barrier_(size), boards_(static_cast<std::size_t>(size)) {}

  int size() const { return static_cast<int>(boards_.size()); }
  /// Shows `own` to the others, and calls `read(rank, theirs)` for every rank while all data exists.
  template <class T>
  void exchange(int rank, const T& own, const std::function<void(std::size_t, const T&)>& read) {
    boards_[static_cast<std::size_t>(rank)] = &own;
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
    topology_.rank = topology_.node_rank = rank;
    topology_.size = topology_.node_size = meeting.size();
  }

  void barrier(const char*) override {
    meeting_.exchange<int>(rank(), 0, [](std::size_t, const int&) {});
  }
  void broadcast(std::span<std::byte> bytes, int root, const char*) override {
    meeting_.exchange<std::span<std::byte>>(rank(), bytes, [&](std::size_t r, const auto& theirs) {
      if (static_cast<int>(r) == root && rank() != root) std::ranges::copy(theirs, bytes.begin());
    });
    if (rank() == root) bytes_sent_ += bytes.size() * others();
  }
  void all_reduce(std::span<std::uint64_t> values, Reduce op, const char*) override { reduce(values, op); }
  void all_reduce(std::span<double> values, Reduce op, const char*) override { reduce(values, op); }
  std::vector<std::string> all_gather(const std::string& bytes, const char*) override {
    std::vector<std::string> all;
    meeting_.exchange<std::string>(rank(), bytes,
                                   [&](std::size_t, const std::string& theirs) { all.push_back(theirs); });
    bytes_sent_ += bytes.size() * others();
    return all;
  }
  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive, const char*) override {
    count(send);
    meeting_.exchange<std::span<const std::span<const std::byte>>>(
        rank(), send, [&](std::size_t r, const auto& theirs) {
          std::ranges::copy(theirs[static_cast<std::size_t>(rank())], receive[r].begin());
        });
  }
  void announce_failure() noexcept override {}
  void throw_if_failed(const char*) override {}
  std::vector<std::string> final_gather(const std::string& bytes, Timeout) noexcept override {
    return {bytes};
  }
  void close() noexcept override {}
  void abort(int status) noexcept override { std::_Exit(status); }

 private:
  std::uint64_t others() const { return static_cast<std::uint64_t>(size()) - 1; }
  void count(std::span<const std::span<const std::byte>> send) {
    for (std::size_t r = 0; r < send.size(); ++r)
      if (static_cast<int>(r) != rank()) bytes_sent_ += send[r].size();
  }

  template <class T>
  void reduce(std::span<T> values, Reduce op) {
    if (size() > 1) bytes_sent_ += values.size_bytes();
    const std::vector<T> own(values.begin(), values.end());
    meeting_.exchange<std::vector<T>>(rank(), own, [&](std::size_t r, const std::vector<T>& theirs) {
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (r == 0) {
          values[i] = theirs[i];
        } else if (op == Reduce::sum) {
          values[i] += theirs[i];
        } else {
          values[i] = op == Reduce::min ? std::min(values[i], theirs[i]) : std::max(values[i], theirs[i]);
        }
      }
    });
  }

  Meeting& meeting_;
};

}  // namespace sluice::test
