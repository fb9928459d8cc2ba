// SPDX-License-Identifier: Apache-2.0
/// Types, return codes, error messages and objects shared by every acl, aclrt and aclnn call.
#ifndef ADVSTEP_ACL_ACL_BASE_H_
#define ADVSTEP_ACL_ACL_BASE_H_

#include "acl/acl_base_mdl.h"
#include "acl/acl_base_rt.h"
#include "acl/error_codes/rt_error_codes.h"

#endif  /* ADVSTEP_ACL_ACL_BASE_H_ */
