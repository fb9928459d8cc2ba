// SPDX-License-Identifier: Apache-2.0
// The order of victims against a sort by the specification.
#include "op_kernel/step/step_victims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace advstep {
namespace {

struct Slots {
    std::vector<uint8_t> stopped, preempted;
    std::vector<int32_t> used;
    int64_t longest = 0;

    // By (has the longest length, most blocks, slot).
    std::vector<int32_t> Expected() const {
        std::vector<std::tuple<bool, int32_t, int32_t>> order;
        for (size_t slot = 0; slot < used.size(); ++slot) {
            if (stopped[slot] == 0 && preempted[slot] == 0 && used[slot] > 0) {
                order.emplace_back(used[slot] == longest, -used[slot], static_cast<int32_t>(slot));
            }
        }
        std::sort(order.begin(), order.end());
        std::vector<int32_t> slots;
        for (const auto& entry : order) {
            slots.push_back(std::get<2>(entry));
        }
        return slots;
    }

    std::vector<int32_t> Taken() {
        const int32_t most = used.empty() ? 0 : *std::max_element(used.begin(), used.end());
        std::vector<int32_t> workspace(used.size() + static_cast<size_t>(most) + 2);
        StepPayload payload{};
        payload.tiling.batch = static_cast<int64_t>(used.size());
        payload.args.stopFlags = stopped.data();
        payload.args.isBlockStep = preempted.data();
        payload.args.usedListLen = used.data();
        payload.workspace = reinterpret_cast<uint8_t*>(workspace.data());
        payload.offsets.firstCandidate = static_cast<int64_t>(used.size() * sizeof(int32_t));
        const StepView view(payload);
        VictimQueue queue(view, longest);
        std::vector<int32_t> taken;
        for (int32_t slot = queue.Take(); slot != VictimQueue::kNobody; slot = queue.Take()) {
            taken.push_back(slot);
        }
        EXPECT_EQ(queue.Take(), VictimQueue::kNobody);
        return taken;
    }
};

TEST(StepVictimsTest, MostBlocksFirstAndTheLowestSlotOfATie) {
    Slots slots{{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {2, 3, 0, 3, 2}, 9};
    EXPECT_EQ(slots.Taken(), (std::vector<int32_t>{1, 3, 0, 4}));
}

TEST(StepVictimsTest, TheLongestComeLastThoughOthersHaveMore) {
    Slots slots{{0, 0, 0, 0}, {0, 0, 0, 0}, {4, 5, 1, 4}, 4};
    EXPECT_EQ(slots.Taken(), (std::vector<int32_t>{1, 2, 0, 3}));
}

TEST(StepVictimsTest, StoppedAndPreemptedSlotsAreLeftAlone) {
    Slots slots{{1, 0, 255, 0}, {0, 128, 1, 0}, {7, 7, 7, 1}, 4};
    EXPECT_EQ(slots.Taken(), std::vector<int32_t>{3});
    slots.used[3] = 0;
    EXPECT_EQ(slots.Taken(), std::vector<int32_t>{});
}

// The length that is exempt may be 0, when a row of inputIds is shorter than a block.
TEST(StepVictimsTest, AgreesWithASort) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 500; ++round) {
        SCOPED_TRACE(round);
        const size_t batch = random() % 140;
        const uint64_t levels = 1 + random() % 12;
        Slots slots;
        slots.longest = static_cast<int64_t>(random() % (levels + 2));
        for (size_t slot = 0; slot < batch; ++slot) {
            slots.stopped.push_back(random() % 5 == 0 ? 1 : 0);
            slots.preempted.push_back(random() % 5 == 0 ? 1 : 0);
            slots.used.push_back(static_cast<int32_t>(random() % levels));
        }
        ASSERT_EQ(slots.Taken(), slots.Expected());
    }
}

}  // namespace
}  // namespace advstep
