// SPDX-License-Identifier: Apache-2.0
// Handles of clients that a fuzz target uses, and what holds for each answer of the library.

#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "acl/acl_op_compiler.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/fuzz_machine.h"

inline constexpr size_t kSlots = 4;
inline constexpr size_t kBlock = 8192;

inline const void* const kUntouched = &kSlots;

/// The code of a call, which is success or an error with a message that begins with the call.
inline int Answer(int code, const std::string& name) {
    const char* const message = aclGetRecentErrMsg();
    if (code != ACL_SUCCESS) {
        FUZZ_REQUIRE(code >= 100000 && code < 600000);
        FUZZ_REQUIRE(message != nullptr);
        if (std::string(message).rfind(name + ": ", 0) != 0) {
            std::fprintf(stderr, "%s says: %s\n", name.c_str(), message);
            std::abort();
        }
    }
    return code;
}
#define CALL(name, ...) Answer(name(__VA_ARGS__), #name)

/// The objects of one input. A slot keeps its handle after the object has gone.
class ClientHandles {
 protected:
    explicit ClientHandles(FuzzInput input) : in_(input) {
        FUZZ_REQUIRE(aclrtCreateContext(&context_, 0) == ACL_SUCCESS);
        FUZZ_REQUIRE(aclrtMalloc(&block_, kBlock, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
        FUZZ_REQUIRE(aclrtMemset(block_, kBlock, 0, kBlock) == ACL_SUCCESS);
        for (void*& stream : streams_) {
            FUZZ_REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
        }
        for (void*& event : events_) {
            const uint32_t flag = &event == &events_.back() ? ACL_EVENT_IPC : ACL_EVENT_SYNC;
            FUZZ_REQUIRE(aclrtCreateEventExWithFlag(&event, flag) == ACL_SUCCESS);
        }
    }
    ClientHandles(const ClientHandles&) = delete;
    ClientHandles& operator=(const ClientHandles&) = delete;
    ~ClientHandles() {
        // Loops without an end are dropped.
        for (void* const stream : streams_) {
            aclmdlRI model = nullptr;
            (void)aclmdlRICaptureEnd(stream, &model);
            (void)aclrtStreamAbort(stream);
        }
        FUZZ_REQUIRE(aclrtDeviceTaskAbort(0, 0) == ACL_SUCCESS);
        for (void* const attribute : attributes_) {
            aclopDestroyAttr(static_cast<aclopAttr*>(attribute));
        }
        FUZZ_REQUIRE(aclrtDestroyContext(context_) == ACL_SUCCESS);
        (void)aclrtFree(block_);
        (void)aclGetRecentErrMsg();
    }

    using Slots = std::array<void*, kSlots>;

    void*& Slot(Slots& slots) { return slots[in_.Byte() % kSlots]; }
    /// Mostly a handle of that kind, else one of another kind, null, or no handle.
    void* Pick(Slots& slots) {
        const uint8_t kind = in_.Byte();
        switch (kind) {
            case 250:
                return nullptr;
            case 251:
                return Slot(models_);
            case 252:
                return Slot(streams_);
            case 253:
                return Slot(conditions_);
            case 254:
                return block_;
            case 255:
                return reinterpret_cast<void*>(static_cast<uintptr_t>(in_.Value(1 << 20)));
            default: {
                void* const one = slots[kind % kSlots];
                return one != nullptr ? one : *std::max_element(slots.begin(), slots.end());
            }
        }
    }
    /// The output of a call: untouched on an error.
    void Keep(int code, void* made, Slots& slots) {
        if (code == ACL_SUCCESS) {
            Slot(slots) = made;
        } else {
            FUZZ_REQUIRE(made == kUntouched);
        }
    }
    static void* Fresh() { return const_cast<void*>(kUntouched); }
    std::string Text() {
        std::string text(static_cast<size_t>(in_.In(0, 70)), ' ');
        for (char& letter : text) {
            letter = static_cast<char>(in_.Byte());
        }
        return text.c_str();  // up to the first NUL
    }
    /// The key of this process, perhaps with some other letters.
    std::string Spoilt(std::string key) {
        for (int changes = in_.Byte() % 3; changes > 0 && !key.empty(); --changes) {
            key[in_.Byte() % key.size()] = static_cast<char>(in_.Byte());
        }
        return in_.Byte() % 8 == 0 ? Text() : std::string(key.c_str());
    }

    FuzzInput in_;
    aclrtContext context_ = nullptr;
    void* block_ = nullptr;
    std::string key_ = "no key";
    Slots streams_{};
    Slots models_{};
    Slots conditions_{};
    Slots events_{};
    Slots attributes_{};
};
