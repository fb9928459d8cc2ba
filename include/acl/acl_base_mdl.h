// SPDX-License-Identifier: Apache-2.0
/// Objects that describe the inputs and outputs of operators and models.
#ifndef ADVSTEP_ACL_ACL_BASE_MDL_H_
#define ADVSTEP_ACL_ACL_BASE_MDL_H_

#include "acl/base/tensor_desc.h"

#endif  /* ADVSTEP_ACL_ACL_BASE_MDL_H_ */
