// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/options_key.hpp"

#include <bit>
#include <type_traits>

#include "neve/frame.hpp"

namespace neve::mpi {
namespace {

// Appends what is asked for, whatever it is; what each rank may have for itself it leaves out.
class Key {
 public:
  void add(const std::string& text) { text_ += std::to_string(text.size()) + ":" + text; }
  void add(double number) { add(std::to_string(std::bit_cast<uint64_t>(number))); }
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void add(T number) { add(std::to_string(static_cast<uint64_t>(number))); }
  void add(const IntVect& cells) {
    for (const int32_t count : cells) add(count);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class T>
  void add(const std::map<std::string, T>& values) {
    add(values.size());
    for (const auto& [name, value] : values) {
      add(name);
      add(value);
    }
  }
  void add(const Bound& bound) {
    add(bound.mode);
    add(bound.mode == BoundMode::lossless ? 0 : bound.value);
  }
  void add(const CodecTuning& tuning) { add_all(tuning.fields()); }
  void add(const FieldRule& rule) { add_all(rule.fields()); }
  void add(const FileLayout& layout) { add_all(layout.fields()); }
  void add(const EncodeOptions& encode) {
    const auto& [effort, threads, explain] = encode;
    add(effort);
    static_cast<void>(threads);  // a rank's own
    add(explain);
  }
  void add(const WriteOptions& options) { add_all(options.members()); }
  void add(const std::shared_ptr<SelectionMemory>&) {}                 // a rank's own
  void add(const std::function<void(const std::string&, double)>&) {}  // rank 0's

  const std::string& text() const { return text_; }

 private:
  template <class... T>
  void add_all(const std::tuple<T...>& members) {
    std::apply([this](const auto&... member) { (add(member), ...); }, members);
  }

  std::string text_;
};

}  // namespace

std::string options_key(const WriteOptions& options) {
  Key key;
  key.add(options);
  return key.text();
}

}  // namespace neve::mpi
