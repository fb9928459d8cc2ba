// SPDX-License-Identifier: Apache-2.0
// A small operator, planned by hand: out[i] += in[i], with a table that it only names.
#ifndef ADVANCE_STEP_TESTS_UNIT_ACLNN_PLAN_BENCH_H_
#define ADVANCE_STEP_TESTS_UNIT_ACLNN_PLAN_BENCH_H_

#include <cstddef>
#include <cstring>
#include <string>

#include "src/aclnn/executor.h"
#include "src/aclnn/run.h"

namespace unit {

struct AddPayload {
    int64_t count;
    int64_t* out;
    const int64_t* in;
    const int64_t* table;
    int64_t* extra;
    uint8_t* workspace;
};

inline constexpr char kAddCall[] = "aclnnAdd";
inline constexpr int32_t kAddFault = 507035;

// Core 0 does it all; in[0] == -1 is a fault.
inline const advstep::KernelProgram& AddProgram() {
    static const advstep::KernelProgram kProgram = [] {
        advstep::KernelProgram program;
        program.call = kAddCall;
        program.describe = [](const advstep::Fault& fault, const void*, advstep::FaultText* text) {
            text->Set(kAddFault, "query " + std::to_string(fault.row));
        };
        program.phases[program.phaseCount++].run = [](const advstep::CoreContext& core,
                                                      const void* payload) {
            const auto& p = *static_cast<const AddPayload*>(payload);
            if (p.in[0] == -1) {
                core.Report(0, 0, {});
                return;
            }
            if (p.workspace != nullptr) {
                std::memset(p.workspace, 0x5A, 64);
            }
            for (int64_t i = 0; i < p.count; ++i) {
                p.out[i] += p.in[i];
            }
        };
        return program;
    }();
    return kProgram;
}

// Tensors in signature order: out (written), in, table [2, 2] with rows 4 apart, extra (written).
class PlanBench {
 public:
    explicit PlanBench(const advstep::Device* device) {
        plan_.launch.program = &AddProgram();
        plan_.launch.device = device;
        plan_.launch.coreCount = 1;
        plan_.launch.rows = 4;
        plan_.launch.payloadBytes = sizeof(AddPayload);
        for (advstep::TensorView& view : views_) {
            view.dataType = ACL_INT64;
            view.format = ACL_FORMAT_ND;
            view.rank = 1;
            view.dims = row_;
            view.strides = rowStrides_;
            view.itemSize = 8;
        }
        Table().rank = 2;
        Table().dims = table_;
        Table().strides = tableStrides_;
    }
    PlanBench(const PlanBench&) = delete;
    PlanBench& operator=(const PlanBench&) = delete;

    advstep::TensorView& Out() { return views_[0]; }
    advstep::TensorView& In() { return views_[1]; }
    advstep::TensorView& Table() { return views_[2]; }
    advstep::TensorView& Extra() { return views_[3]; }
    uint64_t& WorkspaceBytes() { return plan_.workspaceBytes; }
    // From here on the kernel fills 64 bytes of workspace.
    void UseWorkspace() {
        advance_step::op::WorkspaceLayout layout;
        layout.Book<uint8_t>(64);
        plan_.workspaceBytes = layout.bytes();
        plan_.workspaceAt = offsetof(AddPayload, workspace);
    }

    // Sets the storage addresses in signature order.
    void Place(void* out, void* in, void* table, void* extra) {
        Out().data = static_cast<uint8_t*>(out);
        In().data = static_cast<uint8_t*>(in);
        Table().data = static_cast<uint8_t*>(table);
        Extra().data = static_cast<uint8_t*>(extra);
    }

    // The key of the plans from here on.
    void UseKey(const advstep::PlanKey* key) { plan_.key = key; }

    advstep::Status Make(aclOpExecutor** executor) {
        const AddPayload payload{4, nullptr, nullptr, nullptr, nullptr, nullptr};
        static const advstep::TensorSlot kSlots[] = {{"out", true, offsetof(AddPayload, out)},
                                                     {"in", false, offsetof(AddPayload, in)},
                                                     {"table", false, offsetof(AddPayload, table)},
                                                     {"extra", true, offsetof(AddPayload, extra)}};
        plan_.payload = &payload;
        plan_.slots = kSlots;
        plan_.views = views_;
        plan_.tensorCount = 4;
        return advstep::MakeExecutor(plan_, executor);
    }

 private:
    const int64_t row_[1] = {4};
    const int64_t rowStrides_[1] = {1};
    const int64_t table_[2] = {2, 2};
    const int64_t tableStrides_[2] = {4, 1};
    advstep::TensorView views_[4];
    advstep::Plan plan_;
};

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_ACLNN_PLAN_BENCH_H_
