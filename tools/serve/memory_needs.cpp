// SPDX-License-Identifier: Apache-2.0
// Computes the sizes of a server's largest tensors and holds them against the device's memory.

#include "memory_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "device_session.h"
#include "toy_model.h"

namespace serve {
namespace {

std::string Size(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

}  // namespace

std::vector<MemoryNeed> MemoryNeeds(const Options& options, const RequestLimits& limits) {
    // Those of the slots, of the batch and of the blocks that are poisoned when they are lost.
    constexpr int64_t kBlockTables = 3;
    const auto tokens = static_cast<int64_t>(sizeof(int64_t));
    // With prefix caching, those of all slots may come at a time.
    const int64_t tokenTables = options.prefixCaching ? 2 : 1;
    const int64_t specRows = options.speculative > 0 ? options.speculative + 1 : 0;
    return {{"the KV cache",
             fmt::format("--blocks {} x --block-size {}", options.blocks, options.blockSize),
             options.blocks * options.blockSize * static_cast<int64_t>(sizeof(KvCell))},
            {"the tokens of the slots",
             fmt::format("--max-seqs {} x --max-len {}", options.maxSeqs, options.maxLen),
             tokenTables * options.maxSeqs * options.maxLen * tokens},
            {"the block tables",
             fmt::format("--max-seqs {} x --max-len {} / --block-size {}", options.maxSeqs,
                         options.maxLen, options.blockSize),
             (kBlockTables + (specRows > 0 ? 1 : 0)) * (options.maxSeqs + 1) * options.MaxBlocks() *
                 static_cast<int64_t>(sizeof(int32_t))},
            {"the generated tokens of the slots",
             fmt::format("--max-seqs {} x {} tokens of the longest generation", options.maxSeqs,
                         limits.longestGeneration),
             options.maxSeqs * (limits.longestGeneration + 1) * tokens},
            {"the speculative rows",
             fmt::format("--max-seqs {} x --speculative {}", options.maxSeqs, options.speculative),
             8 * options.maxSeqs * specRows * tokens}};
}

void ExpectDeviceMemory(const Options& options, const RequestLimits& limits) {
    size_t free = 0;
    size_t total = 0;
    Check(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
    const std::vector<MemoryNeed> needs = MemoryNeeds(options, limits);
    int64_t sum = 0;
    for (const MemoryNeed& need : needs) {
        sum += need.bytes;
    }
    if (sum <= static_cast<int64_t>(free)) {
        return;
    }
    const MemoryNeed& most = *std::max_element(
        needs.begin(), needs.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    throw std::runtime_error(fmt::format(
        "the server needs {} of device memory, {} of it for {} ({}); the device has {} free of {} "
        "(ADVANCE_STEP_MEMORY)",
        Size(static_cast<double>(sum)), Size(static_cast<double>(most.bytes)), most.what,
        most.options, Size(static_cast<double>(free)), Size(static_cast<double>(total))));
}

}  // namespace serve
