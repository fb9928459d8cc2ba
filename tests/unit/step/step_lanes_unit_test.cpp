// SPDX-License-Identifier: Apache-2.0
// The vector loop of Step's first phase, on every instruction set of this machine, against one slot
// after the other with plain divisions.
#include "op_kernel/step/step_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"
#include "src/aclnn/run.h"
#include "unit/op_kernel/isas.h"
#include "unit/step/wrong_values.h"

namespace advstep {
namespace {

constexpr uint64_t kUnset = 0x5555'AAAA'5555'AAAA;

bool SameCounts(const StepCoreCounts& a, const StepCoreCounts& b) {
    const auto all = [](const StepCoreCounts& c) {
        return std::tie(c.released, c.inUse, c.needs, c.dispatched, c.releasing);
    };
    return all(a) == all(b);
}

// Slots that are all ordinary, whatever their flags.
struct CollectedSlots {
    CollectedSlots(int64_t batch, int64_t tableWidth, int32_t blockShift, uint64_t seed)
        : count(batch), width(tableWidth), shift(blockShift), random(seed) {
        const auto below = [&](int64_t end) {
            return static_cast<int32_t>(random() % static_cast<uint64_t>(end));
        };
        for (int64_t slot = 0; slot < count; ++slot) {
            stop.push_back(static_cast<uint8_t>(below(3) == 0 ? 1 + below(255) : 0));
            preempted.push_back(static_cast<uint8_t>(below(4) == 0 ? 1 + below(255) : 0));
            thisTime.push_back(below(3) - 1);
            decoder.push_back(below(width << shift));
            used.push_back(below(width + 1));
            encoder.push_back(below(width - used.back() + 1));
            for (int64_t column = 0; column < width; ++column) {
                table.push_back(below(2) == 0 ? -1 : below(1000) - 3);
            }
        }
        const auto words = static_cast<size_t>(WordsOf(count) + 1);
        for (auto* set : {&releases, &needs, &served}) {
            set->assign(words, kUnset);
        }
    }

    StepTiling Tiling() const {
        StepTiling tiling{};
        tiling.coreCount = 1;
        tiling.batch = count;
        tiling.slotsPerCore = WordsOf(count) * kSlotsPerWord;
        tiling.tableWidth = width;
        tiling.blockSize = int64_t{1} << shift;
        tiling.blockShift = shift;
        tiling.blockInverse = 1.0 / static_cast<double>(tiling.blockSize);
        return tiling;
    }
    StepArgs Args() {
        StepArgs args{};
        args.stopFlags = stop.data();
        args.isBlockStep = preempted.data();
        args.seqLensThisTime = thisTime.data();
        args.seqLensDecoder = decoder.data();
        args.usedListLen = used.data();
        args.encoderBlockLens = encoder.data();
        args.blockTables = table.data();
        return args;
    }

    int64_t Collect(Isa isa, int64_t begin, int64_t end) {
        const StepTiling tiling = Tiling();
        const StepLanes* const lanes = StepLanesFor(isa, tiling);
        return lanes->collect(tiling, Args(), begin, end,
                              {releases.data(), needs.data(), served.data()}, &counts);
    }

    // The words of the slots from `begin` to `end` and their sums, as the operator is specified.
    CollectedSlots Expected(int64_t begin, int64_t end) const {
        CollectedSlots expected = *this;
        for (int64_t first = begin; first < end; first += kSlotsPerWord) {
            const auto word = static_cast<size_t>(first / kSlotsPerWord);
            expected.releases[word] = expected.needs[word] = expected.served[word] = 0;
        }
        for (int64_t slot = begin; slot < end; ++slot) {
            expected.Expect(static_cast<size_t>(slot));
        }
        return expected;
    }

    void Expect(size_t slot) {
        const size_t word = slot / static_cast<size_t>(kSlotsPerWord);
        const uint64_t bit = uint64_t{1} << slot % static_cast<size_t>(kSlotsPerWord);
        counts.inUse += preempted[slot] == 0 ? used[slot] : 0;
        if (stop[slot] != 0 && preempted[slot] == 0) {
            releases[word] |= bit;
            counts.released += used[slot];
            counts.releasing += used[slot] > 0 ? 1 : 0;
            return;
        }
        const int64_t column = decoder[slot] / (int64_t{1} << shift);
        const auto place = static_cast<size_t>(static_cast<int64_t>(slot) * width + column);
        if (thisTime[slot] != 0 && table[place] == -1) {
            needs[word] |= bit;
            ++counts.needs;
            if (stop[slot] == 0) {
                served[word] |= bit;
                ++counts.dispatched;
            }
        }
    }

    void ExpectSame(const CollectedSlots& expected) const {
        EXPECT_EQ(releases, expected.releases);
        EXPECT_EQ(needs, expected.needs);
        EXPECT_EQ(served, expected.served);
        EXPECT_TRUE(SameCounts(counts, expected.counts));
    }

    int64_t count, width;
    int32_t shift;
    std::mt19937_64 random;
    std::vector<uint8_t> stop, preempted;
    std::vector<int32_t> thisTime, decoder, used, encoder, table;
    std::vector<uint64_t> releases, needs, served;
    StepCoreCounts counts{1, 2, 3, 4, 5};  // it adds
};

class StepLanesTest : public testing::TestWithParam<Isa> {};

// The baseline has no such loop.
std::vector<Isa> IsasWithLanes() {
    std::vector<Isa> isas = unit::IsasOfThisMachine();
    isas.erase(std::remove(isas.begin(), isas.end(), Isa::kBaseline), isas.end());
    return isas;
}

TEST_P(StepLanesTest, AgreesWithOneSlotAfterTheOther) {
    uint64_t seed = 0;
    for (const int64_t batch : {1, 63, 64, 65, 128, 200, 256, 320, 700}) {
        for (const int64_t width : {1, 2, 7, 8, 100}) {
            for (const int32_t shift : {0, 1, 4, 7}) {
                SCOPED_TRACE(testing::Message()
                             << batch << " slots, W " << width << ", shift " << shift);
                CollectedSlots slots(batch, width, shift, ++seed);
                const int64_t end = batch / kSlotsPerWord * kSlotsPerWord;
                const CollectedSlots expected = slots.Expected(0, end);
                EXPECT_EQ(slots.Collect(GetParam(), 0, batch), end);
                slots.ExpectSame(expected);
            }
        }
    }
}

TEST_P(StepLanesTest, LooksAtItsShareOnly) {
    for (int64_t end = 64; end < 448; end += 21) {
        SCOPED_TRACE(end);
        CollectedSlots slots(448, 5, 2, 1);
        const int64_t whole = end / kSlotsPerWord * kSlotsPerWord;
        const CollectedSlots expected = slots.Expected(64, whole);
        EXPECT_EQ(slots.Collect(GetParam(), 64, end), whole);
        slots.ExpectSame(expected);
    }
}

// Each of these may be a fault, in any place of six words.
TEST_P(StepLanesTest, StopsBeforeWhatMayBeWrong) {
    constexpr int32_t kTableWidth = 5;
    constexpr int32_t kShift = 2;
    constexpr int64_t kBatch = 6 * kSlotsPerWord;
    const CollectedSlots good(kBatch, kTableWidth, kShift, 2);
    for (const auto& change :
         unit::WrongValues<CollectedSlots>(kTableWidth, kTableWidth << kShift)) {
        for (size_t slot = 0; slot < static_cast<size_t>(kBatch); slot += slot % 64 == 62 ? 1 : 7) {
            SCOPED_TRACE(testing::Message() << change.name << " in slot " << slot);
            CollectedSlots slots = good;
            (slots.*change.array)[slot] = change.value;
            const auto word = static_cast<int64_t>(slot) / kSlotsPerWord * kSlotsPerWord;
            const CollectedSlots expected = slots.Expected(0, word);
            ASSERT_EQ(slots.Collect(GetParam(), 0, kBatch), word);
            slots.ExpectSame(expected);
        }
    }
    CollectedSlots both = good;
    both.used[70] = both.encoder[70] = INT32_MAX;  // their sum is -2
    EXPECT_EQ(both.Collect(GetParam(), 0, kBatch), 64);
}

TEST_P(StepLanesTest, TheRoomIsJustEnoughOrOneShort) {
    CollectedSlots slots(64, 6, 2, 3);
    slots.used[9] = 4;
    slots.encoder[9] = 2;
    slots.decoder[9] = 23;
    EXPECT_EQ(slots.Collect(GetParam(), 0, 64), 64);
    slots.encoder[9] = 3;
    EXPECT_EQ(slots.Collect(GetParam(), 0, 64), 0);
}

TEST_P(StepLanesTest, AreForShortRowsAndPowersOfTwo) {
    StepTiling tiling = CollectedSlots(64, 2, 3, 4).Tiling();
    EXPECT_NE(StepLanesFor(GetParam(), tiling), nullptr);
    EXPECT_EQ(StepLanesFor(Isa::kBaseline, tiling), nullptr);
    tiling.blockShift = -1;
    EXPECT_EQ(StepLanesFor(GetParam(), tiling), nullptr);
    tiling.blockShift = 3;
    tiling.tableWidth = int64_t{1} << 25;
    EXPECT_EQ(StepLanesFor(GetParam(), tiling), nullptr);
}

// The whole phase, with slots that the loop leaves out, some of them faults.
TEST_P(StepLanesTest, ThePhaseFindsWhatTheBaselineFinds) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        CollectedSlots slots(390, 6, 2, seed);
        for (uint64_t unusual = seed % 5; unusual > 0; --unusual) {
            const auto slot = static_cast<size_t>(slots.random() % 390);
            slots.preempted[slot] = static_cast<uint8_t>(slots.random() % 2);
            slots.stop[slot] = static_cast<uint8_t>(slots.random() % 2);
            slots.thisTime[slot] = static_cast<int32_t>(slots.random() % 2);
            slots.encoder[slot] = static_cast<int32_t>(slots.random() % 9) - 1;
            slots.decoder[slot] = static_cast<int32_t>(slots.random() % 30) - 1;
        }
        const auto collect = [&](Isa isa, std::vector<uint64_t>* workspace) {
            StepPayload payload{};
            payload.tiling = slots.Tiling();
            payload.args = slots.Args();
            advance_step::op::WorkspaceLayout layout;
            payload.offsets.counts = layout.Book<StepCoreCounts>(1);
            for (auto* set :
                 {&payload.offsets.releases, &payload.offsets.needs, &payload.offsets.served}) {
                *set = layout.Book<uint64_t>(WordsOf(slots.count));
            }
            workspace->assign(layout.bytes() / sizeof(uint64_t) + 1, 0);
            payload.workspace = reinterpret_cast<uint8_t*>(workspace->data());
            Fault fault;
            StepCollect({0, &fault, 1, isa}, &payload);
            return fault;
        };
        std::vector<uint64_t> baseline;
        std::vector<uint64_t> lanes;
        const Fault expected = collect(Isa::kBaseline, &baseline);
        const Fault fault = collect(GetParam(), &lanes);
        ASSERT_EQ(fault.row, expected.row);
        ASSERT_EQ(fault.kind, expected.kind);
        ASSERT_EQ(lanes, baseline);
    }
}

std::string NameOf(const testing::TestParamInfo<Isa>& row) {
    return row.param == Isa::kAvx2 ? "Avx2" : "Avx512";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StepLanesTest);
INSTANTIATE_TEST_SUITE_P(Isas, StepLanesTest, testing::ValuesIn(IsasWithLanes()), NameOf);

}  // namespace
}  // namespace advstep
