// SPDX-License-Identifier: Apache-2.0
// Identities and attributes of streams, and the callbacks for their creation and destruction.
#include <cstring>

#include "acl/acl_rt.h"
#include "src/acl/failure_mode.h"
#include "src/base/boundary.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/stream/stream_state.h"
#include "src/runtime/stream/streams.h"

using namespace advstep;

namespace {

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

Status UnknownType(int type) {
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
            return UnknownType(static_cast<int>(type));
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
            return UnknownType(static_cast<int>(type));
    }
}

}  // namespace

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
        *streamCount = Streams().Available();
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
