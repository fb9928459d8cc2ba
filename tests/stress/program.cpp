// SPDX-License-Identifier: Apache-2.0
// Runs random programs: threads, calls, comparison with the model, and the monitor.

#include "stress/program.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "support/status.h"

namespace stress {
namespace {

// A thread that makes the calls it is handed, while the other one waits.
class CallThread {
 public:
    CallThread() : thread_([this] { Loop(); }) {}
    CallThread(const CallThread&) = delete;
    CallThread& operator=(const CallThread&) = delete;
    ~CallThread() {
        Run(nullptr);
        thread_.join();
    }
    // Null ends the thread.
    void Run(const std::function<void()>& work) {
        std::unique_lock<std::mutex> lock(mutex_);
        work_ = &work;
        changed_.notify_all();
        changed_.wait(lock, [this] { return work_ == nullptr; });
    }

 private:
    void Loop() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (bool over = false; !over;) {
            changed_.wait(lock, [this] { return work_ != nullptr; });
            over = *work_ == nullptr;
            if (!over) {
                (*work_)();
            }
            work_ = nullptr;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()>* work_ = nullptr;
    std::thread thread_;
};

// What the monitor knows of a program that runs.
struct Running {
    const Program* program;
    std::atomic<size_t> call{0};
    size_t seen = 0;
    int idle = 0;  // seconds
};

std::mutex runningMutex;
std::set<Running*> running;

class Registration {
 public:
    explicit Registration(const Program& program) {
        running_.program = &program;
        const std::lock_guard<std::mutex> lock(runningMutex);
        running.insert(&running_);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration() {
        const std::lock_guard<std::mutex> lock(runningMutex);
        running.erase(&running_);
    }
    void At(size_t call) { running_.call.store(call, std::memory_order_relaxed); }

 private:
    Running running_;
};

constexpr size_t kDeviceBytes = (kDeviceCells + kWords) * sizeof(uint64_t);
constexpr size_t kPinnedBytes = (kCells + kWords) * sizeof(uint64_t);

std::string Start(World& world, size_t* freeBytes) {
    static int something = 0;
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    size_t total = 0;
    void* device = nullptr;
    void* pinned = nullptr;
    const int codes[] = {
        aclrtSetDevice(world.device),
        aclmdlRICaptureThreadExchangeMode(&mode),
        aclrtGetCurrentContext(&world[kPrimary]),
        aclrtCtxGetCurrentDefaultStream(&world[kPrimaryDefault]),
        aclrtGetMemInfo(ACL_HBM_MEM, freeBytes, &total),
        aclrtMalloc(&device, kDeviceBytes, ACL_MEM_MALLOC_HUGE_FIRST),
        aclrtMallocHost(&pinned, kPinnedBytes),
    };
    for (const int code : codes) {
        if (code != 0) {
            return fmt::format("the start of the program returned {}: {}", code,
                               support::TakeMessage());
        }
    }
    std::memset(device, 0, kDeviceBytes);  // no call: a capture beside this program may forbid it
    std::memset(pinned, 0, kPinnedBytes);
    world.deviceCells = static_cast<uint64_t*>(device);
    world.pinnedCells = static_cast<uint64_t*>(pinned);
    world[kForeign] = &something;
    world[kNonsense] = reinterpret_cast<void*>(uintptr_t{0x5A5A00771234});
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    return {};
}

std::string Finish(World& world, size_t freeBytes, bool parallel) {
    size_t left = 0;
    size_t total = 0;
    const auto isBack = [&] {
        return aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) != 0 || left == freeBytes;
    };
    const int codes[] = {
        aclrtSetCurrentContext(world[kPrimary]),
        aclrtFreeHost(world.pinnedCells),
        aclrtFree(world.deviceCells),
        // Memory goes back when earlier work of all programs has run.
        parallel && !support::Eventually(isBack) ? ACL_ERROR_FAILURE : 0,
        aclrtGetMemInfo(ACL_HBM_MEM, &left, &total),
        aclrtResetDevice(world.device),
    };
    for (const int code : codes) {
        if (code != 0) {
            return fmt::format("the end of the program returned {}: {}", code,
                               support::TakeMessage());
        }
    }
    return left == freeBytes
               ? std::string()
               : fmt::format("{} bytes are free; expected the {} of before", left, freeBytes);
}

// After a failure nothing is known: whatever still waits is dropped.
void Abandon(World& world, int slots) {
    world.OpenGates();
    std::vector<aclrtContext> contexts;
    for (Slot slot = kPrimary; slot < slots; ++slot) {
        if (aclrtSetCurrentContext(world[slot]) == 0) {
            contexts.push_back(world[slot]);
            (void)aclrtStreamAbort(nullptr);
        }
    }
    for (const aclrtContext context : contexts) {
        (void)aclrtSetCurrentContext(context);
        for (Slot slot = kPrimary; slot < slots; ++slot) {
            aclmdlRI model = nullptr;
            (void)aclmdlRICaptureEnd(world[slot], &model);
            (void)aclrtDestroyStreamForce(world[slot]);
            (void)aclrtDestroyEvent(world[slot]);
            (void)aclrtDestroyNotify(world[slot]);
        }
    }
    for (const aclrtContext context : contexts) {
        (void)aclrtDestroyContext(context);
    }
    (void)aclrtResetDeviceForce(world.device);
    (void)aclrtFreeHost(world.pinnedCells);
}

std::string Judge(const Call& call, int code, World& world) {
    if (const std::string complaint = world.Complaint(); !complaint.empty()) {
        return complaint;
    }
    if (std::find(call.codes.begin(), call.codes.end(), code) != call.codes.end()) {
        return {};
    }
    std::string expected;
    for (const int one : call.codes) {
        expected += fmt::format("{}{}", expected.empty() ? "" : " or ", one);
    }
    return fmt::format("returned {}; expected {}; {}", code, expected, support::TakeMessage());
}

}  // namespace

Failure RunProgram(const Program& program, int32_t device) {
    World world(device, program.slots);
    Registration registration(program);
    size_t freeBytes = 0;
    if (std::string what = Start(world, &freeBytes); !what.empty()) {
        return {0, what};
    }
    std::array<std::unique_ptr<CallThread>, kThreads> threads;
    world.threadIds[0] = static_cast<uint64_t>(pthread_self());
    Failure failure;
    for (size_t index = 0; index < program.calls.size() && failure.what.empty(); ++index) {
        registration.At(index);
        const Call& call = program.calls[index];
        const auto make = [&] {
            const std::string what = Judge(call, call.run(world), world);
            if (!what.empty()) {
                failure = {index, what};
            }
        };
        if (call.thread == 0) {
            make();
            continue;
        }
        std::unique_ptr<CallThread>& thread = threads[static_cast<size_t>(call.thread)];
        if (thread == nullptr) {
            thread = std::make_unique<CallThread>();
            thread->Run(
                [&] { world.threadIds[call.thread] = static_cast<uint64_t>(pthread_self()); });
        }
        thread->Run(make);
    }
    threads = {};
    if (!failure.what.empty()) {
        Abandon(world, program.slots);
        return failure;
    }
    if (std::string what = Finish(world, freeBytes, program.parallel); !what.empty()) {
        return {program.calls.size(), what};
    }
    return {program.calls.size(), world.Complaint()};
}

std::string ListCalls(const Program& program, size_t count) {
    std::string text;
    for (size_t index = 0; index < std::min(count, program.calls.size()); ++index) {
        const Call& call = program.calls[index];
        text += fmt::format("{:5} t{} {} -> {}\n", index, call.thread, call.text, call.codes[0]);
    }
    return text;
}

ProgressMonitor::ProgressMonitor() : thread_([this] { Watch(); }) {}

ProgressMonitor::~ProgressMonitor() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void ProgressMonitor::Watch() {
    constexpr int kHangSeconds = 30;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; })) {
        const std::lock_guard<std::mutex> guard(runningMutex);
        bool hangs = false;
        for (Running* one : running) {
            const size_t call = one->call.load(std::memory_order_relaxed);
            one->idle = call == one->seen ? one->idle + 1 : 0;
            one->seen = call;
            if (one->idle >= kHangSeconds) {
                hangs = true;
                std::fprintf(stderr, "no progress for %d s: seed %llu, call %zu\n%s", kHangSeconds,
                             static_cast<unsigned long long>(one->program->seed), call,
                             ListCalls(*one->program, call + 1).c_str());
            }
        }
        if (hangs) {
            std::abort();
        }
    }
}

}  // namespace stress
