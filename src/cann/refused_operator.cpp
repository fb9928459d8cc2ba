// SPDX-License-Identifier: Apache-2.0
// The refusal of an operator that a program calls by its name.

#include "src/cann/refused_operator.h"

#include "src/cann/boundary.h"
#include "src/cann/op_attributes.h"

namespace advstep::cann {

aclError RefuseOperator(const char* call, const char* opType, int numInputs, int numOutputs,
                        const aclopAttr* attr) noexcept {
    return Boundary(call, [&]() -> Outcome {
        if (opType == nullptr) {
            return Null("opType");
        }
        if (numInputs < 0) {
            return Negative("numInputs", numInputs);
        }
        if (numOutputs < 0) {
            return Negative("numOutputs", numOutputs);
        }
        std::string message = "operator " + std::string(opType) +
                              " cannot run by its name, because there is no operator compiler; "
                              "expected a call of its aclnn functions";
        if (attr != nullptr && !attr->texts.empty()) {
            message += "; its attributes:";
            const char* separator = " ";
            for (const auto& [name, text] : attr->texts) {
                message.append(separator).append(name).append(" = ").append(text);
                separator = ", ";
            }
        }
        return {ACL_ERROR_API_NOT_SUPPORT, message};
    });
}

}  // namespace advstep::cann
