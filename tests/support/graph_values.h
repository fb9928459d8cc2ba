// SPDX-License-Identifier: Apache-2.0
// Tensors of graph mode and the values of tests: int64 in either, whatever the data type.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_GRAPH_VALUES_H_
#define ADVANCE_STEP_TESTS_SUPPORT_GRAPH_VALUES_H_

#include <cstring>
#include <string>
#include <vector>

#include "graph/tensor.h"

namespace support {

// The low bytes of little-endian values.
inline ge::Tensor MakeGraphTensor(const std::vector<int64_t>& shape,
                                  const std::vector<int64_t>& values,
                                  ge::DataType dataType = ge::DT_INT64) {
    const size_t size = dataType == ge::DT_BOOL ? 1 : dataType == ge::DT_INT32 ? 4 : 8;
    std::vector<uint8_t> bytes(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
        std::memcpy(&bytes[i * size], &values[i], size);
    }
    return ge::Tensor(ge::TensorDesc(ge::Shape(shape), ge::FORMAT_ND, dataType), bytes);
}

inline std::vector<int64_t> ValuesOf(const ge::Tensor& tensor) {
    const ge::DataType dataType = tensor.GetTensorDesc().GetDataType();
    const size_t size = dataType == ge::DT_BOOL ? 1 : dataType == ge::DT_INT32 ? 4 : 8;
    std::vector<int64_t> values;
    for (size_t at = 0; at + size <= tensor.GetSize(); at += size) {
        const uint8_t* from = tensor.GetData() + at;
        if (size == 1) {
            values.push_back(*from);
        } else if (size == 4) {
            int32_t narrow = 0;
            std::memcpy(&narrow, from, size);
            values.push_back(narrow);
        } else {
            int64_t value = 0;
            std::memcpy(&value, from, size);
            values.push_back(value);
        }
    }
    return values;
}

inline std::vector<std::vector<int64_t>> ValuesOf(const std::vector<ge::Tensor>& tensors) {
    std::vector<std::vector<int64_t>> values;
    for (const ge::Tensor& tensor : tensors) {
        values.push_back(ValuesOf(tensor));
    }
    return values;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_GRAPH_VALUES_H_
