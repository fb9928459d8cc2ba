// SPDX-License-Identifier: Apache-2.0
// Writes models as bytes and reads them: version 1 of the graph file.

#include "src/graph/ir/graph_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace advstep::graph {
namespace {

constexpr std::string_view kMagic = "ADVSTEP_GRAPH\r\n\x1a";
constexpr uint64_t kVersion = 1;

// FNV-1a in 64 bits.
uint64_t ChecksumOf(std::string_view bytes) {
    uint64_t sum = 14695981039346656037U;
    for (const char byte : bytes) {
        sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    }
    return sum;
}

// Appends values in little-endian order, whatever the host's order is.
class ByteWriter {
 public:
    void Number(uint64_t value) {
        for (int byte = 0; byte < 8; ++byte) {
            bytes_.push_back(static_cast<char>(value >> (8 * byte)));
        }
    }
    void Text(std::string_view text) {
        Number(text.size());
        bytes_.append(text);
    }
    const std::string& bytes() const { return bytes_; }

 private:
    std::string bytes_;
};

// Reads the values that a ByteWriter wrote. The first value that is missing, and every later one,
// is 0 or empty, and ok() is false then. So a damaged file causes no large allocation and no
// endless loop.
class ByteReader {
 public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    bool ok() const { return ok_; }
    bool AtEnd() const { return ok_ && rest_.empty(); }
    void Refuse() {
        ok_ = false;
        rest_ = {};
    }

    uint64_t Number() {
        if (rest_.size() < 8) {
            Refuse();
            return 0;
        }
        uint64_t value = 0;
        for (size_t byte = 0; byte < 8; ++byte) {
            value |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[byte])) << (8 * byte);
        }
        rest_.remove_prefix(8);
        return value;
    }
    // Reads a number below the limit.
    uint64_t Below(uint64_t limit) {
        const uint64_t value = Number();
        if (value >= limit) {
            Refuse();
            return 0;
        }
        return value;
    }
    // Reads how many items follow. Each item has at least one byte.
    uint64_t Count() { return Below(rest_.size() + 1); }
    std::string_view Text() {
        const uint64_t size = Count();
        if (size > rest_.size()) {
            Refuse();
            return {};
        }
        const std::string_view text = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return text;
    }

 private:
    std::string_view rest_;
    bool ok_ = true;
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

// Visits the members of a value. One function serves both directions, so that they cannot differ.
// `Stream` is a Saver or a Loader.
template <class Stream>
void Visit(Stream& stream, ge::TensorDesc& desc) {
    const auto shape = [&](auto get, auto set) {
        std::vector<int64_t> dims = get().GetDims();
        stream(dims);
        set(ge::Shape(dims));
    };
    shape([&] { return desc.GetShape(); }, [&](const auto& made) { desc.SetShape(made); });
    shape([&] { return desc.GetOriginShape(); },
          [&](const auto& made) { desc.SetOriginShape(made); });
    const auto field = [&](auto value, auto set) {
        stream(value);
        set(value);
    };
    field(desc.GetFormat(), [&](auto value) { desc.SetFormat(value); });
    field(desc.GetOriginFormat(), [&](auto value) { desc.SetOriginFormat(value); });
    field(desc.GetDataType(), [&](auto value) { desc.SetDataType(value); });
    field(desc.GetPlacement(), [&](auto value) { desc.SetPlacement(value); });
    field(desc.GetRealDimCnt(), [&](auto value) { desc.SetRealDimCnt(value); });
    field(desc.GetSize(), [&](auto value) { desc.SetSize(value); });
    std::string name(desc.GetName().GetString(), desc.GetName().GetLength());
    stream(name);
    desc.SetName(ge::AscendString(name.data(), name.size()));
    std::vector<std::pair<int64_t, int64_t>> range;
    desc.GetShapeRange(range);
    stream(range);
    desc.SetShapeRange(range);
}

template <class Stream>
void Visit(Stream& stream, std::pair<int64_t, int64_t>& range) {
    stream(range.first);
    stream(range.second);
}

template <class Stream>
void Visit(Stream& stream, ValueId& value) {
    stream(value.node);
    stream(value.output);
}

template <class Stream>
void Visit(Stream& stream, ModelInput& input) {
    stream(input.name);
    stream(input.isOptional);
    stream(input.hasDesc);
    stream(input.desc);
    bool isLinked = input.source.has_value();
    stream(isLinked);
    if (isLinked) {
        ValueId source = input.source.value_or(ValueId());
        stream(source);
        input.source = source;
    }
}

template <class Stream>
void Visit(Stream& stream, ModelNode& node) {
    stream(node.name);
    stream(node.type);
    stream(node.inputs);
    stream(node.outputs);
    stream(node.outputDescs);
    stream(node.attrs);
    stream(node.requiredAttrs);
    stream(node.controlSources);
}

template <class Stream>
void Visit(Stream& stream, GraphModel& model) {
    stream(model.name);
    stream(model.nodes);
    stream(model.outputs);
    stream(model.targets);
}

template <size_t kIndex = 0>
AttrValue MakeAttr(size_t index) {
    if constexpr (kIndex + 1 < std::variant_size_v<AttrValue>) {
        return index == kIndex ? AttrValue(std::in_place_index<kIndex>)
                               : MakeAttr<kIndex + 1>(index);
    }
    return AttrValue(std::in_place_index<kIndex>);
}

// Return the number of values that an enumeration in the file may have, and its name.
constexpr uint64_t LimitOf(ge::DataType) { return ge::DT_MAX + 1; }
constexpr uint64_t LimitOf(ge::Format) { return ge::FORMAT_MAX + 1; }
constexpr uint64_t LimitOf(ge::Placement) { return ge::kPlacementEnd + 1; }
const char* TypeOf(ge::DataType) { return "ge::DataType"; }
const char* TypeOf(ge::Format) { return "ge::Format"; }
const char* TypeOf(ge::Placement) { return "ge::Placement"; }

// Writes values. It does not change them, but Visit has no const form.
class Saver {
 public:
    template <class T>
    void operator()(T& value) {
        if constexpr (std::is_same_v<T, float>) {
            uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            writer_.Number(bits);
        } else if constexpr (std::is_enum_v<T>) {
            Enumeration(value);
        } else if constexpr (std::is_arithmetic_v<T>) {
            writer_.Number(static_cast<uint64_t>(value));
        } else if constexpr (std::is_same_v<T, std::string>) {
            writer_.Text(value);
        } else if constexpr (IsVector<T>::value) {
            writer_.Number(value.size());
            for (size_t item = 0; item < value.size(); ++item) {
                typename T::value_type copy =
                    value[item];  // an element of vector<bool> has no address
                (*this)(copy);
            }
        } else {
            Visit(*this, value);
        }
    }
    void operator()(ge::Tensor& tensor) {
        ge::TensorDesc desc = tensor.GetTensorDesc();
        (*this)(desc);
        writer_.Text({reinterpret_cast<const char*>(tensor.GetData()), tensor.GetSize()});
    }
    void operator()(std::map<std::string, AttrValue>& attrs) {
        writer_.Number(attrs.size());
        for (auto& [name, value] : attrs) {
            writer_.Text(name);
            writer_.Number(value.index());
            std::visit(*this, value);
        }
    }
    void operator()(ModelNode& node) {
        node_ = &node;
        Visit(*this, node);
    }
    const std::string& bytes() const { return writer_.bytes(); }
    Outcome outcome() const { return outcome_; }

 private:
    template <class T>
    void Enumeration(T value) {
        const auto number = static_cast<uint64_t>(value);
        if (outcome_.ok() && number >= LimitOf(T())) {
            outcome_ = Fail(kBadTensor, "{} has a {} of {}; expected 0 to {}", Describe(*node_),
                            TypeOf(T()), static_cast<int64_t>(number), LimitOf(T()) - 1);
        }
        writer_.Number(number);
    }

    ByteWriter writer_;
    const ModelNode* node_ = nullptr;  // that is being written; only nodes have enumerations
    Outcome outcome_;                  // the first failure
};

class Loader {
 public:
    explicit Loader(std::string_view bytes) : reader_(bytes) {}

    template <class T>
    void operator()(T& value) {
        if constexpr (std::is_same_v<T, float>) {
            const auto bits = static_cast<uint32_t>(reader_.Below(uint64_t{1} << 32));
            std::memcpy(&value, &bits, sizeof bits);
        } else if constexpr (std::is_same_v<T, bool>) {
            value = reader_.Below(2) == 1;
        } else if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(reader_.Below(LimitOf(T())));
        } else if constexpr (std::is_arithmetic_v<T>) {
            value = static_cast<T>(reader_.Number());
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = reader_.Text();
        } else if constexpr (IsVector<T>::value) {
            const uint64_t count = reader_.Count();
            value.clear();
            for (uint64_t item = 0; item < count && reader_.ok(); ++item) {
                typename T::value_type made{};
                (*this)(made);
                value.push_back(std::move(made));
            }
        } else {
            Visit(*this, value);
        }
    }
    void operator()(ge::Tensor& tensor) {
        ge::TensorDesc desc;
        (*this)(desc);
        const std::string_view data = reader_.Text();
        tensor = ge::Tensor(desc, reinterpret_cast<const uint8_t*>(data.data()), data.size());
        if (tensor.GetSize() != data.size()) {
            throw std::bad_alloc();
        }
    }
    void operator()(std::map<std::string, AttrValue>& attrs) {
        const uint64_t count = reader_.Count();
        for (uint64_t item = 0; item < count && reader_.ok(); ++item) {
            const std::string name(reader_.Text());
            AttrValue value = MakeAttr(reader_.Below(std::variant_size_v<AttrValue>));
            std::visit(*this, value);
            attrs[name] = std::move(value);
        }
    }
    bool AtEnd() const { return reader_.AtEnd(); }

 private:
    ByteReader reader_;
};

bool LinksExist(const GraphModel& model) {
    const auto exists = [&](const ValueId& value) {
        return value.node < model.nodes.size() &&
               value.output < model.nodes[value.node].outputs.size();
    };
    bool all = true;
    for (const ModelNode& node : model.nodes) {
        all = all && node.outputs.size() == node.outputDescs.size();
        for (const ModelInput& input : node.inputs) {
            all = all && (!input.source || exists(*input.source));
        }
        for (const size_t source : node.controlSources) {
            all = all && source < model.nodes.size();
        }
    }
    const auto isNode = [&](size_t node) { return node < model.nodes.size(); };
    return all && std::all_of(model.outputs.begin(), model.outputs.end(), exists) &&
           std::all_of(model.targets.begin(), model.targets.end(), isNode);
}

}  // namespace

Outcome WriteModel(const GraphModel& model, std::string* bytes) {
    GraphModel copy = model;
    Saver saver;
    saver(copy);
    ADVSTEP_GRAPH_RETURN_IF_ERROR(saver.outcome());
    ByteWriter head;
    head.Number(kVersion);
    head.Number(ChecksumOf(saver.bytes()));
    *bytes = std::string(kMagic) + head.bytes() + saver.bytes();
    return {};
}

Outcome ReadModel(std::string_view bytes, GraphModel* model) {
    if (bytes.substr(0, kMagic.size()) != kMagic) {
        return Fail(kInnerError, "is no graph file of this library; expected one of SaveToFile");
    }
    ByteReader head(bytes.substr(kMagic.size()));
    const uint64_t version = head.Number();
    if (head.ok() && version != kVersion) {
        return Fail(kInnerError, "is a graph file of version {}; expected version {}", version,
                    kVersion);
    }
    const uint64_t checksum = head.Number();
    const std::string_view body = head.ok() ? bytes.substr(kMagic.size() + 16) : std::string_view();
    Loader loader(body);
    if (head.ok() && ChecksumOf(body) == checksum) {
        *model = {};
        loader(*model);
        if (loader.AtEnd() && LinksExist(*model)) {
            return {};
        }
    }
    return Fail(kInnerError, "is a damaged graph file of {} bytes", bytes.size());
}

}  // namespace advstep::graph
