// SPDX-License-Identifier: Apache-2.0
// A listener of aclrtRegStreamStateCallback for tests.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_STREAM_STATES_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_STREAM_STATES_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/runtime_test.h"

namespace conformance {

inline constexpr aclrtStreamState kCreated = ACL_RT_STREAM_STATE_CREATE_POST;
inline constexpr aclrtStreamState kDestroyed = ACL_RT_STREAM_STATE_DESTROY_PRE;

struct ToldState {
    aclrtStream stream;
    aclrtStreamState state;
    std::thread::id thread;
};

// The calls of one callback, and a function that it runs besides.
struct StateListener {
    std::mutex mutex;
    std::vector<ToldState> told;
    std::function<void(aclrtStream, aclrtStreamState)> also;

    static void Listen(aclrtStream stream, aclrtStreamState state, void* args) {
        auto* const listener = static_cast<StateListener*>(args);
        {
            const std::lock_guard<std::mutex> lock(listener->mutex);
            listener->told.push_back({stream, state, std::this_thread::get_id()});
        }
        if (listener->also) {
            listener->also(stream, state);
        }
    }
    int Register(const char* name) { return aclrtRegStreamStateCallback(name, &Listen, this); }
    size_t Count(aclrtStream stream, aclrtStreamState state) {
        const std::lock_guard<std::mutex> lock(mutex);
        size_t count = 0;
        for (const ToldState& one : told) {
            count += one.stream == stream && one.state == state ? 1 : 0;
        }
        return count;
    }
    size_t Size() {
        const std::lock_guard<std::mutex> lock(mutex);
        return told.size();
    }
};

class StreamStateTest : public support::DeviceTest {
 protected:
    StateListener listener_;
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_STREAM_STATES_H_
