// SPDX-License-Identifier: Apache-2.0
// The extension's C functions, which the package calls.

#include <cstdint>
#include <exception>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "torch_kernels/device/captured_draws.h"
#include "torch_kernels/device/current_stream.h"
#include "torch_kernels/device/generators.h"
#include "torch_kernels/device/python_frames.h"
#include "torch_kernels/dispatch/host_kernel.h"
#include "torch_kernels/dispatch/paged.h"
#include "torch_kernels/dispatch/registrar.h"
#include "torch_kernels/operators/special_operators.h"

using namespace advstep_torch;

namespace {

thread_local std::string failure;

/// What my_malloc and my_free call. They are set once, before an allocator of these names is made.
struct {
    void* (*allocate)(ssize_t size, int device, void* stream) = nullptr;
    void (*release)(void* address, size_t size, int device, void* stream) = nullptr;
} sleepMemory;

}  // namespace

extern "C" {

/// Binds the calls of the runtime, as addresses.
__attribute__((visibility("default"))) void advstep_torch_bind(void* captureInfo, void* query,
                                                               void* synchronize, void* launch,
                                                               void* launchShort, void* zeroMemory,
                                                               void* message) {
    runtime.captureInfo = reinterpret_cast<decltype(runtime.captureInfo)>(captureInfo);
    runtime.query = reinterpret_cast<decltype(runtime.query)>(query);
    runtime.synchronize = reinterpret_cast<decltype(runtime.synchronize)>(synchronize);
    runtime.launch = reinterpret_cast<decltype(runtime.launch)>(launch);
    runtime.launchShort = reinterpret_cast<decltype(runtime.launchShort)>(launchShort);
    runtime.zeroMemory = reinterpret_cast<decltype(runtime.zeroMemory)>(zeroMemory);
    runtime.message = reinterpret_cast<decltype(runtime.message)>(message);
}

__attribute__((visibility("default"))) void advstep_torch_set(int queueAlways, int blocking,
                                                              int tellsRuns) {
    settings.queueAlways = queueAlways != 0;
    settings.blocking = blocking != 0;
    settings.tellsRuns = tellsRuns != 0;
}

/// Makes call stacks of the library show lines of Python. `set` is the address of
/// advstepSetScriptFrames; `folders` are those of libraries, one a line.
__attribute__((visibility("default"))) void advstep_torch_show_python(void* set,
                                                                      const char* folders) {
    std::istringstream lines(folders);
    std::vector<std::string> all;
    for (std::string folder; std::getline(lines, folder);) {
        all.push_back(folder);
    }
    SetLibraryFolders(std::move(all));
    (void)reinterpret_cast<int (*)(size_t(*)(char*, size_t))>(set)(&PythonFrames);
}

/// What call stacks of the calling thread show: AdvStepScriptFrames.
__attribute__((visibility("default"))) size_t advstep_torch_python_frames(char* text, size_t room) {
    return PythonFrames(text, room);
}

/// Takes over torch's operators, except those with the names in `kept`, with a space between.
/// `special` is the package's table of special operators: lines with a name and its flags.
/// Returns the number of these operators, or -1: advstep_torch_failure has the reason.
__attribute__((visibility("default"))) int64_t advstep_torch_register(const char* kept,
                                                                      const char* special) {
    try {
        std::istringstream words(kept);
        const std::set<std::string> names{std::istream_iterator<std::string>(words), {}};
        ReadSpecialOperators(special);
        RegisterPaged();
        return static_cast<int64_t>(RegisterOperators(names));
    } catch (const std::exception& error) {
        failure = error.what();
        return -1;
    }
}

__attribute__((visibility("default"))) const char* advstep_torch_failure() {
    return failure.c_str();
}

/// Begins the recording of draws in a graph whose capture has begun.
__attribute__((visibility("default"))) void advstep_torch_begin_draws(const void* model) {
    BeginCapturedDraws(model);
}

/// Ends it before the capture ends. Returns 0, or -1: advstep_torch_failure has the reason.
__attribute__((visibility("default"))) int advstep_torch_end_draws(void* stream,
                                                                   const void* model) {
    try {
        EndCapturedDraws(stream, model);
        return 0;
    } catch (const std::exception& error) {
        failure = error.what();
        return -1;
    }
}

/// Binds the functions of an engine's memory that may sleep.
__attribute__((visibility("default"))) void advstep_torch_bind_memory(void* allocate,
                                                                      void* release) {
    sleepMemory.allocate = reinterpret_cast<decltype(sleepMemory.allocate)>(allocate);
    sleepMemory.release = reinterpret_cast<decltype(sleepMemory.release)>(release);
}

/// The two names that vllm-ascend gives torch_npu's pluggable allocator. A null pointer is a device
/// without memory.
__attribute__((visibility("default"))) void* my_malloc(ssize_t size, int device, void* stream) {
    return sleepMemory.allocate ? sleepMemory.allocate(size, device, stream) : nullptr;
}

__attribute__((visibility("default"))) void my_free(void* address, size_t size, int device,
                                                    void* stream) {
    if (sleepMemory.release) {
        sleepMemory.release(address, size, device, stream);
    }
}

/// The number of operators that draw random numbers in replays, recorded until now.
__attribute__((visibility("default"))) uint64_t advstep_torch_draws_recorded() {
    return DrawsRecorded();
}

/// The number of random numbers drawn again until now, to get to the offset of a saved state.
__attribute__((visibility("default"))) uint64_t advstep_torch_draws_repeated() {
    return DrawsRepeated();
}
}
