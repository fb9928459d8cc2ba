// SPDX-License-Identifier: Apache-2.0
// The two references. Neither knows the runtime: a program here is a list of steps.
#include "race_reference.h"

#include <algorithm>
#include <array>
#include <deque>

namespace race {
namespace {

// A range of one life of a buffer.
struct Access {
    int life;
    int begin;
    int end;
    bool writes;
};

// What happens at a time: a task, or a call that queues none. A replay is several.
struct Atom {
    size_t step;
    size_t site;  // as in Pairs
    int stream;   // of a task, from 0 on; each branch of a replay has one of its own; -1: a call
    std::vector<Access> accesses;
    std::vector<size_t>
        awaited;  // atoms that must have happened, beside those before it in its stream
};

bool IsTask(Call call) {
    switch (call) {
        case Call::kFill:
        case Call::kCopy:
        case Call::kReduce:
        case Call::kRecord:
        case Call::kWait:
        case Call::kNotify:
        case Call::kWaitNotify:
        case Call::kWriteValue:
        case Call::kWaitValue:
        case Call::kReplay:
            return true;
        default:
            return false;
    }
}

// The program as atoms, with what is fixed before it runs: lives of buffers, the record of each
// wait.
class Plan {
 public:
    explicit Plan(const Program& program) : program_(program) {
        for (int buffer = 0; buffer < kBuffers; ++buffer) {
            life_[static_cast<size_t>(buffer)] = buffer;
        }
        for (size_t i = 0; i < program.steps.size(); ++i) {
            if (program.steps[i].call == Call::kReplay) {
                AddReplay(i);
            } else {
                Add(i);
            }
        }
        for (const auto& [waiting, call, object] : later_) {
            for (size_t i = 0; i < atoms.size(); ++i) {
                const Step& step = program.steps[atoms[i].step];
                if (step.call == call && step.object == object) {
                    atoms[waiting].awaited.push_back(i);
                }
            }
        }
    }
    bool Conflict(size_t a, size_t b) const {
        for (const Access& x : atoms[a].accesses) {
            for (const Access& y : atoms[b].accesses) {
                if (x.life == y.life && (x.writes || y.writes) &&
                    std::max(x.begin, y.begin) < std::min(x.end, y.end)) {
                    return true;
                }
            }
        }
        return false;
    }
    size_t Steps() const { return program_.steps.size(); }

    std::vector<Atom> atoms;

 private:
    struct Later {
        size_t waiting;
        Call call;
        int object;
    };

    std::vector<Access> AccessesOf(const Step& step) const {
        std::vector<Access> accesses;
        const auto note = [&](const Range& range, bool writes) {
            accesses.push_back(
                {life_[static_cast<size_t>(range.buffer)], range.begin, range.end, writes});
        };
        switch (step.call) {
            case Call::kFill:
            case Call::kHostWrite:
                note(step.range, true);
                break;
            case Call::kCopy:
            case Call::kReduce:  // reads what it writes
                note(step.range, true);
                note(step.from, false);
                break;
            case Call::kHostRead:
                note(step.range, false);
                break;
            default:
                break;
        }
        return accesses;
    }
    void Add(size_t i) {
        const Step& step = program_.steps[i];
        const auto object = static_cast<size_t>(step.object);
        const size_t place = atoms.size();
        Atom atom{i, i, IsTask(step.call) ? step.stream : -1, AccessesOf(step), {}};
        switch (step.call) {
            case Call::kRenew:
                life_[static_cast<size_t>(step.range.buffer)] = lives_++;
                break;
            case Call::kRecord:
                record_[object] = static_cast<int>(place);
                break;
            case Call::kWait:
            case Call::kSyncEvent:
            case Call::kAskEvent:
                if (record_[object] >= 0) {
                    atom.awaited.push_back(static_cast<size_t>(record_[object]));
                }
                break;
            case Call::kWaitNotify:
                later_.push_back({place, Call::kNotify, step.object});
                break;
            case Call::kWaitValue:
                later_.push_back({place, Call::kWriteValue, step.object});
                break;
            case Call::kSyncStream:
            case Call::kAskStream:
            case Call::kSyncDevice:
                for (size_t k = 0; k < place; ++k) {
                    if (atoms[k].stream >= 0 &&
                        (step.call == Call::kSyncDevice || atoms[k].stream == step.stream)) {
                        atom.awaited.push_back(k);
                    }
                }
                break;
            default:
                break;
        }
        atoms.push_back(std::move(atom));
    }
    // Replays of a model run one after another.
    void AddReplay(size_t i) {
        const int stream = program_.steps[i].stream;
        const size_t first = atoms.size();
        for (size_t task = 0; task < kModelTasks; ++task) {
            const bool isBranch = task == kBranchTask;
            Atom atom{i,
                      kMostSteps + task,
                      isBranch ? branches_++ : stream,
                      AccessesOf(program_.model[task]),
                      {}};
            if (task == 0 && lastReplay_ >= 0) {
                atom.awaited.push_back(static_cast<size_t>(lastReplay_));
            }
            if (isBranch) {
                atom.awaited.push_back(first);
            }
            if (task == kModelTasks - 1) {
                atom.awaited.push_back(first + kBranchTask);
            }
            atoms.push_back(std::move(atom));
        }
        lastReplay_ = static_cast<int>(atoms.size()) - 1;
    }

    const Program& program_;
    std::array<int, kBuffers> life_{};
    int lives_ = kBuffers;
    std::array<int, kEvents> record_ = {-1, -1, -1};
    int branches_ = kStreams;
    int lastReplay_ = -1;
    std::vector<Later> later_;  // waits whose record may come later
};

// All states that the program can reach: which atoms have happened, and how many calls were made.
class Interleavings {
 public:
    explicit Interleavings(const Program& program) : plan_(program) { Visit(); }

    bool GetsStuck() const { return getsStuck_; }
    // Whether atom a happens before atom b in some interleaving.
    bool MayHappenBefore(size_t a, size_t b) const {
        return std::any_of(states_.begin(), states_.end(), [a, b](const State& state) {
            return (state.first & Bit(a)) != 0 && (state.first & Bit(b)) == 0;
        });
    }
    const Plan& plan() const { return plan_; }

 private:
    using State = std::pair<uint64_t, size_t>;
    static uint64_t Bit(size_t atom) { return uint64_t{1} << atom; }

    bool MayHappen(const State& state, size_t atom) const {
        const Atom& it = plan_.atoms[atom];
        if ((state.first & Bit(atom)) != 0 ||
            std::any_of(it.awaited.begin(), it.awaited.end(),
                        [&](size_t before) { return (state.first & Bit(before)) == 0; })) {
            return false;
        }
        if (it.stream < 0) {
            return state.second == it.step;
        }
        for (size_t k = 0; k < atom; ++k) {
            if (plan_.atoms[k].stream == it.stream && (state.first & Bit(k)) == 0) {
                return false;
            }
        }
        return state.second > it.step;
    }
    // A call that queues tasks is made at any time, in its turn.
    bool MayQueue(const State& state) const {
        return std::any_of(plan_.atoms.begin(), plan_.atoms.end(), [&](const Atom& atom) {
            return atom.step == state.second && atom.stream >= 0;
        });
    }
    void Visit() {
        std::deque<State> open = {{0, 0}};
        states_ = {{0, 0}};
        while (!open.empty()) {
            const State state = open.front();
            open.pop_front();
            bool goesOn = false;
            const auto reach = [&](const State& next) {
                goesOn = true;
                if (states_.insert(next).second) {
                    open.push_back(next);
                }
            };
            if (MayQueue(state)) {
                reach({state.first, state.second + 1});
            }
            for (size_t i = 0; i < plan_.atoms.size(); ++i) {
                if (MayHappen(state, i)) {
                    const bool isCall = plan_.atoms[i].stream < 0;
                    reach({state.first | Bit(i), state.second + (isCall ? 1 : 0)});
                }
            }
            getsStuck_ = getsStuck_ || (!goesOn && state.first != Bit(plan_.atoms.size()) - 1);
        }
    }

    Plan plan_;
    std::set<State> states_;
    bool getsStuck_ = false;
};

std::pair<int, int> SitesOf(const Plan& plan, size_t a, size_t b) {
    return std::minmax(static_cast<int>(plan.atoms[a].site), static_cast<int>(plan.atoms[b].site));
}

template <typename Ordered>
Pairs ConflictsWithout(const Plan& plan, Ordered&& ordered) {
    Pairs pairs;
    for (size_t a = 0; a < plan.atoms.size(); ++a) {
        for (size_t b = a + 1; b < plan.atoms.size(); ++b) {
            if (plan.Conflict(a, b) && !ordered(a, b)) {
                pairs.insert(SitesOf(plan, a, b));
            }
        }
    }
    return pairs;
}

// A graph of calls (the nodes after the atoms) and atoms, closed under transitivity.
class Order {
 public:
    Order(const Plan& plan, const Pairs& cured)
        : atoms_(plan.atoms.size()),
          before_(atoms_ + plan.Steps(), std::vector<bool>(atoms_ + plan.Steps(), false)) {
        for (size_t i = 0; i < atoms_; ++i) {
            const Atom& atom = plan.atoms[i];
            const size_t call = atoms_ + atom.step;
            before_[call][i] = true;
            if (atom.stream < 0) {
                before_[i][call] = true;  // the call is the atom
            }
            for (const size_t awaited : atom.awaited) {
                before_[awaited][i] = true;
            }
            for (size_t k = 0; k < i; ++k) {
                if (atom.stream >= 0 && plan.atoms[k].stream == atom.stream) {
                    before_[k][i] = true;
                }
            }
        }
        for (size_t step = 0; step + 1 < plan.Steps(); ++step) {
            before_[atoms_ + step][atoms_ + step + 1] = true;
        }
        Close();
        Cure(plan, cured);
    }
    bool AreOrdered(size_t a, size_t b) const { return before_[a][b] || before_[b][a]; }

 private:
    void Cure(const Plan& plan, const Pairs& cured) {
        for (size_t a = 0; a < atoms_; ++a) {
            for (size_t b = a + 1; b < atoms_; ++b) {
                if (cured.count(SitesOf(plan, a, b)) != 0 && plan.Conflict(a, b) &&
                    !AreOrdered(a, b)) {
                    before_[a][b] = true;
                }
            }
        }
        Close();
    }
    void Close() {
        for (size_t k = 0; k < before_.size(); ++k) {
            for (std::vector<bool>& from : before_) {
                for (size_t to = 0; from[k] && to < before_.size(); ++to) {
                    from[to] = from[to] || before_[k][to];
                }
            }
        }
    }

    size_t atoms_;
    std::vector<std::vector<bool>> before_;
};

}  // namespace

bool MayHang(const Program& program) { return Interleavings(program).GetsStuck(); }

Pairs RacesByInterleavings(const Program& program) {
    const Interleavings all(program);
    return ConflictsWithout(all.plan(), [&](size_t a, size_t b) {
        return !all.MayHappenBefore(a, b) || !all.MayHappenBefore(b, a);
    });
}

Pairs RacesByOrder(const Program& program, const Pairs& cured) {
    const Plan plan(program);
    const Order order(plan, cured);
    return ConflictsWithout(plan, [&](size_t a, size_t b) { return order.AreOrdered(a, b); });
}

}  // namespace race
