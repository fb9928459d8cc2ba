// SPDX-License-Identifier: Apache-2.0
// Creates, changes, describes and destroys tensors. Null pointers and destroyed tensors are
// refused.

#include "src/aclnn/tensor.h"

#include <algorithm>
#include <new>

#include "advance_step/operator/core.h"
#include "src/aclnn/object_pool.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"
#include "src/base/live_objects.h"

using namespace advstep;

namespace {

constexpr size_t kTensorLooks = 8;  // the number of tensors of a typical call

struct TensorArguments {
    const int64_t* viewDims;
    uint64_t viewDimsNum;
    aclDataType dataType;
    const int64_t* stride;
    int64_t offset;
    aclFormat format;
    const int64_t* storageDims;
    uint64_t storageDimsNum;
    void* data;
};

Status CheckShapes(const TensorArguments& arguments) {
    if ((arguments.viewDims == nullptr && arguments.viewDimsNum > 0) ||
        (arguments.storageDims == nullptr && arguments.storageDimsNum > 0)) {
        return Error(ACLNN_ERR_PARAM_NULLPTR,
                     "{} is null with a count above 0; expected as many dims as the count says",
                     arguments.viewDims == nullptr && arguments.viewDimsNum > 0 ? "viewDims"
                                                                                : "storageDims");
    }
    return {};
}

void FillContiguousStrides(const int64_t* dims, uint64_t rank, int64_t* strides) {
    uint64_t step = 1;  // wraps only for shapes so large that the operators refuse them
    for (uint64_t axis = rank; axis-- > 0;) {
        strides[axis] = static_cast<int64_t>(step);
        step *= static_cast<uint64_t>(dims[axis]);
    }
}

// Returns a version that no description had before. A thread takes versions in blocks, so that
// threads rarely access the shared counter.
uint64_t NextVersion() {
    constexpr uint64_t kBlock = 4096;
    static std::atomic<uint64_t> nextBlock{1};
    [[gnu::tls_model("initial-exec")]] static thread_local uint64_t next = 0;
    if (next % kBlock == 0) {
        next = nextBlock.fetch_add(1, std::memory_order_relaxed) * kBlock;
    }
    return ++next;
}

void Renew(aclTensor* tensor) {
    tensor->lastVersion = NextVersion();
    tensor->version.store(tensor->lastVersion, std::memory_order_relaxed);
}

// Copies dimensions. Most shapes have one or two, for which a call of memcpy would take longer.
void CopyDims(const int64_t* from, uint64_t count, int64_t* to) {
    if (count > 2) {
        std::copy_n(from, count, to);
        return;
    }
    if (count > 0) {
        to[0] = from[0];
    }
    if (count > 1) {
        to[1] = from[1];
    }
}

void Fill(const TensorArguments& arguments, aclTensor* tensor) {
    const uint64_t rank = arguments.viewDimsNum;
    const uint64_t storageRank = arguments.storageDimsNum;
    int64_t* room = tensor->inlineDims;
    if (rank > aclTensor::kInlineRank || storageRank > aclTensor::kInlineRank) {
        if (rank > (uint64_t{1} << 32) || storageRank > (uint64_t{1} << 32)) {
            throw std::bad_alloc();
        }
        tensor->largeDims = std::make_unique<int64_t[]>(2 * rank + storageRank);
        room = tensor->largeDims.get();
    } else if (tensor->largeDims != nullptr) {
        tensor->largeDims.reset();
    }
    CopyDims(arguments.viewDims, rank, room);
    if (arguments.stride != nullptr) {
        CopyDims(arguments.stride, rank, room + rank);
    } else {
        FillContiguousStrides(arguments.viewDims, rank, room + rank);
    }
    CopyDims(arguments.storageDims, storageRank, room + 2 * rank);
    tensor->storageDims = room + 2 * rank;
    tensor->storageRank = storageRank;
    TensorView& view = tensor->view;
    view.dataType = arguments.dataType;
    view.format = arguments.format;
    view.rank = static_cast<int64_t>(rank);
    view.dims = room;
    view.strides = room + rank;
    view.offset = arguments.offset;
    view.itemSize = static_cast<int64_t>(SizeOf(arguments.dataType));
    view.data = static_cast<uint8_t*>(arguments.data);
    view.packedBytes = PackedBytes(view);
    Renew(tensor);
}

// Compares at most two dimensions.
bool SameDims(const int64_t* one, const int64_t* other, uint64_t count) {
    return (count < 1 || one[0] == other[0]) && (count < 2 || one[1] == other[1]);
}

// Returns whether a destroyed tensor had this description of at most two axes. Programs that create
// their tensors for every call create the same ones again, and then keep their version.
bool Describes(const aclTensor& tensor, const TensorArguments& arguments) {
    const TensorView& view = tensor.view;
    const uint64_t rank = arguments.viewDimsNum;
    if (view.data != arguments.data || tensor.lastVersion == 0 || rank > 2 ||
        static_cast<uint64_t>(view.rank) != rank || arguments.storageDimsNum > 2 ||
        tensor.storageRank != arguments.storageDimsNum || view.dataType != arguments.dataType ||
        view.format != arguments.format || view.offset != arguments.offset ||
        !SameDims(view.dims, arguments.viewDims, rank) ||
        !SameDims(tensor.storageDims, arguments.storageDims, tensor.storageRank)) {
        return false;
    }
    int64_t contiguous[2];
    if (arguments.stride == nullptr) {
        FillContiguousStrides(arguments.viewDims, rank, contiguous);
    }
    return SameDims(view.strides, arguments.stride == nullptr ? contiguous : arguments.stride,
                    rank);
}

void FillOrGiveBack(const TensorArguments& arguments, aclTensor* tensor) {
    try {
        Fill(arguments, tensor);
    } catch (...) {
        ObjectPool<aclTensor>::Release(tensor);
        throw;
    }
}

// Returns false if the tensor has been destroyed before.
bool Destroy(aclTensor* tensor) {
    uint32_t alive = aclTensor::kAlive;
    if (!tensor->magic.compare_exchange_strong(alive, 0, std::memory_order_relaxed)) {
        return false;
    }
    tensor->version.store(0, std::memory_order_relaxed);
    if (__builtin_expect(tensor->largeDims != nullptr, 0)) {
        tensor->largeDims.reset();
        tensor->lastVersion = 0;  // the description is destroyed, so Describes must not read it
    }
    ObjectPool<aclTensor>::Release(tensor);
    return true;
}

[[gnu::noinline]] bool DestroyNoted(aclTensor* tensor) {
    return Freeing(ObjectKind::kTensor, tensor,
                   [&] { return Destroy(tensor) ? Status() : Status(ACLNN_ERR_PARAM_INVALID); })
        .ok();
}

// The body of a getter: checks the tensor and both outputs, then calls read(tensor).
template <typename Read>
aclnnStatus Get(const char* call, const aclTensor* tensor, const void* out1, const char* name1,
                const void* out2, const char* name2, Read&& read) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckTensor(tensor, "tensor"));
        if (out1 == nullptr || out2 == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer",
                         out1 == nullptr ? name1 : name2);
        }
        read(*tensor);
        return {};
    });
}

void CopyOut(const int64_t* values, int64_t count, int64_t** out, uint64_t* outCount) {
    auto* const copy = new int64_t[static_cast<size_t>(count)];
    std::copy_n(values, count, copy);
    *out = copy;
    *outCount = static_cast<uint64_t>(count);
}

}  // namespace

Status advstep::NoTensorError(const aclTensor* tensor, const char* argument) {
    return tensor == nullptr
               ? Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a tensor", argument)
               : Error(ACLNN_ERR_PARAM_INVALID, "{} has been destroyed; expected a live tensor",
                       argument);
}

bool advstep::DestroyTensor(const aclTensor* tensor) {
    auto* const destroyed = const_cast<aclTensor*>(tensor);
    return TrackingObjects() ? DestroyNoted(destroyed) : Destroy(destroyed);
}

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
    aclTensor* created = nullptr;
    (void)AclnnBoundary("aclCreateTensor", ACLNN_ERR_INNER, [&]() -> Status {
        const TensorArguments arguments{viewDims, viewDimsNum, dataType,       stride,    offset,
                                        format,   storageDims, storageDimsNum, tensorData};
        ADVSTEP_RETURN_IF_ERROR(CheckShapes(arguments));
        aclTensor* const tensor = ObjectPool<aclTensor>::AcquireLike<kTensorLooks>(
            [&](const aclTensor& destroyed) { return destroyed.view.data == tensorData; });
        if (Describes(*tensor, arguments)) {
            tensor->version.store(tensor->lastVersion, std::memory_order_relaxed);
        } else {
            FillOrGiveBack(arguments, tensor);
        }
        tensor->magic.store(aclTensor::kAlive, std::memory_order_relaxed);
        created = tensor;
        NoteMade(ObjectKind::kTensor, "aclCreateTensor", tensor);
        DropRecentMessage();
        return {};
    });
    return created;
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
    return AclnnBoundary("aclDestroyTensor", ACLNN_ERR_INNER, [&]() -> Status {
        return tensor == nullptr || DestroyTensor(tensor) ? Status()
                                                          : NoTensorError(tensor, "tensor");
    });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
    return AclnnBoundary("aclInitTensor", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckTensor(tensor, "tensor"));
        const TensorArguments arguments{viewDims,    viewDimsNum,    dataType,
                                        stride,      offset,         format,
                                        storageDims, storageDimsNum, tensorDataAddr};
        ADVSTEP_RETURN_IF_ERROR(CheckShapes(arguments));
        Fill(arguments, tensor);
        return {};
    });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
    return AclnnBoundary("aclSetRawTensorAddr", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckTensor(tensor, "tensor"));
        tensor->view.data = static_cast<uint8_t*>(addr);
        Renew(tensor);
        return {};
    });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
    return Get(
        "aclGetViewShape", tensor, viewDims, "viewDims", viewDimsNum, "viewDimsNum",
        [&](const aclTensor& t) { CopyOut(t.view.dims, t.view.rank, viewDims, viewDimsNum); });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
    return Get("aclGetStorageShape", tensor, storageDims, "storageDims", storageDimsNum,
               "storageDimsNum", [&](const aclTensor& t) {
                   CopyOut(t.storageDims, static_cast<int64_t>(t.storageRank), storageDims,
                           storageDimsNum);
               });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
    return Get("aclGetViewStrides", tensor, stridesValue, "stridesValue", stridesNum, "stridesNum",
               [&](const aclTensor& t) {
                   CopyOut(t.view.strides, t.view.rank, stridesValue, stridesNum);
               });
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
    return Get("aclGetViewOffset", tensor, offset, "offset", offset, "offset",
               [&](const aclTensor& t) { *offset = t.view.offset; });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
    return Get("aclGetFormat", tensor, format, "format", format, "format",
               [&](const aclTensor& t) { *format = t.view.format; });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
    return Get("aclGetDataType", tensor, dataType, "dataType", dataType, "dataType",
               [&](const aclTensor& t) { *dataType = t.view.dataType; });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
    return Get("aclGetRawTensorAddr", tensor, addr, "addr", addr, "addr",
               [&](const aclTensor& t) { *addr = t.view.data; });
}

aclnnStatus advstepReadTensor(const aclTensor* tensor, AdvStepTensorView* view) {
    return Get("advstepReadTensor", tensor, view, "view", view, "view",
               [&](const aclTensor& t) { *view = t.view; });
}
