// SPDX-License-Identifier: Apache-2.0
// The two forms of most copies.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_COPY_FORM_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_COPY_FORM_H_

namespace conformance {

enum class Form { kNow, kInStream };

}  // namespace conformance

#endif
