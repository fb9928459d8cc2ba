// SPDX-License-Identifier: Apache-2.0
// Host functions for tests: any callable in a stream, a gate that holds one, a record of what ran.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_HOST_WORK_H_
#define ADVANCE_STEP_TESTS_SUPPORT_HOST_WORK_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/status.h"
#include "support/watchdog.h"

namespace support {

inline void DoNothing(void*) {}

// Queues fn. The callable stays until the process ends: work that is dropped never runs, so nobody
// could tell when it may go. Give it copies or shared pointers, not references to locals.
inline aclError Enqueue(aclrtStream stream, std::function<void()> fn) {
    static std::mutex mutex;
    static std::deque<std::function<void()>> kept;
    std::function<void()>* mine = nullptr;
    {
        const std::lock_guard<std::mutex> lock(mutex);
        kept.push_back(std::move(fn));
        mine = &kept.back();
    }
    return aclrtLaunchHostFunc(
        stream, [](void* args) { (*static_cast<std::function<void()>*>(args))(); }, mine);
}

// A task that fails with ACL_ERROR_FAILURE.
inline aclError EnqueueFailure(aclrtStream stream) {
    return Enqueue(stream, [] { throw std::runtime_error("thrown by a test"); });
}

// A flag that threads can wait for, never longer than kPatience.
class Signal {
 public:
    void Set() const {
        {
            const std::lock_guard<std::mutex> lock(state_->mutex);
            state_->set = true;
        }
        state_->changed.notify_all();
    }
    [[nodiscard]] bool Wait() const {
        std::unique_lock<std::mutex> lock(state_->mutex);
        return state_->changed.wait_for(lock, kPatience, [this] { return state_->set; });
    }
    bool IsSet() const {
        const std::lock_guard<std::mutex> lock(state_->mutex);
        return state_->set;
    }

 private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        bool set = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Holds a stream until opened. Declare it after the stream: its destructor opens it, so that a test
// that fails half way lets the stream go. The thread that synchronises a held stream may be the one
// that runs the gate, so another thread has to open it.
class HostGate {
 public:
    explicit HostGate(aclrtStream stream) {
        EXPECT_TRUE(IsOk(Enqueue(stream, [entered = entered_, opened = opened_] {
            entered.Set();
            if (!opened.Wait()) {
                ADD_FAILURE() << "nobody opened the gate";
            }
        })));
    }
    HostGate(const HostGate&) = delete;
    HostGate& operator=(const HostGate&) = delete;
    ~HostGate() { Open(); }

    // Until the stream stands at the gate. Nobody synchronises, so this also says that work
    // makes progress on its own.
    [[nodiscard]] bool WaitEntered() const { return entered_.Wait(); }
    void Open() const { opened_.Set(); }

 private:
    Signal entered_;
    Signal opened_;
};

// Remembers in which order its marks ran.
class Recorder {
 public:
    [[nodiscard]] aclError Mark(aclrtStream stream, int value) const {
        return Enqueue(stream, [state = state_, value] { Push(*state, value); });
    }
    void MarkNow(int value) const { Push(*state_, value); }
    // Until count marks have run.
    [[nodiscard]] bool WaitFor(size_t count) const {
        std::unique_lock<std::mutex> lock(state_->mutex);
        return state_->changed.wait_for(lock, kPatience,
                                        [this, count] { return state_->values.size() >= count; });
    }
    std::vector<int> Values() const {
        const std::lock_guard<std::mutex> lock(state_->mutex);
        return state_->values;
    }

 private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<int> values;
    };
    static void Push(State& state, int value) {
        {
            const std::lock_guard<std::mutex> lock(state.mutex);
            state.values.push_back(value);
        }
        state.changed.notify_all();
    }
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Asks until the answer is yes, never longer than kPatience.
template <class Predicate>
[[nodiscard]] bool Eventually(Predicate predicate) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!predicate()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_HOST_WORK_H_
