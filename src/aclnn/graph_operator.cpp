// SPDX-License-Identifier: Apache-2.0
// The ties that libraries have made between types of graph operators and their aclnn calls.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "advance_step/operator/graph_core.h"
#include "src/aclnn/operator_registry.h"
#include "src/base/boundary.h"
#include "src/base/log.h"

using namespace advstep;

namespace {

// The record of one tie. It is made while a library is loaded, and never changed or freed.
struct TiedType {
    const AdvStepGraphOperator* tie;  // null: the tie is wrong
    std::string type;
    std::string library;
    std::string wrong;         // the message of a wrong tie; empty: the tie is right
    bool isBuiltIn = false;    // of this library itself
    TiedType* next = nullptr;  // the record that was made before
};

// The record that was made last. Records are only added, each by one exchange. So several threads
// may load libraries, and the child of a fork finds a complete list.
std::atomic<TiedType*> lastTied{nullptr};

// The types of sources, which graph mode itself has.
constexpr std::string_view kSources[] = {"Data", "RefData", "Variable", "Const", "Constant"};

// The bytes of a tie that has no function choose, as libraries have it that were compiled before.
constexpr size_t kBytesWithoutChoice = offsetof(AdvStepGraphOperator, choose);

bool HasTensor(const AdvStepOperatorTable& table, std::string_view name) {
    return std::any_of(table.tensors, table.tensors + table.tensorCount,
                       [&](const AdvStepOperatorTensor& tensor) { return tensor.name == name; });
}

Status CheckAttributes(const AdvStepGraphOperator& tie) {
    if (tie.attributeCount > ADVSTEP_GRAPH_MOST_ATTRIBUTES ||
        (tie.attributes == nullptr && tie.attributeCount > 0)) {
        return Error(ACLNN_ERR_PARAM_INVALID, "attributeCount is {}; expected 0 to {} attributes",
                     tie.attributeCount, ADVSTEP_GRAPH_MOST_ATTRIBUTES);
    }
    for (uint32_t place = 0; place < tie.attributeCount; ++place) {
        const AdvStepGraphAttribute& attribute = tie.attributes[place];
        if (attribute.name == nullptr || attribute.name[0] == '\0') {
            return Error(ACLNN_ERR_PARAM_INVALID, "attribute {} has no name; expected one", place);
        }
        if (attribute.kind < ADVSTEP_GRAPH_INT || attribute.kind > ADVSTEP_GRAPH_INPUT_DIMS ||
            attribute.kind == ADVSTEP_GRAPH_LIST_DOUBLE) {
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "attribute {} has kind {}; expected {} to {}, or {}", attribute.name,
                         attribute.kind, static_cast<int>(ADVSTEP_GRAPH_INT),
                         static_cast<int>(ADVSTEP_GRAPH_LIST_LENGTH),
                         static_cast<int>(ADVSTEP_GRAPH_INPUT_DIMS));
        }
        if (attribute.kind >= ADVSTEP_GRAPH_INPUT_INTS && !HasTensor(*tie.table, attribute.name)) {
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "attribute {} has kind {}, and the table has no tensor of its name; "
                         "expected one",
                         attribute.name, attribute.kind);
        }
    }
    return {};
}

bool IsKnownSize(const AdvStepGraphOperator& tie) {
    return tie.structBytes == sizeof(AdvStepGraphOperator) ||
           tie.structBytes == kBytesWithoutChoice;
}

// Finds the first tie that was made for a type. Later ones do not count.
const TiedType* FindTied(std::string_view type) {
    const TiedType* found = nullptr;
    for (const TiedType* tied = lastTied.load(std::memory_order_acquire); tied != nullptr;
         tied = tied->next) {
        found = tied->type == type ? tied : found;
    }
    return found;
}

// Returns whether graph mode has the type itself: a source, or an operator of this library.
bool IsTaken(std::string_view type) {
    const TiedType* const first = FindTied(type);
    return (first != nullptr && first->isBuiltIn) ||
           std::find(std::begin(kSources), std::end(kSources), type) != std::end(kSources);
}

Status CheckTie(const AdvStepGraphOperator& tie, bool isBuiltIn) {
    if (!IsKnownSize(tie)) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "it has structBytes {}; expected {}: compile it with the headers of this "
                     "library",
                     tie.structBytes, sizeof(AdvStepGraphOperator));
    }
    if (tie.type == nullptr || tie.type[0] == '\0') {
        return Error(ACLNN_ERR_PARAM_INVALID, "type is {}; expected the name of REG_OP",
                     tie.type == nullptr ? "null" : "empty");
    }
    if (!isBuiltIn && IsTaken(tie.type)) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "type is {}, which graph mode has itself; expected another", tie.type);
    }
    if (tie.table == nullptr || tie.plan == nullptr || tie.run == nullptr) {
        return Error(ACLNN_ERR_PARAM_INVALID, "{} is null; expected that of the operator",
                     tie.table == nullptr  ? "table"
                     : tie.plan == nullptr ? "plan"
                                           : "run");
    }
    ADVSTEP_RETURN_IF_ERROR(CheckTable(*tie.table, ADVSTEP_GRAPH_MOST_TENSORS));
    return CheckAttributes(tie);
}

void Push(TiedType* tied) {
    tied->next = lastTied.load(std::memory_order_relaxed);
    while (!lastTied.compare_exchange_weak(tied->next, tied, std::memory_order_acq_rel)) {
    }
}

Status Tie(const AdvStepGraphOperator& tie) {
    auto made = std::make_unique<TiedType>();
    const std::string file = LibraryOf(&tie);
    made->library = NameOfLibrary(file);
    made->isBuiltIn = file == LibraryOf(&lastTied);
    made->type = IsKnownSize(tie) && tie.type != nullptr ? tie.type : "";
    Status status = CheckTie(tie, made->isBuiltIn);
    if (status.ok() && !made->isBuiltIn) {  // this library itself is never unloaded
        status = KeepLoaded(file);
    }
    made->tie = status.ok() ? &tie : nullptr;
    if (!status.ok()) {
        made->wrong = fmt::format("the tie of graph operator {} in {} is wrong: {}",
                                  made->type.empty() ? "without a type" : made->type, made->library,
                                  status.message());
        status = Status(status.code(), made->wrong);
        Log(LogLevel::kError, "{}", made->wrong);
    } else if (const TiedType* const first = FindTied(made->type); first != nullptr) {
        if (first->tie != &tie) {
            Log(LogLevel::kWarn, "graph operator {} is tied by {} and by {}; the first one counts",
                made->type, first->library, made->library);
        }
        return status;
    }
    Push(made.release());
    return status;
}

Status RequirePointer(const void* pointer, const char* argument) {
    return pointer != nullptr
               ? Status()
               : Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer", argument);
}

}  // namespace

aclnnStatus advstepTieGraphOperator(const AdvStepGraphOperator* tie) {
    return AclnnBoundary("advstepTieGraphOperator", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequirePointer(tie, "tie"));
        return Tie(*tie);
    });
}

aclnnStatus advstepFindGraphOperator(const char* type, const AdvStepGraphOperator** tie) {
    return AclnnBoundary("advstepFindGraphOperator", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequirePointer(type, "type"));
        ADVSTEP_RETURN_IF_ERROR(RequirePointer(tie, "tie"));
        const TiedType* const tied = FindTied(type);
        *tie = tied != nullptr ? tied->tie : nullptr;
        return tied == nullptr || tied->wrong.empty()
                   ? Status()
                   : Status(ACLNN_ERR_PARAM_INVALID, tied->wrong);
    });
}
