// SPDX-License-Identifier: Apache-2.0
// The registry of operator types and the factory that makes operators by name.

#include "graph/operator_factory.h"

#include <atomic>
#include <set>
#include <string>

// Registers the operator types of the library's own headers for programs that do not include them.
#include "opp/built-in/op_proto/inc/ops_proto_legacy.h"
#include "opp/built-in/op_proto/inc/ops_proto_nn.h"

namespace ge {
namespace {

using Creator = std::function<Operator(const AscendString&)>;

// A type that registered itself, before main or while a library with types was loaded. It is never
// changed or freed, because static objects of other files may use it while the process ends.
struct KnownType {
    std::string type;
    Creator creator;
    const KnownType* next = nullptr;  // the one that was registered before
};

// The type that was registered last. Types are only added, each by one exchange. So several threads
// may load libraries, and the child of a fork finds a complete list without a lock.
std::atomic<const KnownType*> lastType{nullptr};

// Finds the first registration of a type. Later ones do not count.
const Creator* FindCreator(const char* type) {
    const Creator* found = nullptr;
    for (const KnownType* known = lastType.load(std::memory_order_acquire); known != nullptr;
         known = known->next) {
        if (type != nullptr && known->type == type) {
            found = &known->creator;
        }
    }
    return found;
}

}  // namespace

OperatorCreatorRegister::OperatorCreatorRegister(const char* type, const Creator& creator) {
    if (type != nullptr && creator) {
        auto* const known = new KnownType{type, creator, lastType.load(std::memory_order_relaxed)};
        while (!lastType.compare_exchange_weak(known->next, known, std::memory_order_acq_rel)) {
        }
    }
}

Operator OperatorFactory::CreateOperator(const char* name, const char* type) {
    const Creator* creator = FindCreator(type);
    return creator == nullptr ? Operator() : (*creator)(AscendString(name));
}

bool OperatorFactory::IsExistOp(const char* type) { return FindCreator(type) != nullptr; }

graphStatus OperatorFactory::GetOpsTypeList(std::vector<AscendString>& types) {
    std::set<std::string> names;
    for (const KnownType* known = lastType.load(std::memory_order_acquire); known != nullptr;
         known = known->next) {
        names.insert(known->type);
    }
    types.clear();
    for (const std::string& name : names) {
        types.emplace_back(name.c_str());
    }
    return GRAPH_SUCCESS;
}

}  // namespace ge
