// SPDX-License-Identifier: Apache-2.0
// The message of the last error, and the sizes of data types.

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"

using namespace advstep;

size_t aclDataTypeSize(aclDataType dataType) { return SizeOf(dataType); }

const char* aclGetRecentErrMsg(void) { return TakeRecentMessage(); }
