// Sorts more edges than memory holds: full buffers are sorted, freed of duplicates and written to scratch as
// runs, and the runs are merged. Runs are numbered in input order and ties go to the lower number, so that
// equal edges keep the input order without storing it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/memory/scratch_file.hpp"
#include "engine/exec/thread_pool.hpp"
#include "io/convert/sorted_edges.hpp"

namespace sluice::io {

struct SorterOptions {
  bool drop_duplicates = true;  ///< the first in input order stays
  bool undirected = false;      ///< records come in mirrored pairs: count a dropped pair once
  unsigned threads = 1;
  std::string scratch = ".";
};

/// Consecutive records of a scratch file.
struct Run {
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t records = 0;
};

template <class Record>
class EdgeSorter final : public SortedEdges<Record> {
 public:
  explicit EdgeSorter(SorterOptions options) : options_(std::move(options)) {}

  /// Sets the number of records expected in total: their memory is allocated at once.
  void expect_records(std::uint64_t records) { expected_ = records; }
  /// Sets the bytes that buffers may take from now on; records that no longer fit are spilled.
  void set_memory(std::uint64_t bytes);
  /// Most records that one call of add() may request.
  std::uint64_t capacity() const { return memory_ / (2 * sizeof(Record)); }

  /// Returns space for `count` more records, in input order; valid until the next call.
  Record* add(std::uint64_t count);
  /// Ends the input and sorts all records.
  void finish();

  // After finish():
  void scan(const std::function<void(std::span<const Record>)>& visit) override;
  void reverse() override;
  std::uint64_t size() const override { return size_; }

  std::uint64_t dropped() const override { return dropped_; }
  std::uint64_t runs() const { return spilled_; }

 private:
  struct Merge;

  /// Whether a dropped record is that of its pair which counts.
  bool is_counted(const Record& record) const {
    return !options_.undirected || record.source() <= record.target();
  }
  void grow(std::uint64_t wanted);
  void sort_buffer(std::uint64_t spare_records);
  void deduplicate_pieces();
  void spill();
  void wait_for_spill();
  void merge_all();
  std::vector<Merge> adjacent_merges(std::uint64_t fan_in) const;
  std::vector<Merge> range_merges(std::uint64_t count) const;
  std::uint64_t key_at(const Run& run, std::uint64_t record) const;
  std::uint64_t lower_bound(const Run& run, std::uint64_t key) const;
  void merge(std::vector<Merge> merges);
  void merge_one(Merge& merge, const ScratchFile& merged, std::uint64_t block) const;

  SorterOptions options_;
  std::uint64_t memory_ = 0;
  HostArray<Record> buffer_, spare_;
  std::uint64_t used_ = 0;  ///< records in buffer_
  std::uint64_t expected_ = 0;
  std::vector<std::span<Record>> pieces_;  ///< sorted parts of buffer_; the gaps held duplicates
  std::unique_ptr<ScratchFile> file_;      ///< holds runs_
  std::vector<Run> runs_;                  ///< after finish() one after the other in record order
  std::unique_ptr<Background> spilling_;   ///< writes the run that lies in spare_
  std::uint64_t size_ = 0, dropped_ = 0, spilled_ = 0, spilled_bytes_ = 0;
};

extern template class EdgeSorter<EdgeRecord<false, false>>;
extern template class EdgeSorter<EdgeRecord<false, true>>;
extern template class EdgeSorter<EdgeRecord<true, false>>;
extern template class EdgeSorter<EdgeRecord<true, true>>;

}  // namespace sluice::io
