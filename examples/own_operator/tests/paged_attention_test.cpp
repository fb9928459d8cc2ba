// SPDX-License-Identifier: Apache-2.0
// Tests of aclnnPagedAttention: bits against plain loops, refusals, faults, and a captured decode
// step.
#include <cmath>
#include <cstring>
#include <random>

#include "../aclnn_paged_attention.h"
#include "aclnnop/aclnn_advance_step.h"
#include "own_device.h"

namespace own {
namespace {

// A batch, and its keys and values in a paged cache.
struct Batch {
    int64_t heads = 4, kvHeads = 2, headSize = 8, blocks = 24, blockSize = 4, maxBlocks = 5;
    std::vector<int64_t> lengths;
    std::vector<int32_t> tables;
    std::vector<float> query, keys, values;

    int64_t Seqs() const { return static_cast<int64_t>(lengths.size()); }
    size_t Entry(size_t seq, int64_t token, int64_t kvHead) const {
        const int64_t block =
            tables[seq * static_cast<size_t>(maxBlocks) + static_cast<size_t>(token / blockSize)];
        return static_cast<size_t>(((block * blockSize + token % blockSize) * kvHeads + kvHead) *
                                   headSize);
    }
};

std::vector<float> Random(int64_t count, std::mt19937* random) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) {
        value = static_cast<float>(static_cast<int>((*random)() % 2001) - 1000) / 500;
    }
    return values;
}

Batch MakeBatch(std::vector<int64_t> lengths, int64_t headSize = 8) {
    Batch b;
    std::mt19937 random(static_cast<unsigned>(lengths.size()));
    b.lengths = std::move(lengths);
    b.headSize = headSize;
    for (int64_t i = 0; i < b.Seqs() * b.maxBlocks; ++i) {
        b.tables.push_back(static_cast<int32_t>(i * 7 % b.blocks));
    }
    b.query = Random(b.Seqs() * b.heads * b.headSize, &random);
    b.keys = Random(b.blocks * b.blockSize * b.kvHeads * b.headSize, &random);
    b.values = Random(b.blocks * b.blockSize * b.kvHeads * b.headSize, &random);
    return b;
}

// Plain loops over the tokens of one sequence and head, in double where `T` is double.
template <typename T>
std::vector<T> Reference(const Batch& b, float scale) {
    std::vector<T> out;
    for (size_t seq = 0; seq < b.lengths.size(); ++seq) {
        for (int64_t head = 0; head < b.heads; ++head) {
            const float* const q = &b.query[static_cast<size_t>(
                (static_cast<int64_t>(seq) * b.heads + head) * b.headSize)];
            const int64_t kvHead = head / (b.heads / b.kvHeads);
            std::vector<T> scores;
            for (int64_t token = 0; token < b.lengths[seq]; ++token) {
                T dot = 0;
                for (int64_t i = 0; i < b.headSize; ++i) {
                    dot += static_cast<T>(q[i]) *
                           static_cast<T>(
                               b.keys[b.Entry(seq, token, kvHead) + static_cast<size_t>(i)]);
                }
                scores.push_back(dot * static_cast<T>(scale));
            }
            T most = scores[0];
            for (const T score : scores) {
                most = score > most ? score : most;
            }
            std::vector<T> sums(static_cast<size_t>(b.headSize));
            T weights = 0;
            for (size_t token = 0; token < scores.size(); ++token) {
                const T weight = std::exp(scores[token] - most);
                weights += weight;
                for (size_t i = 0; i < sums.size(); ++i) {
                    sums[i] += weight *
                               static_cast<T>(
                                   b.values[b.Entry(seq, static_cast<int64_t>(token), kvHead) + i]);
                }
            }
            for (const T sum : sums) {
                out.push_back(sum / weights);
            }
        }
    }
    return out;
}

// The tensors of a batch, and its call.
class Call {
 public:
    explicit Call(const Batch& b)
        : query({b.Seqs(), b.heads, b.headSize}, b.query),
          keys({b.blocks, b.blockSize, b.kvHeads, b.headSize}, b.keys),
          values({b.blocks, b.blockSize, b.kvHeads, b.headSize}, b.values),
          tables({b.Seqs(), b.maxBlocks}, b.tables),
          lengths({b.Seqs()}, b.lengths),
          out({b.Seqs(), b.heads, b.headSize}, std::vector<float>(b.query.size(), 9)) {}

    int Plan(double scale) {
        return aclnnPagedAttentionGetWorkspaceSize(query.get(), keys.get(), values.get(),
                                                   tables.get(), lengths.get(), scale, out.get(),
                                                   &workspaceSize, &executor);
    }
    int Run(double scale) {
        const int code = Plan(scale);
        return code != 0 ? code : First(aclnnPagedAttention(nullptr, 0, executor, nullptr));
    }

    OwnTensor<float> query, keys, values;
    OwnTensor<int32_t> tables;
    OwnTensor<int64_t> lengths;
    OwnTensor<float> out;
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;

 private:
    static int First(int code) { return code != 0 ? code : aclrtSynchronizeStream(nullptr); }
};

constexpr double kScale = 0.35;

TEST(PagedAttentionTest, HasTheBitsOfPlainLoopsOnEveryMachine) {
    for (const auto& lengths :
         {std::vector<int64_t>{1}, {20, 1, 4, 5, 13}, std::vector<int64_t>(50, 17)}) {
        const Batch batch = MakeBatch(lengths);
        const std::vector<float> expected = Reference<float>(batch, static_cast<float>(kScale));
        const std::vector<double> precise = Reference<double>(batch, static_cast<float>(kScale));
        for (const Machine& machine : kMachines) {
            SCOPED_TRACE(machine.soc);
            const OwnDevice device(machine);
            Call call(batch);
            ASSERT_EQ(call.Run(kScale), 0) << Message();
            const std::vector<float> got = call.out.Values();
            ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0);
            for (size_t i = 0; i < got.size(); ++i) {
                ASSERT_NEAR(got[i], precise[i], 1e-5);
            }
        }
    }
}

TEST(PagedAttentionTest, NamesTheFirstBadSequenceAndWritesNothing) {
    const OwnDevice device;
    Batch batch = MakeBatch({4, 21, 3, 0});
    Call call(batch);
    EXPECT_EQ(call.Run(kScale), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(Message(),
              "aclrtSynchronizeStream: aclnnPagedAttention: sequence 1: seqLens is 21; expected 1 "
              "<= seqLens <= maxBlocks * blockSize = 20");
    EXPECT_EQ(call.out.Values(), std::vector<float>(batch.query.size(), 9));
}

TEST(PagedAttentionTest, NamesABlockOutsideTheCache) {
    for (const int32_t block : {-1, 24}) {
        const OwnDevice device;
        Batch batch = MakeBatch({4, 9});
        batch.tables[7] = block;  // sequence 1, column 2
        Call call(batch);
        EXPECT_EQ(call.Run(kScale), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        EXPECT_EQ(Message(),
                  "aclrtSynchronizeStream: aclnnPagedAttention: sequence 1: blockTables "
                  "has block " +
                      std::to_string(block) + " in column 2; expected 0 <= block < numBlocks = 24");
        EXPECT_EQ(call.out.Values(), std::vector<float>(batch.query.size(), 9));
    }
}

TEST(PagedAttentionTest, RefusesWrongCalls) {
    const OwnDevice device;
    Call call(MakeBatch({4, 9}));
    const Call other(MakeBatch({4, 9, 2}, 4));
    const std::string begin = "aclnnPagedAttentionGetWorkspaceSize: ";
    EXPECT_EQ(call.Plan(std::nan("")), ACLNN_ERR_INNER_TILING_ERROR);
    EXPECT_EQ(Message(), begin + "scale is nan; expected a finite float");
    const auto plan = [&](aclTensor* keys, aclTensor* lengths, aclTensor* out) {
        return aclnnPagedAttentionGetWorkspaceSize(call.query.get(), keys, call.values.get(),
                                                   call.tables.get(), lengths, kScale, out,
                                                   &call.workspaceSize, &call.executor);
    };
    EXPECT_EQ(plan(other.keys.get(), call.lengths.get(), call.out.get()),
              ACLNN_ERR_INNER_TILING_ERROR);
    EXPECT_EQ(Message(), begin +
                             "keyCache has shape [24, 4, 2, 4]; expected [numBlocks, blockSize, "
                             "numKvHeads, headSize] = [24, 4, 2, 8]");
    EXPECT_EQ(plan(call.keys.get(), other.lengths.get(), call.out.get()),
              ACLNN_ERR_INNER_TILING_ERROR);
    EXPECT_EQ(Message(), begin + "seqLens has shape [3]; expected [numSeqs] = [2]");
    EXPECT_EQ(plan(call.keys.get(), call.lengths.get(), nullptr), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(Message(), begin + "out is null; expected a tensor");
    EXPECT_EQ(plan(call.keys.get(), call.lengths.get(), call.query.get()), ACLNN_ERR_PARAM_INVALID);
}

// The token of a sequence is the index of the largest element of its attention.
struct Sampler {
    const float* attention;
    int64_t* sampled;
    size_t seqs;
    size_t width;
};

void Sample(void* argument) {
    const auto& s = *static_cast<const Sampler*>(argument);
    for (size_t seq = 0; seq < s.seqs; ++seq) {
        const float* const row = s.attention + seq * s.width;
        size_t best = 0;
        for (size_t i = 1; i < s.width; ++i) {
            best = row[i] > row[best] ? i : best;
        }
        s.sampled[seq] = static_cast<int64_t>(best);
    }
}

// AdvanceStep, attention and sampling on one stream, captured as one model.
TEST(PagedAttentionTest, IsAStageOfACapturedDecodeStep) {
    constexpr int kSteps = 4;
    const OwnDevice device;
    // The last sequence is padding, which AdvanceStep wants.
    Batch batch = MakeBatch({3, 7, 1});
    const size_t seqs = batch.lengths.size();
    Call call(batch);
    const auto count = static_cast<int64_t>(seqs);
    const OwnTensor<int64_t> tokens({count}, std::vector<int64_t>(seqs));
    const OwnTensor<int64_t> sampled({count - 1, 1}, std::vector<int64_t>(seqs - 1, 5));
    const OwnTensor<int64_t> positions({count}, {2, 6, 0});
    const OwnTensor<int64_t> slots({count}, std::vector<int64_t>(seqs));
    uint64_t size = 0;
    aclOpExecutor* advance = nullptr;
    ASSERT_EQ(aclnnAdvanceStepGetWorkspaceSize(tokens.get(), sampled.get(), positions.get(),
                                               call.lengths.get(), slots.get(), call.tables.get(),
                                               count, count - 1, batch.blockSize, &size, &advance),
              0)
        << Message();
    ASSERT_EQ(size, 0u);
    ASSERT_EQ(call.Plan(kScale), 0) << Message();
    Sampler sampler{static_cast<const float*>(call.out.address()),
                    static_cast<int64_t*>(sampled.address()), seqs - 1,
                    static_cast<size_t>(batch.heads * batch.headSize)};
    aclrtStream stream = nullptr;
    aclmdlRI model = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    ASSERT_EQ(aclnnAdvanceStep(nullptr, 0, advance, stream), 0) << Message();
    ASSERT_EQ(aclnnPagedAttention(nullptr, 0, call.executor, stream), 0) << Message();
    ASSERT_EQ(aclrtLaunchHostFunc(stream, &Sample, &sampler), 0) << Message();
    ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << Message();
    std::vector<int64_t> expected(seqs - 1, 5);
    for (int step = 0; step < kSteps; ++step) {
        ASSERT_EQ(aclmdlRIExecuteAsync(model, stream), 0) << Message();
        ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << Message();
        const std::vector<int64_t> before = expected;
        for (size_t seq = 0; seq + 1 < seqs; ++seq) {
            ++batch.lengths[seq];
        }
        batch.lengths.back() = call.lengths.Values().back();  // of the padding
        const std::vector<float> out = Reference<float>(batch, static_cast<float>(kScale));
        Sampler plain{out.data(), expected.data(), seqs - 1, sampler.width};
        Sample(&plain);
        EXPECT_EQ(call.lengths.Values(), batch.lengths);
        EXPECT_EQ(call.out.Values(), out);
        EXPECT_EQ(sampled.Values(), expected);
        EXPECT_EQ(tokens.Values()[0], before[0]);
        EXPECT_EQ(tokens.Values()[1], before[1]);
    }
    ASSERT_EQ(aclmdlRIDestroy(model), 0);
    ASSERT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace own
