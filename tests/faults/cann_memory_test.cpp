// SPDX-License-Identifier: Apache-2.0
// Attributes of operators by name while memory is short: each is whole or not set.
#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "acl/acl_op.h"
#include "faults/counted_allocations.h"

namespace {

// The message of a refused operator shows its attributes.
std::string AttributesOf(aclopAttr* attr) {
    EXPECT_EQ(aclopExecuteV2("Name", 0, nullptr, nullptr, 0, nullptr, nullptr, attr, nullptr),
              ACL_ERROR_API_NOT_SUPPORT);
    const std::string message = aclGetRecentErrMsg();
    const size_t begin = message.find("a = ");
    return begin == std::string::npos ? "" : message.substr(begin);
}

// Every allocation fails in turn, alone and with all after it.
TEST(OperatorMemory, AnAttributeIsWholeOrNotSet) {
    const std::string text(100, 'x');
    for (const uint64_t count : {uint64_t{1}, UINT64_MAX}) {
        uint64_t struck = 1;
        for (uint64_t n = 1; struck != 0 && !HasFailure(); ++n) {
            SCOPED_TRACE(n);
            aclopAttr* const attr = aclopCreateAttr();
            ASSERT_NE(attr, nullptr);
            faults::FailAllocationsOfThread(n, count);
            const aclError code = aclopSetAttrString(attr, "a", text.c_str());
            struck = faults::FailedAllocationsOfThread();
            faults::FailAllocationsOfThread(0, 0);
            if (code == ACL_SUCCESS) {
                EXPECT_EQ(AttributesOf(attr), "a = \"" + text + "\"");
            } else {
                EXPECT_EQ(code, ACL_ERROR_BAD_ALLOC);
                EXPECT_EQ(AttributesOf(attr), "");
            }
            aclopDestroyAttr(attr);
        }
    }
}

}  // namespace
