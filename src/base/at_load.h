// SPDX-License-Identifier: Apache-2.0
// Work that is done while the library is loaded.

#pragma once

namespace advstep {

/// Calls a function while the library is loaded, before any thread can fork. Such a function
/// constructs function-local static objects that are no NeverDestroyed. If a thread of the parent
/// constructed one during a fork, the child would wait for it for ever.
struct AtLoad {
    template <typename Function>
    explicit AtLoad(Function&& function) {
        (void)function();
    }
};

}  // namespace advstep
