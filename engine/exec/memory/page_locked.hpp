// Whether host memory is page-locked.
#pragma once

namespace sluice::cuda {

/// Memory that is page-locked in any way; `memory` is its first byte.
bool is_page_locked(const void* memory);

}  // namespace sluice::cuda
