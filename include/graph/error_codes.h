// SPDX-License-Identifier: Apache-2.0
/// Codes of the calls that build a graph. The codes of sessions are in ge/ge_api_error_codes.h.
#ifndef ADVSTEP_GRAPH_ERROR_CODES_H_
#define ADVSTEP_GRAPH_ERROR_CODES_H_

#include <cstdint>

namespace ge {

using graphStatus = uint32_t;

const graphStatus GRAPH_SUCCESS = 0;
const graphStatus GRAPH_FAILED = 0xFFFFFFFF;
const graphStatus GRAPH_PARAM_INVALID = 50331649;

}  // namespace ge

#endif  // ADVSTEP_GRAPH_ERROR_CODES_H_
