// SPDX-License-Identifier: Apache-2.0
// Finds the library of CANN's operators by the path of this one.

#include "src/graph/run/operator_library.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

namespace advstep::graph {
namespace {

// Its soname, so that a program that links it has it once.
constexpr std::string_view kFile = ADVSTEP_GRAPH_OPERATORS_LIBRARY;

bool Load() {
    Dl_info info;
    const bool found = dladdr(reinterpret_cast<const void*>(&LoadOperators), &info) != 0;
    const std::string_view own = found && info.dli_fname != nullptr ? info.dli_fname : "";
    const std::string path = std::string(own.substr(0, own.rfind('/') + 1)).append(kFile);
    constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    // In a build tree it may stand where the loader looks.
    return dlopen(path.c_str(), kMode) != nullptr || dlopen(kFile.data(), kMode) != nullptr;
}

}  // namespace

bool LoadOperators() {
    static const bool isLoaded = Load();
    return isLoaded;
}

}  // namespace advstep::graph
