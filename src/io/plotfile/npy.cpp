// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "core/status/guarded.hpp"
#include "io/files/temporary_file.hpp"
#include "io/files/write.hpp"
#include "io/plotfile/byte_order.hpp"
#include "io/plotfile/file.hpp"

namespace neve::plotfile {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr size_t max_npy_dims = 32;             // NumPy's own until version 2
constexpr int64_t header_alignment_bytes = 64;  // where NumPy lets the values begin

// NumPy's code: kind and bytes, "f4", "i2".
std::string code_of_dtype(DType dtype) {
  return fmt::format("{}{}", dtype_name(dtype)[0], dtype_bytes(dtype));
}
std::optional<DType> dtype_of_code(const std::string& code) {
  for (int t = 0; t < dtypes; ++t) {
    if (code == code_of_dtype(static_cast<DType>(t))) return static_cast<DType>(t);
  }
  return {};
}

// The Python dictionary of the header: no escapes, no nesting beyond one tuple, keys in any order.
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Status parse(NpyHeader& header) {
    NEVE_TRY(expect('{'));
    bool has_descr = false, has_order = false, has_shape = false;
    while (peek() != '}') {
      NEVE_ASSIGN(const std::string key, quoted());
      NEVE_TRY(expect(':'));
      if (key == "descr") {
        has_descr = true;
        NEVE_TRY(descr(header));
      } else if (key == "fortran_order") {
        has_order = true;
        NEVE_TRY(order(header));
      } else if (key == "shape") {
        has_shape = true;
        NEVE_TRY(shape(header));
      } else {
        return error(fmt::format("unknown key '{}'", key));
      }
      if (peek() == ',') ++at_;
    }
    if (!has_descr || !has_order || !has_shape) {
      return error("keys 'descr', 'fortran_order' and 'shape' must all be there");
    }
    return {};
  }

 private:
  Status error(const std::string& what) const {
    return corrupt(fmt::format("{}: .npy header, byte {}: {}", path_, at_, what));
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  Status expect(char c) {
    if (peek() != c) return error(fmt::format("'{}' is missing", c));
    ++at_;
    return {};
  }
  Result<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return error("a quoted word is missing");
    const size_t end = text_.find(quote, ++at_);
    if (end == text_.npos) return error("a quote is not closed");
    std::string word(text_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
  }
  Status descr(NpyHeader& header) {
    const std::string allowed = "f4, f8, and integers i1 to i8 and u1 to u8 are read, of either byte order";
    if (peek() == '[') {
      return usage_error(fmt::format("{}: elements are records of several fields; {}", path_, allowed));
    }
    NEVE_ASSIGN(const std::string type, quoted());
    const std::optional<DType> dtype = type.empty() ? std::nullopt : dtype_of_code(type.substr(1));
    const bool has_order = type[0] == '<' || type[0] == '>' || (type[0] == '|' && type.back() == '1');
    if (!dtype || !has_order) {
      const bool is_object = type.find('O') != type.npos;
      return usage_error(fmt::format("{}: element type is '{}'{}; {}", path_, type,
                                     is_object ? " (Python objects)" : "", allowed));
    }
    header.is_big_endian = type[0] == '>';
    header.dtype = *dtype;
    return {};
  }
  Status order(NpyHeader& header) {
    peek();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        header.is_fortran_order = value;
        return {};
      }
    }
    return error("'fortran_order' is neither True nor False");
  }
  Status shape(NpyHeader& header) {
    header.shape.clear();
    NEVE_TRY(expect('('));
    while (peek() != ')') {
      uint64_t size = 0;
      const auto [end, fault] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (fault != std::errc()) return error("a size in 'shape' is not a whole number from 0 to 2^64 - 1");
      at_ = static_cast<size_t>(end - text_.data());
      if (peek() == 'L') ++at_;  // Python 2 wrote long integers as 3L
      header.shape.push_back(size);
      if (header.shape.size() > max_npy_dims) {
        return error(fmt::format("'shape' has more than {} dimensions", max_npy_dims));
      }
      if (peek() == ',') {
        ++at_;
      } else if (peek() != ')') {
        return error("')' of 'shape' is missing");
      }
    }
    ++at_;
    return {};
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

// Bytes of an array; empty when they exceed 63 bits.
std::optional<int64_t> array_bytes(DType dtype, std::span<const uint64_t> shape) {
  auto bytes = static_cast<int64_t>(dtype_bytes(dtype));
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (uint64_t n : shape) {
    if (__builtin_mul_overflow(bytes, n, &bytes)) return std::nullopt;
  }
  return bytes;
}

Result<NpyHeader> parse_header(const File& file) {
  const std::string& path = file.path();
  constexpr size_t version_bytes = 2;
  std::array<std::byte, magic.size() + version_bytes> start{};
  NEVE_TRY(file.read(0, start));
  if (std::memcmp(start.data(), magic.data(), magic.size()) != 0) {
    return corrupt(fmt::format("{} is not a .npy file: it does not begin with \\x93NUMPY", path));
  }
  const int version = static_cast<int>(start[magic.size()]);
  constexpr int last_version = 3;
  if (version < 1 || version > last_version) {
    return corrupt(fmt::format("{}: .npy version is {}; 1 to {} are read", path, version, last_version));
  }
  const size_t length_bytes = version == 1 ? sizeof(uint16_t) : sizeof(uint32_t);
  uint32_t length = 0;  // little-endian
  std::array<std::byte, sizeof length> raw{};
  NEVE_TRY(file.read(start.size(), std::span(raw).first(length_bytes)));
  for (size_t i = 0; i < length_bytes; ++i) length |= static_cast<uint32_t>(raw[i]) << (8 * i);
  NpyHeader header;
  const auto text_begin = static_cast<int64_t>(start.size() + length_bytes);
  if (int64_t{length} > file.size_bytes() - text_begin) {
    return corrupt(fmt::format("{} has {} bytes; its .npy header alone needs {}", path, file.size_bytes(),
                               text_begin + length));
  }
  std::string text(length, '\0');
  NEVE_TRY(file.read(text_begin, std::as_writable_bytes(std::span(text))));
  NEVE_TRY(Dictionary(text, path).parse(header));
  header.values_begin = text_begin + length;
  const std::optional<int64_t> bytes = array_bytes(header.dtype, header.shape);
  if (!bytes || *bytes != file.size_bytes() - header.values_begin) {
    return corrupt(fmt::format("{} has {} bytes of values; shape ({}) of {} needs {}", path,
                               file.size_bytes() - header.values_begin, fmt::join(header.shape, ", "),
                               dtype_name(header.dtype), bytes ? std::to_string(*bytes) : "more than 2^63"));
  }
  header.values_bytes = *bytes;
  return header;
}

// Values in Fortran order (first index fastest) into C order (last index fastest).
template <class T>
void to_c_order(std::span<const uint64_t> shape, std::span<const std::byte> from_bytes,
                std::span<std::byte> to_bytes) {
  const T* const from = reinterpret_cast<const T*>(from_bytes.data());
  T* to = reinterpret_cast<T*>(to_bytes.data());
  const size_t dims = shape.size();
  std::vector<uint64_t> stride(dims, 1);
  for (size_t d = 1; d < dims; ++d) stride[d] = stride[d - 1] * shape[d - 1];
  std::vector<uint64_t> index(dims, 0);
  const uint64_t row = shape[dims - 1];
  for (uint64_t at = 0;;) {
    for (uint64_t i = 0; i < row; ++i) *to++ = from[at + i * stride[dims - 1]];
    size_t d = dims - 1;
    for (; d > 0; --d) {
      at += stride[d - 1];
      if (++index[d - 1] < shape[d - 1]) break;
      at -= index[d - 1] * stride[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

// All values, in C order and this machine's byte order, into `out` of header.values_bytes.
Status read_values(const File& file, const NpyHeader& header, std::span<std::byte> out) {
  if (header.values_bytes == 0) return {};
  const bool needs_transpose = header.is_fortran_order && header.shape.size() > 1;
  if (!needs_transpose) {
    NEVE_TRY(file.read(header.values_begin, out));
  } else {
    std::vector<std::byte> stored(out.size());
    NEVE_TRY(file.read(header.values_begin, stored));
    switch (dtype_bytes(header.dtype)) {
      case 1:
        to_c_order<uint8_t>(header.shape, stored, out);
        break;
      case 2:
        to_c_order<uint16_t>(header.shape, stored, out);
        break;
      case 4:
        to_c_order<uint32_t>(header.shape, stored, out);
        break;
      default:
        to_c_order<uint64_t>(header.shape, stored, out);
    }
  }
  if (header.is_big_endian) reverse_bytes(header.dtype, out);
  return {};
}

std::string header_text(DType dtype, std::span<const uint64_t> shape) {
  std::string tuple = fmt::format("{}", fmt::join(shape, ", "));
  if (shape.size() == 1) tuple += ",";
  std::string dictionary = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                       dtype_bytes(dtype) == 1 ? '|' : '<', code_of_dtype(dtype), tuple);
  constexpr size_t before_dictionary = magic.size() + 4;  // version and a 16-bit length
  size_t total = before_dictionary + dictionary.size() + 1;
  total = (total + header_alignment_bytes - 1) / header_alignment_bytes * header_alignment_bytes;
  dictionary.append(total - before_dictionary - dictionary.size() - 1, ' ');
  dictionary += '\n';
  std::string text(magic);
  text += '\x01';
  text += '\0';
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  return text + dictionary;
}

class NpyPlotfile final : public PlotfileSource {
 public:
  NpyPlotfile(std::shared_ptr<File> file, NpyHeader header, Hierarchy hierarchy)
      : file_(std::move(file)), header_(std::move(header)), hierarchy_(std::move(hierarchy)) {}

  const Hierarchy& hierarchy() const override { return hierarchy_; }
  std::string kind() const override { return "NumPy array"; }
  Status read_box(int level, int box, int component, std::byte* out) override {
    NEVE_TRY(check(level, box, component, out));
    return guarded("reading a box", [&] {
      return read_values(*file_, header_, {out, static_cast<size_t>(header_.values_bytes)});
    });
  }
  Result<bool> read_cells(int level, int box, int component, int64_t first, int64_t cells,
                          std::byte* out) override {
    NEVE_TRY(check(level, box, component, out));
    const int64_t all = hierarchy_.levels[0].boxes[0].cells();
    if (first < 0 || cells < 0 || first > all || cells > all - first) {
      return usage_error(
          fmt::format("{} cells from cell {} on are asked of an array; it has {}", cells, first, all));
    }
    if (header_.is_fortran_order && header_.shape.size() > 1) return false;
    const auto value_bytes = static_cast<int64_t>(dtype_bytes(header_.dtype));
    const std::span<std::byte> run(out, static_cast<size_t>(cells * value_bytes));
    NEVE_TRY(file_->read(header_.values_begin + first * value_bytes, run));
    if (header_.is_big_endian) reverse_bytes(header_.dtype, run);
    return true;
  }

 private:
  static Status check(int level, int box, int component, const std::byte* out) {
    if (level != 0 || box != 0 || component != 0) {
      return usage_error(
          fmt::format("level {}, box {}, component {} is asked of a NumPy array; it has only 0, 0, 0", level,
                      box, component));
    }
    return out == nullptr ? usage_error("the output of a box is null") : Status();
  }

  std::shared_ptr<File> file_;
  NpyHeader header_;
  Hierarchy hierarchy_;
};

}  // namespace

Result<NpyHeader> read_npy_header(const std::string& path) {
  NEVE_ASSIGN(const std::shared_ptr<File> file, File::open(path));
  return parse_header(*file);
}

Result<NpyArray> read_npy(const std::string& path) {
  NEVE_ASSIGN(const std::shared_ptr<File> file, File::open(path));
  NEVE_ASSIGN(NpyHeader header, parse_header(*file));
  NpyArray array;
  array.dtype = header.dtype;
  array.values.resize(static_cast<size_t>(header.values_bytes));
  NEVE_TRY(read_values(*file, header, array.values));
  array.shape = std::move(header.shape);
  return array;
}

Status write_npy(const std::string& path, DType dtype, std::span<const uint64_t> shape,
                 std::span<const std::byte> values) {
  const std::optional<int64_t> bytes = array_bytes(dtype, shape);
  if (shape.size() > max_npy_dims || !bytes || static_cast<uint64_t>(*bytes) != values.size()) {
    return usage_error(fmt::format("{}: shape ({}) of {}-byte elements does not describe {} bytes", path,
                                   fmt::join(shape, ", "), dtype_bytes(dtype), values.size()));
  }
  NEVE_ASSIGN(files::TemporaryFile temporary, files::TemporaryFile::beside(path));
  NEVE_ASSIGN(files::Descriptor file, files::create_file(temporary.path()));
  const std::string header = header_text(dtype, shape);
  NEVE_TRY(write_fully(file.number(), 0, std::as_bytes(std::span(header)), path));
  NEVE_TRY(write_fully(file.number(), static_cast<int64_t>(header.size()), values, path));
  NEVE_TRY(file.close(path));
  return temporary.commit();
}

Result<std::unique_ptr<PlotfileSource>> open_npy_plotfile(const std::string& path) {
  NEVE_ASSIGN(std::shared_ptr<File> file, File::open(path));
  NEVE_ASSIGN(NpyHeader header, parse_header(*file));
  const size_t dims = header.shape.size();
  if (dims < 1 || dims > static_cast<size_t>(max_dims)) {
    return usage_error(fmt::format("{} has {} dimensions; 1 to {} make a plotfile", path, dims, max_dims));
  }
  if (header.dtype != DType::f32 && header.dtype != DType::f64) {
    return usage_error(
        fmt::format("{} holds {}; f32 and f64 make a plotfile (`neve compress` takes integers)", path,
                    dtype_name(header.dtype)));
  }
  Hierarchy h;
  h.dims = static_cast<int>(dims);
  h.dtype = header.dtype;
  h.components = {"data"};
  Level level;
  for (size_t d = 0; d < dims; ++d) {
    const uint64_t size = header.shape[dims - 1 - d];
    if (size < 1 || size > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
      return usage_error(fmt::format("{} has shape ({}); sizes of 1 to 2147483647 make a plotfile", path,
                                     fmt::join(header.shape, ", ")));
    }
    level.domain.hi[d] = static_cast<int32_t>(size) - 1;
    h.prob_hi[d] = static_cast<double>(size);
  }
  level.boxes = {level.domain};
  h.levels = {level};
  if (const Status status = check_hierarchy(h); !status.ok()) return status.in(path);
  return std::unique_ptr<PlotfileSource>(
      std::make_unique<NpyPlotfile>(std::move(file), std::move(header), std::move(h)));
}

}  // namespace neve::plotfile
