// SPDX-License-Identifier: Apache-2.0
// Implements core limits of devices, of streams and of the calling thread.

#include "src/runtime/stream/resource_limit.h"

#include "acl/acl_base.h"
#include "src/base/fork.h"

namespace advstep {
namespace {

// The stream whose limits the thread uses; handle 0: none. A destroyed stream is recognised by its
// handle.
[[gnu::tls_model("initial-exec")]] thread_local StreamRef streamInUse;

const ForkHook forgetStreamInUse([](void*) noexcept { streamInUse = StreamRef{}; });

uint32_t& LimitOf(StreamIdentity& identity, aclrtDevResLimitType type) {
    return identity.attributes.limits.cores[static_cast<size_t>(type)];
}

}  // namespace

Status CheckLimitType(aclrtDevResLimitType type) {
    return type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "type is {}; expected an aclrtDevResLimitType",
                       static_cast<int>(type));
}

Status CheckLimit(const Device& device, aclrtDevResLimitType type, uint32_t value) {
    ADVSTEP_RETURN_IF_ERROR(CheckLimitType(type));
    const SocSpec& soc = device.settings().soc;
    const uint32_t most = SocCores(soc, type);
    return value >= 1 && value <= most
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "value is {}; expected 1 <= value <= {} cores of {} = {}", value,
                       type == ACL_RT_DEV_RES_CUBE_CORE ? "cube" : "vector", soc.name, most);
}

uint32_t CoresOf(const Device& device, aclrtDevResLimitType type) {
    const uint32_t limit = device.limits().Of(type);
    return limit != 0 ? limit : SocCores(device.settings().soc, type);
}

Status SetStreamLimit(const StreamRef& stream, aclrtDevResLimitType type, uint32_t value) {
    return stream.Inspect([&](StreamIdentity& identity) {
        ADVSTEP_RETURN_IF_ERROR(CheckLimit(*identity.context.device, type, value));
        LimitOf(identity, type) = value;
        return Status();
    });
}

Status ResetStreamLimits(const StreamRef& stream) {
    return stream.Inspect([](StreamIdentity& identity) {
        identity.attributes.limits = CoreLimits{};
        return Status();
    });
}

Status CoresOf(const StreamRef& stream, aclrtDevResLimitType type, uint32_t* value) {
    return stream.Inspect([&](StreamIdentity& identity) {
        ADVSTEP_RETURN_IF_ERROR(CheckLimitType(type));
        const uint32_t limit = LimitOf(identity, type);
        *value = limit != 0 ? limit : CoresOf(*identity.context.device, type);
        return Status();
    });
}

Status UseStreamLimits(const StreamRef& stream) {
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    streamInUse = stream;
    return {};
}

Status UnuseStreamLimits(const StreamRef& stream) {
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    if (streamInUse.handle != stream.handle) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "stream {} is not in use by this thread; expected the stream of its latest "
                     "aclrtUseStreamResInCurrentThread",
                     ToPointer(stream.handle));
    }
    streamInUse = StreamRef{};
    return {};
}

uint32_t CoresInEffect(const Device& device, aclrtDevResLimitType type) {
    if (streamInUse.handle != 0) {
        uint32_t limit = 0;
        const Status status = streamInUse.Inspect([&](StreamIdentity& identity) {
            limit = identity.context.device == &device ? LimitOf(identity, type) : 0;
            return Status();
        });
        if (!status.ok()) {
            streamInUse = StreamRef{};  // the stream has been destroyed since
        } else if (limit != 0) {
            return limit;
        }
    }
    return CoresOf(device, type);
}

}  // namespace advstep
