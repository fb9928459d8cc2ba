// SPDX-License-Identifier: Apache-2.0
// The level of the log, for a library of src/cann.

#include "src/advstep/client_log.h"

#include "src/base/log.h"

int32_t advstepLogEnabled(aclLogLevel level) {
    // The numbers of acl rise from debug to error, those of the log fall.
    return advstep::LogEnabled(static_cast<advstep::LogLevel>(ACL_ERROR - level)) ? 1 : 0;
}
