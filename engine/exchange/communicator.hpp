// The ranks of a job and what they send each other. Alone there is one rank, and nothing is sent.
// Every operation carries a label, so that a rank which waits in vain can say what it waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/timeout.hpp"

namespace sluice {

enum class Reduce { sum, min, max };

/// Another rank gave up, and sent word to the others: what this rank was doing cannot be finished. The
/// failure is not this rank's own, so it has nothing to report.
struct PeerFailed : RunError {
  using RunError::RunError;
};

/// Collective operations: all ranks call them, in the same order. A rank that works on is waited for however
/// long it takes; one that is lost, or stopped, is for NodeWatch and the launcher to see. All throw
/// PeerFailed where a rank failed and said so before it did its part; what they were given to fill is then
/// unspecified. One thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  /// Rank and size among the ranks of this machine, and the rank whose node rank is 0.
  int node_rank() const { return place_.node_rank; }
  int node_size() const { return place_.node_size; }
  int node_leader() const { return place_.node_leader; }
  bool leads() const { return place_.rank == 0; }

  virtual void barrier(const char* label) = 0;
  /// The `bytes` of all ranks become those of `root`; all ranks bring the same size.
  virtual void broadcast(std::span<std::byte> bytes, int root, const char* label) = 0;
  /// Element by element over the ranks; all ranks bring the same size.
  virtual void all_reduce(std::span<std::uint64_t> values, Reduce how, const char* label) = 0;
  virtual void all_reduce(std::span<double> values, Reduce how, const char* label) = 0;
  /// What each rank brought, by rank.
  virtual std::vector<std::string> all_gather(const std::string& bytes, const char* label) = 0;
  /// `send[r]` goes to rank r, where it is `receive[this]`: its size is known at both ends.
  virtual void exchange(std::span<const std::span<const std::byte>> send,
                        std::span<const std::span<std::byte>> receive, const char* label) = 0;
  /// The same for few bytes, as many for every rank: those at r * size go to rank r, where `size` is what
  /// `send` has for each.
  virtual void swap(std::span<const std::byte> send, std::span<std::byte> received, const char* label) = 0;

  /// Sends word to the other ranks that this one gives up; they learn of it wherever they wait or look.
  virtual void announce_failure() noexcept = 0;
  /// Throws PeerFailed if another rank has announced a failure. For long work between collectives.
  virtual void throw_if_failed(const char* label) = 0;
  /// As all_gather, and the last that is said: failed ranks take part. Where a rank has failed, the others
  /// are waited for no longer than `timeout`; empty if they did not all come.
  virtual std::vector<std::string> last_words(const std::string& bytes, Timeout timeout) noexcept = 0;
  /// Leaves in an orderly way; all ranks do.
  virtual void close() noexcept = 0;
  /// Ends all ranks at once with this exit status.
  virtual void abort(int status) noexcept = 0;

  /// Seconds spent here, and bytes sent to other ranks.
  double seconds() const { return seconds_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 protected:
  struct Place {
    int rank = 0, size = 1, node_rank = 0, node_size = 1, node_leader = 0;
  };
  Place place_;
  double seconds_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

/// The text of `root`, on every rank.
std::string broadcast_text(Communicator& ranks, std::string text, int root, const char* label);

/// A job of one rank.
std::unique_ptr<Communicator> make_alone();

/// What differs only in tests.
struct MpiOptions {
  std::uint64_t piece_bytes = std::uint64_t{1} << 30;  ///< no message is longer (MPI counts in int)
};
/// All that the MPI launcher started; initialises MPI. Throws UsageError where this build has none.
std::unique_ptr<Communicator> make_mpi(const MpiOptions& options = {});

/// The MPI library's name and version for `--version`, or "not built".
std::string mpi_version();

}  // namespace sluice
