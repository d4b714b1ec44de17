// A few values that each rank brings, and all come to know.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// What each of `ranks` brought, one rank's behind the other's; null: this one's.
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
