// SPDX-License-Identifier: Apache-2.0
// A started runtime with one object of each kind, and calls of the library on it.
#ifndef ADVANCE_STEP_TESTS_FAULTS_SCENE_H_
#define ADVANCE_STEP_TESTS_FAULTS_SCENE_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "advance_step/counters.h"
#include "advance_step/fault_injection.h"
#include "advance_step/host_operator.h"
#include "advance_step/kv_invariants.h"
#include "advance_step/sanitizer.h"
#include "advance_step/version.h"

namespace faults {

constexpr size_t kBytes = 4096;
constexpr size_t kUnit = size_t{2} << 20;  // of mapped memory

// Every step is checked: a code that is not 0 ends the scene with that code.
struct Scene {
    // There from Open to Close.
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;
    aclrtStream other = nullptr;
    aclrtEvent event = nullptr;       // of CreateEventExWithFlag, for everything; recorded
    aclrtEvent plain = nullptr;       // of CreateEvent; recorded
    aclrtEvent resettable = nullptr;  // of CreateEventWithFlag; recorded
    aclrtNotify notify = nullptr;
    void* device = nullptr;  // kBytes
    void* pinned = nullptr;  // kBytes

    // For the calls.
    void* made = nullptr;
    void* more = nullptr;
    uint64_t hold = 0;
    std::shared_ptr<void> batch;  // the tensors of an operator
    aclTensor* tensor = nullptr;
    int64_t* dims = nullptr;
    uint64_t number = 0;
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    alignas(4096) char host[64] = {};
    alignas(8) char key[72] = {};

    char* Key() { return key; }

    int Open();
    int Close();
};

struct Call {
    const char* name;
    int (*prepare)(Scene& s);  // what the call needs before; may be null
    int (*call)(Scene& s);
    int (*undo)(Scene& s);  // after the call has succeeded; may be null
    bool ends = false;      // the scene is gone then
    // What it needs before it is called once more after a failure; may be null.
    int (*again)(Scene& s) = nullptr;
    bool allocatesItself = false;        // the test's part of the call does
    int shortage = ACL_ERROR_BAD_ALLOC;  // the code when the host has no memory
};
inline Call OfAclnn(Call call) {
    call.shortage = ACLNN_ERR_INNER;
    return call;
}
inline void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

// The calls of each of the files beside this one.
using Calls = std::vector<Call>();
Calls RuntimeCalls, StreamCalls, MemoryCalls, CaptureCalls, SharingCalls, MoreStreamCalls,
    ConditionalCalls, TensorCalls, OperatorCalls, ClientCalls, KernelCalls, OwnOperatorCalls,
    HostCallCalls, AllocatorCalls;
// Those of the functions in no table: src/catalogue/make_lists.py makes them.
Calls PlainCalls, PlainAclnnCalls;

// The first code that is not 0.
inline int First(std::initializer_list<int> codes) {
    for (const int code : codes) {
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

// Functions of a scene, one after another. The first code that is not 0.
template <int (*... kSteps)(Scene&)>
int InTurn(Scene& s) {
    return First({kSteps(s)...});
}

inline void Nothing(void*) {}

}  // namespace faults

// A call that needs nothing before and leaves nothing behind.
#define ADVSTEP_PLAIN(name, ...)                                     \
    Call {                                                           \
#name, nullptr, [](Scene& s) -> int {                              \
            (void)s;                                                       \
            return name(__VA_ARGS__);                                      \
        }, nullptr \
    }
// One that makes s.made, which `undo` takes away.
#define ADVSTEP_MAKES(name, undo, ...)                                                             \
    Call {                                                                                         \
#name, nullptr,                                                                            \
            [](Scene & s) -> int { return name(__VA_ARGS__); },                                    \
                                                             [](Scene &                            \
                                                                s) -> int { return undo(s.made); } \
    }
// One that takes away s.made, which `prepare` makes.
#define ADVSTEP_TAKES(name, prepare, ...)                                                         \
    Call {                                                                                        \
#name, [](Scene &                                                                         \
                  s) -> int { return prepare; }, [](Scene &                                       \
                                                    s) -> int { return name(__VA_ARGS__); },      \
                                                                                          nullptr \
    }

#endif  // ADVANCE_STEP_TESTS_FAULTS_SCENE_H_
