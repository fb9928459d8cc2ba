// SPDX-License-Identifier: Apache-2.0
// Finds the threads and streams that never move again, and tells why.

#include "src/runtime/stream/wait_graph.h"

#include <algorithm>

namespace advstep {
namespace {

// A thread's number lies in its descriptor, which begins where pthread_self() points.
constexpr uint64_t kDescriptorBytes = 4096;

bool Contains(uint64_t pthread, uintptr_t word) {
    return pthread != 0 && word >= pthread && word - pthread < kDescriptorBytes;
}

}  // namespace

const ThreadDoing* ThreadView::Wait() const {
    const auto found = std::find_if(doing.rbegin(), doing.rend(), [](const ThreadDoing& each) {
        return each.kind != ThreadDoing::Kind::kRuns;
    });
    return found == doing.rend() ? nullptr : &*found;
}

WaitGraph::WaitGraph(const WaitSnapshot& snapshot) : all_(snapshot) {
    for (const auto& [number, thread] : all_.threads) {
        threads_.insert(number);
    }
    for (const auto& [stream, view] : all_.streams) {
        streams_.insert(stream);
    }
    // Whoever can move is taken out, until all that are left only wait for each other.
    for (bool found = true; found;) {
        found = false;
        for (const auto& [number, thread] : all_.threads) {
            found = (IsMet(NeedOf(thread)) && threads_.erase(number) != 0) || found;
        }
        for (const auto& [stream, view] : all_.streams) {
            found = (IsMet(NeedOf(view)) && streams_.erase(stream) != 0) || found;
        }
    }
}

bool WaitGraph::AnyMoves() const {
    const bool streamMoves =
        std::any_of(all_.streams.begin(), all_.streams.end(),
                    [&](const auto& entry) { return streams_.count(entry.first) == 0; });
    return !all_.allThreads || streamMoves ||
           std::any_of(all_.threads.begin(), all_.threads.end(), [&](const auto& entry) {
               return !entry.second.idle && threads_.count(entry.first) == 0;
           });
}

bool WaitGraph::IsMet(const Need& need) const {
    switch (need.kind) {
        case Need::Kind::kThread:
            return threads_.count(need.thread) == 0;
        case Need::Kind::kStream:
            return streams_.count(need.stream) == 0;
        case Need::Kind::kProcess:
            return AnyMoves();
        case Need::Kind::kNothing:
            break;
    }
    return true;
}

WaitGraph::Need WaitGraph::NeedOf(const ThreadView& thread) const {
    const ThreadDoing* const doing = thread.doing.empty() ? nullptr : &thread.doing.back();
    if (doing == nullptr || doing->kind == ThreadDoing::Kind::kRuns) {
        return doing == nullptr || doing->ofProgram ? NeedOfBlock(thread) : Need{};
    }
    // A thread that has been woken and does not run yet is not blocked any more.
    if (!doing->asleep || doing->timed || thread.block.kind == ThreadBlock::Kind::kNone) {
        return {};
    }
    return doing->kind == ThreadDoing::Kind::kListens ? Need{Need::Kind::kProcess, 0, nullptr}
                                                      : NeedOfPlace(doing->place);
}

WaitGraph::Need WaitGraph::NeedOfBlock(const ThreadView& thread) const {
    const auto other = all_.threads.find(thread.block.other);
    if (other == all_.threads.end() || other->second.idle) {
        return {};
    }
    const bool waits = thread.block.kind == ThreadBlock::Kind::kMutex ||
                       (thread.block.kind == ThreadBlock::Kind::kJoin &&
                        Contains(other->second.pthread, thread.block.word));
    return waits ? Need{Need::Kind::kThread, other->first, nullptr} : Need{};
}

WaitGraph::Need WaitGraph::NeedOfPlace(const Ticket& place) const {
    const auto found = all_.streams.find(place.stream);
    return found != all_.streams.end() && found->second.completed < place.sequence
               ? Need{Need::Kind::kStream, 0, place.stream}
               : Need{};
}

WaitGraph::Need WaitGraph::NeedOfThread(uint64_t pthread) const {
    for (const auto& [number, thread] : all_.threads) {
        if (thread.pthread == pthread) {
            return {Need::Kind::kThread, number, nullptr};
        }
    }
    return {};
}

WaitGraph::Need WaitGraph::NeedOf(const StreamView& stream) const {
    if (stream.front == StreamView::Front::kRuns) {
        return NeedOfThread(stream.claimant);
    }
    if (stream.front == StreamView::Front::kReady || stream.timed) {
        return {};
    }
    if (stream.front == StreamView::Front::kTicket || stream.facts.giver == WaitGiver::kPlace) {
        return NeedOfPlace(stream.facts.place);
    }
    if (stream.facts.giver == WaitGiver::kProcess) {
        return {Need::Kind::kProcess, 0, nullptr};
    }
    if (stream.facts.giver != WaitGiver::kThread) {
        return {};
    }
    const Need need = NeedOfThread(stream.facts.thread);
    if (need.kind == Need::Kind::kNothing) {
        return {Need::Kind::kProcess, 0, nullptr};  // it is outside the library, or has ended
    }
    const ThreadView& thread = all_.threads.at(need.thread);
    return thread.doing.back().kind == ThreadDoing::Kind::kListens ? Need{} : need;
}

bool WaitGraph::LocksMeet() const {
    return std::any_of(all_.threads.begin(), all_.threads.end(), [&](const auto& entry) {
        const ThreadView& thread = entry.second;
        if (!IsStuck(entry.first) || thread.block.kind != ThreadBlock::Kind::kMutex ||
            thread.doing.empty() || !thread.doing.back().ofProgram) {
            return false;
        }
        const auto owner = all_.threads.find(thread.block.other);
        return owner != all_.threads.end() && owner->second.Wait() != nullptr;
    });
}

// The words.

std::vector<std::string> WaitGraph::Explain(pid_t thread) const {
    std::vector<std::string> lines;
    std::set<pid_t> threadsSeen;
    std::set<const Stream*> streamsSeen;
    Need next{Need::Kind::kThread, thread, nullptr};
    while (next.kind == Need::Kind::kThread || next.kind == Need::Kind::kStream) {
        const bool ofThread = next.kind == Need::Kind::kThread;
        const bool fresh = ofThread ? threadsSeen.insert(next.thread).second
                                    : streamsSeen.insert(next.stream).second;
        if (!fresh) {
            lines.push_back(fmt::format(
                "which closes the circle at {}",
                ofThread ? fmt::format("thread {}", next.thread) : NameOf(next.stream)));
            break;
        }
        if (ofThread) {
            const ThreadView& view = all_.threads.at(next.thread);
            lines.push_back(Words(next.thread, view));
            // A wait is explained also while it is not certain that it never ends.
            const ThreadDoing* const wait = view.Wait();
            const bool waits = wait != nullptr && wait == &view.doing.back() &&
                               wait->kind == ThreadDoing::Kind::kWaits;
            next = waits ? NeedOfPlace(wait->place) : NeedOf(view);
        } else {
            const StreamView& view = all_.streams.at(next.stream);
            lines.push_back(Words(view));
            next = view.front == StreamView::Front::kTicket ? NeedOfPlace(view.facts.place)
                                                            : NeedOf(view);
        }
    }
    return lines;
}

std::string WaitGraph::Words(pid_t number, const ThreadView& thread) const {
    std::string words = fmt::format("thread {}", number);
    for (auto doing = thread.doing.rbegin(); doing != thread.doing.rend(); ++doing) {
        words += doing == thread.doing.rbegin() ? " " : ", while it ";
        const std::string call = doing->stack.EntryCall();
        switch (doing->kind) {
            case ThreadDoing::Kind::kWaits:
                words +=
                    fmt::format("waits in {} for task {} of {}", call.empty() ? "a call" : call,
                                doing->place.sequence, NameOf(doing->place.stream));
                break;
            case ThreadDoing::Kind::kListens:
                words += "waits in aclrtProcessReport for a callback";
                break;
            case ThreadDoing::Kind::kRuns:
                words += fmt::format("runs task {}, {}, of {}", doing->place.sequence,
                                     doing->name != nullptr ? doing->name : "a task",
                                     NameOf(doing->place.stream));
                break;
        }
        words += fmt::format(" (for {:.1f} s)", SecondsSince(doing->since));
    }
    const bool outside = thread.doing.empty() || thread.doing.back().ofProgram;
    if (outside && thread.block.kind == ThreadBlock::Kind::kMutex) {
        words += fmt::format("{} waits for a mutex that thread {} holds",
                             thread.doing.empty() ? "" : ", and", thread.block.other);
    } else if (outside && thread.block.kind == ThreadBlock::Kind::kJoin) {
        words += fmt::format("{} waits for the end of thread {}",
                             thread.doing.empty() ? "" : ", and", thread.block.other);
    }
    return words;
}

std::string WaitGraph::Words(const StreamView& stream) const {
    std::string words =
        fmt::format("{}: its oldest task {}, {}", NameOf(stream.stream), stream.completed + 1,
                    stream.name != nullptr ? stream.name : "a task");
    if (stream.noted) {
        const std::string call = stream.note.stack.EntryCall();
        words +=
            fmt::format(" (queued by {}thread {} {:.1f} s ago)", call.empty() ? "" : call + " of ",
                        stream.note.thread, SecondsSince(stream.note.at));
    }
    if (stream.front == StreamView::Front::kRuns) {
        const Need need = NeedOfThread(stream.claimant);
        return words + (need.kind == Need::Kind::kThread
                            ? fmt::format(", runs in thread {}", need.thread)
                            : std::string(", runs"));
    }
    if (stream.front == StreamView::Front::kReady) {
        return words + ", can run";
    }
    words += ", waits for ";
    const Ticket& place = stream.facts.place;
    words += !stream.facts.text.empty() ? stream.facts.text
             : place.stream != nullptr
                 ? fmt::format("task {} of {}", place.sequence, NameOf(place.stream))
                 : std::string("a condition");
    const bool givenByNobody =
        stream.facts.giver == WaitGiver::kProcess && streams_.count(stream.stream) != 0;
    return words + (givenByNobody ? ", which no queued work and no thread will give" : "");
}

std::string WaitGraph::NameOf(const Stream* stream) const {
    const auto found = all_.streams.find(stream);
    if (found == all_.streams.end()) {
        return "a stream without work";
    }
    return found->second.hidden ? std::string("a stream of a replay")
                                : fmt::format("stream {}", ToPointer(found->second.handle));
}

double WaitGraph::SecondsSince(WaitClock::time_point time) const {
    return std::chrono::duration<double>(all_.now - time).count();
}

}  // namespace advstep
