// SPDX-License-Identifier: Apache-2.0
// What the programs of the corpus share: calls that must succeed, memory, two operators.
#ifndef ADVANCE_STEP_TESTS_SANITIZER_DEVICE_PROGRAM_H_
#define ADVANCE_STEP_TESTS_SANITIZER_DEVICE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/fault_injection.h"

namespace corpus {

inline constexpr size_t kBytes = 4096;

// Ends the process, with the library's message, if a call of a program fails.
void Must(int code);

aclrtStream NewStream();
aclrtEvent NewEvent();
// Of aclrtCreateEventExWithFlag, which captures take.
aclrtEvent NewCaptureEvent();
aclrtNotify NewNotify();
// Device memory, of zeros or never written.
void* NewMemory(size_t bytes = kBytes);
void* NewUnwrittenMemory(size_t bytes = kBytes);
// Pinned host memory of zeros.
void* NewPinned(size_t bytes = kBytes);

inline void* Beyond(void* memory, size_t bytes) { return static_cast<char*>(memory) + bytes; }

void Fill(void* memory, aclrtStream stream, size_t bytes = kBytes);
void CopyOnDevice(void* to, const void* from, aclrtStream stream, size_t bytes = kBytes);
void CopyToDevice(void* to, const void* pinned, aclrtStream stream, size_t bytes = kBytes);
void CopyToHost(void* pinned, const void* from, aclrtStream stream, size_t bytes = kBytes);
void Synchronize(aclrtStream stream);
// stream waits for what is queued on before.
void Order(aclrtStream before, aclrtStream stream);

// A host function that fulfils a std::promise<void>.
void Tell(void* promise);

// AdvanceStep's tensors: two queries and a row of padding, blocks of four tokens.
struct Batch {
    static constexpr int64_t kRows = 3, kQueries = 2, kBlockSize = 4, kColumns = 3;
    void *inputTokens, *sampledTokenIds, *inputPositions, *seqLens, *slotMapping, *blockTables;

    Batch();
    // The same with other block tables, or other lengths.
    explicit Batch(const std::vector<int64_t>& tables,
                   const std::vector<int64_t>& lengths = {5, 6, 0});
    void Launch(aclrtStream stream) const;
};

// Two operators of the corpus: out = self, element by element of int64, and one that also writes
// its workspace of kScratchBytes.
inline constexpr size_t kScratchBytes = 256;
void LaunchMove(const void* self, void* out, aclrtStream stream, size_t bytes = kBytes);
void LaunchMoveByWorkspace(const void* self, void* out, void* workspace, aclrtStream stream,
                           size_t bytes = kBytes);

}  // namespace corpus

#endif  // ADVANCE_STEP_TESTS_SANITIZER_DEVICE_PROGRAM_H_
