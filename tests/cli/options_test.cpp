// Options without effect or with impossible values are refused with one line.
#include "cli/job_test.hpp"

namespace sluice::test {
namespace {

constexpr int kUsage = 2;

using Options = JobTest;

TEST_F(Options, MoreInstancesThanNumbers) {
  const std::string too_many = "4611686018427387905";  // 2^62 + 1
  const auto path = graph("ring", 2, {});
  refuse(kUsage, "--walks-per-vertex", walk(path, {"--walks-per-vertex", "4611686018427387904"}));
  refuse(kUsage, "--walks-per-vertex", walk(path, {"--walks-per-vertex", too_many}));
  refuse(kUsage, "--instances", {"ppr", path, "--instances", too_many, "--output", at("out.h5")});
  refuse(kUsage, "--instances", walk(path, {"--instances", too_many}));
}

TEST_F(Options, SamplesThatWouldRepeatOthers) {
  const std::vector<std::vector<std::string>> kinds{
      {"neighbor", "--fanout", "2"},  {"forest-fire"},          {"snowball"},
      {"layer", "--layer-size", "2"}, {"node", "--count", "2"}, {"edge", "--count", "2"}};
  for (const auto& kind : kinds) {
    const auto with_range = [&](const std::string& range) {
      std::vector<std::string> more(kind.begin() + 1, kind.end());
      more.insert(more.end(), {"--instances", "281474976710657", "--instance-range", range, "--quiet"});
      return sample(kind[0], more);
    };
    refuse(kUsage, "2^48", with_range("281474976710655:281474976710657"));
    run(with_range("281474976710655:281474976710656"));
    std::filesystem::remove(at("out.h5"));
  }
  refuse(kUsage, "2^48", sample("edge", {"--count", "2", "--instances", "281474976710657", "--plan"}));
}

TEST_F(Options, RowsThatHdf5CannotHold) {
  const std::string remedy = "use --format npy";
  refuse(kUsage, remedy, {"walk", graph(), "--length", "1073741823", "--output", at("out.h5")});
  refuse(kUsage, remedy, {"walk", graph(), "--length", "1073741823", "--plan"});
  refuse(kUsage, remedy, walk(graph(), {"--kind", "multidimensional", "--frontier-size", "1073741824"}));
  refuse(kUsage, remedy,
         {"ppr", graph(), "--instances", "1", "--top", "536870912", "--output", at("out.h5")});
}

TEST_F(Options, WithoutEffect) {
  refuse(kUsage, "--collision does not apply to --kind snowball",
         sample("snowball", {"--collision", "bitmap"}));
  refuse(kUsage, "--collision does not apply with --replace",
         sample("neighbor", {"--fanout", "3", "--replace", "--collision", "bitmap"}));
  refuse(kUsage, "--collision does not apply with --select updated",
         sample("forest-fire", {"--select", "updated", "--collision", "linear"}));
  for (const char* option : {"--replace", "--select=updated", "--collision=bitmap"})
    refuse(kUsage, "where --fanout -1 selects every neighbour",
           sample("neighbor", {"--fanout=-1,-1", option}));
  refuse(kUsage, "--layout wide: this sample reads lists as they are",
         sample("neighbor", {"--fanout", "3", "--layout", "wide"}));
  refuse(kUsage, "--layout coded: this sample reads lists as they are",
         sample("layer", {"--layer-size", "3", "--layout", "coded"}));
  refuse(kUsage, "--layout coded: the graph is not in partitions",
         sample("neighbor", {"--fanout", "3", "--layout", "coded"}));
  refuse(kUsage, "--layout wide: this walk reads lists",
         walk(graph(), {"--kind", "multidimensional", "--layout", "wide"}));
  refuse(kUsage, "--layout wide: --kind jump with --select alias",
         walk(graph(), {"--kind", "jump", "--select", "alias", "--layout", "wide"}));
  refuse(kUsage, "--layout wide: --kind node2vec with --select its",
         walk(graph(), {"--kind", "node2vec", "--select", "its", "--layout", "wide"}));
}

TEST_F(Options, OfAnotherKind) {
  refuse(kUsage, "--p does not apply to --kind uniform", walk(graph(), {"--p", "2"}));
  refuse(kUsage, "--probability", walk(graph(), {"--kind", "biased", "--probability", "0.5"}));
  refuse(kUsage, "--walks-per-vertex",
         walk(graph(), {"--kind", "multidimensional", "--walks-per-vertex", "2"}));
  refuse(kUsage, "--fanout", sample("snowball", {"--fanout", "3"}));
  refuse(kUsage, "--depth", sample("neighbor", {"--fanout", "3", "--depth", "2"}));
  refuse(kUsage, "--revisit", sample("node", {"--count", "3", "--revisit"}));
}

}  // namespace
}  // namespace sluice::test
