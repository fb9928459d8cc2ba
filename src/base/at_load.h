// SPDX-License-Identifier: Apache-2.0
// Work that is done while the library is loaded.

#pragma once

namespace advstep {

/// Calls a function while the library is loaded, before any thread can fork. It constructs the
/// function-local static objects that are no NeverDestroyed: the child of a fork would wait for
/// ever for one that a thread of the parent was constructing.
struct AtLoad {
    template <typename Function>
    explicit AtLoad(Function&& function) {
        (void)function();
    }
};

}  // namespace advstep
