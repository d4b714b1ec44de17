// The communicator over MPI. Every blocking operation is a non-blocking call and one wait function, which
// also checks whether another rank has failed. A build without MPI has only the functions at the end.
#include "engine/exchange/communicator.hpp"

#if defined(SLUICE_HAVE_MPI)

#define OMPI_SKIP_MPICXX 1
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDataTag = 1, kFailureTag = 2;
/// How long an operation that is given up waits for pending messages in memory of its caller.
constexpr auto kDrainTime = std::chrono::seconds(1);
/// If work fails on all ranks alike, this rank may fail this much later than the first.
constexpr auto kGraceTime = std::chrono::milliseconds(200);

void check(int status, const char* label) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw RunError(fmt::format("MPI failed in {}: {}", label, std::string_view(text, length)));
}

/// First yields the core, perhaps to the rank that is waited for; then sleeps longer and longer.
void back_off(unsigned round) {
  constexpr unsigned kYields = 200, kLongest = 6;
  if (round < kYields) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(20u << std::min((round - kYields) / 16, kLongest)));
}

MPI_Op operation(Reduce op) {
  return op == Reduce::sum ? MPI_SUM : op == Reduce::min ? MPI_MIN : MPI_MAX;
}

/// An MPI communicator for one purpose, so that a collective that was given up disturbs no other.
class Channel {
 public:
  Channel() {
    MPI_Comm_dup(MPI_COMM_WORLD, &id_);
    MPI_Comm_set_errhandler(id_, MPI_ERRORS_RETURN);
  }
  MPI_Comm id() const { return id_; }

 private:
  MPI_Comm id_ = MPI_COMM_NULL;
};

/// Requests with the memory they use. If they are given up, it is kept until the process ends, because a
/// collective cannot be cancelled.
struct Pending {
  std::vector<MPI_Request> requests;
  std::size_t receives = 0;  ///< how many requests, the first ones, write to the caller's memory
  std::vector<std::byte> memory;

  MPI_Request* add() { return &requests.emplace_back(MPI_REQUEST_NULL); }
};

class Mpi final : public Communicator {
 public:
  explicit Mpi(const MpiOptions& options) : max_piece_(options.piece_bytes) {
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &topology_.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &topology_.size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, topology_.rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &topology_.node_rank);
    MPI_Comm_size(node, &topology_.node_size);
    topology_.node_leader = topology_.rank;
    MPI_Bcast(&topology_.node_leader, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
  }
  ~Mpi() override { close(); }

  void barrier(const char* label) override {
    ScopedTimer timer(*this);
    auto pending = std::make_unique<Pending>();
    check(MPI_Ibarrier(work_.id(), pending->add()), label);
    wait(std::move(pending), label);
  }

  void broadcast(std::span<std::byte> bytes, int root, const char* label) override {
    ScopedTimer timer(*this);
    // Small, because it is not charged to a budget. Longer pieces exceed the caches.
    constexpr std::uint64_t kMaxCopied = 8u << 20;
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min({kMaxCopied, max_piece_, std::uint64_t{bytes.size()}}));
      auto pending = std::make_unique<Pending>();
      pending->memory.assign(piece.begin(), piece.end());
      check(MPI_Ibcast(pending->memory.data(), static_cast<int>(piece.size()), MPI_BYTE, root, work_.id(),
                       pending->add()),
            label);
      const auto memory = wait(std::move(pending), label);
      if (rank() != root) std::copy(memory.begin(), memory.end(), piece.begin());
      bytes = bytes.subspan(piece.size());
      if (rank() == root) bytes_sent_ += piece.size() * static_cast<std::uint64_t>(size() - 1);
    }
  }

  void all_reduce(std::span<std::uint64_t> values, Reduce op, const char* label) override {
    reduce(values, MPI_UINT64_T, op, label);
  }
  void all_reduce(std::span<double> values, Reduce op, const char* label) override {
    reduce(values, MPI_DOUBLE, op, label);
  }

  std::vector<std::string> all_gather(const std::string& bytes, const char* label) override {
    ScopedTimer timer(*this);
    return gather(work_, bytes, label);
  }

  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive, const char* label) override {
    ScopedTimer timer(*this);
    exchange_known(work_, send, receive, label);
  }

  void announce_failure() noexcept override {
    if (std::exchange(failure_announced_, true)) return;
    announced_collectives_ = collectives_;
    for (int peer = 0; peer < size(); ++peer) {
      MPI_Request request;
      if (peer == rank()) continue;
      if (MPI_Isend(&announced_collectives_, 1, MPI_UINT64_T, peer, kFailureTag, control_.id(), &request) ==
          MPI_SUCCESS) {
        MPI_Request_free(&request);
      }
    }
  }

  void throw_if_failed(const char* label) override {
    if (poll_failures() && (failed_rank_is_behind() || Clock::now() - failure_seen_ > kGraceTime))
      throw PeerFailed(fmt::format("rank {} failed, in {} of rank {}", *failed_, label, rank()));
  }

  std::vector<std::string> final_gather(const std::string& bytes, Timeout timeout) noexcept override {
    try {
      return gather(final_, bytes, "the end of all ranks", timeout);
    } catch (...) {
      return {};
    }
  }

  void close() noexcept override {
    if (!std::exchange(closed_, true)) MPI_Finalize();
  }

  void abort(int status) noexcept override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 private:
  /// Adds the time of an operation to seconds().
  class ScopedTimer {
   public:
    explicit ScopedTimer(Mpi& owner) : owner_(owner) {}
    ~ScopedTimer() { owner_.seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }

   private:
    Mpi& owner_;
    Clock::time_point begin_ = Clock::now();
  };

  /// The one wait function. Returns the memory of the requests once all are complete. Throws PeerFailed if a
  /// rank failed before it did its part. A collective that all ranks have reached is completed: so if all
  /// ranks fail alike right after it, each reports its own failure. With `final_timeout`, a failure does not
  /// end the wait; the wait then lasts for at most `final_timeout` after a failure is known.
  std::vector<std::byte> wait(std::unique_ptr<Pending> pending, const char* label,
                              std::optional<Timeout> final_timeout = {}) {
    AwakeTime since_failure;
    collectives_ += final_timeout ? 0 : 1;
    for (unsigned round = 0;; ++round) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(pending->requests.size()), pending->requests.data(), &done,
                        MPI_STATUSES_IGNORE),
            label);
      if (done) return std::move(pending->memory);
      const bool failure = poll_failures() || failure_announced_;
      if (!final_timeout && (failure_announced_ || failed_rank_is_behind())) {
        abandon(std::move(pending));
        throw PeerFailed(fmt::format("rank {} failed while rank {} waited for {}", failed_.value_or(rank()),
                                     rank(), label));
      }
      if (final_timeout && failure && since_failure.update() > *final_timeout) {
        abandon(std::move(pending));
        throw RunError(
            fmt::format("waited {} s for {}, but not every rank arrived", final_timeout->count(), label));
      }
      back_off(round);
    }
  }

  /// Cancels receives in the caller's memory, and waits at most kDrain for requests that use it; keeps the
  /// requests and their own memory for good.
  void abandon(std::unique_ptr<Pending> pending) {
    auto& requests = pending->requests;
    for (std::size_t i = 0; i < pending->receives; ++i) {
      if (requests[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests[i]);
    }
    const auto end = Clock::now() + kDrainTime;
    for (int done = 0; !done && Clock::now() < end && pending->memory.empty();) {
      if (MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE) !=
          MPI_SUCCESS)
        break;
    }
    abandoned_.push_back(std::move(pending));
  }

  /// Receives the announcements of failed ranks; returns whether there is any.
  bool poll_failures() {
    for (int arrived = 1; arrived != 0;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, control_.id(), &arrived, &status);
      if (!arrived) break;
      std::uint64_t failed_collectives = 0;
      MPI_Recv(&failed_collectives, 1, MPI_UINT64_T, status.MPI_SOURCE, kFailureTag, control_.id(),
               MPI_STATUS_IGNORE);
      min_failed_collectives_ = std::min(min_failed_collectives_, failed_collectives);
      if (failed_) continue;
      failed_ = status.MPI_SOURCE;
      failure_seen_ = Clock::now();
    }
    return failed_.has_value();
  }

  /// Whether a rank failed before it did its part of a collective that this rank has reached.
  bool failed_rank_is_behind() const { return min_failed_collectives_ < collectives_; }

  template <class T>
  void reduce(std::span<T> values, MPI_Datatype type, Reduce op, const char* label) {
    ScopedTimer timer(*this);
    auto pending = std::make_unique<Pending>();
    const auto bytes = std::as_bytes(values);
    pending->memory.assign(bytes.begin(), bytes.end());
    check(MPI_Iallreduce(MPI_IN_PLACE, pending->memory.data(), static_cast<int>(values.size()), type,
                         operation(op), work_.id(), pending->add()),
          label);
    const auto memory = wait(std::move(pending), label);
    std::memcpy(values.data(), memory.data(), memory.size());
    bytes_sent_ += size() > 1 ? memory.size() : 0;
  }

  /// Exchanges the sizes first, and then the bytes.
  std::vector<std::string> gather(const Channel& channel, const std::string& bytes, const char* label,
                                  std::optional<Timeout> final_timeout = {}) {
    const auto ranks = static_cast<std::size_t>(size());
    auto sizes = std::make_unique<Pending>();
    sizes->memory.resize(2 * ranks * sizeof(std::uint64_t));
    auto* const own_sizes = reinterpret_cast<std::uint64_t*>(sizes->memory.data());
    std::fill_n(own_sizes, ranks, bytes.size());
    check(MPI_Ialltoall(own_sizes, 1, MPI_UINT64_T, own_sizes + ranks, 1, MPI_UINT64_T, channel.id(),
                        sizes->add()),
          label);
    const auto memory = wait(std::move(sizes), label, final_timeout);

    // Not charged to a budget: these are short texts, and the last words of ranks without memory.
    std::vector<std::string> all(ranks);
    std::vector<std::span<std::byte>> receive;
    for (std::size_t r = 0; r < ranks; ++r) {
      std::uint64_t count = 0;
      std::memcpy(&count, memory.data() + (ranks + r) * sizeof count, sizeof count);
      all[r].resize(count);
      receive.push_back(std::as_writable_bytes(std::span(all[r])));
    }
    exchange_known(channel, std::vector(ranks, std::as_bytes(std::span(bytes))), receive, label,
                   final_timeout);
    return all;
  }

  /// Sends all pieces at once, without a collective: both ends know the sizes.
  void exchange_known(const Channel& channel, std::span<const std::span<const std::byte>> send,
                      std::span<const std::span<std::byte>> receive, const char* label,
                      std::optional<Timeout> final_timeout = {}) {
    const auto ranks = static_cast<std::size_t>(size());
    auto pending = std::make_unique<Pending>();
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      std::byte* const memory = receive[peer].data();
      if (static_cast<int>(peer) == rank()) {
        std::ranges::copy(send[peer], memory);
        continue;
      }
      for_each_piece(receive[peer].size(), [&](std::uint64_t first, int length) {
        check(MPI_Irecv(memory + first, length, MPI_BYTE, static_cast<int>(peer), kDataTag, channel.id(),
                        pending->add()),
              label);
      });
    }
    pending->receives = pending->requests.size();
    for (std::size_t i = 0; i < ranks; ++i) {
      const std::size_t peer = (static_cast<std::size_t>(rank()) + i) % ranks;  // not all to rank 0 first
      if (static_cast<int>(peer) == rank()) continue;
      for_each_piece(send[peer].size(), [&](std::uint64_t first, int length) {
        check(MPI_Isend(send[peer].data() + first, length, MPI_BYTE, static_cast<int>(peer), kDataTag,
                        channel.id(), pending->add()),
              label);
      });
      bytes_sent_ += send[peer].size();
    }
    wait(std::move(pending), label, final_timeout);
  }

  template <class Use>
  void for_each_piece(std::uint64_t bytes, Use&& use) const {
    for (std::uint64_t first = 0; first < bytes; first += max_piece_) {
      use(first, static_cast<int>(std::min(max_piece_, bytes - first)));
    }
  }

  std::uint64_t max_piece_;
  Channel work_, control_, final_;
  bool failure_announced_ = false, closed_ = false;
  /// The number of collectives that this rank has done its part of; that number when it announced its
  /// failure; the least such number of all failed ranks. All ranks call the same ones in the same order.
  std::uint64_t collectives_ = 0, announced_collectives_ = 0, min_failed_collectives_ = ~std::uint64_t{0};
  std::optional<int> failed_;
  Clock::time_point failure_seen_{};
  std::vector<std::unique_ptr<Pending>> abandoned_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi(const MpiOptions& options) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    throw RunError("MPI cannot be initialised");
  }
  return std::make_unique<Mpi>(options);
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

}  // namespace sluice

#else

namespace sluice {

std::unique_ptr<Communicator> make_mpi(const MpiOptions&) {
  throw UsageError("this build has no MPI: install libopenmpi-dev and openmpi-bin, and build again");
}

std::string mpi_version() {
  return "not built";
}

}  // namespace sluice

#endif
