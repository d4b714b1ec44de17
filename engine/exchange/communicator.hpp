// The ranks of a job and the messages between them. A job of one rank sends nothing.
// Every operation has a label, so that a rank that waits in vain can say what it waited for.
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

/// Another rank failed and announced it: this rank cannot finish its operation. The failure is not this
/// rank's own, so it has nothing to report.
struct PeerFailed : RunError {
  using RunError::RunError;
};

/// Collective operations: all ranks call them, in the same order. They wait for a working rank however long
/// it takes; NodeWatch and the launcher detect ranks that are lost or stopped. All throw PeerFailed if a rank
/// announced a failure before it did its part; the memory they were to fill is then unspecified. One thread
/// at a time calls them.
class Communicator {
 public:
  virtual ~Communicator() = default;

  int rank() const { return topology_.rank; }
  int size() const { return topology_.size; }
  /// Rank and size among the ranks of this node (machine), and the rank in the job of node rank 0.
  int node_rank() const { return topology_.node_rank; }
  int node_size() const { return topology_.node_size; }
  int node_leader() const { return topology_.node_leader; }
  bool is_root() const { return topology_.rank == 0; }

  virtual void barrier(const char* label) = 0;
  /// Copies the `bytes` of `root` to all ranks; all ranks give the same size.
  virtual void broadcast(std::span<std::byte> bytes, int root, const char* label) = 0;
  /// Reduces element by element over the ranks; all ranks give the same size.
  virtual void all_reduce(std::span<std::uint64_t> values, Reduce op, const char* label) = 0;
  virtual void all_reduce(std::span<double> values, Reduce op, const char* label) = 0;
  /// Returns the bytes of each rank, by rank; their sizes may differ.
  virtual std::vector<std::string> all_gather(const std::string& bytes, const char* label) = 0;
  /// Sends `send[r]` to rank r, which receives it in its `receive[this rank]`; both must know its size.
  virtual void exchange(std::span<const std::span<const std::byte>> send,
                        std::span<const std::span<std::byte>> receive, const char* label) = 0;
  /// The same for few bytes, equally many for every rank: the r-th of size() equal parts of `send` goes to
  /// rank r, and the r-th part of `received` comes from it.
  void all_to_all(std::span<const std::byte> send, std::span<std::byte> received, const char* label);

  /// Announces this rank's failure to the others, which notice it in a wait or in throw_if_failed().
  virtual void announce_failure() noexcept = 0;
  /// Throws PeerFailed if another rank has announced a failure. For long work between collectives.
  virtual void throw_if_failed(const char* label) = 0;
  /// As all_gather(), as the last message: failed ranks take part too. After a rank has failed, it waits for
  /// the others for at most `timeout`; the result is empty if not all take part.
  virtual std::vector<std::string> final_gather(const std::string& bytes, Timeout timeout) noexcept = 0;
  /// Ends communication in an orderly way; all ranks call it.
  virtual void close() noexcept = 0;
  /// Ends all ranks at once with this exit status.
  virtual void abort(int status) noexcept = 0;

  /// Seconds spent in these operations, and bytes sent to other ranks.
  double seconds() const { return seconds_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 protected:
  struct Topology {
    int rank = 0, size = 1, node_rank = 0, node_size = 1, node_leader = 0;
  };
  Topology topology_;
  double seconds_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

/// Returns the text of `root` on every rank.
std::string broadcast_text(Communicator& ranks, std::string text, int root, const char* label);

/// A job of one rank.
std::unique_ptr<Communicator> make_single_rank();
/// `ranks`, or a job of one rank if that is null.
Communicator& ranks_or_single(Communicator* ranks);

/// Options that only tests change.
struct MpiOptions {
  std::uint64_t piece_bytes = std::uint64_t{1} << 30;  ///< no message is longer (MPI counts in int)
};
/// All ranks that the MPI launcher started; initialises MPI. Throws UsageError if this build has no MPI.
std::unique_ptr<Communicator> make_mpi(const MpiOptions& options = {});

/// The MPI library's name and version for `--version`, or "not built".
std::string mpi_version();

}  // namespace sluice
