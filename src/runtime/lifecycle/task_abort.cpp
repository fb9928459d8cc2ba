// SPDX-License-Identifier: Apache-2.0
// Ends the work of all streams of a device.
#include "src/runtime/lifecycle/task_abort.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "src/base/boundary.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

constexpr uint32_t kMostMilliseconds = 36 * 60 * 1000;

struct AbortCallback {
    std::string name;
    aclrtDeviceTaskAbortCallback callback;
    void* args;
};

// The callbacks in the order in which their names were registered.
struct AbortCallbacks {
    std::mutex mutex;  // guards `all`; no lock is taken after it, and none is held during a call
    std::vector<AbortCallback> all;
};

AbortCallbacks& TheAbortCallbacks() {
    static NeverDestroyed<AbortCallbacks> callbacks;
    return *callbacks;
}

// Refuses launches of the device while it lives.
class AbortUnderWay {
 public:
    explicit AbortUnderWay(const Device& device) : device_(device) {
        device_.aborts().fetch_add(1);
        device_.abortsEver().fetch_add(1);
    }
    ~AbortUnderWay() { device_.aborts().fetch_sub(1); }
    AbortUnderWay(const AbortUnderWay&) = delete;
    AbortUnderWay& operator=(const AbortUnderWay&) = delete;

 private:
    const Device& device_;
};

// Holds back the tasks of the device that have not been dropped, while it lives.
class DropUnderWay {
 public:
    explicit DropUnderWay(const Device& device) : device_(device) { device_.drops().fetch_add(1); }
    ~DropUnderWay() {
        device_.drops().fetch_sub(1);
        TheWorkers().Wake();
        TheWorkers().NudgeSleepers();
    }
    DropUnderWay(const DropUnderWay&) = delete;
    DropUnderWay& operator=(const DropUnderWay&) = delete;

 private:
    const Device& device_;
};

Status DescribeThrow(const AbortCallback& callback, aclrtDeviceTaskAbortStage stage,
                     const char* what) {
    return Error(ACL_ERROR_RT_INTERNAL_ERROR,
                 "the callback \"{}\" at stage {} threw an exception: {}", callback.name,
                 static_cast<int>(stage), what);
}

// An exception is as a result other than 0.
Status CallOne(const AbortCallback& callback, const Device& device, aclrtDeviceTaskAbortStage stage,
               uint32_t timeout) {
    const NoCancellation noCancellation;  // the callback might be a cancellation point
    const ErrorStateScope errors;
    int32_t result = 0;
    try {
        result = callback.callback(device.id(), stage, timeout, callback.args);
    } catch (const std::exception& error) {
        return DescribeThrow(callback, stage, error.what());
    } catch (...) {
        return DescribeThrow(callback, stage, TextOfCaught("not a std::exception"));
    }
    return result == 0 ? Status()
                       : Error(ACL_ERROR_RT_INTERNAL_ERROR,
                               "the callback \"{}\" returned {} at stage {}; expected 0",
                               callback.name, result, static_cast<int>(stage));
}

Status CallAll(const Device& device, aclrtDeviceTaskAbortStage stage, uint32_t timeout) {
    std::vector<AbortCallback> all;
    {
        AbortCallbacks& callbacks = TheAbortCallbacks();
        const std::lock_guard<std::mutex> lock(callbacks.mutex);
        all = callbacks.all;
    }
    for (const AbortCallback& each : all) {
        ADVSTEP_RETURN_IF_ERROR(CallOne(each, device, stage, timeout));
    }
    return {};
}

// Aborts the device's streams that belongs(stream, identity) names.
template <typename Belongs>
void AbortStreamsThat(const Device& device, Belongs&& belongs) {
    ForEachStream([&](Stream& stream) {
        StreamIdentity identity;
        if (stream.BelongsTo(&device, nullptr, &identity) && belongs(stream, identity)) {
            // Fails for a stream that has just ended.
            (void)StreamRef{&stream, identity.handle, identity.context.handle}.Abort(
                ACL_ERROR_RT_DEVICE_TASK_ABORT);
        }
    });
}

// A replay, and a task with a sub-graph, is dropped before what other streams run for it: first the
// streams of the program, then those of models, and those of a sub-graph after those of its parent.
void AbortStreams(const Device& device) {
    const DropUnderWay underWay(device);
    AbortStreamsThat(
        device, [](const Stream&, const StreamIdentity& identity) { return !identity.hidden; });
    int deepest = 0;
    for (int depth = 0; depth <= deepest; ++depth) {
        AbortStreamsThat(device, [&](const Stream& stream, const StreamIdentity& identity) {
            const int own = stream.Depth();
            deepest = std::max(deepest, own);
            return identity.hidden && own == depth;
        });
    }
    // Sub-graphs that began or ended meanwhile may have had another depth each time.
    AbortStreamsThat(device,
                     [](const Stream&, const StreamIdentity& identity) { return identity.hidden; });
}

}  // namespace

Status AbortDeviceTasks(const Device& device, uint32_t timeout) {
    if (timeout > kMostMilliseconds) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "timeout is {}; expected milliseconds up to {}, or 0 for ever", timeout,
                     kMostMilliseconds);
    }
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
    WaitLimit limit = ToTheEnd();
    if (timeout != 0) {
        ADVSTEP_RETURN_IF_ERROR(
            MakeWaitLimit(static_cast<int32_t>(timeout), ACL_ERROR_RT_WAIT_TIMEOUT, &limit));
        limit.evenIfAborted = true;
        limit.what = "the running work of the device";
    }
    const AbortUnderWay underWay(device);
    ADVSTEP_RETURN_IF_ERROR(CallAll(device, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout));
    AbortStreams(device);
    ADVSTEP_RETURN_IF_ERROR(DrainDevice(&device, limit));
    return CallAll(device, ACL_RT_DEVICE_TASK_ABORT_POST, timeout);
}

Status SetTaskAbortCallback(const char* name, aclrtDeviceTaskAbortCallback callback, void* args) {
    AbortCallbacks& callbacks = TheAbortCallbacks();
    const std::lock_guard<std::mutex> lock(callbacks.mutex);
    const auto known = std::find_if(callbacks.all.begin(), callbacks.all.end(),
                                    [&](const AbortCallback& each) { return each.name == name; });
    if (callback != nullptr) {
        if (known != callbacks.all.end()) {
            known->callback = callback;
            known->args = args;
        } else {
            callbacks.all.push_back({name, callback, args});
        }
        return {};
    }
    if (known == callbacks.all.end()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "callback is null and regName \"{}\" has none; expected a callback, or the "
                     "name of a registered one to take away",
                     name);
    }
    callbacks.all.erase(known);
    return {};
}

void ForgetTaskAbortCallbacks() {
    AbortCallbacks& callbacks = TheAbortCallbacks();
    const std::lock_guard<std::mutex> lock(callbacks.mutex);
    callbacks.all.clear();
}

}  // namespace advstep
