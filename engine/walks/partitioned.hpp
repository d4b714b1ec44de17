// A walk's step where only some partitions are present. A walk goes on while its list is present, otherwise
// it is parked. A scan that needs two lists parks until both are present. Written once for host and device.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>

#include "engine/batch/starts_view.hpp"
#include "engine/graph/residency.hpp"
#include "engine/select/tables.hpp"
#include "engine/walks/step.hpp"
#include "engine/walks/whole.hpp"

namespace sluice::walks {

/// A proposal whose question could not be answered by the partitions that were present.
struct ParkedQuestion {
  Vertex target = kNoVertex;  ///< kNoVertex: none
  std::uint32_t index = 0;    ///< of the target in the current vertex's list
};

/// Replaces the arrays that a program reads by edge position by those of one partition.
inline IndexTable<CsrEdges> on_page(const IndexTable<CsrEdges>& table, const PageView&) {
  return table;
}
inline CodedIndexTable on_page(const CodedIndexTable&, const PageView& page) {
  return {{page.coded}};
}
inline CodedAliasTable on_page(const CodedAliasTable& table, const PageView& page) {
  return {{page.coded}, table.thresholds};
}
inline CtpsTable<CsrEdges> on_page(const CtpsTable<CsrEdges>& table, const PageView& page) {
  return {table.edges, page.cumulative};
}
inline AliasTable on_page(const AliasTable&, const PageView& page) {
  return {page.thresholds, page.others};
}
inline WideAliasTable on_page(const WideAliasTable&, const PageView& page) {
  return {page.wide_alias};
}
template <class Table>
concept PageableTable = requires(const Table& table, const PageView& page) {
  on_page(table, page);
};

template <class Sampler, class Table, Acceptance kAcceptance>
requires PageableTable<Table> WalkProgram<Sampler, Table, kAcceptance> on_page(
    WalkProgram<Sampler, Table, kAcceptance> program, const PageView& page) {
  program.graph.csr.targets = page.targets;
  program.graph.csr.weights = page.weights;
  program.table = on_page(program.table, page);
  return program;
}

/// True if the program draws from coded lists. Only partitions have them; shards with them are never
/// resident.
template <class Program>
inline constexpr bool kReadsCodes = false;
template <class Sampler, std::derived_from<CodedTable> Table, Acceptance kAcceptance>
inline constexpr bool kReadsCodes<WalkProgram<Sampler, Table, kAcceptance>> = true;

template <class Program>
concept PageableProgram = requires(const Program& program, const PageView& page) {
  on_page(program, page);
};

// Requirements on a program whose walks write no path (Program::kEndsOnly), but a row of two words: the last
// vertex and the number of steps. Its walks may end at any step, so their length does not bound memory.
//   Walker                       a walks::Walker with the program's own data of a walk
//   identify(instance, walker)   makes `walker` that of this walk, at any of its steps
//   start(walker)                returns the first vertex
// and the members of a WalkProgram that are used if it neither rejects nor scans.
inline constexpr std::uint32_t kEndWords = 2;

/// A batch of walks of any program; passed to kernels by value.
struct ActiveWalks : Partitioned {
  StartsView starts;
  // A batch has equally many instances of each origin rank, which writes their rows; one rank is one origin.
  const Instance* origins = nullptr;             ///< [origins] the first instance of each
  const std::uint64_t* origin_counts = nullptr;  ///< [origins] how many of `per_origin` exist
  std::uint64_t per_origin = 1;
  std::uint32_t length = 0;
  std::uint32_t leg_begin = 0, leg_end = 0;  ///< the current leg has steps (leg_begin, leg_end]
  std::uint32_t partitions = 0;
  std::uint32_t own_begin = 0, own_end = 0;  ///< partitions that this rank works on

  // The key of a walk is the partition that it waits for, or one of these.
  SLUICE_HD std::uint32_t ended_key() const { return partitions; }
  SLUICE_HD std::uint32_t pair_key() const { return partitions + 1; }  ///< needs two partitions at once
  SLUICE_HD std::uint32_t next_leg_key() const { return partitions + 2; }

  SLUICE_HD Instance instance(std::uint64_t index) const {
    return origins[index / per_origin] + index % per_origin;
  }
  SLUICE_HD bool exists(std::uint64_t index) const {
    return index % per_origin < origin_counts[index / per_origin];
  }
};

/// A batch of walks, with everything that a round needs.
template <class Program>
struct WalksOn<Program, Partitioned> : ActiveWalks {
  using WalkProgram = Program;
  using Walker = typename Program::Walker;

  const Program* programs = nullptr;  ///< [slots] each reads the edges of its slot's partition

  /// True if a step may have to wait for another list, to answer a question or to scan.
  static constexpr bool kNeedsOtherLists = Program::kScans;

  /// True if answering a question does not read the walk's own list. Its row is then read afterwards, and
  /// only if the walk did not move.
  static constexpr bool kAnswersWithoutOwnList =
      kNeedsOtherLists && !Program::kUpdates && !Program::kReadsDrawnEdge;

  struct StepState {
    ParkedQuestion question;
    const Program* program = nullptr;  ///< of the partition that holds the walker's list
    std::uint32_t key = 0;             ///< what the walk waits for
    std::uint64_t in_place_bytes = 0;  ///< bytes read in place
  };

  /// Makes the present partitions visible to the next round of `program`.
  template <class Loop>
  void publish(Loop& cache, const Program& program) {
    std::tie(map, programs) = cache.publish([&](const PageView& page) { return on_page(program, page); });
  }

  /// Makes `walker` that of walk `index` of the batch.
  SLUICE_HD void identify(std::uint64_t index, Walker& walker) const {
    if constexpr (Program::kEndsOnly) {
      programs->identify(instance(index), walker);
    } else {
      walker.instance = instance(index);
      walker.start = starts.start(walker.instance);
    }
  }
  /// Prepares a parked walk to go on from its vertex, or with its question.
  SLUICE_HD void resume(std::uint64_t index, Walker& walker, const ParkedQuestion& question) const {
    identify(index, walker);
    if constexpr (kNeedsOtherLists) {
      if (kAnswersWithoutOwnList && question.target != kNoVertex) return;
      walker.row = row_of(*programs, walker.current);
    }
  }
  /// Prefetches the row of a walk that will go on.
  SLUICE_HD void prefetch_row(Vertex current) const { prefetch(programs->graph.csr.offsets + current); }
  /// A walk at its start. An index that does not exist gives a walker without vertices, which never runs.
  SLUICE_HD Walker begin(std::uint64_t index) const {
    Walker walker;
    if (!exists(index)) return walker;
    identify(index, walker);
    if constexpr (Program::kEndsOnly) walker.start = programs->start(walker);
    walker.current = walker.start;
    return walker;
  }
  /// The first key of a walk; ended_key() if the walk begins on another rank.
  SLUICE_HD std::uint32_t first_key(std::uint64_t index, const Walker& walker) const {
    if (length == 0 || !exists(index)) return ended_key();
    const std::uint32_t key = map.owner(walker.start);
    return key >= own_begin && key < own_end ? key : ended_key();
  }
  /// The key of a walk after a round. A walk that completed a leg waits for the next one.
  SLUICE_HD std::uint32_t key_after(const Walker& walker, const StepState& state) const {
    return state.key == ended_key() && walker.step == leg_end && leg_end < length ? next_leg_key()
                                                                                  : state.key;
  }

  /// The program for the partition that holds the vertex; null if it is not present.
  SLUICE_HD const Program* program_at(Vertex v) const {
    const std::uint32_t slot = map.slot(v);
    return slot == PageMap::kNoSlot ? nullptr : programs + slot;
  }
  /// The row of a vertex, whether its list is present or not.
  SLUICE_HD static Row row_of(const Program& program, Vertex v) {
    if constexpr (requires { program.table.row(program.graph, v); }) {
      return program.table.row(program.graph, v);
    } else {
      return program.graph.row(v);
    }
  }
  /// program_at() for the walker's vertex. Walks without questions read their row here, once, and only if
  /// their list is present.
  SLUICE_HD const Program* program_of(Walker& walker) const {
    if constexpr (kNeedsOtherLists) {
      return walker.row.degree == 0 ? programs : program_at(walker.current);  // without edges any will do
    } else {
      const Program* const program = program_at(walker.current);
      if (program) walker.row = row_of(*program, walker.current);
      return program;
    }
  }

  // ---- the parts of a round (whole.hpp). Round::absent: state.key says what the walk waits for.

  SLUICE_HD bool propose(Walker& walker, StepState& state, Proposal& proposal, Round& round) const {
    if constexpr (kNeedsOtherLists) {
      if (state.question.target != kNoVertex) {
        round = answer_question(walker, state);
        return false;
      }
    }
    state.program = program_of(walker);
    if (!state.program) {
      state.key = map.owner(walker.current);
      round = Round::absent;
      return false;
    }
    if constexpr (Program::kScans) {
      if (Program::kTrials && walker.trial >= kMaxTrials) {
        round = scan_or_wait(walker, state);
        return false;
      }
    }
    state.program->propose(walker, proposal);
    if (proposal.located && state.program == programs + map.in_place)
      state.in_place_bytes += state.program->draw_bytes(walker.row);
    return true;
  }

  SLUICE_HD Round settle(Walker& walker, StepState& state, Proposal& proposal) const {
    const Round round = state.program->settle(walker, proposal, edge_lookup(state.in_place_bytes));
    if constexpr (kNeedsOtherLists) {
      if (round == Round::scan) return scan_or_wait(walker, state);
      if (round == Round::absent) {
        state.question = {proposal.hop.target,
                          static_cast<std::uint32_t>(proposal.hop.position - walker.row.offset)};
        state.key = answering_partition(walker, proposal.hop.target);
      }
    }
    return round;
  }

  SLUICE_HD void count_scan(const Walker& walker, StepState& state) const {
    state.in_place_bytes += scan_bytes(walker, *state.program);
  }
  SLUICE_HD const Program* scan_context(const StepState& state) const { return state.program; }
  template <class Group>
  SLUICE_HD Round scan(const Group& group, Walker& walker, const Program* program) const {
    std::uint64_t counted_already = 0;
    return program->transform_list(group, walker, edge_lookup(counted_already));
  }
  SLUICE_HD void end(StepState& state) const { state.key = ended_key(); }

 private:
  /// Coded partitions are replaced during a run. They have no edge set, and kernels need no lookup for it.
  SLUICE_HD PagedEdgeLookup edge_lookup(std::uint64_t& read) const {
    if constexpr (kReadsCodes<Program>) return {map, {}, read};
    return Partitioned::edge_lookup(read);
  }

  /// Bytes that a scan of the walker's list reads in place. A scan reads the list twice, and searches another
  /// list for every entry.
  SLUICE_HD std::uint64_t scan_bytes(const Walker& walker, const Program& program) const {
    const std::uint32_t entry_size = kTargetBytes + (program.graph.csr.weights ? kWeightBytes : 0);
    const bool in_place = kReadsCodes<Program> || &program == programs + map.in_place;
    std::uint64_t entry_bytes = in_place ? entry_size : 0;
    const Vertex other = program.second_list(walker);
    if (other != kNoVertex) entry_bytes += map.search_bytes(map.slot(other), program.graph.degree(other));
    return 2 * entry_bytes * walker.row.degree;
  }

  /// The partition that can answer a question. In undirected graphs it is the target's, where an accepted
  /// walk goes on; in directed graphs it is that of the question's first vertex.
  SLUICE_HD std::uint32_t answering_partition(const Walker& walker, Vertex target) const {
    return map.owner(programs->graph.undirected ? target : programs->second_list(walker));
  }

  SLUICE_HD Round answer_question(Walker& walker, StepState& state) const {
    Proposal proposal;
    proposal.hop = {state.question.target, row_of(*programs, state.question.target),
                    walker.row.offset + state.question.index};
    const Round round = programs->accept_or_reject(walker, proposal, edge_lookup(state.in_place_bytes));
    if (round == Round::absent) {
      state.key = answering_partition(walker, state.question.target);
    } else {
      state.question = {};
      if (kAnswersWithoutOwnList && round != Round::moved) walker.row = row_of(*programs, walker.current);
    }
    // A walk that must scan first returns to its own list.
    return round == Round::scan ? Round::rejected : round;
  }

  /// Round::scan if both lists that a scan reads are present; otherwise the walk waits for both.
  SLUICE_HD Round scan_or_wait(const Walker& walker, StepState& state) const {
    const Vertex other = state.program->second_list(walker);
    if (other == kNoVertex || map.slot(other) != PageMap::kNoSlot || state.program->graph.degree(other) == 0)
      return Round::scan;
    state.key = pair_key();
    return Round::absent;
  }
};

}  // namespace sluice::walks
