// SPDX-License-Identifier: Apache-2.0
// The lines of an interpreter in call stacks and findings.

#include "src/base/script_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "advance_step/sanitizer.h"
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

TEST_F(ScriptFramesTest, LongTextsAreCut) {
    scriptLines = std::string(5000, 'x');
    const std::string kept = ScriptFramesHere();
    EXPECT_GE(kept.size(), 1000U);
    EXPECT_EQ(kept, scriptLines.substr(0, kept.size()));
    SetScriptFrames([](char* text, size_t room) {
        std::fill_n(text, room, 'y');
        return room + 1;  // as snprintf counts
    });
    EXPECT_EQ(ScriptFramesHere(), std::string(kept.size(), 'y'));
}

// The lines are all that differs: the stacks are of one place.
TEST_F(ScriptFramesTest, EachLineHasAHashOfItsOwn) {
    std::set<uint64_t> hashes;
    for (int i = 0; i < 9; ++i) {
        scriptLines = "hash.py:" + std::to_string(i) + " in f";
        hashes.insert(CallStack::Here().Hash());
    }
    EXPECT_EQ(hashes.size(), 9U);
}

// Threads that meet a text at the same time keep it once.
TEST_F(ScriptFramesTest, ANewTextIsKeptOnceByThreadsAtOnce) {
    constexpr int kThreads = 4;
    constexpr int kTexts = 400;
    std::atomic<int> arrived{0};
    std::vector<std::vector<const char*>> got(kThreads);
    std::vector<std::thread> threads;
    for (std::vector<const char*>& mine : got) {
        threads.emplace_back([&] {
            for (int i = 0; i < kTexts; ++i) {
                scriptLines = "at_once.py:" + std::to_string(i) + " in f";
                ++arrived;
                while (arrived.load() < (i + 1) * kThreads) {
                    std::this_thread::yield();
                }
                mine.push_back(ScriptFramesHere());
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::vector<const char*>& mine : got) {
        EXPECT_EQ(mine, got[0]);
    }
}

TEST_F(ScriptFramesTest, ACrashWritesTheLinesAndNoCompiledFrames) {
    scriptLines = "model.py:7 in Model.forward\ntrain.py:12 in <module>\nrun.py:3 in <module>";
    const CallStack stack = CallStack::Here();
    testing::internal::CaptureStderr();
    stack.Write(9);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "      model.py:7 in Model.forward\n      train.py:12 in <module>\n"
              "      run.py:3 in <module>\n");
    testing::internal::CaptureStderr();
    stack.Write(2);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "      model.py:7 in Model.forward\n      train.py:12 in <module>\n");
}

TEST_F(ScriptFramesTest, SuppressionsSeeEachLine) {
    scriptLines = "model.py:7 in Model.forward\ntrain.py:12 in step";
    std::vector<std::string> functions;
    CallStack::Here().ForEachFrame(
        [&](std::string_view, std::string_view function) { functions.emplace_back(function); });
    ASSERT_GE(functions.size(), 2U);
    EXPECT_EQ(functions[0], "Model.forward");
    EXPECT_EQ(functions[1], "step");
}

TEST_F(ScriptFramesTest, TheCallSetsThem) {
    ASSERT_EQ(advstepSetScriptFrames(nullptr), ACL_SUCCESS);
    scriptLines = "a.py:1 in f";
    EXPECT_EQ(ScriptFramesHere(), nullptr);
    ASSERT_EQ(advstepSetScriptFrames(&WriteScriptLines), ACL_SUCCESS);
    EXPECT_STREQ(ScriptFramesHere(), "a.py:1 in f");
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

// In a process of its own, whose list of texts is full from then on.
TEST_F(ScriptFramesTest, AProgramThatMakesCodeForEverKeepsAnEndOfTexts) {
    constexpr int kMostTexts = 1 << 16;
    const auto make = [] {
        int kept = 0;
        for (int i = 0; i < kMostTexts + 1000; ++i) {
            scriptLines = "made.py:" + std::to_string(i) + " in f";
            kept += ScriptFramesHere() != nullptr ? 1 : 0;
        }
        scriptLines = "made.py:0 in f";
        const bool knowsTheFirst = ScriptFramesHere() != nullptr;
        std::exit(kept > kMostTexts - 5000 && kept <= kMostTexts && knowsTheFirst ? 7 : 8);
    };
    EXPECT_EXIT(make(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace advstep
