// SPDX-License-Identifier: Apache-2.0
// Runs graphs of one operator each, as a script says: test_graph_types.py writes it.
//
//   graph_types SCRIPT FOLDER
//
// A line is one of
//   type NAME
//   input NAME DTYPE FILE RANK DIM...
//   attr NAME KIND VALUE...
//   run CASE OUTPUTS
// and each run prints "CASE ok", or "CASE failed: MESSAGE", and a line "DTYPE DIM..." for each
// output, whose bytes are in FOLDER/CASE.OUTPUT.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "all_ops.h"
#include "ge/ge_api.h"

namespace {

struct Input {
    std::string name;
    ge::Tensor tensor;
};

class Script {
 public:
    explicit Script(std::string folder) : folder_(std::move(folder)), session_({}) {}

    void Line(const std::string& line) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "type") {
            words >> type_;
            inputs_.clear();
            operator_ = ge::OperatorFactory::CreateOperator("tested", type_.c_str());
        } else if (word == "input") {
            ReadInput(words);
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
    void ReadInput(std::istringstream& words) {
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
            {name, ge::Tensor(desc, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size())});
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
            auto source = ge::op::Data(input.name.c_str())
                              .set_attr_index(static_cast<int64_t>(sources.size()));
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
        std::printf("%s ok\n", name.c_str());
        for (size_t place = 0; place < results.size(); ++place) {
            Write(name + "." + std::to_string(place), results[place]);
        }
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
    std::string type_;
    ge::Operator operator_;
    std::vector<Input> inputs_;
    uint32_t id_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 || ge::GEInitialize({}) != ge::SUCCESS) {
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
