// SPDX-License-Identifier: Apache-2.0
// The lines of an interpreter in call stacks and findings.

#include "src/base/script_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "src/base/call_stack.h"
#include "src/base/finding.h"

namespace advstep {
namespace {

thread_local std::string scriptLines;

size_t WriteScriptLines(char* text, size_t room) {
    const size_t size = std::min(scriptLines.size(), room);
    std::copy_n(scriptLines.data(), size, text);
    return size;
}

class ScriptFramesTest : public testing::Test {
 protected:
    ScriptFramesTest() { SetScriptFrames(&WriteScriptLines); }
    ~ScriptFramesTest() override {
        SetScriptFrames(nullptr);
        scriptLines.clear();
    }
};

TEST_F(ScriptFramesTest, ACallStackShowsThem) {
    scriptLines = "model.py:7 in Model.forward\ntrain.py:12 in <module>";
    const CallStack stack = CallStack::Here();
    EXPECT_EQ(stack.Lines(9),
              (std::vector<std::string>{"model.py:7 in Model.forward", "train.py:12 in <module>"}));
    EXPECT_EQ(stack.Lines(1), std::vector<std::string>{"model.py:7 in Model.forward"});
    const std::vector<std::string> all = stack.AllLines(3);
    ASSERT_GT(all.size(), 2U);
    EXPECT_EQ(all[1], "train.py:12 in <module>");
    EXPECT_EQ(std::vector<std::string>(all.begin() + 2, all.end()), stack.CompiledLines(3));
}

TEST_F(ScriptFramesTest, AThreadWithoutThemHasCompiledFrames) {
    EXPECT_EQ(ScriptFramesHere(), nullptr);
    const CallStack stack = CallStack::Here();
    EXPECT_EQ(stack.Lines(3), stack.CompiledLines(3));
    EXPECT_FALSE(stack.Lines(3).empty());
}

TEST_F(ScriptFramesTest, SuppressionsSeeFilesAndFunctions) {
    scriptLines = "/folder: in it/model.py:7 in Model.forward";
    std::string file;
    std::string function;
    CallStack::Here().ForEachFrame([&](std::string_view itsFile, std::string_view itsFunction) {
        if (file.empty()) {
            file = itsFile;
            function = itsFunction;
        }
    });
    EXPECT_EQ(file, "/folder: in it/model.py");
    EXPECT_EQ(function, "Model.forward");
}

TEST_F(ScriptFramesTest, LinesTellCallsApart) {
    std::vector<CallStack> stacks;
    for (const char* const line : {"a.py:1 in f", "a.py:2 in f", "a.py:1 in f"}) {
        scriptLines = line;
        stacks.push_back(CallStack::Here());
    }
    EXPECT_EQ(stacks[0], stacks[2]);
    EXPECT_EQ(stacks[0].Hash(), stacks[2].Hash());
    EXPECT_FALSE(stacks[0] == stacks[1]);
    EXPECT_NE(stacks[0] < stacks[1], stacks[1] < stacks[0]);
    EXPECT_FALSE(stacks[0].And(stacks[1]) == stacks[0].And(stacks[2]));
    EXPECT_EQ(stacks[0].And(stacks[1]), stacks[2].And(stacks[1]));
}

TEST_F(ScriptFramesTest, EqualLinesAreKeptOnceInAllThreads) {
    std::vector<std::vector<const char*>> got(4);
    std::vector<std::thread> threads;
    for (std::vector<const char*>& mine : got) {
        threads.emplace_back([&mine] {
            for (int i = 0; i < 200; ++i) {
                scriptLines = "many.py:" + std::to_string(i) + " in f";
                mine.push_back(ScriptFramesHere());
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_STREQ(got[0][199], "many.py:199 in f");
    for (const std::vector<const char*>& mine : got) {
        EXPECT_EQ(mine, got[0]);
    }
}

TEST_F(ScriptFramesTest, AFindingKeepsToItsLines) {
    for (int i = 0; i < 40; ++i) {
        scriptLines += (i == 0 ? "f.py:" : "\nf.py:") + std::to_string(i) + " in f";
    }
    Finding finding(SanitizerCheck::kMemory, "freed_in_use", "a block");
    finding.Stack("work", "queued by", CallStack::Here());
    finding.Stack("free", "freed by", CallStack::Here());
    const std::string text = finding.Text();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), Finding::kMostLines);
    EXPECT_NE(text.find("  freed by\n      f.py:0 in f\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace advstep
