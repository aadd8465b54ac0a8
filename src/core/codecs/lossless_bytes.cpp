// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/lossless_bytes.hpp"

#include <array>

#include "core/codecs/section_codec.hpp"
#include "core/stages/lossless/byte_planes.hpp"
#include "core/stages/lossless/byte_segregation.hpp"
#include "core/stages/lossless/word_xor.hpp"

namespace neve {

ByteMethod byte_method(LosslessMethod method) {
  using Layout = ByteMethod::Layout;
  switch (method) {
    case LosslessMethod::lz4:
      return {Layout::as_they_are, ByteCoder::lz4};
    case LosslessMethod::shuffle_zstd:
      return {Layout::byte_planes, ByteCoder::zstd};
    case LosslessMethod::shuffle_lz4:
      return {Layout::byte_planes, ByteCoder::lz4};
    case LosslessMethod::bitshuffle_zstd:
      return {Layout::bit_planes, ByteCoder::zstd};
    case LosslessMethod::bitshuffle_lz4:
      return {Layout::bit_planes, ByteCoder::lz4};
    case LosslessMethod::xor_zstd:
      return {Layout::byte_planes, ByteCoder::zstd, true};
    default:
      break;
  }
  if (method > LosslessMethod::bwxor_bzip2) return {};
  // ACOMPS' nine are numbered by what is done before, then by compressor.
  const int number = static_cast<int>(method) - static_cast<int>(LosslessMethod::b_lzo);
  constexpr std::array<ByteCoder, 3> coders = {ByteCoder::lzo, ByteCoder::zlib, ByteCoder::bzip2};
  return {number < 3 ? Layout::segregated : Layout::segregated_byte_wise,
          coders[static_cast<size_t>(number % 3)], number >= 6};
}

namespace {

Segregation segregation_of(ByteMethod::Layout layout) {
  return layout == ByteMethod::Layout::segregated ? Segregation::bytes : Segregation::byte_wise;
}

Status write_bytes(const ByteMethod& how, const CoderLevels& levels, ByteSpan bytes, size_t word_bytes,
                   ByteWriter& out) {
  using Layout = ByteMethod::Layout;
  if (how.layout == Layout::as_they_are) return write_coded(how.coder, bytes, out, levels);
  if (how.layout >= Layout::segregated)
    return write_segregated(segregation_of(how.layout), how.coder, bytes, word_bytes, out);
  Symbols buffer = take_symbols(bytes.size());
  const auto planes = std::as_writable_bytes(std::span(buffer));
  (how.layout == Layout::byte_planes ? to_byte_planes : to_bit_planes)(bytes, word_bytes, planes);
  const Status status = write_coded(how.coder, planes, out, levels);
  recycle_symbols(std::move(buffer));
  return status;
}

}  // namespace

template <class U>
Status write_words(LosslessMethod method, const CoderLevels& levels, std::span<const U> words,
                   ByteWriter& out) {
  const ByteMethod how = byte_method(method);
  if (!how.xors) return write_bytes(how, levels, std::as_bytes(words), sizeof(U), out);
  RawVector<U> xored = take_values<U>(words.size());
  if (!words.empty()) xored[0] = words[0];
  for (size_t i = 1; i < words.size(); ++i) xored[i] = words[i] ^ words[i - 1];
  const Status status = write_bytes(how, levels, std::as_bytes(std::span<const U>(xored)), sizeof(U), out);
  recycle_values(std::move(xored));
  return status;
}

template <class U>
Status read_bytes(LosslessMethod method, ByteReader& in, RawVector<U>& words) {
  const ByteMethod how = byte_method(method);
  const auto view = std::as_writable_bytes(std::span(words));
  if (how.layout >= ByteMethod::Layout::segregated) {
    NEVE_TRY(read_segregated(segregation_of(how.layout), how.coder, in, sizeof(U), view));
  } else {
    using Layout = ByteMethod::Layout;
    if (how.layout == Layout::as_they_are) return read_coded(how.coder, in, view);
    Symbols buffer = take_symbols(view.size());
    const auto planes = std::as_writable_bytes(std::span(buffer));
    NEVE_TRY(read_coded(how.coder, in, planes));
    (how.layout == Layout::bit_planes ? from_bit_planes : from_byte_planes)(planes, sizeof(U), view);
    recycle_symbols(std::move(buffer));
  }
  if (how.xors) undo_xor(std::span(words));
  return {};
}

std::optional<ByteCoder> coder_of(LosslessMethod method) {
  if (method == LosslessMethod::automatic || takes_differences(method)) return {};
  return byte_method(method).coder;
}

template Status write_words<uint8_t>(LosslessMethod, const CoderLevels&, std::span<const uint8_t>,
                                     ByteWriter&);
template Status write_words<uint16_t>(LosslessMethod, const CoderLevels&, std::span<const uint16_t>,
                                      ByteWriter&);
template Status write_words<uint32_t>(LosslessMethod, const CoderLevels&, std::span<const uint32_t>,
                                      ByteWriter&);
template Status write_words<uint64_t>(LosslessMethod, const CoderLevels&, std::span<const uint64_t>,
                                      ByteWriter&);
template Status read_bytes<uint8_t>(LosslessMethod, ByteReader&, RawVector<uint8_t>&);
template Status read_bytes<uint16_t>(LosslessMethod, ByteReader&, RawVector<uint16_t>&);
template Status read_bytes<uint32_t>(LosslessMethod, ByteReader&, RawVector<uint32_t>&);
template Status read_bytes<uint64_t>(LosslessMethod, ByteReader&, RawVector<uint64_t>&);

}  // namespace neve
