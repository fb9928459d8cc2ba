// SPDX-License-Identifier: Apache-2.0
// The description of a tensor to which an aclTensorDesc points.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"

/// A tensor of a single-operator call. The program owns it and uses it from one thread at a time.
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
