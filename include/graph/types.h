// SPDX-License-Identifier: Apache-2.0
/// Data types, formats and placements of graph mode (docs/graph_mode.md).
///
/// Names and values are interface facts of Ascend CANN (docs/internals/provenance.md); text and
/// code are this project's.
#ifndef ADVSTEP_GRAPH_TYPES_H_
#define ADVSTEP_GRAPH_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__GNUC__)
#define ADVSTEP_GRAPH_API __attribute__((visibility("default")))
/* Marks a class whose objects are laid out otherwise than CANN's. The tag is part of the names of its
 * functions, and of functions that take such an object, so that no program compiled against CANN's
 * headers can bind them. A forward declaration comes after the header of the class. */
#define ADVSTEP_GRAPH_OWN_LAYOUT __attribute__((abi_tag("advstep")))
#else
#define ADVSTEP_GRAPH_API
#define ADVSTEP_GRAPH_OWN_LAYOUT
#endif

namespace ge {

using char_t = char;
using float32_t = float;

const int64_t UNKNOWN_DIM = -1;     /* a dimension that is known only at run time */
const int64_t UNKNOWN_DIM_NUM = -2; /* the only dimension of a shape whose rank is unknown */
const std::vector<int64_t> UNKNOWN_SHAPE = {-1};
const std::vector<int64_t> UNKNOWN_RANK = {-2};

enum DataType {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_DUAL_SUB_INT8 = 14,
    DT_DUAL_SUB_UINT8 = 15,
    DT_COMPLEX64 = 16,
    DT_COMPLEX128 = 17,
    DT_QINT8 = 18,
    DT_QINT16 = 19,
    DT_QINT32 = 20,
    DT_QUINT8 = 21,
    DT_QUINT16 = 22,
    DT_RESOURCE = 23,
    DT_STRING_REF = 24,
    DT_DUAL = 25,
    DT_VARIANT = 26,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_INT2 = 31,
    DT_UINT2 = 32,
    DT_COMPLEX32 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E5M2 = 35,
    DT_FLOAT8_E4M3FN = 36,
    DT_FLOAT8_E8M0 = 37,
    DT_FLOAT6_E3M2 = 38,
    DT_FLOAT6_E2M3 = 39,
    DT_FLOAT4_E2M1 = 40,
    DT_FLOAT4_E1M2 = 41,
    DT_HIFLOAT4 = 42,
    DT_MAX = 43
};

enum Format {
    FORMAT_NCHW = 0,
    FORMAT_NHWC = 1,
    FORMAT_ND = 2,
    FORMAT_NC1HWC0 = 3,
    FORMAT_FRACTAL_Z = 4,
    FORMAT_HWCN = 16,
    FORMAT_NDHWC = 27,
    FORMAT_FRACTAL_NZ = 29,
    FORMAT_NCDHW = 30,
    FORMAT_DHWCN = 31,
    FORMAT_NDC1HWC0 = 32,
    FORMAT_RESERVED = 40,
    FORMAT_NCL = 47,
    FORMAT_END = 55,
    FORMAT_MAX = 255
};

/// GetSizeByDataType returns this number plus the bits of an element, if an element has less than a
/// byte.
const int kDataTypeSizeBitOffset = 1000;

/// Returns the bytes of one element, or kDataTypeSizeBitOffset plus its bits if it has less than a
/// byte; -1 for a type without a size (DT_STRING, DT_STRING_REF, DT_UNDEFINED) and for a number
/// that is no type.
inline int GetSizeByDataType(DataType dataType) {
    switch (dataType) {
        case DT_INT8:
        case DT_UINT8:
        case DT_BOOL:
        case DT_DUAL_SUB_INT8:
        case DT_DUAL_SUB_UINT8:
        case DT_QINT8:
        case DT_QUINT8:
        case DT_HIFLOAT8:
        case DT_FLOAT8_E5M2:
        case DT_FLOAT8_E4M3FN:
        case DT_FLOAT8_E8M0:
            return 1;
        case DT_FLOAT16:
        case DT_BF16:
        case DT_INT16:
        case DT_UINT16:
        case DT_QINT16:
        case DT_QUINT16:
            return 2;
        case DT_FLOAT:
        case DT_INT32:
        case DT_UINT32:
        case DT_QINT32:
        case DT_COMPLEX32:
            return 4;
        case DT_DUAL:
            return 5;
        case DT_INT64:
        case DT_UINT64:
        case DT_DOUBLE:
        case DT_COMPLEX64:
        case DT_RESOURCE:
        case DT_VARIANT:
            return 8;
        case DT_COMPLEX128:
            return 16;
        case DT_UINT1:
            return kDataTypeSizeBitOffset + 1;
        case DT_INT2:
        case DT_UINT2:
            return kDataTypeSizeBitOffset + 2;
        case DT_INT4:
        case DT_FLOAT4_E2M1:
        case DT_FLOAT4_E1M2:
        case DT_HIFLOAT4:
            return kDataTypeSizeBitOffset + 4;
        case DT_FLOAT6_E3M2:
        case DT_FLOAT6_E2M3:
            return kDataTypeSizeBitOffset + 6;
        default:
            return -1;
    }
}

/// Returns the bytes of element_count elements. Elements of less than a byte are packed, and the
/// result is rounded up to whole bytes. Returns -1 for a negative count, a type without a size, and
/// more than INT64_MAX bytes.
ADVSTEP_GRAPH_API int64_t GetSizeInBytes(int64_t element_count, DataType dataType);

/// The place of a tensor. A description keeps it; it has no effect.
enum Placement { kPlacementHost = 0, kPlacementDevice = 1, kPlacementEnd = 2 };

}  // namespace ge

#endif  // ADVSTEP_GRAPH_TYPES_H_
