// SPDX-License-Identifier: Apache-2.0
// The state of a thread on which the results of torch's kernels depend, and its scopes.

#pragma once

#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace advstep_torch {

/// Has the calling thread run kernels with `threads` in its scope: the number decides how a kernel
/// splits sums, and so the last bits of its result.
class ThreadsScope {
 public:
    explicit ThreadsScope(int threads);
    ~ThreadsScope();
    ThreadsScope(const ThreadsScope&) = delete;
    ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
    const int before_;
    const bool differs_;
    int mklBefore_ = 0;
};

/// Returns the number of threads for an operator that the calling thread asks for. A thread of
/// gradients keeps the number that the program had when it started, so it gets that of the
/// program's thread that last asked for an operator: the first gradient is made there.
int ThreadsOfCaller();

/// Has the calling thread take denormal numbers as zero (torch.set_flush_denormal) in its scope as
/// the thread did that asked for the operator. The other bits of the floating-point environment
/// stay.
class DenormalsScope {
 public:
    explicit DenormalsScope(unsigned wanted);
    ~DenormalsScope();
    DenormalsScope(const DenormalsScope&) = delete;
    DenormalsScope& operator=(const DenormalsScope&) = delete;

 private:
    const unsigned before_;
};

/// Returns the mode for an operator that the calling thread asks for. A thread of gradients gets
/// that of the program, as in ThreadsOfCaller.
unsigned DenormalsOfCaller();

/// Runs kernels below autograd and autocast, which have done their part for the "npu" tensors.
struct BelowAutograd {
    at::AutoDispatchBelowADInplaceOrView autograd;
    c10::impl::ExcludeDispatchKeyGuard autocast{c10::autocast_dispatch_keyset};
};

/// The state of torch in which a queued operator runs. It may run in any thread that waits for the
/// stream, which may be within a mode of Python's or use another number of threads. So the state of
/// the thread is restored afterwards. State that torch has once for the process stays as it is.
struct QueuedScope {
    QueuedScope(int wanted, unsigned flush) : threads(wanted), denormals(flush) {}

    const c10::impl::ForceDispatchKeyGuard keys{
        c10::default_included_set, c10::default_excluded_set |
                                       c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                                       c10::autocast_dispatch_keyset};
    const ThreadsScope threads;
    const DenormalsScope denormals;
};

}  // namespace advstep_torch
