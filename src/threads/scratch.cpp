// SPDX-License-Identifier: BSD-3-Clause
#include "threads/scratch.hpp"

namespace neve {

namespace {

Symbols& spare() {
  thread_local Symbols symbols;
  return symbols;
}

}  // namespace

Symbols take_symbols(size_t size) {
  Symbols symbols = std::move(spare());
  spare() = Symbols();
  symbols.resize(size);
  return symbols;
}

void recycle_symbols(Symbols&& symbols) {
  if (symbols.capacity() > spare().capacity()) spare() = std::move(symbols);
}

}  // namespace neve
