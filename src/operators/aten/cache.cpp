// SPDX-License-Identifier: Apache-2.0
// Writes and reads of rows of caches by their places.

#include "src/operators/aten/cache.h"

namespace advstep_operators {
namespace {

// Returns indices [rows, depth] in int64. Refuses a row with a place that is none of the first dims
// of `of`; negative ones count from the end if `wraps`.
at::Tensor RowsOf(const at::Tensor& indices, const at::Tensor& of, const char* name, bool wraps) {
    TORCH_CHECK_VALUE(indices.dim() > 0 && indices.size(-1) <= of.dim() && indices.size(-1) > 0 &&
                          at::isIntegralType(indices.scalar_type(), false),
                      "indices is ", indices.scalar_type(), " of shape ", indices.sizes(),
                      "; expected whole numbers, with 1 to ", of.dim(), " in the last dim");
    const int64_t depth = indices.size(-1);
    at::Tensor rows = indices.to(at::kLong).reshape({-1, depth}).contiguous();
    if (rows.is_meta()) {
        return rows;
    }
    const int64_t* const places = rows.const_data_ptr<int64_t>();
    for (int64_t row = 0; row < rows.size(0); ++row) {
        for (int64_t dim = 0; dim < depth; ++dim) {
            const int64_t place = places[row * depth + dim];
            TORCH_CHECK_INDEX(
                place >= (wraps ? -of.size(dim) : 0) &&
                        place<of.size(dim), "indices has ", rows.select(0, row).numel()> 0
                    ? at::IntArrayRef(places + row * depth, static_cast<size_t>(depth))
                    : at::IntArrayRef(),
                " in row ", row, "; expected places of ", name, ", ",
                of.sizes().slice(0, static_cast<size_t>(depth)));
        }
    }
    return rows;
}

c10::List<std::optional<at::Tensor>> Columns(const at::Tensor& rows) {
    c10::List<std::optional<at::Tensor>> list;
    for (int64_t dim = 0; dim < rows.size(1); ++dim) {
        list.push_back(rows.select(1, dim));
    }
    return list;
}

// Returns the tensor that a call writes into, whose elements have memory of their own.
at::Tensor Written(Call& call, const char* name) {
    const int place = call.PlaceOf(name);
    const at::Tensor tensor = call.Tensor(place);
    call.CheckResult(place, tensor);
    return tensor;
}

// Returns the updates, in memory of their own if they share the tensor's.
at::Tensor Apart(const at::Tensor& updates, const at::Tensor& from) {
    const at::Tensor same = updates.to(from.scalar_type());
    const auto* const begin = static_cast<const uint8_t*>(from.storage().data());
    const auto* const own = static_cast<const uint8_t*>(same.storage().data());
    const bool shares =
        begin < own + same.storage().nbytes() && own < begin + from.storage().nbytes();
    return shares ? same.clone() : same;
}

}  // namespace

void ScatterNdUpdate(Call& call) {
    const Named named(call);
    at::Tensor var = Written(call, "varRef");
    const at::Tensor indices = named.Tensor("indices");
    const at::Tensor updates = named.Tensor("updates");
    const at::Tensor rows = RowsOf(indices, var, "varRef", false);
    std::vector<int64_t> shape = indices.sizes().vec();
    shape.pop_back();
    const at::IntArrayRef behind = var.sizes().slice(static_cast<size_t>(rows.size(1)));
    shape.insert(shape.end(), behind.begin(), behind.end());
    CheckShape("updates", updates, shape);
    shape = behind.vec();
    shape.insert(shape.begin(), rows.size(0));
    if (!var.is_meta()) {
        var.index_put_(Columns(rows), Apart(updates, var).reshape(shape));
    }
}

void ScatterUpdate(Call& call) {
    const Named named(call);
    at::Tensor data = Written(call, "data");
    const at::Tensor indices = named.Tensor("indices");
    const at::Tensor updates = named.Tensor("updates");
    const int64_t axis = DimOf("axis", named.Int("axis"), data);
    TORCH_CHECK_VALUE(axis > 0, "axis is ", named.Int("axis"),
                      "; expected one behind the first dim, which is that of requests");
    TORCH_CHECK_VALUE(updates.dim() == data.dim() && updates.size(axis) <= data.size(axis),
                      "updates has shape ", updates.sizes(), "; expected at most that of data, ",
                      data.sizes());
    std::vector<int64_t> shape = data.sizes().vec();
    shape[0] = updates.size(0);
    shape[static_cast<size_t>(axis)] = updates.size(axis);
    CheckShape("updates", updates, shape);
    const bool pairs = indices.dim() == 2;
    TORCH_CHECK_VALUE(
        indices.dim() <= 2 && indices.dim() > 0 && indices.size(0) == updates.size(0) &&
            (!pairs || indices.size(1) == 2) && at::isIntegralType(indices.scalar_type(), false),
        "indices is ", indices.scalar_type(), " of shape ", indices.sizes(),
        "; expected a whole number, or two, for each of the ", updates.size(0), " updates");
    if (data.is_meta()) {
        return;
    }
    const at::Tensor places = indices.to(at::kLong).contiguous();
    const int64_t* const numbers = places.const_data_ptr<int64_t>();
    const int64_t length = updates.size(axis);
    const auto requestOf = [&](int64_t row) { return pairs ? numbers[2 * row] : row; };
    const auto placeOf = [&](int64_t row) { return pairs ? numbers[2 * row + 1] : numbers[row]; };
    for (int64_t row = 0; row < updates.size(0); ++row) {
        TORCH_CHECK_INDEX(requestOf(row) >= 0 && requestOf(row) < data.size(0) &&
                              placeOf(row) >= 0 && placeOf(row) <= data.size(axis) - length,
                          "indices has request ", requestOf(row), " and place ", placeOf(row),
                          " in row ", row, "; expected a request below ", data.size(0),
                          " and a place of 0 to ", data.size(axis) - length);
    }
    const at::Tensor own = Apart(updates, data);
    for (int64_t row = 0; row < updates.size(0); ++row) {
        data.select(0, requestOf(row))
            .narrow(axis - 1, placeOf(row), length)
            .copy_(own.select(0, row));
    }
}

void GatherNd(Call& call) {
    Named named(call);
    const at::Tensor self = named.Tensor("self");
    const at::Tensor indices = named.Tensor("indices");
    const bool wraps = named.Flag("negativeIndexSupport");
    const at::Tensor rows = RowsOf(indices, self, "self", wraps);
    std::vector<int64_t> shape = indices.sizes().vec();
    shape.pop_back();
    const at::IntArrayRef behind = self.sizes().slice(static_cast<size_t>(rows.size(1)));
    shape.insert(shape.end(), behind.begin(), behind.end());
    named.Put({{"out", at::index(self, Columns(rows)).reshape(shape)}});
}

}  // namespace advstep_operators
