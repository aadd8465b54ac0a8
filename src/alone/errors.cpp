// SPDX-License-Identifier: BSD-3-Clause
#include "alone/errors.hpp"

#include <cerrno>
#include <cstring>
#include <string>

namespace neve::alone {
namespace {

std::string words_of(int code) {
  if (code >= first_of_system) return std::strerror(code - first_of_system);
  switch (code) {
    case MPI_SUCCESS:
      return "no error";
    case no_memory:
      return "out of memory";
    case bad_argument:
      return "an argument that MPI does not allow";
    case bad_rank:
      return "a rank other than 0, the only one of this process";
    case message_too_long:
      return "a message is longer than the place for it";
    case nobody_sends:
      return "waits for a message that nobody sends";
    case closed_key:
      return "a key that MPI_Comm_create_keyval has not made";
    default:
      return "error " + std::to_string(code);
  }
}

}  // namespace

int system_error() { return first_of_system + errno; }

}  // namespace neve::alone

int MPI_Error_string(int code, char* text, int* length) {
  return neve::alone::guarded([&] {
    const std::string words = neve::alone::words_of(code).substr(0, MPI_MAX_ERROR_STRING - 1);
    std::memcpy(text, words.c_str(), words.size() + 1);
    *length = static_cast<int>(words.size());
    return MPI_SUCCESS;
  });
}
