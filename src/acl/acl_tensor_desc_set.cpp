// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors: setters.
#include "src/acl/tensor_desc.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

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

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
    (void)AclBoundary("aclSetTensorDescName", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(desc, "desc"));
        desc->name = name != nullptr ? name : "";
        return {};
    });
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
