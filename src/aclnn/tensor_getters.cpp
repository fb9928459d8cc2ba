// SPDX-License-Identifier: Apache-2.0
// Tells what a tensor describes. Null pointers and destroyed tensors are refused.

#include <algorithm>

#include "src/aclnn/tensor.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

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
