#include "engine/memory/schedule/balance.hpp"

#include <cmath>

namespace sluice {

std::vector<unsigned> shares_of(std::span<const std::uint64_t> work, unsigned total, Balance balance) {
  std::vector<unsigned> shares(work.size(), 1);
  for (std::size_t assigned = work.size(); assigned < total && !work.empty(); ++assigned) {
    // Gives the next one to the partition with the most work for each that it already has.
    std::size_t neediest = 0;
    for (std::size_t i = 1; i < work.size(); ++i) {
      const std::uint64_t work_of_i = balance == Balance::on ? work[i] : 1,
                          work_of_neediest = balance == Balance::on ? work[neediest] : 1;
      if (work_of_i * shares[neediest] > work_of_neediest * shares[i]) neediest = i;
    }
    ++shares[neediest];
  }
  return shares;
}

void KernelTimes::add(std::span<const double> seconds) {
  if (seconds.size() < 2) return;
  const auto count = static_cast<double>(seconds.size());
  double sum = 0, squares = 0;
  for (const double each : seconds) sum += each;
  for (const double each : seconds) squares += (each - sum / count) * (each - sum / count);
  ++rounds;
  mean_seconds += sum / count;
  deviation_seconds += std::sqrt(squares / count);
}

void KernelTimes::operator+=(const KernelTimes& other) {
  rounds += other.rounds;
  mean_seconds += other.mean_seconds;
  deviation_seconds += other.deviation_seconds;
}

}  // namespace sluice
