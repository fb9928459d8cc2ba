// SPDX-License-Identifier: Apache-2.0
// Implements the checks of return codes, the device session, streams and events.

#include "device_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "advance_step/host_operator.h"
#include "standard_streams.h"

namespace serve {
namespace {

constexpr const char* kEndOfRun = "end of run";  // a kernel's name

std::string Describe(int code, const char* call) {
    const char* message = aclGetRecentErrMsg();
    return fmt::format("{} returned {}: {}", call, code,
                       message != nullptr ? message : "no message");
}

}  // namespace

void Check(int code, const char* call) {
    if (code != ACL_SUCCESS) {
        throw AclError(Describe(code, call), code);
    }
}

void Report(int code, const char* call) noexcept {
    if (code == ACL_SUCCESS) {
        return;
    }
    const char* message = aclGetRecentErrMsg();
    std::fprintf(stderr, "serve: %s returned %d: %s\n", call, code,
                 message != nullptr ? message : "no message");
}

DeviceSession::DeviceSession() {
    Check(aclInit(nullptr), "aclInit");
    const aclError code = aclrtSetDevice(0);
    if (code != ACL_SUCCESS) {
        const std::string what = Describe(code, "aclrtSetDevice");
        Report(aclFinalize(), "aclFinalize");
        throw AclError(what, code);
    }
}

DeviceSession::~DeviceSession() {
    Report(aclrtResetDevice(0), "aclrtResetDevice");
    Report(aclFinalize(), "aclFinalize");
}

// No other thread changes the environment.
Stream::Stream()
    : named_(!DeviceTracePath().empty() ||
             std::getenv("ADVANCE_STEP_SANITIZE") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    Check(aclrtCreateStream(&stream_), "aclrtCreateStream");
}

Stream::~Stream() { Report(aclrtDestroyStream(stream_), "aclrtDestroyStream"); }

void Stream::Copy(void* dst, size_t room, const void* src, size_t bytes, aclrtMemcpyKind kind) {
    Check(aclrtMemcpyAsync(dst, room, src, bytes, kind, stream_), "aclrtMemcpyAsync");
}

void Stream::Launch(aclrtHostFunc kernel, void* args, const char* name) {
    if (!named_) {
        Check(aclrtLaunchHostFunc(stream_, kernel, args), "aclrtLaunchHostFunc");
        return;
    }
    // A host operator has a name in the trace, may write memory of the device for the sanitizer,
    // and costs an allocation.
    struct Named {
        aclrtHostFunc kernel;
        void* args;
    };
    AdvStepHostOperator operation = {};
    operation.name = name;
    operation.args = new Named{kernel, args};  // the operator's, in every case
    operation.run = [](void* call, char* /*message*/, size_t /*messageSize*/) -> int32_t {
        const auto* const own = static_cast<const Named*>(call);
        own->kernel(own->args);
        return 0;
    };
    operation.release = [](void* call) { delete static_cast<Named*>(call); };
    Check(advstepLaunchHostOperator(stream_, &operation), "advstepLaunchHostOperator");
}

void Stream::EndTrace() {
    if (!DeviceTracePath().empty()) {
        Launch([](void* /*args*/) {}, nullptr, kEndOfRun);
        Synchronize();
    }
}

void Stream::Synchronize() { Check(aclrtSynchronizeStream(stream_), "aclrtSynchronizeStream"); }

std::string DeviceTracePath() {
    // No other thread changes the environment.
    const char* const path = std::getenv("ADVANCE_STEP_TRACE");  // NOLINT(concurrency-mt-unsafe)
    std::string text = path != nullptr ? path : "";
    const std::string id = std::to_string(getpid());
    for (size_t at = 0; (at = text.find("%p", at)) != text.npos; at += id.size()) {
        text.replace(at, 2, id);
    }
    return text;
}

bool DeviceTraceIsWhole() {
    constexpr std::streamoff kTailBytes = 1 << 16;  // far more than may follow the last kernel
    const std::string path = DeviceTracePath();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return true;
    }
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
        return true;
    }
    file.seekg(std::max<std::streamoff>(0, file.tellg() - std::streampos(kTailBytes)));
    const std::string tail(std::istreambuf_iterator<char>(file), {});
    if (tail.find(fmt::format("\"name\":\"{}\"", kEndOfRun)) != tail.npos) {
        return true;
    }
    Tell(fmt::format("{}: the trace of the device ends early: not all of it could be written",
                     path));
    return false;
}

Event::Event() { Check(aclrtCreateEvent(&event_), "aclrtCreateEvent"); }

Event::~Event() { Report(aclrtDestroyEvent(event_), "aclrtDestroyEvent"); }

void Event::Record(Stream& stream) {
    Check(aclrtRecordEvent(event_, stream.Handle()), "aclrtRecordEvent");
}

double Event::SecondsBetween(const Event& start, const Event& end) {
    float milliseconds = 0;
    Check(aclrtEventElapsedTime(&milliseconds, start.event_, end.event_), "aclrtEventElapsedTime");
    return static_cast<double>(milliseconds) / 1000.0;
}

}  // namespace serve
