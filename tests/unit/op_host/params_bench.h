// SPDX-License-Identifier: Apache-2.0
// Arguments of phase one as plain values, correct until a test changes them.
#ifndef ADVANCE_STEP_TESTS_UNIT_OP_HOST_PARAMS_BENCH_H_
#define ADVANCE_STEP_TESTS_UNIT_OP_HOST_PARAMS_BENCH_H_

#include <vector>

#include "op_host/advance_step/advance_step_family.h"
#include "src/base/dtype.h"

namespace unit {

struct OwnedView {
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    aclDataType dataType = ACL_INT64;
    aclFormat format = ACL_FORMAT_ND;
    int64_t offset = 0;

    OwnedView() = default;
    explicit OwnedView(std::vector<int64_t> shape) { Reshape(std::move(shape)); }

    // Contiguous.
    void Reshape(std::vector<int64_t> shape) {
        dims = std::move(shape);
        strides.assign(dims.size(), 1);
        for (size_t axis = dims.size(); axis-- > 1;) {
            strides[axis - 1] = strides[axis] * dims[axis];
        }
    }

    advance_step::op::TensorView View() const {
        advance_step::op::TensorView view;
        view.dataType = dataType;
        view.format = format;
        view.rank = static_cast<int64_t>(dims.size());
        view.dims = dims.data();
        view.strides = strides.data();
        view.offset = offset;
        view.itemSize = static_cast<int64_t>(advstep::SizeOf(dataType));
        return view;
    }
};

struct ParamsBench {
    ParamsBench(int64_t sequences, int64_t queries, int64_t tokensPerBlock, int64_t maxBlocks)
        : inputTokens({sequences}),
          sampledTokenIds({queries, 1}),
          inputPositions({sequences}),
          seqLens({sequences}),
          slotMapping({sequences}),
          blockTables({sequences, maxBlocks}),
          numSeqs(sequences),
          numQueries(queries),
          blockSize(tokensPerBlock) {}

    OwnedView inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables;
    std::vector<OwnedView> more;  // tensors after AdvanceStep's
    int64_t numSeqs, numQueries, blockSize;

    // Points into this object, until the next call.
    advstep::AdvanceStepParams Params() {
        views_ = {inputTokens.View(), sampledTokenIds.View(), inputPositions.View(),
                  seqLens.View(),     slotMapping.View(),     blockTables.View()};
        for (const OwnedView& tensor : more) {
            views_.push_back(tensor.View());
        }
        return {views_.data(), numSeqs, numQueries, blockSize};
    }

 private:
    std::vector<advance_step::op::TensorView> views_;
};

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_OP_HOST_PARAMS_BENCH_H_
