// SPDX-License-Identifier: Apache-2.0
// A library with an operator whose class other libraries may see: not in an unnamed namespace, and
// compiled with the default visibility. Its two forms make calls of the header that are no inlines.
#include <cstddef>

#include "advance_step/operator.h"

namespace named {

namespace op = advance_step::op;

struct Payload {
    int64_t count;
    const int64_t* self;
    int64_t* out;
    const int64_t* scale;  // null in the shorter form
};

void Run(const op::CoreContext& /*core*/, const void* payload) {
    const auto& p = *static_cast<const Payload*>(payload);
    for (int64_t i = 0; i < p.count; ++i) {
        p.out[i] = p.self[i] * (p.scale == nullptr ? 1 : p.scale[i]);
    }
}

constexpr char kCall[] = "aclnnNamed";
constexpr op::Shapes kRow = {{"[n]", 1}};
constexpr op::TensorArgument kSelf = {"self", op::Access::kRead, op::Only(ACL_INT64), kRow,
                                      offsetof(Payload, self)};
constexpr op::TensorArgument kOut = {"out", op::Access::kWritten, op::Only(ACL_INT64), kRow,
                                     offsetof(Payload, out)};
constexpr op::TensorArgument kScale = {"scale", op::Access::kRead, op::Only(ACL_INT64), kRow,
                                       offsetof(Payload, scale)};

template <const auto& kSignature>
struct Form {
    using Payload = named::Payload;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kSignature;

    static op::Status Plan(const op::Request& request, op::Planned<Payload>* plan) {
        static const op::KernelProgram program = op::MakeKernelProgram(kCall, nullptr, {&Run});
        ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kSignature>(request.views));
        plan->payload.count = request.views[0].dims[0];
        plan->program = &program;
        plan->rows = plan->payload.count;
        return {};
    }
};

inline constexpr op::Signature<2> kShort = {{kSelf, kOut}};
inline constexpr op::Signature<3> kLong = {{kSelf, kOut, kScale}};

struct Scaled : Form<kLong> {
    using WithFewerTensors = Form<kShort>;
};

}  // namespace named

ADVSTEP_OPERATOR(aclnnNamed, named::Scaled,
                 (const aclTensor* self, aclTensor* out, const aclTensor* scale),
                 (self, out, scale))
