// SPDX-License-Identifier: Apache-2.0
// Runs small graphs, as a script says: test_graph_types.py writes it.
//
//   graph_types SCRIPT FOLDER
//
// A line is one of
//   type NAME OPERATOR              begins an operator; the next lines are its own
//   list NAME in|out COUNT          a dynamic input or output
//   input NAME DTYPE FILE RANK DIM...
//   const NAME DTYPE FILE RANK DIM...
//   link NAME OPERATOR              an input that is the first output of an operator before it
//   attr NAME KIND VALUE...
//   run CASE OUTPUTS [captured]     runs the graph of the operators so far; the last one has its
//   outputs
// and each run prints "CASE ok", or "CASE failed: MESSAGE", and a line "DTYPE DIM..." for each
// output, whose bytes are in FOLDER/CASE.OUTPUT. A graph that computes runs again on a stream, in
// device memory, and if it is to be captured a second time by a model. All have to have the same
// outputs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "all_ops.h"
#include "ge/ge_api.h"

namespace {

// A handle that makes dynamic inputs and outputs of any type.
class Grown : public ge::Operator {
 public:
    explicit Grown(const ge::Operator& op) : ge::Operator(op) {}
    void Grow(const std::string& name, bool isInput, uint32_t count) {
        if (isInput) {
            DeclareDynamicInputs(name.c_str(), count, true);
        } else {
            DeclareDynamicOutputs(name.c_str(), count);
        }
    }
};

// Tensors in device memory that is freed with the object.
class DeviceTensors {
 public:
    explicit DeviceTensors(const std::vector<ge::Tensor>& like) {
        for (const ge::Tensor& tensor : like) {
            void* address = nullptr;
            if (aclrtMalloc(&address, tensor.GetSize() + 1, ACL_MEM_MALLOC_HUGE_FIRST) !=
                ACL_SUCCESS) {
                std::exit(3);
            }
            std::memcpy(address, tensor.GetData(), tensor.GetSize());
            ge::Tensor made(tensor.GetTensorDesc());
            made.SetData(static_cast<uint8_t*>(address), tensor.GetSize(), [](uint8_t*) {});
            tensors.push_back(made);
        }
    }
    ~DeviceTensors() {
        for (ge::Tensor& tensor : tensors) {
            (void)aclrtFree(tensor.GetData());
        }
    }
    DeviceTensors(const DeviceTensors&) = delete;
    DeviceTensors& operator=(const DeviceTensors&) = delete;

    std::vector<ge::Tensor> tensors;
};

class Script {
 public:
    explicit Script(std::string folder) : folder_(std::move(folder)), session_({}) {
        if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream_) != ACL_SUCCESS) {
            std::exit(3);
        }
    }

    void Line(const std::string& line) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "type") {
            std::string type;
            words >> type >> name_;
            operators_[name_] = ge::OperatorFactory::CreateOperator(name_.c_str(), type.c_str());
        } else if (word == "list") {
            std::string name;
            std::string form;
            uint32_t count = 0;
            words >> name >> form >> count;
            Grown(operators_[name_]).Grow(name, form == "in", count);
        } else if (word == "input" || word == "const") {
            ReadInput(words, word == "const");
        } else if (word == "link") {
            std::string name;
            std::string source;
            words >> name >> source;
            operators_[name_].SetInput(name.c_str(), operators_[source], 0U);
        } else if (word == "attr") {
            ReadAttribute(words);
        } else if (word == "run") {
            std::string name;
            size_t outputs = 0;
            std::string captured;
            words >> name >> outputs >> captured;
            Run(name, outputs, !captured.empty());
        }
    }

 private:
    void ReadInput(std::istringstream& words, bool isConst) {
        std::string name;
        std::string file;
        int32_t dtype = 0;
        size_t rank = 0;
        words >> name >> dtype >> file >> rank;
        std::vector<int64_t> dims(rank);
        for (int64_t& dim : dims) {
            words >> dim;
        }
        std::ifstream stream(folder_ + "/" + file, std::ios::binary);
        std::vector<char> bytes((std::istreambuf_iterator<char>(stream)),
                                std::istreambuf_iterator<char>());
        const ge::TensorDesc desc(ge::Shape(dims), ge::FORMAT_ND, static_cast<ge::DataType>(dtype));
        const ge::Tensor tensor(desc, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
        const std::string of = name_ + "." + name;
        if (isConst) {
            auto made = ge::op::Const(of.c_str()).set_attr_value(tensor);
            operators_[name_].SetInput(name.c_str(), made);
            sources_.push_back(made);
            return;
        }
        auto made = ge::op::Data(of.c_str()).set_attr_index(static_cast<int64_t>(given_.size()));
        operators_[name_].SetInput(name.c_str(), made);
        sources_.push_back(made);
        given_.push_back(tensor);
    }

    void ReadAttribute(std::istringstream& words) {
        ge::Operator& operator_ = operators_[name_];
        std::string name;
        std::string kind;
        words >> name >> kind;
        if (kind == "Float") {
            float value = 0;
            words >> value;
            operator_.SetAttr(name.c_str(), value);
        } else if (kind == "Bool") {
            bool value = false;
            words >> value;
            operator_.SetAttr(name.c_str(), value);
        } else if (kind == "Int") {
            int64_t value = 0;
            words >> value;
            operator_.SetAttr(name.c_str(), value);
        } else if (kind == "String") {
            std::string value;
            words >> value;
            operator_.SetAttr(name.c_str(), value);
        } else if (kind == "Type") {
            int value = 0;
            words >> value;
            operator_.SetAttr(name.c_str(), static_cast<ge::DataType>(value));
        } else {
            const std::vector<int64_t> values((std::istream_iterator<int64_t>(words)),
                                              std::istream_iterator<int64_t>());
            operator_.SetAttr(name.c_str(), values);
        }
    }

    void Run(const std::string& name, size_t outputs, bool isCaptured) {
        const std::vector<ge::Operator> sources = std::exchange(sources_, {});
        const std::vector<ge::Tensor> given = std::exchange(given_, {});
        const ge::Operator tested = std::exchange(operators_, {})[name_];
        std::vector<size_t> places(outputs);
        for (size_t place = 0; place < outputs; ++place) {
            places[place] = place;
        }
        ge::Graph graph("tested");
        graph.SetInputs(sources).SetOutputs({{tested, places}});
        std::vector<ge::Tensor> results;
        const uint32_t id = id_++;
        if (session_.AddGraph(id, graph) != ge::SUCCESS ||
            session_.RunGraph(id, given, results) != ge::SUCCESS) {
            std::string message = ge::GEGetErrorMsgV2().GetString();
            std::replace(message.begin(), message.end(), '\n', ' ');
            std::printf("%s failed: %s\n", name.c_str(), message.c_str());
            return;
        }
        const std::string wrong = RunOnStream(id, given, results, isCaptured);
        if (!wrong.empty()) {
            std::printf("%s failed: %s\n", name.c_str(), wrong.c_str());
            return;
        }
        std::printf("%s ok\n", name.c_str());
        for (size_t place = 0; place < results.size(); ++place) {
            Write(name + "." + std::to_string(place), results[place]);
        }
    }

    // Queues a run on the stream, by a model if it is captured, and waits.
    bool Queue(uint32_t id, const DeviceTensors& inputs, DeviceTensors* outputs, bool isCaptured) {
        const auto queue = [&] {
            return session_.RunGraphWithStreamAsync(id, stream_, inputs.tensors,
                                                    outputs->tensors) == ge::SUCCESS;
        };
        if (!isCaptured) {
            return queue() && aclrtSynchronizeStream(stream_) == ACL_SUCCESS;
        }
        aclmdlRI model = nullptr;
        const bool isQueued =
            aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS &&
            queue();
        const bool hasEnded = aclmdlRICaptureEnd(stream_, &model) == ACL_SUCCESS;
        const bool hasRun = isQueued && hasEnded &&
                            aclmdlRIExecuteAsync(model, stream_) == ACL_SUCCESS &&
                            aclrtSynchronizeStream(stream_) == ACL_SUCCESS;
        return (!hasEnded || aclmdlRIDestroy(model) == ACL_SUCCESS) && hasRun;
    }

    // Returns what is wrong with the runs.
    std::string RunOnStream(uint32_t id, const std::vector<ge::Tensor>& given,
                            const std::vector<ge::Tensor>& wanted, bool isCaptured) {
        const DeviceTensors inputs(given);
        DeviceTensors outputs(wanted);
        for (int captured = 0; captured <= (isCaptured ? 1 : 0); ++captured) {
            for (ge::Tensor& output : outputs.tensors) {
                std::memset(output.GetData(), 0xa5, output.GetSize());
            }
            const std::string way = captured == 1 ? "captured: " : "on a stream: ";
            if (!Queue(id, inputs, &outputs, captured == 1)) {
                return way + ge::GEGetErrorMsgV2().GetString();
            }
            for (size_t place = 0; place < wanted.size(); ++place) {
                const ge::Tensor& made = outputs.tensors[place];
                if (made.GetTensorDesc().GetShape().GetDims() !=
                        wanted[place].GetTensorDesc().GetShape().GetDims() ||
                    std::memcmp(made.GetData(), wanted[place].GetData(), made.GetSize()) != 0) {
                    return way + "output " + std::to_string(place) + " differs";
                }
            }
        }
        return "";
    }

    void Write(const std::string& file, const ge::Tensor& tensor) const {
        std::printf("%d", static_cast<int>(tensor.GetTensorDesc().GetDataType()));
        for (const int64_t dim : tensor.GetTensorDesc().GetShape().GetDims()) {
            std::printf(" %lld", static_cast<long long>(dim));
        }
        std::puts("");
        std::ofstream stream(folder_ + "/" + file, std::ios::binary);
        stream.write(reinterpret_cast<const char*>(tensor.GetData()),
                     static_cast<std::streamsize>(tensor.GetSize()));
    }

    std::string folder_;
    ge::Session session_;
    aclrtStream stream_ = nullptr;
    // The graph that is made.
    std::map<std::string, ge::Operator> operators_;
    std::string name_;  // of the operator that is described
    std::vector<ge::Operator> sources_;
    std::vector<ge::Tensor> given_;
    uint32_t id_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 || aclInit(nullptr) != ACL_SUCCESS || ge::GEInitialize({}) != ge::SUCCESS) {
        return 2;
    }
    {
        Script script(argv[2]);
        std::ifstream lines(argv[1]);
        for (std::string line; std::getline(lines, line);) {
            script.Line(line);
        }
    }
    return ge::GEFinalize() == ge::SUCCESS ? 0 : 1;
}
