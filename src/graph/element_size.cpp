// SPDX-License-Identifier: Apache-2.0
// Names of data types, and the bytes of tensors.

#include "src/graph/element_size.h"

#include <array>
#include <limits>

namespace advstep::graph {
namespace {

// Indexed by the value of the enumeration; 5 is not in use.
constexpr std::array<const char*, ge::DT_MAX> kNames = {{
    "FLOAT",         "FLOAT16",     "INT8",          "INT32",          "UINT8",       "undefined",
    "INT16",         "UINT16",      "UINT32",        "INT64",          "UINT64",      "DOUBLE",
    "BOOL",          "STRING",      "DUAL_SUB_INT8", "DUAL_SUB_UINT8", "COMPLEX64",   "COMPLEX128",
    "QINT8",         "QINT16",      "QINT32",        "QUINT8",         "QUINT16",     "RESOURCE",
    "STRING_REF",    "DUAL",        "VARIANT",       "BF16",           "UNDEFINED",   "INT4",
    "UINT1",         "INT2",        "UINT2",         "COMPLEX32",      "HIFLOAT8",    "FLOAT8_E5M2",
    "FLOAT8_E4M3FN", "FLOAT8_E8M0", "FLOAT6_E3M2",   "FLOAT6_E2M3",    "FLOAT4_E2M1", "FLOAT4_E1M2",
    "HIFLOAT4",
}};

// Returns 0 for a type without a size.
size_t BitsOf(ge::DataType dataType) {
    const int size = ge::GetSizeByDataType(dataType);
    if (size < 0) {
        return 0;
    }
    return size > ge::kDataTypeSizeBitOffset
               ? static_cast<size_t>(size - ge::kDataTypeSizeBitOffset)
               : static_cast<size_t>(size) * 8;
}

}  // namespace

const char* NameOf(ge::DataType dataType) {
    const auto index = static_cast<size_t>(dataType);
    return index < kNames.size() ? kNames[index] : "undefined";
}

std::optional<size_t> ByteSize(const std::vector<int64_t>& dims, ge::DataType dataType) {
    size_t bits = BitsOf(dataType);
    if (bits == 0) {
        return std::nullopt;
    }
    bool isEmpty = false;
    for (const int64_t dim : dims) {
        if (dim < 0) {
            return std::nullopt;
        }
        isEmpty = isEmpty || dim == 0;
    }
    if (isEmpty) {
        return 0;
    }
    size_t count = 1;
    for (const int64_t dim : dims) {
        if (__builtin_mul_overflow(count, static_cast<size_t>(dim), &count)) {
            return std::nullopt;
        }
    }
    // Whole groups of eight elements have as many bytes as an element has bits.
    size_t bytes = 0;
    const size_t rest = count % 8 * bits;
    if (__builtin_mul_overflow(count / 8, bits, &bytes) ||
        __builtin_add_overflow(bytes, rest / 8 + (rest % 8 == 0 ? 0 : 1), &bytes) ||
        bytes > static_cast<size_t>(std::numeric_limits<int64_t>::max())) {
        return std::nullopt;
    }
    return bytes;
}

std::string ShapeText(const std::vector<int64_t>& dims) {
    std::string text = "[";
    for (const int64_t dim : dims) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
    }
    return text + "]";
}

}  // namespace advstep::graph

namespace ge {

int64_t GetSizeInBytes(int64_t element_count, DataType dataType) {
    const std::optional<size_t> bytes = advstep::graph::ByteSize({element_count}, dataType);
    return bytes ? static_cast<int64_t>(*bytes) : -1;
}

}  // namespace ge
