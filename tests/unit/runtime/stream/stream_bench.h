// SPDX-License-Identifier: Apache-2.0
// Streams on their own: tasks from callables, and workers that only count.
#ifndef ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_STREAM_BENCH_H_
#define ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_STREAM_BENCH_H_

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"

namespace unit {

// Runs nothing, so a stream moves only when a test makes it.
class CountingWorkers : public advstep::WorkerControl {
 public:
    void Wake() override { ++wakes; }
    void StepAside() override { ++stepsAside; }
    bool Watches() const override { return watches; }
    void NudgeSleepers() override { ++nudges; }
    void SetWatch(Watch watch) { watch_.store(watch); }
    void SetMissing() { missing_.store(true); }

    bool watches = false;  // the thread of the test counts as the watcher
    std::atomic<int> wakes{0};
    std::atomic<int> stepsAside{0};
    std::atomic<int> nudges{0};
};

inline constexpr advstep::Handle kCaller = 0x1C5;

struct TaskTraits {
    advstep::TaskKind kind = advstep::TaskKind::kPlain;
    advstep::TaskLength length = advstep::TaskLength::kUsual;
    const advstep::TaskType* type = nullptr;
};
inline constexpr TaskTraits kHostFunction{advstep::TaskKind::kHostFunction};
inline constexpr TaskTraits kEventRecord{advstep::TaskKind::kAlways};
inline constexpr TaskTraits kHeavy{advstep::TaskKind::kPlain, advstep::TaskLength::kHeavy};
inline constexpr TaskTraits kUnknown{advstep::TaskKind::kPlain, advstep::TaskLength::kUnknown};
inline constexpr TaskTraits kBrief{advstep::TaskKind::kPlain, advstep::TaskLength::kBrief};

// One life of a stream, and what its tasks call. The context is shared if one is given.
class StreamBench {
 public:
    StreamBench(advstep::Stream* stream, advstep::Handle handle, advstep::WorkerControl* workers,
                advstep::Context* context = nullptr, advstep::BusySet* busySet = nullptr)
        : stream_(stream),
          workers_(workers),
          context_(context == nullptr ? &own_ : context),
          busySet_(busySet) {
        Open(handle);
    }
    StreamBench(const StreamBench&) = delete;
    StreamBench& operator=(const StreamBench&) = delete;

    void Open(advstep::Handle handle) {
        advstep::StreamIdentity identity;
        identity.handle = handle_ = handle;
        identity.context.context = context_;
        identity.context.handle = kCaller;
        stream_->Open(identity, workers_, busySet_);
    }

    advstep::Stream& Get() const { return *stream_; }
    advstep::StreamRef Ref() const { return {stream_, handle_, kCaller}; }
    advstep::Handle GetHandle() const { return handle_; }

    advstep::Status Enqueue(std::function<advstep::Status()> function, TaskTraits traits = {},
                            advstep::Ticket* ticket = nullptr) {
        const std::function<advstep::Status()>* mine = nullptr;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            functions_.push_back(std::move(function));
            mine = &functions_.back();
        }
        return stream_->Enqueue(
            handle_, kCaller, sizeof(FunctionTask),
            [&](void* memory) {
                auto* const task = new (memory) FunctionTask;
                task->run = [](const advstep::Task& base) {
                    return (*static_cast<const FunctionTask&>(base).function)();
                };
                task->kind = traits.kind;
                task->length = traits.length;
                task->type = traits.type;
                task->function = mine;
                return task;
            },
            ticket);
    }

    // A task that adds 1 to count.
    advstep::Status EnqueueCount(std::atomic<int>* count, TaskTraits traits = {},
                                 advstep::Ticket* ticket = nullptr) {
        return Enqueue([count] { return ++*count, advstep::Status(); }, traits, ticket);
    }

    advstep::Status EnqueueFailure(int32_t code, const char* message = "told by a test") {
        return Enqueue([code, message] { return advstep::Status(code, message); });
    }

    advstep::Status EnqueueWait(const advstep::Ticket& ticket) {
        return stream_->Enqueue(handle_, kCaller, sizeof(advstep::TicketWaitTask),
                                [&](void* memory) {
                                    auto* const task = new (memory) advstep::TicketWaitTask;
                                    task->kind = advstep::TaskKind::kTicketWait;
                                    task->ticket = ticket;
                                    return task;
                                });
    }

    bool RunSome(bool thorough) {
        advstep::WaitClock::time_point again = advstep::WaitClock::time_point::max();
        return stream_->RunSome(thorough, &again);
    }

    advstep::Status Synchronize() { return stream_->Synchronize(handle_, kCaller); }
    advstep::Status Close(bool drop) { return stream_->Close(handle_, kCaller, drop); }
    bool Complete() {
        bool complete = false;
        return stream_->Query(handle_, kCaller, &complete).ok() && complete;
    }

 private:
    struct FunctionTask : advstep::Task {
        const std::function<advstep::Status()>* function;
    };

    advstep::Stream* const stream_;
    advstep::WorkerControl* const workers_;
    advstep::Context own_;
    advstep::Context* const context_;
    advstep::BusySet* const busySet_;
    advstep::Handle handle_ = 0;
    std::mutex mutex_;
    std::deque<std::function<advstep::Status()>> functions_;
};

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_STREAM_BENCH_H_
