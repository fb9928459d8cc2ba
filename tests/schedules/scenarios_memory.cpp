// SPDX-License-Identifier: Apache-2.0
// Scenarios of memory that one thread uses and another one frees: what is used stays until then, or
// the call is refused. The freed block is large, and the next one is its first page. So a call that
// looks for the memory too late does not find all of it, and one that writes into memory that it
// does not have any more writes into the next block.
#include <algorithm>
#include <cstring>

#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kBlock = 2 * kPage;

char* NewBlock(size_t bytes) {
    void* memory = nullptr;
    Ok(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_NORMAL_ONLY), "aclrtMalloc");
    return static_cast<char*>(memory);
}

// Allocates a page as soon as `leave` has taken the block away.
template <typename Leave>
char* NextBlock(Leave&& leave) {
    leave();
    char* const next = NewBlock(kPage);
    std::memset(next, 'n', kPage);
    return next;
}

void ExpectUntouched(const char* next) {
    Expect(std::all_of(next, next + kPage, [](char byte) { return byte == 'n'; }),
           "nothing is written into memory of another block");
}

void ExpectFilledOrRefused(aclError code, const char* call) {
    ExpectOkOr(code, ACL_ERROR_RT_PARAM_INVALID, call);
}

SCENARIO(Scene, fill_and_free, kSmall) {
    char* const block = NewBlock(kBlock);
    char* next = nullptr;
    runtime.Run({[&] { ExpectFilledOrRefused(aclrtMemset(block, kBlock, 'f', kBlock), "fill"); },
                 [&] { next = NextBlock([&] { Ok(aclrtFree(block), "aclrtFree"); }); }});
    ExpectUntouched(next);
}

SCENARIO(Scene, copy_and_free, kSmall) {
    char* const block = NewBlock(kBlock);
    const std::vector<char> host(kBlock, 'h');
    char* next = nullptr;
    runtime.Run({[&] {
                     ExpectFilledOrRefused(
                         aclrtMemcpy(block, kBlock, host.data(), kBlock, ACL_MEMCPY_HOST_TO_DEVICE),
                         "copy");
                 },
                 [&] { next = NextBlock([&] { Ok(aclrtFree(block), "aclrtFree"); }); }});
    ExpectUntouched(next);
}

// The block is of the device, not of the context that the reset ends.
SCENARIO(Scene, fill_and_reset, kLarge) {
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    char* const block = NewBlock(kBlock);
    char* next = nullptr;
    RunThreads({[&] {
                    Ok(aclrtSetCurrentContext(own), "aclrtSetCurrentContext");
                    ExpectFilledOrRefused(aclrtMemset(block, kBlock, 'f', kBlock), "fill");
                },
                [&] {
                    runtime.Use();
                    next = NextBlock([&] {
                        Ok(aclrtResetDevice(0), "aclrtResetDevice");
                        Ok(aclrtSetDevice(0), "aclrtSetDevice");
                    });
                }});
    ExpectUntouched(next);
}

SCENARIO(OneStream, fill_in_stream_and_free, kLarge) {
    char* const block = NewBlock(kBlock);
    char* next = nullptr;
    runtime.Run({[&] {
                     ExpectFilledOrRefused(aclrtMemsetAsync(block, kBlock, 'f', kBlock, stream),
                                           "fill in a stream");
                     Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                 },
                 [&] { next = NextBlock([&] { Ok(aclrtFree(block), "aclrtFree"); }); }});
    ExpectUntouched(next);
}

// The stream has been idle, so that it is in no set of busy ones.
SCENARIO(OneStream, replay_and_free, kLarge) {
    char* const block = NewBlock(kBlock);
    aclmdlRI const model = Capture(
        stream, [&] { Ok(aclrtMemsetAsync(block, kBlock, 'f', kBlock, stream), "the fill"); });
    char* next = nullptr;
    runtime.Run({[&] {
                     ExpectFilledOrRefused(aclmdlRIExecuteAsync(model, stream), "first replay");
                     Ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
                     ExpectFilledOrRefused(aclmdlRIExecuteAsync(model, stream), "second replay");
                     Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                 },
                 [&] { next = NextBlock([&] { Ok(aclrtFree(block), "aclrtFree"); }); }});
    ExpectUntouched(next);
}

SCENARIO(TwoStreams, branches_and_free, kLarge) {
    char* const block = NewBlock(kBlock);
    aclmdlRI const model = Capture(first, [&] {
        Order(first, second);
        Ok(aclrtMemsetAsync(block, kBlock, 'f', kBlock, second), "the fill");
        Order(second, first);
    });
    char* next = nullptr;
    runtime.Run({[&] {
                     ExpectFilledOrRefused(aclmdlRIExecuteAsync(model, first), "replay");
                     Ok(aclrtSynchronizeStream(first), "aclrtSynchronizeStream");
                 },
                 [&] { next = NextBlock([&] { Ok(aclrtFree(block), "aclrtFree"); }); }});
    ExpectUntouched(next);
}

}  // namespace
}  // namespace schedules
