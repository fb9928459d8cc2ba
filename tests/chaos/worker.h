// SPDX-License-Identifier: Apache-2.0
// One thread of random calls.
#ifndef ADVANCE_STEP_TESTS_CHAOS_WORKER_H_
#define ADVANCE_STEP_TESTS_CHAOS_WORKER_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "chaos/journal.h"
#include "chaos/world.h"
#include "support/page_vector.h"
#include "support/random.h"

// The call, with an entry in the journal; its code must be a documented one, with a message.
#define CHAOS_CALL(function, ...) \
    worker.Call(#function, [&]() -> int { return function(__VA_ARGS__); })
// The same as one of the choices of Worker::RunOneOf.
#define CHAOS_CHOICE(function, ...) [&] { (void)CHAOS_CALL(function, __VA_ARGS__); }

namespace chaos {

// Prints the text, how to repeat the run and all journals; ends the process with 1.
[[noreturn]] void Fail(const World& world, const std::string& text);

// Memory of the test's own that queued work may use until the life ends.
using Bytes = support::PageVector<char>;  // may be registered

class Worker {
 public:
    Worker(World* world, int index);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker();

    // Runs that many actions. Which, and their seeds, depends on the seed alone.
    void Run(int actions, const std::atomic<bool>& over);

    // One action, as a failure prints it with its seed.
    void RunOne(const std::string& action, uint64_t seed);

    template <class Body>
    int Call(const char* name, Body&& body) {
        journal_.Begin(name);
        const int code = body();
        journal_.End(code);
        if (code != 0) {
            CheckFailure(name, code);
        }
        return code;
    }

    template <size_t kCount>
    std::atomic<void*>& OneOf(Slots<kCount>& slots) {
        return slots[static_cast<size_t>(random.Between(0, static_cast<int64_t>(kCount) - 1))];
    }
    // Runs one of the choices. The last is as likely as `weight` others.
    void RunOneOf(std::initializer_list<std::function<void()>> choices, int64_t weight = 1) {
        const auto last = static_cast<int64_t>(choices.size()) - 1;
        choices.begin()[std::min(random.Between(0, last + weight - 1), last)]();
    }
    // A shared stream, NULL for the default stream, or a handle of something else.
    aclrtStream AnyStream();

    // The thread's context on its own device, and a stream there that no other thread has; false if
    // they cannot be made now.
    bool MakeOwn();
    // The same, and takes the failures of before from that stream.
    bool MakeOwnIdle();
    void DestroyOwn();
    void Keep(Bytes memory);
    // Whether a large launch is affordable beside what is kept.
    bool MayKeepMore() const { return keptBytes_ < (size_t{256} << 20); }

    World& world;
    const int index;
    support::Random random;
    Journal journal_;
    aclrtContext ownContext = nullptr;
    aclrtStream ownStream = nullptr;

 private:
    void CheckFailure(const char* name, int code);

    std::vector<Bytes> kept_;
    size_t keptBytes_ = 0;
};

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_WORKER_H_
