// SPDX-License-Identifier: Apache-2.0
// Finds the runs of strided tensors.

#include "src/aclnn/use_runs.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace advstep {

void SetRuns(const TensorView& view, Use* use) {
    if (view.packedBytes >= 0) {
        return;
    }
    if (view.itemSize <= 0) {
        use->inexact = true;  // elements of less than a byte
        return;
    }
    std::vector<std::pair<int64_t, int64_t>> axes;  // stride, dim
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        if (view.dims[axis] > 1 && view.strides[axis] != 0) {
            axes.emplace_back(view.strides[axis], view.dims[axis]);
        }
    }
    std::sort(axes.begin(), axes.end());
    int64_t run = 1;  // elements
    size_t next = 0;
    for (; next < axes.size() && axes[next].first <= run; ++next) {
        run += axes[next].first * (axes[next].second - 1);
    }
    if (next == axes.size()) {
        return;
    }
    const auto [stride, rows] = axes[next];
    int64_t allRows = rows;
    for (++next; next < axes.size() && axes[next].first == stride * allRows; ++next) {
        allRows *= axes[next].second;
    }
    use->runs = {static_cast<uint64_t>(allRows), static_cast<uint64_t>(run * view.itemSize),
                 static_cast<uint64_t>(stride * view.itemSize)};
    for (; next < axes.size(); ++next) {
        use->runs.outer.emplace_back(axes[next].second, axes[next].first * view.itemSize);
    }
}

}  // namespace advstep
