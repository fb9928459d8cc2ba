// SPDX-License-Identifier: Apache-2.0
// Objects of a program that was compiled against CANN's headers: their layouts, and names that such
// a program cannot bind. The file includes no header of graph mode and declares the classes itself.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace ge {

// Each class has one shared_ptr, and copies and ends of objects are compiled into the program.
class AscendString {
 public:
    AscendString() = default;
    AscendString(const char* name);
    const char* GetString() const;
    bool operator<(const AscendString& other) const;

 private:
    std::shared_ptr<std::string> name_;
};

class Shape {
 public:
    Shape();
    explicit Shape(const std::vector<int64_t>& dims);
    size_t GetDimNum() const;
    int64_t GetDim(size_t index) const;
    uint32_t SetDim(size_t index, int64_t value);

 private:
    std::shared_ptr<void> impl_;
};

enum Format : int { FORMAT_ND = 2 };
enum DataType : int { DT_INT64 = 9 };

class TensorDesc {
 public:
    TensorDesc();
    explicit TensorDesc(Shape shape, Format format, DataType dataType);
    TensorDesc(const TensorDesc& other);
    TensorDesc(TensorDesc&& other);
    TensorDesc& operator=(const TensorDesc& other);
    TensorDesc& operator=(TensorDesc&& other);
    Shape GetShape() const;
    DataType GetDataType() const;
    void SetSize(int64_t size);
    int64_t GetSize() const;

 private:
    std::shared_ptr<void> impl_;
};

class Graph {
 public:
    explicit Graph(const char* name);
    uint32_t GetName(AscendString& name) const;

 private:
    std::shared_ptr<void> impl_;
};

class Tensor {
 public:
    Tensor();
    Tensor(const TensorDesc& desc, const uint8_t* data, size_t size);
    TensorDesc GetTensorDesc() const;
    size_t GetSize() const;

 private:
    std::shared_ptr<void> impl_;
};

}  // namespace ge

namespace {

constexpr unsigned char kUntouched = 0xAB;

// An object with bytes behind it, which no constructor may write.
template <typename Object>
class Guarded {
 public:
    template <typename... Arguments>
    explicit Guarded(Arguments&&... arguments) {
        static_assert(sizeof(Object) == 16);
        std::memset(&frame_, kUntouched, sizeof frame_);
        object_ = new (frame_.object) Object(std::forward<Arguments>(arguments)...);
    }
    ~Guarded() { object_->~Object(); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    Object& operator*() { return *object_; }
    Object* operator->() { return object_; }

    int Overwritten() const {
        int count = 0;
        for (const unsigned char byte : frame_.behind) {
            count += byte != kUntouched;
        }
        return count;
    }

 private:
    struct {
        alignas(8) unsigned char object[sizeof(Object)];
        unsigned char behind[256];
    } frame_;
    Object* object_;
};

TEST(CannLayout, AscendString) {
    const Guarded<ge::AscendString> empty;
    Guarded<ge::AscendString> text("AutoConnect");
    Guarded<ge::AscendString> copy(*text);
    EXPECT_EQ(text.Overwritten() + copy.Overwritten() + empty.Overwritten(), 0);
    EXPECT_STREQ(copy->GetString(), "AutoConnect");
    EXPECT_STREQ(ge::AscendString().GetString(), "");
    EXPECT_STREQ(ge::AscendString(nullptr).GetString(), "");
    const std::map<ge::AscendString, int> numbers{{"b", 2}, {"", 0}, {"a", 1}};
    EXPECT_EQ(numbers.begin()->second, 0);
    EXPECT_EQ(numbers.at("b"), 2);
}

TEST(CannLayout, Shape) {
    Guarded<ge::Shape> shape(std::vector<int64_t>{2, 3});
    Guarded<ge::Shape> copy(*shape);  // no call: both have one pointer
    Guarded<ge::Shape> empty;
    EXPECT_EQ(copy->SetDim(1, 7), 0U);
    EXPECT_EQ(shape.Overwritten() + copy.Overwritten() + empty.Overwritten(), 0);
    EXPECT_EQ(shape->GetDim(1), 3);
    EXPECT_EQ(copy->GetDim(1), 7);
    EXPECT_EQ(empty->GetDimNum(), 0U);
    ge::Shape taken(std::move(*shape));
    EXPECT_EQ(taken.GetDim(1), 3);
    EXPECT_EQ(shape->GetDimNum(), 0U);
    EXPECT_EQ(shape->GetDim(0), 0);
    EXPECT_NE(shape->SetDim(0, 1), 0U);
}

TEST(CannLayout, TensorDesc) {
    Guarded<ge::TensorDesc> desc(ge::Shape({2, 3}), ge::FORMAT_ND, ge::DT_INT64);
    Guarded<ge::TensorDesc> copy(*desc);
    Guarded<ge::TensorDesc> unset;
    copy->SetSize(48);
    EXPECT_EQ(desc->GetSize(), 0);
    *unset = *copy;
    EXPECT_EQ(unset->GetSize(), 48);
    Guarded<ge::TensorDesc> taken(std::move(*copy));
    EXPECT_EQ(taken->GetSize(), 48);
    EXPECT_EQ(taken->GetDataType(), ge::DT_INT64);
    EXPECT_EQ(copy->GetSize(), 0);
    EXPECT_EQ(copy->GetShape().GetDimNum(), 0U);
    *unset = std::move(*taken);
    EXPECT_EQ(unset->GetShape().GetDim(1), 3);
    EXPECT_EQ(desc.Overwritten() + copy.Overwritten() + unset.Overwritten() + taken.Overwritten(),
              0);
}

TEST(CannLayout, Tensor) {
    const uint8_t bytes[] = {1, 2, 3};
    Guarded<ge::Tensor> tensor(ge::TensorDesc(ge::Shape({3}), ge::FORMAT_ND, ge::DT_INT64), bytes,
                               sizeof bytes);
    Guarded<ge::Tensor> copy(*tensor);
    EXPECT_EQ(tensor.Overwritten() + copy.Overwritten(), 0);
    EXPECT_EQ(copy->GetSize(), sizeof bytes);
    EXPECT_EQ(copy->GetTensorDesc().GetShape().GetDim(0), 3);
}

TEST(CannLayout, Graph) {
    Guarded<ge::Graph> graph("name");
    Guarded<ge::Graph> copy(*graph);
    EXPECT_EQ(graph.Overwritten() + copy.Overwritten(), 0);
    ge::AscendString name;
    EXPECT_EQ(copy->GetName(name), 0U);
    EXPECT_STREQ(name.GetString(), "name");
}

// Constructors and functions of the classes that have another layout than CANN's.
TEST(CannLayout, NamesOfOtherLayouts) {
    EXPECT_NE(dlsym(RTLD_DEFAULT, "_ZN2ge12AscendStringC1EPKc"), nullptr);
    for (const char* name :
         {"_ZN2ge8OperatorC1Ev", "_ZN2ge8OperatorC2EPKcS2_", "_ZN2ge8OperatorD2Ev",
          "_ZTVN2ge8OperatorE", "_ZTIN2ge8OperatorE", "_ZN2ge8Operator8SetInputEPKcRKS0_",
          "_ZN2ge5Graph9SetInputsERKSt6vectorINS_8OperatorESaIS2_EE", "_ZN2ge5GNodeC1Ev",
          "_ZN2ge7SessionC1ERKSt3mapINS_12AscendStringES2_St4lessIS2_ESaISt4pairIKS2_S2_EEE",
          "_ZN2ge7SessionD1Ev", "_ZN2ge7Session10BuildGraphEjRKSt6vectorINS_6TensorESaIS2_EE",
          "_ZN2ge15OperatorFactory14CreateOperatorEPKcS2_",
          "_ZNK2ge20CompiledGraphSummary8IsStaticEv", "_ZNK2ge5Graph13GetDirectNodeEv"}) {
        EXPECT_EQ(dlsym(RTLD_DEFAULT, name), nullptr) << name;
    }
}

}  // namespace
