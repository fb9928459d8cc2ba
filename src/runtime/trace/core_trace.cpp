// SPDX-License-Identifier: Apache-2.0
// Adds the slices of cores to the trace.

#include "src/runtime/trace/core_trace.h"

#include "src/runtime/trace/trace.h"

namespace advstep {
namespace {

thread_local TracedTask tracedTask;

}  // namespace

void SetTracedTask(const TracedTask& task) { tracedTask = task; }

TracedKernel TracedKernel::Now(int32_t device, const char* call) {
    const bool traced = Trace::On();
    return {traced, device, call, traced ? tracedTask : TracedTask{}};
}

CoreSlice::CoreSlice(const TracedKernel& kernel, int32_t phase, int32_t first, int32_t count)
    : kernel_(kernel),
      phase_(phase),
      first_(first),
      count_(count),
      begin_(kernel.traced ? Trace::Now() : 0) {}

void CoreSlice::Add() const noexcept {
    const TraceSlice slice{kernel_.call, "cores", begin_, Trace::Now()};
    Trace::TryTo([&] {
        TraceArgs args;
        args.Add("stream", kernel_.task.stream);
        args.Add("task", static_cast<int64_t>(kernel_.task.sequence));
        args.Add("phase", phase_);
        args.Add("first", first_);
        args.Add("cores", count_);
        Trace::Instance().AddCores(kernel_.device, slice, args);
    });
}

}  // namespace advstep
