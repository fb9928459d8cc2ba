// SPDX-License-Identifier: Apache-2.0
// A program: calls with the codes they must return, and the world they are made in.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "stress/program_model.h"
#include "support/host_work.h"

namespace stress {

// What the calls of one run share: handles by slot, cells, gates. Calls are made one at a time, but
// host functions of the program run beside them.
class World {
 public:
    World(int32_t deviceId, int slots) : device(deviceId), handles_(static_cast<size_t>(slots)) {}

    void*& operator[](Slot slot) { return handles_[static_cast<size_t>(slot)]; }
    uint64_t* Cell(int cell) const {
        return cell < kDeviceCells ? deviceCells + cell : pinnedCells + (cell - kDeviceCells);
    }
    uint64_t* Word(int word) const {
        return word < kWords / 2 ? deviceCells + kDeviceCells + word : pinnedCells + kCells + word;
    }

    // Queues fn, which is kept as long as the world: work that is dropped never runs.
    aclError Launch(aclrtStream stream, std::function<void()> fn);

    // What was seen that must not be; the first one is kept.
    void Complain(const std::string& what);
    std::string Complaint() const;

    struct Gate {
        support::Signal entered;
        support::Signal opened;
    };
    Gate& GateAt(int gate);
    void OpenGates();

    const int32_t device;
    uint64_t* deviceCells = nullptr;
    uint64_t* pinnedCells = nullptr;
    uint64_t threadIds[kThreads] = {};

 private:
    std::deque<void*> handles_;
    mutable std::mutex mutex_;
    std::deque<std::function<void()>> functions_;
    std::deque<Gate> gates_;
    std::string complaint_;
};

struct Call {
    int thread = 0;
    std::string text;
    std::vector<int> codes;  // one of them
    std::function<int(World&)> run;
};

struct Program {
    uint64_t seed = 0;
    bool parallel = false;  // runs beside other programs
    int slots = kFirstFree;
    std::vector<Call> calls;
};

struct Failure {
    size_t call = 0;
    std::string what;  // empty: none
};

// Runs the program on a device that nobody else uses, and leaves nothing behind there.
Failure RunProgram(const Program& program, int32_t device);

// The first `count` calls as text.
std::string ListCalls(const Program& program, size_t count);

// Ends the process, with the seeds and the last calls of the programs that run, when one of them
// makes no progress.
class ProgressMonitor {
 public:
    ProgressMonitor();
    ProgressMonitor(const ProgressMonitor&) = delete;
    ProgressMonitor& operator=(const ProgressMonitor&) = delete;
    ~ProgressMonitor();

 private:
    void Watch();

    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace stress
