// SPDX-License-Identifier: BSD-3-Clause
// Methods of codec `lossless` on a section's bytes: laid out, perhaps combined with the word before, and
// coded.
#pragma once

#include <span>

#include "core/bits/bytes.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/threads/scratch.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

inline bool takes_differences(LosslessMethod method) { return method >= LosslessMethod::lorenzo; }

struct ByteMethod {
  enum class Layout : uint8_t { as_they_are, byte_planes, bit_planes, segregated, segregated_byte_wise };
  Layout layout = Layout::as_they_are;
  ByteCoder coder = ByteCoder::zstd;
  bool xors = false;  // each word with the one before it, first
};

ByteMethod byte_method(LosslessMethod method);

template <class U>
Status write_words(LosslessMethod method, const CoderLevels& levels, std::span<const U> words,
                   ByteWriter& out);
// Errors: corrupt.
template <class U>
Status read_bytes(LosslessMethod method, ByteReader& in, RawVector<U>& words);

}  // namespace neve
