// SPDX-License-Identifier: Apache-2.0
/// Another name of graph/error_codes.h.
#ifndef ADVSTEP_GE_GE_ERROR_CODES_H_
#define ADVSTEP_GE_GE_ERROR_CODES_H_

#include "../graph/error_codes.h"

#endif  // ADVSTEP_GE_GE_ERROR_CODES_H_
