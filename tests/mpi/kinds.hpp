// One way to call every kind of walk and sample.
#pragma once

#include <string>
#include <vector>

namespace sluice::test {

/// The command and its options without the graph, for graphs of some hundred vertices or more.
struct Kind {
  const char* name;
  std::vector<std::string> arguments;
};

inline const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds{
      {"uniform", {"walk", "--kind", "uniform", "--length", "9"}},
      {"biased", {"walk", "--kind", "biased", "--length", "9"}},
      {"metropolis-hastings", {"walk", "--kind", "metropolis-hastings", "--length", "9"}},
      {"jump", {"walk", "--kind", "jump", "--length", "9"}},
      {"restart", {"walk", "--kind", "restart", "--length", "9", "--walks-per-vertex", "2"}},
      {"node2vec", {"walk", "--kind", "node2vec", "--q", "2", "--length", "9"}},
      {"multidimensional",
       {"walk", "--kind", "multidimensional", "--frontier-size", "3", "--instances", "50", "--length", "9"}},
      {"neighbor", {"sample", "--kind", "neighbor", "--fanout", "4,3"}},
      {"forest-fire", {"sample", "--kind", "forest-fire", "--instances", "77"}},
      {"snowball", {"sample", "--kind", "snowball", "--instances", "33", "--depth", "2"}},
      {"layer", {"sample", "--kind", "layer", "--layer-size", "5,4"}},
      {"node", {"sample", "--kind", "node", "--count", "20", "--instances", "3"}},
      {"edge", {"sample", "--kind", "edge", "--count", "20", "--instances", "7"}},
  };
  return kinds;
}

}  // namespace sluice::test
