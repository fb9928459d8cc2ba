// SPDX-License-Identifier: Apache-2.0
// Checks the copies of a batch and makes them.

#include "src/runtime/memory/copy_batch.h"

#include <cstring>
#include <limits>
#include <new>

#include "src/base/boundary.h"
#include "src/base/trace_event.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/large_pages.h"

namespace advstep {
namespace {

Status CheckLocation(const char* name, size_t index, const aclrtMemLocation& location) {
    const auto type = static_cast<int>(location.type);
    return type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_DEVICE ||
                   type == ACL_MEM_LOCATION_TYPE_UNREGISTERED
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "attrs[{}].{}.type is {}; expected host, device or unregistered memory",
                       index, name, type);
}

bool OnDevice(const aclrtMemLocation& location) {
    return location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

aclrtMemcpyKind KindOf(const aclrtMemcpyBatchAttr& attr) {
    if (OnDevice(attr.dstLoc)) {
        return OnDevice(attr.srcLoc) ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
    }
    return OnDevice(attr.srcLoc) ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST;
}

// Checks that device memory belongs to the device that its attribute names. The range has been
// checked.
Status CheckOwner(const DeviceMemory& memory, const char* name, const void* address,
                  const aclrtMemLocation& location) {
    Allocation allocation;
    if (!OnDevice(location) || !memory.Find(address, &allocation) || !allocation.OfDevice() ||
        static_cast<uint32_t>(allocation.device->id()) == location.id) {
        return {};
    }
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} is {}, memory of device {}; expected device {} as its attribute says", name,
                 address, allocation.device->id(), location.id);
}

Status CheckCopy(const DeviceMemory& memory, const CopyRequest& request,
                 const aclrtMemcpyBatchAttr& attr, bool inStream, CopySides* sides) {
    ADVSTEP_RETURN_IF_ERROR(CheckCopyArguments(request));
    CopySides mine;
    ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(memory, request, &mine));
    if (inStream) {
        ADVSTEP_RETURN_IF_ERROR(RefuseHostToHost(request, mine));
    }
    if (!request.Empty()) {
        ADVSTEP_RETURN_IF_ERROR(CheckOwner(memory, "dst", request.dst, attr.dstLoc));
        ADVSTEP_RETURN_IF_ERROR(CheckOwner(memory, "src", request.src, attr.srcLoc));
    }
    sides->touchesDevice = sides->touchesDevice || mine.touchesDevice;
    if (mine.touchesDevice) {
        sides->Touch(mine.device);
        sides->severalDevices = sides->severalDevices || mine.severalDevices;
    }
    sides->pageable = sides->pageable || mine.pageable;
    sides->pageableDst = sides->pageableDst || mine.pageableDst;
    return {};
}

}  // namespace

Status CheckBatchArguments(const CopyBatch& batch) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(batch.dsts, "dsts"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(batch.destMaxs, "destMaxs"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(batch.srcs, "srcs"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(batch.sizes, "sizes"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(batch.attrs, "attrs"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(batch.attrsIndexes, "attrsIndexes"));
    if (batch.attrCount == 0 || batch.attrCount > batch.count) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "numAttrs is {}; expected 1 <= numAttrs <= numBatches = {}", batch.attrCount,
                     batch.count);
    }
    for (size_t i = 0; i < batch.attrCount; ++i) {
        const size_t first = batch.attrsIndexes[i];
        if (i == 0 && first != 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "attrsIndexes[0] is {}; expected 0", first);
        }
        if (i > 0 && (first <= batch.attrsIndexes[i - 1] || first >= batch.count)) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "attrsIndexes[{}] is {}; expected above attrsIndexes[{}] = {} and below "
                         "numBatches = {}",
                         i, first, i - 1, batch.attrsIndexes[i - 1], batch.count);
        }
        ADVSTEP_RETURN_IF_ERROR(CheckLocation("dstLoc", i, batch.attrs[i].dstLoc));
        ADVSTEP_RETURN_IF_ERROR(CheckLocation("srcLoc", i, batch.attrs[i].srcLoc));
    }
    return {};
}

Status CheckBatchCopies(const DeviceMemory& memory, const CopyBatch& batch, bool inStream,
                        CopySides* sides, size_t* wrong) {
    size_t attr = 0;
    for (size_t i = 0; i < batch.count; ++i) {
        if (attr + 1 < batch.attrCount && batch.attrsIndexes[attr + 1] == i) {
            ++attr;
        }
        const aclrtMemcpyBatchAttr& governing = batch.attrs[attr];
        const CopyRequest request{batch.dsts[i], batch.destMaxs[i], batch.srcs[i], batch.sizes[i],
                                  KindOf(governing)};
        const Status status = CheckCopy(memory, request, governing, inStream, sides);
        if (!status.ok()) {
            *wrong = i;
            return Error(status.code(), "batch {}: {}", i, status.message());
        }
    }
    return {};
}

void CopyBatchNow(const CopyBatch& batch) {
    for (size_t i = 0; i < batch.count; ++i) {
        WillWrite(batch.dsts[i], batch.sizes[i]);
        std::memmove(batch.dsts[i], batch.srcs[i], batch.sizes[i]);
    }
}

Status CopyBatchTask::Bytes(const CopyBatch& batch, size_t* bytes) {
    constexpr size_t kMost =
        (std::numeric_limits<uint32_t>::max() - sizeof(CopyBatchTask) - kTaskAlignment) /
        sizeof(Copy);
    if (batch.count > kMost) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "numBatches is {}; expected at most {}",
                     batch.count, kMost);
    }
    *bytes = sizeof(CopyBatchTask) + batch.count * sizeof(Copy);
    return {};
}

CopyBatchTask* CopyBatchTask::Make(void* memory, const CopyBatch& batch) {
    static_assert(sizeof(CopyBatchTask) % alignof(Copy) == 0, "copies follow the task directly");
    auto* const task = new (memory) CopyBatchTask;
    task->name = "copies";
    task->category = TaskCategory::kMemory;
    static constexpr TaskType kType = {[](const Task& base, TraceArgs* args) {
        const auto& self = static_cast<const CopyBatchTask&>(base);
        const auto* const copies = reinterpret_cast<const Copy*>(&self + 1);
        size_t bytes = 0;
        for (size_t i = 0; i < self.count; ++i) {
            bytes += copies[i].count;
        }
        args->Add("bytes", static_cast<int64_t>(bytes));
        args->Add("copies", static_cast<int64_t>(self.count));
    }};
    task->type = &kType;
    task->run = [](const Task& base) {
        const auto& self = static_cast<const CopyBatchTask&>(base);
        const auto* const copies = reinterpret_cast<const Copy*>(&self + 1);
        for (size_t i = 0; i < self.count; ++i) {
            WillWrite(copies[i].dst, copies[i].count);
            std::memmove(copies[i].dst, copies[i].src, copies[i].count);
        }
        return Status();
    };
    task->count = batch.count;
    auto* const copies = reinterpret_cast<Copy*>(task + 1);
    size_t bytes = 0;
    for (size_t i = 0; i < batch.count; ++i) {
        new (copies + i) Copy{batch.dsts[i], batch.srcs[i], batch.sizes[i]};
        if (__builtin_add_overflow(bytes, batch.sizes[i], &bytes)) {
            bytes = std::numeric_limits<size_t>::max();
        }
    }
    task->length = LengthOfCopy(bytes);
    return task;
}

}  // namespace advstep
