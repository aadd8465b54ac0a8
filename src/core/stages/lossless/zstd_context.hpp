// SPDX-License-Identifier: BSD-3-Clause
// zstd's memory for compressing, one for each thread: making one takes as long as coding some kilobytes.
#pragma once

#include <zstd.h>

#include <memory>

namespace neve {

// Null where there is no memory for it, which zstd's functions take for an error.
inline ZSTD_CCtx* zstd_context() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  return context.get();
}

}  // namespace neve
