// SPDX-License-Identifier: Apache-2.0
// The text of a graph.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "ge/ge_ir_build.h"
#include "graph/graph_rules_fixture.h"
#include "support/full_disk.h"

namespace {

using namespace graphs;

class DumpTest : public graphs::GraphFolderTest {
 protected:
    std::string Path() const { return folder_ + "/dump"; }
};

TEST_F(DumpTest, WritesText) {
    advance_.AddControlInput(sources_[0]);
    ge::Graph graph("dumped");
    graph.SetInputs(sources_).SetOutputs(Selected{{advance_, {2}}});
    ASSERT_EQ(ge::aclgrphDumpGraph(graph, Path().c_str(), Path().size()), ge::GRAPH_SUCCESS);
    std::stringstream text;
    text << std::ifstream(Path() + ".txt").rdbuf();
    for (const char* part : {"graph \"dumped\"", "operator \"advance\" of type AdvanceStep",
                             "attribute num_queries = 3", "input spec_token not linked",
                             "input seq_lens from \"seq_lens\".y", "after \"input_tokens\"",
                             "output slot_mapping", "graph output \"advance\".seq_lens"}) {
        EXPECT_NE(text.str().find(part), std::string::npos) << part << "\n" << text.str();
    }
    EXPECT_TRUE(Succeeded(Session().AddGraph(1, graph)));  // a dump does not use it up
}

TEST_F(DumpTest, WritesAttributesOfEveryKind) {
    const ge::Tensor tensor = MakeGraphTensor({2, 3}, {1, 2, 3, 4, 5, 6});
    advance_.SetAttr("a_text", "of words")
        .SetAttr("a_flag", true)
        .SetAttr("a_real", 0.25F)
        .SetAttr("a_type", ge::DT_INT32)
        .SetAttr("a_tensor", tensor)
        .SetAttr("numbers", std::vector<int64_t>{1, -2})
        .SetAttr("reals", std::vector<float>{0.5F})
        .SetAttr("flags", std::vector<bool>{true, false})
        .SetAttr("texts", std::vector<std::string>{"a", "b"})
        .SetAttr("types", std::vector<ge::DataType>{ge::DT_BOOL})
        .SetAttr("tensors", std::vector<ge::Tensor>{tensor})
        .SetAttr("matrix", std::vector<std::vector<int64_t>>{{1}, {2, 3}});
    ge::Graph graph("attributes");
    graph.SetInputs(sources_).SetOutputs(Selected{{advance_, {2}}});
    ASSERT_EQ(ge::aclgrphDumpGraph(graph, Path().c_str(), Path().size()), ge::GRAPH_SUCCESS);
    std::stringstream text;
    text << std::ifstream(Path() + ".txt").rdbuf();
    for (const char* part :
         {"a_text = \"of words\"\n", "a_flag = true\n", "a_real = 0.25\n", "a_type = data type 3\n",
          "a_tensor = tensor [2, 3] of 48 bytes\n", "numbers = [1, -2]\n", "reals = [0.5]\n",
          "flags = [true, false]\n", "texts = [\"a\", \"b\"]\n", "types = [data type 12]\n",
          "tensors = [tensor [2, 3] of 48 bytes]\n", "matrix = [[1], [2, 3]]\n"}) {
        EXPECT_NE(text.str().find(part), std::string::npos) << part << "\n" << text.str();
    }
}

TEST_F(DumpTest, RefusesBadArguments) {
    ge::Graph graph("dumped");
    const auto dump = [&](const char* file, size_t len) {
        return ge::aclgrphDumpGraph(graph, file, len);
    };
    EXPECT_TRUE(
        Failed(dump(Path().c_str(), Path().size()), {"no inputs"}, ge::GRAPH_PARAM_INVALID));
    graph.SetInputs(sources_);
    EXPECT_TRUE(Failed(dump(nullptr, 0), {"null"}, ge::GRAPH_PARAM_INVALID));
    EXPECT_TRUE(Failed(dump("", 0), {"empty"}, ge::GRAPH_PARAM_INVALID));
    EXPECT_TRUE(Failed(dump("abc", 2), {"len is 2", "3 bytes"}, ge::GRAPH_PARAM_INVALID));
    const std::string nowhere = folder_ + "/missing/dump";
    EXPECT_TRUE(Failed(dump(nowhere.c_str(), nowhere.size()), {nowhere}, ge::GRAPH_PARAM_INVALID));
    std::filesystem::create_directory(Path() + ".txt");
    EXPECT_TRUE(Failed(dump(Path().c_str(), Path().size()), {Path() + ".txt is no regular file"},
                       ge::GRAPH_PARAM_INVALID));
    std::filesystem::remove(Path() + ".txt");
}

// What an earlier dump wrote stays, and nothing lies beside it.
TEST_F(DumpTest, AFullDiskLeavesTheFileAsItWas) {
    ge::Graph graph("dumped");
    graph.SetInputs(sources_);
    std::ofstream(Path() + ".txt") << "earlier";
    {
        const support::FullDisk full(100);
        EXPECT_TRUE(Failed(ge::aclgrphDumpGraph(graph, Path().c_str(), Path().size()),
                           {Path() + ".txt", "too large"}, ge::GRAPH_PARAM_INVALID));
    }
    std::stringstream text;
    text << std::ifstream(Path() + ".txt").rdbuf();
    EXPECT_EQ(text.str(), "earlier");
    const std::filesystem::directory_iterator files(folder_);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

}  // namespace
