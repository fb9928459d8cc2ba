// SPDX-License-Identifier: Apache-2.0
// Lists the memory that queued copies and fills use.

#include "src/runtime/memory/copy_work.h"

namespace advstep {
namespace {

void List(const char* name, const void* address, size_t bytes, std::vector<Use>* uses) {
    if (bytes > 0) {
        uses->push_back({Use::Kind::kMemory, name, address, bytes});
    }
}

Work Copying(size_t recordBytes, const CopySides& sides, const Device* device) {
    Work work(recordBytes);
    work.foreign = sides.ForeignTo(device);
    if (sides.pageable) {
        work.refusal = ACL_ERROR_RT_PARAM_INVALID;
        work.refusalText =
            sides.pageableDst
                ? "dst is pageable host memory; expected pinned memory of aclrtMallocHost or "
                  "aclrtHostRegister"
                : "src is pageable host memory; expected pinned memory of aclrtMallocHost or "
                  "aclrtHostRegister";
    }
    return work;
}

}  // namespace

Work WorkOf(const CopyRequest& request, const CopySides& sides, const Device* device) {
    Work work = Copying(sizeof(CopyTask), sides, device);
    work.source = &request;
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        const auto& copy = *static_cast<const CopyRequest*>(source);
        List("dst", copy.dst, (copy.rows - 1) * copy.dpitch + copy.count, uses);
        List("src", copy.src, (copy.rows - 1) * copy.spitch + copy.count, uses);
    };
    return work;
}

Work WorkOf(const CopyBatch& batch, size_t recordBytes, const CopySides& sides,
            const Device* device) {
    Work work = Copying(recordBytes, sides, device);
    work.source = &batch;
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        const auto& copies = *static_cast<const CopyBatch*>(source);
        for (size_t i = 0; i < copies.count; ++i) {
            List("dsts", copies.dsts[i], copies.sizes[i], uses);
            List("srcs", copies.srcs[i], copies.sizes[i], uses);
        }
    };
    return work;
}

Work WorkOf(const FillRange& range) {
    Work work(sizeof(FillTask));
    work.source = &range;
    work.foreign = range.foreign;
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        const auto& fill = *static_cast<const FillRange*>(source);
        List("devPtr", fill.address, fill.count, uses);
    };
    return work;
}

}  // namespace advstep
