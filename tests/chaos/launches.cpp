// SPDX-License-Identifier: Apache-2.0
// AdvanceStep on buffers that no other thread touches, launched, replayed, in task groups and in
// loops. What comes of it is compared with the plain loop of tests/reference.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "chaos/actions.h"
#include "chaos/buffers.h"
#include "chaos/disturb.h"
#include "reference/advance_step_reference.h"

namespace chaos {
namespace {

using reference::AdvanceStepData;

AdvanceStepData MakeRows(Worker& worker) {
    support::Random& random = worker.random;
    const bool isLarge = worker.MayKeepMore() && random.OneIn(3);
    AdvanceStepData data;
    const int64_t most =
        isLarge ? worker.world.mostRows : std::min<int64_t>(worker.world.mostRows, 2000);
    data.numSeqs = 1 + random.Size(most);
    data.numQueries = data.numSeqs - random.Between(1, std::min<int64_t>(data.numSeqs - 1, 3));
    data.blockSize = random.Between(1, 32);
    data.maxBlocks = data.numSeqs > 100000 ? 2 : random.Between(1, 6);
    const int64_t tokens = data.blockSize * data.maxBlocks;
    const int64_t salt = random.Between(1, 1000);
    for (int64_t row = 0; row < data.numSeqs; ++row) {
        data.inputTokens.push_back(row);
        data.inputPositions.push_back(row + salt);
        // Mostly far from the end of the table.
        data.seqLens.push_back((row * 7 + salt) % (tokens / 2 + 1));
        data.slotMapping.push_back(salt);
        for (int64_t column = 0; column < data.maxBlocks; ++column) {
            data.blockTables.push_back(row * data.maxBlocks + column + salt);
        }
    }
    for (int64_t query = 0; query < data.numQueries; ++query) {
        data.sampledTokenIds.push_back(query * 3 + salt);
    }
    if (random.OneIn(6)) {
        data.seqLens[static_cast<size_t>(random.Between(0, data.numQueries - 1))] = tokens;
    }
    return data;
}

// The call with its tensors.
class Batch {
 public:
    Batch(Worker* worker, const AdvanceStepData& data) : worker_(worker), buffers(worker) {
        for (size_t i = 0; i < tensors_.size(); ++i) {
            const std::vector<int64_t>& values = *data.Tensors()[i];
            const auto rows = static_cast<int64_t>(values.size());
            const int64_t table[] = {data.numSeqs, data.maxBlocks};
            const int64_t column[] = {rows, 1};
            const int64_t* const shape = i == 5 ? table : column;
            const uint64_t dims = i == 5 || i == 1 ? 2 : 1;
            void* const address = buffers.Add(values.data(), values.size() * sizeof(int64_t));
            isUsable_ = isUsable_ && address != nullptr;
            tensors_[i] = aclCreateTensor(shape, dims, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape,
                                          dims, address);
        }
        seqs_ = data.numSeqs;
        queries_ = data.numQueries;
        blockSize_ = data.blockSize;
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch() {
        for (const aclTensor* tensor : tensors_) {
            (void)aclDestroyTensor(tensor);
        }
    }
    bool IsUsable() const { return isUsable_; }

    // How many of the launches were queued.
    int64_t Launch(int64_t count) {
        Worker& worker = *worker_;
        int64_t queued = 0;
        const bool isRepeated = worker.random.OneIn(3);
        aclOpExecutor* executor = nullptr;
        for (int64_t i = 0; i < count; ++i) {
            uint64_t size = 0;
            if ((!isRepeated || i == 0) && !Plan(&size, &executor)) {
                return queued;
            }
            if (isRepeated && i == 0) {
                (void)CHAOS_CALL(aclSetAclOpExecutorRepeatable, executor);
            }
            const int code =
                CHAOS_CALL(aclnnAdvanceStep, nullptr, size, executor, worker.ownStream);
            queued += code == 0 ? 1 : 0;
        }
        if (isRepeated) {
            (void)CHAOS_CALL(aclDestroyAclOpExecutor, executor);
        }
        return queued;
    }

 private:
    bool Plan(uint64_t* size, aclOpExecutor** executor) {
        Worker& worker = *worker_;
        return CHAOS_CALL(aclnnAdvanceStepGetWorkspaceSize, tensors_[0], tensors_[1], tensors_[2],
                          tensors_[3], tensors_[4], tensors_[5], seqs_, queries_, blockSize_, size,
                          executor) == 0;
    }

    Worker* worker_;
    std::array<aclTensor*, 6> tensors_{};
    int64_t seqs_ = 0;
    int64_t queries_ = 0;
    int64_t blockSize_ = 0;
    bool isUsable_ = true;

 public:
    Buffers buffers;
};

// Launches into a model, perhaps in a task group, which is perhaps updated; and replays it.
int64_t Replayed(Worker& worker, Batch& batch) {
    const aclrtStream stream = worker.ownStream;
    const bool isGroup = worker.random.OneIn(3);
    aclmdlRI model = nullptr;
    aclrtTaskGrp group = nullptr;
    if (CHAOS_CALL(aclmdlRICaptureBegin, stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) != 0) {
        return 0;
    }
    const bool hasGroup = isGroup && CHAOS_CALL(aclmdlRICaptureTaskGrpBegin, stream) == 0;
    const int64_t launched = batch.Launch(hasGroup ? 1 : worker.random.Between(1, 2));
    const bool isWhole = !hasGroup || CHAOS_CALL(aclmdlRICaptureTaskGrpEnd, stream, &group) == 0;
    if (CHAOS_CALL(aclmdlRICaptureEnd, stream, &model) != 0 || model == nullptr) {
        return 0;
    }
    int64_t steps = 0;
    for (int64_t count = worker.random.Between(1, 2); count > 0; --count) {
        if (CHAOS_CALL(aclmdlRIExecuteAsync, model, stream) == 0) {
            steps += launched;
        }
    }
    // The same launch again: an update changes nothing that can be seen.
    if (hasGroup && isWhole && CHAOS_CALL(aclmdlRICaptureTaskUpdateBegin, stream, group) == 0) {
        (void)batch.Launch(1);
        (void)CHAOS_CALL(aclmdlRICaptureTaskUpdateEnd, stream);
    }
    (void)CHAOS_CALL(aclmdlRIDestroy, model);
    return steps;
}

// The state after some of the runs, from none to all; whether a run found bad data.
struct Outcome {
    AdvanceStepData data;
    bool hasFault = false;
};

Outcome After(const AdvanceStepData& before, int64_t runs) {
    Outcome outcome{before};
    for (int64_t i = 0; i < runs; ++i) {
        outcome.hasFault |= reference::AdvanceStepStandard(outcome.data).has_value();
    }
    return outcome;
}

bool Holds(const Buffers& buffers, const AdvanceStepData& data) {
    for (size_t i = 0; i < data.Tensors().size(); ++i) {
        const std::vector<int64_t>& values = *data.Tensors()[i];
        if (std::memcmp(buffers.At(i), values.data(), values.size() * sizeof(int64_t)) != 0) {
            return false;
        }
    }
    return true;
}

}  // namespace

void LaunchAdvanceStep(Worker& worker) {
    const Quiet quiet(worker.world);
    if (!worker.MakeOwnIdle()) {
        return;
    }
    const AdvanceStepData before = MakeRows(worker);
    Batch batch(&worker, before);
    if (!batch.IsUsable()) {
        return;
    }
    const int64_t steps = worker.random.OneIn(3) ? Replayed(worker, batch)
                                                 : batch.Launch(worker.random.Between(1, 3));
    // The end of the registration waits for the work as well.
    const bool synchronizes = !worker.random.OneIn(3);
    const int synchronized =
        synchronizes ? CHAOS_CALL(aclrtSynchronizeStream, worker.ownStream) : ACL_SUCCESS;
    if (!batch.buffers.Release()) {
        return;
    }
    World& world = worker.world;
    const bool isQuiet = quiet.Lasts();
    const Outcome all = After(before, steps);
    const int expected = all.hasFault ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_SUCCESS;
    const int code = synchronizes ? synchronized : expected;
    const std::string what = " of AdvanceStep with " + std::to_string(before.numSeqs) + " rows";
    // Another thread that synchronises the device may take the report of a failure.
    const bool isReported = code == expected || (code == 0 && world.threads > 1);
    if (isQuiet && !isReported && steps > 0 &&
        (code == 0 || code == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION)) {
        Fail(world, std::to_string(steps) + " runs" + what + ": the synchronisation returned " +
                        std::to_string(code) + ", expected " + std::to_string(expected));
    }
    bool isRight = Holds(batch.buffers, all.data);
    // Work that was dropped has written nothing, also not a part.
    for (int64_t some = 0; !isRight && !(isQuiet && isReported) && some < steps; ++some) {
        isRight = Holds(batch.buffers, After(before, some).data);
    }
    if (!isRight) {
        Fail(world, std::string("wrong result after ") + std::to_string(steps) + " runs" + what +
                        (isQuiet ? ", undisturbed" : ", disturbed by an end or an abort"));
    }
    world.launches += static_cast<uint64_t>(steps);
    world.rows += static_cast<uint64_t>(steps * before.numSeqs);
    world.verified += 1;
}

}  // namespace chaos
