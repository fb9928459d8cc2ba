// SPDX-License-Identifier: Apache-2.0
/// Another name of graph/error_codes.h.
#ifndef ADVSTEP_GRAPH_GE_ERROR_CODES_H_
#define ADVSTEP_GRAPH_GE_ERROR_CODES_H_

#include "error_codes.h"

#endif  // ADVSTEP_GRAPH_GE_ERROR_CODES_H_
