// Exchanges of a Router between ranks with GPUs: from GPU to GPU or through their hosts, in one piece or in
// many.
#include "engine/exchange/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "engine/exchange/shared_bits.hpp"
#include "engine/exec/cuda_executor.cuh"
#include "engine/memory/device_ownership.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kRows = 1003;

/// Calls body(gpu, router) on ranks. One rank may have no row, and no range begins at a multiple of 8.
void on_routers(const std::function<void(const Device& gpu, const Router& router)>& body) {
  struct Way {
    const char* name;
    bool linked;
    std::uint64_t piece_bytes;
  };
  for (const Way& way :
       {Way{"from GPU to GPU", true, Router::kPieceBytes}, Way{"through hosts", false, Router::kPieceBytes},
        Way{"in pieces", false, brief() ? std::uint64_t{4096} : 1}}) {
    SCOPED_TRACE(way.name);
    on_ranks_of_gpu([&](const Device&, const Device& gpu, Communicator& ranks, DeviceRanks& link) {
      const std::vector<std::uint64_t> begins = ranks.size() == 2
                                                    ? std::vector<std::uint64_t>{0, 131, kRows}
                                                    : std::vector<std::uint64_t>{0, 90, 90, kRows};
      const Router router(ranks, gpu, way.linked ? &link : nullptr, way.piece_bytes, Ownership(begins));
      body(gpu, router);
      if (router.own_rank() == 0) EXPECT_EQ(router.link_bytes_sent() > 0, way.linked) << way.name;
    });
  }
}

/// Returns `values` after `use` changed them in the GPU's memory.
template <class T, class Use>
std::vector<T> after(const Device& gpu, std::vector<T> values, Use&& use) {
  const Buffer<T> there(gpu, values.size(), "a test");
  copy_to_device(gpu, there.data(), values.data(), there.bytes());
  use(there.data());
  copy_to_host(gpu, values.data(), there.data(), there.bytes());
  return values;
}

TEST(GpuRouter, SharesRows) {
  REQUIRE_GPU(open_gpu());
  on_routers([](const Device& gpu, const Router& router) {
    const cuda::Stream stream;
    for (const std::uint64_t width : {1u, 3u}) {
      std::vector<double> own(kRows * width, -1), all(kRows * width);
      std::iota(all.begin(), all.end(), 0.5);
      std::copy(all.begin() + static_cast<std::ptrdiff_t>(router.first() * width),
                all.begin() + static_cast<std::ptrdiff_t>(router.last() * width),
                own.begin() + static_cast<std::ptrdiff_t>(router.first() * width));

      const auto shared =
          after(gpu, own, [&](double* column) { router.share(column, "a test", width, stream.get()); });

      EXPECT_EQ(shared, all) << "on rank " << router.own_rank() << " of width " << width;
    }
  });
}

/// Ranges are not in the order of ranks, and some elements are in no range.
TEST(GpuRouter, SharesRanges) {
  REQUIRE_GPU(open_gpu());
  on_routers([](const Device& gpu, const Router& router) {
    const cuda::Stream stream;
    const std::vector<ElementRange> all{{700, 900}, {0, 301}, {302, 303}};
    const std::span<const ElementRange> ranges(all.data(), router.size());
    std::vector<std::uint16_t> own(kRows, 9), expected(kRows, 9);
    const auto fill = [&](std::vector<std::uint16_t>& column, std::size_t rank) {
      for (std::uint64_t i = ranges[rank].begin; i < ranges[rank].end; ++i)
        column[i] = static_cast<std::uint16_t>(100 * rank + i);
    };
    fill(own, router.own_rank());
    for (std::size_t rank = 0; rank < router.size(); ++rank) fill(expected, rank);

    const auto shared = after(gpu, own, [&](std::uint16_t* column) {
      router.share_ranges(column, ranges, "a test", stream.get());
    });

    EXPECT_EQ(shared, expected) << "on rank " << router.own_rank();
  });
}

TEST(GpuRouter, SharesBits) {
  REQUIRE_GPU(open_gpu());
  on_routers([](const Device& gpu, const Router& router) {
    std::vector<std::uint32_t> own((kRows + 31) / 32), all(own.size());
    for (std::uint64_t row = 0; row < kRows; ++row) {
      if (row % 3 != 0 && row != 130 && row != 131) continue;
      all[row / 32] |= 1u << row % 32;
      if (router.owns(static_cast<Vertex>(row))) own[row / 32] |= 1u << row % 32;
    }
    cuda::CudaExecutor executor(gpu);
    const DeviceOwnership owners(gpu, router.owners(), "a test");
    SharedBits bits(gpu, router, executor, owners.view(), "a test");

    const auto shared = after(gpu, own, [&](std::uint32_t* words) {
      bits.share(words);
      executor.wait("a test");
    });

    EXPECT_EQ(shared, all) << "on rank " << router.own_rank();
  });
}

/// Two columns; each pair of ranks exchanges a different number of elements.
TEST(GpuRouter, SendsColumnsToTheirOwners) {
  REQUIRE_GPU(open_gpu());
  on_routers([](const Device& gpu, const Router& router) {
    const cuda::Stream stream;
    const auto count = [](std::uint64_t from, std::uint64_t to) {
      return from == 1 ? 0 : 130 * from + 40 * to;
    };
    const auto value = [](std::uint64_t from, std::uint64_t to, std::uint64_t i) {
      return from << 14 | to << 12 | i;
    };
    std::vector<std::uint64_t> send, wide, expected_wide;
    std::vector<std::uint16_t> narrow, expected_narrow;
    for (std::uint64_t r = 0; r < router.size(); ++r) {
      send.push_back(count(router.own_rank(), r));
      for (std::uint64_t i = 0; i < send.back(); ++i) wide.push_back(value(router.own_rank(), r, i));
      for (std::uint64_t i = 0; i < count(r, router.own_rank()); ++i)
        expected_wide.push_back(value(r, router.own_rank(), i));
    }
    for (const std::uint64_t v : wide) narrow.push_back(static_cast<std::uint16_t>(v));
    for (const std::uint64_t v : expected_wide) expected_narrow.push_back(static_cast<std::uint16_t>(v));

    const auto receive = router.exchange_counts(send, "counts");
    std::vector<std::uint64_t> came_wide(expected_wide.size());
    const auto came_narrow =
        after(gpu, std::vector<std::uint16_t>(expected_narrow.size()), [&](std::uint16_t* to_narrow) {
          came_wide = after(gpu, came_wide, [&](std::uint64_t* to_wide) {
            after(gpu, wide, [&](const std::uint64_t* from_wide) {
              after(gpu, narrow, [&](const std::uint16_t* from_narrow) {
                router.send(std::vector<RoutedColumn>{{from_wide, to_wide, 8}, {from_narrow, to_narrow, 2}},
                            send, receive, stream.get(), "columns");
              });
            });
          });
        });

    EXPECT_EQ(came_wide, expected_wide) << "on rank " << router.own_rank();
    EXPECT_EQ(came_narrow, expected_narrow) << "on rank " << router.own_rank();
  });
}

/// Separate values are sent to their ranks, values of all ranks to everyone, and their minimum to one rank.
TEST(GpuRouter, BeginsWhatGoesInTheOrderOfAStream) {
  REQUIRE_GPU(open_gpu());
  on_ranks_of_gpu([](const Device&, const Device& gpu, Communicator& ranks, DeviceRanks& link) {
    constexpr std::uint64_t kApart = 7;
    const Router router(ranks, gpu, &link);
    const cuda::Stream stream;
    const auto size = static_cast<std::uint32_t>(router.size()),
               own = static_cast<std::uint32_t>(router.own_rank());
    std::vector<std::uint32_t> values(size * kApart), expected, together, least;
    std::iota(values.begin(), values.end(), 100 * own);
    std::vector<std::uint64_t> send;
    for (std::uint32_t r = 0; r < size; ++r) {
      send.push_back(r + 1);
      for (std::uint32_t i = 0; i <= own; ++i)
        expected.push_back(100 * r + own * static_cast<std::uint32_t>(kApart) + i);
      together.push_back(100 * r);
      least.push_back(10 * r + (r + own) % size);
    }
    const std::vector<std::uint64_t> receive(size, own + 1);
    std::vector<std::uint32_t> came, all;

    after(gpu, values, [&](const std::uint32_t* from) {
      came = after(gpu, std::vector<std::uint32_t>(expected.size()), [&](std::uint32_t* to) {
        router.begin_send({from, to, sizeof *to}, send, receive, stream.get(), kApart);
        router.wait(stream.get(), "a test");
      });
      all = after(gpu, std::vector<std::uint32_t>(size), [&](std::uint32_t* to) {
        router.begin_all_gather(from, to, sizeof *to, stream.get());
        router.wait(stream.get(), "a test");
      });
    });
    least = after(gpu, least, [&](std::uint32_t* at) {
      router.begin_reduce_min(at, 1, stream.get());
      router.wait(stream.get(), "a test");
    });

    EXPECT_EQ(came, expected) << "on rank " << own;
    EXPECT_EQ(all, together) << "on rank " << own;
    EXPECT_EQ(least[own], 10 * own);
  });
}

}  // namespace
}  // namespace sluice::test
