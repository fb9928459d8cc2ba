// SPDX-License-Identifier: Apache-2.0
// How the tensors of AdvanceStep and its kin lie in memory.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_OP_LAYOUT_H_
#define ADVANCE_STEP_TESTS_SUPPORT_OP_LAYOUT_H_

#include <cstdint>

#include "aclnn/acl_meta.h"
#include "reference/advance_step_reference.h"

namespace support {

struct OpLayout {
    // One dimension more where the interface permits it: [n, 1] for [n], and for AdvanceStepV2
    // [numSeqs, w] for [numSeqs * w].
    bool columns = false;
    aclDataType lengths = ACL_INT64;  // seqLens
    aclDataType slots = ACL_INT64;    // slotMapping
    aclDataType tables = ACL_INT64;   // blockTables
    int64_t rowStride = 0;            // of blockTables; 0: maxBlocks
    int64_t viewOffset = 0;           // elements of memory in front of every view

    reference::AdvanceStepLimits Limits() const {
        reference::AdvanceStepLimits limits;
        limits.seqLens = lengths == ACL_INT32 ? INT32_MAX : INT64_MAX;
        limits.slotMapping = slots == ACL_INT32 ? INT32_MAX : INT64_MAX;
        return limits;
    }
};

// A layout with these of the tensors as int32.
inline OpLayout Int32Layout(bool lengths, bool slots, bool tables) {
    OpLayout layout;
    layout.lengths = lengths ? ACL_INT32 : ACL_INT64;
    layout.slots = slots ? ACL_INT32 : ACL_INT64;
    layout.tables = tables ? ACL_INT32 : ACL_INT64;
    return layout;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_OP_LAYOUT_H_
