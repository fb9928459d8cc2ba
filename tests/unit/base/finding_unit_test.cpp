// SPDX-License-Identifier: Apache-2.0
// The text and the JSON line of a finding.

#include "src/base/finding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace advstep {
namespace {

size_t LinesOf(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(FindingTest, TextBeginsWithCheckAndKind) {
    Finding finding(SanitizerCheck::kRace, "race", "two accesses");
    finding.Line("a line");
    EXPECT_EQ(finding.Text(), "advance_step sanitizer: race: race: two accesses\n  a line\n");
}

TEST(FindingTest, TextHasAtMostFifteenLines) {
    Finding finding(SanitizerCheck::kMemory, "freed_in_use", "a block");
    for (int i = 0; i < 3; ++i) {
        finding.Line("line");
        finding.Stack("work", "queued by", CallStack::Here());
    }
    EXPECT_LE(LinesOf(finding.Text()), Finding::kMostLines);
    EXPECT_GT(LinesOf(finding.Text()), 7U);
    for (int i = 0; i < 30; ++i) {
        finding.Line("line");
    }
    EXPECT_EQ(LinesOf(finding.Text()), Finding::kMostLines);
}

TEST(FindingTest, JsonLineHasFieldsStacksAndCount) {
    Finding finding(SanitizerCheck::kInit, "unwritten", "a \"tensor\"");
    finding.fields().Add("bytes", uint64_t{7});
    FindingFields first;
    first.Add("access", "read");
    finding.fields().Add("first", first);
    finding.fields().AddAddress("address", reinterpret_cast<const void*>(0x1000));
    finding.Stack("allocation", "allocated by", CallStack{});
    size_t countAt = 0;
    const std::string line = finding.JsonLine(3, &countAt);
    EXPECT_EQ(
        line.substr(0, countAt),
        R"({"check":"init","finding":"unwritten",)"
        "\"text\":\"advance_step sanitizer: init: unwritten: a \\\"tensor\\\"\\u000a  allocated "
        "by\\u000a\","
        R"("bytes":7,"first":{"access":"read"},"address":"0x1000",)"
        R"("stacks":{"allocation":[]},"count":)");
    EXPECT_EQ(line.substr(countAt), "3" + std::string(Finding::kCountRoom - 1, ' ') + "}\n");
}

}  // namespace
}  // namespace advstep
