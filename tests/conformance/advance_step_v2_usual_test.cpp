// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 on queries whose rows follow each other, which some machines move a query at a
// time: at every number of rows, with any blockSize, and with a bad value in each place.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "conformance/machines.h"
#include "support/advance_step_v2_batch.h"
#include "support/runtime_test.h"

namespace v2_usual {
namespace {

using reference::AdvanceStepV2Data;
using support::IsOk;
using support::OpBatch;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kQuery = 11;  // one of the usual form

class V2UsualTest : public support::DeviceTest,
                    public testing::WithParamInterface<conformance::Machine> {
 protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(Restart(GetParam().With("standard"))); }

    static support::OpLayout Layout(bool tables32) {
        return support::Int32Layout(false, false, tables32);
    }
};

TEST_P(V2UsualTest, EveryNumberOfRows) {
    for (const int64_t specNum : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
        for (const int64_t blockSize : {1, 2, 4, 5, 8, 16, 24, 128}) {
            for (const bool tables32 : {false, true}) {
                SCOPED_TRACE(std::to_string(specNum) + " spec tokens, blockSize " +
                             std::to_string(blockSize));
                AdvanceStepV2Data data =
                    support::MakeUsualV2Data(45, specNum, blockSize, 40, 7 + specNum);
                // Ids below their columns, too: the kernels work out the difference.
                for (size_t entry = 0; entry < data.blockTables.size(); entry += 3) {
                    data.blockTables[entry] = 0;
                }
                OpBatch batch = support::MakeV2Batch(data, Layout(tables32));
                ASSERT_TRUE(IsOk(batch.Run(nullptr)));
                ASSERT_FALSE(reference::AdvanceStepV2(data, false));
                ASSERT_TRUE(batch.Holds(support::ValuesOf(data)));
            }
        }
    }
}

struct Broken {
    const char* name;
    std::function<void(AdvanceStepV2Data& data, size_t row)> change;
    const char* words;  // a part of the message
};

const Broken kBroken[] = {
    {"nothing sampled", [](auto& data, size_t row) { data.sampledTokenIds[row] = -1; }, "sampled"},
    {"position below 0", [](auto& data, size_t row) { data.inputPositions[row] = -100; },
     "position"},
    {"sum too large", [](auto& data, size_t row) { data.inputPositions[row] = kMost; }, "position"},
    {"column outside",
     [](auto& data, size_t row) { data.inputPositions[row] = data.blockSize * data.maxBlocks; },
     "column"},
    {"query leaves the table",
     [](auto& data, size_t row) {
         const int64_t rows = data.RowsPerQuery();
         const int64_t query = static_cast<int64_t>(row) / rows;
         const int64_t accepted = data.acceptedNum[static_cast<size_t>(query)];
         const int64_t index = static_cast<int64_t>(row) % rows;
         for (int64_t j = 0; j < rows; ++j) {  // from row `index` on
             data.inputPositions[static_cast<size_t>(query * rows + j)] =
                 data.blockSize * data.maxBlocks - accepted - 1 - index + j;
         }
     },
     "column"},
    {"block below 0",
     [](auto& data, size_t row) {
         const auto query = static_cast<int64_t>(row) / data.RowsPerQuery();
         const int64_t position =
             data.inputPositions[row] + data.acceptedNum[static_cast<size_t>(query)] + 1;
         data.blockTables[static_cast<size_t>(query * data.maxBlocks + position / data.blockSize)] =
             -1;
     },
     "block"},
    {"block below 0 of a query in two blocks",
     [](auto& data, size_t row) {
         const int64_t rows = data.RowsPerQuery();
         const int64_t query = static_cast<int64_t>(row) / rows;
         const int64_t added = data.acceptedNum[static_cast<size_t>(query)] + 1;
         const int64_t first = 3 * data.blockSize - 2;  // rows 0 and 1 are in block 2
         for (int64_t j = 0; j < rows; ++j) {
             data.inputPositions[static_cast<size_t>(query * rows + j)] = first - added + j;
         }
         const int64_t column = (first + static_cast<int64_t>(row) % rows) / data.blockSize;
         data.blockTables[static_cast<size_t>(query * data.maxBlocks + column)] = -1;
     },
     "block"},
    {"row after the last number",
     [](auto& data, size_t row) {  // acceptedNum takes the rows before it into the table
         const auto rows = static_cast<size_t>(data.RowsPerQuery());
         const size_t query = row / rows;
         const uint64_t first = (uint64_t{1} << 63) - row % rows;
         for (size_t j = 0; j < rows; ++j) {
             data.inputPositions[query * rows + j] = static_cast<int64_t>(first + j);
         }
         data.acceptedNum[query] = static_cast<int64_t>(4 - first);
     },
     "position"},
    {"accepted too large",
     [](auto& data, size_t row) {
         data.acceptedNum[row / static_cast<size_t>(data.RowsPerQuery())] = kMost;
     },
     "position"},
};

// The whole launch is refused, and nothing has been written.
TEST_P(V2UsualTest, ABadValueInEachPlace) {
    constexpr int64_t kSpecNum = 4;
    for (const Broken& broken : kBroken) {
        for (int64_t index = 0; index <= kSpecNum; ++index) {
            AdvanceStepV2Data data = support::MakeUsualV2Data(45, kSpecNum, 8, 40, 3);
            broken.change(data, static_cast<size_t>(kQuery * (kSpecNum + 1) + index));
            AdvanceStepV2Data expected = data;
            const auto error = reference::AdvanceStepV2(expected, false);
            SCOPED_TRACE(std::string(broken.name) + " in row " + std::to_string(index));
            OpBatch batch = support::MakeV2Batch(data);
            const int status = batch.Run(nullptr);
            if (!error) {  // a sampled token that is not the first one
                ASSERT_TRUE(IsOk(status));
                ASSERT_TRUE(batch.Holds(support::ValuesOf(expected)));
                continue;
            }
            ASSERT_EQ(status, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
            const std::string message = support::TakeMessage();
            EXPECT_NE(message.find(broken.words), std::string::npos) << message;
            EXPECT_NE(message.find("query " + std::to_string(error->query)), std::string::npos)
                << message;
            EXPECT_TRUE(batch.IsUntouched());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, V2UsualTest, testing::ValuesIn(conformance::Machines()),
                         [](const auto& machine) { return machine.param.name; });

}  // namespace
}  // namespace v2_usual
