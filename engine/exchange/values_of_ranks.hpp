// Gathers a few values of each rank on all ranks.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// Returns the values of all `ranks`, in order of rank; if `ranks` is null, this rank's.
template <class T>
std::vector<T> values_of_ranks(Communicator* ranks, std::span<const T> own_values, const char* label) {
  if (!ranks) return {own_values.begin(), own_values.end()};
  std::vector<T> all;
  const std::string bytes(reinterpret_cast<const char*>(own_values.data()), own_values.size_bytes());
  for (const std::string& other_bytes : ranks->all_gather(bytes, label)) {
    const std::size_t old_size = all.size();
    all.resize(old_size + other_bytes.size() / sizeof(T));
    if (!other_bytes.empty()) std::memcpy(all.data() + old_size, other_bytes.data(), other_bytes.size());
  }
  return all;
}

}  // namespace sluice
