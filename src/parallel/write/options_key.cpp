// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/options_key.hpp"

#include <bit>
#include <functional>
#include <type_traits>
#include <vector>

#include "core/options/slots.hpp"
#include "neve/frame.hpp"
#include "parallel/comm/same_everywhere.hpp"
#include "parallel/write/key_text.hpp"

namespace neve::mpi {
namespace {

// Appends what is asked for, whatever it is; what each rank may have for itself it leaves out.
class Key {
 public:
  void add(const std::string& text) { append_text(text_, text); }
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
    add(bound.best_effort);
  }
  void add(const LosslessMethods& methods) { add(methods.bits); }
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
    std::apply([this](const auto&... member) { (this->add(member), ...); }, members);
  }

  std::string text_;
};

// Of the stage they must agree on whether there is one: each may have a device of its own.
WriteOptions common_to_ranks(WriteOptions options) {
  if (!options.stage.empty()) options.stage = "given";
  return options;
}

// What the ranks may differ in, by name: the table's options, then what it has no rows for.
struct NamedText {
  std::string name, text;
};
std::vector<NamedText> named_texts(const WriteOptions& given) {
  WriteOptions options = common_to_ranks(given);
  options::FillChoice fill{options.detect_fill, options.fill, {}};
  options::Slots slots = options::common_slots(options, fill);
  slots.layout = &options.layout;
  slots.write = &options;
  std::vector<NamedText> texts;
  for (const options::Option& option : options::table()) {
    if (option.key != "threads" && !option.is_of_choice)
      texts.push_back({std::string(option.key), option.print(slots)});
  }
  Key ghosts, fields, hints;
  ghosts.add(options.ghosts);
  fields.add(options.fields);
  hints.add(options.mpi_hints);
  texts.push_back({"ghosts", ghosts.text()});
  texts.push_back({"rules of fields", fields.text()});
  texts.push_back({"mpi_hints", hints.text()});
  texts.push_back({"like", options.like});
  return texts;
}

// Collective. The first that differs; empty where none of these does.
Result<std::string> differing_name(const Comm& comm, const WriteOptions& options) {
  std::vector<NamedText> texts;
  std::vector<uint64_t> smallest;  // of hashes and of their complements: equal where all are
  NEVE_TRY(guarded_alike(comm, "options", [&]() -> Status {
    texts = named_texts(options);
    for (const NamedText& named : texts) {
      const uint64_t hash = std::hash<std::string>{}(named.text);
      smallest.insert(smallest.end(), {hash, ~hash});
    }
    return {};
  }));
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, smallest.data(), static_cast<int>(smallest.size()),
                                    MPI_UINT64_T, MPI_MIN, comm.get()),
                      "comparison of the ranks' options"));
  for (size_t i = 0; i < texts.size(); ++i) {
    if (smallest[2 * i] != ~smallest[2 * i + 1]) return texts[i].name;
  }
  return std::string();
}

}  // namespace

Status name_differing_option(const Comm& comm, const WriteOptions& options, const Status& disagreement) {
  NEVE_ASSIGN(const std::string name, differing_name(comm, options));
  if (name.empty()) return disagreement;
  return usage_error("the ranks disagree about " + std::string(options_argument) + " (" + name +
                     "); all must pass the same");
}

Status check_same_options(const Comm& comm, const WriteOptions& options) {
  const Status same = check_same_everywhere(
      comm, [&] { return options_key(options); }, options_argument);
  return same.code() == Code::usage ? name_differing_option(comm, options, same) : same;
}

std::string options_key(const WriteOptions& options) {
  Key key;
  key.add(common_to_ranks(options));
  return key.text();
}

}  // namespace neve::mpi
