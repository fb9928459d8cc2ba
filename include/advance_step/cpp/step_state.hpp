// SPDX-License-Identifier: Apache-2.0
/// The tensors of Step with copies on the host. Part of advance_step.hpp, which has the rules.
///
///     StepState state = StepState::Make(sizes);
///     state.stopFlags[2] = 1;                                  // on the host
///     state.Upload();
///     step(state.Arguments(), stream);
///     stream.Synchronize();
///     state.Download();
#ifndef ADVSTEP_ADVANCE_STEP_CPP_STEP_STATE_HPP_
#define ADVSTEP_ADVANCE_STEP_CPP_STEP_STATE_HPP_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "advance_step/cpp/memory.hpp"
#include "advance_step/cpp/operators.hpp"
#include "advance_step/kv_invariants.h"

namespace advance_step {

/// A tensor in device memory, and a copy of its elements on the host. Neither follows the other by
/// itself. T is uint8_t for ACL_BOOL, whose elements are bytes.
template <class T>
class MirroredTensor {
 public:
    /// An empty object, without a tensor.
    MirroredTensor() noexcept = default;

    /// Allocates both, with every element as `value`.
    /// @param[in] shape  rank dims, all >= 1
    static Result<MirroredTensor> TryMake(aclDataType dataType, const int64_t* shape, size_t rank,
                                          T value) {
        MirroredTensor made;
        Result<Tensor> tensor = Tensor::TryAllocate(dataType, shape, rank);
        if (!tensor) {
            return tensor.error();
        }
        made.tensor_ = *std::move(tensor);
        made.host_.assign(made.tensor_.Memory().Size() / sizeof(T), value);
        if (Result<void> copied = made.TryUpload(); !copied) {
            return copied.error();
        }
        return made;
    }

    /// Copies all elements to the device now, independent of streams.
    Result<void> TryUpload() const { return tensor_.TryUpload(host_); }
    /// Copies all elements from the device now, independent of streams.
    Result<void> TryDownload() { return tensor_.Memory().TryDownload(host_.data(), host_.size()); }

    /// An element of the copy on the host, in row-major order.
    T& operator[](int64_t index) noexcept { return host_[static_cast<size_t>(index)]; }
    /// An element of the copy on the host.
    const T& operator[](int64_t index) const noexcept { return host_[static_cast<size_t>(index)]; }
    /// All elements of the copy on the host.
    const std::vector<T>& Host() const noexcept { return host_; }
    /// The tensor on the device.
    const Tensor& OnDevice() const noexcept { return tensor_; }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryUpload. @throws Error
    void Upload() const { TryUpload().value(); }
    /// As TryDownload. @throws Error
    void Download() { TryDownload().value(); }
#endif

 private:
    Tensor tensor_;
    std::vector<T> host_;
};

/// The sizes of StepState, all >= 1. docs/operators/step.md has the letters.
struct StepSizes {
    int64_t slots = 0;       ///< B and S
    int64_t tableWidth = 0;  ///< W: columns of blockTables
    int64_t blocks = 0;      ///< F: blocks of the pool, all of them free at first
    int64_t firstBlock = 0;  ///< the pool has the ids from here on; below are the host's, >= 0
    int64_t inputWidth = 0;  ///< L: columns of inputIds
    int64_t preWidth = 0;    ///< P: columns of preIds
    int64_t blockSize = 0;   ///< tokens per block
};

/// The 22 tensors of Step, with the names of its arguments. It begins with free slots and a full
/// free list.
class StepState {
 public:
    /// An empty object, without tensors.
    StepState() noexcept = default;

    /// Allocates all tensors. The code is that of the first call that fails.
    static Result<StepState> TryMake(const StepSizes& sizes) {
        StepState made;
        made.sizes_ = sizes;
        const int64_t slots = sizes.slots;
        Maker make;
        make(made.stopFlags, ACL_BOOL, {slots}, uint8_t{1});
        make(made.seqLensThisTime, ACL_INT32, {slots}, 0);
        make(made.oriSeqLensEncoder, ACL_INT32, {slots}, 0);
        make(made.seqLensEncoder, ACL_INT32, {slots}, 0);
        make(made.seqLensDecoder, ACL_INT32, {slots}, 0);
        make(made.blockTables, ACL_INT32, {slots, sizes.tableWidth}, -1);
        make(made.encoderBlockLens, ACL_INT32, {slots}, 0);
        make(made.isBlockStep, ACL_BOOL, {slots}, uint8_t{0});
        make(made.stepBlockList, ACL_INT32, {slots}, -1);
        make(made.stepLens, ACL_INT32, {1}, 0);
        make(made.recoverBlockList, ACL_INT32, {slots}, -1);
        make(made.recoverLens, ACL_INT32, {1}, 0);
        make(made.needBlockList, ACL_INT32, {slots}, -1);
        make(made.needBlockLen, ACL_INT32, {1}, 0);
        make(made.usedListLen, ACL_INT32, {slots}, 0);
        make(made.freeList, ACL_INT32, {sizes.blocks}, -1);
        make(made.freeListLen, ACL_INT32, {1}, static_cast<int32_t>(sizes.blocks));
        make(made.inputIds, ACL_INT64, {slots, sizes.inputWidth}, int64_t{0});
        make(made.preIds, ACL_INT64, {slots, sizes.preWidth}, int64_t{0});
        make(made.stepIdx, ACL_INT64, {slots}, int64_t{0});
        make(made.nextTokens, ACL_INT64, {slots}, int64_t{0});
        make(made.firstTokenIds, ACL_INT64, {slots}, int64_t{-1});
        if (!make.failed.empty()) {
            return make.failed.front();
        }
        for (int64_t block = 0; block < sizes.blocks; ++block) {
            made.freeList[block] = static_cast<int32_t>(sizes.firstBlock + block);
        }
        if (Result<void> copied = made.freeList.TryUpload(); !copied) {
            return copied.error();
        }
        return made;
    }

    /// Copies all tensors to the device now, independent of streams.
    Result<void> TryUpload() const {
        return OfAll(*this, [](auto& t) { return t.TryUpload(); });
    }
    /// Copies all tensors from the device now, independent of streams.
    Result<void> TryDownload() {
        return OfAll(*this, [](auto& t) { return t.TryDownload(); });
    }
    /// Checks the copies on the host: advstepCheckKvInvariants.
    Result<void> TryCheck() const {
        AdvStepKvState state{};
        state.batch = sizes_.slots;
        state.tableWidth = sizes_.tableWidth;
        state.freeCapacity = sizes_.blocks;
        state.blockSize = sizes_.blockSize;
        state.firstBlock = static_cast<int32_t>(sizes_.firstBlock);
        state.blockCount = static_cast<int32_t>(sizes_.blocks);
        state.stopFlags = reinterpret_cast<const bool*>(stopFlags.Host().data());
        state.seqLensThisTime = seqLensThisTime.Host().data();
        state.seqLensDecoder = seqLensDecoder.Host().data();
        state.blockTables = blockTables.Host().data();
        state.encoderBlockLens = encoderBlockLens.Host().data();
        state.isBlockStep = reinterpret_cast<const bool*>(isBlockStep.Host().data());
        state.stepBlockList = stepBlockList.Host().data();
        state.usedListLen = usedListLen.Host().data();
        state.freeList = freeList.Host().data();
        if (!stepLens.Host().empty()) {
            state.stepLens = stepLens[0];
            state.freeListLen = freeListLen[0];
        }
        return detail::ToResult(advstepCheckKvInvariants(&state, nullptr, 0));
    }
    /// The arguments of Step, which refer to the tensors of this object.
    StepArguments Arguments() const noexcept {
        StepArguments arguments;
        arguments.stopFlags = stopFlags.OnDevice();
        arguments.seqLensThisTime = seqLensThisTime.OnDevice();
        arguments.oriSeqLensEncoder = oriSeqLensEncoder.OnDevice();
        arguments.seqLensEncoder = seqLensEncoder.OnDevice();
        arguments.seqLensDecoder = seqLensDecoder.OnDevice();
        arguments.blockTables = blockTables.OnDevice();
        arguments.encoderBlockLens = encoderBlockLens.OnDevice();
        arguments.isBlockStep = isBlockStep.OnDevice();
        arguments.stepBlockList = stepBlockList.OnDevice();
        arguments.stepLens = stepLens.OnDevice();
        arguments.recoverBlockList = recoverBlockList.OnDevice();
        arguments.recoverLens = recoverLens.OnDevice();
        arguments.needBlockList = needBlockList.OnDevice();
        arguments.needBlockLen = needBlockLen.OnDevice();
        arguments.usedListLen = usedListLen.OnDevice();
        arguments.freeList = freeList.OnDevice();
        arguments.freeListLen = freeListLen.OnDevice();
        arguments.inputIds = inputIds.OnDevice();
        arguments.preIds = preIds.OnDevice();
        arguments.stepIdx = stepIdx.OnDevice();
        arguments.nextTokens = nextTokens.OnDevice();
        arguments.firstTokenIds = firstTokenIds.OnDevice();
        arguments.blockSize = sizes_.blockSize;
        arguments.encoderDecoderBlockNum = 1;
        return arguments;
    }
    /// The sizes that the object was made with.
    const StepSizes& Sizes() const noexcept { return sizes_; }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryMake. @throws Error
    static StepState Make(const StepSizes& sizes) { return TryMake(sizes).value(); }
    /// As TryUpload. @throws Error
    void Upload() const { TryUpload().value(); }
    /// As TryDownload. @throws Error
    void Download() { TryDownload().value(); }
    /// As TryCheck. @throws Error  with the text of the first violation
    void Check() const { TryCheck().value(); }
#endif

    MirroredTensor<uint8_t> stopFlags;          ///< [slots]
    MirroredTensor<int32_t> seqLensThisTime;    ///< [slots]
    MirroredTensor<int32_t> oriSeqLensEncoder;  ///< [slots]
    MirroredTensor<int32_t> seqLensEncoder;     ///< [slots]
    MirroredTensor<int32_t> seqLensDecoder;     ///< [slots]
    MirroredTensor<int32_t> blockTables;        ///< [slots, tableWidth]
    MirroredTensor<int32_t> encoderBlockLens;   ///< [slots]
    MirroredTensor<uint8_t> isBlockStep;        ///< [slots]
    MirroredTensor<int32_t> stepBlockList;      ///< [slots]
    MirroredTensor<int32_t> stepLens;           ///< [1]
    MirroredTensor<int32_t> recoverBlockList;   ///< [slots]
    MirroredTensor<int32_t> recoverLens;        ///< [1]
    MirroredTensor<int32_t> needBlockList;      ///< [slots]
    MirroredTensor<int32_t> needBlockLen;       ///< [1]
    MirroredTensor<int32_t> usedListLen;        ///< [slots]
    MirroredTensor<int32_t> freeList;           ///< [blocks]
    MirroredTensor<int32_t> freeListLen;        ///< [1]
    MirroredTensor<int64_t> inputIds;           ///< [slots, inputWidth]
    MirroredTensor<int64_t> preIds;             ///< [slots, preWidth]
    MirroredTensor<int64_t> stepIdx;            ///< [slots]
    MirroredTensor<int64_t> nextTokens;         ///< [slots]
    MirroredTensor<int64_t> firstTokenIds;      ///< [slots]

 private:
    // Makes one tensor after the other, until one fails.
    struct Maker {
        std::vector<Error> failed;

        template <class T>
        void operator()(MirroredTensor<T>& tensor, aclDataType dataType,
                        std::initializer_list<int64_t> shape, T value) {
            if (!failed.empty()) {
                return;
            }
            for (const int64_t dim : shape) {
                if (dim < 1) {
                    const std::string message =
                        "StepState::Make: a size is " + std::to_string(dim) + "; expected all >= 1";
                    failed.emplace_back(ACL_ERROR_INVALID_PARAM, message.c_str());
                    return;
                }
            }
            Result<MirroredTensor<T>> made =
                MirroredTensor<T>::TryMake(dataType, shape.begin(), shape.size(), value);
            if (made) {
                tensor = *std::move(made);
            } else {
                failed.push_back(made.error());
            }
        }
    };

    // Calls visit for each tensor, until one fails.
    template <class State, class Visit>
    static Result<void> OfAll(State& state, const Visit& visit) {
        return OfEach(visit, state.stopFlags, state.seqLensThisTime, state.oriSeqLensEncoder,
                      state.seqLensEncoder, state.seqLensDecoder, state.blockTables,
                      state.encoderBlockLens, state.isBlockStep, state.stepBlockList,
                      state.stepLens, state.recoverBlockList, state.recoverLens,
                      state.needBlockList, state.needBlockLen, state.usedListLen, state.freeList,
                      state.freeListLen, state.inputIds, state.preIds, state.stepIdx,
                      state.nextTokens, state.firstTokenIds);
    }
    template <class Visit, class... Tensors>
    static Result<void> OfEach(const Visit& visit, Tensors&... tensors) {
        Result<void> result;
        (void)((result = visit(tensors), result.has_value()) && ...);
        return result;
    }

    StepSizes sizes_;
};

}  // namespace advance_step

#endif /* ADVSTEP_ADVANCE_STEP_CPP_STEP_STATE_HPP_ */
