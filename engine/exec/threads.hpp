// The host's parallel loop, on threads that the process keeps (thread_pool.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

namespace sluice {

/// Calls block(body, begin, end, thread) over [0, count) in blocks of at most `grain`, on `threads` threads
/// (the caller is one of them). The first exception ends the loop and is thrown here.
void parallel_blocks(unsigned threads, std::uint64_t count, std::uint64_t grain,
                     void (*block)(void* body, std::uint64_t begin, std::uint64_t end, unsigned thread),
                     void* body);

/// The same for body(begin, end, thread). The loop is compiled once (threads.cpp): there are hundreds of
/// bodies, and code for each would take the compiler minutes.
template <class Body>
void parallel_blocks(unsigned threads, std::uint64_t count, std::uint64_t grain, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  const auto block = [](void* context, std::uint64_t begin, std::uint64_t end, unsigned thread) {
    (*static_cast<Callable*>(context))(begin, end, thread);
  };
  parallel_blocks(threads, count, grain, block, const_cast<std::remove_const_t<Callable>*>(&body));
}

}  // namespace sluice
