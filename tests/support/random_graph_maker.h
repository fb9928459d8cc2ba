// SPDX-License-Identifier: Apache-2.0
// Makes a graph of AdvanceStep operators from bytes, legal or not, and what it must give, by a
// model that advances plain vectors with the reference.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_RANDOM_GRAPH_MAKER_H_
#define ADVANCE_STEP_TESTS_SUPPORT_RANDOM_GRAPH_MAKER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array_ops.h"
#include "ge/ge_api.h"
#include "op_graph/advance_step_proto.h"
#include "reference/advance_step_reference.h"
#include "support/graph_values.h"
#include "support/random_graph.h"

namespace ge {
REG_OP(NoKernel).INPUT(x, T).OUTPUT(y, T).OP_END_FACTORY_REG(NoKernel)
}  // namespace ge

namespace support {

// Input has Byte() and In(low, high), as FuzzInput.
template <class Input>
class RandomGraphMaker {
 public:
    explicit RandomGraphMaker(Input* input) : input_(*input) {
        data_.numSeqs = input_.In(2, 6);
        data_.numQueries = input_.In(1, data_.numSeqs - 1);
        data_.blockSize = input_.In(1, 4);
        data_.maxBlocks = input_.In(1, 8);
        MakeSources();
        const int64_t count = input_.In(1, 6);
        for (int64_t number = 0; number < count; ++number) {
            MakeOperator("advance" + std::to_string(number));
        }
        Spoil();
        MakeGraph();
    }

    RandomGraph Take() { return std::move(made_); }

 private:
    // A value of the model, and the output that has it in the graph.
    struct Value {
        ge::Operator op;
        std::string output;
        std::vector<int64_t> values;
        bool isConst = false;
    };

    ge::Tensor TensorOf(const std::vector<int64_t>& shape, const std::vector<int64_t>& values) {
        return MakeGraphTensor(shape, values);
    }

    std::vector<int64_t> Numbers(int64_t count, int64_t most) {
        std::vector<int64_t> values;
        for (int64_t i = 0; i < count; ++i) {
            // A value in 32 is negative.
            values.push_back(input_.Byte() % 32 == 31 ? -1 : input_.In(0, most));
        }
        return values;
    }

    Value MakeSource(const std::string& name, const std::vector<int64_t>& shape,
                     const std::vector<int64_t>& values) {
        const ge::Tensor tensor = TensorOf(shape, values);
        if (input_.Byte() % 8 == 7) {
            auto constant = ge::op::Const(name).set_attr_value(tensor);
            if (input_.Byte() % 2 == 0) {
                sources_.push_back(constant);  // else it is found over its links, or is not there
            }
            return {constant, "y", values, true};
        }
        auto data = ge::op::Data(name);
        sources_.push_back(data);
        dataTensors_.emplace_back(data, tensor);
        return {data, "y", values, false};
    }

    void MakeSources() {
        const int64_t reach = data_.blockSize * data_.maxBlocks;
        const int64_t rows = input_.In(1, 4);
        for (int64_t i = 0; i < rows; ++i) {
            rows_.push_back(MakeSource("rows" + std::to_string(i), {data_.numSeqs},
                                       Numbers(data_.numSeqs, std::max<int64_t>(0, reach - 8))));
        }
        sampled_.push_back(
            MakeSource("sampled", {data_.numQueries, 1}, Numbers(data_.numQueries, 1000)));
        const int64_t tables = input_.In(1, 2);
        for (int64_t i = 0; i < tables; ++i) {
            tables_.push_back(MakeSource("tables" + std::to_string(i),
                                         {data_.numSeqs, data_.maxBlocks},
                                         Numbers(data_.numSeqs * data_.maxBlocks, 100)));
        }
    }

    const Value& Pick(const std::vector<Value>& from) {
        return from[static_cast<size_t>(input_.In(0, static_cast<int64_t>(from.size()) - 1))];
    }

    void MakeOperator(const std::string& name) {
        auto op = ge::op::AdvanceStep(name)
                      .set_attr_num_seqs(data_.numSeqs)
                      .set_attr_num_queries(data_.numQueries)
                      .set_attr_block_size(data_.blockSize);
        static const std::array<const char*, 6> names = {"input_tokens",    "sampled_token_ids",
                                                         "input_positions", "seq_lens",
                                                         "slot_mapping",    "block_tables"};
        reference::AdvanceStepData data = data_;
        for (size_t i = 0; i < names.size(); ++i) {
            const Value& value = Pick(i == 1 ? sampled_ : i == 5 ? tables_ : rows_);
            op.SetInput(names[i], value.op, value.output.c_str());
            *data.Tensors()[i] = value.values;
            if (value.isConst && i != 1 && i != 5) {
                made_.codes.insert("E19999");  // updated in place
            }
        }
        if (!operators_.empty() && input_.Byte() % 4 == 0) {
            op.AddControlInput(Pick(results_).op);
        }
        made_.hasDataError = reference::AdvanceStepStandard(data).has_value() || made_.hasDataError;
        operators_.push_back(op);
        for (const auto& [output, values] :
             {std::pair{"input_tokens", data.inputTokens},
              std::pair{"input_positions", data.inputPositions},
              std::pair{"seq_lens", data.seqLens}, std::pair{"slot_mapping", data.slotMapping}}) {
            rows_.push_back({op, output, values, false});
            results_.push_back(rows_.back());
        }
    }

    ge::op::AdvanceStep& PickOperator() {
        return operators_[static_cast<size_t>(
            input_.In(0, static_cast<int64_t>(operators_.size()) - 1))];
    }

    // Now and then one thing that is not allowed.
    void Spoil() {
        switch (input_.Byte() % 32) {
            case 1:
                PickOperator().SetInput("seq_lens", Pick(rows_).op, Pick(rows_).output.c_str());
                made_.codes = {"E19999"};
                break;
            case 2:
                PickOperator().SetInput("nothing", Pick(rows_).op);
                made_.codes = {"E19999"};
                break;
            case 3:
                PickOperator().SetAttr("num_seqs", "text");
                made_.codes.insert("E19999");
                break;
            case 4: {
                auto strange = ge::op::NoKernel("strange");
                strange.SetInput("x", Pick(results_).op, 0U);
                made_.codes.insert("EZ3003");
                break;
            }
            case 5: {
                auto bare = ge::op::AdvanceStep("bare");
                bare.SetInput("seq_lens", Pick(results_).op, 0U);
                made_.codes.insert("E11019");
                break;
            }
            case 6:
                operators_.push_back(ge::op::AdvanceStep("advance0"));
                operators_.back().AddControlInput(operators_.front());
                made_.codes = {"E13009"};
                break;
            case 7:
                operators_.front().AddControlInput(operators_.back());
                operators_.back().AddControlInput(operators_.front());
                made_.codes.insert("E19999");
                break;
            case 8:
                PickOperator().set_attr_block_size(0);
                attributeCode_ = "561002";
                break;
            default:
                break;
        }
    }

    void MakeGraph() {
        // The tensors in the order of the sources; with indices, the sources in another order.
        const bool hasIndices = input_.Byte() % 2 == 0;
        for (size_t i = 0; i < dataTensors_.size(); ++i) {
            dataTensors_[i].first.SetAttr("index", hasIndices ? static_cast<int64_t>(i) : 0);
            made_.tensors.push_back(dataTensors_[i].second);
        }
        if (hasIndices) {
            for (size_t i = sources_.size(); i > 1; --i) {
                std::swap(sources_[i - 1],
                          sources_[static_cast<size_t>(input_.In(0, static_cast<int64_t>(i) - 1))]);
            }
        }
        if (sources_.empty()) {
            sources_.push_back(Pick(rows_).op);
        }
        // Operators that no source leads to, as all of their inputs are Const, are not in the
        // graph; so they are given as well.
        for (const auto& op : operators_) {
            sources_.push_back(op);
        }
        made_.graph.SetInputs(sources_);
        std::vector<std::pair<ge::Operator, ge::AscendString>> outputs;
        const int64_t count = input_.In(0, 6);
        for (int64_t i = 0; i < count; ++i) {
            const Value& value = Pick(rows_);
            outputs.emplace_back(value.op, value.output.c_str());
            // A Const that nothing leads to is skipped.
            ge::Operator found;
            ge::AscendString name;
            value.op.GetName(name);
            if (made_.graph.FindOpByName(name.GetString(), found) == ge::GRAPH_SUCCESS) {
                made_.expected.push_back(value.values);
            }
        }
        made_.graph.SetOutputs(outputs);
        if (attributeCode_) {
            made_.codes.insert(*attributeCode_);
            if (made_.hasDataError) {
                made_.codes.insert("507035");  // of an operator before
            }
        }
        switch (input_.Byte() % 32) {
            case 1:
                made_.tensors.push_back(made_.tensors.empty() ? ge::Tensor()
                                                              : made_.tensors.front());
                made_.codes.insert("E13025");
                break;
            case 2:
                if (!made_.tensors.empty()) {
                    made_.tensors.front() = ge::Tensor(made_.tensors.front().GetTensorDesc());
                    made_.codes.insert("E13025");
                }
                break;
            default:
                break;
        }
    }

    Input& input_;
    reference::AdvanceStepData data_;  // of every operator: sizes and attributes only
    std::vector<Value> rows_;
    std::vector<Value> sampled_;
    std::vector<Value> tables_;
    std::vector<Value> results_;  // those of rows_ that operators make
    std::vector<ge::op::AdvanceStep> operators_;
    std::vector<ge::Operator> sources_;
    std::vector<std::pair<ge::Operator, ge::Tensor>> dataTensors_;
    RandomGraph made_;
    std::optional<std::string> attributeCode_;
};

template <class Input>
RandomGraph MakeRandomGraph(Input* input) {
    return RandomGraphMaker<Input>(input).Take();
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_RANDOM_GRAPH_MAKER_H_
