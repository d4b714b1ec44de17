// sluice-bench disk: walks on a graph in its file, with every read from the disk, compared with the rate at
// which the disk serves a process that only reads.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/workload.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/sampling/run.hpp"
#include "io/descriptor.hpp"
#include "io/file_bytes.hpp"
#include "io/hdf5.hpp"

namespace sluice::bench {

namespace {

/// A quarter of the partitions is in slots at a time.
constexpr PagingOptions kQuarter{.partitions = 64, .slots = 16, .transport = Transport::file};

/// Few enough walks that the disk is the bottleneck, not the cores.
constexpr Instance kWalks = 64'000;
constexpr std::uint32_t kLength = 16;

/// Bytes per read: much larger reads are no faster.
constexpr std::uint64_t kBlock = 4u << 20;

/// A way to read the file: through the system's cache or not, and the number of readers.
struct ReadMethod {
  io::Caching caching;
  unsigned readers;
};
constexpr std::array kReadMethods{ReadMethod{io::Caching::system, 1}, ReadMethod{io::Caching::system, 2},
                                  ReadMethod{io::Caching::none, 2}, ReadMethod{io::Caching::none, 4}};

std::string name_of(const ReadMethod& method) {
  return std::to_string(method.readers) + (method.readers == 1 ? " reader" : " readers") +
         (method.caching == io::Caching::none ? " past the cache" : "");
}

/// The bytes of a graph file, which can be dropped from the system's cache.
class DiskFile {
 public:
  explicit DiskFile(const std::string& path) : cached_(path), uncached_(path, io::Caching::none) {
    const io::h5::Handle file = io::h5::open_file(path);
    const io::h5::Handle targets(H5Dopen2(file.get(), "out/indices", H5P_DEFAULT));
    const io::h5::Handle type(H5Dget_type(targets.get()));
    const haddr_t offset = H5Dget_offset(targets.get());
    if (offset == HADDR_UNDEF || H5Tget_size(type.get()) != sizeof(Vertex))
      throw UsageError("disk: targets are not in one piece; give a file that sluice wrote");
    begin_ = offset, size_ = H5Dget_storage_size(targets.get());
    io::Descriptor(path, O_RDONLY).sync();  // dirty pages cannot be dropped from the cache
  }

  /// Drops bytes [first, first + bytes) of the targets from the cache.
  void drop_cached(std::uint64_t first, std::uint64_t bytes) const {
    ::posix_fadvise(cached_.get(), static_cast<off_t>(begin_ + first), static_cast<off_t>(bytes),
                    POSIX_FADV_DONTNEED);
  }
  /// Returns the GB a second at which `bytes` of targets are read, in blocks in the order of the file. Each
  /// pass first drops all targets from the cache; each reader takes the next block.
  double read(std::uint64_t bytes, const ReadMethod& method) const {
    const double begin = seconds_now();
    std::uint64_t done = 0;
    for (; done < bytes; done += size_) {
      drop_cached(0, size_);
      std::atomic<std::uint64_t> next = 0;
      parallel_blocks(method.readers, method.readers, 1, [&](std::uint64_t, std::uint64_t, unsigned) {
        read_blocks(method.caching == io::Caching::none ? uncached_ : cached_, next);
      });
    }
    return static_cast<double>(done) / (seconds_now() - begin) * 1e-9;
  }

 private:
  void read_blocks(const io::FileBytes& file, std::atomic<std::uint64_t>& next) const {
    std::vector<std::byte> block(kBlock);
    for (std::uint64_t at; (at = next.fetch_add(kBlock)) < size_;)
      file.read_at(std::span(block).first(std::min(kBlock, size_ - at)), begin_ + at);
  }

  io::FileBytes cached_, uncached_;
  std::uint64_t begin_ = 0, size_ = 0;
};

/// The edges of a graph file, never read from the cache.
class ColdEdges : public EdgeSource {
 public:
  ColdEdges(std::shared_ptr<const EdgeSource> file, const DiskFile& disk)
      : file_(std::move(file)), disk_(disk) {}

  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    disk_.drop_cached(first * sizeof(Vertex), out.size_bytes());
    file_->read_targets(first, out);
  }
  void read_weights(EdgeIndex first, std::span<float> out) const override { file_->read_weights(first, out); }

 private:
  std::shared_ptr<const EdgeSource> file_;
  const DiskFile& disk_;
};

/// Walks on a graph with a quarter of the partitions in slots, and every read from the disk.
class FileWalks {
 public:
  FileWalks(Device& device, const Options& options, const DiskFile& disk, io::Caching caching)
      : graph_(open(options.graph, disk, caching)), resident_(device, graph_, kQuarter) {
    walk_.seed = options.seed, walk_.length = kLength;
    starts_ = random_starts(kWalks);
  }

  /// Returns the number of bytes read.
  std::uint64_t run() {
    last_ = sampling::run_walks(resident_, starts_, walk_, nullptr);
    rates_.push_back(static_cast<double>(last_.read_bytes) / last_.compute_seconds * 1e-9);
    steps_.push_back(static_cast<double>(last_.steps) / last_.compute_seconds * 1e-6);
    return last_.read_bytes;
  }
  void reset() { rates_.clear(), steps_.clear(); }

  /// `limits[r]` is the rate of the disk around run r.
  void add_figures(const std::string& name, std::span<const double> limits,
                   std::vector<Figure>& figures) const {
    std::vector<double> shares;
    for (std::size_t r = 0; r < rates_.size(); ++r) shares.push_back(100 * rates_[r] / limits[r]);
    figures.push_back(figure_of(name, rates_, "GB/s",
                                text("%.0f transfers, ", static_cast<double>(last_.partition_transfers)) +
                                    text("%.0f rounds, ", static_cast<double>(last_.rounds)) +
                                    text("%.2f GB read", static_cast<double>(last_.read_bytes) * 1e-9)));
    figures.push_back(figure_of(name + ", of the limit", shares, "%", "beside the looks before and after"));
    figures.push_back(figure_of(name + ", steps", steps_, "M steps/s"));
  }

 private:
  static Graph open(const std::string& path, const DiskFile& disk, io::Caching caching) {
    Graph graph = io::open_graph(path, {}, caching);
    graph.edge_source = std::make_shared<ColdEdges>(graph.edge_source, disk);
    return graph;
  }

  Graph graph_;
  ResidentGraph resident_;
  walks::Options walk_;
  Starts starts_;
  RunStats last_;
  std::vector<double> rates_, steps_;
};

}  // namespace

std::vector<Figure> run_disk(Device& device, const Options& options) {
  const DiskFile disk(options.graph);
  // One graph is read as if it exceeded memory, the other as if memory may hold it.
  FileWalks uncached(device, options, disk, io::Caching::none),
      cached(device, options, disk, io::Caching::system);
  const auto report_progress = [&](const char* name) {
    if (options.progress) options.progress(name);
  };
  report_progress("walks");
  const std::uint64_t bytes = uncached.run();
  uncached.reset();  // this run only determined the number of bytes
  // Other users may load the disk, and some disks are faster at first. So each run of walks is between two
  // measurements of every way to read, and these begin with another way each time.
  std::vector<std::vector<double>> limits(kReadMethods.size());
  const auto measure_disk = [&] {
    report_progress("the disk");
    const std::size_t round = limits[0].size();
    for (std::size_t i = 0; i < kReadMethods.size(); ++i) {
      const std::size_t method = (round + i) % kReadMethods.size();
      limits[method].push_back(disk.read(bytes / 2, kReadMethods[method]));
    }
  };
  measure_disk();
  for (unsigned r = 0; r < options.repetitions; ++r) {
    for (FileWalks* const walks : {&uncached, &cached}) {
      report_progress("walks");
      walks->run();
      measure_disk();
    }
  }
  std::vector<Figure> figures;
  for (std::size_t method = 0; method < kReadMethods.size(); ++method)
    figures.push_back(figure_of("disk, " + name_of(kReadMethods[method]), limits[method], "GB/s"));
  const auto best =
      static_cast<std::size_t>(std::ranges::max_element(figures, {}, &Figure::value) - figures.begin());
  figures[best].note = "the limit: the fastest way, by medians";
  const auto disk_rates_of =
      [&](unsigned first) {  // means of the measurements before and after every other run
        std::vector<double> pairs;
        for (std::size_t at = first; at + 1 < limits[best].size(); at += 2)
          pairs.push_back((limits[best][at] + limits[best][at + 1]) / 2);
        return pairs;
      };
  uncached.add_figures("uniform walk, past the cache", disk_rates_of(0), figures);
  cached.add_figures("uniform walk, through the cache", disk_rates_of(1), figures);
  return figures;
}

}  // namespace sluice::bench
