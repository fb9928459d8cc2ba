// SPDX-License-Identifier: Apache-2.0
// Chooses actions, and checks the code and the message of each call.
#include "chaos/worker.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "chaos/actions.h"
#include "chaos/codes.h"
#include "chaos/watch.h"

namespace chaos {

void Fail(const World& world, const std::string& text) {
    static std::atomic<bool> failed{false};
    if (failed.exchange(true)) {
        for (;;) {
            std::this_thread::sleep_for(std::chrono::seconds(1));  // the first one ends the process
        }
    }
    std::fprintf(stderr, "chaos: %s\n", text.c_str());
    PrintRepetition(world);
    PrintJournals();
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
}

Worker::Worker(World* shared, int number)
    : world(*shared),
      index(number),
      random(shared->seed * 1000003 + shared->life * 1009 + static_cast<uint64_t>(number)),
      journal_(number) {
    Watch(&journal_);
}

Worker::~Worker() { Unwatch(&journal_); }

void Worker::Run(int actions, const std::atomic<bool>& over) {
    support::Random choices = random;
    for (int i = 0; i < actions && !over; ++i) {
        const Action& action = ChooseAction(world, &choices);
        const auto seed = static_cast<uint64_t>(choices.Between(0, INT64_MAX - 1));
        journal_.BeginAction(action.name, seed);
        random = support::Random(seed);
        action.run(*this);
    }
    random = choices;
    journal_.BeginAction("end", 0);
    DestroyOwn();
}

void Worker::RunOne(const std::string& name, uint64_t seed) {
    const Action* const action = FindAction(name);
    if (action == nullptr) {
        Fail(world, "there is no action " + name);
    }
    journal_.BeginAction(action->name, seed);
    random = support::Random(seed);
    action->run(*this);
    DestroyOwn();
}

void Worker::CheckFailure(const char* name, int code) {
    if (code == ACL_ERROR_REPEAT_INITIALIZE && std::strcmp(name, "aclInit") == 0) {
        return;  // it has added a reference, which is no failure
    }
    const char* const text = aclGetRecentErrMsg();
    if (DocumentedCodes().count(code) == 0) {
        Fail(world, std::string(name) + " returned " + NameOf(code));
    }
    if (text == nullptr || *text == 0) {
        Fail(world, std::string(name) + " returned " + NameOf(code) + " without a message");
    }
}

aclrtStream Worker::AnyStream() {
    if (random.OneIn(24)) {
        return nullptr;
    }
    if (random.OneIn(40)) {
        return OneOf(world.events);
    }
    return OneOf(world.streams);
}

bool Worker::MakeOwn() {
    Worker& worker = *this;
    if (ownContext == nullptr &&
        CHAOS_CALL(aclrtCreateContext, &ownContext, index % world.threads) != 0) {
        ownContext = nullptr;
        return false;
    }
    if (CHAOS_CALL(aclrtSetCurrentContext, ownContext) != 0) {
        ownContext = nullptr;  // it has gone with the runtime, and the stream with it
        ownStream = nullptr;
        return false;
    }
    if (ownStream == nullptr && CHAOS_CALL(aclrtCreateStream, &ownStream) != 0) {
        ownStream = nullptr;
        return false;
    }
    return true;
}

bool Worker::MakeOwnIdle() {
    if (!MakeOwn()) {
        return false;
    }
    Worker& worker = *this;
    (void)CHAOS_CALL(aclrtSynchronizeStream, ownStream);
    return true;
}

void Worker::DestroyOwn() {
    Worker& worker = *this;
    if (ownContext == nullptr) {
        return;
    }
    if (random.OneIn(2)) {
        (void)CHAOS_CALL(aclrtSetCurrentContext, ownContext);
        if (random.OneIn(2)) {
            (void)CHAOS_CALL(aclrtDestroyStreamForce, ownStream);
        } else {
            (void)CHAOS_CALL(aclrtDestroyStream, ownStream);
        }
    }
    (void)CHAOS_CALL(aclrtDestroyContext, ownContext);
    ownContext = nullptr;
    ownStream = nullptr;
}

void Worker::Keep(Bytes memory) {
    keptBytes_ += memory.size();
    kept_.push_back(std::move(memory));
}

}  // namespace chaos
