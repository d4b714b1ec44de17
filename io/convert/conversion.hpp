// One conversion: read, sort, decide about compaction, write. `Record` carries what the graph stores of an
// edge.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/convert/convert.hpp"
#include "io/convert/edge_sorter.hpp"
#include "io/convert/id_set.hpp"
#include "io/convert/wide_ids.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::io {

template <class Record>
class Conversion {
 public:
  Conversion(EdgeSource& source, const std::string& output, const ConvertOptions& options);
  ConvertStats run();

 private:
  /// What a stretch of edges holds, learnt before any of it is stored.
  struct Survey {
    std::uint64_t largest_id = 0;
    std::uint64_t self_loops = 0;
  };

  void take_memory();
  void read(EdgeSource& source, EdgeBatch& batch);
  std::size_t take(const EdgeBatch& batch, std::size_t begin);
  std::vector<Survey> survey(const EdgeBatch& batch, std::size_t begin, std::size_t end) const;
  void store(const EdgeBatch& batch, std::size_t begin, std::size_t end, Record* to);
  std::uint64_t records_of(std::uint64_t edges, std::uint64_t self_loops) const;
  void share_memory(std::uint64_t ids);

  void read_wide(EdgeBatch& batch, std::size_t begin);
  void spool_sorted(EdgeSpool& spool);
  bool decide_compaction(std::uint64_t used, std::uint64_t first);
  void write();
  void write_original_ids(GraphWriter& writer);
  void report(const char* phase, double fraction) const;

  EdgeSource& source_;
  const std::string& output_;
  ConvertOptions options_;
  bool undirected_;
  std::uint64_t memory_ = 0;
  std::uint64_t block_records_ = 0;  ///< written at a time
  std::uint64_t id_limit_ = 0;       ///< ids from here on are wide
  bool track_ids_ = true;            ///< compaction is possible
  bool any_edge_ = false;
  std::uint64_t largest_id_ = 0;
  EdgeSorter<Record> sorter_;
  IdSet ids_;
  std::unique_ptr<IdList> wide_ids_;  ///< set once a wide id was met and the graph is compacted
  ConvertStats stats_;
};

extern template class Conversion<EdgeRecord<false, false>>;
extern template class Conversion<EdgeRecord<false, true>>;
extern template class Conversion<EdgeRecord<true, false>>;
extern template class Conversion<EdgeRecord<true, true>>;

}  // namespace sluice::io
