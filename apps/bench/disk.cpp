// bench disk: walks on a graph that stays in its file, every read of it from the disk, beside what the disk
// gives to somebody who only reads.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/workload.hpp"
#include "engine/core/error.hpp"
#include "engine/residency/resident_graph.hpp"
#include "engine/sampling/run.hpp"
#include "io/descriptor.hpp"
#include "io/file_bytes.hpp"
#include "io/hdf5.hpp"

namespace sluice::bench {

namespace {

/// A quarter of the partitions is in slots at a time.
constexpr PagingOptions kQuarter{.partitions = 64, .slots = 16, .transport = Transport::file};

/// So few walks that the disk, not the cores, decides.
constexpr Instance kWalks = 64'000;
constexpr std::uint32_t kLength = 16;

/// Bytes of one read: far larger ones are no faster.
constexpr std::uint64_t kBlock = 4u << 20;

/// How somebody who only reads could go about it.
struct Way {
  io::Caching caching;
  unsigned readers;
};
constexpr std::array kWays{Way{io::Caching::system, 1}, Way{io::Caching::system, 2},
                           Way{io::Caching::none, 2}, Way{io::Caching::none, 4}};

std::string name_of(const Way& way) {
  return std::to_string(way.readers) + (way.readers == 1 ? " reader" : " readers") +
         (way.caching == io::Caching::none ? " past the cache" : "");
}

/// A graph file's bytes, of which the system's cache can be told to keep none.
class DiskFile {
 public:
  explicit DiskFile(const std::string& path) : cached_(path), past_(path, io::Caching::none) {
    const io::h5::Handle file = io::h5::open_file(path);
    const io::h5::Handle targets(H5Dopen2(file.get(), "out/indices", H5P_DEFAULT));
    const io::h5::Handle type(H5Dget_type(targets.get()));
    const haddr_t offset = H5Dget_offset(targets.get());
    if (offset == HADDR_UNDEF || H5Tget_size(type.get()) != sizeof(Vertex))
      throw UsageError("bench disk: targets are not in one piece; give a file that sluice wrote");
    begin_ = offset, size_ = H5Dget_storage_size(targets.get());
    io::Descriptor(path, O_RDONLY).sync();  // what is not on the disk yet cannot be dropped
  }

  /// Drops targets' bytes [first, first + bytes) from the cache.
  void drop(std::uint64_t first, std::uint64_t bytes) const {
    ::posix_fadvise(cached_.get(), static_cast<off_t>(begin_ + first), static_cast<off_t>(bytes),
                    POSIX_FADV_DONTNEED);
  }
  /// GB a second of as many bytes of targets, dropped before, block by block from front to back, as often as
  /// it takes; each reader takes the next block.
  double read(std::uint64_t bytes, const Way& way) const {
    const double begin = seconds_now();
    std::uint64_t done = 0;
    for (; done < bytes; done += size_) {
      drop(0, size_);
      std::atomic<std::uint64_t> next = 0;
      std::vector<std::jthread> threads;
      for (unsigned r = 0; r < way.readers; ++r)
        threads.emplace_back([&] { read_blocks(way.caching == io::Caching::none ? past_ : cached_, next); });
    }
    return static_cast<double>(done) / (seconds_now() - begin) * 1e-9;
  }

 private:
  void read_blocks(const io::FileBytes& file, std::atomic<std::uint64_t>& next) const {
    std::vector<std::byte> block(kBlock);
    for (std::uint64_t at; (at = next.fetch_add(kBlock)) < size_;)
      file.read_at(std::span(block).first(std::min(kBlock, size_ - at)), begin_ + at);
  }

  io::FileBytes cached_, past_;
  std::uint64_t begin_ = 0, size_ = 0;
};

/// The edges of a graph file, never from the cache.
class ColdEdges : public EdgeSource {
 public:
  ColdEdges(std::shared_ptr<const EdgeSource> file, const DiskFile& disk)
      : file_(std::move(file)), disk_(disk) {}

  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    disk_.drop(first * sizeof(Vertex), out.size_bytes());
    file_->read_targets(first, out);
  }
  void read_weights(EdgeIndex first, std::span<float> out) const override { file_->read_weights(first, out); }

 private:
  std::shared_ptr<const EdgeSource> file_;
  const DiskFile& disk_;
};

Figure figure_of(std::string name, std::vector<double> values, const char* unit, std::string note = {}) {
  std::sort(values.begin(), values.end());
  return {std::move(name), values[values.size() / 2], unit, values.front(), values.back(), std::move(note)};
}

}  // namespace

std::vector<Figure> run_disk(Device& device, const Options& options) {
  if (options.graph.empty())
    throw UsageError("bench disk: name a graph file on the disk that is to be measured (--graph FILE)");
  const DiskFile disk(options.graph);
  // As a graph that memory does not hold.
  Graph graph = io::open_graph(options.graph, false, io::Caching::none);
  graph.edges_elsewhere = std::make_shared<ColdEdges>(graph.edges_elsewhere, disk);
  ResidentGraph resident(device, graph, kQuarter);
  WalkOptions walk;
  walk.seed = options.seed, walk.length = kLength;
  Starts starts;
  starts.mode = Starts::Mode::random, starts.count = kWalks;
  const auto show = [&](const char* name) {
    if (options.progress) options.progress(name);
  };
  show("walks");
  RunStats stats = run_walks(resident, starts, walk, nullptr);  // not counted: how much is read
  // Others may use the disk too, and some give more at first than later: by turns, each run of walks between
  // two looks at every way to read.
  std::vector<std::vector<double>> limits(kWays.size());
  const auto look = [&] {
    show("the disk");
    for (std::size_t way = 0; way < kWays.size(); ++way)
      limits[way].push_back(disk.read(stats.read_bytes / 2, kWays[way]));
  };
  std::vector<double> rates, shares, steps;
  look();
  for (unsigned r = 0; r < options.repetitions; ++r) {
    show("walks");
    stats = run_walks(resident, starts, walk, nullptr);
    rates.push_back(static_cast<double>(stats.read_bytes) / stats.compute_seconds * 1e-9);
    steps.push_back(static_cast<double>(stats.steps) / stats.compute_seconds * 1e-6);
    look();
  }
  std::vector<Figure> figures;
  for (std::size_t way = 0; way < kWays.size(); ++way)
    figures.push_back(figure_of("disk, " + name_of(kWays[way]), limits[way], "GB/s"));
  const auto best =
      static_cast<std::size_t>(std::ranges::max_element(figures, {}, &Figure::value) - figures.begin());
  figures[best].note = "the limit: the fastest way, by medians";
  for (unsigned r = 0; r < options.repetitions; ++r)
    shares.push_back(100 * rates[r] / ((limits[best][r] + limits[best][r + 1]) / 2));
  const std::string note = text("%.0f transfers, ", static_cast<double>(stats.partition_transfers)) +
                           text("%.0f rounds, ", static_cast<double>(stats.rounds)) +
                           text("%.2f GB read", static_cast<double>(stats.read_bytes) * 1e-9);
  figures.push_back(figure_of("uniform walk, from the file", rates, "GB/s", note));
  figures.push_back(figure_of("uniform walk, of the limit before and after", shares, "%"));
  figures.push_back(figure_of("uniform walk, steps", steps, "M steps/s"));
  return figures;
}

}  // namespace sluice::bench
