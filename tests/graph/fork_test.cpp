// SPDX-License-Identifier: Apache-2.0
// Graph mode in the child of a fork, whatever threads of the parent are doing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graph/graph_fixture.h"
#include "graph/operator_factory.h"
#include "graph/session_calls.h"
#include "support/fork_child.h"
#include "support/held_page.h"
#include "support/sanitizers.h"

namespace {

// Where this thread's next memory of kVectorBytes comes from, if it is not null.
thread_local void* nextVector = nullptr;
constexpr size_t kVectorBytes = 16 * sizeof(void*);
void* heldVector = nullptr;  // is not on the heap

}  // namespace

// The library allocates by the program's operator new.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    if (nextVector != nullptr && bytes == kVectorBytes) {
        return std::exchange(nextVector, nullptr);
    }
    return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(size_t bytes) {
    void* const memory = operator new(bytes, std::nothrow);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept {
    if (memory != heldVector) std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace {

using graphs::HasError;
using graphs::MakeGraphTensor;
using graphs::Succeeded;
using support::HeldPage;
using support::InForkedChild;
using Tensors = std::vector<ge::Tensor>;

class GraphForkTest : public graphs::GraphTest {
 public:
    // A graph of one operator, whose tensor is its output.
    static ge::Graph GraphOf(const ge::Operator& op) {
        ge::Graph graph("of one");
        graph.SetInputs({op}).SetOutputs(std::vector<ge::Operator>{op});
        return graph;
    }
    static int Runs(ge::Session& session) {
        Tensors outputs;
        const Tensors inputs = {MakeGraphTensor({2}, {1, 2})};
        if (session.AddGraph(1, GraphOf(graphs::MakeData("data", 0))) != ge::SUCCESS) return 1;
        if (session.RunGraph(1, inputs, outputs) != ge::SUCCESS) return 2;
        return outputs.size() == 1 ? 0 : 3;
    }
    // Returns what is wrong in the child: 0 is nothing.
    static int WrongInChild(std::unique_ptr<ge::Session>* parents) {
        Tensors outputs;
        if ((*parents)->RunGraph(1, {}, outputs) != ge::FAILED) return 11;
        if (!HasError({"E10062", "parent of a fork"})) return 12;
        const ge::Graph graph = GraphOf(graphs::MakeData("data", 0));
        if (!graphs::CallsTakenBy(**parents, graph).empty()) return 13;
        parents->reset();
        if (ge::GEFinalize() != ge::SUCCESS) return 17;
        if (ge::GEInitialize({}) != ge::SUCCESS) return 18;
        ge::Session own(std::map<ge::AscendString, ge::AscendString>{});
        return support::kThreadSanitizer ? 0 : Runs(own);  // that sanitizer takes no threads there
    }
};

TEST_F(GraphForkTest, SessionsOfTheParentAreRefused) {
    auto session = std::make_unique<ge::Session>(std::map<ge::AscendString, ge::AscendString>{});
    ASSERT_EQ(Runs(*session), 0);
    EXPECT_EQ(InForkedChild([&] { return WrongInChild(&session); }), 0);
    Tensors outputs;
    EXPECT_TRUE(Succeeded(session->RunGraph(1, {MakeGraphTensor({2}, {1, 2})}, outputs)));
}

// The other thread has the session's lock, and copies a tensor.
TEST_F(GraphForkTest, AThreadOfTheParentIsInTheSession) {
    auto session = std::make_unique<ge::Session>(std::map<ge::AscendString, ge::AscendString>{});
    ASSERT_EQ(Runs(*session), 0);
    const HeldPage page;
    ge::Tensor tensor(ge::TensorDesc(ge::Shape({2}), ge::FORMAT_ND, ge::DT_INT64));
    ASSERT_EQ(tensor.SetData(reinterpret_cast<uint8_t*>(page.Get()), 16, [](uint8_t*) {}),
              ge::GRAPH_SUCCESS);
    const ge::Graph graph = GraphOf(ge::op::Const("const").set_attr_value(tensor));
    page.Arm();
    std::thread adder([&] { EXPECT_TRUE(Succeeded(session->AddGraph(2, graph))); });
    page.WaitUntilTouched();
    EXPECT_EQ(InForkedChild([&] { return WrongInChild(&session); }), 0);
    page.Release();
    adder.join();
}

// The other thread has the table of types, and changes the vector that gets them.
TEST_F(GraphForkTest, AThreadOfTheParentReadsTheTypes) {
    const HeldPage page;
    auto* const types = new (page.Get()) std::vector<ge::AscendString>;
    page.Arm();
    std::thread reader(
        [&] { EXPECT_EQ(ge::OperatorFactory::GetOpsTypeList(*types), ge::GRAPH_SUCCESS); });
    page.WaitUntilTouched();
    EXPECT_EQ(InForkedChild([] {
                  return ge::OperatorFactory::CreateOperator("step", "Step").IsEmpty() ? 1 : 0;
              }),
              0);
    page.Release();
    reader.join();
    EXPECT_GT(types->size(), 4U);
    types->~vector();
}

// Operators that a thread of the parent is linking: a group of two moves to one of nine, whose
// vector has room for it in the held page.
class HalfLinked {
 public:
    explicit HalfLinked(const HeldPage& page) {
        for (int64_t i = 0; i < 11; ++i) {
            operators_.push_back(graphs::MakeData("data", i));
        }
        for (size_t i = 1; i < 8; ++i) {
            operators_[i].AddControlInput(operators_[i - 1]);
        }
        heldVector = nextVector = page.Get();
        operators_[8].AddControlInput(operators_[7]);
        held_ = std::exchange(nextVector, nullptr) == nullptr;
        operators_[10].AddControlInput(operators_[9]);
        page.Arm();
        if (held_) {
            linker_ = std::thread([this] { operators_[9].AddControlInput(operators_[8]); });
            page.WaitUntilTouched();
        }
    }
    ~HalfLinked() {
        operators_.clear();
        heldVector = nullptr;  // others may get the page's addresses
    }
    // Whether the thread is where it should be.
    bool held() const { return held_; }
    void Join() { linker_.join(); }
    std::vector<ge::Operator>& operators() { return operators_; }

 private:
    std::vector<ge::Operator> operators_;
    bool held_ = false;
    std::thread linker_;
};

// Returns what is wrong in a child: 0 is nothing.
int InitializesAndRuns() {
    if (ge::GEInitialize({}) != ge::SUCCESS) return 10;
    ge::Session session(std::map<ge::AscendString, ge::AscendString>{});
    return GraphForkTest::Runs(session);
}

// The first of the two is in the group of nine, whose count of handles has not grown yet.
TEST_F(GraphForkTest, AThreadOfTheParentLinksOperators) {
    const HeldPage page;
    HalfLinked half(page);
    ASSERT_TRUE(half.held()) << "the ninth operator needs no vector of 16 pointers";
    EXPECT_EQ(InForkedChild([&] {
                  std::vector<ge::Operator> copies = half.operators();
                  half.operators().clear();
                  copies.clear();
                  return InitializesAndRuns();
              }),
              0);
    page.Release();
    half.Join();
    half.operators().clear();
}

// Makes three operators, links them with the last of those that there are, and drops that one.
void LinkThree(std::vector<ge::Operator>& operators) {
    static int64_t made = 0;
    const ge::Operator last = operators.back();
    operators.pop_back();
    for (int64_t i = 0; i < 3; ++i) {
        ++made;
        operators.push_back(graphs::MakeData(("more" + std::to_string(made)).c_str(), made));
        if (i > 0) operators.back().AddControlInput(operators[operators.size() - 2]);
    }
    operators.back().AddControlInput(last);
}

// The second of the two is in a group whose first member has moved away. The child may not link it,
// but does not crash, nor does it free what it has linked with it.
TEST_F(GraphForkTest, HalfLinkedOperatorsAreLinkedAllTheSame) {
    const HeldPage page;
    HalfLinked half(page);
    ASSERT_TRUE(half.held());
    EXPECT_EQ(InForkedChild([&] {
                  std::vector<ge::Operator> operators = {half.operators().back()};
                  LinkThree(operators);
                  operators.clear();
                  const ge::Graph all = GraphOf(half.operators().back());
                  return InitializesAndRuns();
              }),
              0);
    page.Release();
    half.Join();
}

// Operators of the parent, its child and the child's child are linked, and found from one another.
TEST_F(GraphForkTest, OperatorsOfTheParentLiveOn) {
    std::vector<ge::Operator> operators = {graphs::MakeData("data", 0)};
    const auto linksAndRuns = [&] {
        LinkThree(operators);
        const ge::Operator own = operators.back();
        operators.clear();
        const ge::Graph graph = GraphOf(own);  // of all that are linked
        if (ge::GEInitialize({}) != ge::SUCCESS) return 10;
        ge::Session session(std::map<ge::AscendString, ge::AscendString>{});
        if (session.AddGraph(2, graph) != ge::SUCCESS) return 11;
        return Runs(session);
    };
    EXPECT_EQ(InForkedChild([&] {
                  LinkThree(operators);
                  const int wrong = InForkedChild(linksAndRuns);
                  return wrong != 0 ? wrong : linksAndRuns();
              }),
              0);
    EXPECT_EQ(linksAndRuns(), 0);
}

}  // namespace
