// Runs the program like a user: arguments, exit status and both streams, with a time limit.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "paths.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {

struct Finished {
  int status = -1;  ///< exit status; 128 + signal if a signal ended it
  std::string out, err;
};

/// A started process; wait() collects it.
class Process {
 public:
  /// Root may read every file; `nobody` gives that right up.
  enum class As { user, nobody };

  explicit Process(std::vector<std::string> words, As as = As::user) {
    out_ = capture_ / "out", err_ = capture_ / "err";
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    id_ = fork();
    if (id_ != 0) return;
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, out_, O_WRONLY | O_CREAT);
    redirect(STDERR_FILENO, err_, O_WRONLY | O_CREAT);
    constexpr uid_t kNobody = 65534;
    if (as == As::nobody && geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(126);
    execv(arguments[0], arguments.data());
    _exit(127);
  }

  pid_t id() const { return id_; }

  /// True if the process has ended before wait().
  bool ended() const {
    siginfo_t state{};
    return waitid(P_PID, static_cast<id_t>(id_), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           state.si_pid != 0;
  }

  /// Waits until `state` holds or the process has ended. Returns whether it holds.
  template <class State>
  bool reaches(State&& state) const {
    while (!state()) {
      if (ended()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  /// Sends a signal, and waits until the process has begun to handle it.
  void signal_and_see(int signal) const {
    kill(id_, signal);
    reaches([&] {
      const std::string status = read_file("/proc/" + std::to_string(id_) + "/status");
      const auto pending = status.find("ShdPnd:");
      return pending != status.npos &&
             (std::stoull(status.substr(pending + 7), nullptr, 16) >> (signal - 1) & 1) == 0;
    });
  }

  /// User time so far, in clock ticks.
  std::uint64_t ticks() const {
    // After the name, which may hold any bytes, there are the state, eleven numbers and the user time.
    const std::string all = read_file("/proc/" + std::to_string(id_) + "/stat");
    std::istringstream figures(all.substr(all.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) figures >> skipped;
    std::uint64_t user = 0;
    figures >> user;
    return user;
  }

  /// Returns the status and both streams; a process that runs longer than `limit` is killed.
  Finished wait(std::chrono::seconds limit = std::chrono::seconds(120)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(id_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) kill(id_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out_),
            read_file(err_)};
  }

 private:
  static void redirect(int stream, const std::string& path, int flags) {
    const int file = open(path.c_str(), flags, 0600);
    if (file < 0 || dup2(file, stream) < 0) _exit(126);
    close(file);
  }

  TemporaryFolder capture_;
  std::string out_, err_;
  pid_t id_ = -1;
};

/// Runs `sluice` with these arguments to its end.
inline Finished sluice(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), paths::kProgram);
  return Process(std::move(arguments)).wait();
}

}  // namespace sluice::test
