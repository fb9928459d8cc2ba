// SPDX-License-Identifier: Apache-2.0
// A queue of PoCL, which streams are measured against.

#pragma once

#include <memory>
#include <string>

/// The queue of PoCL's basic device, POCL, which runs kernels in the thread that waits for them.
class PoclQueue {
 public:
    /// Null, and why, where the program was built without OpenCL or PoCL cannot be used.
    static std::shared_ptr<PoclQueue> Open(std::string* whyNot);

    virtual ~PoclQueue() = default;

    /// An empty kernel of one work item enqueued and waited for.
    virtual void RoundTrip() = 0;
};
