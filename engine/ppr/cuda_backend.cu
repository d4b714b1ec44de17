// Queries on a GPU, one query per block. The blocks that fit the GPU at once have a workspace each
// (query_workspace.hpp). Queries that outgrow theirs run again, by fewer blocks if need be, in workspaces
// four times as large, or in dense rows (dense/queries.cuh) if that is faster (query_route.hpp). If the GPU
// does not hold the graph, queries that lacked lists run again once these are fetched (adjacency/cache.cuh);
// walks then run in queue/.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "engine/batch/starts.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"
#include "engine/ppr/adjacency/cache.cuh"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/dense/queries.cuh"
#include "engine/ppr/methods/query_kernels.cuh"
#include "engine/ppr/query_route.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

namespace {

using QueriesKernel = void (*)(QueriesView);

/// Blocks that work on one query together.
std::uint32_t members_of(const Options& options) {
  return is_one_by_one(options) ? std::min(options.balls, kMaxMembers) : 1;
}

QueriesKernel kernel_of(const Options& options) {
  return with_stored_mass(options, [&](auto mass) -> QueriesKernel {
    using M = decltype(mass);
    const bool extracts = extracts_sub_graphs(options);
    if (members_of(options) > 1)
      return extracts ? team_queries_kernel<M, true> : team_queries_kernel<M, false>;
    if (extracts) return queries_kernel<ExtractingQuery<M>>;
    return is_one_by_one(options) ? queries_kernel<OneByOneQuery<M>> : queries_kernel<JointQuery<M>>;
  });
}

/// Dynamic shared memory of a launch: what the blocks of a multiprocessor have beside the static shared
/// memory of their lanes. On an H100 or H200 that is 36 KiB.
std::uint32_t fast_bytes_of(const Options& options) {
  if (!extracts_sub_graphs(options)) return 0;
  constexpr std::uint32_t kStep = 4u << 10;  // static shared memory may change a little
  constexpr const char* kLabel = "shared memory for sub-graphs";
  const auto* const kernel = reinterpret_cast<const void*>(kernel_of(options));
  cudaFuncAttributes own{};
  cuda::check(cudaFuncGetAttributes(&own, kernel), kLabel);
  const std::uint32_t block =
      cuda::gpu_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / kQueryBlocksPerSm;
  const std::uint32_t shared = cuda::gpu_attribute(cudaDevAttrReservedSharedMemoryPerBlock) +
                               static_cast<std::uint32_t>(own.sharedSizeBytes);
  const std::uint32_t bytes = (block - std::min(block, shared)) / kStep * kStep;
  cuda::check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      kLabel);
  return bytes;
}

class CudaPpr final : public Backend {
 public:
  /// `on_device` holds the graph, or reads lists in place; if it is null, `lists` fetches them.
  CudaPpr(const QueryRun& run, std::shared_ptr<GraphOnDevice> on_device, std::unique_ptr<ListCache> lists,
          std::uint64_t queries)
      : Backend(run, queries),
        on_device_(std::move(on_device)),
        lists_(std::move(lists)),
        results_(device_, rows_, options_.top),
        group_figures_(device_, rows_, "figures of queries"),
        vertices_(device_, rows_ * options_.top, "results of queries"),
        scores_(device_, rows_ * options_.top, "results of queries"),
        figures_(device_, rows_, "figures of queries"),
        pending_(device_, rows_, "active queries"),
        pending_on_device_(device_, rows_, "active queries"),
        next_(device_, 1, "the next query"),
        first_shape_(first_workspace(graph_.vertices(), options_, graph_.edges())),
        route_(limits(), first_shape_),
        teams_(device_, members_ > 1 ? blocks_ / members_ : 0, "teams of blocks"),
        seed_offsets_(device_, rows_ + 1, "seeds of queries"),
        seed_offsets_on_device_(device_, rows_ + 1, "seeds of queries") {
    if (limits().rows) dense_.emplace(device_, *on_device_, options_);
    const std::vector<std::uint32_t> stages = stages_of(options_);
    stages_ = Buffer<std::uint32_t>(device_, stages.size(), "steps of stages");
    copy_to_device(device_, stages_.data(), stages.data(), stages_.bytes());
    if (!device_.is_planning()) return;  // else one query, and the same amount for its lists
    if (lists_) lists_->prepare(first_shape_.bytes());
    workspaces_.prepare(device_, first_shape_, 1, stream_);
  }

  ~CudaPpr() override { cudaStreamSynchronize(stream_.get()); }  // pending work uses the buffers

  Batch solve(Instance first, std::uint64_t count) override {
    upload_seeds(first, count);
    waiting_.resize(count);
    std::iota(waiting_.rbegin(), waiting_.rend(), 0u);
    while (!waiting_.empty()) run_waiting(first, count);
    copy(results_.vertices.data(), vertices_.data(), count * options_.top * sizeof(Vertex));
    copy(results_.scores.data(), scores_.data(), count * options_.top * sizeof(double));
    stream_.wait("results of queries");
    return results_.batch(first, count);
  }

  void release_memory() override {
    workspaces_.release();
    if (dense_) dense_->release();
    if (lists_) lists_->release_all();
  }

  void finish() override {
    if (lists_) lists_->finish();
    if (on_device_) on_device_->finish();
  }

  void plan(std::uint64_t queries, Plan& plan) override {
    const std::uint64_t n = graph_.vertices();
    plan.in_place = reads_in_place();
    plan.streamed = lists_ != nullptr;
    plan.graph_bytes = lists_ ? lists_->index_bytes() : on_device_->bytes();
    plan.largest_query_bytes = members_ * first_shape_.resized(n, n).bytes();
    release_memory();
    free_memory_for(first_shape_);
    plan.partitions = traffic().partitions;
    if (lists_) plan.cache_bytes = lists_->bytes();
    plan.threads = std::max(workspaces_.prepare(device_, first_shape_, blocks_, stream_) / members_, 1u);
    release_memory();
    if (dense_ && queries > 0) plan_rows(queries, plan);
  }

  bool reads_in_place() const override { return on_device_ && on_device_->in_place(); }
  std::shared_ptr<GraphOnDevice> graph_on_device() const override { return on_device_; }
  std::shared_ptr<ListFeeder> rank_feeder() const override {
    return lists_ ? lists_->rank_feeder() : nullptr;
  }
  ListTraffic traffic() const override {
    if (lists_) {
      ListTraffic traffic = lists_->traffic();
      traffic.list_rounds = rounds_, traffic.restarts = restarts_;
      return traffic;
    }
    ListTraffic traffic;
    traffic.host_to_device_bytes = on_device_->bytes(), traffic.read_bytes = on_device_->read_bytes();
    return traffic;
  }

 private:
  RouteLimits limits() const {
    const bool rows = on_device_ && on_device_->is_whole() && may_use_dense_rows(options_);
    return {graph_.vertices(), blocks_, options_.state != State::dense, rows};
  }

  void copy(void* target, const void* source, std::uint64_t bytes) {
    cuda::check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_.get()), "copying queries");
  }

  /// Shares of seeds come from doubles: the host computes them for both backends.
  void upload_seeds(Instance first, std::uint64_t count) {
    batch_seeds_.clear();
    for (std::uint64_t row = 0; row < count; ++row) {
      seeds_.assign(starts_, graph_.vertices(), options_.seed, first + row);
      results_.seeds.data()[row] = seeds_.all()[0].vertex;
      results_.figures.data()[row] = QueryFigures{};
      seed_offsets_.data()[row] = batch_seeds_.size();
      batch_seeds_.insert(batch_seeds_.end(), seeds_.all().begin(), seeds_.all().end());
      if (dense_)
        std::sort(batch_seeds_.begin() + static_cast<std::ptrdiff_t>(seed_offsets_.data()[row]),
                  batch_seeds_.end(), [](const Seed& a, const Seed& b) { return a.vertex < b.vertex; });
    }
    seed_offsets_.data()[count] = batch_seeds_.size();
    seeds_on_device_.reserve(device_, batch_seeds_.size(), "seeds of queries");
    copy(seed_offsets_on_device_.data(), seed_offsets_.data(), (count + 1) * sizeof(std::uint64_t));
    copy(seeds_on_device_.data(), batch_seeds_.data(), batch_seeds_.size() * sizeof(Seed));
  }

  /// Answers as many of the waiting queries as may run at once.
  void run_waiting(Instance first, std::uint64_t count) {
    std::uint64_t left = std::min<std::uint64_t>(waiting_.size(), limit_);
    std::reverse_copy(waiting_.end() - static_cast<std::ptrdiff_t>(left), waiting_.end(), pending_.data());
    waiting_.resize(waiting_.size() - left);
    start_time_ = seconds_now();
    route_.begin(left);
    while (left > 0) {
      if (route_.prefers_dense_rows(left) && run_in_rows(left, count)) break;
      left = run_pending(route_.workspace(), first, left, count);
      route_.outgrown(left);
    }
    limit_ = std::min(2 * limit_, rows_);
  }

  /// Runs the pending queries, again and again while lists have to be fetched. Queries that outgrew the
  /// workspace are pending afterwards; returns their number.
  std::uint64_t run_pending(const WorkspaceShape& shape, Instance first, std::uint64_t pending,
                            std::uint64_t count) {
    outgrown_.clear();
    while (pending > 0) {
      free_memory_for(shape);
      const std::uint64_t members = launch(shape, first, pending, count);
      pending = collect(members * shape.bytes(), pending);
      if (pending == 0) break;
      restarts_ += pending;
      if (lists_->fetch_missing()) {
        ++rounds_;
      } else {
        pending = postpone(pending);
      }
    }
    if (std::exchange(single_query_, false)) lists_->release();  // it has the memory of other workspaces
    std::copy(outgrown_.begin(), outgrown_.end(), pending_.data());
    return outgrown_.size();
  }

  /// Lists get half of the free memory, for a single query all of it, but always leave room for a workspace.
  /// If a workspace would not fit, the lists give back their memory first.
  void free_memory_for(const WorkspaceShape& shape) {
    if (!lists_) return;
    if (shape.bytes() > device_.memory().available() + workspaces_.bytes()) {
      workspaces_.release();
      lists_->release();
    }
    const std::uint64_t available = device_.memory().available(),
                        left = available - std::min(available, shape.bytes());
    lists_->prepare(single_query_ ? left : std::min(available / 2, left));
  }

  /// No workspace as large as a column of dense rows is ever made (query_route.hpp). A group is only as wide
  /// as the rest of a batch needs.
  void plan_rows(std::uint64_t queries, Plan& plan) {
    const std::uint64_t before = device_.memory().used();
    if (!dense_->prepare(rows_)) return;
    plan.rows_bytes = device_.memory().used() - before;
    plan.largest_query_bytes = dense_->query_bytes();
    dense_->prepare(options_.state == State::dense ? (queries - 1) % rows_ + 1 : 1);
    plan.largest_query_bytes = std::max(plan.largest_query_bytes, dense_->query_bytes());
  }

  /// The lists of all pending queries do not fit at once: a quarter of the queries continues, without any
  /// lists. A single query gets all memory for lists, except its workspace.
  std::uint64_t postpone(std::uint64_t pending) {
    if (single_query_) lists_->throw_too_many_lists();
    const std::uint64_t kept = std::max<std::uint64_t>(pending / 4, 1);
    waiting_.insert(waiting_.end(), pending_.data() + kept, pending_.data() + pending);
    limit_ = kept;
    single_query_ = kept == 1;
    if (single_query_) {
      workspaces_.release();
      lists_->release();
    } else {
      lists_->clear();
    }
    return kept;
  }

  QueryRules rules() const {
    QueryRules rules = rules_of(options_);
    rules.stages = stages_.data();
    if (lists_) {
      lists_->describe(rules);
    } else {
      rules.graph = on_device_->view(), rules.totals = on_device_->totals();
      rules.positions = on_device_->positions();
    }
    return rules;
  }

  BatchView batch() const {
    return {seeds_on_device_.data(), seed_offsets_on_device_.data(), figures_.data(), vertices_.data(),
            scores_.data()};
  }

  /// Answers the pending queries in dense rows. Returns false if memory does not suffice.
  bool run_in_rows(std::uint64_t pending, std::uint64_t count) {
    if (workspaces_.bytes() > device_.memory().available()) workspaces_.release();
    copy(pending_on_device_.data(), pending_.data(), pending * sizeof(std::uint32_t));
    if (!dense_->run(batch(), rules(), pending_on_device_.data(), pending, stream_)) {
      if (options_.state == State::dense)
        throw BudgetError(
            "--state dense: too little memory for a row per vertex (raise --device-memory, or omit it)");
      dense_.reset();
      route_.disable_rows();
      return false;
    }
    fetch_figures(count);
    collect(dense_->query_bytes(), pending);
    return true;
  }

  void fetch_figures(std::uint64_t count) {
    copy(group_figures_.data(), figures_.data(), count * sizeof(GroupFigures));
    stream_.wait("queries");
  }

  /// Runs the pending queries and fetches their figures. Returns the workspaces per query.
  std::uint64_t launch(const WorkspaceShape& shape, Instance first, std::uint64_t pending,
                       std::uint64_t count) {
    const std::uint64_t wanted = std::min<std::uint64_t>(pending, blocks_ / members_) * members_;
    if (dense_ && dense_->bytes() > device_.memory().available()) dense_->release();
    const unsigned workspaces = workspaces_.prepare(device_, shape, wanted, stream_);
    copy(pending_on_device_.data(), pending_.data(), pending * sizeof(std::uint32_t));
    cuda::check(cudaMemsetAsync(next_.data(), 0, next_.bytes(), stream_.get()), "clearing");
    QueriesView view;
    view.rules = rules();
    view.workspace = workspaces_.first(), view.workspace_bytes = shape.bytes();
    view.first = first;
    view.batch = batch();
    view.rows = pending_on_device_.data(), view.count = static_cast<std::uint32_t>(pending);
    view.next = next_.data();
    view.fast_bytes = fast_bytes_;
    view.teams = teams_.data(), view.members = std::min(members_, workspaces);
    const unsigned blocks = workspaces / view.members * view.members;
    if (members_ > 1) {
      cuda::check(cudaMemsetAsync(teams_.data(), 0, teams_.bytes(), stream_.get()), "clearing");
      cuda::launch_cooperative(kernel_of(options_), blocks, kQueryBlock, fast_bytes_, stream_.get(), view);
    } else {
      kernel_of(options_)<<<blocks, kQueryBlock, fast_bytes_, stream_.get()>>>(view);
    }
    cuda::check_launch("queries_kernel");
    fetch_figures(count);
    return view.members;
  }

  /// Takes the figures of answered queries. Queries that lack lists stay pending; those that outgrew their
  /// workspace go to outgrown_.
  std::uint64_t collect(std::uint64_t query_bytes, std::uint64_t launched) {
    std::uint64_t left = 0;
    for (std::uint64_t i = 0; i < launched; ++i) {
      const std::uint32_t row = pending_.data()[i];
      const GroupFigures& group = group_figures_.data()[row];
      QueryFigures& figures = results_.figures.data()[row];
      const double before = figures.seconds;
      figures = figures_of(group, options_);
      figures.peak_bytes = query_bytes;
      // Lists are fetched for many queries at once.
      figures.seconds = lists_ ? seconds_now() - start_time_ : figures.seconds + before;
      if (group.missing_lists != 0) {
        pending_.data()[left++] = row;
      } else if (group.abandoned != 0) {
        outgrown_.push_back(row);
      } else {
        route_.record_answer(figures.reached);
      }
    }
    return left;
  }

  cuda::Stream stream_;
  std::uint32_t fast_bytes_ = fast_bytes_of(options_);
  unsigned blocks_ = cuda::resident_blocks(kernel_of(options_), kQueryBlock, fast_bytes_);
  std::uint32_t members_ = std::min(members_of(options_), blocks_);
  std::shared_ptr<GraphOnDevice> on_device_;
  std::unique_ptr<ListCache> lists_;
  Rows<Staging> results_;
  Staging<GroupFigures> group_figures_;
  Buffer<Vertex> vertices_;
  Buffer<double> scores_;
  Buffer<GroupFigures> figures_;
  ChargedVector<std::uint32_t> waiting_;    ///< rows that no block works on, the next one last
  ChargedVector<std::uint32_t> outgrown_;   ///< rows that outgrew their workspace
  std::uint64_t limit_ = rows_;             ///< queries that run at once
  std::uint64_t rounds_ = 0;                ///< in which lists were fetched
  std::uint64_t restarts_ = 0;              ///< of queries that lacked lists
  bool single_query_ = false;               ///< one query has all memory for lists
  double start_time_ = 0;
  Staging<std::uint32_t> pending_;  ///< rows of unanswered queries
  Buffer<std::uint32_t> pending_on_device_, next_, stages_;
  WorkspaceShape first_shape_;
  QueryRoute route_;
  Workspaces workspaces_;
  Buffer<BallTeam> teams_;             ///< as many as run at once; none if each query has one block
  std::optional<DenseQueries> dense_;  ///< if queries may use dense rows
  Seeds seeds_;
  ChargedVector<Seed> batch_seeds_;
  Buffer<Seed> seeds_on_device_;
  Staging<std::uint64_t> seed_offsets_;
  Buffer<std::uint64_t> seed_offsets_on_device_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_ppr(const QueryRun& run, std::shared_ptr<GraphOnDevice> on_device,
                                       std::uint64_t queries, const Backend* sibling) {
  std::unique_ptr<ListCache> lists;
  if (!on_device)
    lists = std::make_unique<ListCache>(run.device, run.graph, run.options, run.paging,
                                        sibling ? sibling->rank_feeder() : nullptr);
  return std::make_unique<CudaPpr>(run, std::move(on_device), std::move(lists), queries);
}

}  // namespace sluice::ppr
