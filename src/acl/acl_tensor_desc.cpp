// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors for single-operator calls: creation, getters and setters.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"

using namespace advstep;

// A tensor of a single-operator call. The program owns it and uses it from one thread at a time.
struct aclTensorDesc {
    aclDataType dataType = ACL_DT_UNDEFINED;
    aclFormat originFormat = ACL_FORMAT_UNDEFINED;
    std::vector<int64_t> originDims;
    aclFormat storageFormat = ACL_FORMAT_UNDEFINED;
    std::vector<int64_t> storageDims;
    std::string name;
    std::vector<std::array<int64_t, ACL_TENSOR_SHAPE_RANGE_NUM>> dimsRange;
    aclMemType placement = ACL_MEMTYPE_DEVICE;
    std::vector<unsigned char> constant;
    std::string dynamicInput;
};

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

Status SetDims(aclTensorDesc* desc, int numDims, const int64_t* dims,
               std::vector<int64_t> aclTensorDesc::*member) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
    if (numDims < 0) {
        return Error(ACL_ERROR_INVALID_PARAM, "numDims is {}; expected at least 0", numDims);
    }
    if (numDims == 0) {
        (desc->*member).clear();
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dims, "dims"));
    desc->*member = std::vector<int64_t>(dims, dims + numDims);
    return {};
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

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
    size_t bytes = 0;
    const size_t count = aclGetTensorDescElementCount(desc);
    const bool fits =
        desc != nullptr && !__builtin_mul_overflow(count, SizeOf(desc->dataType), &bytes);
    return fits ? bytes : 0;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
    size_t count = 0;
    return desc != nullptr && CountElements(*desc, &count) ? count : 0;
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

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
    (void)AclBoundary("aclSetTensorDescName", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
        desc->name = name != nullptr ? name : "";
        return {};
    });
}

const char* aclGetTensorDescName(aclTensorDesc* desc) {
    return desc != nullptr ? desc->name.c_str() : "";
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
    if (desc != nullptr) {
        desc->storageFormat = format;
    }
    return ACL_SUCCESS;
}

aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
    if (desc != nullptr) {
        desc->originFormat = format;
    }
    return ACL_SUCCESS;
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
    return AclBoundary("aclSetTensorShape",
                       [&] { return SetDims(desc, numDims, dims, &aclTensorDesc::storageDims); });
}

aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
    return AclBoundary("aclSetTensorOriginShape",
                       [&] { return SetDims(desc, numDims, dims, &aclTensorDesc::originDims); });
}

aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount,
                                int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]) {
    return AclBoundary("aclSetTensorShapeRange", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
        if (dimsCount > 0) {
            ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dimsRange, "dimsRange"));
        }
        decltype(desc->dimsRange) ranges;
        for (size_t i = 0; i < dimsCount; ++i) {
            ranges.push_back({dimsRange[i][0], dimsRange[i][1]});
        }
        desc->dimsRange = std::move(ranges);
        return {};
    });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
    return AclBoundary("aclSetTensorPlaceMent", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
        const auto number = static_cast<int>(memType);
        if (number < ACL_MEMTYPE_DEVICE || number > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
            return Error(ACL_ERROR_INVALID_PARAM, "memType is {}; expected an aclMemType", number);
        }
        desc->placement = memType;
        return {};
    });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
    return AclBoundary("aclSetTensorConst", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dataBuffer, "dataBuffer"));
        if (length == 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "length is 0; expected at least 1 byte");
        }
        const auto* const bytes = static_cast<const unsigned char*>(dataBuffer);
        desc->constant = std::vector<unsigned char>(bytes, bytes + length);
        return {};
    });
}

aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
    return AclBoundary("aclSetTensorDynamicInput", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dynamicInputName, "dynamicInputName"));
        desc->dynamicInput = dynamicInputName;
        return {};
    });
}
