#include "engine/acc/options.hpp"

#include "engine/acc/run.hpp"
#include "engine/core/error.hpp"

namespace sluice {

void validate(const Device& device, const AccOptions& options) {
  if (device.is_cuda()) return;
  if (options.filter != AccFilter::jit)
    throw UsageError(
        "--filter chooses among kernels of a GPU; on the host threads note what becomes active as they go "
        "(leave "
        "it out)");
  if (options.fusion != AccFusion::push_pull)
    throw UsageError("--fusion chooses what kernels of a GPU hold; the host has none (leave it out)");
}

}  // namespace sluice
