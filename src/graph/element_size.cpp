// SPDX-License-Identifier: Apache-2.0
// The table of graph data types: names and bits per element.

#include "src/graph/element_size.h"

#include <array>

namespace advstep::graph {
namespace {

struct DataTypeFacts {
    const char* name;
    size_t bits;  // of one element; 0: no size
};

// Indexed by the value of the enumeration; 5 is not in use.
constexpr std::array<DataTypeFacts, ge::DT_MAX> kFacts = {{
    {"FLOAT", 32},        {"FLOAT16", 16},     {"INT8", 8},          {"INT32", 32},
    {"UINT8", 8},         {"undefined", 0},    {"INT16", 16},        {"UINT16", 16},
    {"UINT32", 32},       {"INT64", 64},       {"UINT64", 64},       {"DOUBLE", 64},
    {"BOOL", 8},          {"STRING", 0},       {"DUAL_SUB_INT8", 8}, {"DUAL_SUB_UINT8", 8},
    {"COMPLEX64", 64},    {"COMPLEX128", 128}, {"QINT8", 8},         {"QINT16", 16},
    {"QINT32", 32},       {"QUINT8", 8},       {"QUINT16", 16},      {"RESOURCE", 0},
    {"STRING_REF", 0},    {"DUAL", 0},         {"VARIANT", 0},       {"BF16", 16},
    {"UNDEFINED", 0},     {"INT4", 4},         {"UINT1", 1},         {"INT2", 2},
    {"UINT2", 2},         {"COMPLEX32", 32},   {"HIFLOAT8", 8},      {"FLOAT8_E5M2", 8},
    {"FLOAT8_E4M3FN", 8}, {"FLOAT8_E8M0", 8},  {"FLOAT6_E3M2", 6},   {"FLOAT6_E2M3", 6},
    {"FLOAT4_E2M1", 4},   {"FLOAT4_E1M2", 4},  {"HIFLOAT4", 4},
}};

const DataTypeFacts& FactsOf(ge::DataType dataType) {
    static constexpr DataTypeFacts kNone = {"undefined", 0};
    const auto index = static_cast<size_t>(dataType);
    if (index >= kFacts.size()) {
        return kNone;
    }
    return kFacts[index];
}

}  // namespace

const char* NameOf(ge::DataType dataType) { return FactsOf(dataType).name; }

std::optional<size_t> ByteSize(const std::vector<int64_t>& dims, ge::DataType dataType) {
    size_t bits = FactsOf(dataType).bits;
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
    for (const int64_t dim : dims) {
        if (!isEmpty && __builtin_mul_overflow(bits, static_cast<size_t>(dim), &bits)) {
            return std::nullopt;
        }
    }
    return isEmpty ? 0 : bits / 8 + (bits % 8 == 0 ? 0 : 1);
}

std::string ShapeText(const std::vector<int64_t>& dims) {
    std::string text = "[";
    for (const int64_t dim : dims) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
    }
    return text + "]";
}

}  // namespace advstep::graph
