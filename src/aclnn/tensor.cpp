#include "src/aclnn/tensor.h"

#include <algorithm>
#include <new>

#include "src/aclnn/object_pool.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"

using namespace advstep;

namespace {

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
    uint64_t step = 1;  // wraps for absurd shapes, which the operators refuse
    for (uint64_t axis = rank; axis-- > 0;) {
        strides[axis] = static_cast<int64_t>(step);
        step *= static_cast<uint64_t>(dims[axis]);
    }
}

void Fill(const TensorArguments& arguments, aclTensor* tensor) {
    const uint64_t rank = arguments.viewDimsNum;
    const uint64_t storageRank = arguments.storageDimsNum;
    int64_t* room = tensor->inlineDims;
    std::unique_ptr<int64_t[]> large;
    if (rank > aclTensor::kInlineRank || storageRank > aclTensor::kInlineRank) {
        if (rank > (uint64_t{1} << 32) || storageRank > (uint64_t{1} << 32)) {
            throw std::bad_alloc();
        }
        large = std::make_unique<int64_t[]>(2 * rank + storageRank);
        room = large.get();
    }
    std::copy_n(arguments.viewDims, rank, room);
    if (arguments.stride != nullptr) {
        std::copy_n(arguments.stride, rank, room + rank);
    } else {
        FillContiguousStrides(arguments.viewDims, rank, room + rank);
    }
    std::copy_n(arguments.storageDims, storageRank, room + 2 * rank);
    tensor->largeDims = std::move(large);
    tensor->viewDims = room;
    tensor->strides = room + rank;
    tensor->storageDims = room + 2 * rank;
    tensor->viewRank = rank;
    tensor->storageRank = storageRank;
    tensor->dataType = arguments.dataType;
    tensor->format = arguments.format;
    tensor->offset = arguments.offset;
    tensor->itemSize = static_cast<int64_t>(SizeOf(arguments.dataType));
    tensor->data = arguments.data;
}

Status CheckAlive(const aclTensor* tensor, const char* argument) {
    if (tensor == nullptr) {
        return Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a tensor", argument);
    }
    if (tensor->magic.load(std::memory_order_relaxed) != aclTensor::kAlive) {
        return Error(ACLNN_ERR_PARAM_INVALID, "{} has been destroyed; expected a live tensor",
                     argument);
    }
    return {};
}

// Body of a getter: checks, then read(tensor).
template <typename Read>
aclnnStatus Get(const char* call, const aclTensor* tensor, const void* out1, const char* name1,
                const void* out2, const char* name2, Read&& read) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckAlive(tensor, "tensor"));
        if (out1 == nullptr || out2 == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer",
                         out1 == nullptr ? name1 : name2);
        }
        read(*tensor);
        return {};
    });
}

void CopyOut(const int64_t* values, uint64_t count, int64_t** out, uint64_t* outCount) {
    auto* const copy = new int64_t[count];
    std::copy_n(values, count, copy);
    *out = copy;
    *outCount = count;
}

}  // namespace

namespace advstep {

Status ViewOf(const aclTensor* tensor, const char* argument, TensorView* view) {
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(tensor, argument));
    view->dataType = tensor->dataType;
    view->format = tensor->format;
    view->rank = static_cast<int64_t>(tensor->viewRank);
    view->dims = tensor->viewDims;
    view->strides = tensor->strides;
    view->offset = tensor->offset;
    view->itemSize = tensor->itemSize;
    view->data = static_cast<uint8_t*>(tensor->data);
    return {};
}

}  // namespace advstep

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
    aclTensor* created = nullptr;
    (void)AclnnBoundary("aclCreateTensor", ACLNN_ERR_INNER, [&]() -> Status {
        const TensorArguments arguments{viewDims, viewDimsNum, dataType,       stride,    offset,
                                        format,   storageDims, storageDimsNum, tensorData};
        ADVSTEP_RETURN_IF_ERROR(CheckShapes(arguments));
        aclTensor* const tensor = ObjectPool<aclTensor>::Instance().Acquire();
        try {
            Fill(arguments, tensor);
        } catch (...) {
            ObjectPool<aclTensor>::Instance().Release(tensor);
            throw;
        }
        tensor->magic.store(aclTensor::kAlive, std::memory_order_relaxed);
        created = tensor;
        return {};
    });
    return created;
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
    return AclnnBoundary("aclDestroyTensor", ACLNN_ERR_INNER, [&]() -> Status {
        if (tensor == nullptr) {
            return {};
        }
        auto* const mine = const_cast<aclTensor*>(tensor);
        uint32_t alive = aclTensor::kAlive;
        if (!mine->magic.compare_exchange_strong(alive, 0, std::memory_order_relaxed)) {
            return CheckAlive(tensor, "tensor");
        }
        mine->largeDims.reset();
        ObjectPool<aclTensor>::Instance().Release(mine);
        return {};
    });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
    return AclnnBoundary("aclInitTensor", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckAlive(tensor, "tensor"));
        const TensorArguments arguments{viewDims,    viewDimsNum,    dataType,
                                        stride,      offset,         format,
                                        storageDims, storageDimsNum, tensorDataAddr};
        ADVSTEP_RETURN_IF_ERROR(CheckShapes(arguments));
        Fill(arguments, tensor);
        return {};
    });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
    return Get("aclGetViewShape", tensor, viewDims, "viewDims", viewDimsNum, "viewDimsNum",
               [&](const aclTensor& t) { CopyOut(t.viewDims, t.viewRank, viewDims, viewDimsNum); });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
    return Get("aclGetStorageShape", tensor, storageDims, "storageDims", storageDimsNum,
               "storageDimsNum", [&](const aclTensor& t) {
                   CopyOut(t.storageDims, t.storageRank, storageDims, storageDimsNum);
               });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
    return Get(
        "aclGetViewStrides", tensor, stridesValue, "stridesValue", stridesNum, "stridesNum",
        [&](const aclTensor& t) { CopyOut(t.strides, t.viewRank, stridesValue, stridesNum); });
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
    return Get("aclGetViewOffset", tensor, offset, "offset", offset, "offset",
               [&](const aclTensor& t) { *offset = t.offset; });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
    return Get("aclGetFormat", tensor, format, "format", format, "format",
               [&](const aclTensor& t) { *format = t.format; });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
    return Get("aclGetDataType", tensor, dataType, "dataType", dataType, "dataType",
               [&](const aclTensor& t) { *dataType = t.dataType; });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
    return Get("aclSetRawTensorAddr", tensor, tensor, "tensor", tensor, "tensor",
               [&](const aclTensor&) { tensor->data = addr; });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
    return Get("aclGetRawTensorAddr", tensor, addr, "addr", addr, "addr",
               [&](const aclTensor& t) { *addr = t.data; });
}
