// SPDX-License-Identifier: Apache-2.0
// The checker of Step's state. Each rule of the header is one function.

#include "advance_step/kv_invariants.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "op_kernel/step/step_rules.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kCall[] = "advstepCheckKvInvariants";
constexpr int32_t kViolation = ACL_ERROR_FAILURE;

// A check of one state. Every Check method is one rule of the header, in the order of the header.
class KvCheck {
 public:
    explicit KvCheck(const AdvStepKvState& state) : s_(state) {}

    Status Arguments() const {
        ADVSTEP_RETURN_IF_ERROR(AtLeast(0, s_.batch, "batch"));
        ADVSTEP_RETURN_IF_ERROR(AtLeast(0, s_.tableWidth, "tableWidth"));
        ADVSTEP_RETURN_IF_ERROR(AtLeast(0, s_.freeCapacity, "freeCapacity"));
        ADVSTEP_RETURN_IF_ERROR(AtLeast(1, s_.blockSize, "blockSize"));
        ADVSTEP_RETURN_IF_ERROR(AtLeast(0, s_.blockCount, "blockCount"));
        const bool anySlot = s_.batch > 0;
        ADVSTEP_RETURN_IF_ERROR(Present(anySlot, s_.stopFlags, "stopFlags"));
        ADVSTEP_RETURN_IF_ERROR(Present(anySlot, s_.seqLensThisTime, "seqLensThisTime"));
        ADVSTEP_RETURN_IF_ERROR(Present(anySlot, s_.seqLensDecoder, "seqLensDecoder"));
        ADVSTEP_RETURN_IF_ERROR(
            Present(anySlot && s_.tableWidth > 0, s_.blockTables, "blockTables"));
        ADVSTEP_RETURN_IF_ERROR(Present(anySlot, s_.encoderBlockLens, "encoderBlockLens"));
        ADVSTEP_RETURN_IF_ERROR(Present(anySlot, s_.isBlockStep, "isBlockStep"));
        ADVSTEP_RETURN_IF_ERROR(Present(anySlot, s_.stepBlockList, "stepBlockList"));
        ADVSTEP_RETURN_IF_ERROR(Present(anySlot, s_.usedListLen, "usedListLen"));
        return Present(s_.freeCapacity > 0, s_.freeList, "freeList");
    }

    Status Run() {
        ADVSTEP_RETURN_IF_ERROR(CheckCounts());
        ADVSTEP_RETURN_IF_ERROR(CheckStack());
        ADVSTEP_RETURN_IF_ERROR(CheckPreempted());
        ADVSTEP_RETURN_IF_ERROR(CheckBlocks());
        return CheckBacking();
    }

 private:
    static Status AtLeast(int64_t least, int64_t value, const char* name) {
        return value >= least ? Status()
                              : Error(ACL_ERROR_INVALID_PARAM,
                                      "state.{} is {}; expected at least {}", name, value, least);
    }

    static Status Present(bool needed, const void* pointer, const char* name) {
        return pointer != nullptr || !needed
                   ? Status()
                   : Error(ACL_ERROR_INVALID_PARAM, "state.{} is null; expected a pointer", name);
    }

    // Reads a flag, which may be any byte. Every byte except 0 is true.
    static bool Flag(const bool* flags, int64_t slot) {
        return reinterpret_cast<const unsigned char*>(flags)[slot] != 0;
    }

    bool Preempted(int64_t slot) const { return Flag(s_.isBlockStep, slot); }
    int32_t Block(int64_t slot, int64_t column) const {
        return s_.blockTables[slot * s_.tableWidth + column];
    }
    int64_t FirstDynamic(int64_t slot) const { return s_.encoderBlockLens[slot]; }
    int64_t EndDynamic(int64_t slot) const { return FirstDynamic(slot) + s_.usedListLen[slot]; }

    // Returns the violation of a rule of Step, in Step's words with the names of this structure.
    Status Broken(StepFault rule, int64_t row, int64_t first, int64_t second = 0) const {
        const auto dim = [](const char* name, int64_t value) {
            return fmt::format("{} = {}", name, value);
        };
        return Status(
            kViolation,
            fmt::format(fmt::runtime(StepRuleWords(static_cast<int32_t>(rule))), first, second,
                        fmt::arg("row", row), fmt::arg("B", dim("batch", s_.batch)),
                        fmt::arg("W", dim("tableWidth", s_.tableWidth)),
                        fmt::arg("F", dim("freeCapacity", s_.freeCapacity)),
                        fmt::arg("columns", s_.tableWidth), fmt::arg("blockSize", s_.blockSize)));
    }

    Status CheckCounts() const {
        if (!IsCount(s_.freeListLen, s_.freeCapacity)) {
            return Broken(StepFault::kFreeListLen, 0, s_.freeListLen);
        }
        if (!IsCount(s_.stepLens, s_.batch)) {
            return Broken(StepFault::kStepLens, 0, s_.stepLens);
        }
        for (int64_t slot = 0; slot < s_.batch; ++slot) {
            if (s_.usedListLen[slot] < 0) {
                return Broken(StepFault::kNegativeUsed, slot, s_.usedListLen[slot]);
            }
        }
        for (int64_t slot = 0; slot < s_.batch; ++slot) {
            const int64_t used = s_.usedListLen[slot];
            if (used > 0 && !LieInRow(FirstDynamic(slot), used, s_.tableWidth)) {
                return Broken(StepFault::kDynamicColumns, slot, FirstDynamic(slot), used);
            }
        }
        return {};
    }

    Status CheckStack() const {
        std::vector<bool> onStack(static_cast<size_t>(s_.batch));
        for (int64_t position = 0; position < s_.stepLens; ++position) {
            const int64_t slot = s_.stepBlockList[position];
            if (!IsSlot(slot, s_.batch)) {
                return Broken(StepFault::kStackEntryRange, position, slot);
            }
            if (!Preempted(slot)) {
                return Broken(StepFault::kStackEntryFlag, position, slot);
            }
            if (onStack[static_cast<size_t>(slot)]) {
                return Broken(StepFault::kStackEntryTwice, position, slot);
            }
            onStack[static_cast<size_t>(slot)] = true;
        }
        for (int64_t slot = 0; slot < s_.batch; ++slot) {
            if (Preempted(slot) && !onStack[static_cast<size_t>(slot)]) {
                return Error(
                    kViolation,
                    "slot {}: isBlockStep is true and the slot is not on the stack; expected it in "
                    "the first stepLens = {} entries of stepBlockList",
                    slot, s_.stepLens);
            }
        }
        return {};
    }

    Status CheckPreempted() const {
        for (int64_t slot = 0; slot < s_.batch; ++slot) {
            for (int64_t column = FirstDynamic(slot); Preempted(slot) && column < EndDynamic(slot);
                 ++column) {
                if (Block(slot, column) != -1) {
                    return Error(
                        kViolation,
                        "slot {}: column {} holds block {} and the slot is preempted; expected -1",
                        slot, column, Block(slot, column));
                }
            }
        }
        return {};
    }

    Status CheckBlocks() {
        placeOf_.assign(static_cast<size_t>(s_.blockCount), kNowhere);
        for (int64_t index = 0; index < s_.freeListLen; ++index) {
            ADVSTEP_RETURN_IF_ERROR(Found(s_.freeList[index], index));
        }
        for (int64_t slot = 0; slot < s_.batch; ++slot) {
            for (int64_t column = FirstDynamic(slot); !Preempted(slot) && column < EndDynamic(slot);
                 ++column) {
                ADVSTEP_RETURN_IF_ERROR(
                    Found(Block(slot, column), s_.freeCapacity + slot * s_.tableWidth + column));
            }
        }
        for (size_t index = 0; index < placeOf_.size(); ++index) {
            if (placeOf_[index] == kNowhere) {
                return Error(
                    kViolation,
                    "block {} is neither on freeList nor in a dynamic column; expected it once",
                    s_.firstBlock + static_cast<int64_t>(index));
            }
        }
        return {};
    }

    // Returns the name of a place. Places below freeCapacity are indexes of freeList; the others
    // are cells of blockTables.
    std::string NameOf(int64_t place) const {
        if (place < s_.freeCapacity) {
            return "freeList[" + std::to_string(place) + "]";
        }
        const int64_t cell = place - s_.freeCapacity;
        return "slot " + std::to_string(cell / s_.tableWidth) + ": column " +
               std::to_string(cell % s_.tableWidth);
    }

    // Notes that a block was found at a place.
    Status Found(int32_t block, int64_t place) {
        const int64_t index = int64_t{block} - s_.firstBlock;
        if (index < 0 || index >= s_.blockCount) {
            return Error(kViolation, "{} holds block {}; expected {} <= block < {}", NameOf(place),
                         block, s_.firstBlock, int64_t{s_.firstBlock} + s_.blockCount);
        }
        int64_t& known = placeOf_[static_cast<size_t>(index)];
        if (known != kNowhere) {
            return Error(kViolation,
                         "{} holds block {}, which {} holds too; expected every block once",
                         NameOf(place), block, NameOf(known));
        }
        known = place;
        return {};
    }

    Status CheckBacking() const {
        for (int64_t slot = 0; slot < s_.batch; ++slot) {
            if (s_.seqLensThisTime[slot] == 0 || Flag(s_.stopFlags, slot)) {
                continue;
            }
            const int64_t cached = s_.seqLensDecoder[slot];
            if (cached < 0) {
                return Broken(StepFault::kNegativeDecoder, slot, cached);
            }
            const int64_t columns = cached / s_.blockSize + (cached % s_.blockSize != 0 ? 1 : 0);
            if (columns > s_.tableWidth) {
                return Broken(StepFault::kNeededColumn, slot, cached, columns - 1);
            }
            for (int64_t column = 0; column < columns; ++column) {
                if (Block(slot, column) == -1) {
                    return Error(
                        kViolation,
                        "slot {}: column {} holds block -1 and seqLensDecoder is {} with blockSize "
                        "{}; expected a block for every cached token",
                        slot, column, cached, s_.blockSize);
                }
            }
        }
        return {};
    }

    static constexpr int64_t kNowhere = -1;

    const AdvStepKvState& s_;
    std::vector<int64_t> placeOf_;  // of each block of the pool
};

void CopyCut(std::string_view text, char* to, size_t size) {
    if (to != nullptr && size > 0) {
        const size_t length = text.copy(to, size - 1);
        to[length] = '\0';
    }
}

}  // namespace

aclError advstepCheckKvInvariants(const AdvStepKvState* state, char* violation,
                                  size_t violationSize) {
    return AclBoundary(kCall, [&]() -> Status {
        CopyCut("", violation, violationSize);
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(state, "state"));
        KvCheck check(*state);
        ADVSTEP_RETURN_IF_ERROR(check.Arguments());
        Status status = check.Run();
        CopyCut(status.message(), violation, violationSize);
        return status;
    });
}
