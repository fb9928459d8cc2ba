// SPDX-License-Identifier: Apache-2.0
// Device binaries: loading, unloading, and the functions in them.

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "acl/rt/binary.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

/// The options of a load.
struct LoadOptions {
    bool lazy = false;
    CoreKind cores = CoreKind::kAiCore;
    std::optional<int32_t> cpuMode;  // the cpuKernelMode; none: a binary of kernels for cores
};

CoreKind CoresOfMagic(uint32_t magic) {
    switch (magic) {
        case ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE:
            return CoreKind::kVector;
        case ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE:
            return CoreKind::kCube;
        default:
            return CoreKind::kAiCore;
    }
}

Status ReadOptions(const aclrtBinaryLoadOptions* given, LoadOptions* read) {
    const size_t count = given != nullptr ? given->numOpt : 0;
    if (count > 0 && given->options == nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "options has no array with numOpt {}; expected an array", count);
    }
    for (size_t index = 0; index < count; ++index) {
        const aclrtBinaryLoadOption& option = given->options[index];
        if (option.type == ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD) {
            read->lazy = option.value.isLazyLoad != 0;
        } else if (option.type == ACL_RT_BINARY_LOAD_OPT_MAGIC) {
            read->cores = CoresOfMagic(option.value.magic);
        } else if (option.type == ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE) {
            read->cpuMode = option.value.cpuKernelMode;
        }
    }
    if (read->cpuMode && (*read->cpuMode < 0 || *read->cpuMode > 2)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "cpuKernelMode is {}; expected 0, 1 or 2",
                     *read->cpuMode);
    }
    if (read->cpuMode == 0) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "cpuKernelMode is 0, and the device has no built-in CPU operators; expected 1 "
                     "or 2");
    }
    if (read->cpuMode) {
        read->cores = CoreKind::kCpu;
    }
    return {};
}

Status RequireContext() {
    ContextRef current;
    return CurrentContext(&current);
}

/// Finds the .so beside the .json of the same name. 107000: `json` does not end with .json.
Status ObjectBeside(const char* json, std::string* path) {
    constexpr std::string_view kEnd = ".json";
    *path = json;
    if (path->size() < kEnd.size() ||
        path->compare(path->size() - kEnd.size(), kEnd.size(), kEnd) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "binPath is {} with cpuKernelMode 1; expected a .json beside the .so of its "
                     "name",
                     json);
    }
    path->replace(path->size() - kEnd.size(), kEnd.size(), ".so");
    return {};
}

void Enter(SharedObject object, CoreKind cores, const char* call, aclrtBinHandle* binHandle) {
    *binHandle = ToPointer(TheKernelBinaries().Add(std::move(object), cores));
    NoteMade(ObjectKind::kBinary, call, *binHandle);
}

Status LoadData(const void* data, size_t length, const LoadOptions& wanted, const char* call,
                aclrtBinHandle* binHandle) {
    if (wanted.cpuMode == 1) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "cpuKernelMode is 1 for data; expected 2, or aclrtBinaryLoadFromFile");
    }
    TheKernelBinaries().CloseUnused();
    SharedObject object;
    ADVSTEP_RETURN_IF_ERROR(SharedObject::OpenData(data, length, wanted.lazy, &object));
    Enter(std::move(object), wanted.cores, call, binHandle);
    return {};
}

/// Returns two uint16_t side by side: the numbers of vector cores and of cube cores.
int64_t RatioOf(CoreKind cores) {
    const uint16_t ratio[2] = {
        static_cast<uint16_t>(cores == CoreKind::kAiCore || cores == CoreKind::kVector),
        static_cast<uint16_t>(cores == CoreKind::kAiCore || cores == CoreKind::kCube)};
    int64_t value = 0;
    std::memcpy(&value, ratio, sizeof(ratio));
    return value;
}

int64_t TypeOf(CoreKind cores) {
    switch (cores) {
        case CoreKind::kCube:
            return ACL_KERNEL_TYPE_CUBE;
        case CoreKind::kVector:
            return ACL_KERNEL_TYPE_VECTOR;
        case CoreKind::kCpu:
            return ACL_KERNEL_TYPE_AICPU;
        default:
            return ACL_KERNEL_TYPE_AICORE;
    }
}

}  // namespace

aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binHandle) {
    return AclBoundary("aclrtBinaryLoadFromFile", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binPath, "binPath"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binHandle, "binHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireContext());
        LoadOptions wanted;
        ADVSTEP_RETURN_IF_ERROR(ReadOptions(options, &wanted));
        std::string path = binPath;
        if (wanted.cpuMode == 2) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "cpuKernelMode is 2 for a file; expected 1, or aclrtBinaryLoadFromData");
        }
        if (wanted.cpuMode == 1) {
            ADVSTEP_RETURN_IF_ERROR(ObjectBeside(binPath, &path));
        }
        TheKernelBinaries().CloseUnused();
        SharedObject object;
        ADVSTEP_RETURN_IF_ERROR(SharedObject::OpenFile(path.c_str(), wanted.lazy, &object));
        Enter(std::move(object), wanted.cores, "aclrtBinaryLoadFromFile", binHandle);
        return {};
    });
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                 const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle) {
    return AclBoundary("aclrtBinaryLoadFromData", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(data, "data"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binHandle, "binHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireContext());
        LoadOptions wanted;
        ADVSTEP_RETURN_IF_ERROR(ReadOptions(options, &wanted));
        return LoadData(data, length, wanted, "aclrtBinaryLoadFromData", binHandle);
    });
}

aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen) {
    aclrtBinary made = nullptr;
    (void)AclBoundary("aclrtCreateBinary", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(data, "data"));
        if (dataLen == 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "dataLen is 0; expected at least 1");
        }
        made = ToPointer(TheKernelBinaries().AddData({data, dataLen}));
        return {};
    });
    return made;
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
    return AclBoundary("aclrtDestroyBinary", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binary, "binary"));
        return TheKernelBinaries().RemoveData(binary);
    });
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle) {
    return AclBoundary("aclrtBinaryLoad", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binary, "binary"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binHandle, "binHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireContext());
        KernelBinaries::Data data;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().ReadData(binary, &data));
        return LoadData(data.bytes, data.length, {}, "aclrtBinaryLoad", binHandle);
    });
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
    return AclBoundary("aclrtBinaryUnLoad", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binHandle, "binHandle"));
        return Freeing(ObjectKind::kBinary, binHandle,
                       [&] { return TheKernelBinaries().Unload(binHandle); });
    });
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                aclrtFuncHandle* funcHandle) {
    return AclBoundary("aclrtBinaryGetFunction", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binHandle, "binHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(kernelName, "kernelName"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        Handle found = 0;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().FindFunction(binHandle, kernelName, &found));
        *funcHandle = ToPointer(found);
        return {};
    });
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry,
                                       aclrtFuncHandle* funcHandle) {
    return AclBoundary("aclrtBinaryGetFunctionByEntry", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binHandle, "binHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        Handle found = 0;
        ADVSTEP_RETURN_IF_ERROR(
            TheKernelBinaries().FindFunctionByEntry(binHandle, funcEntry, &found));
        *funcHandle = ToPointer(found);
        return {};
    });
}

aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName,
                              const char* kernelName, aclrtFuncHandle* funcHandle) {
    return AclBoundary("aclrtRegisterCpuFunc", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcName, "funcName"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(kernelName, "kernelName"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        Handle found = 0;
        ADVSTEP_RETURN_IF_ERROR(
            TheKernelBinaries().AddCpuFunction(handle, funcName, kernelName, &found));
        *funcHandle = ToPointer(found);
        return {};
    });
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name) {
    return AclBoundary("aclrtGetFunctionName", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(name, "name"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        const size_t bytes = std::strlen(function.name()) + 1;
        if (bytes > maxLen) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "maxLen is {}; expected at least {} for the name and its NUL", maxLen,
                         bytes);
        }
        std::memcpy(name, function.name(), bytes);
        return {};
    });
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr) {
    return AclBoundary("aclrtGetFunctionAddr", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(aicAddr, "aicAddr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(aivAddr, "aivAddr"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        if (function.cores == CoreKind::kCpu) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "funcHandle is the CPU kernel {}; expected a kernel for cores",
                         function.name());
        }
        *aicAddr = function.entry;
        *aivAddr = function.cores == CoreKind::kVector ? function.entry : nullptr;
        return {};
    });
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType,
                                   int64_t* attrValue) {
    return AclBoundary("aclrtGetFunctionAttribute", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(attrValue, "attrValue"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        switch (static_cast<int>(attrType)) {
            case ACL_FUNC_ATTR_KERNEL_TYPE:
                *attrValue = TypeOf(function.cores);
                return {};
            case ACL_FUNC_ATTR_KERNEL_RATIO:
                *attrValue = RatioOf(function.cores);
                return {};
            case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:
                *attrValue = 0;
                return {};
            default:
                return Error(ACL_ERROR_RT_PARAM_INVALID,
                             "attrType is {}; expected KERNEL_TYPE 1, KERNEL_RATIO 2 or "
                             "KERNEL_SCHED_MODE 3",
                             static_cast<int>(attrType));
        }
    });
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle) {
    return AclBoundary("aclrtFunctionGetBinary", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(binHandle, "binHandle"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        *binHandle = ToPointer(function.binary);
        return {};
    });
}
