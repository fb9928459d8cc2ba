// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors: creation and getters.
#include <memory>

#include "src/acl/tensor_desc.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"

using namespace advstep;

namespace {

constexpr int64_t kAnyRank = -2;  // the first dim of a shape whose number of dims is not known

// Returns false if a dim is negative or the product does not fit.
bool CountElements(const aclTensorDesc& desc, size_t* count) {
    size_t product = 1;
    for (const int64_t dim : desc.originDims) {
        if (dim < 0 || __builtin_mul_overflow(product, static_cast<size_t>(dim), &product)) {
            return false;
        }
    }
    *count = product;
    return true;
}

}  // namespace

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
    aclTensorDesc* made = nullptr;
    (void)AclBoundary("aclCreateTensorDesc", [&]() -> Status {
        if (numDims < 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "numDims is {}; expected at least 0", numDims);
        }
        if (numDims > 0) {
            ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dims, "dims"));
        }
        auto desc = std::make_unique<aclTensorDesc>();
        desc->dataType = dataType;
        desc->originFormat = desc->storageFormat = format;
        if (numDims > 0) {
            desc->originDims.assign(dims, dims + numDims);
        }
        desc->storageDims = desc->originDims;
        made = desc.release();
        return {};
    });
    return made;
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) { delete desc; }

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
    return desc != nullptr ? desc->dataType : ACL_DT_UNDEFINED;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
    return desc != nullptr ? desc->originFormat : ACL_FORMAT_UNDEFINED;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
    size_t count = 0;
    return desc != nullptr && CountElements(*desc, &count) ? count : 0;
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
    size_t bytes = 0;
    const size_t count = aclGetTensorDescElementCount(desc);
    const bool fits =
        desc != nullptr && !__builtin_mul_overflow(count, SizeOf(desc->dataType), &bytes);
    return fits ? bytes : 0;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
    if (desc == nullptr) {
        return 0;
    }
    const bool unknown = !desc->originDims.empty() && desc->originDims.front() == kAnyRank;
    return unknown ? ACL_UNKNOWN_RANK : desc->originDims.size();
}

int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
    return desc != nullptr && index < desc->originDims.size() ? desc->originDims[index] : -1;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
    return AclBoundary("aclGetTensorDescDimV2", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dimSize, "dimSize"));
        if (index >= desc->originDims.size()) {
            return Error(ACL_ERROR_INVALID_PARAM, "index is {}; expected less than {} dims", index,
                         desc->originDims.size());
        }
        *dimSize = desc->originDims[index];
        return {};
    });
}

const char* aclGetTensorDescName(aclTensorDesc* desc) {
    return desc != nullptr ? desc->name.c_str() : "";
}
