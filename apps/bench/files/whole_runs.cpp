// sluice-bench files: jobs of the program from file to file, compared with the time in which the disk alone
// reads and writes the same bytes. Both begin with their input only on the disk, and end when the output is
// on it (fsync). Finally, the time of a job with almost no work.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/bench/bench.hpp"
#include "apps/bench/workload.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "io/descriptor.hpp"
#include "io/file_bytes.hpp"

namespace sluice::bench {

namespace {

constexpr std::uint64_t kBlock = 8u << 20;
constexpr unsigned kInFlight = 4;  ///< concurrent reads or writes
constexpr std::uint64_t kMaxText = std::uint64_t{2} << 30;

/// A folder on the measured disk; the destructor removes it and its files.
class Folder {
 public:
  explicit Folder(const std::string& parent) : path_(parent + "/sluice-bench-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw RunError(io::system_message(path_, errno));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code left;
    std::filesystem::remove_all(path_, left);
  }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A block with the alignment of direct I/O, filled with incompressible bytes.
class Block {
 public:
  Block() : bytes_(static_cast<std::byte*>(std::aligned_alloc(4096, kBlock)), std::free) {
    if (!bytes_) throw RunError("no memory for a block");
    std::uint64_t word = 1;
    for (std::uint64_t at = 0; at < kBlock; ++at) {
      word = word * 6364136223846793005u + 1442695040888963407u;
      bytes_.get()[at] = static_cast<std::byte>(word >> 56);
    }
  }
  std::span<std::byte> first(std::uint64_t bytes) const { return {bytes_.get(), bytes}; }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> bytes_;
};

/// Calls use(block, begin, bytes) for all blocks of `bytes`, several of them concurrently.
template <class Use>
void for_each_block(std::uint64_t bytes, Use&& use) {
  std::vector<Block> blocks(kInFlight);
  parallel_blocks(kInFlight, (bytes + kBlock - 1) / kBlock, 1,
                  [&](std::uint64_t number, std::uint64_t, unsigned thread) {
                    const std::uint64_t begin = number * kBlock;
                    use(blocks[thread], begin, std::min(kBlock, bytes - begin));
                  });
}

void drop_from_cache(const std::string& path) {
  io::Descriptor file(path, O_RDONLY);
  file.sync();  // dirty pages cannot be dropped from the cache
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

/// Seconds in which the disk writes `bytes`, past the cache if the file system supports that.
double seconds_to_write(const Folder& folder, std::uint64_t bytes) {
  const std::string path = folder.path_of("written");
  const std::uint64_t whole = (bytes + 4095) / 4096 * 4096;
  const double begin = seconds_now();
  {
    const int direct = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
    io::Descriptor file = direct >= 0 ? io::Descriptor(direct, path)
                                      : io::Descriptor(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    static_cast<void>(::posix_fallocate(file.get(), 0, static_cast<off_t>(whole)));  // optional
    for_each_block(whole, [&](Block& block, std::uint64_t at, std::uint64_t size) {
      file.write_all_at(block.first(size), at);
    });
    file.sync();
  }
  const double seconds = seconds_now() - begin;
  ::unlink(path.c_str());
  return seconds;
}

/// Seconds to read the first `bytes` of the files, none of them cached.
double seconds_to_read(const std::vector<std::string>& paths, std::uint64_t bytes) {
  double seconds = 0;
  for (const std::string& path : paths) {
    const std::uint64_t file_bytes = std::min<std::uint64_t>(bytes, std::filesystem::file_size(path));
    bytes -= file_bytes;
    drop_from_cache(path);
    const io::FileBytes file(path, io::Caching::none);
    const double begin = seconds_now();
    for_each_block(file_bytes, [&](Block& block, std::uint64_t at, std::uint64_t size) {
      file.read_at(block.first(size), at);
    });
    seconds += seconds_now() - begin;
  }
  return seconds;
}

/// A job and its input files.
struct Job {
  std::string name;
  std::vector<std::string> words, inputs;
  std::string output;
};

/// The result of one run of a job.
struct JobRun {
  double wall = 0, disk = 0;  ///< seconds
  nlohmann::json report;
};

class WholeRuns {
 public:
  WholeRuns(const Device& device, const Options& options)
      : options_(options),
        program_(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sluice"),
        folder_(options.folder),
        threads_(std::to_string(host_threads(device))),
        device_(device.is_cuda() ? "cuda" : "host") {
    if (!std::filesystem::exists(program_))
      throw UsageError("files: " + program_ + ", the program to be measured, does not exist");
  }

  std::vector<Figure> run() {
    std::vector<Job> wanted = jobs();
    std::erase_if(wanted, [this](const Job& job) { return !options_.wants(job.name); });
    prepare(wanted);
    std::vector<Figure> figures;
    for (const Job& job : wanted) {
      if (options_.progress) options_.progress(job.name);
      figures.push_back(measure(job));
    }
    if (options_.wants(kStart)) figures.push_back(measure_startup());
    return figures;
  }

 private:
  std::string graph() const { return options_.graph.empty() ? folder_.path_of("graph.h5") : options_.graph; }
  std::string directed_graph() const { return folder_.path_of("directed.h5"); }
  std::vector<std::string> generate_arguments(const std::string& output) const {
    std::vector<std::string> words{"generate", "kronecker", "--compact", "--weights", "uniform"};
    words.insert(words.end(), {"--scale", std::to_string(options_.scale)});
    words.insert(words.end(), {"--edge-factor", std::to_string(options_.edge_factor)});
    words.insert(words.end(), {"--seed", std::to_string(options_.seed)});
    if (output != directed_graph()) words.push_back("--undirected");
    words.insert(words.end(), {"--output", output});
    return words;
  }

  /// Makes the input of the jobs: the graph, and for `convert` a list of its edges, or of the first ones.
  void prepare(const std::vector<Job>& jobs) {
    const bool converts = std::ranges::find(jobs, kConvert, &Job::name) != jobs.end();
    const auto make = [&](const std::string& input, bool needed) {
      const auto reads = [&](const Job& job) {
        return std::ranges::find(job.inputs, input) != job.inputs.end();
      };
      if (needed || std::ranges::any_of(jobs, reads)) run_program(generate_arguments(input));
    };
    if (options_.graph.empty()) make(graph(), converts);
    make(directed_graph(), false);
    if (!converts) return;
    const Graph lists = io::read_graph(graph());
    std::ofstream text(folder_.path_of("edges.txt"));
    std::string lines;
    std::uint64_t written = 0;
    for (std::uint64_t v = 0; v < lists.vertices() && written < kMaxText; ++v) {
      for (EdgeIndex edge = lists.out.offsets[v]; edge < lists.out.offsets[v + 1]; ++edge)
        fmt::format_to(std::back_inserter(lines), "{} {}\n", v, lists.out.targets[edge]);
      if (lines.size() < kBlock) continue;
      text << lines;
      written += lines.size();
      lines.clear();
    }
    if (!(text << lines).flush()) throw RunError(folder_.path_of("edges.txt") + ": cannot be written");
  }

  std::vector<Job> jobs() const {
    const std::string out = folder_.path_of("out");
    const auto graph_job = [&](std::string name, std::vector<std::string> words, const char* ending,
                               const std::string& input) {
      words.insert(words.begin() + 1, input);
      words.insert(words.end(), {"--output", out + ending});
      return Job{std::move(name), std::move(words), {input}, out + ending};
    };
    return {
        {"generate", generate_arguments(out + ".h5"), {}, out + ".h5"},
        {kConvert,
         {"convert", folder_.path_of("edges.txt"), out + ".h5"},
         {folder_.path_of("edges.txt")},
         out + ".h5"},
        graph_job("walk, 40 steps, h5", {"walk", "--length", "40"}, ".h5", graph()),
        graph_job("walk, 40 steps, npy", {"walk", "--length", "40"}, ".npy", graph()),
        graph_job("walk, 40 steps, biased by weight", {"walk", "--kind", "biased", "--length", "40"}, ".h5",
                  graph()),
        graph_job("sample, neighbor 10,5",
                  {"sample", "--kind", "neighbor", "--fanout", "10,5", "--instances", seeds()}, ".h5",
                  graph()),
        graph_job("pagerank to 1e-6", {"pagerank", "--tolerance", "1e-6"}, ".h5", graph()),
        graph_job("pagerank to 1e-6, directed", {"pagerank", "--tolerance", "1e-6"}, ".h5", directed_graph()),
        graph_job("bfs", {"bfs", "--source", "0"}, ".h5", graph())};
  }
  /// One seed for every two vertices.
  std::string seeds() const { return std::to_string(std::uint64_t{1} << (options_.scale - 1)); }

  /// Runs the job and the disk alone in turns.
  Figure measure(const Job& job) {
    std::vector<JobRun> all;
    for (unsigned r = 0; r < options_.repetitions; ++r) all.push_back(run_once(job));
    std::ranges::sort(all, {}, [](const JobRun& ran) { return ran.wall / ran.disk; });
    const JobRun& median_run = all[all.size() / 2];
    const auto times = [](const JobRun& ran) { return ran.wall / ran.disk; };
    Figure figure{job.name, times(median_run), "times the disk", times(all.front()), times(all.back()), {}};
    const auto& bytes = median_run.report.at("bytes");
    const double read = bytes.at("read").get<double>();
    figure.columns = {{"wall s", median_run.wall},
                      {"disk s", median_run.disk},
                      {"MB read", read * 1e-6},
                      {"MB written", bytes.at("written").get<double>() * 1e-6},
                      {"GB read a s", read / median_run.wall * 1e-9}};
    add_phases(median_run, figure.columns);
    return figure;
  }

  static void add_phases(const JobRun& ran, Columns& columns) {
    const auto& seconds = ran.report.at("seconds");
    for (const auto& [name, phase] : seconds.items())
      if (name != "total") columns.emplace_back(name + " s", phase.get<double>());
    // The report is written before the program ends, and its clock starts after its libraries are loaded.
    const double reported = seconds.at("start").get<double>() + seconds.at("total").get<double>();
    columns.emplace_back("end s", ran.wall - reported);
  }

  /// Measures a walk of one step: all time except its work. It is an upper bound of the time before the first
  /// kernel, as it includes the end of the process.
  Figure measure_startup() const {
    const std::string ring = folder_.path_of("ring.h5"), output = folder_.path_of("out.h5");
    run_program({"generate", "ring", "--scale", "10", "--output", ring});
    const Job job{
        kStart, {"walk", ring, "--instances", "1", "--length", "1", "--output", output}, {}, output};
    std::vector<double> starts;
    Figure figure;
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      const JobRun ran = run_once(job);
      const auto& seconds = ran.report.at("seconds");
      double start = ran.wall;
      for (const char* const work : {"compute", "transfer", "write"}) start -= seconds.at(work).get<double>();
      starts.push_back(start);
      figure.columns = {{"wall s", ran.wall}};
      add_phases(ran, figure.columns);
    }
    return figure_of(kStart, starts, "s", "at most", std::move(figure.columns));
  }

  JobRun run_once(const Job& job) const {
    for (const std::string& input : job.inputs) drop_from_cache(input);
    std::filesystem::remove(job.output);  // removing cached output would count as the job's time
    JobRun ran;
    const double begin = seconds_now();
    run_program(job.words);
    ran.wall = seconds_now() - begin;
    ran.report = nlohmann::json::parse(std::ifstream(folder_.path_of("report.json")));
    const auto& bytes = ran.report.at("bytes");
    ran.disk = seconds_to_read(job.inputs, bytes.at("read").get<std::uint64_t>()) +
               seconds_to_write(folder_, bytes.at("written").get<std::uint64_t>());
    return ran;
  }

  /// Runs the program and waits for its end.
  void run_program(std::vector<std::string> words) const {
    words.insert(words.begin(), program_);
    if (words[1] != "convert") words.insert(words.end(), {"--device", device_});
    words.insert(words.end(),
                 {"--threads", threads_, "--quiet", "--force", "--report", folder_.path_of("report.json")});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (const int error =
            ::posix_spawn(&child, program_.c_str(), nullptr, nullptr, arguments.data(), environ))
      throw RunError(io::system_message(program_, error));
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);  // stop signals reach the program as well
    if (ended != child || status != 0) throw RunError(fmt::format("sluice {} failed", words[1]));
  }

  static constexpr const char *kConvert = "convert, text", *kStart = "start to the first kernel";

  const Options& options_;
  std::string program_;
  Folder folder_;
  std::string threads_, device_;
};

}  // namespace

std::vector<Figure> run_files(Device& device, const Options& options) {
  return WholeRuns(device, options).run();
}

}  // namespace sluice::bench
