// SPDX-License-Identifier: Apache-2.0
// Prefill of each prompt, and decode steps of the whole batch, in aclnn calls.

#include "device_llama.h"

#include <limits>
#include <string>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_argmax.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_ge_tensor.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"
#include "aclnnop/aclnn_index_copy.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_prompt_flash_attention.h"
#include "aclnnop/aclnn_rms_norm.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"
#include "aclnnop/aclnn_swi_glu.h"

namespace llama {
namespace {

constexpr int8_t kCubeMathType = 0;
constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();
const double kScale = 1 / std::sqrt(static_cast<double>(kHeadSize));
char layoutOfTokens[] = "BSH";

struct DeviceLayer {
    DeviceTensor attentionNorm, query, key, value, output, gateNorm, gateUp, down;
    DeviceTensor keys, values;  // the cache: [slots, kKeyWidth]
};

struct DeviceModel {
    DeviceTensor embedding, norm, logits, cosine, sine;
    std::vector<DeviceLayer> layers;
};

DeviceModel Upload(const Model& model, int64_t slots) {
    const auto matrix = [](int64_t rows, int64_t columns, const Values& values) {
        return DeviceTensor::Of<float>({rows, columns}, values);
    };
    const auto vector = [](const Values& values) {
        return DeviceTensor::Of<float>({static_cast<int64_t>(values.size())}, values);
    };
    DeviceModel made{
        matrix(kVocabulary, kWidth, model.embedding), vector(model.norm),
        matrix(kWidth, kVocabulary, model.logits),    matrix(kMostTokens, kHeadSize, model.cosine),
        matrix(kMostTokens, kHeadSize, model.sine),   {}};
    for (const Layer& layer : model.layers) {
        made.layers.push_back(
            {vector(layer.attentionNorm), matrix(kWidth, kHeads * kHeadSize, layer.query),
             matrix(kWidth, kKeyWidth, layer.key), matrix(kWidth, kKeyWidth, layer.value),
             matrix(kHeads * kHeadSize, kWidth, layer.output), vector(layer.gateNorm),
             matrix(kWidth, 2 * kHidden, layer.gateUp), matrix(kHidden, kWidth, layer.down),
             DeviceTensor::Empty<float>({slots, kKeyWidth}),
             DeviceTensor::Empty<float>({slots, kKeyWidth})});
    }
    return made;
}

// The intermediate results of so many rows.
struct Buffers {
    explicit Buffers(int64_t count)
        : rows(count),
          state(DeviceTensor::Empty<float>({rows, kWidth})),
          normalised(DeviceTensor::Empty<float>({rows, kWidth})),
          cosine(DeviceTensor::Empty<float>({rows, kHeadSize})),
          sine(DeviceTensor::Empty<float>({rows, kHeadSize})),
          query(DeviceTensor::Empty<float>({rows, kHeads * kHeadSize})),
          turnedQuery(DeviceTensor::Empty<float>({rows, kHeads * kHeadSize})),
          key(DeviceTensor::Empty<float>({rows, kKeyWidth})),
          turnedKey(DeviceTensor::Empty<float>({rows, kKeyWidth})),
          value(DeviceTensor::Empty<float>({rows, kKeyWidth})),
          attention(DeviceTensor::Empty<float>({rows, kHeads * kHeadSize})),
          change(DeviceTensor::Empty<float>({rows, kWidth})),
          gateUp(DeviceTensor::Empty<float>({rows, 2 * kHidden})),
          gated(DeviceTensor::Empty<float>({rows, kHidden})),
          logits(DeviceTensor::Empty<float>({rows, kVocabulary})) {}

    int64_t rows;
    DeviceTensor state, normalised, cosine, sine, query, turnedQuery, key, turnedKey, value,
        attention, change, gateUp, gated, logits;
};

// A list of one tensor, as attention takes keys and values. It owns the tensor's description.
class TensorList {
 public:
    explicit TensorList(const DeviceTensor& tensor) {
        const aclTensor* const member = tensor.NewHandle();
        list_ = aclCreateTensorList(&member, 1);
    }
    ~TensorList() { CHECK(aclDestroyTensorList(list_)); }
    TensorList(TensorList&&) = delete;
    aclTensorList* Handle() const { return list_; }

 private:
    aclTensorList* list_;
};

class Llama {
 public:
    Llama(const Model& model, int64_t sequences, aclrtStream stream)
        : stream_(stream),
          sequences_(sequences),
          model_(Upload(model, sequences * kTableWidth * kBlockSize)),
          rows_(sequences + 1),  // AdvanceStep wants a row of padding
          tokens_(DeviceTensor::Of<int64_t>({rows_}, Values64(0))),
          sampled_(DeviceTensor::Of<int64_t>({sequences, 1}, Values64(0, sequences))),
          positions_(DeviceTensor::Of<int64_t>({rows_}, Values64(0))),
          lengths_(DeviceTensor::Of<int64_t>({rows_}, Values64(0))),
          slots_(DeviceTensor::Of<int64_t>({rows_}, Values64(0))),
          tables_(DeviceTensor::Of<int64_t>({rows_, kTableWidth}, Tables())),
          places_(DeviceTensor::Of<int64_t>({1, kMostTokens}, Count(kMostTokens))),
          hidden_(DeviceTensor::Empty<uint8_t>({sequences, kMostTokens})),
          decode_(sequences) {
        const float one = 1;
        alpha_ = aclCreateScalar(const_cast<float*>(&one), ACL_FLOAT);
        const std::vector<int64_t> whole(static_cast<size_t>(sequences), kMostTokens);
        wholeLengths_ = aclCreateIntArray(whole.data(), whole.size());
    }
    ~Llama() {
        CHECK(aclDestroyScalar(alpha_));
        CHECK(aclDestroyIntArray(wholeLengths_));
    }
    Llama(Llama&&) = delete;

    /// Fills the cache with a prompt, and samples the token after it.
    void Prefill(int64_t sequence, const std::vector<int64_t>& prompt) {
        const auto count = static_cast<int64_t>(prompt.size());
        const Buffers buffers(count);
        std::vector<int64_t> slots;
        std::vector<uint8_t> later;  // hidden: what comes later
        for (int64_t position = 0; position < count; ++position) {
            slots.push_back(BlockOf(sequence, position / kBlockSize) * kBlockSize +
                            position % kBlockSize);
            for (int64_t other = 0; other < count; ++other) {
                later.push_back(other > position ? 1 : 0);
            }
        }
        const DeviceTensor mask = DeviceTensor::Of<uint8_t>({count, count}, later);
        const auto attend = [&](const DeviceLayer&) {
            RUN(stream_, aclnnPromptFlashAttention,
                buffers.turnedQuery.View({1, count, kHeads * kHeadSize}).Handle(),
                buffers.turnedKey.View({1, count, kKeyWidth}).Handle(),
                buffers.value.View({1, count, kKeyWidth}).Handle(), nullptr, mask.Handle(), nullptr,
                kHeads, kScale, kUnlimited, kUnlimited, layoutOfTokens, kKeyHeads,
                buffers.attention.View({1, count, kHeads * kHeadSize}).Handle());
        };
        const DeviceTensor tokens = DeviceTensor::Of<int64_t>({count}, prompt);
        const DeviceTensor positions = DeviceTensor::Of<int64_t>({count}, Count(count));
        Forward(buffers, tokens, positions, DeviceTensor::Of<int64_t>({count}, slots), attend);
        const int64_t last = (count - 1) * kWidth;
        Sample(buffers.normalised.View({1, kWidth}, last), buffers.logits.View({1, kVocabulary}),
               sampled_.View({1, 1}, sequence));
        CHECK(aclrtSynchronizeStream(stream_));
        CHECK(aclrtMemcpy(lengths_.View({1}, sequence).Address(), sizeof count, &count,
                          sizeof count, ACL_MEMCPY_HOST_TO_DEVICE));
    }

    /// Queues a decode step of all sequences: the sampled tokens go in, the next ones come out.
    void Decode() {
        RUN(stream_, aclnnAdvanceStep, tokens_.Handle(), sampled_.Handle(), positions_.Handle(),
            lengths_.Handle(), slots_.Handle(), tables_.Handle(), rows_, sequences_, kBlockSize);
        RUN(stream_, aclnnGeTensor, places_.Handle(), lengths_.View({sequences_, 1}).Handle(),
            hidden_.Handle());
        // The lengths are data, so the step can be replayed: attention sees the whole table, and
        // the mask hides what lies beyond a sequence.
        const auto attend = [&](const DeviceLayer& layer) {
            const Shape blocks{sequences_ * kTableWidth, kBlockSize, kKeyWidth};
            const TensorList keys(layer.keys.View(blocks));
            const TensorList values(layer.values.View(blocks));
            RUN(stream_, aclnnIncreFlashAttentionV4,
                decode_.turnedQuery.View({sequences_, 1, kHeads * kHeadSize}).Handle(),
                keys.Handle(), values.Handle(), nullptr, hidden_.Handle(), wholeLengths_, nullptr,
                nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                tables_.View({sequences_, kTableWidth}).Handle(), nullptr, kHeads, kScale,
                layoutOfTokens, kKeyHeads, kBlockSize, int64_t{1},
                decode_.attention.View({sequences_, 1, kHeads * kHeadSize}).Handle());
        };
        Forward(decode_, tokens_.View({sequences_}), positions_.View({sequences_}),
                slots_.View({sequences_}), attend);
        Sample(decode_.normalised, decode_.logits, sampled_);
    }

    std::vector<int64_t> Sampled() const {
        CHECK(aclrtSynchronizeStream(stream_));
        return sampled_.Read<int64_t>();
    }

 private:
    // Blocks of a sequence lie apart from one another.
    int64_t BlockOf(int64_t sequence, int64_t place) const {
        const int64_t blocks = sequences_ * kTableWidth;
        return ((sequence * kTableWidth + place) * 5 + 3) % blocks;
    }
    std::vector<int64_t> Values64(int64_t value, int64_t count = 0) const {
        return std::vector<int64_t>(static_cast<size_t>(count > 0 ? count : rows_), value);
    }
    static std::vector<int64_t> Count(int64_t count) {
        std::vector<int64_t> numbers;
        for (int64_t number = 0; number < count; ++number) {
            numbers.push_back(number);
        }
        return numbers;
    }
    std::vector<int64_t> Tables() const {
        std::vector<int64_t> tables;
        for (int64_t row = 0; row < rows_; ++row) {
            for (int64_t place = 0; place < kTableWidth; ++place) {
                tables.push_back(row < sequences_ ? BlockOf(row, place) : 0);
            }
        }
        return tables;
    }

    void Multiply(const DeviceTensor& input, const DeviceTensor& matrix, const DeviceTensor& out) {
        RUN(stream_, aclnnMatmul, input.Handle(), matrix.Handle(), out.Handle(), kCubeMathType);
    }
    void Normalise(const DeviceTensor& input, const DeviceTensor& gamma, const DeviceTensor& out) {
        RUN(stream_, aclnnRmsNorm, input.Handle(), gamma.Handle(), kEpsilon, out.Handle(), nullptr);
    }
    void Rotate(const Buffers& buffers, const DeviceTensor& input, int64_t heads,
                const DeviceTensor& out) {
        const Shape shape{buffers.rows, 1, heads, kHeadSize};
        const Shape angles{buffers.rows, 1, 1, kHeadSize};
        RUN(stream_, aclnnRotaryPositionEmbedding, input.View(shape).Handle(),
            buffers.cosine.View(angles).Handle(), buffers.sine.View(angles).Handle(), int64_t{0},
            out.View(shape).Handle());
    }

    // The layers over rows of tokens, up to the last normalisation. attend(layer) computes the
    // attention of the turned queries.
    template <typename Attend>
    void Forward(const Buffers& buffers, const DeviceTensor& tokens, const DeviceTensor& positions,
                 const DeviceTensor& slots, Attend&& attend) {
        RUN(stream_, aclnnEmbedding, model_.embedding.Handle(), tokens.Handle(),
            buffers.state.Handle());
        RUN(stream_, aclnnIndexSelect, model_.cosine.Handle(), int64_t{0}, positions.Handle(),
            buffers.cosine.Handle());
        RUN(stream_, aclnnIndexSelect, model_.sine.Handle(), int64_t{0}, positions.Handle(),
            buffers.sine.Handle());
        for (const DeviceLayer& layer : model_.layers) {
            Normalise(buffers.state, layer.attentionNorm, buffers.normalised);
            Multiply(buffers.normalised, layer.query, buffers.query);
            Multiply(buffers.normalised, layer.key, buffers.key);
            Multiply(buffers.normalised, layer.value, buffers.value);
            Rotate(buffers, buffers.query, kHeads, buffers.turnedQuery);
            Rotate(buffers, buffers.key, kKeyHeads, buffers.turnedKey);
            RUN(stream_, aclnnInplaceIndexCopy, layer.keys.Handle(), int64_t{0}, slots.Handle(),
                buffers.turnedKey.Handle());
            RUN(stream_, aclnnInplaceIndexCopy, layer.values.Handle(), int64_t{0}, slots.Handle(),
                buffers.value.Handle());
            attend(layer);
            Multiply(buffers.attention, layer.output, buffers.change);
            RUN(stream_, aclnnInplaceAdd, buffers.state.Handle(), buffers.change.Handle(), alpha_);
            Normalise(buffers.state, layer.gateNorm, buffers.normalised);
            Multiply(buffers.normalised, layer.gateUp, buffers.gateUp);
            RUN(stream_, aclnnSwiGlu, buffers.gateUp.Handle(), int64_t{-1}, buffers.gated.Handle());
            Multiply(buffers.gated, layer.down, buffers.change);
            RUN(stream_, aclnnInplaceAdd, buffers.state.Handle(), buffers.change.Handle(), alpha_);
        }
        Normalise(buffers.state, model_.norm, buffers.normalised);
    }

    void Sample(const DeviceTensor& states, const DeviceTensor& logits,
                const DeviceTensor& sampled) {
        Multiply(states, model_.logits, logits);
        RUN(stream_, aclnnArgMax, logits.Handle(), int64_t{1}, true, sampled.Handle());
    }

    aclrtStream stream_;
    int64_t sequences_;
    DeviceModel model_;
    int64_t rows_;
    DeviceTensor tokens_, sampled_, positions_, lengths_, slots_, tables_, places_, hidden_;
    Buffers decode_;
    aclScalar* alpha_ = nullptr;
    aclIntArray* wholeLengths_ = nullptr;
};

}  // namespace

std::vector<std::vector<int64_t>> DeviceTokens(const Model& model,
                                               const std::vector<std::vector<int64_t>>& prompts,
                                               int64_t count, Decoding decoding,
                                               aclrtStream stream) {
    Llama llama(model, static_cast<int64_t>(prompts.size()), stream);
    for (size_t sequence = 0; sequence < prompts.size(); ++sequence) {
        llama.Prefill(static_cast<int64_t>(sequence), prompts[sequence]);
    }
    aclmdlRI step = nullptr;
    if (decoding == Decoding::kReplayed) {
        CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        llama.Decode();
        CHECK(aclmdlRICaptureEnd(stream, &step));
    }
    std::vector<std::vector<int64_t>> tokens(prompts.size());
    for (int64_t token = 0; token < count; ++token) {
        const std::vector<int64_t> sampled = llama.Sampled();
        for (size_t sequence = 0; sequence < prompts.size(); ++sequence) {
            tokens[sequence].push_back(sampled[sequence]);
        }
        if (token + 1 == count) {
            break;
        }
        if (step != nullptr) {
            CHECK(aclmdlRIExecuteAsync(step, stream));
        } else {
            llama.Decode();
        }
    }
    if (step != nullptr) {
        CHECK(aclmdlRIDestroy(step));
    }
    return tokens;
}

}  // namespace llama
