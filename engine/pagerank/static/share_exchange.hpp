// How every rank comes to know the contributions of all vertices: as a whole where most have changed, else
// only those that did.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exchange/share_by_owner.hpp"
#include "engine/pagerank/rank_graph.hpp"

namespace sluice::pagerank {

template <class Stored>
class ShareExchange {
 public:
  /// Keeps references.
  ShareExchange(Communicator& ranks, const RankGraph& graph) : ranks_(ranks), graph_(graph) {}

  /// Makes `all` [vertices] what the ranks have in `own` [own vertices]. `changed` is how many
  /// contributions, of all ranks, are not what `all` has. All ranks call it.
  void operator()(Stored* all, const Stored* own, std::uint64_t changed) {
    if (changed * kEntryBytes * kSparseAdvantage <= graph_.vertices() * sizeof(Stored)) {
      sparse(all, own);
    } else {
      dense(all, own);
    }
  }

 private:
  static constexpr std::uint64_t kEntryBytes = sizeof(Vertex) + sizeof(Stored);
  /// Entries are picked, copied and scattered one by one; whole ranges are not.
  static constexpr std::uint64_t kSparseAdvantage = 2;

  void dense(Stored* all, const Stored* own) {
    std::copy_n(own, graph_.in().vertices, all + graph_.first());
    share_by_owner(ranks_, graph_.owners(), all, "contributions");
  }

  void sparse(Stored* all, const Stored* own) {
    sent_.clear();
    for (std::uint64_t i = 0; i < graph_.in().vertices; ++i) {
      Stored& known = all[graph_.first() + i];
      if (known == own[i]) continue;
      known = own[i];
      put(static_cast<Vertex>(graph_.first() + i), own[i]);
    }
    std::vector<std::span<const std::byte>> send(static_cast<std::size_t>(ranks_.size()),
                                                 std::span<const std::byte>(sent_));
    send[static_cast<std::size_t>(ranks_.rank())] = {};
    ranks_.all_to_all(send, received_, "changed contributions");
    const auto entries = received_.bytes();
    for (std::size_t at = 0; at < entries.size(); at += kEntryBytes) {
      Vertex vertex;
      std::memcpy(&vertex, entries.data() + at, sizeof vertex);
      std::memcpy(all + vertex, entries.data() + at + sizeof vertex, sizeof(Stored));
    }
  }

  void put(Vertex vertex, Stored share) {
    const std::size_t at = sent_.size();
    sent_.resize(at + kEntryBytes);
    std::memcpy(sent_.data() + at, &vertex, sizeof vertex);
    std::memcpy(sent_.data() + at + sizeof vertex, &share, sizeof share);
  }

  Communicator& ranks_;
  const RankGraph& graph_;
  ChargedVector<std::byte> sent_;  ///< reused from iteration to iteration, as is the inbox
  Inbox received_;
};

}  // namespace sluice::pagerank
