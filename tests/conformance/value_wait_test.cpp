// SPDX-License-Identifier: Apache-2.0
// Words in memory that streams write and wait for.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"
#include "support/waits.h"

namespace {

using namespace support;

constexpr uint32_t kGeq = ACL_STREAM_WAIT_VALUE_GEQ;
constexpr uint32_t kEq = ACL_STREAM_WAIT_VALUE_EQ;
constexpr uint32_t kAnd = ACL_STREAM_WAIT_VALUE_AND;
constexpr uint32_t kNor = ACL_STREAM_WAIT_VALUE_NOR;
constexpr uint64_t kAll = ~uint64_t{0};
constexpr uint64_t kTop = uint64_t{1} << 63;

struct CompareCase {
    std::string name;
    uint32_t flag;
    uint64_t word, value;
    bool holds;
};

const std::vector<CompareCase> kCompareCases = {
    {"GeqEqual", kGeq, 5, 5, true},
    {"GeqAbove", kGeq, 6, 5, true},
    {"GeqBelow", kGeq, 4, 5, false},
    {"GeqWrapsAbove", kGeq, 0, kAll, true},
    {"GeqWrapsBelow", kGeq, kAll, 0, false},
    {"GeqHalfWay", kGeq, kTop, 0, false},
    {"GeqJustBeforeHalfWay", kGeq, kTop - 1, 0, true},
    {"GeqBothLarge", kGeq, kTop + 1, kTop, true},
    {"GeqHighHalf", kGeq, uint64_t{1} << 32, 1, true},
    {"EqEqual", kEq, 5, 5, true},
    {"EqZero", kEq, 0, 0, true},
    {"EqAll", kEq, kAll, kAll, true},
    {"EqAbove", kEq, 6, 5, false},
    {"EqHighHalf", kEq, (uint64_t{1} << 32) + 5, 5, false},
    {"AndCommonBit", kAnd, 6, 3, true},
    {"AndNoBit", kAnd, 4, 3, false},
    {"AndTopBit", kAnd, kTop, kTop, true},
    {"AndZeroWord", kAnd, 0, kAll, false},
    {"AndZeroValue", kAnd, kAll, 0, false},
    {"NorZero", kNor, 0, 0, true},
    {"NorOneBitLeft", kNor, kAll - 1, 0, true},
    {"NorTopBitLeft", kNor, kTop - 1, 0, true},
    {"NorAllTogether", kNor, kTop, kTop - 1, false},
    {"NorAllOfWord", kNor, kAll, 0, false},
    {"NorAllOfValue", kNor, 0, kAll, false}};

class CompareTest : public support::DeviceTest, public testing::WithParamInterface<CompareCase> {};

// A word for which the comparison holds.
uint64_t HoldingWord(const CompareCase& row) {
    return row.flag == kNor ? 0 : row.flag == kAnd ? kAll : row.value;
}

TEST_P(CompareTest, HoldsOrWaits) {
    const CompareCase& row = GetParam();
    const Stream stream = MakeStream();
    const DeviceBuffer word(std::vector<uint64_t>{row.word});
    ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), row.value, row.flag, stream.Get())));
    if (row.holds) {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        return;
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// The comparisons that hold for some word.
std::vector<CompareCase> ThatAWordEnds() {
    std::vector<CompareCase> rows;
    std::copy_if(kCompareCases.begin(), kCompareCases.end(), std::back_inserter(rows),
                 [](const CompareCase& row) {
                     return !(row.flag == kAnd && row.value == 0) &&
                            !(row.flag == kNor && row.value == kAll);
                 });
    return rows;
}

class CompareWriteTest : public CompareTest {};

TEST_P(CompareWriteTest, GoesOnWhenTheWordIsWritten) {
    const CompareCase& row = GetParam();
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const DeviceBuffer word(std::vector<uint64_t>{row.word});
    ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), row.value, row.flag, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtValueWrite(word.Get(), HoldingWord(row), 0, other.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

INSTANTIATE_TEST_SUITE_P(Table, CompareTest, testing::ValuesIn(kCompareCases), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Table, CompareWriteTest, testing::ValuesIn(ThatAWordEnds()),
                         support::CaseName());

class ValueTest : public support::DeviceTest {
 protected:
    static void ExpectWaits(const Stream& stream) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    }
};

TEST_F(ValueTest, WritesTheWord) {
    const Stream stream = MakeStream();
    const DeviceBuffer words(std::vector<uint64_t>{1, 2, 3});
    const PinnedArray<uint64_t> pinned(2, 7);
    ASSERT_TRUE(IsOk(aclrtValueWrite(words.At(8), 0x1122334455667788, 0, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtValueWrite(pinned.Get() + 1, kAll, 0, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(words.Download<uint64_t>(), (std::vector<uint64_t>{1, 0x1122334455667788, 3}));
    EXPECT_EQ(pinned.Values(), (std::vector<uint64_t>{7, kAll}));
}

TEST_F(ValueTest, WritesInStreamOrder) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const DeviceBuffer word(std::vector<uint64_t>{0});
    const Recorder recorder;
    const HostGate gate(other.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtValueWrite(word.Get(), 9, 0, other.Get())));
    ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), 9, kEq, stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    ExpectWaits(stream);
    EXPECT_EQ(word.Download<uint64_t>(), std::vector<uint64_t>{0});
    gate.Open();
    EXPECT_TRUE(recorder.WaitFor(2)) << "without a synchronisation";
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2}));
    EXPECT_EQ(word.Download<uint64_t>(), std::vector<uint64_t>{9}) << "a wait takes nothing";
}

TEST_F(ValueTest, OneWriteLetsEveryWaitGoOn) {
    std::vector<Stream> streams;
    const DeviceBuffer word(std::vector<uint64_t>{0});
    for (int i = 0; i < 4; ++i) {
        streams.push_back(MakeStream());
        ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), 1, kGeq, streams.back().Get())));
    }
    ASSERT_TRUE(IsOk(aclrtValueWrite(word.Get(), 3, 0, nullptr)));
    for (const Stream& stream : streams) {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
}

// Anybody may write the word.
TEST_F(ValueTest, TheHostWritesPinnedMemory) {
    const Stream stream = MakeStream();
    const PinnedArray<uint64_t> word(1, 0);
    const Recorder recorder;
    ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), 1, kEq, stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ExpectWaits(stream);
    __atomic_store_n(word.Get(), 1, __ATOMIC_RELEASE);
    EXPECT_TRUE(recorder.WaitFor(1)) << "without a synchronisation";
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(ValueTest, TheHostWritesWhileAThreadSynchronises) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const PinnedArray<uint64_t> word(1, 0);
    uint64_t* const address = word.Get();
    ASSERT_TRUE(IsOk(aclrtValueWait(address, 1, kEq, stream.Get())));
    ASSERT_TRUE(IsOk(support::Enqueue(
        other.Get(), [address] { __atomic_store_n(address, 1, __ATOMIC_RELEASE); })));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// Bad addresses and flags.
TEST_F(ValueTest, BadAddressesAreRefused) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(std::vector<char>(20, 'd'));
    const PinnedArray<char> pinned(20, 'p');
    alignas(8) static uint64_t pageable = 0;
    void* const freed = DeviceBuffer(64).Get();
    const std::vector<void*> bad = {
        device.At(1),     device.At(4),      device.At(7), device.At(16),
        pinned.Get() + 4, pinned.Get() + 16, &pageable,    freed};
    for (size_t i = 0; i < bad.size(); ++i) {
        SCOPED_TRACE(i);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(bad[i], 1, 0, stream.Get()),
                            {"aclrtValueWrite: ", "devAddr"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtValueWait(bad[i], 1, kEq, stream.Get()),
                            {"aclrtValueWait: ", "devAddr"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtValueWrite(nullptr, 1, 0, stream.Get()),
                        {"devAddr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtValueWait(nullptr, 1, kEq, stream.Get()),
                        {"devAddr"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "nothing was queued";
    EXPECT_EQ(device.Download<char>(), std::vector<char>(20, 'd'));
}

TEST_F(ValueTest, BadFlagsAreRefused) {
    const Stream stream = MakeStream();
    const DeviceBuffer word(std::vector<uint64_t>{0});
    for (const uint32_t flag : {1U, 2U, UINT32_MAX}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtValueWrite(word.Get(), 1, flag, stream.Get()),
                            {"aclrtValueWrite: ", "flag"}, {flag}));
    }
    for (const uint32_t flag : {4U, 8U, UINT32_MAX}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtValueWait(word.Get(), 1, flag, stream.Get()),
                            {"aclrtValueWait: ", "flag"}, {flag}));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(word.Download<uint64_t>(), std::vector<uint64_t>{0});
}

// Memory that queued work uses goes back when that work has run.
TEST_F(ValueTest, FreedWhileQueued) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    DeviceBuffer word(std::vector<uint64_t>{0});
    {
        const HostGate gate(other.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), 1, kEq, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtValueWrite(word.Get(), 1, 0, other.Get())));
        ASSERT_TRUE(IsOk(aclrtFree(word.Release())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
}

TEST_F(ValueTest, TurnsOfTwoStreams) {
    const Stream ping = MakeStream();
    const Stream pong = MakeStream();
    const DeviceBuffer word(std::vector<uint64_t>{0});
    const Recorder recorder;
    std::vector<int> expected;
    for (int i = 0; i < 50; ++i) {
        const auto turn = static_cast<uint64_t>(2 * i);
        ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), turn, kEq, ping.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(ping.Get(), 2 * i)));
        ASSERT_TRUE(IsOk(aclrtValueWrite(word.Get(), turn + 1, 0, ping.Get())));
        ASSERT_TRUE(IsOk(aclrtValueWait(word.Get(), turn + 1, kEq, pong.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(pong.Get(), 2 * i + 1)));
        ASSERT_TRUE(IsOk(aclrtValueWrite(word.Get(), turn + 2, 0, pong.Get())));
        expected.insert(expected.end(), {2 * i, 2 * i + 1});
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(pong.Get())));
    EXPECT_EQ(recorder.Values(), expected);
}

}  // namespace
