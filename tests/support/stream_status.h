// SPDX-License-Identifier: Apache-2.0
// What a query of a stream answers.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_STREAM_STATUS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_STREAM_STATUS_H_

#include "acl/acl.h"
#include "support/status.h"

namespace support {

inline aclrtStreamStatus QueryStream(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(stream, &status)));
    return status;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_STREAM_STATUS_H_
