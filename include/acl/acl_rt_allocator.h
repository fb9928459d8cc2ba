// SPDX-License-Identifier: Apache-2.0
/// Allocators of a program, by stream: acl/rt/allocator.h.
#ifndef ADVSTEP_ACL_ACL_RT_ALLOCATOR_H_
#define ADVSTEP_ACL_ACL_RT_ALLOCATOR_H_

#include "acl/rt/allocator.h"

#endif  /* ADVSTEP_ACL_ACL_RT_ALLOCATOR_H_ */
