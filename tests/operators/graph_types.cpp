// SPDX-License-Identifier: Apache-2.0
// Runs graphs of one operator each, as a script says: test_graph_types.py writes it.
//
//   graph_types SCRIPT FOLDER
//
// A line is one of
//   type NAME
//   list NAME in|out COUNT          a dynamic input or output
//   input NAME DTYPE FILE RANK DIM...
//   const NAME DTYPE FILE RANK DIM...
//   attr NAME KIND VALUE...
//   run CASE OUTPUTS
// and each run prints "CASE ok", or "CASE failed: MESSAGE", and a line "DTYPE DIM..." for each
// output, whose bytes are in FOLDER/CASE.OUTPUT. A graph that computes runs again on a stream, in
// device memory, and has to have the same outputs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "all_ops.h"
#include "ge/ge_api.h"

namespace {

struct Input {
    std::string name;
    ge::Tensor tensor;
    bool isConst;
};

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
            words >> type_;
            inputs_.clear();
            operator_ = ge::OperatorFactory::CreateOperator("tested", type_.c_str());
        } else if (word == "list") {
            std::string name;
            std::string form;
            uint32_t count = 0;
            words >> name >> form >> count;
            Grown(operator_).Grow(name, form == "in", count);
        } else if (word == "input" || word == "const") {
            ReadInput(words, word == "const");
        } else if (word == "attr") {
            ReadAttribute(words);
        } else if (word == "run") {
            std::string name;
            size_t outputs = 0;
            words >> name >> outputs;
            Run(name, outputs);
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
        inputs_.push_back(
            {name, ge::Tensor(desc, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()),
             isConst});
    }

    void ReadAttribute(std::istringstream& words) {
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

    void Run(const std::string& name, size_t outputs) {
        std::vector<ge::Operator> sources;
        std::vector<ge::Tensor> given;
        for (const Input& input : inputs_) {
            if (input.isConst) {
                auto made = ge::op::Const(input.name.c_str()).set_attr_value(input.tensor);
                operator_.SetInput(input.name.c_str(), made);
                sources.push_back(made);
                continue;
            }
            auto source =
                ge::op::Data(input.name.c_str()).set_attr_index(static_cast<int64_t>(given.size()));
            operator_.SetInput(input.name.c_str(), source);
            sources.push_back(source);
            given.push_back(input.tensor);
        }
        std::vector<size_t> places(outputs);
        for (size_t place = 0; place < outputs; ++place) {
            places[place] = place;
        }
        ge::Graph graph("tested");
        graph.SetInputs(sources).SetOutputs({{operator_, places}});
        std::vector<ge::Tensor> results;
        const uint32_t id = id_++;
        if (session_.AddGraph(id, graph) != ge::SUCCESS ||
            session_.RunGraph(id, given, results) != ge::SUCCESS) {
            std::string message = ge::GEGetErrorMsgV2().GetString();
            std::replace(message.begin(), message.end(), '\n', ' ');
            std::printf("%s failed: %s\n", name.c_str(), message.c_str());
            return;
        }
        const std::string wrong = RunOnStream(id, given, results);
        if (!wrong.empty()) {
            std::printf("%s failed: %s\n", name.c_str(), wrong.c_str());
            return;
        }
        std::printf("%s ok\n", name.c_str());
        for (size_t place = 0; place < results.size(); ++place) {
            Write(name + "." + std::to_string(place), results[place]);
        }
    }

    // Returns what is wrong with the run.
    std::string RunOnStream(uint32_t id, const std::vector<ge::Tensor>& given,
                            const std::vector<ge::Tensor>& wanted) {
        const DeviceTensors inputs(given);
        DeviceTensors outputs(wanted);
        for (ge::Tensor& output : outputs.tensors) {
            std::memset(output.GetData(), 0xa5, output.GetSize());
        }
        if (session_.RunGraphWithStreamAsync(id, stream_, inputs.tensors, outputs.tensors) !=
                ge::SUCCESS ||
            aclrtSynchronizeStream(stream_) != ACL_SUCCESS) {
            return std::string("on a stream: ") + ge::GEGetErrorMsgV2().GetString();
        }
        for (size_t place = 0; place < wanted.size(); ++place) {
            const ge::Tensor& made = outputs.tensors[place];
            if (made.GetTensorDesc().GetShape().GetDims() !=
                    wanted[place].GetTensorDesc().GetShape().GetDims() ||
                std::memcmp(made.GetData(), wanted[place].GetData(), made.GetSize()) != 0) {
                return "on a stream: output " + std::to_string(place) + " differs";
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
    std::string type_;
    ge::Operator operator_;
    std::vector<Input> inputs_;
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
