// SPDX-License-Identifier: Apache-2.0
// Streams: their creation and end, attributes and configurations, waits for them, host functions.

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/base/never_destroyed.h"
#include "src/base/status.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/stream_callbacks.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/running_work.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

namespace {

constexpr uint32_t kStreamFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC |
                                  ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE |
                                  ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

// Creates a stream of the current context, for the call of that name. 100000: stream is null.
// 107000: the priority or the flags are unknown. 107002: the thread has no current context.
Status MakeStream(const char* call, aclrtStream* stream, uint32_t priority, uint32_t flag) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    if (priority > kLeastStreamPriority) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "priority is {}; expected 0 <= priority <= {}",
                     priority, kLeastStreamPriority);
    }
    if ((flag & ~kStreamFlags) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "flag is {:#x}; expected 0 or ACL_STREAM_ bits, in all {:#x}", flag,
                     kStreamFlags);
    }
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    Handle handle = 0;
    ADVSTEP_RETURN_IF_ERROR(CreateStream(current, priority, flag, &handle));
    *stream = ToPointer(handle);
    return NoteIfMade({}, ObjectKind::kStream, call, stream);
}

// Sets the failure mode of the stream's context. `argument` is the name of `mode` in the call.
// 107000: `mode` is not a failure mode, or the stream's mode was set before.
Status SetFailureMode(const StreamRef& stream, const char* argument, uint64_t mode) {
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}; expected ACL_CONTINUE_ON_FAILURE = 0 or ACL_STOP_ON_FAILURE = 1",
                     argument, mode);
    }
    return stream.SetStopOnFailure(mode == ACL_STOP_ON_FAILURE);
}

Status EndStream(aclrtStream stream, bool drop) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    StreamRef found;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
    StreamRef defaultStream;
    ADVSTEP_RETURN_IF_ERROR(FindStream(nullptr, &defaultStream));
    if (found.handle == defaultStream.handle) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "stream {} is the context's default stream; expected one of "
                     "aclrtCreateStream",
                     stream);
    }
    DestroyAnnouncement announcement;
    ADVSTEP_RETURN_IF_ERROR(announcement.Add(found));
    return Freeing(ObjectKind::kStream, stream, [&] { return advstep::EndStream(found, drop); });
}

struct HostFunctionTask : Task {
    aclrtHostFunc function;
    void* args;
};

// Attributes of a stream.

// Reads one value of a stream into *out.
template <typename Value, typename Read>
Status ReadStream(aclrtStream stream, const char* argument, Value* out, Read&& read) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(out, argument));
    StreamRef found;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
    return found.Inspect([&](StreamIdentity& identity) {
        *out = read(identity);
        return Status();
    });
}

Status CheckMost(const char* member, uint32_t value, uint32_t most) {
    return value <= most ? Status()
                         : Error(ACL_ERROR_RT_PARAM_INVALID, "{} is {}; expected 0 <= {} <= {}",
                                 member, value, member, most);
}

Status UnknownAttribute(int type) {
    return Error(ACL_ERROR_RT_PARAM_INVALID, "stmAttrType is {}; expected an aclrtStreamAttr",
                 type);
}

// Sets any attribute except the failure mode, which SetFailureMode sets.
Status SetAttribute(StreamIdentity& identity, aclrtStreamAttr type,
                    const aclrtStreamAttrValue& value) {
    StreamAttributes& attributes = identity.attributes;
    switch (static_cast<int>(type)) {
        case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
            ADVSTEP_RETURN_IF_ERROR(CheckMost("overflowSwitch", value.overflowSwitch, 1));
            attributes.overflowCheck = value.overflowSwitch;
            return {};
        case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
            attributes.userTag = value.userCustomTag;
            return {};
        case ACL_STREAM_ATTR_CACHE_OP_INFO:
            ADVSTEP_RETURN_IF_ERROR(CheckMost("cacheOpInfoSwitch", value.cacheOpInfoSwitch, 1));
            attributes.cacheOpInfo = value.cacheOpInfoSwitch;
            return {};
        case ACL_STREAM_ATTR_PRIORITY:
            ADVSTEP_RETURN_IF_ERROR(
                CheckMost("streamPriority", value.streamPriority, kLeastStreamPriority));
            identity.priority = value.streamPriority;
            return {};
        default:
            return UnknownAttribute(static_cast<int>(type));
    }
}

Status GetAttribute(const StreamIdentity& identity, aclrtStreamAttr type,
                    aclrtStreamAttrValue* value) {
    const StreamAttributes& attributes = identity.attributes;
    switch (static_cast<int>(type)) {
        case ACL_STREAM_ATTR_FAILURE_MODE: {
            const bool stop = identity.context.context->stopOnFailure.load();
            value->failureMode = stop ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
            return {};
        }
        case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
            value->overflowSwitch = attributes.overflowCheck;
            return {};
        case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
            value->userCustomTag = attributes.userTag;
            return {};
        case ACL_STREAM_ATTR_CACHE_OP_INFO:
            value->cacheOpInfoSwitch = attributes.cacheOpInfo;
            return {};
        case ACL_STREAM_ATTR_PRIORITY:
            value->streamPriority = identity.priority;
            return {};
        default:
            return UnknownAttribute(static_cast<int>(type));
    }
}

// Configurations of streams.

Status NoConfigError(const aclrtStreamConfigHandle* handle) {
    return Error(ACL_ERROR_RT_INVALID_HANDLE,
                 "handle {} is no configuration or has been destroyed; expected a live "
                 "configuration of aclrtCreateStreamConfigHandle",
                 static_cast<const void*>(handle));
}

// The configurations of aclrtCreateStreamConfigHandle. The struct is public, so they have no
// numbers as other handles do. Their memory is used again and never freed, so a destroyed one is
// recognised by its address.
class StreamConfigs {
 public:
    aclrtStreamConfigHandle* Make() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (ended_.empty()) {
            auto made = std::make_unique<aclrtStreamConfigHandle>();
            live_.insert(made.get());
            return made.release();
        }
        auto node = ended_.extract(ended_.begin());
        aclrtStreamConfigHandle* const made = node.value();
        *made = {};
        live_.insert(std::move(node));
        return made;
    }

    Status End(const aclrtStreamConfigHandle* handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = live_.find(handle);
        if (found == live_.end()) {
            return NoConfigError(handle);
        }
        ended_.insert(live_.extract(found));
        return {};
    }

    // Accepts a struct that the program made itself, too. Handles of other kinds are numbers that
    // no struct has as its address, because their lowest byte is no multiple of its alignment.
    Status Check(const aclrtStreamConfigHandle* handle) {
        if (ToHandle(handle) % alignof(aclrtStreamConfigHandle) != 0) {
            return NoConfigError(handle);
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        return ended_.count(handle) == 0 ? Status() : NoConfigError(handle);
    }

 private:
    using Set = std::set<aclrtStreamConfigHandle*, std::less<>>;

    std::mutex mutex_;  // guards both sets
    Set live_;
    Set ended_;
};

StreamConfigs& TheStreamConfigs() {
    static NeverDestroyed<StreamConfigs> configs;
    return *configs;
}

Status CheckValueSize(size_t size, size_t expected) {
    return size == expected
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM,
                       "valueSize is {}; expected the {} bytes of the attribute", size, expected);
}

template <typename T>
Status SetValue(const void* value, size_t size, T* member) {
    ADVSTEP_RETURN_IF_ERROR(CheckValueSize(size, sizeof(T)));
    std::memcpy(member, value, sizeof(T));
    return {};
}

Status SetPriority(const void* value, size_t size, uint32_t* member) {
    uint32_t priority = 0;
    ADVSTEP_RETURN_IF_ERROR(SetValue(value, size, &priority));
    if (priority > kLeastStreamPriority) {
        return Error(ACL_ERROR_INVALID_PARAM, "attrValue is priority {}; expected at most {}",
                     priority, kLeastStreamPriority);
    }
    *member = priority;
    return {};
}

// Checks the arguments of a call that only a profiler would use.
Status CheckInfo(const char* name, const void* info, size_t infoSize) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(info, name));
    return infoSize > 0 ? Status()
                        : Error(ACL_ERROR_INVALID_PARAM, "infoSize is 0; expected at least 1 byte");
}

}  // namespace

// The calls.

aclError aclrtCreateStream(aclrtStream* stream) {
    return AclBoundary("aclrtCreateStream",
                       [&] { return MakeStream("aclrtCreateStream", stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
    static constexpr char kCall[] = "aclrtCreateStreamWithConfig";
    return AclBoundary(kCall, [&] { return MakeStream(kCall, stream, priority, flag); });
}

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle() {
    aclrtStreamConfigHandle* made = nullptr;
    (void)AclBoundary("aclrtCreateStreamConfigHandle", [&]() -> Status {
        made = TheStreamConfigs().Make();
        return {};
    });
    return made;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
    return AclBoundary("aclrtDestroyStreamConfigHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        return TheStreamConfigs().End(handle);
    });
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr,
                                 const void* attrValue, size_t valueSize) {
    return AclBoundary("aclrtSetStreamConfigOpt", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(attrValue, "attrValue"));
        ADVSTEP_RETURN_IF_ERROR(TheStreamConfigs().Check(handle));
        switch (static_cast<int>(attr)) {
            case ACL_RT_STREAM_WORK_ADDR_PTR:
                return SetValue(attrValue, valueSize, &handle->workptr);
            case ACL_RT_STREAM_WORK_SIZE:
                return SetValue(attrValue, valueSize, &handle->workSize);
            case ACL_RT_STREAM_FLAG:
                return SetValue(attrValue, valueSize, &handle->flag);
            case ACL_RT_STREAM_PRIORITY:
                return SetPriority(attrValue, valueSize, &handle->priority);
            default:
                return Error(ACL_ERROR_INVALID_PARAM,
                             "attr is {}; expected an aclrtStreamConfigAttr",
                             static_cast<int>(attr));
        }
    });
}

aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle) {
    static constexpr char kCall[] = "aclrtCreateStreamV2";
    return AclBoundary(kCall, [&]() -> Status {
        aclrtStreamConfigHandle config{};
        if (handle != nullptr) {
            ADVSTEP_RETURN_IF_ERROR(TheStreamConfigs().Check(handle));
            config = *handle;
        }
        if (config.flag > UINT32_MAX) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "handle->flag is {:#x}; expected 0 or ACL_STREAM_ bits", config.flag);
        }
        return MakeStream(kCall, stream, config.priority, static_cast<uint32_t>(config.flag));
    });
}

aclError aclrtDestroyStream(aclrtStream stream) {
    return AclBoundary("aclrtDestroyStream", [&] { return EndStream(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    return AclBoundary("aclrtDestroyStreamForce", [&] { return EndStream(stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    return AclBoundary("aclrtSynchronizeStream", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return found.Synchronize();
    });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    return AclBoundary("aclrtSynchronizeStreamWithTimeout", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        WaitLimit limit{stream != nullptr ? "stream" : "the default stream", stream};
        ADVSTEP_RETURN_IF_ERROR(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit));
        return found.Synchronize(limit);
    });
}

aclError aclrtStreamStop(aclrtStream stream) {
    return AclBoundary("aclrtStreamStop", [&]() -> Status {
        if (stream == nullptr) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "stream is null; expected a stream of aclrtCreateStream");
        }
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return found.StopFront();
    });
}

aclError aclrtStreamAbort(aclrtStream stream) {
    return AclBoundary("aclrtStreamAbort", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return found.Abort();
    });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    return AclBoundary("aclrtStreamQuery", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(status, "status"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        bool complete = false;
        ADVSTEP_RETURN_IF_ERROR(found.Query(&complete));
        *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
    return AclBoundary("aclrtLaunchHostFunc", [&]() -> Status {
        if (fn == nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM, "fn is null; expected a function");
        }
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        RunningWork::DescribeCrashes();
        return found.Enqueue(sizeof(HostFunctionTask), [&](void* memory) {
            auto* const task = new (memory) HostFunctionTask;
            task->name = "host function";
            task->run = [](const Task& base) {
                const auto& host = static_cast<const HostFunctionTask&>(base);
                host.function(host.args);
                return Status();
            };
            static constexpr TaskType kType = {nullptr, nullptr, nullptr, "aclrtLaunchHostFunc"};
            task->type = &kType;
            task->kind = TaskKind::kHostFunction;
            task->function = fn;
            task->args = args;
            return task;
        });
    });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    return AclBoundary("aclrtSetStreamFailureMode", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return SetFailureMode(found, "mode", mode);
    });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
    return AclBoundary("aclrtStreamGetId", [&] {
        return ReadStream(stream, "streamId", streamId,
                          [](const StreamIdentity& identity) { return identity.id; });
    });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
    return AclBoundary("aclrtStreamGetPriority", [&] {
        return ReadStream(stream, "priority", priority,
                          [](const StreamIdentity& identity) { return identity.priority; });
    });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
    return AclBoundary("aclrtStreamGetFlags", [&] {
        return ReadStream(stream, "flags", flags,
                          [](const StreamIdentity& identity) { return identity.flags; });
    });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
    return AclBoundary("aclrtDeviceGetStreamPriorityRange", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(leastPriority, "leastPriority"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(greatestPriority, "greatestPriority"));
        *leastPriority = static_cast<int32_t>(kLeastStreamPriority);
        *greatestPriority = 0;
        return {};
    });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
    return AclBoundary("aclrtSetStreamAttribute", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        if (stmAttrType == ACL_STREAM_ATTR_FAILURE_MODE) {
            return SetFailureMode(found, "failureMode", value->failureMode);
        }
        return found.Inspect(
            [&](StreamIdentity& identity) { return SetAttribute(identity, stmAttrType, *value); });
    });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
    return AclBoundary("aclrtGetStreamAttribute", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        aclrtStreamAttrValue read;
        std::memset(&read, 0, sizeof(read));
        ADVSTEP_RETURN_IF_ERROR(found.Inspect(
            [&](StreamIdentity& identity) { return GetAttribute(identity, stmAttrType, &read); }));
        *value = read;
        return {};
    });
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
    return AclBoundary("aclrtGetStreamAvailableNum", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(streamCount, "streamCount"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        const auto limited = AvailableResources(*current.device, DeviceResource::kStreams);
        *streamCount = limited ? static_cast<uint32_t>(*limited) : TheStreams().Available();
        return {};
    });
}

aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback,
                                     void* args) {
    return AclBoundary("aclrtRegStreamStateCallback", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(regName, "regName"));
        return SetStreamStateCallback(regName, callback, args);
    });
}

aclError aclrtCacheLastTaskOpInfo(const void* const infoPtr, const size_t infoSize) {
    return AclBoundary("aclrtCacheLastTaskOpInfo",
                       [&] { return CheckInfo("infoPtr", infoPtr, infoSize); });
}

aclError aclrtCacheLastTaskExtendInfo(const char* const extendInfoPtr, const size_t infoSize) {
    return AclBoundary("aclrtCacheLastTaskExtendInfo",
                       [&] { return CheckInfo("extendInfoPtr", extendInfoPtr, infoSize); });
}

aclError aclrtProfTrace(void* userdata, int32_t length, aclrtStream stream) {
    return AclBoundary("aclrtProfTrace", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(userdata, "userdata"));
        if (length < 1) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "length is {}; expected at least 1 byte",
                         length);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        return target.Enqueue(Work(sizeof(Task)), [](void* memory) {
            auto* const task = new (memory) Task;
            task->name = "profile mark";
            task->run = [](const Task&) { return Status(); };
            return task;
        });
    });
}
