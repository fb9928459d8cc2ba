// SPDX-License-Identifier: Apache-2.0
// The registry of operator types and the factory that makes operators by name.

#include "graph/operator_factory.h"

#include <map>
#include <mutex>
#include <string>

#include "src/base/at_load.h"

namespace ge {
namespace {

using Creator = std::function<Operator(const AscendString&)>;

// Types register themselves before main, and when a library with types is loaded later.
struct Registry {
    std::mutex mutex;
    std::map<std::string, Creator> creators;  // guarded by mutex; entries are never removed
};

// It is never destroyed, because static objects of other files may use it while the process ends.
Registry& TheRegistry() {
    static Registry* const registry = new Registry;
    return *registry;
}

const advstep::AtLoad makeRegistry(&TheRegistry);

const Creator* FindCreator(const char* type) {
    Registry& registry = TheRegistry();
    const std::lock_guard<std::mutex> lock(registry.mutex);
    const auto found = registry.creators.find(type == nullptr ? "" : type);
    return found == registry.creators.end() ? nullptr : &found->second;
}

}  // namespace

OperatorCreatorRegister::OperatorCreatorRegister(const char* type, const Creator& creator) {
    if (type != nullptr && creator) {
        Registry& registry = TheRegistry();
        const std::lock_guard<std::mutex> lock(registry.mutex);
        registry.creators.emplace(type, creator);
    }
}

Operator OperatorFactory::CreateOperator(const char* name, const char* type) {
    const Creator* creator = FindCreator(type);
    return creator == nullptr ? Operator() : (*creator)(AscendString(name));
}

bool OperatorFactory::IsExistOp(const char* type) { return FindCreator(type) != nullptr; }

graphStatus OperatorFactory::GetOpsTypeList(std::vector<AscendString>& types) {
    Registry& registry = TheRegistry();
    const std::lock_guard<std::mutex> lock(registry.mutex);
    types.clear();
    for (const auto& [type, creator] : registry.creators) {
        types.emplace_back(type.c_str());
    }
    return GRAPH_SUCCESS;
}

}  // namespace ge
