// SPDX-License-Identifier: Apache-2.0
// Checks a launch of a program's kernel, makes its record and queues it.

#include "src/runtime/kernels/block_launch.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/resource_limit.h"

namespace advstep {
namespace {

Status CheckBlocks(uint32_t blocks) {
    return blocks >= 1 && blocks <= kMostBlocks
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "numBlocks is {}; expected 1 to {}", blocks,
                       kMostBlocks);
}

Status CheckDeviceArgs(const Device& device, const void* address, size_t bytes) {
    Allocation allocation;
    if (!TheDeviceMemory().Find(address, &allocation) || !allocation.UsableOnDevice() ||
        (allocation.OfDevice() && allocation.device != &device)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "argsData is at {}, which lies in no allocation of device {}; expected device "
                     "memory, or aclrtLaunchKernelWithHostArgs for host memory",
                     address, device.id());
    }
    return allocation.BytesFrom(address) >= bytes
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "argsSize is {}, and argsData has {} bytes of its allocation left; expected "
                       "the arguments inside one allocation",
                       bytes, allocation.BytesFrom(address));
}

Status CountCores(const Device& device, const KernelFunction& function, const BlockLaunch& launch,
                  uint32_t* cores) {
    const uint32_t most =
        CoresInEffect(device, function.cores == CoreKind::kCube ? ACL_RT_DEV_RES_CUBE_CORE
                                                                : ACL_RT_DEV_RES_VECTOR_CORE);
    if (launch.options.allAtOnce && launch.blocks > most) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "schemMode is 1 with numBlocks {}; expected at most the number of cores = {}",
                     launch.blocks, most);
    }
    *cores = std::min(launch.blocks, most);
    return {};
}

void SetCodes(const KernelFunction& function, const BlockLaunchOptions& options,
              KernelBlocks* blocks) {
    using Engine = BlockLaunchOptions::Engine;
    const bool cube = options.engine == Engine::kCube ||
                      (options.engine == Engine::kByBinary && function.cores == CoreKind::kCube);
    blocks->faultCode = cube ? ACL_ERROR_RT_AICORE_EXCEPTION : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    blocks->timeoutCode = cube ? ACL_ERROR_RT_AICORE_TIMEOUT : ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;
    blocks->cpu = function.cores == CoreKind::kCpu;
    if (blocks->cpu) {
        blocks->faultCode = ACL_ERROR_RT_AICPU_EXCEPTION;
    }
    blocks->microseconds = options.microseconds;
}

// The payload follows the KernelTask, and the arguments begin at a multiple of 16 of the record.
std::vector<unsigned char> MakePayload(KernelBlocks blocks, const BlockLaunch& launch) {
    constexpr size_t kAlign = 16;
    static_assert(kTaskAlignment % kAlign == 0);
    const size_t placeholdersAt = sizeof(KernelTask) + sizeof(KernelBlocks);
    const size_t placeholdersBytes = launch.placeholderCount * sizeof(ArgumentPlaceholder);
    const size_t argsAt = (placeholdersAt + placeholdersBytes + kAlign - 1) / kAlign * kAlign;
    const size_t inlineBytes = launch.deviceArgs != nullptr ? 0 : launch.argsBytes;
    blocks.placeholders = launch.placeholderCount;
    blocks.deviceArgs = launch.deviceArgs;
    blocks.argsAt = static_cast<uint32_t>(argsAt - sizeof(KernelTask));
    std::vector<unsigned char> payload(blocks.argsAt + inlineBytes);
    std::memcpy(payload.data(), &blocks, sizeof(blocks));
    if (placeholdersBytes > 0) {
        std::memcpy(payload.data() + sizeof(blocks), launch.placeholders, placeholdersBytes);
    }
    if (inlineBytes > 0) {
        std::memcpy(payload.data() + blocks.argsAt, launch.hostArgs, inlineBytes);
    }
    return payload;
}

void ListUses(const void* source, std::vector<Use>* uses) {
    const auto& launch = *static_cast<const BlockLaunch*>(source);
    uses->push_back({Use::Kind::kFunction, "funcHandle", launch.function, 0});
    if (launch.deviceArgs != nullptr) {
        uses->push_back({Use::Kind::kMemory, "argsData", launch.deviceArgs, launch.argsBytes,
                         Use::Access::kReads});
        uses->back().leadsAnywhere = true;
    }
}

}  // namespace

Status LaunchBlocks(const StreamRef& stream, const Device& device, const BlockLaunch& launch) {
    // The function cannot be unloaded before the launch is queued.
    const KernelBinaries::Pin binaries = TheKernelBinaries().PinAll();
    KernelFunction function;
    ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().ReadHeld(launch.function, &function));
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    ADVSTEP_RETURN_IF_ERROR(CheckBlocks(launch.blocks));
    KernelBlocks blocks;
    blocks.entry = function.entry;
    blocks.count = launch.blocks;
    ADVSTEP_RETURN_IF_ERROR(CountCores(device, function, launch, &blocks.cores));
    SetCodes(function, launch.options, &blocks);
    const auto check = [&] {
        return launch.deviceArgs != nullptr
                   ? CheckDeviceArgs(device, launch.deviceArgs, launch.argsBytes)
                   : Status();
    };
    const uint64_t epoch = TheDeviceMemory().epoch();
    ADVSTEP_RETURN_IF_ERROR(check());
    const std::vector<unsigned char> payload = MakePayload(blocks, launch);
    PlannedLaunch planned;
    planned.program = function.program;
    planned.device = &device;
    planned.coreCount = static_cast<int32_t>(blocks.cores);
    planned.rows = kRowsWorthThreads;  // nobody knows how long a block takes
    planned.length = LengthOf(*planned.program, planned.rows, planned.rows);
    planned.payloadBytes = static_cast<uint32_t>(payload.size());
    planned.run = &RunKernelBlocks;
    int32_t faultCode = 0;
    ADVSTEP_RETURN_IF_ERROR(BeginLaunch(device, &faultCode));
    Work work(KernelTask::BytesFor(planned));
    work.role = Work::Role::kLaunch;
    work.listUses = &ListUses;
    work.source = &launch;
    work.memory = CheckedAt(TheDeviceMemory().epochNow(), epoch, &check);
    return stream.Enqueue(work, [&](void* memory) {
        KernelTask* const task = KernelTask::Make(memory, planned, payload.data());
        static constexpr TaskType kType = {&DescribeKernelBlocks, nullptr, nullptr, nullptr, true};
        task->type = &kType;
        if (faultCode != 0) {
            FailWhenRun(task, faultCode);
        }
        return task;
    });
}

}  // namespace advstep
