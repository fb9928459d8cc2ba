// SPDX-License-Identifier: Apache-2.0
// How long launches count as, by their programs and rows.
#include <gtest/gtest.h>

#include "src/runtime/device/kernel_launch.h"

namespace advstep {
namespace {

TEST(LaunchLengthTest, ManyRowsAreHeavy) {
    const KernelProgram program;
    EXPECT_EQ(LengthOf(program, 256), TaskLength::kUsual);
    EXPECT_EQ(LengthOf(program, 16384), TaskLength::kUsual);
    EXPECT_EQ(LengthOf(program, 16385), TaskLength::kHeavy);
    EXPECT_EQ(LengthOf(program, 16385, true), TaskLength::kHeavy);
}

// Gauged rows may be long.
TEST(LaunchLengthTest, FewEvenRowsAreBriefAndFewGaugedOnesMayBe) {
    KernelProgram program;
    EXPECT_EQ(LengthOf(program, 2048, true), TaskLength::kGauged);
    EXPECT_EQ(LengthOf(program, 2049, true), TaskLength::kUnknown);
    EXPECT_EQ(LengthOf(program, 16384, true), TaskLength::kUnknown);
    program.evenRows = true;
    EXPECT_EQ(LengthOf(program, 2048), TaskLength::kBrief);
    EXPECT_EQ(LengthOf(program, 2049), TaskLength::kUsual);
}

TEST(LaunchLengthTest, RowsOfOtherLibrariesTellLittleUnlessTheyAreEven) {
    KernelProgram program;
    for (const int64_t rows : {0, 1, 2048, 2049, 16384}) {
        EXPECT_EQ(LengthOfForeign(program, rows), TaskLength::kUnknown) << rows;
    }
    EXPECT_EQ(LengthOfForeign(program, 16385), TaskLength::kHeavy);
    program.evenRows = true;
    for (const int64_t rows : {0, 2048, 2049, 16384, 16385}) {
        EXPECT_EQ(LengthOfForeign(program, rows), LengthOf(program, rows)) << rows;
    }
}

}  // namespace
}  // namespace advstep
