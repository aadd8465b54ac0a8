// SPDX-License-Identifier: BSD-3-Clause
// Errors as values. Nothing in Neve prints, throws across its C boundary, or aborts on bad input. Public
// functions that return a Status or a Result do not throw either: if memory runs out, on any of their
// threads, they return Code::failure. The others throw what the standard library throws.
#pragma once

#include <optional>
#include <string>
#include <utility>

#pragma GCC visibility push(default)
namespace neve {

// The values are the exit codes of the `neve` command, so a code means the same everywhere.
enum class Code : int {
  ok = 0,
  failure = 1,         // the system refused: I/O, memory, another rank failed
  usage = 2,           // the caller asked for something that is not allowed
  bound_violated = 3,  // a comparison found a value outside its error bound
  corrupt = 4,         // the input's bytes are damaged or disagree with each other
  plugin_missing = 5,  // HDF5 cannot find or load Neve's filter
};

// Outcome of a call. `message` names the thing, the value found and what is allowed; empty when ok.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error seen from further out: "`context`: message".
  Status in(const std::string& context) const {
    return ok() ? Status() : Status(code_, context + ": " + message_);
  }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

inline Status failure(std::string m) { return {Code::failure, std::move(m)}; }
inline Status usage_error(std::string m) { return {Code::usage, std::move(m)}; }
inline Status corrupt(std::string m) { return {Code::corrupt, std::move(m)}; }

// A value, or the reason there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace neve
#pragma GCC visibility pop

#define NEVE_CONCAT_INNER(a, b) a##b
#define NEVE_CONCAT(a, b) NEVE_CONCAT_INNER(a, b)
// Leave the function with the error of `expression` (a Status) when it has one.
#define NEVE_TRY(expression)                                        \
  do {                                                              \
    if (::neve::Status neve_try_ = (expression); !neve_try_.ok()) { \
      return neve_try_;                                             \
    }                                                               \
  } while (false)
// Declare `target` with the value of `expression` (a Result), or leave with its error.
#define NEVE_ASSIGN(target, expression)                    \
  auto NEVE_CONCAT(neve_result_, __LINE__) = (expression); \
  if (!NEVE_CONCAT(neve_result_, __LINE__).ok()) {         \
    return NEVE_CONCAT(neve_result_, __LINE__).status();   \
  }                                                        \
  target = std::move(*NEVE_CONCAT(neve_result_, __LINE__))
