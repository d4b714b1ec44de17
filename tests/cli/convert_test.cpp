// What `convert` makes of inputs that say more of a graph than its edges, and what it tells the user.
#include "cli/cli.hpp"

namespace sluice::test {
namespace {

class Convert : public CliTest {
 protected:
  /// Converts `text`; returns what was said.
  std::string convert(const std::string& name, const std::string& text, std::vector<std::string> more = {}) {
    write_bytes(at(name), text);
    more.insert(more.begin(), {"convert", at(name), at("out.h5"), "--force"});
    return run(more).err;
  }
  std::vector<std::int64_t> targets() const { return read_numbers(at("out.h5"), "out/indices"); }
};

const std::string kMetisSquare = "4 4\n2 4\n1 3\n2 4\n1 3\n";

TEST_F(Convert, MetisStoresAnEdgeOnceADirectionWithKeepDuplicates) {
  convert("square.graph", kMetisSquare);
  const auto once = targets();
  convert("square.graph", kMetisSquare, {"--keep-duplicates"});

  EXPECT_EQ(once, (std::vector<std::int64_t>{1, 3, 0, 2, 1, 3, 0, 2}));
  EXPECT_EQ(targets(), once);
}

TEST_F(Convert, MetisKeepsAndCountsTrueDuplicatesAlone) {
  const std::string doubled = "3 3\n2 3 2\n1 1\n1\n";

  EXPECT_EQ(convert("square.graph", kMetisSquare).find("dropped"), std::string::npos);
  EXPECT_NE(convert("doubled.graph", doubled).find("dropped: 0 self-loops, 1 duplicates"), std::string::npos);
  convert("doubled.graph", doubled, {"--keep-duplicates"});
  EXPECT_EQ(targets(), (std::vector<std::int64_t>{1, 1, 2, 0, 0, 0}));
}

}  // namespace
}  // namespace sluice::test
