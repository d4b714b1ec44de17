#include "engine/walks/queue/queue_host.hpp"

namespace sluice::walks {

namespace host {

void QueueBackend::clear(Vertex* rows, std::uint64_t values) {
  constexpr std::uint64_t kValuesPerBlock = 1u << 18;
  parallel_blocks(threads_, values, kValuesPerBlock, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::fill(rows + begin, rows + end, kNoVertex);
  });
}

}  // namespace host

template class QueueOf<host::QueueBackend, ParkedWalk<false>>;
template class QueueOf<host::QueueBackend, ParkedWalk<true>>;

}  // namespace sluice::walks
