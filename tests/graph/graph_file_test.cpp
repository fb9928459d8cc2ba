// SPDX-License-Identifier: Apache-2.0
// Graphs in files: what is saved is loaded, and nothing else is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "graph/graph_rules_fixture.h"
#include "support/full_disk.h"
#include "support/threads.h"

namespace {

int linkedDescriptor = -1;  // of the file that the library has given a name at last

}  // namespace

// Takes the place of the C library's for the library as well.
extern "C" int linkat(int fromFolder, const char* from, int toFolder, const char* to, int flags) {
    (void)std::sscanf(from, "/proc/self/fd/%d", &linkedDescriptor);
    return static_cast<int>(syscall(SYS_linkat, fromFolder, from, toFolder, to, flags));
}

namespace {

using namespace graphs;

class GraphFileTest : public graphs::GraphFolderTest {
 protected:
    std::string Path() const { return folder_ + "/graph"; }
    static std::string Read(const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void Write(const std::string& bytes) const { std::ofstream(Path(), std::ios::binary) << bytes; }
    size_t Files() const {
        return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                 std::filesystem::directory_iterator()));
    }
    // Saves the graph of the fixture.
    void Save() {
        ge::Graph graph("saved");
        graph.SetInputs(sources_).SetOutputs(
            graphs::Named{{advance_, "slot_mapping"}, {advance_, "seq_lens"}});
        ASSERT_EQ(graph.SaveToFile(Path().c_str()), ge::GRAPH_SUCCESS);
    }
};

TEST_F(GraphFileTest, ALoadedGraphRuns) {
    Save();
    ge::Graph loaded;
    ASSERT_EQ(loaded.LoadFromFile(Path().c_str()), ge::GRAPH_SUCCESS);
    EXPECT_TRUE(loaded.IsValid());
    ge::AscendString name;
    EXPECT_EQ(loaded.GetName(name), ge::GRAPH_SUCCESS);
    EXPECT_EQ(name, "saved");
    EXPECT_EQ(Run(loaded), (std::vector<std::vector<int64_t>>{after_.slotMapping, after_.seqLens}));
    EXPECT_EQ(Files(), 1U);
}

TEST_F(GraphFileTest, ACancelledThreadEndsAfterItsCalls) {
    ge::Graph loaded;
    support::OnACancelledThread([&] {
        Save();
        EXPECT_EQ(loaded.LoadFromFile(Path().c_str()), ge::GRAPH_SUCCESS);
    });
    EXPECT_TRUE(loaded.IsValid());
    EXPECT_EQ(Files(), 1U);
}

// Attributes of every type, descriptions, control links and targets.
TEST_F(GraphFileTest, NothingIsLost) {
    ge::TensorDesc desc(ge::Shape({-1, 3}), ge::FORMAT_NCHW, ge::DT_INT32);
    desc.SetShapeRange({{1, 9}, {3, 3}});
    desc.SetName("described");
    desc.SetPlacement(ge::kPlacementDevice);
    desc.SetOriginShape(ge::Shape({7}));
    ASSERT_EQ(advance_.UpdateInputDesc("spec_token", desc), ge::GRAPH_SUCCESS);
    ASSERT_EQ(advance_.UpdateOutputDesc("seq_lens", desc), ge::GRAPH_SUCCESS);
    const ge::Tensor tensor = MakeGraphTensor({2}, {11, 12});
    advance_.AddControlInput(sources_[2]);
    advance_.SetAttr("int", int64_t{-5})
        .SetAttr("float", -0.5F)
        .SetAttr("bool", true)
        .SetAttr("string", std::string("a\0b", 3))
        .SetAttr("type", ge::DT_BF16)
        .SetAttr("tensor", tensor)
        .SetAttr("ints", std::vector<int64_t>{INT64_MIN, INT64_MAX})
        .SetAttr("floats", std::vector<float>{1.5F, -2.5F})
        .SetAttr("bools", std::vector<bool>{true, false, true})
        .SetAttr("strings", std::vector<std::string>{"", "x"})
        .SetAttr("types", std::vector<ge::DataType>{ge::DT_INT8})
        .SetAttr("tensors", std::vector<ge::Tensor>{tensor, ge::Tensor()})
        .SetAttr("lists", std::vector<std::vector<int64_t>>{{}, {1, 2}});
    ge::Graph graph("everything");
    graph.SetInputs(sources_).SetTargets({advance_});
    ASSERT_EQ(graph.SaveToFile(Path().c_str()), ge::GRAPH_SUCCESS);
    ge::Graph loaded("other");
    ASSERT_EQ(loaded.LoadFromFile(Path().c_str()), ge::GRAPH_SUCCESS);
    const ge::GNodePtr node = loaded.FindNodeByName("advance");
    ASSERT_NE(node, nullptr);
    const auto expect = [&](const char* name, const auto& value) {
        std::decay_t<decltype(value)> read{};
        EXPECT_EQ(node->GetAttr(name, read), ge::GRAPH_SUCCESS) << name;
        EXPECT_EQ(read, value) << name;
    };
    expect("int", int64_t{-5});
    expect("float", -0.5F);
    expect("bool", true);
    expect("string", std::string("a\0b", 3));
    expect("type", ge::DT_BF16);
    expect("ints", std::vector<int64_t>{INT64_MIN, INT64_MAX});
    expect("floats", std::vector<float>{1.5F, -2.5F});
    expect("bools", std::vector<bool>{true, false, true});
    expect("strings", std::vector<std::string>{"", "x"});
    expect("types", std::vector<ge::DataType>{ge::DT_INT8});
    expect("lists", std::vector<std::vector<int64_t>>{{}, {1, 2}});
    std::vector<ge::Tensor> tensors(1);
    EXPECT_EQ(node->GetAttr("tensor", tensors[0]), ge::GRAPH_SUCCESS);
    EXPECT_EQ(graphs::ValuesOf(tensors), (std::vector<std::vector<int64_t>>{{11, 12}}));
    EXPECT_EQ(node->GetAttr("tensors", tensors), ge::GRAPH_SUCCESS);
    EXPECT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[1].GetSize(), 0U);
    ge::TensorDesc in;
    ge::TensorDesc out;
    EXPECT_EQ(node->GetInputDesc(6, in), ge::GRAPH_SUCCESS);
    EXPECT_EQ(node->GetOutputDesc(2, out), ge::GRAPH_SUCCESS);
    for (const ge::TensorDesc& read : {in, out}) {
        EXPECT_EQ(read.GetShape().GetDims(), desc.GetShape().GetDims());
        EXPECT_EQ(read.GetOriginShape().GetDims(), std::vector<int64_t>{7});
        EXPECT_EQ(read.GetFormat(), ge::FORMAT_NCHW);
        EXPECT_EQ(read.GetDataType(), ge::DT_INT32);
        EXPECT_EQ(read.GetPlacement(), ge::kPlacementDevice);
        EXPECT_EQ(read.GetName(), "described");
        std::vector<std::pair<int64_t, int64_t>> range;
        EXPECT_EQ(read.GetShapeRange(range), ge::GRAPH_SUCCESS);
        EXPECT_EQ(range, (std::vector<std::pair<int64_t, int64_t>>{{1, 9}, {3, 3}}));
    }
    EXPECT_EQ(node->GetInControlNodes().size(), 1U);
    // The same bytes come of it again.
    const std::string first = Read(Path());
    ASSERT_EQ(loaded.SaveToFile(Path().c_str()), ge::GRAPH_SUCCESS);
    EXPECT_EQ(Read(Path()), first);
    // The description of an optional input without a link is a fault, as before.
    EXPECT_TRUE(Succeeded(Session().AddGraph(5, loaded)));
    EXPECT_TRUE(Failed(Session().BuildGraph(5, graphs::TensorsOf(data_)), {"E11019"}));
}

TEST_F(GraphFileTest, ForeignAndDamagedFilesAreRefused) {
    Save();
    const std::string good = Read(Path());
    ASSERT_GT(good.size(), 1000U);
    const auto refused = [&](const std::string& bytes, const char* why) {
        Write(bytes);
        ge::Graph graph("unchanged");
        EXPECT_EQ(graph.LoadFromFile(Path().c_str()), ge::GRAPH_FAILED);
        EXPECT_FALSE(graph.IsValid());
        ge::AscendString name;
        graph.GetName(name);
        return name == "unchanged" ? HasError({"Graph::LoadFromFile", Path(), why})
                                   : testing::AssertionFailure() << name.GetString();
    };
    EXPECT_TRUE(refused("", "no graph file"));
    EXPECT_TRUE(refused("ir_version: 3\n", "no graph file"));
    std::string other = good;
    other[16] = 2;
    EXPECT_TRUE(refused(other, "version 2; expected version 1"));
    for (const size_t size : {size_t{15}, size_t{17}, size_t{31}, size_t{40}, good.size() - 1}) {
        EXPECT_TRUE(refused(good.substr(0, size), "")) << size;
    }
    EXPECT_TRUE(refused(good + "x", "damaged"));
    for (size_t at = 24; at < good.size(); at += 61) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x41);
        EXPECT_TRUE(refused(bad, "damaged")) << at;
    }
}

// The checksum of a file may be right, and its contents wrong all the same.
TEST_F(GraphFileTest, EveryByteMayBeWrong) {
    Save();
    const std::string good = Read(Path());
    const std::string body = good.substr(32);
    for (size_t at = 0; at < body.size(); ++at) {
        for (const char flip : {'\x01', '\x7f'}) {
            std::string bad = body;
            bad[at] = static_cast<char>(bad[at] ^ flip);
            uint64_t sum = 14695981039346656037U;
            for (const char byte : bad) {
                sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
            }
            std::string bytes = good.substr(0, 24);
            for (int byte = 0; byte < 8; ++byte) {
                bytes.push_back(static_cast<char>(sum >> (8 * byte)));
            }
            Write(bytes + bad);
            ge::Graph graph("maybe");
            if (graph.LoadFromFile(Path().c_str()) == ge::GRAPH_SUCCESS) {
                ge::Session session({});
                std::vector<ge::Tensor> outputs;
                session.AddGraph(1, graph);
                session.RunGraph(1, graphs::TensorsOf(data_), outputs);
            }
        }
        ge::GEGetErrorMsgV2();
    }
}

// No call would load them again.
TEST_F(GraphFileTest, NumbersOutsideTheirEnumerationsAreNotSaved) {
    Save();
    const std::string before = Read(Path());
    const auto refused = [&](const char* what) {
        ge::Graph graph("odd");
        graph.SetInputs(sources_);
        EXPECT_EQ(graph.SaveToFile(Path().c_str()), ge::GRAPH_FAILED);
        EXPECT_TRUE(Read(Path()) == before);
        EXPECT_EQ(Files(), 1U);
        return HasError({"E13025", "Graph::SaveToFile: graph odd: operator advance of type ",
                         "AdvanceStep has a ge::", what});
    };
    advance_.SetAttr("types", std::vector<ge::DataType>{static_cast<ge::DataType>(44)});
    EXPECT_TRUE(refused("DataType of 44; expected 0 to 43"));
    advance_.SetAttr("types", std::vector<ge::DataType>{});
    ge::TensorDesc desc(ge::Shape({4}), ge::FORMAT_ND, static_cast<ge::DataType>(63));
    ASSERT_EQ(advance_.UpdateOutputDesc("seq_lens", desc), ge::GRAPH_SUCCESS);
    EXPECT_TRUE(refused("DataType of 63; expected 0 to 43"));
    desc.SetDataType(ge::DT_INT64);
    desc.SetPlacement(static_cast<ge::Placement>(3));
    ASSERT_EQ(advance_.UpdateOutputDesc("seq_lens", desc), ge::GRAPH_SUCCESS);
    EXPECT_TRUE(refused("Placement of 3; expected 0 to 2"));
}

TEST_F(GraphFileTest, ANameMayBeAsLongAsTheFileSystemAllows) {
    ge::Graph graph("long name");
    graph.SetInputs(sources_);
    const std::string path = folder_ + "/" + std::string(NAME_MAX, 'x');
    ASSERT_EQ(graph.SaveToFile(path.c_str()), ge::GRAPH_SUCCESS);
    EXPECT_EQ(ge::Graph().LoadFromFile(path.c_str()), ge::GRAPH_SUCCESS);
    EXPECT_EQ(Files(), 1U);
    EXPECT_EQ(graph.SaveToFile((path + "x").c_str()), ge::GRAPH_FAILED);
    EXPECT_EQ(Files(), 1U);
}

// Else a program without standard input, which opens a file of its own meanwhile, may take the
// number for its input.
TEST_F(GraphFileTest, AFileIsWrittenByADescriptorAboveTheStandardOnes) {
    const int input = dup(STDIN_FILENO);
    ASSERT_EQ(close(STDIN_FILENO), 0);
    linkedDescriptor = -1;
    Save();
    EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
    EXPECT_GT(linkedDescriptor, STDERR_FILENO);
    ASSERT_EQ(dup2(input, STDIN_FILENO), STDIN_FILENO);
    (void)close(input);
}

TEST_F(GraphFileTest, AFileKeepsItsModeAndItsLinks) {
    Save();
    ASSERT_EQ(chmod(Path().c_str(), 0600), 0);
    ASSERT_EQ(symlink("graph", (folder_ + "/near").c_str()), 0);
    ASSERT_EQ(mkdir((folder_ + "/links").c_str(), 0700), 0);
    ASSERT_EQ(symlink("../near", (folder_ + "/links/far").c_str()), 0);
    ge::Graph graph("linked");
    graph.SetInputs(sources_);
    ASSERT_EQ(graph.SaveToFile((folder_ + "/links/far").c_str()), ge::GRAPH_SUCCESS);
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/near"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/links/far"));
    struct stat saved {};
    ASSERT_EQ(lstat(Path().c_str(), &saved), 0);
    EXPECT_TRUE(S_ISREG(saved.st_mode));
    EXPECT_EQ(saved.st_mode & 07777, 0600U);
    ge::Graph loaded;
    ASSERT_EQ(loaded.LoadFromFile(Path().c_str()), ge::GRAPH_SUCCESS);
    ge::AscendString name;
    EXPECT_EQ(loaded.GetName(name), ge::GRAPH_SUCCESS);
    EXPECT_EQ(name, "linked");
}

TEST_F(GraphFileTest, ALinkMayLeadToNoFileYet) {
    ASSERT_EQ(symlink("new", (folder_ + "/link").c_str()), 0);
    ge::Graph graph("new");
    graph.SetInputs(sources_);
    const mode_t mask = umask(027);
    EXPECT_EQ(graph.SaveToFile((folder_ + "/link").c_str()), ge::GRAPH_SUCCESS);
    umask(mask);
    struct stat saved {};
    ASSERT_EQ(lstat((folder_ + "/new").c_str(), &saved), 0);
    EXPECT_EQ(saved.st_mode & 07777, 0640U) << "as any new file";
    EXPECT_EQ(Files(), 2U);
    ASSERT_EQ(symlink("loop", (folder_ + "/loop").c_str()), 0);
    EXPECT_EQ(graph.SaveToFile((folder_ + "/loop").c_str()), ge::GRAPH_FAILED);
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/loop"));
}

TEST_F(GraphFileTest, AFileThatMayNotBeWrittenIsNotReplaced) {
    Save();
    ASSERT_EQ(chmod(Path().c_str(), 0400), 0);
    if (access(Path().c_str(), W_OK) == 0) {
        GTEST_SKIP() << "this user may write every file";
    }
    ge::Graph graph("other");
    graph.SetInputs(sources_);
    EXPECT_EQ(graph.SaveToFile(Path().c_str()), ge::GRAPH_FAILED);
    EXPECT_TRUE(HasError({"Graph::SaveToFile", Path(), "Permission denied"}));
    EXPECT_EQ(Files(), 1U);
}

// A limit of the sizes of files comes with a signal that would end this program.
TEST_F(GraphFileTest, AFullDiskLeavesNothing) {
    ge::Graph graph("large");
    graph.SetInputs(sources_);
    {
        const support::FullDisk full(100);
        EXPECT_EQ(graph.SaveToFile(Path().c_str()), ge::GRAPH_FAILED);
    }
    EXPECT_TRUE(HasError({Path(), "too large"}));
    EXPECT_EQ(Files(), 0U);
}

// So a process that is killed while it writes leaves nothing beside the file.
TEST_F(GraphFileTest, AFileHasANameWhenItIsComplete) {
    const int unnamed = open(folder_.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (unnamed < 0) {
        GTEST_SKIP() << "this file system has no files without a name";
    }
    close(unnamed);
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(inotify_add_watch(watch, folder_.c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO), 0);
    Save();
    alignas(inotify_event) char bytes[4096];
    const ssize_t size = read(watch, bytes, sizeof(bytes));
    close(watch);
    std::vector<uint32_t> seen;
    for (ssize_t at = 0; at < size;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(bytes + at);
        if (event->name[0] != '#') {  // of a file without a name, which is no entry of the folder
            seen.push_back(event->mask);
        }
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
    }
    EXPECT_EQ(seen, (std::vector<uint32_t>{IN_CREATE, IN_MOVED_TO}));
}

// A process that was killed in a call leaves a file. In a container the next one has its number.
TEST_F(GraphFileTest, FilesOfAnEndedProcessAreNotInTheWay) {
    Save();
    constexpr size_t kLeft = 300;  // more than the calls of this process so far
    for (size_t number = 0; number < kLeft; ++number) {
        std::ofstream(Path() + "." + std::to_string(getpid()) + "." + std::to_string(number) +
                      ".part")
            << "left";
    }
    ge::Graph graph("later");
    graph.SetInputs(sources_);
    ASSERT_EQ(graph.SaveToFile(Path().c_str()), ge::GRAPH_SUCCESS);
    ge::Graph loaded;
    ASSERT_EQ(loaded.LoadFromFile(Path().c_str()), ge::GRAPH_SUCCESS);
    ge::AscendString name;
    EXPECT_EQ(loaded.GetName(name), ge::GRAPH_SUCCESS);
    EXPECT_EQ(name, "later");
    EXPECT_EQ(Files(), 1 + kLeft);
}

TEST_F(GraphFileTest, BadPathsAndGraphs) {
    const ge::Graph empty("empty");
    EXPECT_EQ(empty.SaveToFile(Path().c_str()), ge::GRAPH_FAILED);
    EXPECT_TRUE(HasError({"Graph::SaveToFile", "SetInputs"}));
    EXPECT_EQ(Files(), 0U);
    Save();
    const std::string before = Read(Path());
    ge::Graph graph("good");
    graph.SetInputs(sources_);
    for (const std::string& path :
         {std::string(), folder_, folder_ + "/no/such", std::string("/dev/null")}) {
        EXPECT_EQ(graph.SaveToFile(path.c_str()), ge::GRAPH_FAILED) << path;
        EXPECT_TRUE(HasError({"Graph::SaveToFile"}));
        EXPECT_EQ(ge::Graph().LoadFromFile(path.c_str()), ge::GRAPH_FAILED) << path;
        EXPECT_TRUE(HasError({"Graph::LoadFromFile"}));
    }
    EXPECT_EQ(ge::Graph().LoadFromFile((folder_ + "/none").c_str()), ge::GRAPH_FAILED);
    EXPECT_TRUE(HasError({"/none cannot be read: No such file or directory"}));
    EXPECT_EQ(graph.SaveToFile(nullptr), ge::GRAPH_FAILED);
    EXPECT_EQ(ge::Graph().LoadFromFile(nullptr), ge::GRAPH_FAILED);
    EXPECT_EQ(graph.LoadFromFile(Path().c_str()), ge::GRAPH_FAILED);
    EXPECT_TRUE(HasError({"good", "has inputs already"}));
    advance_.SetInput("no_such", sources_[0]);
    EXPECT_EQ(graph.SaveToFile(Path().c_str()), ge::GRAPH_FAILED);
    EXPECT_TRUE(HasError({"no_such"}));
    EXPECT_EQ(Read(Path()), before);
    struct stat null {};
    ASSERT_EQ(stat("/dev/null", &null), 0);
    EXPECT_TRUE(S_ISCHR(null.st_mode));
}

}  // namespace
