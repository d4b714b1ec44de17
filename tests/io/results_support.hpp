// Data that tests of result writers write.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "io/results/result_writer.hpp"

namespace sluice::io {

inline const std::vector<Attribute> kAttributes = {
    {"kind", "uniform"}, {"length", std::int64_t{80}}, {"p", 0.5}};

inline std::vector<std::int64_t> counting(std::size_t size) {
  std::vector<std::int64_t> values(size);
  std::iota(values.begin(), values.end(), -1);
  return values;
}

}  // namespace sluice::io
