// SPDX-License-Identifier: Apache-2.0
// Two small networks as graphs, for test_graph_networks.py: a CNN and a transformer.
//
//   graph_networks cnn|transformer|reshape FOLDER
//
// The third has a Data as a shape, which changes in device memory between runs on a stream.
// A line of FOLDER/tensors is "NAME DTYPE RANK DIM...", and FOLDER/NAME has the bytes. The input is
// named input, all others are constants. Each output is written to FOLDER/out.PLACE. The graph runs
// by RunGraph, on a stream, and as a captured model, and all three have to be equal.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "all_ops.h"
#include "ge/ge_api.h"

namespace {

void Check(bool isRight, const char* what) {
    if (!isRight) {
        std::fprintf(stderr, "%s: %s\n", what, ge::GEGetErrorMsgV2().GetString());
        std::exit(1);
    }
}
#define CHECK(condition) Check((condition), #condition)

ge::Tensor ReadTensor(const std::string& folder, const std::string& name,
                      std::istringstream& words) {
    int dtype = 0;
    size_t rank = 0;
    words >> dtype >> rank;
    std::vector<int64_t> dims(rank);
    for (int64_t& dim : dims) {
        words >> dim;
    }
    std::ifstream stream(folder + "/" + name, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)),
                                  std::istreambuf_iterator<char>());
    const ge::TensorDesc desc(ge::Shape(dims), ge::FORMAT_ND, static_cast<ge::DataType>(dtype));
    return ge::Tensor(desc, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// The constants of a network, and its graph.
class Network {
 public:
    explicit Network(const std::string& folder) {
        std::ifstream lines(folder + "/tensors");
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string name;
            words >> name;
            tensors_[name] = ReadTensor(folder, name, words);
        }
        sources_.push_back(input);
    }

    // A Const with the tensor of the folder.
    ge::Operator Weight(const std::string& name) { return Constant(name, tensors_.at(name)); }
    // A Const with integers.
    ge::Operator Ints(const std::vector<int64_t>& values, bool isScalar = false) {
        const ge::Shape shape(isScalar ? std::vector<int64_t>()
                                       : std::vector<int64_t>{static_cast<int64_t>(values.size())});
        const ge::TensorDesc desc(shape, ge::FORMAT_ND, ge::DT_INT64);
        return Constant("ints" + std::to_string(sources_.size()),
                        ge::Tensor(desc, reinterpret_cast<const uint8_t*>(values.data()),
                                   values.size() * sizeof(int64_t)));
    }
    const ge::Tensor& Input() const { return tensors_.at("input"); }
    ge::Graph Of(const std::vector<ge::Operator>& outputs) const {
        ge::Graph graph("network");
        graph.SetInputs(sources_).SetOutputs(outputs);
        return graph;
    }

    ge::op::Data input{"input"};

 private:
    ge::Operator Constant(const std::string& name, const ge::Tensor& tensor) {
        sources_.push_back(ge::op::Const(name.c_str()).set_attr_value(tensor));
        return sources_.back();
    }

    std::map<std::string, ge::Tensor> tensors_;
    std::vector<ge::Operator> sources_;
};

ge::Graph MakeCnn(Network& net) {
    auto filter1 = net.Weight("filter1");
    auto bias1 = net.Weight("bias1");
    auto conv1 = ge::op::Conv2D("conv1")
                     .set_input_x(net.input)
                     .set_input_filter(filter1)
                     .set_input_bias(bias1)
                     .set_attr_strides({1, 1, 1, 1})
                     .set_attr_pads({1, 1, 1, 1})
                     .set_attr_data_format("NCHW");
    auto relu1 = ge::op::Relu("relu1").set_input_x(conv1);
    auto pool1 = ge::op::MaxPool("pool1")
                     .set_input_x(relu1)
                     .set_attr_ksize({1, 1, 2, 2})
                     .set_attr_strides({1, 1, 2, 2})
                     .set_attr_padding("SAME")
                     .set_attr_data_format("NCHW");
    auto filter2 = net.Weight("filter2");
    auto conv2 = ge::op::Conv2D("conv2")
                     .set_input_x(pool1)
                     .set_input_filter(filter2)
                     .set_attr_strides({1, 1, 1, 1})
                     .set_attr_pads({0, 0, 0, 0})
                     .set_attr_groups(2)
                     .set_attr_data_format("NCHW");
    auto scale = net.Weight("scale");
    auto offset = net.Weight("offset");
    auto mean = net.Weight("mean");
    auto variance = net.Weight("variance");
    auto norm = ge::op::BNInfer("norm")
                    .set_input_x(conv2)
                    .set_input_scale(scale)
                    .set_input_offset(offset)
                    .set_input_mean(mean)
                    .set_input_variance(variance)
                    .set_attr_epsilon(1e-5F);
    auto relu2 = ge::op::Relu("relu2").set_input_x(norm);
    auto axes = net.Ints({-1});
    auto rows = ge::op::ReduceMean("rows").set_input_x(relu2).set_input_axes(axes);
    auto shape = net.Ints({2, -1});
    auto flat = ge::op::Reshape("flat").set_input_x(rows).set_input_shape(shape);
    auto weight = net.Weight("weight");
    auto bias = net.Weight("bias");
    auto logits = ge::op::MatMulV2("logits")
                      .set_input_x1(flat)
                      .set_input_x2(weight)
                      .set_input_bias(bias)
                      .set_attr_transpose_x2(true);
    auto odds = ge::op::SoftmaxV2("odds").set_input_x(logits);
    auto last = net.Ints({-1}, true);
    auto best = ge::op::ArgMaxV2("best").set_input_x(odds).set_input_dimension(last).set_attr_dtype(
        ge::DT_INT32);
    return net.Of({odds, best});
}

constexpr int64_t kBatch = 2;
constexpr int64_t kTokens = 5;
constexpr int64_t kHeads = 2;
constexpr int64_t kWidth = 16;

ge::op::LayerNormV4 Normed(Network& net, const std::string& name, ge::Operator& x) {
    auto shape = net.Ints({kWidth});
    auto gamma = net.Weight(name + ".gamma");
    auto beta = net.Weight(name + ".beta");
    return ge::op::LayerNormV4(name.c_str())
        .set_input_x(x, 0)
        .set_input_normalized_shape(shape)
        .set_input_gamma(gamma)
        .set_input_beta(beta)
        .set_attr_epsilon(1e-5F);
}

// [batch * tokens, width] as heads: [batch, heads, tokens, width of a head].
ge::op::Transpose Heads(Network& net, const std::string& name, ge::Operator& x, uint32_t output) {
    auto shape = net.Ints({kBatch, kTokens, kHeads, -1});
    auto wide =
        ge::op::Reshape((name + ".wide").c_str()).set_input_x(x, output).set_input_shape(shape);
    auto perm = net.Ints({0, 2, 1, 3});
    return ge::op::Transpose(name.c_str()).set_input_x(wide).set_input_perm(perm);
}

// Attention of rows of [batch * tokens, width], behind a residual.
ge::op::Add Attention(Network& net, ge::Operator& x) {
    auto normed = Normed(net, "norm1", x);
    auto qkv = net.Weight("qkv");
    auto product = ge::op::MatMulV2("product").set_input_x1(normed, 0).set_input_x2(qkv);
    auto axis = net.Ints({1}, true);
    ge::op::Split parts("parts");
    parts.create_dynamic_output_y(3).set_input_split_dim(axis).set_input_x(product);
    parts.set_attr_num_split(3);
    auto query = Heads(net, "query", parts, 0);
    auto key = Heads(net, "key", parts, 1);
    auto value = Heads(net, "value", parts, 2);
    auto scores =
        ge::op::BatchMatMulV2("scores").set_input_x1(query).set_input_x2(key).set_attr_adj_x2(true);
    auto scaled = ge::op::Muls("scaled").set_input_x(scores).set_attr_value(0.35355338F);
    auto mask = net.Weight("mask");
    auto masked = ge::op::Add("masked").set_input_x1(scaled).set_input_x2(mask);
    auto odds = ge::op::SoftmaxV2("odds").set_input_x(masked);
    auto seen = ge::op::BatchMatMulV2("seen").set_input_x1(odds).set_input_x2(value);
    auto perm = net.Ints({0, 2, 1, 3});
    auto turned = ge::op::Transpose("turned").set_input_x(seen).set_input_perm(perm);
    auto shape = net.Ints({-1, kWidth});
    auto rows = ge::op::Reshape("rows").set_input_x(turned).set_input_shape(shape);
    auto weight = net.Weight("out");
    auto out = ge::op::MatMulV2("mixed").set_input_x1(rows).set_input_x2(weight);
    return ge::op::Add("attention").set_input_x1(x).set_input_x2(out);
}

ge::Graph MakeTransformer(Network& net) {
    auto table = net.Weight("embedding");
    auto first = net.Ints({0}, true);
    auto embedded = ge::op::GatherV2("embedded")
                        .set_input_x(table)
                        .set_input_indices(net.input)
                        .set_input_axis(first);
    auto positions = net.Weight("positions");
    auto placed = ge::op::Add("placed").set_input_x1(embedded).set_input_x2(positions);
    auto rows = net.Ints({-1, kWidth});
    auto x = ge::op::Reshape("x").set_input_x(placed).set_input_shape(rows);
    auto seen = Attention(net, x);
    auto normed = Normed(net, "norm2", seen);
    auto up = net.Weight("up");
    auto wide = ge::op::MatMulV2("wide").set_input_x1(normed, 0).set_input_x2(up);
    auto gelu = ge::op::Gelu("gelu").set_input_x(wide);
    auto down = net.Weight("down");
    auto narrow = ge::op::MatMulV2("narrow").set_input_x1(gelu).set_input_x2(down);
    auto sum = ge::op::Add("sum").set_input_x1(seen).set_input_x2(narrow);
    auto shape = net.Ints({kBatch, kTokens, kWidth});
    auto tokens = ge::op::Reshape("tokens").set_input_x(sum).set_input_shape(shape);
    auto axes = net.Ints({1});
    auto mean = ge::op::ReduceMean("mean").set_input_x(tokens).set_input_axes(axes);
    auto begin = net.Ints({0, -1});
    auto end = net.Ints({kBatch, 0});
    auto steps = net.Ints({1, 1});
    auto last = ge::op::StridedSlice("last")
                    .set_input_x(tokens)
                    .set_input_begin(begin)
                    .set_input_end(end)
                    .set_input_strides(steps)
                    .set_attr_shrink_axis_mask(2);
    auto axis = net.Ints({-1}, true);
    ge::op::ConcatV2 both("both");
    both.create_dynamic_input_x(2).set_dynamic_input_x(0, mean).set_dynamic_input_x(1, last);
    both.set_input_concat_dim(axis).set_attr_N(2);
    auto halves = ge::op::Cast("halves").set_input_x(both).set_attr_dst_type(ge::DT_FLOAT16);
    return net.Of({tokens, halves});
}

// Device memory with the bytes of a tensor.
ge::Tensor ToDevice(const ge::Tensor& from) {
    void* address = nullptr;
    CHECK(aclrtMalloc(&address, from.GetSize(), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    CHECK(aclrtMemcpy(address, from.GetSize(), from.GetData(), from.GetSize(),
                      ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    ge::Tensor made(from.GetTensorDesc());
    made.SetData(static_cast<uint8_t*>(address), from.GetSize(),
                 [](uint8_t* memory) { (void)aclrtFree(memory); });
    return made;
}

// Overwrites the outputs, and checks that work makes them again.
template <typename Work>
void CheckAgain(aclrtStream stream, std::vector<ge::Tensor>& outputs,
                const std::vector<ge::Tensor>& wanted, const Work& work) {
    for (ge::Tensor& output : outputs) {
        CHECK(aclrtMemset(output.GetData(), output.GetSize(), 0x5a, output.GetSize()) ==
              ACL_SUCCESS);
    }
    work();
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    for (size_t place = 0; place < wanted.size(); ++place) {
        CHECK(std::memcmp(outputs[place].GetData(), wanted[place].GetData(),
                          wanted[place].GetSize()) == 0);
    }
}

void RunOnStream(ge::Session& session, const ge::Tensor& input,
                 const std::vector<ge::Tensor>& wanted) {
    aclrtStream stream = nullptr;
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS && aclrtCreateStream(&stream) == ACL_SUCCESS);
    const std::vector<ge::Tensor> inputs = {ToDevice(input)};
    std::vector<ge::Tensor> outputs;
    for (const ge::Tensor& one : wanted) {
        outputs.push_back(ToDevice(one));
    }
    const auto queue = [&] {
        CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, outputs) == ge::SUCCESS);
    };
    CheckAgain(stream, outputs, wanted, queue);
    aclmdlRI model = nullptr;
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
    queue();
    CHECK(aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS);
    for (int replay = 0; replay < 2; ++replay) {
        CheckAgain(stream, outputs, wanted,
                   [&] { CHECK(aclmdlRIExecuteAsync(model, stream) == ACL_SUCCESS); });
    }
    CHECK(aclmdlRIDestroy(model) == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_SUCCESS);
}

// Runs on a stream; the shape is what the work in front of the run has written.
void RunReshapes(ge::Session& session) {
    auto x = ge::op::Data("x").set_attr_index(0);
    auto shape = ge::op::Data("shape").set_attr_index(1);
    auto reshape = ge::op::Reshape("reshape").set_input_x(x).set_input_shape(shape);
    ge::Graph graph("reshapes");
    graph.SetInputs({x, shape}).SetOutputs(std::vector<ge::Operator>{reshape});
    CHECK(session.AddGraph(2, graph) == ge::SUCCESS);
    aclrtStream stream = nullptr;
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS && aclrtCreateStream(&stream) == ACL_SUCCESS);
    const std::vector<float> values(12, 1.5F);
    const std::vector<std::vector<int64_t>> shapes = {{2, 6}, {3, 4}, {3, 4}, {2, 6}, {12, 1}};
    const ge::TensorDesc ofX(ge::Shape({12}), ge::FORMAT_ND, ge::DT_FLOAT);
    const ge::TensorDesc ofShape(ge::Shape({2}), ge::FORMAT_ND, ge::DT_INT64);
    const std::vector<ge::Tensor> inputs = {
        ToDevice(ge::Tensor(ofX, reinterpret_cast<const uint8_t*>(values.data()), 48)),
        ToDevice(ge::Tensor(ofShape, reinterpret_cast<const uint8_t*>(shapes[1].data()), 16))};
    ge::Tensor memory = inputs[1];
    std::vector<ge::Tensor> outputs = {ToDevice(inputs[0])};
    for (const std::vector<int64_t>& wanted : shapes) {
        CHECK(aclrtMemcpyAsync(memory.GetData(), 16, wanted.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE,
                               stream) == ACL_SUCCESS);
        CHECK(aclrtMemset(outputs[0].GetData(), 48, 0x5a, 48) == ACL_SUCCESS);
        CHECK(session.RunGraphWithStreamAsync(2, stream, inputs, outputs) == ge::SUCCESS);
        CHECK(outputs[0].GetTensorDesc().GetShape().GetDims() == wanted);
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        CHECK(std::memcmp(outputs[0].GetData(), values.data(), 48) == 0);
    }
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
    CHECK(session.RunGraphWithStreamAsync(2, stream, inputs, outputs) == ge::FAILED);
    aclmdlRI model = nullptr;
    CHECK(aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS);
    CHECK(aclmdlRIDestroy(model) == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(argc == 3 && aclInit(nullptr) == ACL_SUCCESS && ge::GEInitialize({}) == ge::SUCCESS);
    const std::string folder = argv[2];
    if (std::string(argv[1]) == "reshape") {
        ge::Session session({});
        RunReshapes(session);
    } else {
        Network net(folder);
        const ge::Graph graph = std::string(argv[1]) == "cnn" ? MakeCnn(net) : MakeTransformer(net);
        ge::Session session({});
        CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
        std::vector<ge::Tensor> outputs;
        CHECK(session.RunGraph(1, {net.Input()}, outputs) == ge::SUCCESS);
        for (size_t place = 0; place < outputs.size(); ++place) {
            std::ofstream stream(folder + "/out." + std::to_string(place), std::ios::binary);
            stream.write(reinterpret_cast<const char*>(outputs[place].GetData()),
                         static_cast<std::streamsize>(outputs[place].GetSize()));
        }
        RunOnStream(session, net.Input(), outputs);
    }
    return ge::GEFinalize() == ge::SUCCESS ? 0 : 1;
}
