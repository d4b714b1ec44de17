// Helpers of reader tests: files made of literals, and whole files read at once.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "engine/core/error.hpp"
#include "io/edge_source.hpp"
#include "temporary_folder.hpp"

namespace sluice::io::testing {

inline std::string gzip(std::string_view text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

class ReadersTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    test::write_file(folder_ / name, content);
    return folder_ / name;
  }

  test::TemporaryFolder folder_;
};

struct Loaded {
  EdgeBatch edges;
  EdgeStreamInfo info;
  std::string remark;
};

inline Loaded load(const std::string& path, const ReadOptions& options = {}) {
  const auto source = open_edge_file(path, options);
  Loaded loaded;
  loaded.info = source->info();
  EdgeBatch batch;
  while (source->next(batch)) {
    EXPECT_GT(batch.size(), 0u);
    EXPECT_EQ(batch.target.size(), batch.size());
    EXPECT_EQ(batch.weight.size(), loaded.info.weighted ? batch.size() : 0u);
    EXPECT_EQ(batch.time.size(), loaded.info.timed ? batch.size() : 0u);
    EdgeBatch& all = loaded.edges;
    all.source.insert(all.source.end(), batch.source.begin(), batch.source.end());
    all.target.insert(all.target.end(), batch.target.begin(), batch.target.end());
    all.weight.insert(all.weight.end(), batch.weight.begin(), batch.weight.end());
    all.time.insert(all.time.end(), batch.time.begin(), batch.time.end());
  }
  loaded.remark = source->remark();
  return loaded;
}

/// The message with which a file is refused, or "read" if it is read.
inline std::string refusal(const std::string& path, const ReadOptions& options = {}) {
  try {
    load(path, options);
    return "read";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// Expects a refusal in a single line that begins with the file and `place`, and contains `what`.
inline void expect_refused(const std::string& path, const std::string& place, const std::string& what,
                           const ReadOptions& options = {}) {
  const std::string message = refusal(path, options);
  EXPECT_EQ(message.substr(0, (path + place).size()), path + place) << message;
  EXPECT_NE(message.find(what), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

inline std::string pairs_of(const EdgeBatch& edges) {
  std::string text;
  for (std::size_t i = 0; i < edges.size(); ++i)
    text += std::to_string(edges.source[i]) + ">" + std::to_string(edges.target[i]) + " ";
  return text;
}

inline ReadOptions with_weights() {
  return {.weights = WeightColumn::column};
}
inline ReadOptions with_times() {
  return {.timestamps = true};
}

}  // namespace sluice::io::testing
