// SPDX-License-Identifier: Apache-2.0
// Groups of rows, from where they end or how many they have.

#include "src/operators/aten/groups.h"

namespace advstep_operators {

std::vector<int64_t> CountsOf(const char* name, at::IntArrayRef list, int64_t type, int64_t rows) {
    std::vector<int64_t> counts;
    int64_t before = 0;
    for (const int64_t number : list) {
        const int64_t count = type == kEnds ? number - before : number;
        TORCH_CHECK_INDEX(number >= 0 && count >= 0 && count <= rows - before, name, " is ", list,
                          "; expected ", type == kEnds ? "ascending ends" : "numbers",
                          " of rows, of ", rows, " rows together at most");
        counts.push_back(count);
        before += count;
    }
    return counts;
}

std::vector<int64_t> CountsOf(const char* name, const at::Tensor& list, int64_t type,
                              int64_t rows) {
    const at::Tensor numbers = list.to(at::kLong).contiguous();
    const int64_t* const data = numbers.const_data_ptr<int64_t>();
    return CountsOf(name, at::IntArrayRef(data, static_cast<size_t>(numbers.numel())), type, rows);
}

at::Tensor RowsOfGroups(const char* name, const at::Tensor& list, int64_t type, int64_t rows,
                        const at::Tensor& like) {
    TORCH_CHECK_VALUE(
        list.dim() == 1 && list.numel() > 0 && at::isIntegralType(list.scalar_type(), false), name,
        " is ", list.scalar_type(), " of shape ", list.sizes(),
        "; expected whole numbers, one for each group");
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(like.device());
    if (list.is_meta()) {
        return at::zeros({rows}, options);
    }
    const at::Tensor found = at::full({rows}, -1, options);
    int64_t begin = 0;
    int64_t group = 0;
    for (const int64_t count : CountsOf(name, list, type, rows)) {
        found.narrow(0, begin, count).fill_(group++);
        begin += count;
    }
    return found;
}

}  // namespace advstep_operators
