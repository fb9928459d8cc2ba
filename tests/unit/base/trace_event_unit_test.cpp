// SPDX-License-Identifier: Apache-2.0
// Tests of trace events: escapes, times, names, arrows.

#include "src/base/trace_event.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/table.h"

namespace advstep {
namespace {

using nlohmann::json;

struct StringCase {
    const char* name;
    std::string text;
    const char* json;
};

class JsonStringTest : public testing::TestWithParam<StringCase> {};

TEST_P(JsonStringTest, IsEscapedAndReadBackAsItWas) {
    std::string text = "before ";
    AppendJsonString(GetParam().text, &text);
    EXPECT_EQ(text, std::string("before ") + GetParam().json);
    EXPECT_EQ(json::parse(text.substr(7)), json(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonStringTest,
    testing::Values(StringCase{"Empty", "", R"("")"}, StringCase{"Plain", "copy", R"("copy")"},
                    StringCase{"Quote", "a\"b", R"("a\"b")"},
                    StringCase{"Backslash", "a\\b\\", R"("a\\b\\")"},
                    StringCase{"NewLine", "a\nb", R"("a\u000ab")"},
                    StringCase{"Controls", "\x01\x1f\t", R"("\u0001\u001f\u0009")"},
                    StringCase{"Zero", std::string("a\0b", 3), R"("a\u0000b")"},
                    StringCase{"Utf8", "\xe6\xb5\x81 \x7f", "\"\xe6\xb5\x81 \x7f\""}),
    support::CaseName());

// Each byte that is in no character becomes U+FFFD.
class NoUtf8Test : public testing::TestWithParam<StringCase> {};

TEST_P(NoUtf8Test, IsReplaced) {
    std::string text;
    AppendJsonString(GetParam().text, &text);
    EXPECT_EQ(text, GetParam().json);
    EXPECT_TRUE(json::accept(text));
}

INSTANTIATE_TEST_SUITE_P(
    Table, NoUtf8Test,
    testing::Values(StringCase{"NoFirstByte", "a\xff\x80z", R"("a\ufffd\ufffdz")"},
                    StringCase{"CutOff", "a\xe6\xb5", R"("a\ufffd\ufffd")"},
                    StringCase{"CutOffByAnother", "\xe6\xc3\xa4\xf0\"",
                               "\"\\ufffd\xc3\xa4\\ufffd\\\"\""},
                    StringCase{"Long2", "\xc1\xbf", R"("\ufffd\ufffd")"},
                    StringCase{"Long3", "\xe0\x9f\xbf", R"("\ufffd\ufffd\ufffd")"},
                    StringCase{"Long4", "\xf0\x8f\xbf\xbf", R"("\ufffd\ufffd\ufffd\ufffd")"},
                    StringCase{"Surrogate", "\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
                    StringCase{"Beyond", "\xf4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},
                    StringCase{"Ends", "\xc2\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf",
                               "\"\xc2\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf\""}),
    support::CaseName());

TEST(TraceArgsTest, AreAnObject) {
    TraceArgs args;
    EXPECT_EQ(args.Json(), "{}");
    args.Add("rows", 5);
    args.Add("code", int64_t{-9223372036854775807});
    args.Add("na\"me", "va\\lue");
    EXPECT_EQ(json::parse(args.Json()),
              (json{{"rows", 5}, {"code", -9223372036854775807}, {"na\"me", "va\\lue"}}));
}

TEST(TraceEventTest, TimesAreMicrosecondsWithFractions) {
    TraceArgs args;
    args.Add("task", 3);
    const json slice = json::parse(SliceEvent({1, 2}, {"copy", "memory", 1234005, 1235000}, args));
    EXPECT_EQ(slice, (json{{"name", "copy"},
                           {"cat", "memory"},
                           {"ph", "X"},
                           {"pid", 1},
                           {"tid", 2},
                           {"ts", 1234.005},
                           {"dur", 0.995},
                           {"args", {{"task", 3}}}}));
}

TEST(TraceEventTest, LongTimesKeepEveryNanosecond) {
    constexpr int64_t kDay = int64_t{86400} * 1000 * 1000 * 1000;
    const std::string text = SliceEvent({}, {"a", "b", 40 * kDay + 1, 40 * kDay + 3}, {});
    EXPECT_NE(text.find("\"ts\":3456000000000.001,"), std::string::npos) << text;
    EXPECT_NE(text.find("\"dur\":0.002,"), std::string::npos) << text;
}

TEST(TraceEventTest, InstantsBelongToTheirThread) {
    const json instant = json::parse(InstantEvent({1, 2}, "copy", "skipped", 7, {}));
    EXPECT_EQ(instant["ph"], "i");
    EXPECT_EQ(instant["s"], "t");
    EXPECT_EQ(instant["ts"], 0.007);
}

TEST(TraceEventTest, NamesComeWithAnOrder) {
    const json process = json::parse("[" + ProcessNameEvent({4, 0}, "device \"3\"") + "]");
    ASSERT_EQ(process.size(), 2U);
    EXPECT_EQ(process[0]["name"], "process_name");
    EXPECT_EQ(process[0]["ph"], "M");
    EXPECT_EQ(process[0]["pid"], 4);
    EXPECT_EQ(process[0]["args"]["name"], "device \"3\"");
    EXPECT_EQ(process[1]["args"]["sort_index"], 4);
    const json thread = json::parse("[" + ThreadNameEvent({4, 9}, "stream 8") + "]");
    ASSERT_EQ(thread.size(), 2U);
    EXPECT_EQ(thread[0]["name"], "thread_name");
    EXPECT_EQ(thread[0]["tid"], 9);
    EXPECT_EQ(thread[1]["name"], "thread_sort_index");
    EXPECT_EQ(thread[1]["args"]["sort_index"], 9);
}

TEST(TraceEventTest, ArrowsHaveTwoEndsOfOneId) {
    const json ends =
        json::parse("[" + ArrowEvents(6, "event wait", {{1, 2}, 1000}, {{3, 4}, 2500}) + "]");
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_EQ(ends[0]["ph"], "s");
    EXPECT_EQ(ends[1]["ph"], "f");
    EXPECT_EQ(ends[1]["bp"], "e") << "to the slice around it, not the next one";
    for (const char* same : {"id", "name", "cat"}) {
        EXPECT_EQ(ends[0][same], ends[1][same]);
    }
    EXPECT_EQ(ends[0]["tid"], 2);
    EXPECT_EQ(ends[0]["ts"], 1);
    EXPECT_EQ(ends[1]["pid"], 3);
    EXPECT_EQ(ends[1]["ts"], 2.5);
}

}  // namespace
}  // namespace advstep
