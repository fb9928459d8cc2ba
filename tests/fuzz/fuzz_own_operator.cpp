// SPDX-License-Identifier: Apache-2.0
// Random tables of operators and calls of them: the codes and values of a model, never a crash.
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "fuzz/fuzz_machine.h"
#include "fuzz/own_signature.h"

namespace {

constexpr int64_t kMost = 40;    // elements of a tensor
constexpr size_t kTensors = 24;  // places for tensors in the memory
constexpr int32_t kCores = 3;

// One of 4096 operators, made when it is first asked for.
const FuzzOperator& OperatorOf(unsigned key) {
    static auto* const made = new std::map<unsigned, std::unique_ptr<FuzzOperator>>;
    std::unique_ptr<FuzzOperator>& op = (*made)[key];
    if (op == nullptr) {
        op = std::make_unique<FuzzOperator>(key);
        FUZZ_REQUIRE(op->registered == (op->IsRight() ? 0 : ACLNN_ERR_PARAM_INVALID));
        FUZZ_REQUIRE(op->op != nullptr);
    }
    return *op;
}

int64_t* Memory() {
    static int64_t* const memory = [] {
        void* made = nullptr;
        FUZZ_REQUIRE(aclrtMalloc(&made, kTensors * kMost * 8, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
        return static_cast<int64_t*>(made);
    }();
    return memory;
}

using Host = std::vector<int64_t>;

Host Download() {
    Host host(kTensors * kMost);
    FUZZ_REQUIRE(aclrtMemcpy(host.data(), host.size() * 8, Memory(), host.size() * 8,
                             ACL_MEMCPY_DEVICE_TO_HOST) == 0);
    return host;
}

// What a plan may have wrong. The codes are those of core.h.
enum Spoilt { kNothing, kFewCores, kManyCores, kRows, kWorkspaceAt, kNoPlace, kProgram, kPayload };

struct Tensors {
    std::vector<const aclTensor*> handles;
    std::vector<size_t> places;
    ~Tensors() {
        for (const aclTensor* tensor : handles) {
            aclDestroyTensor(tensor);
        }
    }
};

// One call of phase one; sets isPlanned.
aclnnStatus Plan(const FuzzOperator& op, const Tensors& tensors, const Host& attributes,
                 const FuzzHead& head, Spoilt spoilt, aclOpExecutor** executor,
                 int32_t* isPlanned) {
    AdvStepOperatorCall call;
    uint64_t workspaceSize = 77;
    call.structBytes = sizeof(call);
    call.op = op.op;
    call.attributeCount = static_cast<uint32_t>(attributes.size());
    call.attributes = attributes.data();
    call.tensors = tensors.handles.data();
    call.workspaceSize = &workspaceSize;
    call.executor = executor;
    AdvStepTensorView views[kTensors];
    AdvStepOperatorEnvironment environment;
    environment.structBytes = sizeof(environment);
    const aclnnStatus begun = advstepBeginPlan(&call, views, &environment, isPlanned);
    if (begun != 0 || *isPlanned != 0) {
        return begun;
    }
    FUZZ_REQUIRE(environment.vectorCores == kCores);
    alignas(16) unsigned char payload[512]{};
    std::memcpy(payload, &head, sizeof(head));
    AdvStepOperatorPlan plan{};
    plan.structBytes = sizeof(plan);
    plan.coreCount = spoilt == kFewCores ? -1 : spoilt == kManyCores ? kCores + 1 : kCores;
    plan.program = spoilt == kProgram ? nullptr : &op.program;
    plan.rows = spoilt == kRows ? -1 : head.elements;
    plan.payload = spoilt == kPayload ? nullptr : payload;
    plan.workspaceAt = spoilt == kWorkspaceAt ? 3 : -1;
    plan.workspaceBytes = spoilt == kNoPlace ? 64 : 0;
    const aclnnStatus finished = advstepFinishPlan(&call, views, &plan);
    FUZZ_REQUIRE(workspaceSize == (finished == 0 ? 0u : 77u));
    return finished;
}

void Execute(const FuzzOperator& op, aclOpExecutor* executor, const FuzzHead& head,
             const Tensors& tensors, Host expected) {
    FUZZ_REQUIRE(advstepRunOperator(op.op, nullptr, 0, executor, nullptr) == 0);
    const bool isBad = head.badRow >= 0 && head.badRow < head.elements;
    FUZZ_REQUIRE(aclrtSynchronizeStream(nullptr) ==
                 (isBad ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : 0));
    for (int64_t row = 0; !isBad && row < head.elements; ++row) {
        auto sum = static_cast<uint64_t>(head.add);
        uint64_t factor = 0;
        for (size_t place = 0; place < op.tensors.size(); ++place) {
            const size_t at = tensors.places[place] * kMost + static_cast<size_t>(row);
            const bool isRead = op.tensors[place].isWritten == 0;
            sum += isRead && tensors.handles[place] != nullptr ? static_cast<uint64_t>(expected[at])
                                                               : 0;
        }
        for (size_t place = 0; place < op.tensors.size(); ++place) {
            const size_t at = tensors.places[place] * kMost + static_cast<size_t>(row);
            factor += op.tensors[place].isWritten != 0 ? 1 : 0;
            if (op.tensors[place].isWritten != 0 && tensors.handles[place] != nullptr) {
                expected[at] = static_cast<int64_t>(factor * sum);
            }
        }
    }
    FUZZ_REQUIRE(Download() == expected);
}

// The code of the first rule that the call breaks.
aclnnStatus Expected(const FuzzOperator& op, const Tensors& tensors, int64_t elements,
                     Spoilt spoilt) {
    for (size_t place = 0; place < op.tensors.size(); ++place) {
        if (tensors.handles[place] == nullptr && op.tensors[place].isOptional == 0) {
            return ACLNN_ERR_PARAM_NULLPTR;
        }
    }
    if (spoilt != kNothing) {
        return spoilt == kPayload ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_INNER;
    }
    for (size_t place = 0; elements > 0 && place < op.tensors.size(); ++place) {
        for (size_t other = 0; other < place; ++other) {
            if (tensors.places[place] == tensors.places[other] &&
                tensors.handles[place] != nullptr && tensors.handles[other] != nullptr &&
                (op.tensors[place].isWritten != 0 || op.tensors[other].isWritten != 0)) {
                return ACLNN_ERR_PARAM_INVALID;
            }
        }
    }
    return 0;
}

void OneCall(FuzzInput* input) {
    const FuzzOperator& op = OperatorOf(static_cast<unsigned>(input->In(0, 4095)));
    FuzzHead head{&op, input->In(0, kMost), 0, input->Value(1000), -1};
    head.rowsPerCore = head.elements / kCores + 1;
    head.badRow = input->Byte() % 8 == 0 ? input->In(0, kMost) : -1;
    // The plan depends on the first three, which are in the payload.
    Host attributes = {head.elements, head.add, head.badRow};
    for (int64_t more = input->Byte() % 8 == 0 ? input->In(0, 40) : 1; more > 0; --more) {
        attributes.push_back(input->Byte());
    }
    const Spoilt spoilt =
        input->Byte() % 4 == 0 ? static_cast<Spoilt>(input->Byte() % 8) : kNothing;
    Tensors tensors;
    for (size_t place = 0; place < kTensors; ++place) {  // a call takes as many bytes as another
        const uint8_t choice = input->Byte() % 16;
        const size_t other = input->Byte() % kTensors;
        if (place < op.tensors.size()) {
            const int64_t shape[] = {head.elements};
            tensors.places.push_back(choice == 1 ? other : place);
            tensors.handles.push_back(
                choice == 0 ? nullptr
                            : aclCreateTensor(shape, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape,
                                              1, Memory() + tensors.places.back() * kMost));
        }
    }
    aclOpExecutor* executor = nullptr;
    int32_t isPlanned = 0;
    if (!op.IsRight()) {
        FUZZ_REQUIRE(Plan(op, tensors, attributes, head, kNothing, &executor, &isPlanned) ==
                     ACLNN_ERR_INNER);
        FUZZ_REQUIRE(executor == nullptr);
        return;
    }
    Host before(kTensors * kMost);
    for (int64_t& value : before) {
        value = static_cast<int64_t>(&value - before.data()) * 1000003 + head.add % 1000;
    }
    FUZZ_REQUIRE(aclrtMemcpy(Memory(), before.size() * 8, before.data(), before.size() * 8,
                             ACL_MEMCPY_HOST_TO_DEVICE) == 0);
    const aclnnStatus code = Expected(op, tensors, head.elements, spoilt);
    const aclnnStatus planned = Plan(op, tensors, attributes, head, spoilt, &executor, &isPlanned);
    // Tensors that are made like those of an earlier call may be equal to them. A plan that is
    // found was right, and what this call has wrong in its own is not looked at.
    FUZZ_REQUIRE(isPlanned == 0 || Expected(op, tensors, head.elements, kNothing) == 0);
    FUZZ_REQUIRE(planned == (isPlanned != 0 ? 0 : code));
    FUZZ_REQUIRE((executor != nullptr) == (planned == 0));
    if (planned != 0) {
        FUZZ_REQUIRE(Download() == before);
        return;
    }
    Execute(op, executor, head, tensors, before);
    // The same call again: its plan is found, unless it has too many numbers.
    executor = nullptr;
    FUZZ_REQUIRE(Plan(op, tensors, attributes, head, kNothing, &executor, &isPlanned) == 0);
    FUZZ_REQUIRE((isPlanned != 0) == (tensors.handles.size() + attributes.size() <= 29));
    Execute(op, executor, head, tensors, Download());
}

}  // namespace

extern "C" int fuzz_own_operator(const uint8_t* bytes, size_t size) {
    UseMachine("sim:3", "standard");
    FuzzInput input(bytes, size);
    for (int call = 0; call < 8 && (call == 0 || !input.IsOver()); ++call) {
        OneCall(&input);
    }
    return 0;
}
