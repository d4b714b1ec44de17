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
std::vector<T> values_of_ranks(Communicator* ranks, std::span<const T> own, const char* label) {
  if (!ranks) return {own.begin(), own.end()};
  std::vector<T> all;
  const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size_bytes());
  for (const std::string& theirs : ranks->all_gather(bytes, label)) {
    const std::size_t known = all.size();
    all.resize(known + theirs.size() / sizeof(T));
    if (!theirs.empty()) std::memcpy(all.data() + known, theirs.data(), theirs.size());
  }
  return all;
}

}  // namespace sluice
