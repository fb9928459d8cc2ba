// SPDX-License-Identifier: Apache-2.0
// The functions by which operators plan and run.
#include "advance_step/operator/core.h"

#include <algorithm>
#include <limits>
#include <new>

#include "advance_step/operator/kernel.hpp"
#include "src/aclnn/operator_registry.h"
#include "src/aclnn/run.h"
#include "src/aclnn/tensor.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"
#include "src/runtime/device/device.h"

using namespace advstep;

namespace {

// The data of a call between advstepBeginPlan and advstepFinishPlan.
struct KeptPlan {
    // The other members are set if no equal plan is found.
    KeptPlan(const AdvStepOperatorCall& call, const AdvStepOperator& op)
        : key(&op, call.tensors, op.table->tensorCount, call.attributes, call.attributeCount,
              op.optional) {}

    PlanKey key;
    const Device* device;
    int32_t vectorCores;  // of the environment, whatever limit is set until advstepFinishPlan
    bool isUsual;         // all tensors are contiguous, of whole bytes, and fit memory
};
static_assert(sizeof(KeptPlan) <= sizeof(AdvStepOperatorCall::kept));
static_assert(std::is_trivially_destructible_v<KeptPlan>);

constexpr int64_t kUnknownWork = -1;  // of LengthOf

constexpr char kNoOperator[] = "an operator that is not registered";

const char* PhaseOneOf(const AdvStepOperator* op) {
    return op != nullptr ? op->phaseOne.c_str() : kNoOperator;
}

Status RequireSize(const char* name, uint32_t bytes, size_t expected) {
    return bytes == expected ? Status()
                             : Error(ACLNN_ERR_INNER, "{} has structBytes {}; expected {}", name,
                                     bytes, expected);
}

Status RequireOperator(const AdvStepOperator* op) {
    if (op == nullptr) {
        return Error(ACLNN_ERR_INNER, "op is null; expected one of advstepRegisterOperator");
    }
    return op->table != nullptr ? Status() : Status(ACLNN_ERR_INNER, op->wrong);
}

// Names the first argument that is wrong. Each caller has looked with one test whether any is.
[[gnu::cold, gnu::noinline]] Status RequireCall(const AdvStepOperatorCall* call) {
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(call, "call"));
    ADVSTEP_RETURN_IF_ERROR(RequireSize("call", call->structBytes, sizeof(AdvStepOperatorCall)));
    ADVSTEP_RETURN_IF_ERROR(RequireOperator(call->op));
    return RequireOutput(call->tensors, "call->tensors");
}

bool IsCall(const AdvStepOperatorCall* call) {
    return call != nullptr && call->structBytes == sizeof(AdvStepOperatorCall) &&
           call->op != nullptr && call->op->table != nullptr && call->tensors != nullptr;
}

[[gnu::cold, gnu::noinline]] Status RequireBegin(const AdvStepOperatorCall* call,
                                                 const AdvStepTensorView* views,
                                                 const AdvStepOperatorEnvironment* environment,
                                                 const int32_t* isPlanned) {
    ADVSTEP_RETURN_IF_ERROR(RequireCall(call));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(views, "views"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(environment, "environment"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(isPlanned, "isPlanned"));
    ADVSTEP_RETURN_IF_ERROR(
        RequireSize("environment", environment->structBytes, sizeof(AdvStepOperatorEnvironment)));
    return RequireOutput(call->attributes, "call->attributes");
}

[[gnu::cold, gnu::noinline]] Status RequireFinish(const AdvStepOperatorCall* call,
                                                  const AdvStepTensorView* views,
                                                  const AdvStepOperatorPlan* plan) {
    ADVSTEP_RETURN_IF_ERROR(RequireCall(call));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(views, "views"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(plan, "plan"));
    ADVSTEP_RETURN_IF_ERROR(RequireSize("plan", plan->structBytes, sizeof(AdvStepOperatorPlan)));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(plan->payload, "plan->payload"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(call->workspaceSize, "workspaceSize"));
    return RequireOutput(call->executor, "executor");
}

// Makes the views of the tensors. *isUsual: no view needs CheckExtent.
Status ViewsOf(const AdvStepOperatorCall& call, AdvStepTensorView* views, bool* isUsual) {
    const AdvStepOperatorTable& table = *call.op->table;
    int64_t signs = 0;
    for (uint32_t place = 0; place < table.tensorCount; ++place) {
        auto* const view = static_cast<TensorView*>(&views[place]);
        if (call.tensors[place] == nullptr && call.op->IsOptional(place)) {
            *view = AbsentView();
        } else {
            ADVSTEP_RETURN_IF_ERROR(ViewOf(call.tensors[place], table.tensors[place].name, view));
        }
        signs |= view->packedBytes | (view->itemSize - 1);
    }
    *isUsual = signs >= 0;
    return {};
}

// Refuses a negative dim, of which a plan that does not expect it would compute nonsense.
Status CheckDims(const AdvStepOperator& op, const AdvStepTensorView* views) {
    for (uint32_t place = 0; place < op.table->tensorCount; ++place) {
        const auto& view = static_cast<const TensorView&>(views[place]);
        if (std::any_of(view.dims, view.dims + view.rank, [](int64_t dim) { return dim < 0; })) {
            return CheckExtent(view, op.table->tensors[place].name);
        }
    }
    return {};
}

Status BeginPlan(AdvStepOperatorCall* call, AdvStepTensorView* views,
                 AdvStepOperatorEnvironment* environment, int32_t* isPlanned) {
    const bool isRight = IsCall(call) && views != nullptr && environment != nullptr &&
                         isPlanned != nullptr &&
                         environment->structBytes == sizeof(AdvStepOperatorEnvironment) &&
                         (call->attributes != nullptr || call->attributeCount == 0);
    if (__builtin_expect(!isRight, 0)) {
        return RequireBegin(call, views, environment, isPlanned);
    }
    const AdvStepOperator& op = *call->op;
    auto* const kept = new (call->kept) KeptPlan(*call, op);
    *isPlanned = PlannedBefore(kept->key, call->workspaceSize, call->executor) ? 1 : 0;
    if (*isPlanned != 0) {
        return {};
    }
    kept->device = nullptr;
    ADVSTEP_RETURN_IF_ERROR(ViewsOf(*call, views, &kept->isUsual));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(call->workspaceSize, "workspaceSize"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(call->executor, "executor"));
    ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&kept->device));
    if (!kept->isUsual && op.table->checksDims == 0) {
        ADVSTEP_RETURN_IF_ERROR(CheckDims(op, views));
    }
    *environment = EnvironmentOf(*kept->device);
    kept->vectorCores = environment->vectorCores;
    return {};
}

Status CheckExtents(const AdvStepOperator& op, const AdvStepTensorView* views) {
    for (uint32_t place = 0; place < op.table->tensorCount; ++place) {
        ADVSTEP_RETURN_IF_ERROR(CheckExtent(static_cast<const TensorView&>(views[place]),
                                            op.table->tensors[place].name));
    }
    return {};
}

Status WrongPlan(const AdvStepOperator& op, const std::string& what) {
    return Error(ACLNN_ERR_INNER, "the plan of operator {} is wrong: {}", op.call, what);
}

// A fault of the function for the first two phases is no fault of one of them, so both must be such
// that a fault fails the launch.
Status CheckFirstTwo(const AdvStepOperator& op, const KernelProgram& program) {
    if (program.phaseCount < 2) {
        return WrongPlan(op, fmt::format("its program has firstTwo and {} phases; expected 2 or "
                                         "more",
                                         program.phaseCount));
    }
    for (int32_t phase = 0; phase < 2; ++phase) {
        if (program.phases[phase].onFault != OnFault::kFail) {
            return WrongPlan(op, fmt::format("its program has firstTwo and a phase {} that warns; "
                                             "expected OnFault::kFail",
                                             phase));
        }
    }
    return {};
}

Status CheckCounters(const AdvStepOperator& op, const KernelProgram& program) {
    if (program.count == nullptr) {
        return {};
    }
    if (program.counters == nullptr) {
        return WrongPlan(op, "its program has count and no counters; expected their names");
    }
    const CounterNames& names = *program.counters;
    if (names.count < 0 || names.count > CounterNames::kMost) {
        return WrongPlan(op, fmt::format("its program has {} counters; expected 0 to {}",
                                         names.count, CounterNames::kMost));
    }
    for (int32_t index = 0; index < names.count; ++index) {
        if (names.names[index] == nullptr) {
            return WrongPlan(op, fmt::format("counter {} has no name", index));
        }
    }
    return {};
}

Status CheckProgram(const AdvStepOperator& op, const KernelProgram* program, int32_t coreCount) {
    const bool isOwn = program != nullptr && program->call != nullptr &&
                       (program->call == op.table->call || op.call == program->call);
    if (!isOwn) {
        return WrongPlan(op, fmt::format("its program is {}; expected one of {}",
                                         program == nullptr         ? "null"
                                         : program->call == nullptr ? "without a call"
                                                                    : program->call,
                                         op.call));
    }
    // A plan that uses no cores needs no phase.
    const int32_t fewest = coreCount == 0 ? 0 : 1;
    if (program->phaseCount < fewest || program->phaseCount > KernelProgram::kMostPhases) {
        return WrongPlan(op, fmt::format("its program has {} phases; expected {} to {}",
                                         program->phaseCount, fewest, KernelProgram::kMostPhases));
    }
    for (int32_t phase = 0; phase < program->phaseCount; ++phase) {
        if (program->phases[phase].run == nullptr) {
            return WrongPlan(op, fmt::format("phase {} has no function", phase));
        }
    }
    if (program->firstTwo != nullptr && coreCount > 0) {
        ADVSTEP_RETURN_IF_ERROR(CheckFirstTwo(op, *program));
    }
    ADVSTEP_RETURN_IF_ERROR(CheckCounters(op, *program));
    return program->keptBytesPerRow >= 0
               ? Status()
               : WrongPlan(op, fmt::format("keptBytesPerRow is {}; expected at least 0",
                                           program->keptBytesPerRow));
}

Status CheckWorkspace(const AdvStepOperator& op, const AdvStepOperatorPlan& plan) {
    constexpr int64_t kPointerBytes = sizeof(void*);
    const int64_t payloadBytes = op.table->payloadBytes;
    const bool hasPlace = plan.workspaceAt >= 0 && plan.workspaceAt % kPointerBytes == 0 &&
                          plan.workspaceAt <= payloadBytes - kPointerBytes;
    if (plan.workspaceAt != -1 && !hasPlace) {
        return WrongPlan(op, fmt::format("workspaceAt is {}; expected -1 or the offset of a "
                                         "pointer in the payload of {} bytes",
                                         plan.workspaceAt, payloadBytes));
    }
    if (hasPlace && op.HasAddressAt(static_cast<size_t>(plan.workspaceAt))) {
        const auto slot = std::find_if(op.slots.begin(), op.slots.end(), [&](const auto& any) {
            return any.addressAt == static_cast<size_t>(plan.workspaceAt);
        });
        return WrongPlan(op, fmt::format("workspaceAt is {}, where {} has its address; expected a "
                                         "place of its own",
                                         plan.workspaceAt, slot->name));
    }
    if (plan.workspaceBytes > uint64_t{std::numeric_limits<int64_t>::max()}) {
        return WrongPlan(
            op, fmt::format("workspaceBytes is {}; expected less than 2^63", plan.workspaceBytes));
    }
    if (plan.workspaceBytes > 0 && !hasPlace) {
        return WrongPlan(op, fmt::format("workspaceBytes is {} and workspaceAt -1; expected a "
                                         "place for the workspace's address",
                                         plan.workspaceBytes));
    }
    return {};
}

Status CheckPlan(const AdvStepOperator& op, int32_t vectorCores, const AdvStepOperatorPlan& plan) {
    ADVSTEP_RETURN_IF_ERROR(
        CheckProgram(op, static_cast<const KernelProgram*>(plan.program), plan.coreCount));
    if (plan.coreCount < 0 || plan.coreCount > vectorCores) {
        return WrongPlan(op, fmt::format("coreCount is {}; expected 0 <= coreCount <= the "
                                         "environment's vectorCores = {}",
                                         plan.coreCount, vectorCores));
    }
    if (plan.rows < 0) {
        return WrongPlan(op, fmt::format("rows is {}; expected at least 0", plan.rows));
    }
    return CheckWorkspace(op, plan);
}

// Returns how a launch is run. The time limit is 4 s or more, so only a launch that may take long
// is timed: two looks at the clock take as long as many of the others.
auto RunOf(const PlannedLaunch& launch) {
    const bool isTimed =
        launch.length == TaskLength::kUnknown || launch.length == TaskLength::kHeavy;
    if (launch.program->anyRounding) {
        return isTimed ? &RunOperatorTask : &RunKernelTask;
    }
    return isTimed ? &RunFloatOperatorTask : &RunFloatKernelTask;
}

Status FinishPlan(const AdvStepOperatorCall* call, const AdvStepTensorView* views,
                  const AdvStepOperatorPlan* asked) {
    const bool isRight = IsCall(call) && views != nullptr && asked != nullptr &&
                         asked->structBytes == sizeof(AdvStepOperatorPlan) &&
                         asked->payload != nullptr && call->workspaceSize != nullptr &&
                         call->executor != nullptr;
    if (__builtin_expect(!isRight, 0)) {
        return RequireFinish(call, views, asked);
    }
    const auto& kept = *reinterpret_cast<const KeptPlan*>(call->kept);
    const AdvStepOperator& op = *call->op;
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(kept.device, "the device of advstepBeginPlan"));
    if (!kept.isUsual) {
        ADVSTEP_RETURN_IF_ERROR(CheckExtents(op, views));
    }
    // A plan for tensors that cannot be says nothing about the operator, so it comes second.
    ADVSTEP_RETURN_IF_ERROR(CheckPlan(op, kept.vectorCores, *asked));
    Plan plan;
    plan.launch.program = static_cast<const KernelProgram*>(asked->program);
    plan.launch.device = kept.device;
    plan.launch.coreCount = asked->coreCount;
    plan.launch.rows = asked->rows;
    plan.launch.length =
        LengthOf(*plan.launch.program, asked->rows, asked->work > 0 ? asked->work : kUnknownWork);
    plan.launch.payloadBytes = op.table->payloadBytes;
    plan.launch.run = RunOf(plan.launch);
    plan.payload = asked->payload;
    plan.workspaceBytes = asked->workspaceBytes;
    plan.workspaceAt = asked->workspaceAt;
    plan.allDistinct = asked->allDistinct != 0;
    plan.slots = op.slots.data();
    plan.views = static_cast<const TensorView*>(views);
    plan.tensorCount = static_cast<int32_t>(op.table->tensorCount);
    plan.key = &kept.key;
    plan.owner = op.owner;
    ADVSTEP_RETURN_IF_ERROR(MakeExecutor(plan, call->executor));
    *call->workspaceSize = plan.workspaceBytes;
    return {};
}

}  // namespace

aclnnStatus advstepRegisterOperator(const AdvStepOperatorTable* table, const AdvStepOperator** op) {
    return AclnnBoundary("advstepRegisterOperator", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(op, "op"));
        *op = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(table, "table"));
        return RegisterOperator(*table, op);
    });
}

aclnnStatus advstepBeginPlan(AdvStepOperatorCall* call, AdvStepTensorView* views,
                             AdvStepOperatorEnvironment* environment, int32_t* isPlanned) {
    return AclnnBoundary(PhaseOneOf(call != nullptr ? call->op : nullptr), ACLNN_ERR_INNER,
                         [&] { return BeginPlan(call, views, environment, isPlanned); });
}

aclnnStatus advstepFinishPlan(const AdvStepOperatorCall* call, const AdvStepTensorView* views,
                              const AdvStepOperatorPlan* plan) {
    return AclnnBoundary(PhaseOneOf(call != nullptr ? call->op : nullptr), ACLNN_ERR_INNER,
                         [&] { return FinishPlan(call, views, plan); });
}

aclnnStatus advstepRunOperator(const AdvStepOperator* op, void* workspace, uint64_t workspaceSize,
                               aclOpExecutor* executor, aclrtStream stream) {
    return AclnnBoundary(op != nullptr ? op->call.c_str() : kNoOperator, ACLNN_ERR_INNER,
                         [&]() -> Status {
                             ADVSTEP_RETURN_IF_ERROR(RequireOperator(op));
                             return RunExecutor(op->table->call, op->owner, workspace,
                                                workspaceSize, executor, stream);
                         });
}

aclnnStatus advstepRefuseCall(const AdvStepOperator* op, aclnnStatus code, const char* message) {
    return RecordFailure(PhaseOneOf(op), code != ACLNN_SUCCESS ? code : ACLNN_ERR_INNER,
                         message != nullptr ? message : TextOfCaught("unknown exception"));
}

const char* advstepDataTypeName(aclDataType dataType) { return KnownNameOf(dataType); }
const char* advstepFormatName(aclFormat format) { return KnownNameOf(format); }
