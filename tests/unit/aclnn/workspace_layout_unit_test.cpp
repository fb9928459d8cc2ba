// SPDX-License-Identifier: Apache-2.0
// Tests of workspace layouts: sizes, alignment, any address.

#include "src/aclnn/run.h"

#include <gtest/gtest.h>

#include <vector>

namespace advstep {
namespace {

using advance_step::op::WorkspaceLayout;

TEST(WorkspaceLayoutTest, NothingBookedNeedsNothing) {
    EXPECT_EQ(WorkspaceLayout().bytes(), 0U);
    WorkspaceLayout layout;
    EXPECT_EQ(layout.Book<int64_t>(0), 0);
    EXPECT_EQ(layout.bytes(), 0U);
}

TEST(WorkspaceLayoutTest, ArraysAreAlignedAndApart) {
    WorkspaceLayout layout;
    int64_t end = 0;
    for (const int64_t count : {1, 7, 8, 9, 64, 1000}) {
        const int64_t begin = layout.Book<int64_t>(count);
        EXPECT_EQ(begin % static_cast<int64_t>(WorkspaceLayout::kAlignment), 0);
        EXPECT_GE(begin, end);
        end = begin + count * 8;
    }
    EXPECT_GE(static_cast<int64_t>(layout.bytes()), end);
}

TEST(WorkspaceLayoutTest, TooManyBytesDoNotWrap) {
    constexpr int64_t kLarge = int64_t{1} << 61;
    for (const int64_t count : {kLarge, 2 * kLarge - 1, int64_t{-1}}) {
        WorkspaceLayout layout;
        layout.Book<int64_t>(8);
        EXPECT_EQ(layout.Book<int64_t>(count), 64);
        EXPECT_EQ(layout.bytes(), UINT64_MAX) << count;
        layout.Book<int64_t>(8);
        layout.Book<char>(0);
        EXPECT_EQ(layout.bytes(), UINT64_MAX) << count;
    }
    WorkspaceLayout twice;
    twice.Book<char>(kLarge);
    EXPECT_EQ(twice.bytes(), uint64_t{kLarge} + 63);
    twice.Book<char>(kLarge);
    twice.Book<char>(1);
    EXPECT_EQ(twice.bytes(), UINT64_MAX);
}

// Wherever the workspace begins, what was booked fits behind its first aligned byte.
TEST(WorkspaceLayoutTest, FitsAtEveryAddress) {
    WorkspaceLayout layout;
    layout.Book<int32_t>(3);
    const int64_t last = layout.Book<int32_t>(16);
    std::vector<uint8_t> memory(1024);
    for (size_t shift = 0; shift < 200; ++shift) {
        uint8_t* const workspace = memory.data() + shift;
        const uint8_t* const aligned = AlignedWorkspace(workspace);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned) % WorkspaceLayout::kAlignment, 0U);
        EXPECT_GE(aligned, workspace);
        EXPECT_LE(aligned + last + 64, workspace + layout.bytes());
    }
}

}  // namespace
}  // namespace advstep
