// SPDX-License-Identifier: Apache-2.0
// Source lines of addresses in this program.

#include "src/base/source_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/base/call_stack.h"

namespace advstep {
namespace {

bool HasTool() {
    return access("/usr/bin/llvm-symbolizer", X_OK) == 0 || access("/usr/bin/addr2line", X_OK) == 0;
}

// No other object knows its name.
[[gnu::noinline]] CallStack StackOfAStaticFunction() { return CallStack::Here(); }

class SourceLinesTest : public testing::Test {
 protected:
    void SetUp() override {
        if (!HasTool()) {
            GTEST_SKIP() << "neither llvm-symbolizer nor addr2line is installed";
        }
    }
    void TearDown() override { SetSourceLines(true); }
};

TEST_F(SourceLinesTest, AreInTheLinesOfAStack) {
    const std::string text = testing::PrintToString(StackOfAStaticFunction().Lines(8));
    EXPECT_NE(text.find("StackOfAStaticFunction()) at "), std::string::npos) << text;
    EXPECT_NE(text.find("source_lines_unit_test.cpp:"), std::string::npos) << text;
}

TEST_F(SourceLinesTest, AreLeftOutIfTheyAreOff) {
    SetSourceLines(false);
    const std::string text = testing::PrintToString(StackOfAStaticFunction().Lines(8));
    EXPECT_EQ(text.find("source_lines_unit_test.cpp"), std::string::npos) << text;
    EXPECT_EQ(text.find("StackOfAStaticFunction"), std::string::npos) << text;
}

TEST_F(SourceLinesTest, AreEmptyForWhatIsNoCode) {
    const int data = 0;
    const std::vector<SourcePlace> places = FindSourcePlaces({nullptr, &data});
    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(places[0].line + places[1].line + places[0].function, "");
}

}  // namespace
}  // namespace advstep
