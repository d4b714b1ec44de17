#include "engine/walks/queue/queue_host.hpp"

namespace sluice::walks {

namespace host {

void QueueBackend::clear(Vertex* rows, std::uint64_t values) {
  constexpr std::uint64_t kValuesAtOnce = 1u << 18;
  parallel_blocks(threads_, values, kValuesAtOnce, [&](std::uint64_t from, std::uint64_t to, unsigned) {
    std::fill(rows + from, rows + to, kNoVertex);
  });
}

}  // namespace host

template class QueueOf<host::QueueBackend, ParkedWalk<false>>;
template class QueueOf<host::QueueBackend, ParkedWalk<true>>;

}  // namespace sluice::walks
