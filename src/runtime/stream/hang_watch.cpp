// SPDX-License-Identifier: Apache-2.0
// Implements the looks at waiting threads and the reports about them.

#include "src/runtime/stream/hang_watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "src/base/library_thread.h"
#include "src/base/log.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/sanitizer.h"
#include "src/base/sanitizer_scope.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

// A look comes so long after the one before. It costs little, but each takes the streams' locks.
constexpr std::chrono::milliseconds kFirstPause(20);
constexpr std::chrono::milliseconds kLongestPause(500);

constexpr size_t kMostLines = 12;  // of a report

// Numbers the state of a stream: two looks that see the same number saw no progress.
uint64_t Mixed(uint64_t number, const StreamView& view) {
    constexpr uint64_t kPrime = 1099511628211u;
    for (const uint64_t part : {reinterpret_cast<uint64_t>(view.stream), view.issued,
                                view.completed, static_cast<uint64_t>(view.front)}) {
        number = (number ^ part) * kPrime;
    }
    return number;
}

void AddLines(const std::vector<std::string>& lines, std::set<std::string>* seen,
              std::vector<std::string>* all) {
    for (const std::string& line : lines) {
        if (all->size() < kMostLines && seen->insert(line).second) {
            all->push_back(line);
        }
    }
}

// Tells why the threads wait, the links of the first one first, and none twice.
std::vector<std::string> ExplainAll(const WaitGraph& graph, const std::vector<pid_t>& threads) {
    std::vector<std::string> lines;
    std::set<std::string> seen;
    for (const pid_t thread : threads) {
        AddLines(graph.Explain(thread), &seen, &lines);
    }
    return lines;
}

Finding MakeFinding(const char* kind, std::string headline, const WaitSnapshot& all,
                    const WaitGraph& graph, const std::vector<pid_t>& threads) {
    Finding finding(SanitizerCheck::kSync, kind, std::move(headline));
    const std::vector<std::string> lines = ExplainAll(graph, threads);
    for (const std::string& line : lines) {
        finding.Line(line);
    }
    const ThreadDoing& wait = *all.threads.at(threads.front()).Wait();
    finding.Stack("work", fmt::format("thread {} waits in:", threads.front()), wait.stack);
    const auto stream = all.streams.find(wait.place.stream);
    if (stream != all.streams.end()) {
        if (stream->second.noted) {
            finding.Stack(
                "other", "the oldest task of its stream was queued in:", stream->second.note.stack);
        }
        finding.fields().AddAddress("stream", ToPointer(stream->second.handle));
        finding.fields().Add("task", stream->second.name != nullptr ? stream->second.name : "");
    }
    finding.fields().Add("threads", static_cast<uint64_t>(threads.size()));
    finding.fields().Add("links", lines);
    return finding;
}

}  // namespace

HangWatch& TheHangWatch() {
    static NeverDestroyed<HangWatch> watch;
    return *watch;
}

void HangWatch::Start(int32_t hangSeconds) {
    Stop();
    const std::lock_guard<std::mutex> lock(mutex_);
    deadlocks_ = Sanitizing(SanitizerCheck::kSync);
    hangSeconds_ = hangSeconds;
    watchingThreads.store(SanitizingAny() || hangSeconds > 0);
    if (!deadlocks_ && hangSeconds == 0) {
        return;
    }
    told_.clear();
    stop_.store(false);
    const SanitizerScope own;
    try {
        thread_ = StartThread("advstep-watch", [this] { ThreadMain(); });
    } catch (const std::exception& error) {
        Log(LogLevel::kError, "cannot start the thread that looks for hangs: {}", error.what());
    }
}

void HangWatch::Stop() {
    const NoCancellation noCancellation;
    const std::lock_guard<std::mutex> lock(mutex_);
    watchingThreads.store(false);
    if (thread_.joinable()) {
        stop_.store(true);
        TheThreadWatch().Wake();
        thread_.join();
    }
}

void HangWatch::ThreadMain() {
    std::chrono::milliseconds pause = kFirstPause;
    uint64_t before = 0;
    while (!stop_.load()) {
        try {
            TheThreadWatch().WaitForThread();
            TheThreadWatch().Pause(WaitClock::now() + pause);
            uint64_t moves = 0;
            const std::optional<WaitSnapshot> all = Look(&moves);
            const bool still = all && moves == before;
            before = all ? moves : 0;
            pause = still ? std::min(2 * pause, kLongestPause) : kFirstPause;
            if (all && hangSeconds_ > 0) {
                TellHang(*all);
            }
            if (still && deadlocks_) {
                TellDeadlock(*all);
            }
        } catch (const std::exception&) {
            // The next look may find memory.
        }
    }
}

std::optional<WaitSnapshot> HangWatch::Look(uint64_t* moves) {
    WaitSnapshot all;
    all.now = WaitClock::now();
    std::map<pid_t, WatchedThread> watched;
    const uint64_t changes = TheThreadWatch().Read(&watched);
    for (auto& [number, thread] : watched) {
        all.threads[number] = {thread.pthread, false, std::move(thread.doing), {}};
    }
    const uint64_t streams = ReadStreams(&all);
    ReadThreads(&all);
    WaitSnapshot again;
    *moves = (streams ^ changes) + 1;
    return ReadStreams(&again) == streams && TheThreadWatch().Changes() == changes
               ? std::optional<WaitSnapshot>(std::move(all))
               : std::nullopt;
}

uint64_t HangWatch::ReadStreams(WaitSnapshot* all) {
    uint64_t number = 0;
    const auto read = [&](Stream& stream) {
        StreamView view;
        const bool busy = stream.View(&view);
        number = Mixed(number, view);
        if (busy) {
            all->streams.emplace(&stream, std::move(view));
        }
    };
    TheStreams().ForEach(read);
    TheBranchStreams().ForEach(read);
    return number;
}

void HangWatch::ReadThreads(WaitSnapshot* all) {
    const std::vector<pid_t> threads = ThreadsOfProcess();
    all->allThreads = !threads.empty();
    for (const pid_t thread : threads) {
        ThreadView& view = all->threads[thread];
        view.idle = view.doing.empty() && IsLibraryThread(thread);
        if (!view.idle) {
            view.block = BlockOf(thread);
        }
    }
}

void HangWatch::TellDeadlock(const WaitSnapshot& all) {
    const WaitGraph graph(all);
    std::vector<pid_t> stuck;
    std::set<uint64_t> waits;
    bool isNew = false;
    for (const auto& [number, thread] : all.threads) {
        const ThreadDoing* const wait = thread.Wait();
        if (wait != nullptr && graph.IsStuck(number)) {
            // The threads that wait for a stream are told first.
            stuck.insert(wait->kind == ThreadDoing::Kind::kWaits ? stuck.begin() : stuck.end(),
                         number);
            isNew = told_.count(wait->id) == 0 || isNew;
            waits.insert(wait->id);
        }
    }
    if (!isNew) {
        return;
    }
    told_.insert(waits.begin(), waits.end());
    const bool locks = graph.LocksMeet();
    Report(MakeFinding(
        locks ? "lock_of_waiting_thread" : "deadlock",
        fmt::format("{} thread{} wait{} for ever: {}", stuck.size(), stuck.size() == 1 ? "" : "s",
                    stuck.size() == 1 ? "s" : "",
                    locks ? "a function of the program in a stream needs a mutex that a thread "
                            "holds while it waits for that stream"
                          : "nothing that could let them go on can move"),
        all, graph, stuck));
}

void HangWatch::TellHang(const WaitSnapshot& all) {
    std::vector<pid_t> waiting;
    std::vector<uint64_t> waits;
    bool isNew = false;
    double longest = 0;
    for (const auto& [number, thread] : all.threads) {
        const auto wait = std::find_if(
            thread.doing.begin(), thread.doing.end(),
            [](const ThreadDoing& each) { return each.kind == ThreadDoing::Kind::kWaits; });
        if (wait == thread.doing.end()) {
            continue;
        }
        const double seconds = std::chrono::duration<double>(all.now - wait->since).count();
        longest = std::max(longest, seconds);
        isNew = isNew || (seconds >= hangSeconds_ && told_.count(wait->id) == 0);
        waiting.insert(seconds >= longest ? waiting.begin() : waiting.end(), number);
        waits.push_back(wait->id);
    }
    if (!isNew) {
        return;
    }
    told_.insert(waits.begin(), waits.end());
    const WaitGraph graph(all);
    const Finding finding =
        MakeFinding("hang",
                    fmt::format("a call has waited for {:.1f} s, longer than ADVANCE_STEP_HANG={}",
                                longest, hangSeconds_),
                    all, graph, waiting);
    if (Sanitizing(SanitizerCheck::kSync)) {
        Report(finding);
        return;
    }
    constexpr char kPrefix[] = "advance_step sanitizer: sync: ";
    const std::string text = "advance_step " + finding.Text().substr(sizeof(kPrefix) - 1);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace advstep
