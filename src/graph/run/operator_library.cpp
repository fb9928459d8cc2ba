// SPDX-License-Identifier: Apache-2.0
// Finds the library of CANN's operators by the path of this one.

#include "src/graph/run/operator_library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace advstep::graph {
namespace {

// Its soname, so that a program that links it has it once.
constexpr std::string_view kFile = ADVSTEP_GRAPH_OPERATORS_LIBRARY;

enum class Found : uint8_t { kUnknown, kLoaded, kMissing };

// Several threads may load at a time: the library is loaded once. A static object in a function
// would have a guard, which the child of a fork may find locked.
std::atomic<Found> libraryFound{Found::kUnknown};

bool Load() {
    Dl_info info;
    const bool isKnown = dladdr(reinterpret_cast<const void*>(&LoadOperators), &info) != 0;
    const std::string_view own = isKnown && info.dli_fname != nullptr ? info.dli_fname : "";
    const std::string path = std::string(own.substr(0, own.rfind('/') + 1)).append(kFile);
    constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    // In a build tree it may stand where the loader looks.
    return dlopen(path.c_str(), kMode) != nullptr || dlopen(kFile.data(), kMode) != nullptr;
}

}  // namespace

bool LoadOperators() {
    Found known = libraryFound.load(std::memory_order_acquire);
    if (known == Found::kUnknown) {
        known = Load() ? Found::kLoaded : Found::kMissing;
        libraryFound.store(known, std::memory_order_release);
    }
    return known == Found::kLoaded;
}

}  // namespace advstep::graph
