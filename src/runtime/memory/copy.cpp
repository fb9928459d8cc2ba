// SPDX-License-Identifier: Apache-2.0
// Checks copies and fills, moves the bytes, and makes the records that streams run.

#include "src/runtime/memory/copy.h"

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "src/base/boundary.h"
#include "src/base/log.h"
#include "src/base/trace_event.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/large_pages.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/memory/zero_pages.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/sanitizer/watched_pages.h"
#include "src/runtime/task/running_work.h"

namespace advstep {
namespace {

// Copies and fills.

// Copies run at about 10 GB/s, so a copy of more bytes takes longer than waking a thread.
constexpr size_t kHeavyBytes = size_t{256} << 10;

struct Side {
    const char* name;    // the name of the argument
    const char* action;  // the direction of the copy: "into" or "from"
    const void* address;
    size_t pitch;
    bool meantOnDevice = false;  // by the kind
    bool found = false;          // it lies in an allocation
    Allocation allocation = {};
    bool onDevice = false;
};

// Computes the bytes from the first to the last that a side's rows take. False: that is more than
// there are addresses.
bool Footprint(const CopyRequest& request, const Side& side, size_t* bytes) {
    size_t before = 0;  // bytes before the last row
    return !__builtin_mul_overflow(request.rows - 1, side.pitch, &before) &&
           !__builtin_add_overflow(before, request.count, bytes);
}

// The same for a copy that has been checked.
size_t FootprintOf(size_t count, size_t rows, size_t pitch) { return (rows - 1) * pitch + count; }

// Sets meantOnDevice of the sides that the kind puts on the device.
void ReadKind(aclrtMemcpyKind kind, Side* dst, Side* src) {
    switch (static_cast<int>(kind)) {
        case ACL_MEMCPY_HOST_TO_DEVICE:
        case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
            dst->meantOnDevice = true;
            return;
        case ACL_MEMCPY_DEVICE_TO_HOST:
            src->meantOnDevice = true;
            return;
        case ACL_MEMCPY_DEVICE_TO_DEVICE:
        case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
        case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
            dst->meantOnDevice = src->meantOnDevice = true;
            return;
        default:
            return;
    }
}

// The address decides where a side is, and the kind has no effect. The exception is host memory
// with an address on every device, which is either.
void PlaceSide(const DeviceMemory& memory, bool byKind, Side* side) {
    side->found = memory.Find(side->address, &side->allocation);
    side->onDevice = byKind ? side->meantOnDevice
                            : side->found && (side->allocation.OfDevice() ||
                                              (side->allocation.mapped && side->meantOnDevice));
}

const char* PlaceOf(const Side& side) { return side.onDevice ? "device" : "host"; }

void TellUnfittingKind(aclrtMemcpyKind kind, const Side& dst, const Side& src) {
    const bool fits = kind == ACL_MEMCPY_DEFAULT ||
                      (dst.onDevice == dst.meantOnDevice && src.onDevice == src.meantOnDevice);
    if (__builtin_expect(!fits, 0)) {
        Log(LogLevel::kDebug,
            "kind is {}, which has no effect: dst lies in {} memory, and src in {} memory",
            static_cast<int>(kind), PlaceOf(dst), PlaceOf(src));
    }
}

Status InNoAllocation(const Side& side, size_t bytes) {
    TellRefused(side.name, side.address, bytes, nullptr);
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} is {}, which lies in no device allocation; expected device memory", side.name,
                 side.address);
}

// An address in no allocation is host memory, which nothing is known of, or a mistake: memory that
// was freed, or a wild pointer. If the kind calls it device memory, it has to be host memory beyond
// doubt, and the other side has to be the device's.
Status CheckUnknownSide(const DeviceMemory& memory, const Side& side, const Side& other,
                        size_t bytes) {
    const bool hostMemory = other.onDevice && !memory.WasFreed(side.address) &&
                            !TheVirtualMemory().Reserved(side.address, bytes) &&
                            HasMemory(side.address, bytes);
    return hostMemory ? Status() : InNoAllocation(side, bytes);
}

Status CheckSide(const DeviceMemory& memory, const CopyRequest& request, const Side& side,
                 const Side& other, CopySides* sides) {
    size_t bytes = 0;
    if (!Footprint(request, side, &bytes)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "height is {} with {}pitch {} and width {}; expected a range of at most {} "
                     "bytes",
                     request.rows, side.name[0], side.pitch, request.count, SIZE_MAX);
    }
    const Allocation& allocation = side.allocation;
    if (side.onDevice && (!side.found || !allocation.UsableOnDevice())) {
        return InNoAllocation(side, bytes);
    }
    if (!side.found && side.meantOnDevice) {
        ADVSTEP_RETURN_IF_ERROR(CheckUnknownSide(memory, side, other, bytes));
    }
    sides->deviceSide = sides->deviceSide || side.onDevice;
    const bool inside = side.found && allocation.BytesFrom(side.address) >= bytes;
    const bool partlyRegistered =
        side.found && !inside && allocation.origin == MemoryOrigin::kRegistered && !side.onDevice;
    const bool notPinned = side.found && allocation.pageable && !side.onDevice;
    if (!side.found || partlyRegistered || notPinned) {
        sides->pageable = true;
        sides->pageableDst = sides->pageableDst || side.address == request.dst;
        return {};
    }
    if (allocation.OfDevice()) {
        sides->Touch(allocation.device);
    }
    if (!inside) {
        TellRefused(side.name, side.address, bytes, nullptr);
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "copies {} bytes {} a {} range of {} bytes; expected {} inside one allocation",
                     bytes, side.action, allocation.OfDevice() ? "device" : "pinned host",
                     allocation.BytesFrom(side.address), side.name);
    }
    return {};
}

// Copies the rows in ascending order. The two sides of a row may overlap, as with memmove.
void CopyRows(void* dst, const void* src, size_t count, size_t rows, size_t dpitch, size_t spitch) {
    auto* to = static_cast<unsigned char*>(dst);
    const auto* from = static_cast<const unsigned char*>(src);
    for (size_t row = 0; row < rows; ++row) {
        AskForLargePages(to + row * dpitch, count);
        WatchedPages::Move(to + row * dpitch, from + row * spitch, count);
    }
}

// Batches.

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
    if (mine.device != nullptr) {
        sides->Touch(mine.device);
        sides->severalDevices = sides->severalDevices || mine.severalDevices;
    }
    sides->pageable = sides->pageable || mine.pageable;
    sides->pageableDst = sides->pageableDst || mine.pageableDst;
    return {};
}

Status FreedMeanwhile() {
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "another thread freed memory of the call during the call; expected memory that "
                 "stays until the call returns");
}

// Work of streams.

void ListUse(const char* name, const void* address, size_t bytes, Use::Access access,
             std::vector<Use>* uses) {
    if (bytes > 0) {
        uses->push_back({Use::Kind::kMemory, name, address, bytes, access});
    }
}

// Lists a side of a copy of rows.
void ListRows(const char* name, const void* address, const CopyRequest& copy, size_t pitch,
              Use::Access access, std::vector<Use>* uses) {
    ListUse(name, address, FootprintOf(copy.count, copy.rows, pitch), access, uses);
    if (copy.rows > 1 && pitch != copy.count && !uses->empty()) {
        uses->back().runs = {copy.rows, copy.count, pitch};
    }
}

Work WorkOfCopy(size_t recordBytes, const CopySides& sides, const Device* device) {
    RunningWork::DescribeCrashes();
    Work work(recordBytes);
    work.foreign = sides.ForeignTo(device);
    if (sides.pageable) {
        work.refusal = ACL_ERROR_RT_PARAM_INVALID;
        work.refusalText =
            sides.pageableDst
                ? "dst is pageable host memory; expected pinned memory of aclrtMallocHost or "
                  "aclrtHostRegister"
                : "src is pageable host memory; expected pinned memory of aclrtMallocHost or "
                  "aclrtHostRegister";
    }
    return work;
}

}  // namespace

// Copies and fills.

Status CheckCopyArguments(const CopyRequest& request) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(request.dst, "dst"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(request.src, "src"));
    const auto kind = static_cast<int>(request.kind);
    return kind >= ACL_MEMCPY_HOST_TO_HOST && kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM, "kind is {}; expected an aclrtMemcpyKind", kind);
}

Status CheckPitches(const CopyRequest& request) {
    if (request.Empty()) {
        return {};
    }
    for (const auto& [name, pitch] :
         {std::pair("dpitch", request.dpitch), std::pair("spitch", request.spitch)}) {
        if (request.count > pitch) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "width is {}; expected at most {} = {}",
                         request.count, name, pitch);
        }
    }
    return {};
}

Status CheckCopyRanges(const DeviceMemory& memory, const CopyRequest& request, CopySides* sides) {
    if (request.Empty()) {
        return {};
    }
    Side dst{"dst", "into", request.dst, request.dpitch};
    Side src{"src", "from", request.src, request.spitch};
    ReadKind(request.kind, &dst, &src);
    PlaceSide(memory, request.kindDecides, &dst);
    PlaceSide(memory, request.kindDecides, &src);
    if (request.count > request.destMax) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "count is {}; expected at most destMax = {}",
                     request.count, request.destMax);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckSide(memory, request, dst, src, sides));
    ADVSTEP_RETURN_IF_ERROR(CheckSide(memory, request, src, dst, sides));
    if (!request.kindDecides) {
        TellUnfittingKind(request.kind, dst, src);
    }
    return {};
}

Status RefuseHostToHost(const CopyRequest& request, const CopySides& sides) {
    const bool byKind = request.kindDecides && request.kind == ACL_MEMCPY_HOST_TO_HOST;
    return byKind || (!sides.deviceSide && !request.Empty())
               ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "copies from host to host (kind is {}); expected a side in device memory",
                       static_cast<int>(request.kind))
               : Status();
}

Status CheckFill(const DeviceMemory& memory, const void* address, const char* argument,
                 size_t count, CopySides* sides) {
    Allocation allocation;
    if (!memory.Find(address, &allocation)) {
        TellRefused(argument, address, count, nullptr);
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}, which lies in no allocation; expected device or pinned host "
                     "memory",
                     argument, address);
    }
    if (allocation.BytesFrom(address) < count) {
        TellRefused(argument, address, count, nullptr);
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "sets {} bytes in a range of {} bytes; expected {} inside one allocation",
                     count, allocation.BytesFrom(address), argument);
    }
    if (allocation.OfDevice()) {
        sides->Touch(allocation.device);
    }
    return {};
}

Status RefuseOther(const CopySides& checked, const CopySides& now) {
    return checked.IsSame(now) ? Status() : FreedMeanwhile();
}

Status RefuseOther(bool foreign, bool foreignNow) {
    return foreign == foreignNow ? Status() : FreedMeanwhile();
}

namespace {

// The check refuses rows whose footprint has no number, so nothing of those is touched.
HeldRange RangeOf(const CopyRequest& request, const Side& side) {
    size_t bytes = 0;
    return request.Empty() || !Footprint(request, side, &bytes) ? HeldRange()
                                                                : HeldRange(side.address, bytes);
}

}  // namespace

MemoryHold HoldFor(const CopyRequest& request) {
    return {&TheDeviceMemory().holds(),
            RangeOf(request, {"dst", "into", request.dst, request.dpitch}),
            RangeOf(request, {"src", "from", request.src, request.spitch})};
}

MemoryHold HoldForFill(const void* address, size_t count) {
    return {&TheDeviceMemory().holds(), {address, count}};
}

MemoryHold HoldForBatch() { return {&TheDeviceMemory().holds(), HeldRange::Everything()}; }

TaskLength LengthOfCopy(size_t bytes) {
    return bytes > kHeavyBytes ? TaskLength::kHeavy : TaskLength::kUsual;
}

void CopyNow(const CopyRequest& request) {
    CopyRows(request.dst, request.src, request.count, request.rows, request.dpitch, request.spitch);
}

void FillNow(void* address, int32_t value, size_t count) {
    if (static_cast<uint8_t>(value) == 0) {
        FillWithZeros(address, count);
        return;
    }
    AskForLargePages(address, count);
    std::memset(address, value, count);
}

void FillWordsNow(void* address, uint32_t value, size_t words) {
    if (value == 0) {
        FillWithZeros(address, words * sizeof(value));
        return;
    }
    AskForLargePages(address, words * sizeof(value));
    std::fill_n(static_cast<uint32_t*>(address), words, value);
}

CopyTask* CopyTask::Make(void* memory, const CopyRequest& request) {
    auto* const task = new (memory) CopyTask;
    task->name = "copy";
    task->category = TaskCategory::kMemory;
    constexpr auto kDescribe = [](const Task& base, TraceArgs* args) {
        const auto& copy = static_cast<const CopyTask&>(base);
        args->Add("bytes", static_cast<int64_t>(copy.count * copy.rows));
    };
    constexpr auto kListMemory = [](const Task& base, TouchedMemory* touched) {
        const auto& copy = static_cast<const CopyTask&>(base);
        touched->Range(copy.dst, FootprintOf(copy.count, copy.rows, copy.dpitch));
        touched->Range(copy.src, FootprintOf(copy.count, copy.rows, copy.spitch));
    };
    static constexpr TaskType kType = {kDescribe, nullptr, kListMemory, "aclrtMemcpyAsync"};
    static constexpr TaskType kRowsType = {kDescribe, nullptr, kListMemory, "aclrtMemcpy2dAsync"};
    task->type = request.dpitch == 0 ? &kType : &kRowsType;
    task->run = [](const Task& base) {
        const auto& copy = static_cast<const CopyTask&>(base);
        CopyRows(copy.dst, copy.src, copy.count, copy.rows, copy.dpitch, copy.spitch);
        return Status();
    };
    // No overflow: the rows' bytes are part of a range that has been checked.
    task->length = LengthOfCopy(request.count * request.rows);
    task->dst = request.dst;
    task->src = request.src;
    task->count = request.count;
    task->rows = request.rows;
    task->dpitch = request.dpitch;
    task->spitch = request.spitch;
    return task;
}

FillTask* FillTask::Make(void* memory, void* address, int32_t value, size_t count) {
    auto* const task = new (memory) FillTask;
    task->name = "fill";
    task->category = TaskCategory::kMemory;
    static constexpr TaskType kType = {
        [](const Task& base, TraceArgs* args) {
            args->Add("bytes", static_cast<int64_t>(static_cast<const FillTask&>(base).count));
        },
        nullptr,
        [](const Task& base, TouchedMemory* touched) {
            const auto& fill = static_cast<const FillTask&>(base);
            touched->Range(fill.address, fill.count);
        },
        "aclrtMemsetAsync"};
    task->type = &kType;
    task->run = [](const Task& base) {
        const auto& fill = static_cast<const FillTask&>(base);
        FillNow(fill.address, fill.value, fill.count);
        return Status();
    };
    task->length = LengthOfCopy(count);
    task->address = address;
    task->value = value;
    task->count = count;
    return task;
}

FillTask* FillTask::MakeOfWords(void* memory, void* address, uint32_t value, size_t words) {
    FillTask* const task =
        Make(memory, address, static_cast<int32_t>(value), words * sizeof(value));
    task->run = [](const Task& base) {
        const auto& fill = static_cast<const FillTask&>(base);
        FillWordsNow(fill.address, static_cast<uint32_t>(fill.value),
                     fill.count / sizeof(uint32_t));
        return Status();
    };
    return task;
}

// Batches.

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
        CopyRequest request{batch.dsts[i], batch.destMaxs[i], batch.srcs[i], batch.sizes[i],
                            KindOf(governing)};
        request.kindDecides = true;
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
        AskForLargePages(batch.dsts[i], batch.sizes[i]);
        WatchedPages::Move(batch.dsts[i], batch.srcs[i], batch.sizes[i]);
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
    static constexpr TaskType kType = {
        [](const Task& base, TraceArgs* args) {
            const auto& self = static_cast<const CopyBatchTask&>(base);
            const auto* const copies = reinterpret_cast<const Copy*>(&self + 1);
            size_t bytes = 0;
            for (size_t i = 0; i < self.count; ++i) {
                bytes += copies[i].count;
            }
            args->Add("bytes", static_cast<int64_t>(bytes));
            args->Add("copies", static_cast<int64_t>(self.count));
        },
        nullptr,
        [](const Task& base, TouchedMemory* touched) {
            const auto& self = static_cast<const CopyBatchTask&>(base);
            const auto* const copies = reinterpret_cast<const Copy*>(&self + 1);
            for (size_t i = 0; i < self.count; ++i) {
                touched->Range(copies[i].dst, copies[i].count);
                touched->Range(copies[i].src, copies[i].count);
            }
        },
        "aclrtMemcpyBatchAsync"};
    task->type = &kType;
    task->run = [](const Task& base) {
        const auto& self = static_cast<const CopyBatchTask&>(base);
        const auto* const copies = reinterpret_cast<const Copy*>(&self + 1);
        for (size_t i = 0; i < self.count; ++i) {
            AskForLargePages(copies[i].dst, copies[i].count);
            WatchedPages::Move(copies[i].dst, copies[i].src, copies[i].count);
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

// Work of streams.

void ListUses(const CopyRequest& copy, std::vector<Use>* uses) {
    ListRows("dst", copy.dst, copy, copy.dpitch, Use::Access::kWrites, uses);
    ListRows("src", copy.src, copy, copy.spitch, Use::Access::kReads, uses);
}

Work WorkOf(const CopyRequest& request, const CopySides& sides, const Device* device) {
    Work work = WorkOfCopy(sizeof(CopyTask), sides, device);
    work.source = &request;
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        const auto& copy = *static_cast<const CopyRequest*>(source);
        ListUses(copy, uses);
    };
    return work;
}

Work WorkOf(const CopyBatch& batch, size_t recordBytes, const CopySides& sides,
            const Device* device) {
    Work work = WorkOfCopy(recordBytes, sides, device);
    work.source = &batch;
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        const auto& copies = *static_cast<const CopyBatch*>(source);
        for (size_t i = 0; i < copies.count; ++i) {
            ListUse("dsts", copies.dsts[i], copies.sizes[i], Use::Access::kWrites, uses);
            ListUse("srcs", copies.srcs[i], copies.sizes[i], Use::Access::kReads, uses);
        }
    };
    return work;
}

Work WorkOf(const FillRange& range) {
    RunningWork::DescribeCrashes();
    Work work(sizeof(FillTask));
    work.source = &range;
    work.foreign = range.foreign;
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        const auto& fill = *static_cast<const FillRange*>(source);
        ListUse("devPtr", fill.address, fill.count, Use::Access::kWrites, uses);
    };
    return work;
}

}  // namespace advstep
