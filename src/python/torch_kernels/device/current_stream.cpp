// SPDX-License-Identifier: Apache-2.0
// The current stream of a device, by torch_npu's handle and the calls of the runtime.

#include "torch_kernels/device/current_stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "torch_kernels/device/torch_versions.h"

namespace advstep_torch {

namespace {

int32_t RunNothing(void* /*args*/, char* /*message*/, size_t /*size*/) { return 0; }

}  // namespace

Runtime runtime;
Settings settings;

void Check(int code, const char* what) {
    if (code != 0) {
        const char* const text = runtime.message();
        TORCH_CHECK(false, text != nullptr ? text : what);
    }
}

CurrentStream::CurrentStream(c10::Device device)
    : stream_(c10::impl::VirtualGuardImpl(kNpu).getStream(device)),
      handle_(NativeHandle(stream_)) {}

StreamState CurrentStream::State() const {
    int status = 0;
    void* model = nullptr;
    Check(runtime.captureInfo(handle_, &status, &model), "aclmdlRICaptureGetInfo");
    if (status != 0) {
        return StreamState::kRecording;
    }
    Check(runtime.query(handle_, &status), "aclrtStreamQuery");
    return status == 0 ? StreamState::kIdle : StreamState::kPending;
}

void* CurrentStream::Model() const {
    int status = 0;
    void* model = nullptr;
    Check(runtime.captureInfo(handle_, &status, &model), "aclmdlRICaptureGetInfo");
    return model;
}

void CurrentStream::WaitForOthers() const {
    if (State() == StreamState::kPending) {
        Wait();
    }
}

void CurrentStream::QueueMark(const char* name,
                              const std::vector<AdvStepMemoryRange>& ranges) const {
    const AdvStepHostOperator operation{name,    &RunNothing,   nullptr,
                                        nullptr, ranges.data(), ranges.size()};
    Check(runtime.launch(handle_, &operation), name);
}

}  // namespace advstep_torch
