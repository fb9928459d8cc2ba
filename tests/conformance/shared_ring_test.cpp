// SPDX-License-Identifier: Apache-2.0
// A KV cache that processes share: one decodes with AdvanceStep and writes, others read.
#include "conformance/sharing.h"
#include "support/advance_step_batch.h"

namespace conformance {
namespace {

constexpr int64_t kSequences = 12, kQueries = 10, kBlockSize = 16, kBlocksEach = 8;
constexpr size_t kCells = kSequences * kBlocksEach * kBlockSize;
constexpr size_t kCacheBytes = kCells * sizeof(int64_t);
constexpr uint64_t kSteps = 60;

// The same batch in every process. Each sequence has its own blocks.
reference::AdvanceStepData FirstBatch() {
    reference::AdvanceStepData data;
    data.numSeqs = kSequences;
    data.numQueries = kQueries;
    data.blockSize = kBlockSize;
    data.maxBlocks = kBlocksEach;
    for (int64_t row = 0; row < kSequences; ++row) {
        data.inputTokens.push_back(1000 + row);
        data.inputPositions.push_back(row);
        data.seqLens.push_back(row + 1);
        data.slotMapping.push_back(0);
        for (int64_t column = 0; column < kBlocksEach; ++column) {  // 3 and 8 share no factor
            data.blockTables.push_back(row + (column * 3 + row) % kBlocksEach * kSequences);
        }
    }
    data.sampledTokenIds.assign(kQueries, 0);
    return data;
}
std::vector<int64_t> SampledAt(uint64_t step) {
    std::vector<int64_t> tokens;
    for (uint64_t query = 0; query < kQueries; ++query) {
        tokens.push_back(static_cast<int64_t>((step + 1) * 100 + query));
    }
    return tokens;
}

// A reader, on one stream: at[0] the cache, at[1] the notify of written steps, at[2] that of read
// ones. It compares the cache after each step with what the reference says it holds.
void ReadAllSteps(Words* w) {
    reference::AdvanceStepData data = FirstBatch();
    std::vector<int64_t> expected(kCells, 0);
    void* host = nullptr;
    if (!Keep(w, aclrtMallocHost(&host, kCacheBytes))) {
        return;
    }
    for (uint64_t step = 0; step < kSteps && w->code == 0; ++step) {
        data.sampledTokenIds = SampledAt(step);
        (void)reference::AdvanceStepStandard(data);
        for (size_t query = 0; query < kQueries; ++query) {
            expected[static_cast<size_t>(data.slotMapping[query])] = data.inputTokens[query];
        }
        Keep(w, aclrtWaitAndResetNotify(w->Pointer(1), nullptr, 0)) &&
            Keep(w, aclrtMemcpyAsync(host, kCacheBytes, w->Pointer(0), kCacheBytes,
                                     ACL_MEMCPY_DEVICE_TO_HOST, nullptr)) &&
            Keep(w, aclrtRecordNotify(w->Pointer(2), nullptr)) &&
            Keep(w, aclrtSynchronizeStream(nullptr));
        if (w->code == 0 && std::memcmp(host, expected.data(), kCacheBytes) != 0) {
            w->code = -1;
            std::strncpy(w->text, ("wrong cache after step " + std::to_string(step)).c_str(),
                         sizeof(w->text) - 1);
        }
    }
}

// at[3]: the shareable handle of the cache; text: both keys. at[0..2] as ReadAllSteps wants them.
void Join(Words* w) {
    Words cache{0, kSharedUnit, 0, w->at[3]};
    ImportPhysical(&cache);
    Keep(w, cache.code);
    w->at[0] = cache.at[0];
    const std::string keys = w->text;
    const size_t part = keys.find(' ');
    aclrtNotify written = nullptr;
    aclrtNotify read = nullptr;
    Keep(w, aclrtNotifyImportByKey(&written, keys.substr(0, part).c_str(), 0)) &&
        Keep(w, aclrtNotifyImportByKey(&read, keys.substr(part + 1).c_str(), 0));
    w->Set(1, written);
    w->Set(2, read);
}

struct Reader {
    ChildProcess process;
    support::Owned<&aclrtDestroyNotify> written;
    support::Owned<&aclrtDestroyNotify> read;

    void Open(uint64_t shareable) {
        ASSERT_TRUE(Gave(0, process.Run(&Begin)));
        std::string keys;
        for (auto* notify : {&written, &read}) {
            aclrtNotify made = nullptr;
            char key[65];
            ASSERT_TRUE(IsOk(aclrtCreateNotify(&made, 0)));
            ASSERT_TRUE(IsOk(aclrtNotifyGetExportKey(made, key, sizeof(key), 2)));
            *notify = support::Owned<&aclrtDestroyNotify>(made);
            keys += std::string(keys.empty() ? "" : " ") + key;
        }
        const Words joined = process.Run(&Join, WithText(keys, {0, 0, 0, shareable}));
        ASSERT_TRUE(Gave(0, joined));
        process.Start(&ReadAllSteps, joined);
    }
};

// The writer runs ahead of neither reader by more than one step: the cache is read whole.
class SharedRingTest : public support::DeviceTest {};

TEST_F(SharedRingTest, OneDecodesAndTwoRead) {
    Words cache{0, kSharedUnit};
    MakePhysical(&cache);
    ASSERT_TRUE(Gave(0, cache));
    ASSERT_TRUE(IsOk(aclrtMemset(cache.Pointer(0), kSharedUnit, 0, kCacheBytes)));
    ASSERT_TRUE(IsOk(aclrtMemExportToShareableHandle(cache.Pointer(2), ACL_MEM_HANDLE_TYPE_NONE,
                                                     kToAll, &cache.at[3])));
    Reader readers[2];
    for (Reader& reader : readers) {
        ASSERT_NO_FATAL_FAILURE(reader.Open(cache.at[3]));
    }
    support::AdvanceStepBatch batch(FirstBatch());
    ASSERT_TRUE(IsOk(batch.Plan()));
    const support::Stream stream = support::MakeStream();
    const support::PinnedArray<int64_t> slots(kQueries);
    const support::PinnedArray<int64_t> sampled(kQueries);
    for (uint64_t step = 0; step < kSteps; ++step) {
        const std::vector<int64_t> tokens = SampledAt(step);
        std::copy(tokens.begin(), tokens.end(), sampled.Get());
        ASSERT_TRUE(IsOk(aclrtMemcpyAsync(batch.Address(support::kSampledTokenIds), sampled.Bytes(),
                                          sampled.Get(), sampled.Bytes(), ACL_MEMCPY_HOST_TO_DEVICE,
                                          stream.Get())));
        ASSERT_TRUE(IsOk(batch.Run(stream.Get())));
        ASSERT_TRUE(
            IsOk(aclrtMemcpy(slots.Get(), slots.Bytes(), batch.Address(support::kSlotMapping),
                             slots.Bytes(), ACL_MEMCPY_DEVICE_TO_HOST)));
        if (step > 0) {
            for (const Reader& reader : readers) {
                ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(reader.read.Get(), stream.Get(), 0)));
            }
        }
        for (size_t query = 0; query < kQueries; ++query) {
            auto* const cells = static_cast<int64_t*>(cache.Pointer(0));
            auto* const token = static_cast<int64_t*>(batch.Address(support::kInputTokens)) + query;
            ASSERT_TRUE(
                IsOk(aclrtMemcpyAsync(cells + slots[query], sizeof(int64_t), token, sizeof(int64_t),
                                      ACL_MEMCPY_DEVICE_TO_DEVICE, stream.Get())));
        }
        for (const Reader& reader : readers) {
            ASSERT_TRUE(IsOk(aclrtRecordNotify(reader.written.Get(), stream.Get())));
        }
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    for (Reader& reader : readers) {
        EXPECT_TRUE(Gave(0, reader.process.Result()));
    }
}

}  // namespace
}  // namespace conformance
