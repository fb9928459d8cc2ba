// SPDX-License-Identifier: Apache-2.0
/// Types, return codes, error messages, and objects that do not depend on models.
#ifndef ADVSTEP_ACL_ACL_BASE_RT_H_
#define ADVSTEP_ACL_ACL_BASE_RT_H_

#include "acl/base/core.h"
#include "acl/base/data_buffer.h"
#include "acl/base/float16.h"
#include "acl/base/log.h"
#include "acl/base/version.h"

#endif  /* ADVSTEP_ACL_ACL_BASE_RT_H_ */
