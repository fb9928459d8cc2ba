// SPDX-License-Identifier: Apache-2.0
// What scenarios are made of: threads, host functions, flags, checked calls.

#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/schedules/controlled.h"
#include "tests/schedules/scheduler.h"

namespace schedules {

struct Scenario {
    const char* name;
    bool small;  // few enough points to take all schedules with three preemptions in an hour
    void (*run)();
};

std::vector<Scenario> BareScenarios();
std::vector<Scenario> StreamScenarios();
std::vector<Scenario> WaitScenarios();
std::vector<Scenario> AbortScenarios();
std::vector<Scenario> EndScenarios();
std::vector<Scenario> DropScenarios();
std::vector<Scenario> DeviceScenarios();
std::vector<Scenario> GraphScenarios();
std::vector<Scenario> ReplayScenarios();

/// Runs the functions as threads, under control, until all have ended.
void RunThreads(std::initializer_list<std::function<void()>> bodies);

/// Expects that a call returned this code.
inline void ExpectCode(aclError found, aclError expected, const char* what) {
    Expect(found == expected, std::string(what) + ": returned " + std::to_string(found) +
                                  ", expected " + std::to_string(expected));
}
inline void Ok(aclError found, const char* what) { ExpectCode(found, ACL_SUCCESS, what); }

/// The runtime, from aclInit to aclFinalize, with a current context on the calling thread.
class Runtime {
 public:
    Runtime();
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    /// Makes the context that of the calling thread.
    void Use() const { Ok(aclrtSetCurrentContext(context_), "aclrtSetCurrentContext"); }
    aclrtContext context() const { return context_; }
    void Ended() { ended_ = true; }  // a thread has called aclFinalize

 private:
    aclrtContext context_ = nullptr;
    bool ended_ = false;
};

aclrtStream NewStream();
aclrtEvent NewEvent();
aclrtNotify NewNotify();

/// Returns what the library takes for pthread_self() of the running thread.
inline uint64_t ThreadId() { return static_cast<uint64_t>(Self()) + 1; }

/// Something that a thread waits for.
class Flag {
 public:
    void Set() {
        const std::lock_guard<mutex> lock(mutex_);
        set_ = true;
        changed_.notify_all();
    }
    void Wait() {
        std::unique_lock<mutex> lock(mutex_);
        changed_.wait(lock, [this] { return set_; });
    }
    bool IsSet() {
        const std::lock_guard<mutex> lock(mutex_);
        return set_;
    }

 private:
    mutex mutex_;
    condition_variable changed_;
    bool set_ = false;
};

/// Host functions of a schedule, and the order in which they ran.
class HostWork {
 public:
    /// Queues a host function that notes `mark` and then calls `then`. Returns the code.
    aclError Launch(aclrtStream stream, int mark, std::function<void()> then = nullptr);
    void Add(aclrtStream stream, int mark, std::function<void()> then = nullptr) {
        Ok(Launch(stream, mark, std::move(then)), "aclrtLaunchHostFunc");
    }
    const std::vector<int>& ran() const { return ran_; }
    bool Ran(int mark) const { return Place(mark) < ran_.size(); }
    /// Expects that both ran, in this order.
    void ExpectOrder(int first, int second) const;
    void ExpectOnce(int mark) const;

 private:
    struct Function {
        HostWork* owner;
        int mark;
        std::function<void()> then;
    };
    static void Run(void* argument);
    size_t Place(int mark) const;
    std::deque<Function> functions_;
    std::vector<int> ran_;
};

}  // namespace schedules
