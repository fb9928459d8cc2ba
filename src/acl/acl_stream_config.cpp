// SPDX-License-Identifier: Apache-2.0
// Configurations of streams: made, filled in, and used to create streams.

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "acl/acl_rt.h"
#include "src/acl/make_stream.h"
#include "src/base/boundary.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/stream/stream_attributes.h"
#include "src/runtime/task/handle_table.h"

using namespace advstep;

namespace {

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
    static StreamConfigs& Instance() {
        static NeverDestroyed<StreamConfigs> configs;
        return *configs;
    }

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
        made = StreamConfigs::Instance().Make();
        return {};
    });
    return made;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
    return AclBoundary("aclrtDestroyStreamConfigHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        return StreamConfigs::Instance().End(handle);
    });
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr,
                                 const void* attrValue, size_t valueSize) {
    return AclBoundary("aclrtSetStreamConfigOpt", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(attrValue, "attrValue"));
        ADVSTEP_RETURN_IF_ERROR(StreamConfigs::Instance().Check(handle));
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
        aclrtStreamConfigHandle config{};
        if (handle != nullptr) {
            ADVSTEP_RETURN_IF_ERROR(StreamConfigs::Instance().Check(handle));
            config = *handle;
        }
        if (config.flag > UINT32_MAX) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "handle->flag is {:#x}; expected 0 or ACL_STREAM_ bits", config.flag);
        }
        return MakeStream(kCall, stream, config.priority, static_cast<uint32_t>(config.flag));
    });
}
