#include "io/results/result_writer.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/core/error.hpp"
#include "io/results/result_forms.hpp"

namespace sluice::io {

std::uint64_t ResultDataset::row_elements() const {
  return std::accumulate(row.begin(), row.end(), std::uint64_t{1}, std::multiplies<>());
}

int ResultWriter::declare(const std::string& name, ElementType type, std::vector<std::uint64_t> row) {
  const bool known =
      std::any_of(datasets_.begin(), datasets_.end(), [&](const auto& d) { return d.name == name; });
  if (known || name.empty() || name.find('/') != name.npos || appending_) {
    throw RunError("internal error: " + path_ + ": dataset '" + name +
                   "' must be declared once, by a plain name, before any rows are appended");
  }
  datasets_.push_back({name, type, std::move(row)});
  on_declared();
  return static_cast<int>(datasets_.size()) - 1;
}

int ResultWriter::declare_padded(const std::string& name, ElementType type, std::vector<std::uint64_t> row) {
  const int dataset = declare(name, type, std::move(row));
  datasets_.back().padded = true;
  return dataset;
}

int ResultWriter::declare_offsets(const std::string& name) {
  const int dataset = declare(name, ElementType::i64, {});
  datasets_.back().offsets = true;
  return dataset;
}

void ResultWriter::append_counts(int dataset, std::span<const std::uint64_t> counts) {
  ResultDataset& target = datasets_.at(static_cast<std::size_t>(dataset));
  ends_.clear();
  if (target.rows == 0) ends_.push_back(0);
  for (const std::uint64_t count : counts) ends_.push_back(target.end += static_cast<std::int64_t>(count));
  append(dataset, ends_.data(), ends_.size());
}

std::vector<std::string> ResultWriter::offset_names() const {
  std::vector<std::string> names;
  for (const ResultDataset& dataset : datasets_) {
    if (dataset.offsets) names.push_back(dataset.name);
  }
  return names;
}

void ResultWriter::finish() {
  if (std::exchange(finished_, true)) return;
  for (std::size_t i = 0; i < datasets_.size(); ++i) {
    if (datasets_[i].offsets && datasets_[i].rows == 0) append_counts(static_cast<int>(i), {});
  }
  for (std::size_t i = 1; i < std::min(columns_, datasets_.size()); ++i) {
    if (datasets_[i].rows != datasets_[0].rows)
      throw RunError("internal error: " + path_ + ": the columns have unequal rows");
  }
  complete();
}

void ResultWriter::commit() {
  finish();
  publish();
}

void ResultWriter::append(int dataset, const void* data, std::uint64_t rows) {
  appending_ = true;
  ResultDataset& target = datasets_.at(static_cast<std::size_t>(dataset));
  target.rows += rows;
  if (const std::uint64_t bytes = rows * target.row_bytes(); bytes > 0) {
    store_rows(static_cast<std::size_t>(dataset), {static_cast<const std::byte*>(data), bytes});
  }
}

void Scratch::append(std::span<const std::byte> bytes) {
  if (!file_) file_ = open_scratch(sibling_, display_path_);
  file_.write_all(bytes);
  size_ += bytes.size();
}

std::unique_ptr<ResultWriter> make_result_writer(const std::string& path, ResultFormat format, bool force,
                                                 const std::vector<Attribute>& attributes,
                                                 const std::vector<std::string>& text_columns,
                                                 const std::string& scratch) {
  if (path == "-" && format != ResultFormat::text) {
    throw UsageError("--output -: only --format text can go to standard output");
  }
  switch (format) {
    case ResultFormat::h5:
      return make_h5_results(path, force, attributes);
    case ResultFormat::npy:
      return make_npy_results(path, force, attributes);
    case ResultFormat::text:
      break;
  }
  return make_text_results(path, force, scratch, text_columns);
}

}  // namespace sluice::io
