// Results as a folder: NAME.npy for every dataset (NumPy's format 1.0) and attributes.json.
#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/core/error.hpp"
#include "io/output_file.hpp"
#include "io/results/json_text.hpp"
#include "io/results/result_forms.hpp"

namespace sluice::io {
namespace {

constexpr std::size_t kHeaderBytes = 256;       // holds any shape of Sluice; NumPy needs a multiple of 64
constexpr std::size_t kBufferBytes = 1u << 20;  // small appends are gathered

/// NumPy's type code, for example `<i4`: byte order, kind and bytes.
std::string type_code(ElementType type) {
  return with_element_type(type, []<class T>() {
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return fmt::format("{}{}{}", sizeof(T) == 1 ? '|' : '<', kind, sizeof(T));
  });
}

std::string header_of(const ResultDataset& dataset) {
  std::string shape = fmt::format("({},", dataset.rows);
  for (const std::uint64_t length : dataset.row) shape += fmt::format(" {},", length);
  if (!dataset.row.empty()) shape.pop_back();
  std::string header = "\x93NUMPY";
  header += std::string{'\x01', '\x00', static_cast<char>((kHeaderBytes - 10) % 256),
                        static_cast<char>((kHeaderBytes - 10) / 256)};
  header += fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}), }}", type_code(dataset.type),
                        shape);
  if (header.size() >= kHeaderBytes)
    throw RunError("internal error: dataset " + dataset.name + " has too many axes");
  header.resize(kHeaderBytes - 1, ' ');
  return header + '\n';
}

class NpyResults final : public ResultWriter {
 public:
  NpyResults(const std::string& path, bool force, const std::vector<Attribute>& attributes)
      : ResultWriter(path), output_(path, force, true) {
    for (const Attribute& attribute : attributes) add_attribute(attribute);
  }

  void add_attribute(const Attribute& attribute) override {
    std::visit([&](const auto& value) { attributes_[attribute.first] = value; }, attribute.second);
  }

  void complete() override {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      flush(i);
      const std::string header = header_of(datasets()[i]);
      files_[i].write_all_at(std::as_bytes(std::span(header)), 0);
      files_[i].close();
    }
    write_text(open_file("attributes.json"), json_text(attributes_, 2) + "\n");
    output_.finish();
  }
  void publish() override { output_.commit(); }

 private:
  Descriptor open_file(const std::string& name) const {
    return Descriptor(output_.temporary() + "/" + name, O_WRONLY | O_CREAT | O_EXCL, output_.path());
  }
  void write_text(Descriptor file, const std::string& text) {
    file.write_all(std::as_bytes(std::span(text)));
    count_written(text.size());
    file.close();
  }

  void on_declared() override {
    buffers_.emplace_back();
    files_.push_back(open_file(datasets().back().name + ".npy"));
    writebacks_.emplace_back();
    const std::string header = header_of(datasets().back());
    files_.back().write_all(std::as_bytes(std::span(header)));
    count_written(header.size());
  }

  void store_rows(std::size_t dataset, std::span<const std::byte> bytes) override {
    std::vector<std::byte>& buffer = buffers_[dataset];
    if (buffer.size() + bytes.size() > kBufferBytes) flush(dataset);
    if (bytes.size() > kBufferBytes) {
      write_bytes(dataset, bytes);
    } else {
      buffer.insert(buffer.end(), bytes.begin(), bytes.end());
    }
    count_written(bytes.size());
  }

  void flush(std::size_t dataset) {
    write_bytes(dataset, buffers_[dataset]);
    buffers_[dataset].clear();
  }

  void write_bytes(std::size_t dataset, std::span<const std::byte> bytes) {
    files_[dataset].write_all(bytes);
    writebacks_[dataset].add_written(files_[dataset].get(), bytes.size());
  }

  OutputFile output_;
  nlohmann::ordered_json attributes_ = nlohmann::ordered_json::object();
  std::vector<Descriptor> files_;
  std::vector<Writeback> writebacks_;  // one for each of files_
  std::vector<std::vector<std::byte>> buffers_;
};

}  // namespace

std::unique_ptr<ResultWriter> make_npy_results(const std::string& path, bool force,
                                               const std::vector<Attribute>& attributes) {
  return std::make_unique<NpyResults>(path, force, attributes);
}

}  // namespace sluice::io
