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

/// Small scenarios have few enough points to take all schedules with three preemptions in an hour.
enum Size { kSmall, kLarge };

struct Scenario {
    const char* name;
    Size size;
    void (*run)();
};

/// All scenarios, in the order of their files.
std::vector<Scenario>& Scenarios();

/// Adds a scenario to them before main() begins.
struct AddedScenario {
    AddedScenario(const char* name, Size size, void (*run)()) {
        Scenarios().push_back({name, size, run});
    }
};

/// Runs the functions as threads, under control, until all have ended.
void RunThreads(std::initializer_list<std::function<void()>> bodies);

/// Expects that a call returned this code.
inline void ExpectCode(aclError found, aclError expected, const char* what) {
    Expect(found == expected, std::string(what) + ": returned " + std::to_string(found) +
                                  ", expected " + std::to_string(expected));
}
inline void Ok(aclError found, const char* what) { ExpectCode(found, ACL_SUCCESS, what); }
inline void ExpectOkOr(aclError found, aclError allowed, const char* what) {
    Expect(found == ACL_SUCCESS || found == allowed,
           std::string(what) + ": returned " + std::to_string(found));
}

/// The runtime, from aclInit to aclFinalize, with a current context on the calling thread.
class Runtime {
 public:
    Runtime();
    ~Runtime();
    Runtime(Runtime&&) = delete;
    /// Makes the context that of the calling thread.
    void Use() const { Ok(aclrtSetCurrentContext(context_), "aclrtSetCurrentContext"); }
    /// Runs the functions as RunThreads() does, each with the context.
    void Run(std::initializer_list<std::function<void()>> bodies) const;
    aclrtContext context() const { return context_; }
    void Ended() { ended_ = true; }  // a thread has called aclFinalize

 private:
    aclrtContext context_ = nullptr;
    bool ended_ = false;
};

aclrtStream NewStream();
aclrtEvent NewEvent();
aclrtNotify NewNotify();

/// Has `to` wait for what `from` has been given so far.
void Order(aclrtStream from, aclrtStream to);
/// Has the stream wait for a notify that nobody records.
void Block(aclrtStream stream);

/// Captures what fill() queues in the stream.
aclmdlRI Capture(aclrtStream stream, const std::function<void()>& fill);
/// Makes a condition of the capture on this stream.
aclmdlRICondHandle NewCondition(aclrtStream stream, uint32_t value);
/// Adds a conditional task to the capture. Its sub-graph is `part`, which FillPart() fills.
aclError AddTask(aclrtStream stream, aclmdlRICondTaskType type, aclmdlRICondHandle condition,
                 aclmdlRI* part);
/// Captures what fill() queues in `body` as the sub-graph.
void FillPart(aclmdlRI part, aclrtStream body, const std::function<void()>& fill);
/// Adds a conditional task whose condition holds, and whose sub-graph is what fill() queues in
/// `body`. Returns the sub-graph.
aclmdlRI AddConditional(aclrtStream stream, aclmdlRICondTaskType type, aclrtStream body,
                        const std::function<void()>& fill);

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

/// What a scenario has before it begins: nothing, the runtime, or streams of the runtime as well.
struct Bare {};
struct Scene {
    Runtime runtime;
    HostWork work;
};
struct OneStream : Scene {
    aclrtStream const stream = NewStream();
};
struct TwoStreams : Scene {
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
};

/// Begins a scenario of this scene: SCENARIO(Scene, name, size) { ... }
#define SCENARIO(Scene, name, size)                                                  \
    struct name##_scenario : Scene {                                                 \
        void Play();                                                                 \
    };                                                                               \
    const AddedScenario name##_added(#name, size, [] { name##_scenario().Play(); }); \
    void name##_scenario::Play()

}  // namespace schedules
