// SPDX-License-Identifier: Apache-2.0
// Launches of kernels that the program brings, and their attributes.

#include "acl/rt/kernel_launch.h"

#include <vector>

#include "src/base/boundary.h"
#include "src/runtime/kernels/block_launch.h"
#include "src/runtime/kernels/kernel_args.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

using Engine = BlockLaunchOptions::Engine;

/// The timeouts among the attributes of a launch.
struct Timeouts {
    bool seconds = false;       // there is one in seconds
    bool microseconds = false;  // there is one in microseconds
    uint64_t value = 0;         // of the last one, in microseconds
};

Status CheckSwitch(const char* name, uint8_t value) {
    return value <= 1
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "cfg has {} {}; expected 0 or 1", name, value);
}

Status ReadEngine(int type, BlockLaunchOptions* options) {
    if (type != ACL_RT_ENGINE_TYPE_AIC && type != ACL_RT_ENGINE_TYPE_AIV) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "cfg has engineType {}; expected ACL_RT_ENGINE_TYPE_AIC 0 or _AIV 1", type);
    }
    options->engine = type == ACL_RT_ENGINE_TYPE_AIC ? Engine::kCube : Engine::kVector;
    return {};
}

Status ReadAttribute(const aclrtLaunchKernelAttr& attribute, BlockLaunchOptions* options,
                     Timeouts* timeouts) {
    constexpr uint64_t kSecond = 1000000;
    const aclrtLaunchKernelAttrValue& value = attribute.value;
    switch (static_cast<int>(attribute.id)) {
        case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
            options->allAtOnce = value.schemMode == 1;
            return CheckSwitch("schemMode", value.schemMode);
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
            return ReadEngine(static_cast<int>(value.engineType), options);
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
            return CheckSwitch("isBlockTaskPrefetch", value.isBlockTaskPrefetch);
        case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
            return CheckSwitch("isDataDump", value.isDataDump);
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
            return CheckSwitch("enableProfiling", value.enableProfiling);
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
            timeouts->seconds = true;
            timeouts->value = value.timeout * kSecond;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US:
            timeouts->microseconds = true;
            timeouts->value =
                uint64_t{value.timeoutUs.timeoutHigh} << 32 | value.timeoutUs.timeoutLow;
            return {};
        default:
            return {};
    }
}

Status ReadConfig(const aclrtLaunchKernelCfg* config, BlockLaunchOptions* options) {
    Timeouts timeouts;
    timeouts.value = TheProcessOptions().timeoutUnits.load() * ProcessOptions::kTimeoutUnit;
    const size_t count = config != nullptr ? config->numAttrs : 0;
    if (count > 0 && config->attrs == nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "cfg has no attrs with numAttrs {}; expected an array", count);
    }
    for (size_t index = 0; index < count; ++index) {
        ADVSTEP_RETURN_IF_ERROR(ReadAttribute(config->attrs[index], options, &timeouts));
    }
    if (timeouts.seconds && timeouts.microseconds) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "cfg has TIMEOUT 7 and TIMEOUT_US 8; expected one of them");
    }
    options->microseconds = timeouts.value;
    return {};
}

Status Launch(BlockLaunch launch, const aclrtLaunchKernelCfg* config, aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    ADVSTEP_RETURN_IF_ERROR(ReadConfig(config, &launch.options));
    ContextRef current;  // another thread may have ended it since FindStream
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    return LaunchBlocks(target, *current.device, launch);
}

Status LaunchWithDeviceArgs(aclrtFuncHandle function, uint32_t blocks, const void* argsData,
                            size_t argsSize, const aclrtLaunchKernelCfg* config,
                            aclrtStream stream) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(function, "funcHandle"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsData, "argsData"));
    if (argsSize == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "argsSize is 0; expected at least 1");
    }
    BlockLaunch launch;
    launch.function = function;
    launch.blocks = blocks;
    launch.deviceArgs = argsData;
    launch.argsBytes = argsSize;
    return Launch(launch, config, stream);
}

Status ReadPlaceholders(const aclrtPlaceHolderInfo* array, size_t count, size_t argsSize,
                        std::vector<ArgumentPlaceholder>* placeholders) {
    if (count > 0 && array == nullptr) {
        return Error(ACL_ERROR_INVALID_PARAM,
                     "placeHolderArray is null with placeHolderNum {}; expected an array", count);
    }
    if (count > kMostParameters) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "placeHolderNum is {}; expected at most {}", count,
                     kMostParameters);
    }
    for (size_t index = 0; index < count; ++index) {
        const ArgumentPlaceholder place{array[index].addrOffset, array[index].dataOffset};
        if (place.address + sizeof(void*) > argsSize || place.data >= argsSize) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "placeHolderArray[{}] has addrOffset {} and dataOffset {}; expected 8 "
                         "bytes, and data, below argsSize = {}",
                         index, place.address, place.data, argsSize);
        }
        placeholders->push_back(place);
    }
    return {};
}

}  // namespace

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData,
                           size_t argsSize, aclrtStream stream) {
    return AclBoundary("aclrtLaunchKernel", [&] {
        return LaunchWithDeviceArgs(funcHandle, numBlocks, argsData, argsSize, nullptr, stream);
    });
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData,
                             size_t argsSize, aclrtLaunchKernelCfg* cfg, aclrtStream stream) {
    return AclBoundary("aclrtLaunchKernelV2", [&] {
        return LaunchWithDeviceArgs(funcHandle, numBlocks, argsData, argsSize, cfg, stream);
    });
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                     aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                     aclrtArgsHandle argsHandle, void* reserve) {
    return AclBoundary("aclrtLaunchKernelWithConfig", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        if (reserve != nullptr || numBlocks == 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "{}; expected {}",
                         reserve != nullptr ? "reserve is not null" : "numBlocks is 0",
                         reserve != nullptr ? "null" : "at least 1");
        }
        return KernelArgs::With(argsHandle, [&](ArgsBlock& block) -> Status {
            ADVSTEP_RETURN_IF_ERROR(block.CheckLaunch(ToHandle(funcHandle)));
            ArgumentPlaceholder placeholders[kMostParameters];
            BlockLaunch launch;
            launch.function = funcHandle;
            launch.blocks = numBlocks;
            launch.hostArgs = block.bytes();
            launch.argsBytes = block.size();
            launch.placeholders = placeholders;
            launch.placeholderCount = block.ListPlaceholders(placeholders);
            return Launch(launch, cfg, stream);
        });
    });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                       void* hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo* placeHolderArray,
                                       size_t placeHolderNum) {
    return AclBoundary("aclrtLaunchKernelWithHostArgs", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hostArgs, "hostArgs"));
        if (argsSize == 0 || argsSize > kMostArgs) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "argsSize is {}; expected 1 to {}", argsSize,
                         kMostArgs);
        }
        std::vector<ArgumentPlaceholder> placeholders;
        ADVSTEP_RETURN_IF_ERROR(
            ReadPlaceholders(placeHolderArray, placeHolderNum, argsSize, &placeholders));
        BlockLaunch launch;
        launch.function = funcHandle;
        launch.blocks = numBlocks;
        launch.hostArgs = hostArgs;
        launch.argsBytes = argsSize;
        launch.placeholders = placeholders.data();
        launch.placeholderCount = static_cast<uint32_t>(placeholders.size());
        return Launch(launch, cfg, stream);
    });
}
