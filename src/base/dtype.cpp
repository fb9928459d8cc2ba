// SPDX-License-Identifier: Apache-2.0
// The tables of data types and formats.

#include "src/base/dtype.h"

namespace advstep {
namespace {

struct DataTypeRow {
    aclDataType type;
    const char* name;
    size_t size;
};

constexpr DataTypeRow kDataTypes[] = {
    {ACL_DT_UNDEFINED, "ACL_DT_UNDEFINED", 0},
    {ACL_FLOAT, "ACL_FLOAT", 4},
    {ACL_FLOAT16, "ACL_FLOAT16", 2},
    {ACL_INT8, "ACL_INT8", 1},
    {ACL_INT32, "ACL_INT32", 4},
    {ACL_UINT8, "ACL_UINT8", 1},
    {ACL_INT16, "ACL_INT16", 2},
    {ACL_UINT16, "ACL_UINT16", 2},
    {ACL_UINT32, "ACL_UINT32", 4},
    {ACL_INT64, "ACL_INT64", 8},
    {ACL_UINT64, "ACL_UINT64", 8},
    {ACL_DOUBLE, "ACL_DOUBLE", 8},
    {ACL_BOOL, "ACL_BOOL", 1},
    {ACL_STRING, "ACL_STRING", 0},
    {ACL_COMPLEX64, "ACL_COMPLEX64", 8},
    {ACL_COMPLEX128, "ACL_COMPLEX128", 16},
    {ACL_BF16, "ACL_BF16", 2},
    {ACL_INT4, "ACL_INT4", 0},
    {ACL_UINT1, "ACL_UINT1", 0},
    {ACL_COMPLEX32, "ACL_COMPLEX32", 4},
    {ACL_HIFLOAT8, "ACL_HIFLOAT8", 1},
    {ACL_FLOAT8_E5M2, "ACL_FLOAT8_E5M2", 1},
    {ACL_FLOAT8_E4M3FN, "ACL_FLOAT8_E4M3FN", 1},
    {ACL_FLOAT8_E8M0, "ACL_FLOAT8_E8M0", 1},
    {ACL_FLOAT6_E3M2, "ACL_FLOAT6_E3M2", 0},
    {ACL_FLOAT6_E2M3, "ACL_FLOAT6_E2M3", 0},
    {ACL_FLOAT4_E2M1, "ACL_FLOAT4_E2M1", 0},
    {ACL_FLOAT4_E1M2, "ACL_FLOAT4_E1M2", 0},
};

struct FormatRow {
    aclFormat format;
    const char* name;
};

constexpr FormatRow kFormats[] = {
    {ACL_FORMAT_UNDEFINED, "ACL_FORMAT_UNDEFINED"},
    {ACL_FORMAT_NCHW, "ACL_FORMAT_NCHW"},
    {ACL_FORMAT_NHWC, "ACL_FORMAT_NHWC"},
    {ACL_FORMAT_ND, "ACL_FORMAT_ND"},
    {ACL_FORMAT_NC1HWC0, "ACL_FORMAT_NC1HWC0"},
    {ACL_FORMAT_FRACTAL_Z, "ACL_FORMAT_FRACTAL_Z"},
    {ACL_FORMAT_NC1HWC0_C04, "ACL_FORMAT_NC1HWC0_C04"},
    {ACL_FORMAT_HWCN, "ACL_FORMAT_HWCN"},
    {ACL_FORMAT_NDHWC, "ACL_FORMAT_NDHWC"},
    {ACL_FORMAT_FRACTAL_NZ, "ACL_FORMAT_FRACTAL_NZ"},
    {ACL_FORMAT_NCDHW, "ACL_FORMAT_NCDHW"},
    {ACL_FORMAT_NDC1HWC0, "ACL_FORMAT_NDC1HWC0"},
    {ACL_FRACTAL_Z_3D, "ACL_FRACTAL_Z_3D"},
    {ACL_FORMAT_NC, "ACL_FORMAT_NC"},
    {ACL_FORMAT_NCL, "ACL_FORMAT_NCL"},
};

}  // namespace

size_t SizeOf(aclDataType dataType) {
    if (dataType == ACL_INT64) {
        return sizeof(int64_t);  // the dtype of most tensors, found without a search
    }
    for (const DataTypeRow& row : kDataTypes) {
        if (row.type == dataType) {
            return row.size;
        }
    }
    return 0;
}

const char* KnownNameOf(aclDataType dataType) {
    for (const DataTypeRow& row : kDataTypes) {
        if (row.type == dataType) {
            return row.name;
        }
    }
    return nullptr;
}

const char* KnownNameOf(aclFormat format) {
    for (const FormatRow& row : kFormats) {
        if (row.format == format) {
            return row.name;
        }
    }
    return nullptr;
}

std::string NameOf(aclDataType dataType) {
    const char* const name = KnownNameOf(dataType);
    return name != nullptr ? name : std::to_string(static_cast<int>(dataType));
}

std::string NameOf(aclFormat format) {
    const char* const name = KnownNameOf(format);
    return name != nullptr ? name : std::to_string(static_cast<int>(format));
}

}  // namespace advstep
