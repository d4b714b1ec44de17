// Whether host memory is page-locked.
#pragma once

namespace sluice::cuda {

/// Whoever page-locked it, and however; `memory` is its first byte.
bool is_page_locked(const void* memory);

}  // namespace sluice::cuda
