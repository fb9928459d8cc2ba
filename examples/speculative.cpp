// SPDX-License-Identifier: Apache-2.0
// Speculative decoding on a paged KV cache: a draft model proposes four tokens at a time, the
// target model looks at all of them in one pass, and aclnnAdvanceStepV2 moves every sequence behind
// those that it accepted. The text must be that of plain decoding, one token at a time; exit status
// 1 otherwise.
//
// The models are toys. On an NPU they would be kernels; the emulated device is this CPU, so they
// are host functions in the stream, and nothing else here follows a device address.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step_v2.h"
#include "check.h"

namespace {

constexpr int64_t kSpecTokens = 4;
constexpr int64_t kRows = kSpecTokens + 1;  // of a sequence
constexpr int64_t kBlockSize = 4;
constexpr int64_t kVocabulary = 1000;
constexpr int64_t kGenerate = 60;  // tokens of every sequence, at least
constexpr int64_t kPrompts[] = {5, 9, 3, 16};
constexpr int64_t kNumSeqs = 4;
// A sequence that accepts everything is far ahead of one that accepts nothing.
constexpr int64_t kMaxLen = 16 + kGenerate * kRows + kRows;
constexpr int64_t kMaxBlocks = (kMaxLen + kBlockSize - 1) / kBlockSize;

uint64_t Mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 29);
}

// K and V of one token: nothing else has the same.
uint64_t CellOf(int64_t sequence, int64_t position, int64_t token) {
    return Mix(Mix(static_cast<uint64_t>(sequence + 1), static_cast<uint64_t>(position)),
               static_cast<uint64_t>(token));
}

int64_t PromptToken(int64_t sequence, int64_t position) {
    return static_cast<int64_t>(CellOf(sequence, position, -1) % kVocabulary);
}

// The target model: its next token depends on the K and V of every token before.
template <typename CellAt>
int64_t NextToken(int64_t length, const CellAt& cellAt) {
    uint64_t hash = 0;
    for (int64_t position = 0; position < length; ++position) {
        hash = Mix(hash, cellAt(position));
    }
    return static_cast<int64_t>(hash % kVocabulary);
}

std::vector<int64_t> DecodePlainly(int64_t sequence) {
    std::vector<int64_t> text;
    std::vector<uint64_t> cache;
    for (int64_t position = 0; position < kPrompts[sequence]; ++position) {
        cache.push_back(CellOf(sequence, position, PromptToken(sequence, position)));
    }
    for (int64_t i = 0; i < kGenerate; ++i) {
        const auto length = static_cast<int64_t>(cache.size());
        text.push_back(
            NextToken(length, [&](int64_t at) { return cache[static_cast<size_t>(at)]; }));
        cache.push_back(CellOf(sequence, length, text.back()));
    }
    return text;
}

template <typename T>
class DeviceArray {
 public:
    explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
        CHECK(aclrtMalloc(&address_, Bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(address_, Bytes(), values.data(), Bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    ~DeviceArray() { CHECK(aclrtFree(address_)); }
    DeviceArray(DeviceArray&&) = delete;

    T* Address() const { return static_cast<T*>(address_); }
    std::vector<T> Get() const {
        std::vector<T> values(size_);
        CHECK(aclrtMemcpy(values.data(), Bytes(), address_, Bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }

 private:
    size_t Bytes() const { return size_ * sizeof(T); }

    size_t size_;
    void* address_ = nullptr;
};

// An int64 tensor with its device memory.
class DeviceTensor : public DeviceArray<int64_t> {
 public:
    DeviceTensor(std::initializer_list<int64_t> shape, const std::vector<int64_t>& values)
        : DeviceArray(values),
          tensor_(aclCreateTensor(shape.begin(), shape.size(), ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
                                  shape.begin(), shape.size(), Address())) {
        Check(tensor_ == nullptr, "aclCreateTensor");
    }
    ~DeviceTensor() { CHECK(aclDestroyTensor(tensor_)); }
    DeviceTensor(DeviceTensor&&) = delete;

    const aclTensor* Handle() const { return tensor_; }

 private:
    aclTensor* tensor_;
};

// What the models see: device addresses.
struct ModelMemory {
    uint64_t* cache;
    int64_t* text;     // [kNumSeqs, kMaxLen] prompt and generated tokens
    int64_t* lengths;  // [kNumSeqs] of the text
    int64_t* proposed;
    int64_t* accepted;
    const int64_t* blockTables;
    const int64_t* inputTokens;
    const int64_t* inputPositions;
    const int64_t* slotMapping;
    int64_t* sampledTokenIds;
    int64_t* specToken;
    int64_t* acceptedNum;

    uint64_t& CellAt(int64_t sequence, int64_t position) const {
        const int64_t block = blockTables[sequence * kMaxBlocks + position / kBlockSize];
        return cache[block * kBlockSize + position % kBlockSize];
    }
    int64_t Sample(int64_t sequence, int64_t length) const {
        return NextToken(length, [&](int64_t at) { return CellAt(sequence, at); });
    }
    void Append(int64_t sequence, int64_t token) const {
        text[sequence * kMaxLen + lengths[sequence]++] = token;
    }
};

// The prompts' K and V, and the first token of each sequence, as if it were the only one sampled by
// a pass.
void Prefill(void* modelMemory) {
    const auto& m = *static_cast<const ModelMemory*>(modelMemory);
    for (int64_t sequence = 0; sequence < kNumSeqs; ++sequence) {
        for (int64_t position = 0; position < kPrompts[sequence]; ++position) {
            const int64_t token = PromptToken(sequence, position);
            m.Append(sequence, token);
            m.CellAt(sequence, position) = CellOf(sequence, position, token);
        }
        const int64_t token = m.Sample(sequence, kPrompts[sequence]);
        m.Append(sequence, token);
        m.sampledTokenIds[sequence * kRows] = token;
    }
}

// The draft model reads the text, not the target's cache, and is wrong now and then.
void Draft(void* modelMemory) {
    const auto& m = *static_cast<const ModelMemory*>(modelMemory);
    for (int64_t sequence = 0; sequence < kNumSeqs; ++sequence) {
        const int64_t* const text = m.text + sequence * kMaxLen;
        std::vector<int64_t> guess(text, text + m.lengths[sequence]);
        for (int64_t j = 0; j < kSpecTokens; ++j) {
            const auto length = static_cast<int64_t>(guess.size());
            const bool wrong = Mix(7, static_cast<uint64_t>(length + sequence)) % 4 == 0;
            const int64_t token = NextToken(length, [&](int64_t at) {
                return CellOf(sequence, at, guess[static_cast<size_t>(at)]);
            });
            guess.push_back(wrong ? (token + 1) % kVocabulary : token);
            m.specToken[sequence * kSpecTokens + j] = guess.back();
        }
    }
}

// One pass of the target model over all rows: it writes their K and V, samples behind each of them,
// and accepts the spec tokens that it would have chosen too.
void Verify(void* modelMemory) {
    const auto& m = *static_cast<const ModelMemory*>(modelMemory);
    for (int64_t sequence = 0; sequence < kNumSeqs; ++sequence) {
        const int64_t first = sequence * kRows;
        for (int64_t row = first; row < first + kRows; ++row) {
            m.cache[m.slotMapping[row]] =
                CellOf(sequence, m.inputPositions[row], m.inputTokens[row]);
        }
        int64_t* const sampled = m.sampledTokenIds + first;
        std::fill(sampled, sampled + kRows, -1);
        int64_t accepted = 0;
        for (int64_t j = 0; j < kRows; ++j) {
            sampled[j] = m.Sample(sequence, m.inputPositions[first + j] + 1);
            m.Append(sequence, sampled[j]);
            if (j == kSpecTokens || sampled[j] != m.inputTokens[first + j + 1]) {
                break;  // the next row's token is not what should stand there
            }
            ++accepted;
        }
        m.acceptedNum[sequence] = accepted;
        *m.accepted += accepted;
        *m.proposed += kSpecTokens;
    }
}

// Every sequence's blocks lie all over the cache.
std::vector<int64_t> BlockTables() {
    std::vector<int64_t> tables;
    for (int64_t sequence = 0; sequence < kNumSeqs; ++sequence) {
        for (int64_t column = 0; column < kMaxBlocks; ++column) {
            tables.push_back((kMaxBlocks - 1 - column) * kNumSeqs + sequence);
        }
    }
    return tables;
}

bool DecodeSpeculatively(aclrtStream stream) {
    constexpr int64_t kAllRows = kNumSeqs * kRows;
    const DeviceTensor inputTokens({kNumSeqs, kRows}, std::vector<int64_t>(kAllRows, 0));
    const DeviceTensor sampledTokenIds({kNumSeqs, kRows}, std::vector<int64_t>(kAllRows, -1));
    std::vector<int64_t> positions;  // one less each than the first pass has
    for (const int64_t prompt : kPrompts) {
        for (int64_t j = 0; j < kRows; ++j) {
            positions.push_back(prompt - 1 + j);
        }
    }
    const DeviceTensor inputPositions({kNumSeqs, kRows}, positions);
    const DeviceTensor seqLens({kNumSeqs, kRows}, std::vector<int64_t>(kAllRows, 0));
    const DeviceTensor slotMapping({kNumSeqs, kRows}, std::vector<int64_t>(kAllRows, -1));
    const DeviceTensor blockTables({kNumSeqs, kMaxBlocks}, BlockTables());
    const DeviceTensor specToken({kNumSeqs, kSpecTokens},
                                 std::vector<int64_t>(kNumSeqs * kSpecTokens, 0));
    const DeviceTensor acceptedNum({kNumSeqs}, std::vector<int64_t>(kNumSeqs, 0));
    const DeviceArray<uint64_t> cache(std::vector<uint64_t>(kNumSeqs * kMaxBlocks * kBlockSize, 0));
    const DeviceArray<int64_t> text(std::vector<int64_t>(kNumSeqs * kMaxLen, -1));
    const DeviceArray<int64_t> lengths(std::vector<int64_t>(kNumSeqs, 0));
    const DeviceArray<int64_t> counts(std::vector<int64_t>(2, 0));
    ModelMemory memory{cache.Address(),           text.Address(),           lengths.Address(),
                       counts.Address(),          counts.Address() + 1,     blockTables.Address(),
                       inputTokens.Address(),     inputPositions.Address(), slotMapping.Address(),
                       sampledTokenIds.Address(), specToken.Address(),      acceptedNum.Address()};

    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnAdvanceStepV2GetWorkspaceSize(
        inputTokens.Handle(), sampledTokenIds.Handle(), inputPositions.Handle(), seqLens.Handle(),
        slotMapping.Handle(), blockTables.Handle(), specToken.Handle(), acceptedNum.Handle(),
        kNumSeqs, kNumSeqs, kBlockSize, &workspaceSize, &executor));
    CHECK(aclSetAclOpExecutorRepeatable(executor));
    void* workspace = nullptr;
    if (workspaceSize > 0) {
        CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    }

    CHECK(aclrtLaunchHostFunc(stream, Prefill, &memory));
    int passes = 0;
    int64_t shortest = 0;
    while (shortest < kGenerate) {
        CHECK(aclrtLaunchHostFunc(stream, Draft, &memory));
        CHECK(aclnnAdvanceStepV2(workspace, workspaceSize, executor, stream));
        CHECK(aclrtLaunchHostFunc(stream, Verify, &memory));
        CHECK(aclrtSynchronizeStream(stream));
        ++passes;
        const std::vector<int64_t> now = lengths.Get();
        shortest = kMaxLen;
        for (size_t sequence = 0; sequence < kNumSeqs; ++sequence) {
            shortest = std::min(shortest, now[sequence] - kPrompts[sequence]);
        }
    }
    CHECK(aclDestroyAclOpExecutor(executor));
    if (workspace != nullptr) {
        CHECK(aclrtFree(workspace));
    }

    const std::vector<int64_t> count = counts.Get();
    std::printf("%lld tokens of every sequence in %d passes\n", static_cast<long long>(shortest),
                passes);
    std::printf("accepted %lld of %lld spec tokens: %.0f %%\n", static_cast<long long>(count[1]),
                static_cast<long long>(count[0]),
                100.0 * static_cast<double>(count[1]) / static_cast<double>(count[0]));
    const std::vector<int64_t> written = text.Get();
    bool same = true;
    for (int64_t sequence = 0; sequence < kNumSeqs; ++sequence) {
        const std::vector<int64_t> plain = DecodePlainly(sequence);
        const bool equal = std::equal(plain.begin(), plain.end(),
                                      written.begin() + sequence * kMaxLen + kPrompts[sequence]);
        std::printf("sequence %lld: %s\n", static_cast<long long>(sequence),
                    equal ? "the text of plain decoding" : "ANOTHER TEXT than by plain decoding");
        same = same && equal;
    }
    return same;
}

}  // namespace

int main() {
    aclrtStream stream = OpenStream();
    const bool same = DecodeSpeculatively(stream);
    CloseStream(stream);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
