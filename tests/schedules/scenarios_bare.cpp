// SPDX-License-Identifier: Apache-2.0
// The smallest scenarios: streams without workers, in which every schedule can be taken.
#include <string>

#include "src/base/script_frames.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"
#include "tests/schedules/scenario.h"
#include "tests/unit/runtime/stream/stream_bench.h"

namespace schedules {
namespace {

using advstep::Stream;
using advstep::WorkerControl;
using unit::StreamBench;

// Only waiting threads run streams, and a nudge reaches the two streams.
class Bench : public WorkerControl {
 public:
    Bench() { watch_.store(Watch::kAwake); }
    void Wake() override {}
    void StepAside() override {}
    void NudgeSleepers() override {
        for (Stream& stream : streams_) {
            stream.Nudge();
        }
    }

    // A stream that waits until `open` is true, or is to skip the wait.
    advstep::Status EnqueueGate(const bool* open) {
        struct GateTask : advstep::PollWaitTask {
            const bool* open;
        };
        return streams_[0].Enqueue(first.GetHandle(), unit::kCaller,
                                   advstep::Work(sizeof(GateTask)), [&](void* memory) {
                                       auto* const task = new (memory) GateTask;
                                       task->kind = advstep::TaskKind::kPollWait;
                                       task->open = open;
                                       task->holds = [](advstep::PollWaitTask& base) {
                                           return *static_cast<GateTask&>(base).open;
                                       };
                                       return task;
                                   });
    }
    advstep::Status Mark(StreamBench* stream, int mark, advstep::Ticket* ticket = nullptr) {
        return stream->Enqueue(
            [this, mark] {
                ran.push_back(mark);
                return advstep::Status();
            },
            {}, ticket);
    }

 private:
    Stream streams_[2];

 public:
    StreamBench first{&streams_[0], 0x101, this};
    StreamBench second{&streams_[1], 0x102, this};
    std::vector<int> ran;
};

void Good(const advstep::Status& status, const char* what) { ExpectCode(status.code(), 0, what); }

SCENARIO(Bare, bare_synchronise, kSmall) {
    Bench bench;
    Good(bench.Mark(&bench.first, 1), "a task");
    Good(bench.Mark(&bench.first, 2), "a task");
    const auto wait = [&] {
        Good(bench.first.Synchronize(), "a synchronisation");
        Expect(bench.ran == std::vector<int>{1, 2}, "both tasks have run, in order");
    };
    RunThreads({wait, wait});
}

SCENARIO(Bare, bare_enqueue, kSmall) {
    Bench bench;
    Good(bench.Mark(&bench.first, 1), "a task");
    RunThreads({[&] {
                    Good(bench.Mark(&bench.first, 2), "a task");
                    Good(bench.first.Synchronize(), "a synchronisation");
                    Expect(bench.ran == std::vector<int>{1, 2}, "both tasks have run, in order");
                },
                [&] {
                    Good(bench.first.Synchronize(), "a synchronisation");
                    Expect(!bench.ran.empty() && bench.ran[0] == 1, "the first task has run");
                }});
}

// Both wait for the same place in another stream, one of them across its own.
SCENARIO(Bare, bare_help, kSmall) {
    Bench bench;
    advstep::Ticket place;
    Good(bench.Mark(&bench.first, 1, &place), "a task");
    Good(bench.second.EnqueueWait(place), "a wait");
    Good(bench.Mark(&bench.second, 2), "a task");
    RunThreads({[&] {
                    Good(bench.second.Synchronize(), "the waiting stream");
                    Expect(bench.ran == std::vector<int>{1, 2}, "both tasks have run, in order");
                },
                [&] { Good(bench.first.Synchronize(), "the other stream"); }});
}

SCENARIO(Bare, bare_abort, kSmall) {
    Bench bench;
    const bool open = false;
    Good(bench.EnqueueGate(&open), "a wait");
    Good(bench.Mark(&bench.first, 1), "a task");
    RunThreads({[&] {
                    const int32_t code = bench.first.Synchronize().code();
                    Expect(code == 0 || code == ACL_ERROR_RT_STREAM_ABORT, "the synchronisation");
                },
                [&] {
                    Good(bench.first.Get().Abort(bench.first.GetHandle(), unit::kCaller,
                                                 ACL_ERROR_RT_STREAM_ABORT),
                         "an abort");
                    Good(bench.Mark(&bench.first, 2), "a task after the abort");
                    Good(bench.first.Synchronize(), "the synchronisation after the abort");
                    Expect(bench.ran == std::vector<int>{2}, "only the later task has run");
                }});
}

// The first stream's work is dropped, on which a thread sleeps that waits for the second.
SCENARIO(Bare, bare_drop, kSmall) {
    Bench bench;
    const bool open = false;
    advstep::Ticket place;
    Good(bench.EnqueueGate(&open), "a wait");
    Good(bench.Mark(&bench.first, 1, &place), "a task");
    Good(bench.second.EnqueueWait(place), "a wait for the dropped task");
    RunThreads({[&] { Good(bench.second.Synchronize(), "the waiting stream"); },
                [&] { Good(bench.first.Close(true), "a forced destruction"); }});
    Expect(bench.ran.empty(), "dropped work is not run");
}

// A thread that opens the gate nudges, as an expired wait does.
SCENARIO(Bare, bare_nudge, kSmall) {
    Bench bench;
    bool open = false;
    Good(bench.EnqueueGate(&open), "a wait");
    RunThreads({[&] { Good(bench.first.Synchronize(), "the synchronisation"); },
                [&] {
                    open = true;
                    bench.NudgeSleepers();
                }});
}

// Threads that meet a line of a script for the first time at once keep it once.
SCENARIO(Bare, bare_script_text, kSmall) {
    static int schedule = 0;
    static std::string line;
    line = "kept.py:" + std::to_string(++schedule) + " in f";
    advstep::SetScriptFrames([](char* text, size_t) { return line.copy(text, line.size()); });
    const char* got[3] = {};
    RunThreads({[&] { got[0] = advstep::ScriptFramesHere(); },
                [&] { got[1] = advstep::ScriptFramesHere(); }});
    got[2] = advstep::ScriptFramesHere();
    advstep::SetScriptFrames(nullptr);
    // After very many schedules no more texts are kept.
    Expect(got[0] == nullptr || got[0] == line, "the text is kept");
    Expect(got[0] == got[1] && got[0] == got[2], "it is kept once");
}

}  // namespace

}  // namespace schedules
