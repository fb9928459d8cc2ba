// SPDX-License-Identifier: Apache-2.0
// Races of small random programs, against every order in which a device could run them.

#include "src/runtime/sanitizer/work_order.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/sanitizer/access_history.h"

namespace advstep {
namespace {

// A program of one host thread. Each action queues a step, or is one of the host's own.
struct OrderAction {
    enum Kind { kAccess, kRecord, kWait, kSet, kTake, kWrite, kAwait, kHostAccess, kSynchronize };
    Kind kind;
    int stream;
    int what;  // the cell, the event, the notify or the word
    bool writes = false;
};

constexpr int kOrderStreams = 3;
constexpr int kOrderCells = 2;
constexpr int kOrderEvents = 2;

using OrderProgram = std::vector<OrderAction>;

// One step of a stream, as it is queued.
struct QueuedStep {
    OrderAction::Kind kind;
    int what;
    bool writes;
    int other = -1;    // of a wait for an event: the stream
    size_t place = 0;  // and the number of steps there
};

// Runs a program in every order. A cell has a race if in some state two actors could both take a
// step that uses it, and one of them writes.
class AllOrders {
 public:
    explicit AllOrders(const OrderProgram& program) : program_(program) {
        State start;
        Visit(start);
    }
    const std::set<int>& racy() const { return racy_; }
    bool ends() const { return ends_; }

 private:
    struct State {
        size_t host = 0;
        std::array<std::vector<QueuedStep>, kOrderStreams> queues;
        std::array<size_t, kOrderStreams> done{};
        std::array<bool, kOrderEvents> set{};
        std::array<bool, kOrderEvents> written{};
        std::array<std::pair<int, size_t>, kOrderEvents> records{{{-1, 0}, {-1, 0}}};

        std::string Key() const {
            std::string key = std::to_string(host);
            for (int i = 0; i < kOrderStreams; ++i) {
                key += "," + std::to_string(done[static_cast<size_t>(i)]);
            }
            for (int i = 0; i < kOrderEvents; ++i) {
                key += set[static_cast<size_t>(i)] ? "s" : "-";
                key += written[static_cast<size_t>(i)] ? "w" : "-";
            }
            return key;
        }
    };

    bool Enabled(const State& state, const QueuedStep& step) const {
        switch (step.kind) {
            case OrderAction::kWait:
                return step.other < 0 || state.done[static_cast<size_t>(step.other)] >= step.place;
            case OrderAction::kTake:
                return state.set[static_cast<size_t>(step.what)];
            case OrderAction::kAwait:
                return state.written[static_cast<size_t>(step.what)];
            default:
                return true;
        }
    }

    void Visit(const State& state) {
        if (!seen_.insert(state.Key()).second) {
            return;
        }
        std::vector<std::pair<int, bool>> uses;  // cell, writes: of enabled steps
        std::vector<State> next;
        for (size_t stream = 0; stream < kOrderStreams; ++stream) {
            if (state.done[stream] == state.queues[stream].size()) {
                continue;
            }
            const QueuedStep& step = state.queues[stream][state.done[stream]];
            if (!Enabled(state, step)) {
                continue;
            }
            if (step.kind == OrderAction::kAccess) {
                uses.emplace_back(step.what, step.writes);
            }
            State after = state;
            ++after.done[stream];
            if (step.kind == OrderAction::kSet) {
                after.set[static_cast<size_t>(step.what)] = true;
            } else if (step.kind == OrderAction::kTake) {
                after.set[static_cast<size_t>(step.what)] = false;
            } else if (step.kind == OrderAction::kWrite) {
                after.written[static_cast<size_t>(step.what)] = true;
            }
            next.push_back(after);
        }
        if (state.host < program_.size()) {
            HostStep(state, &uses, &next);
        } else if (next.empty()) {
            ends_ = true;
        }
        for (size_t one = 0; one < uses.size(); ++one) {
            for (size_t other = 0; other < one; ++other) {
                if (uses[one].first == uses[other].first &&
                    (uses[one].second || uses[other].second)) {
                    racy_.insert(uses[one].first);
                }
            }
        }
        for (const State& after : next) {
            Visit(after);
        }
    }

    void HostStep(const State& state, std::vector<std::pair<int, bool>>* uses,
                  std::vector<State>* next) const {
        const OrderAction& action = program_[state.host];
        const auto stream = static_cast<size_t>(action.stream);
        State after = state;
        ++after.host;
        switch (action.kind) {
            case OrderAction::kHostAccess:
                uses->emplace_back(action.what, action.writes);
                break;
            case OrderAction::kSynchronize:
                if (state.done[stream] != state.queues[stream].size()) {
                    return;
                }
                break;
            case OrderAction::kRecord:
                after.records[static_cast<size_t>(action.what)] = {action.stream,
                                                                   state.queues[stream].size()};
                break;
            case OrderAction::kWait: {
                const auto [other, place] = state.records[static_cast<size_t>(action.what)];
                after.queues[stream].push_back({action.kind, action.what, false, other, place});
                break;
            }
            default:
                after.queues[stream].push_back({action.kind, action.what, action.writes});
        }
        next->push_back(after);
    }

    const OrderProgram& program_;
    std::set<std::string> seen_;
    std::set<int> racy_;
    bool ends_ = false;
};

// The same program in the analysis.
class Analysis {
 public:
    explicit Analysis(const OrderProgram& program)
        : order_([this](const std::shared_ptr<OrderedWork>& work) { Pass(work); }) {
        for (const OrderAction& action : program) {
            Act(action);
        }
    }
    const std::set<int>& racy() const { return racy_; }

 private:
    static bool IsOne(uint64_t word, uint64_t, uint32_t) { return word == 1; }

    std::shared_ptr<OrderedWork> WorkOn(const OrderAction& action) {
        const auto work = std::make_shared<OrderedWork>();
        work->uses.push_back({nullptr, static_cast<uint64_t>(action.what), 0, 0, 0, action.writes});
        return work;
    }

    void Act(const OrderAction& action) {
        const int* const stream = &streams_[static_cast<size_t>(action.stream)];
        uint64_t& last = queued_[static_cast<size_t>(action.stream)];
        const int* const key = &keys_[static_cast<size_t>(action.what)];
        OrderStep step;
        switch (action.kind) {
            case OrderAction::kHostAccess:
                order_.HostActs(WorkOn(action));
                return;
            case OrderAction::kSynchronize:
                order_.HostSees(stream, last);
                return;
            case OrderAction::kRecord:
                order_.Queued(stream, ++last);
                records_[static_cast<size_t>(action.what)] = {stream, last};
                return;
            case OrderAction::kWait: {
                const auto [other, place] = records_[static_cast<size_t>(action.what)];
                step.kind =
                    other == nullptr ? OrderStep::Kind::kWork : OrderStep::Kind::kWaitForPlace;
                step.other = other;
                step.sequence = place;
                break;
            }
            case OrderAction::kAccess:
                step.work = WorkOn(action);
                break;
            case OrderAction::kSet:
                step.kind = OrderStep::Kind::kSet;
                break;
            case OrderAction::kTake:
                step.kind = OrderStep::Kind::kTake;
                break;
            case OrderAction::kWrite:
                step.kind = OrderStep::Kind::kWriteWord;
                step.value = 1;
                break;
            case OrderAction::kAwait:
                step.kind = OrderStep::Kind::kAwaitWord;
                step.holds = &IsOne;
                break;
        }
        // A notify and a word of one number have different keys.
        const bool isWord =
            action.kind == OrderAction::kWrite || action.kind == OrderAction::kAwait;
        step.key =
            isWord ? static_cast<const void*>(&words_[static_cast<size_t>(action.what)]) : key;
        order_.Add(stream, ++last, step);
    }

    void Pass(const std::shared_ptr<OrderedWork>& work) {
        const PlacedUse& use = work->uses.front();
        history_.Add(
            use.begin, use.begin + 1, {work, 0, use.exact},
            [&](const WorkAccess&, uint64_t begin, uint64_t) {
                racy_.insert(static_cast<int>(begin));
            },
            [&](const OrderedWork& earlier) { return order_.IsOld(earlier); });
    }

    std::array<int, kOrderStreams> streams_{};
    std::array<int, kOrderEvents> keys_{};
    std::array<int, kOrderEvents> words_{};
    std::array<uint64_t, kOrderStreams> queued_{};
    std::array<std::pair<const int*, uint64_t>, kOrderEvents> records_{};
    AccessHistory history_;
    std::set<int> racy_;
    WorkOrder order_;
};

// Each notify and each word has at most one step that sets it and one that waits: with more, which
// of them meet is a matter of time.
OrderProgram RandomProgram(std::mt19937* random) {
    OrderProgram program;
    std::set<std::pair<int, int>> used;
    const size_t length = 4 + (*random)() % 8;
    while (program.size() < length) {
        OrderAction action{static_cast<OrderAction::Kind>((*random)() % 9),
                           static_cast<int>((*random)() % kOrderStreams),
                           static_cast<int>((*random)() % kOrderCells), (*random)() % 2 == 0};
        if ((*random)() % 2 == 0) {
            action.kind = OrderAction::kAccess;
        }
        const bool once = action.kind >= OrderAction::kSet && action.kind <= OrderAction::kAwait;
        if (once && !used.insert({action.kind, action.what}).second) {
            continue;
        }
        program.push_back(action);
    }
    return program;
}

std::string OrderText(const OrderProgram& program) {
    static constexpr const char* kNames[] = {"access", "record", "wait", "set",        "take",
                                             "write",  "await",  "host", "synchronize"};
    std::string text;
    for (const OrderAction& action : program) {
        text += std::string(kNames[action.kind]) + "(stream " + std::to_string(action.stream) +
                ", " + std::to_string(action.what) + (action.writes ? ", writes)\n" : ")\n");
    }
    return text;
}

TEST(WorkOrderTest, FindsTheRacesOfAllOrders) {
    std::mt19937 random(3);
    int compared = 0;
    int racy = 0;
    for (int round = 0; round < 5000; ++round) {
        const OrderProgram program = RandomProgram(&random);
        const AllOrders orders(program);
        if (!orders.ends()) {
            continue;  // the host waits for ever
        }
        const Analysis analysis(program);
        ASSERT_EQ(analysis.racy(), orders.racy()) << OrderText(program);
        ++compared;
        racy += orders.racy().empty() ? 0 : 1;
    }
    EXPECT_GT(compared, 3000);
    EXPECT_GT(racy, 700);
    EXPECT_GT(compared - racy, 700);
}

}  // namespace
}  // namespace advstep
