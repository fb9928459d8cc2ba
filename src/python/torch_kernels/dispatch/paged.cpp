// SPDX-License-Identifier: Apache-2.0
// Rows into slots of a cache, and blocks out of it.

#include "torch_kernels/dispatch/paged.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <torch/library.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "torch_kernels/dispatch/host_kernel.h"

namespace advstep_torch {
namespace {

// Refuses a cache that cannot take the rows, or that overlaps itself or one of the others.
void CheckCache(const char* name, const at::Tensor& cache, const at::Tensor& rows,
                const at::Tensor& slots, at::ArrayRef<at::Tensor> others) {
    TORCH_CHECK_VALUE(
        cache.dim() >= 2 && cache.dtype() == rows.dtype() && rows.dim() == cache.dim() - 1 &&
            rows.size(0) == slots.numel() && rows.sizes().slice(1) == cache.sizes().slice(2),
        "scatter_rows_: ", name, "_cache is ", cache.dtype(), cache.sizes(), " and ", name, " ",
        rows.dtype(), rows.sizes(),
        "; expected caches [blocks, size, ...] and rows [slots, ...] of one dtype, and ",
        slots.numel(), " slots");
    TORCH_CHECK_VALUE(at::has_internal_overlap(cache) != at::MemOverlap::Yes,
                      "scatter_rows_: ", name,
                      "_cache is an expanded tensor; expected elements with memory of their own");
    for (const at::Tensor& other : others) {
        const at::MemOverlapStatus status = at::get_overlap_status(cache, other);
        const bool same = cache.numel() != 0 && other.numel() != 0 &&
                          cache.const_data_ptr() == other.const_data_ptr();
        TORCH_CHECK_VALUE(status != at::MemOverlapStatus::Full &&
                              status != at::MemOverlapStatus::Partial && !same,
                          "scatter_rows_: ", name, "_cache ", cache.sizes(),
                          " overlaps an argument ", other.sizes(), "; expected memory of its own");
    }
}

// Checks all that is known without the slots, before either cache is written.
void CheckScatter(const at::Tensor& keyCache, const at::Tensor& valueCache, const at::Tensor& key,
                  const at::Tensor& value, const at::Tensor& slots) {
    TORCH_CHECK_VALUE(slots.dim() == 1 && (slots.dtype() == at::kInt || slots.dtype() == at::kLong),
                      "scatter_rows_: slots is ", slots.dtype(), slots.sizes(),
                      "; expected int32 or int64 [tokens]");
    CheckCache("key", keyCache, key, slots, {valueCache, key, value, slots});
    CheckCache("value", valueCache, value, slots, {key, value, slots});
    TORCH_CHECK_VALUE(keyCache.sizes().slice(0, 2) == valueCache.sizes().slice(0, 2),
                      "scatter_rows_: value_cache is ", valueCache.sizes(),
                      "; expected the blocks and size of key_cache, ",
                      keyCache.sizes().slice(0, 2));
}

// cache[slot / size][slot % size] = row for both caches, which are [blocks, size, ...]. A slot
// that is out of range is an error with its row, and then nothing has been written.
void ScatterRows(const at::Tensor& keyCache, const at::Tensor& valueCache, const at::Tensor& key,
                 const at::Tensor& value, const at::Tensor& slots) {
    CheckScatter(keyCache, valueCache, key, value, slots);
    const int64_t size = keyCache.size(1);
    const int64_t count = keyCache.size(0) * size;
    const at::Tensor wide = slots.to(at::kLong).contiguous();
    const int64_t* const slot = wide.const_data_ptr<int64_t>();
    for (int64_t row = 0; row < wide.numel(); ++row) {
        TORCH_CHECK_INDEX(slot[row] >= 0 && slot[row] < count,
                          "slot_mapping of npu_scatter_pa_kv_cache: row ", row, " has slot ",
                          slot[row], "; expected 0 <= slot < ", count, ", the number of slots (",
                          keyCache.size(0), " blocks of ", size, ")");
    }
    if (wide.numel() == 0) {
        return;
    }
    const at::Tensor block = at::floor_divide(wide, size);
    const c10::List<std::optional<at::Tensor>> place({block, wide - block * size});
    keyCache.index_put_(place, key);
    valueCache.index_put_(place, value);
}

// Refuses lengths that would have the table read beyond its end.
void CheckLengths(const at::Tensor& cache, const at::Tensor& table, c10::IntArrayRef lengths) {
    const auto requests = static_cast<int64_t>(lengths.size());
    TORCH_CHECK_VALUE(table.dim() == 2 && table.size(0) == requests, "gather_blocks: table is ",
                      table.sizes(), "; expected a row for each of the ", requests, " lengths");
    const int64_t most = table.size(1) * cache.size(1);
    for (const int64_t length : lengths) {
        TORCH_CHECK_VALUE(length >= 0 && length <= most, "gather_blocks: a length is ", length,
                          "; expected 0 <= length <= ", most, ", the tokens of a row of the table");
    }
}

// Returns an empty tensor with the shape of a gathered cache.
at::Tensor GatheredLike(const at::Tensor& cache, const at::Tensor& table,
                        c10::IntArrayRef lengths) {
    std::vector<int64_t> shape = cache.sizes().vec();
    shape[0] = table.size(0);
    shape[1] = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
    return at::empty(shape, cache.options());
}

std::tuple<at::Tensor, at::Tensor> GatheredShapes(const at::Tensor& keyCache,
                                                  const at::Tensor& valueCache,
                                                  const at::Tensor& table,
                                                  c10::IntArrayRef lengths) {
    CheckLengths(keyCache, table, lengths);
    return {GatheredLike(keyCache, table, lengths), GatheredLike(valueCache, table, lengths)};
}

// Returns the tokens of each request side by side: [requests, longest, ...] from the caches
// [blocks, size, ...]. Entries of the table after a request's last block are not read, and tokens
// after its length are 0.
std::tuple<at::Tensor, at::Tensor> GatherBlocks(const at::Tensor& keyCache,
                                                const at::Tensor& valueCache,
                                                const at::Tensor& table, c10::IntArrayRef lengths) {
    const int64_t size = keyCache.size(1);
    const at::Tensor wide = table.to(at::kLong).contiguous();
    auto [keys, values] = GatheredShapes(keyCache, valueCache, table, lengths);
    keys.zero_();
    values.zero_();
    const int64_t* const entries = wide.const_data_ptr<int64_t>();
    for (int64_t row = 0; row < table.size(0); ++row) {
        const int64_t length = lengths[static_cast<size_t>(row)];
        for (int64_t begin = 0; begin < length; begin += size) {
            const int64_t column = begin / size;
            const int64_t block = entries[row * table.size(1) + column];
            TORCH_CHECK_INDEX(block >= 0 && block < keyCache.size(0),
                              "block_table of npu_fused_infer_attention_score: row ", row,
                              ", column ", column, " has block ", block, "; expected 0 <= block < ",
                              keyCache.size(0), ", the number of blocks");
            const int64_t tokens = std::min(size, length - begin);
            for (const auto& [to, from] : {std::pair(keys, keyCache), {values, valueCache}}) {
                to.select(0, row)
                    .narrow(0, begin, tokens)
                    .copy_(from.select(0, block).narrow(0, 0, tokens));
            }
        }
    }
    return {keys, values};
}

}  // namespace

void RegisterPaged() {
    // They are never destroyed: the end of a library removes its kernels, and queued work refers to
    // the descriptions.
    static auto* const library = new torch::Library(torch::Library::FRAGMENT, "advance_step",
                                                    std::nullopt, __FILE__, __LINE__);
    static auto* const operators = new std::deque<Operator>;
    library->def(
        "scatter_rows_(Tensor(a!) key_cache, Tensor(b!) value_cache, Tensor key, Tensor value, "
        "Tensor slots) -> ()");
    library->def(
        "gather_blocks(Tensor key_cache, Tensor value_cache, Tensor table, int[] lengths) -> "
        "(Tensor, Tensor)");
    library->impl("scatter_rows_", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(ScatterRows)));
    library->impl("gather_blocks", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(GatherBlocks)));
    library->impl("gather_blocks",
                  torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(GatheredShapes)));
    const std::pair<const char*, const char*> names[] = {
        {"scatter_rows_", "npu::npu_scatter_pa_kv_cache"},
        {"gather_blocks", "npu::npu_fused_infer_attention_score"}};
    for (const auto& [name, shown] : names) {
        operators->push_back(Describe(c10::Dispatcher::singleton().findSchemaOrThrow(
            (std::string("advance_step::") + name).c_str(), "")));
        operators->back().name = shown;  // in messages and in the trace
        library->impl(name, torch::dispatch(c10::DispatchKey::PrivateUse1,
                                            torch::CppFunction::makeFromBoxedFunctor(
                                                std::make_unique<HostKernel>(operators->back()))));
    }
}

}  // namespace advstep_torch
