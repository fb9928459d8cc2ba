// SPDX-License-Identifier: Apache-2.0
// Configurations of streams: made, filled in, and used to create streams.

#include <cstring>
#include <new>

#include "acl/acl_rt.h"
#include "src/acl/make_stream.h"
#include "src/base/boundary.h"
#include "src/runtime/stream/stream_attributes.h"

using namespace advstep;

namespace {

Status CheckSize(size_t size, size_t expected) {
    return size == expected
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM,
                       "valueSize is {}; expected the {} bytes of the attribute", size, expected);
}

template <typename T>
Status Set(const void* value, size_t size, T* member) {
    ADVSTEP_RETURN_IF_ERROR(CheckSize(size, sizeof(T)));
    std::memcpy(member, value, sizeof(T));
    return {};
}

Status SetPriority(const void* value, size_t size, uint32_t* member) {
    uint32_t priority = 0;
    ADVSTEP_RETURN_IF_ERROR(Set(value, size, &priority));
    if (priority > kLeastStreamPriority) {
        return Error(ACL_ERROR_INVALID_PARAM, "attrValue is priority {}; expected at most {}",
                     priority, kLeastStreamPriority);
    }
    *member = priority;
    return {};
}

}  // namespace

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle() {
    aclrtStreamConfigHandle* made = nullptr;
    (void)AclBoundary("aclrtCreateStreamConfigHandle", [&]() -> Status {
        made = new aclrtStreamConfigHandle{};
        return {};
    });
    return made;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
    return AclBoundary("aclrtDestroyStreamConfigHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        delete handle;
        return {};
    });
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr,
                                 const void* attrValue, size_t valueSize) {
    return AclBoundary("aclrtSetStreamConfigOpt", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(attrValue, "attrValue"));
        switch (static_cast<int>(attr)) {
            case ACL_RT_STREAM_WORK_ADDR_PTR:
                return Set(attrValue, valueSize, &handle->workptr);
            case ACL_RT_STREAM_WORK_SIZE:
                return Set(attrValue, valueSize, &handle->workSize);
            case ACL_RT_STREAM_FLAG:
                return Set(attrValue, valueSize, &handle->flag);
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
        const aclrtStreamConfigHandle config =
            handle != nullptr ? *handle : aclrtStreamConfigHandle{};
        if (config.flag > UINT32_MAX) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "handle->flag is {:#x}; expected 0 or ACL_STREAM_ bits", config.flag);
        }
        return MakeStream(kCall, stream, config.priority, static_cast<uint32_t>(config.flag));
    });
}
