// The part of each rank in communicator_test.cpp, which starts this program on several ranks.
#include "engine/exchange/communicator.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "engine/exchange/node/node_watch.hpp"

namespace sluice {
namespace {

/// The message between two ranks: its length depends on both, and may be 0.
std::string message(int from, int to) {
  std::string text;
  for (int i = 0; i < 37 * from + 11 * to - 11; ++i) text += static_cast<char>(from * 31 + to * 7 + i);
  return text;
}

class OnRanks : public testing::Test {
 protected:
  static Communicator& ranks() {
    // Pieces are so short that every message has several.
    static const auto all = make_mpi({.piece_bytes = 16});
    return *all;
  }
};

TEST_F(OnRanks, Collectives) {
  const int me = ranks().rank(), size = ranks().size();
  ranks().barrier("a barrier");

  std::string received(1000, me == 1 ? 'x' : '?');
  ranks().broadcast(std::as_writable_bytes(std::span(received)), 1, "a broadcast");
  EXPECT_EQ(received, std::string(1000, 'x'));
  EXPECT_EQ(broadcast_text(ranks(), me == 0 ? "a name" : "", 0, "a text"), "a name");

  std::vector<std::uint64_t> values{static_cast<std::uint64_t>(me), std::uint64_t{1} << 40};
  ranks().all_reduce(std::span(values), Reduce::sum, "a sum");
  EXPECT_EQ(values[0], static_cast<std::uint64_t>(size * (size - 1) / 2));
  EXPECT_EQ(values[1], static_cast<std::uint64_t>(size) << 40);
  double least = 1.5 - me, most = least;
  ranks().all_reduce(std::span(&least, 1), Reduce::min, "a minimum");
  ranks().all_reduce(std::span(&most, 1), Reduce::max, "a maximum");
  EXPECT_EQ(least, 2.5 - size);
  EXPECT_EQ(most, 1.5);

  const auto all = ranks().all_gather(message(me, 2), "a gather");
  ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], message(r, 2));
}

TEST_F(OnRanks, Exchange) {
  const int me = ranks().rank();
  std::vector<std::string> texts, received, expected;
  std::uint64_t sent = 0;
  for (int r = 0; r < ranks().size(); ++r) {
    texts.push_back(message(me, r));
    expected.push_back(message(r, me));
    received.emplace_back(expected.back().size(), '?');
    if (r != me) sent += texts.back().size();
  }
  std::vector<std::span<const std::byte>> send;
  for (const auto& text : texts) send.push_back(std::as_bytes(std::span(text)));
  std::vector<std::span<std::byte>> receive;
  for (auto& text : received) receive.push_back(std::as_writable_bytes(std::span(text)));
  const std::uint64_t sent_before = ranks().bytes_sent();

  ranks().exchange(send, receive, "an exchange");

  EXPECT_EQ(received, expected);
  EXPECT_EQ(ranks().bytes_sent() - sent_before, sent);
}

TEST_F(OnRanks, SwapAsManyBytesWithEachOther) {
  const int size = ranks().size(), me = ranks().rank();
  std::vector<std::byte> send, expected;
  for (int r = 0; r < size; ++r) {
    for (const int value : {me, r, 7}) send.push_back(static_cast<std::byte>(value));
    for (const int value : {r, me, 7}) expected.push_back(static_cast<std::byte>(value));
  }
  const std::uint64_t sent_before = ranks().bytes_sent();
  for (int times = 0; times < 3; ++times) {
    std::vector<std::byte> received(send.size());

    ranks().all_to_all(send, received, "a swap");

    EXPECT_EQ(received, expected);
  }
  EXPECT_EQ(ranks().bytes_sent() - sent_before, 3u * 3u * static_cast<unsigned>(size - 1));
}

TEST_F(OnRanks, KnowTheirNode) {
  EXPECT_EQ(ranks().node_size(), ranks().size());
  EXPECT_EQ(ranks().node_rank(), ranks().rank());
  EXPECT_EQ(ranks().node_leader(), 0);
}

/// A failed rank waits for the others' last words until the timeout, and no longer.
TEST_F(OnRanks, TimeoutEnds) {
  if (ranks().rank() == 0) {
    ranks().announce_failure();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(ranks().final_gather("", Timeout(1)).empty()) << "no other rank came";
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
}

/// A rank that shows signs of life is not lost, however long others wait for it.
TEST_F(OnRanks, AWorkingRankIsWaitedFor) {
  NodeWatch watch(ranks(), Timeout(1));
  std::atomic<bool> silent = false;
  std::jthread guard([&](const std::stop_token& stopping) {
    for (; !stopping.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
      watch.send_heartbeat();
      silent = silent || watch.silent_peer().has_value();
    }
  });
  if (ranks().rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));

  ranks().barrier("a rank that works");

  EXPECT_FALSE(silent);
  ranks().barrier("the end of all watches");
}

/// A rank without signs of life is reported until it leaves.
TEST_F(OnRanks, ASilentRankIsSeen) {
  NodeWatch watch(ranks(), Timeout(1));
  if (ranks().rank() == 0) {
    std::optional<NodeWatch::Peer> silent;
    while (!(silent = watch.silent_peer())) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(silent->rank, 1);
    EXPECT_NE(silent->process, getpid());
  }
  ranks().barrier("a look");
  watch.announce_exit();
  ranks().barrier("the end of rank 1");
  EXPECT_FALSE(watch.silent_peer());
  ranks().barrier("the end of all watches");
}

/// Rank 0 completes its part of the broadcast and fails; rank 2 is late. The others must complete the
/// broadcast. Otherwise timing would decide whether all ranks see an error behind it.
TEST_F(OnRanks, AFailureSparesWhatItsRankHasDone) {
  const int me = ranks().rank();
  std::string word = me == 0 ? "a word" : "      ";
  const auto broadcast = [&] {
    ranks().broadcast(std::as_writable_bytes(std::span(word)), 0, "a broadcast");
  };
  if (me == 2) std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_NO_THROW(broadcast());
  EXPECT_EQ(word, "a word");
  if (me == 0) {
    ranks().announce_failure();
  } else {
    EXPECT_THROW(ranks().barrier("what rank 0 never comes to"), PeerFailed);
  }
  EXPECT_EQ(ranks().final_gather("", Timeout(60)).size(), static_cast<std::size_t>(ranks().size()));
}

TEST_F(OnRanks, AFailureEndsTheOthersWaits) {
  if (ranks().rank() == 1) {
    ranks().announce_failure();
  } else {
    EXPECT_THROW(ranks().all_gather(std::string(100, 'x'), "a gather"), PeerFailed);
    EXPECT_THROW(ranks().throw_if_failed("work"), PeerFailed);
  }
  const auto words = ranks().final_gather(std::to_string(ranks().rank()), Timeout(60));
  ASSERT_EQ(words.size(), static_cast<std::size_t>(ranks().size()));
  EXPECT_EQ(words[1], "1");
}

}  // namespace
}  // namespace sluice
