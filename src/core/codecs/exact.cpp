// SPDX-License-Identifier: BSD-3-Clause
// Codec `exact`: values bit for bit, byte planes packed where that pays. Without a usable bound that is every
// bit of the original; when it only stands in for dual_quant because most values break the bound, the others
// are restored as dual_quant would.
#include <fmt/format.h>

#include <cstring>

#include "core/codecs/reconstruct.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/stages/lossless/exact_values.hpp"

namespace neve {

template <class T>
SectionDraft draft_exact(const SectionSource<T>& source, const ComponentSpec& spec, Effort) {
  std::vector<T> values;
  values.reserve(source.held);
  for (const auto& rect : source.rects) {
    for (int64_t r = 0; r < rect.rows(); ++r) {
      const T* row = rect.row(r);
      if (rect.left_out.empty()) {
        values.insert(values.end(), row, row + rect.size[0]);
        continue;
      }
      const uint8_t* skip = rect.left_out.data() + r * rect.size[0];
      for (int64_t x = 0; x < rect.size[0]; ++x) {
        if (skip[x] == 0) values.push_back(row[x]);
      }
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    reconstruct_values(values.data(), values.data(), static_cast<int64_t>(values.size()), spec);
  }
  SectionDraft draft;
  draft.codec = Codec::exact;
  ByteWriter out(draft.before);
  write_exact_values(std::as_bytes(std::span(values)), sizeof(T), out);
  draft.report.exact_cells = values.size();
  return draft;
}

template <class T>
Status decode_exact(ByteSpan bytes, const ComponentInfo&, const CodebookTable&,
                    const SectionTarget<T>& target) {
  ByteReader in(bytes);
  NEVE_ASSIGN(const Bytes values, read_exact_values(in, target.held, sizeof(T)));
  if (in.remaining() != 0) return corrupt(fmt::format("exact section: {} bytes left over", in.remaining()));
  const std::byte* from = values.data();
  for (const auto& rect : target.rects) {
    T last{};  // left-out cells repeat what stands before them: finite neighbours give finite cells
    for (int64_t r = 0; r < rect.rows(); ++r) {
      T* row = rect.row(r);
      const uint8_t* skip = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0];
      if (row != nullptr && skip == nullptr) {
        std::memcpy(row, from, static_cast<size_t>(rect.size[0]) * sizeof(T));
        from += static_cast<size_t>(rect.size[0]) * sizeof(T);
        continue;
      }
      for (int64_t x = 0; x < rect.size[0]; ++x) {
        T value = last;
        if (skip == nullptr || skip[x] == 0) {
          std::memcpy(&value, from, sizeof(T));
          from += sizeof(T);
          if (is_finite(value)) last = value;
        }
        if (row != nullptr) row[x] = value;
      }
    }
  }
  return {};
}

template SectionDraft draft_exact<float>(const SectionSource<float>&, const ComponentSpec&, Effort);
template Status decode_exact<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                    const SectionTarget<float>&);
template SectionDraft draft_exact<double>(const SectionSource<double>&, const ComponentSpec&, Effort);
template Status decode_exact<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                     const SectionTarget<double>&);
template SectionDraft draft_exact<uint8_t>(const SectionSource<uint8_t>&, const ComponentSpec&, Effort);
template Status decode_exact<uint8_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                      const SectionTarget<uint8_t>&);
template SectionDraft draft_exact<uint16_t>(const SectionSource<uint16_t>&, const ComponentSpec&, Effort);
template Status decode_exact<uint16_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                       const SectionTarget<uint16_t>&);
template SectionDraft draft_exact<uint32_t>(const SectionSource<uint32_t>&, const ComponentSpec&, Effort);
template Status decode_exact<uint32_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                       const SectionTarget<uint32_t>&);
template SectionDraft draft_exact<uint64_t>(const SectionSource<uint64_t>&, const ComponentSpec&, Effort);
template Status decode_exact<uint64_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                       const SectionTarget<uint64_t>&);

}  // namespace neve
