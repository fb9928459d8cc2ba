// SPDX-License-Identifier: Apache-2.0
// What tests of memory between processes do in either process.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_SHARING_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_SHARING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/child_process.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace conformance {

using support::ChildProcess;
using support::IsCode;
using support::IsError;
using support::IsOk;
using support::Keep;
using support::Words;

inline constexpr size_t kSharedUnit = size_t{2} << 20;  // the granularity of mapped memory
inline constexpr uint64_t kToAll = 1;                   // the flag of an export without white list

// The other process gave this code.
inline testing::AssertionResult Gave(int code, const Words& words) {
    if (words.code == code) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "the other process gave " << words.code << ", expected "
                                       << code << ": " << words.text;
}

// Counts the bytes that differ from the value; fills with it. By copies, as clients do.
inline int CountOthers(const void* device, size_t bytes, int value, uint64_t* others) {
    std::vector<char> host(bytes);
    const int code = aclrtMemcpy(host.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    *others = bytes -
              static_cast<uint64_t>(std::count(host.begin(), host.end(), static_cast<char>(value)));
    return code;
}
inline testing::AssertionResult HasAll(const void* device, size_t bytes, int value) {
    uint64_t others = 0;
    const testing::AssertionResult read = IsOk(CountOthers(device, bytes, value, &others));
    if (!read || others == 0) {
        return read;
    }
    return testing::AssertionFailure() << others << " of " << bytes << " bytes are not " << value;
}

// Functions of the other process. at[0]: an address, at[1]: bytes, at[2]: a value or a count.
inline void Begin(Words* w) { Keep(w, aclrtSetDevice(0)); }
inline void FillThere(Words* w) {
    Keep(w, aclrtMemset(w->Pointer(0), w->at[1], static_cast<int32_t>(w->at[2]), w->at[1]));
}
inline void CountThere(Words* w) {
    Keep(w, CountOthers(w->Pointer(0), w->at[1], static_cast<int>(w->at[2]), &w->at[2]));
}

// Work that waits for a word, and a record of the event in at[0] after it. at[1]: the word.
inline void HoldAndRecordEvent(Words* w) {
    void* word = nullptr;
    Keep(w, aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST)) &&
        Keep(w, aclrtMemset(word, 64, 0, 64)) &&
        Keep(w, aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, nullptr)) &&
        Keep(w, aclrtRecordEvent(w->Pointer(0), nullptr));
    w->Set(1, word);
}

// Physical memory mapped at reserved addresses, here or there. at[0]: the addresses, at[1]: bytes,
// at[2]: the handle.
inline int MapAnywhere(Words* w) {
    void* address = nullptr;
    Keep(w, aclrtReserveMemAddress(&address, w->at[1], 0, nullptr, 0)) &&
        Keep(w, aclrtMapMem(address, w->at[1], 0, w->Pointer(2), 0));
    w->Set(0, address);
    return w->code;
}
inline void MakePhysical(Words* w) {
    aclrtPhysicalMemProp prop{};
    prop.memAttr = ACL_HBM_MEM_NORMAL;
    prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    void* handle = nullptr;
    if (Keep(w, aclrtMallocPhysical(&handle, w->at[1], &prop, 0))) {
        w->Set(2, handle);
        MapAnywhere(w);
    }
}
// at[3]: the shareable handle.
inline void ImportPhysical(Words* w) {
    void* handle = nullptr;
    if (Keep(w, aclrtMemImportFromShareableHandle(w->at[3], 0, &handle))) {
        w->Set(2, handle);
        MapAnywhere(w);
    }
}
inline void DropPhysical(Words* w) {
    Keep(w, aclrtUnmapMem(w->Pointer(0)));
    Keep(w, aclrtFreePhysical(w->Pointer(2)));
    Keep(w, aclrtReleaseMemAddress(w->Pointer(0)));
}

// at[0]: the block, at[1]: bytes; text: the key.
inline void ExportBlock(Words* w) {
    void* block = nullptr;
    if (Keep(w, aclrtMalloc(&block, w->at[1], ACL_MEM_MALLOC_HUGE_FIRST))) {
        w->Set(0, block);
        Keep(w, aclrtIpcMemGetExportKey(block, w->at[1], w->text, sizeof(w->text), kToAll));
    }
}
inline void ImportBlock(Words* w) {
    void* block = nullptr;
    char key[sizeof(w->text)];
    std::memcpy(key, w->text, sizeof(key));
    Keep(w, aclrtIpcMemImportByKey(&block, key, 0));
    w->Set(0, block);
}
inline void CloseBlock(Words* w) { Keep(w, aclrtIpcMemClose(w->text)); }

// A number of words with a text.
inline Words WithText(const std::string& text, std::initializer_list<uint64_t> values = {}) {
    Words words(values);
    std::strncpy(words.text, text.c_str(), sizeof(words.text) - 1);
    return words;
}
inline uint64_t AsWord(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Two processes with device 0 set.
class SharingTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(DeviceTest::SetUp());
        ASSERT_TRUE(Gave(0, other_.Run(&Begin)));
    }

    ChildProcess other_;
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_SHARING_H_
