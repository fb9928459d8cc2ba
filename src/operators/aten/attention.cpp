// SPDX-License-Identifier: Apache-2.0
// Attention of inference: layouts, lengths, paged caches, masks, and the sum itself.

#include "src/operators/aten/attention.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "src/operators/aten/antiquant.h"
#include "src/operators/aten/key_rows.h"
#include "src/operators/aten/quant.h"
#include "src/operators/aten/query_quant.h"

namespace advstep_operators {
namespace {

constexpr int64_t kUnlimited = 2147483647;  // of the tokens before and after
constexpr int64_t kCompressed = 2048;       // both sizes of the mask of sparse modes 2, 3 and 4
constexpr int64_t kFewQueries = 16;         // of a head of keys, for rows that are read in place
constexpr double kLowest = -std::numeric_limits<double>::infinity();

// Arguments that change the result in ways that are not computed here.
constexpr const char* kRefused[] = {"keyRopeAntiquantScale"};

// A layout: the order of the axes of queries and keys, and that of the result.
struct Layout {
    std::string tokens;
    std::string result;

    bool varlen() const { return tokens == "TND" || tokens == "NTD"; }
};

Layout LayoutOf(std::string_view text) {
    for (const char* known :
         {"BSH", "BSND", "BNSD", "TND", "NTD", "BNSD_BSND", "BSH_BNSD", "BSND_BNSD", "BSH_NBSD",
          "BSND_NBSD", "BNSD_NBSD", "TND_NTD", "NTD_TND"}) {
        if (text == known) {
            const size_t bar = text.find('_');
            const std::string tokens(text.substr(0, bar));
            return {tokens,
                    bar == std::string_view::npos ? tokens : std::string(text.substr(bar + 1))};
        }
    }
    TORCH_CHECK_VALUE(false, "inputLayout is ", std::string(text),
                      "; expected BSH, BSND, BNSD, TND, NTD, or two of them as in BNSD_BSND");
}

// Returns a request of a tensor as [heads, tokens, D]. `begin` and `count` are its tokens in T, or
// in S.
at::Tensor RequestOf(const at::Tensor& tensor, const std::string& layout, int64_t heads,
                     int64_t request, int64_t begin, int64_t count) {
    if (layout == "TND") {
        return tensor.narrow(0, begin, count).transpose(0, 1);
    }
    if (layout == "NTD") {
        return tensor.narrow(1, begin, count);
    }
    at::Tensor one = layout == "NBSD" ? tensor.select(1, request) : tensor.select(0, request);
    if (layout == "BSH") {
        TORCH_CHECK_VALUE(one.size(1) % heads == 0, "the last dim is ", one.size(1),
                          "; expected a multiple of the ", heads, " heads");
        one = one.reshape({one.size(0), heads, one.size(1) / heads});
    }
    const bool byToken = layout == "BSH" || layout == "BSND";
    return (byToken ? one.transpose(0, 1) : one).narrow(1, begin, count);
}

// The keys or the values of a call.
struct KeySide {
    const char* name = "";
    std::vector<at::Tensor> tensors;  // one, or one for each request
    at::Tensor prefix;                // of all requests, in front of their own; or undefined
    Antiquant antiquant;
};

// The arguments of a call.
struct Attention {
    Layout layout;
    at::Tensor query;
    at::Tensor queryRope;
    QueryQuant quant;  // of queries of INT8
    KeySide key;
    KeySide value;
    int64_t prefixCount = 0;  // tokens
    KeySide keyRope;
    at::Tensor pse;
    at::Tensor mask;
    at::Tensor blockTable;  // of int64, contiguous; or undefined
    at::Tensor sinks;
    at::Tensor outScale;   // of a result of whole numbers
    at::Tensor outOffset;  // or undefined
    int64_t heads = 0;
    int64_t keyHeads = 0;
    int64_t blockSize = 0;
    int64_t sparseMode = 0;
    int64_t before = kUnlimited;
    int64_t after = kUnlimited;
    double scale = 1;
    int64_t requests = 0;
    std::vector<int64_t> queryBegins;  // tokens; or empty: 0
    std::vector<int64_t> queryCounts;
    std::vector<int64_t> keyBegins;
    std::vector<int64_t> keyCounts;
};

bool IsWhole(const at::Tensor& tensor) { return at::isIntegralType(tensor.scalar_type(), false); }

// Refuses keys or values of a dtype that does not go with the scales of the call.
void CheckKeyType(const KeySide& side, const at::Tensor& tensor, const QueryQuant& quant) {
    TORCH_CHECK_VALUE(tensor.defined(), side.name, " has a tensor of no dtype; expected one");
    if (quant.defined()) {
        TORCH_CHECK_VALUE(tensor.scalar_type() == at::kChar, side.name, " has dtype ",
                          tensor.scalar_type(), "; expected INT8, as query is INT8");
        return;
    }
    TORCH_CHECK_VALUE(IsWhole(tensor) == side.antiquant.defined(), side.name, " has a tensor of ",
                      tensor.scalar_type(), "; expected ",
                      side.antiquant.defined() ? "INT8, INT4, or INT32 with eight INT4 in "
                                                 "each, as there are antiquant scales"
                                               : "floats, as there are no antiquant scales");
}

KeySide KeysOf(const Call& call, const Named& named, bool ofValues, const QueryQuant& quant) {
    KeySide side;
    side.name = ofValues ? "value" : "key";
    side.tensors = call.Tensors(call.PlaceOf(side.name));
    side.antiquant = Antiquant(named, ofValues);
    side.prefix = named.Tensor(ofValues ? "valueSharedPrefix" : "keySharedPrefix");
    TORCH_CHECK_VALUE(!side.tensors.empty() && side.tensors[0].defined(), side.name,
                      " has no tensor; expected one");
    std::vector<at::Tensor> all = side.tensors;
    if (side.prefix.defined()) {
        all.push_back(side.prefix);
    }
    for (const at::Tensor& tensor : all) {
        CheckKeyType(side, tensor, quant);
    }
    return side;
}

// Sets the begins and lengths of requests that end at these tokens.
void SetEnds(const char* name, at::IntArrayRef ends, int64_t tokens, std::vector<int64_t>* begins,
             std::vector<int64_t>* counts) {
    int64_t begin = 0;
    for (const int64_t end : ends) {
        TORCH_CHECK_VALUE((end >= begin || end == 0) && end <= tokens, name, " is ", ends,
                          "; expected ascending ends of requests of at most ", tokens, " tokens");
        begins->push_back(begin);
        counts->push_back(std::max<int64_t>(end - begin, 0));
        begin = std::max(begin, end);
    }
}

// Sets the lengths of requests: the given ones, one for all, or the whole size.
void SetLengths(const char* name, at::IntArrayRef given, int64_t requests, int64_t most,
                std::vector<int64_t>* counts) {
    for (int64_t request = 0; request < requests; ++request) {
        const auto place = static_cast<size_t>(given.size() == 1 ? 0 : request);
        TORCH_CHECK_VALUE(given.empty() || place < given.size(), name, " has ", given.size(),
                          " numbers; expected one, or one for each of the ", requests, " requests");
        const int64_t length = given.empty() ? most : given[place];
        TORCH_CHECK_VALUE(length >= 0 && length <= most, name, " is ", given,
                          "; expected lengths of 0 to ", most);
        counts->push_back(length);
    }
}

// Returns how many tokens are free behind those of a request, or nothing if none are asked for.
std::optional<int64_t> PaddingOf(const Named& named, const char* name) {
    const at::Tensor padding = named.Given(name);
    if (!padding.defined()) {
        return std::nullopt;
    }
    TORCH_CHECK_VALUE(padding.numel() == 1 && IsWhole(padding), name, " is ", padding.scalar_type(),
                      " of shape ", padding.sizes(), "; expected one INT64");
    return padding.is_meta() ? 0 : std::max<int64_t>(padding.item().toLong(), 0);
}

// Refuses what does not go with requests that are padded on the left.
void CheckPadded(const Named& named, const Attention& attention, const char* name) {
    for (const char* other : {"blockTable", "blocktable", "keySharedPrefix", "attenMask",
                              "pseShift", "queryRope", "dequantScaleQuery"}) {
        TORCH_CHECK_VALUE(!named.Given(other).defined(), other,
                          " is not null; expected null, as there is ", name);
    }
    TORCH_CHECK_VALUE(!attention.layout.varlen() && attention.key.tensors.size() == 1, name,
                      " is not null; expected null, as requests have no dim of their own, or keys "
                      "are a list");
}

// Sets where requests begin that end `padding` tokens before the end of their dim. One that would
// begin before it has no tokens, if that is possible, and is refused otherwise.
void SetPadded(const char* name, int64_t padding, int64_t most, bool mayBeNone,
               std::vector<int64_t>* counts, std::vector<int64_t>* begins) {
    for (int64_t& count : *counts) {
        const int64_t begin = most - padding - count;
        TORCH_CHECK_VALUE(begin >= 0 || mayBeNone, name, " is ", padding, "; expected at most ",
                          most - count, ", as a request has ", count, " of ", most, " tokens");
        count = begin < 0 ? 0 : count;
        begins->push_back(std::max<int64_t>(begin, 0));
    }
}

// Returns the tokens of a request of the keys without a block table.
int64_t MostKeys(const Attention& attention) {
    const at::Tensor& key = attention.key.tensors[0];
    return attention.layout.tokens == "BNSD" ? key.size(2) : key.size(1);
}

void SetKeyLengths(Attention* attention, const char* name, at::IntArrayRef given) {
    const std::string& tokens = attention->layout.tokens;
    if (attention->blockTable.defined()) {
        const at::Tensor& table = attention->blockTable;
        TORCH_CHECK_VALUE(table.dim() == 2 && table.size(0) == attention->requests,
                          "blockTable is ", table.sizes(), "; expected [", attention->requests,
                          ", blocks of a request]");
        TORCH_CHECK_VALUE(attention->blockSize > 0, "blockSize is ", attention->blockSize,
                          "; expected the tokens of a block, as there is a block table");
        TORCH_CHECK_VALUE(!given.empty(), name,
                          " is null; expected the lengths of the requests, as "
                          "there is a block table");
        SetLengths(name, given, attention->requests, table.size(1) * attention->blockSize,
                   &attention->keyCounts);
    } else if (attention->layout.varlen()) {
        SetEnds(name, given, attention->key.tensors[0].size(tokens == "TND" ? 0 : 1),
                &attention->keyBegins, &attention->keyCounts);
        TORCH_CHECK_VALUE(static_cast<int64_t>(given.size()) == attention->requests, name, " has ",
                          given.size(), " numbers; expected ", attention->requests);
    } else if (attention->key.tensors.size() > 1) {
        for (const at::Tensor& key : attention->key.tensors) {
            attention->keyCounts.push_back(tokens == "BNSD" ? key.size(2) : key.size(1));
        }
    } else {
        SetLengths(name, given, attention->requests, MostKeys(*attention), &attention->keyCounts);
    }
    TORCH_CHECK_VALUE(static_cast<int64_t>(attention->keyCounts.size()) == attention->requests,
                      "key has ", attention->keyCounts.size(), " requests; expected ",
                      attention->requests, ", as query has");
}

void CheckRanks(const Attention& attention) {
    const int64_t rank =
        attention.layout.tokens == "BSND" || attention.layout.tokens == "BNSD" ? 4 : 3;
    TORCH_CHECK_VALUE(attention.query.dim() == rank, "query has ", attention.query.dim(),
                      " dims; expected those of ", attention.layout.tokens);
    for (const at::Tensor& key : attention.key.tensors) {
        TORCH_CHECK_VALUE(attention.blockTable.defined() || key.dim() == rank, "key has ",
                          key.dim(), " dims; expected those of ", attention.layout.tokens);
    }
}

// Sets the prefix that all requests have in common.
void SetPrefix(const Named& named, Attention* attention) {
    const at::Tensor& prefix = attention->key.prefix;
    TORCH_CHECK_VALUE(
        prefix.defined() == attention->value.prefix.defined(),
        "one of keySharedPrefix and valueSharedPrefix is null; expected both or none");
    if (!prefix.defined()) {
        return;
    }
    const bool alone = !attention->blockTable.defined() && !attention->layout.varlen() &&
                       attention->key.tensors.size() == 1 && !attention->queryRope.defined();
    TORCH_CHECK_VALUE(alone,
                      "keySharedPrefix is not null; expected null with a block table, a list of "
                      "keys, rope inputs, or requests in one dim");
    TORCH_CHECK_VALUE(prefix.dim() == attention->query.dim() && prefix.size(0) == 1,
                      "keySharedPrefix has shape ", prefix.sizes(),
                      "; expected that of one request");
    const int64_t most = prefix.size(attention->layout.tokens == "BNSD" ? 2 : 1);
    const at::IntArrayRef counts = named.Ints("actualSharedPrefixLen");
    attention->prefixCount = counts.empty() ? most : counts[0];
    TORCH_CHECK_VALUE(
        counts.size() <= 1 && attention->prefixCount >= 0 && attention->prefixCount <= most,
        "actualSharedPrefixLen is ", counts, "; expected one number of 0 to ", most);
}

// Sets the scale and offset of a result of whole numbers, [heads, 1, D] or one number.
void SetSteps(const Named& named, Attention* attention) {
    const bool rounds = named.View("attentionOut")->dataType == ACL_INT8;
    const at::Tensor scale = named.Tensor("quantScale2");
    const at::Tensor offset = named.Tensor("quantOffset2");
    TORCH_CHECK_VALUE(scale.defined() == rounds, "quantScale2 is ",
                      scale.defined() ? "not null" : "null",
                      "; expected a tensor if attentionOut is INT8, and null otherwise");
    TORCH_CHECK_VALUE(!offset.defined() || (rounds && offset.numel() == scale.numel()),
                      "quantOffset2 is not null; expected null, or as many numbers as quantScale2");
    const auto laid = [&](const at::Tensor& numbers) {
        const bool fits = !numbers.defined() || numbers.numel() == 1 ||
                          (numbers.numel() > 0 && numbers.numel() % attention->heads == 0);
        TORCH_CHECK_VALUE(fits, "quantScale2 has shape ", numbers.sizes(),
                          "; expected one number, or one for each channel of ", attention->heads,
                          " heads");
        return !numbers.defined()     ? numbers
               : numbers.numel() == 1 ? Wide(numbers).reshape({1, 1, 1})
                                      : Wide(numbers).reshape({attention->heads, 1, -1});
    };
    attention->outScale = laid(scale);
    attention->outOffset = laid(offset);
}

void SetHeads(const Named& named, Attention* attention) {
    attention->heads = named.Int("numHeads");
    TORCH_CHECK_VALUE(attention->heads > 0, "numHeads is ", attention->heads,
                      "; expected at least 1");
    const int64_t keyHeads = named.Int("numKeyValueHeads");
    attention->keyHeads = keyHeads != 0 ? keyHeads : attention->heads;
    TORCH_CHECK_VALUE(attention->keyHeads > 0 && attention->heads % attention->keyHeads == 0,
                      "numKeyValueHeads is ", keyHeads, "; expected 0 or a divisor of ",
                      attention->heads);
}

bool IsMaskType(at::ScalarType dtype) {
    return dtype == at::kBool || dtype == at::kChar || dtype == at::kByte;
}

// Refuses a keyRope that is not key by key beside the key. Caches have checks of their own.
void CheckKeyRope(const Attention& attention) {
    const at::Tensor& rope = attention.keyRope.tensors.front();
    if (!rope.defined() || attention.blockTable.defined() || attention.key.tensors.size() != 1) {
        return;
    }
    const at::Tensor& key = attention.key.tensors.front();
    TORCH_CHECK_VALUE(rope.dim() == key.dim() && rope.sizes().slice(0, rope.dim() - 1) ==
                                                     key.sizes().slice(0, key.dim() - 1),
                      "keyRope has shape ", rope.sizes(), "; expected that of key, ", key.sizes(),
                      ", but for the last dim");
}

void SetTensors(const Call& call, const Named& named, bool incremental, Attention* attention) {
    attention->query = named.Tensor("query");
    attention->quant = QueryQuant(named, incremental);
    attention->queryRope = named.Tensor("queryRope");
    const at::Tensor keyRope = named.Tensor("keyRope");
    TORCH_CHECK_VALUE(attention->queryRope.defined() == keyRope.defined(),
                      "one of queryRope and keyRope is null; expected both or none");
    TORCH_CHECK_VALUE(
        !keyRope.defined() || keyRope.scalar_type() == attention->queryRope.scalar_type(),
        "keyRope has dtype ", keyRope.scalar_type(), "; expected that of queryRope, ",
        attention->queryRope.scalar_type());
    attention->keyRope.name = "keyRope";
    attention->keyRope.tensors = {keyRope};
    attention->key = KeysOf(call, named, false, attention->quant);
    attention->value = KeysOf(call, named, true, attention->quant);
    attention->pse = named.Tensor("pseShift");
    attention->mask = named.Tensor("attenMask");
    TORCH_CHECK_VALUE(!attention->mask.defined() || IsMaskType(attention->mask.scalar_type()),
                      "attenMask has dtype ", attention->mask.scalar_type(),
                      "; expected BOOL, INT8 or UINT8, where not 0 hides a key");
    attention->blockTable =
        named.Has("blocktable") ? named.Tensor("blocktable") : named.Tensor("blockTable");
    if (attention->blockTable.defined()) {
        attention->blockTable = attention->blockTable.to(at::kLong).contiguous();
    }
    attention->sinks = named.Tensor("learnableSink");
    CheckKeyRope(*attention);
}

// Sets the begins of requests that are padded on the left. Padding without lengths has no effect.
void SetPaddings(const Named& named, const char* keyLengths, Attention* attention) {
    const std::string& tokens = attention->layout.tokens;
    const bool varlen = attention->layout.varlen();
    const int64_t queries = varlen ? 0 : attention->query.size(tokens == "BNSD" ? 2 : 1);
    if (const auto keys = PaddingOf(named, "kvPaddingSize"); keys && named.Has(keyLengths)) {
        CheckPadded(named, *attention, "kvPaddingSize");
        SetPadded("kvPaddingSize", *keys, MostKeys(*attention), queries == 1, &attention->keyCounts,
                  &attention->keyBegins);
    }
    const auto padding = PaddingOf(named, "queryPaddingSize");
    if (padding && queries > 1 && named.Has("actualSeqLengths")) {
        CheckPadded(named, *attention, "queryPaddingSize");
        SetPadded("queryPaddingSize", *padding, queries, false, &attention->queryCounts,
                  &attention->queryBegins);
    }
}

Attention Read(const Call& call, const Named& named, bool incremental) {
    for (const char* name : kRefused) {
        named.Refuse({name});
    }
    Attention attention;
    attention.layout = LayoutOf(named.Text("inputLayout"));
    SetTensors(call, named, incremental, &attention);
    SetHeads(named, &attention);
    attention.blockSize = named.Int("blockSize");
    attention.sparseMode = named.Int("sparseMode");
    attention.before = named.Int("preTokens", kUnlimited);
    attention.after = named.Int("nextTokens", kUnlimited);
    attention.scale = named.Real("scaleValue");
    CheckRanks(attention);
    SetPrefix(named, &attention);
    SetSteps(named, &attention);
    const std::string& tokens = attention.layout.tokens;
    const at::IntArrayRef lengths = named.Ints("actualSeqLengths");
    if (attention.layout.varlen()) {
        SetEnds("actualSeqLengths", lengths, attention.query.size(tokens == "TND" ? 0 : 1),
                &attention.queryBegins, &attention.queryCounts);
        attention.requests = static_cast<int64_t>(lengths.size());
    } else {
        attention.requests = attention.query.size(0);
        const int64_t most = attention.query.size(tokens == "BNSD" ? 2 : 1);
        SetLengths("actualSeqLengths", incremental || most == 1 ? at::IntArrayRef() : lengths,
                   attention.requests, most, &attention.queryCounts);
    }
    const char* const keyLengths = incremental ? "actualSeqLengths" : "actualSeqLengthsKv";
    SetKeyLengths(&attention, keyLengths, named.Ints(keyLengths));
    SetPaddings(named, keyLengths, &attention);
    return attention;
}

// Returns a cache as [blocks, blockSize, heads, D].
at::Tensor Blocks(const at::Tensor& cache, const char* name, const Attention& attention) {
    const int64_t size = attention.blockSize;
    const int64_t heads = attention.keyHeads;
    if (cache.dim() == 3 && cache.size(1) == size && cache.size(2) % heads == 0) {
        return cache.reshape({cache.size(0), size, heads, cache.size(2) / heads});
    }
    if (cache.dim() == 4) {
        const bool byHead = cache.size(1) == heads && cache.size(2) == size;
        const bool byToken = cache.size(1) == size && cache.size(2) == heads;
        const bool prefersHead =
            attention.layout.tokens != "BSH" && attention.layout.tokens != "BSND";
        if (byToken && !(byHead && prefersHead)) {
            return cache;
        }
        if (byHead) {
            return cache.transpose(1, 2);
        }
    }
    if (cache.dim() == 5 && cache.size(1) == heads && cache.size(3) == size) {
        return cache.permute({0, 3, 1, 2, 4}).flatten(3);
    }
    TORCH_CHECK_VALUE(false, name, " is ", cache.sizes(), "; expected blocks of ", size,
                      " tokens and ", heads, " heads: [blocks, ", size, ", ", heads,
                      " * D], [blocks, ", heads, ", ", size, ", D] or [blocks, ", heads,
                      ", D / n, ", size, ", n]");
}

// Returns the numbers of a request's blocks.
at::Tensor BlocksOf(const Attention& attention, int64_t request) {
    const int64_t count = attention.keyCounts[static_cast<size_t>(request)];
    const int64_t used = (count + attention.blockSize - 1) / attention.blockSize;
    return attention.blockTable.select(0, request).narrow(0, 0, used);
}

// Refuses a number that is no block of a cache.
void CheckBlocks(const Attention& attention, int64_t request, int64_t blocks) {
    const at::Tensor ids = BlocksOf(attention, request);
    const int64_t* const numbers = ids.const_data_ptr<int64_t>();
    for (int64_t column = 0; column < ids.numel(); ++column) {
        TORCH_CHECK_INDEX(numbers[column] >= 0 && numbers[column] < blocks, "blockTable has ",
                          numbers[column], " in row ", request, ", column ", column,
                          "; expected a block of 0 to ", blocks - 1);
    }
}

void CheckBlockTable(const Attention& attention) {
    if (!attention.blockTable.defined() || attention.blockTable.is_meta()) {
        return;
    }
    int64_t fewest = std::numeric_limits<int64_t>::max();
    for (const KeySide* side : {&attention.key, &attention.value, &attention.keyRope}) {
        fewest = side->tensors[0].defined() ? std::min(fewest, side->tensors[0].size(0)) : fewest;
    }
    for (int64_t request = 0; request < attention.requests; ++request) {
        CheckBlocks(attention, request, fewest);
    }
}

// Returns the rows of a request, [heads, tokens, D], of a call without a block table.
at::Tensor OwnRowsOf(const KeySide& side, const Attention& attention, int64_t request) {
    const auto place = static_cast<size_t>(request);
    const bool each = side.tensors.size() > 1;
    const int64_t begin = attention.keyBegins.empty() ? 0 : attention.keyBegins[place];
    return RequestOf(each ? side.tensors.at(place) : side.tensors[0], attention.layout.tokens,
                     attention.keyHeads, each ? 0 : request, begin, attention.keyCounts[place]);
}

// Returns the rows of a request, [heads, tokens, D], of keys or values as the call has them.
at::Tensor RowsOf(const KeySide& side, const Attention& attention, KeyPlace* place) {
    if (!attention.blockTable.defined()) {
        return OwnRowsOf(side, attention, place->request);
    }
    const at::Tensor blocks = Blocks(side.tensors[0], side.name, attention);
    place->blockCount = blocks.size(0);
    place->blocks = BlocksOf(attention, place->request);
    return at::index_select(blocks, 0, place->blocks)
        .flatten(0, 1)
        .narrow(0, 0, attention.keyCounts[static_cast<size_t>(place->request)])
        .transpose(0, 1);
}

// Returns the keys or values of a request, [heads, tokens, D], its prefix in front.
at::Tensor KeysOfRequest(const KeySide& side, const Attention& attention, int64_t request) {
    KeyPlace place;
    place.request = request;
    place.blockSize = attention.blockSize;
    place.isWhole =
        attention.blockTable.defined() ||
        (!attention.layout.varlen() && !side.prefix.defined() && attention.keyBegins.empty());
    const auto floats = [&](const at::Tensor& rows) {
        const bool inWords = rows.scalar_type() == at::kInt;
        return side.antiquant.defined() ? side.antiquant.Restored(Unpacked(rows, inWords), place)
                                        : rows;
    };
    const at::Tensor own = floats(RowsOf(side, attention, &place));
    if (!side.prefix.defined()) {
        return own;
    }
    return at::cat({floats(RequestOf(side.prefix, attention.layout.tokens, attention.keyHeads, 0, 0,
                                     attention.prefixCount)),
                    own},
                   1);
}

// Returns whether the rows of a call's keys and values can be read where they lie, and its requests
// have so few queries that this is the faster way.
bool StaysInPlace(const Attention& attention) {
    const int64_t groups = attention.heads / attention.keyHeads;
    return !attention.query.is_meta() && !attention.quant.defined() &&
           !attention.key.antiquant.defined() && !attention.value.antiquant.defined() &&
           !attention.key.prefix.defined() && !attention.queryRope.defined() &&
           std::all_of(attention.queryCounts.begin(), attention.queryCounts.end(),
                       [&](int64_t count) { return count * groups <= kFewQueries; });
}

// Returns the keys or values of a request where they lie, or nothing.
std::optional<KeyRows> InPlace(const KeySide& side, const Attention& attention, int64_t request) {
    const int64_t count = attention.keyCounts[static_cast<size_t>(request)];
    if (attention.blockTable.defined()) {
        return KeyRows::InPlace(Blocks(side.tensors[0], side.name, attention),
                                BlocksOf(attention, request), count);
    }
    return KeyRows::InPlace(OwnRowsOf(side, attention, request).transpose(0, 1).unsqueeze(0), {},
                            count);
}

// Returns the mask of a request, [heads or 1, queries, keys].
at::Tensor MaskOf(const Attention& attention, int64_t request, int64_t queries, int64_t keys) {
    at::Tensor mask = attention.mask;
    const bool byRequest = mask.dim() == 2 && queries == 1 && mask.size(0) == attention.requests &&
                           mask.size(1) >= keys;
    if (byRequest) {
        mask = mask.unsqueeze(1).unsqueeze(1);
    } else if (mask.dim() == 2) {
        mask = mask.unsqueeze(0).unsqueeze(0);
    } else if (mask.dim() == 3) {
        mask = mask.unsqueeze(1);
    }
    TORCH_CHECK_VALUE(mask.dim() == 4 && mask.size(2) >= queries && mask.size(3) >= keys &&
                          (mask.size(0) == 1 || mask.size(0) == attention.requests),
                      "attenMask is ", attention.mask.sizes(), "; expected ", queries, " x ", keys,
                      " positions, for all or each of ", attention.requests, " requests");
    return mask.select(0, mask.size(0) == 1 ? 0 : request)
        .narrow(1, 0, queries)
        .narrow(2, 0, keys)
        .to(at::kBool);
}

// Returns the positions that are too far before or after the diagonal, or an undefined tensor.
at::Tensor Band(int64_t before, int64_t after, int64_t shift, int64_t queries, int64_t keys,
                const at::Tensor& like) {
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(like.device());
    const at::Tensor distance = at::sub(at::sub(at::arange(keys, options), shift),
                                        at::arange(queries, options).unsqueeze(1));
    at::Tensor hidden;
    if (after < kUnlimited) {
        hidden = at::gt(distance, after);
    }
    if (before < kUnlimited) {
        const at::Tensor early = at::lt(distance, -before);
        hidden = hidden.defined() ? at::logical_or(hidden, early) : early;
    }
    return hidden;
}

at::Tensor HiddenOf(const Attention& attention, int64_t request, int64_t queries, int64_t keys) {
    const at::Tensor& mask = attention.mask;
    const bool compressed = mask.defined() && mask.dim() >= 2 && mask.size(-1) == kCompressed &&
                            mask.size(-2) == kCompressed;
    const int64_t mode = attention.sparseMode;
    TORCH_CHECK_VALUE(mode >= 0 && mode <= 4, "sparseMode is ", mode, "; expected 0 to 4");
    const bool oneQuery = !attention.layout.varlen() &&
                          attention.query.size(attention.layout.tokens == "BNSD" ? 2 : 1) == 1;
    if (mode <= 1 || (oneQuery && !compressed)) {
        if (!mask.defined()) {
            TORCH_CHECK_VALUE(mode != 1, "attenMask is null; expected one, as sparseMode is 1");
            return {};
        }
        const at::Tensor own = MaskOf(attention, request, queries, keys);
        const at::Tensor band = mode == 0 && !oneQuery
                                    ? Band(attention.before, attention.after, 0, queries, keys, own)
                                    : at::Tensor();
        return band.defined() ? at::logical_or(own, band) : own;
    }
    if (oneQuery) {
        return {};
    }
    TORCH_CHECK_VALUE(compressed, "attenMask is ", mask.defined() ? "of another size" : "null",
                      "; expected the triangle of 2048 x 2048 that sparseMode ", mode, " needs");
    const int64_t shift = mode == 2 ? 0 : keys - queries;
    return mode == 4
               ? Band(attention.before, attention.after, shift, queries, keys, attention.query)
               : Band(kUnlimited, 0, shift, queries, keys, attention.query);
}

struct Result {
    at::Tensor out;  // [heads, queries, D]
    at::Tensor lse;  // [heads, queries, 1]
};

// Refuses rows that are no heads of one size.
void CheckHeads(const Attention& attention, const at::Tensor& q, const KeyRows& k,
                const KeyRows& v) {
    TORCH_CHECK_VALUE(q.size(0) == attention.heads && k.heads() == attention.keyHeads &&
                          k.size() == q.size(2) && v.heads() == k.heads() &&
                          v.tokens() == k.tokens(),
                      "a request has query ", q.sizes(), ", key ", k.sizes(), " and value ",
                      v.sizes(), "; expected heads of one size, ", attention.heads, " and ",
                      attention.keyHeads, ", as numHeads and numKeyValueHeads are");
}

// Returns queries, [heads, queries, D], as those of the heads of keys.
at::Tensor ByKeyHead(const Attention& attention, const at::Tensor& q) {
    return q.reshape({attention.keyHeads, -1, q.size(2)});
}

// Returns what the products of queries with keys, [heads, queries, keys], make of the values.
Result Attend(const Attention& attention, int64_t request, const at::Tensor& products,
              const KeyRows& v) {
    const int64_t heads = attention.heads;
    const int64_t groups = heads / attention.keyHeads;
    const int64_t queries = products.size(1);
    const int64_t keys = products.size(2);
    at::Tensor scores = at::mul(products, attention.scale);
    if (attention.pse.defined()) {
        const at::Tensor pse =
            attention.pse.dim() == 4
                ? attention.pse.select(0, attention.pse.size(0) == 1 ? 0 : request)
                : attention.pse;
        TORCH_CHECK_VALUE(pse.dim() >= 2 && pse.size(-2) >= queries && pse.size(-1) >= keys,
                          "pseShift is ", attention.pse.sizes(), "; expected ", queries, " x ",
                          keys, " positions");
        scores = at::add(scores, pse.narrow(-2, 0, queries).narrow(-1, 0, keys));
    }
    if (const at::Tensor hidden = HiddenOf(attention, request, queries, keys); hidden.defined()) {
        scores = at::masked_fill(scores, hidden, kLowest);
    }
    at::Tensor most = keys > 0 ? at::amax(scores, -1, true)
                               : at::full({heads, queries, 1}, kLowest, scores.options());
    at::Tensor sink;
    if (attention.sinks.defined()) {
        sink = attention.sinks.to(at::kFloat).reshape({heads, 1, 1});
        most = at::maximum(most, sink);
    }
    const at::Tensor from = at::masked_fill(most, at::eq(most, kLowest), 0);
    const at::Tensor powers = at::exp(at::sub(scores, from));
    at::Tensor total = at::sum(powers, -1, true);
    if (sink.defined()) {
        total = at::add(total, at::exp(at::sub(sink, from)));
    }
    const at::Tensor weights = powers.reshape({attention.keyHeads, groups * queries, keys});
    const at::Tensor sums = (attention.quant.IsByTensor() ? attention.quant.Sums(weights, v.rows())
                                                          : v.Weighted(weights))
                                .reshape({heads, queries, v.size()});
    at::Tensor out = at::div(sums, at::masked_fill(total, at::eq(total, 0), 1));
    if (attention.outScale.defined()) {
        TORCH_CHECK_VALUE(attention.outScale.size(2) == 1 || attention.outScale.size(2) == v.size(),
                          "quantScale2 has ", attention.outScale.numel(),
                          " numbers; expected one, or one for each of ", heads, " x ", v.size(),
                          " channels");
        out = at::mul(out, attention.outScale);
        out = attention.outOffset.defined() ? at::add(out, attention.outOffset) : out;
    }
    return {out, at::add(most, at::log(total))};
}

// Returns zeros of the result's shape.
at::Tensor OutputOf(const Attention& attention, int64_t size) {
    const at::TensorOptions options = attention.query.options().dtype(at::kFloat);
    const std::string& from = attention.layout.tokens;
    const std::string& to = attention.layout.result;
    const at::IntArrayRef dims = attention.query.sizes();
    const int64_t tokens = from == "BNSD"              ? dims[2]
                           : from == "NTD"             ? dims[1]
                           : attention.layout.varlen() ? dims[0]
                                                       : dims[1];
    const int64_t heads = attention.heads;
    if (to == "TND") {
        return at::zeros({tokens, heads, size}, options);
    }
    if (to == "NTD") {
        return at::zeros({heads, tokens, size}, options);
    }
    if (to == "BSH") {
        return at::zeros({dims[0], tokens, heads * size}, options);
    }
    if (to == "BSND") {
        return at::zeros({dims[0], tokens, heads, size}, options);
    }
    return to == "NBSD" ? at::zeros({heads, dims[0], tokens, size}, options)
                        : at::zeros({dims[0], heads, tokens, size}, options);
}

// Returns the logs of sums, -inf as long as a query has seen no key.
at::Tensor StatisticsOf(const Attention& attention) {
    const at::TensorOptions options = attention.query.options().dtype(at::kFloat);
    const std::string& tokens = attention.layout.tokens;
    if (attention.layout.varlen()) {
        const int64_t count = attention.query.size(tokens == "TND" ? 0 : 1);
        return at::full({count, attention.heads, 1}, kLowest, options);
    }
    const int64_t count = attention.query.size(tokens == "BNSD" ? 2 : 1);
    return at::full({attention.requests, attention.heads, count, 1}, kLowest, options);
}

// The results of all requests. Threads that compute different requests write different parts.
struct Results {
    at::Tensor out;
    at::Tensor lse;
};

// Returns results of so many elements of a head, which no request has written yet.
Results ResultsOf(const Attention& attention, int64_t size) {
    return {OutputOf(attention, size), StatisticsOf(attention)};
}

void PutResult(const Attention& attention, int64_t request, const Result& result,
               const Results& results) {
    const auto place = static_cast<size_t>(request);
    const bool varlen = attention.layout.varlen();
    const int64_t begin = attention.queryBegins.empty() ? 0 : attention.queryBegins[place];
    const int64_t count = attention.queryCounts[place];
    RequestOf(results.out, attention.layout.result, attention.heads, request, begin, count)
        .copy_(result.out);
    RequestOf(results.lse, varlen ? "TND" : "BNSD", attention.heads, request, begin, count)
        .copy_(result.lse);
}

// Returns a part of the queries of a request, [heads, queries, D].
at::Tensor QueriesOf(const at::Tensor& queries, const Attention& attention, int64_t request) {
    const auto place = static_cast<size_t>(request);
    const int64_t begin = attention.queryBegins.empty() ? 0 : attention.queryBegins[place];
    return RequestOf(queries, attention.layout.tokens, attention.heads, request, begin,
                     attention.queryCounts[place]);
}

// Attends with floats.
Result AttendRows(const Attention& attention, int64_t request, const at::Tensor& q,
                  const KeyRows& k, const KeyRows& v) {
    CheckHeads(attention, q, k, v);
    const at::Tensor products = k.Times(ByKeyHead(attention, q));
    return Attend(attention, request, products.reshape({q.size(0), q.size(1), k.tokens()}), v);
}

// Attends with queries of INT8.
Result AttendWhole(const Attention& attention, int64_t request) {
    const QueryQuant& quant = attention.quant;
    const at::Tensor q = QueriesOf(attention.query, attention, request);
    KeyPlace place;
    place.request = request;
    const at::Tensor k = RowsOf(attention.key, attention, &place);
    const KeyRows v(quant.IsByTensor() ? RowsOf(attention.value, attention, &place)
                                       : KeysOfRequest(attention.value, attention, request));
    CheckHeads(attention, q, KeyRows(k), v);
    const std::vector<int64_t> shape{q.size(0), q.size(1), k.size(1)};
    at::Tensor products = quant.Products(ByKeyHead(attention, q), k).reshape(shape);
    if (!quant.IsByTensor()) {
        const at::Tensor rope = QueriesOf(attention.queryRope, attention, request);
        const KeyRows ropes(KeysOfRequest(attention.keyRope, attention, request));
        products = at::add(products, ropes.Times(ByKeyHead(attention, rope)).reshape(shape));
        products = at::mul(products, QueriesOf(quant.OfTokens(), attention, request));
        products = at::mul(products, attention.key.antiquant.OfAll());
    }
    return Attend(attention, request, products, v);
}

Result AttendGathered(const Attention& attention, int64_t request) {
    if (attention.quant.defined()) {
        return AttendWhole(attention, request);
    }
    at::Tensor q = QueriesOf(attention.query, attention, request);
    at::Tensor k = KeysOfRequest(attention.key, attention, request);
    const at::Tensor v = KeysOfRequest(attention.value, attention, request);
    if (attention.queryRope.defined()) {
        q = at::cat({q, QueriesOf(attention.queryRope, attention, request)}, -1);
        k = at::cat({k, KeysOfRequest(attention.keyRope, attention, request)}, -1);
    }
    return AttendRows(attention, request, q, KeyRows(k), KeyRows(v));
}

// Computes the requests of a call whose rows stay in place, each on one thread if there are enough
// of them. Returns nothing if this processor or these rows want another way.
std::optional<Results> ComputeInPlace(const Attention& attention) {
    std::vector<std::pair<KeyRows, KeyRows>> rows;
    for (int64_t request = 0; request < attention.requests; ++request) {
        const std::optional<KeyRows> k = InPlace(attention.key, attention, request);
        const std::optional<KeyRows> v = InPlace(attention.value, attention, request);
        if (!k || !v) {
            return std::nullopt;
        }
        rows.emplace_back(*k, *v);
    }
    if (rows.empty()) {
        return std::nullopt;
    }
    const Results results = ResultsOf(attention, rows[0].second.size());
    const auto compute = [&](int64_t begin, int64_t end) {
        const c10::InferenceMode mode;
        for (int64_t request = begin; request < end; ++request) {
            const auto& [k, v] = rows[static_cast<size_t>(request)];
            const at::Tensor q = QueriesOf(attention.query, attention, request);
            PutResult(attention, request, AttendRows(attention, request, q, k, v), results);
        }
    };
    if (attention.requests >= at::get_num_threads()) {
        at::parallel_for(0, attention.requests, 1, compute);
    } else {
        compute(0, attention.requests);
    }
    return results;
}

// Returns the requests that are computed. A check computes those that ask most of the shapes of
// masks and the like; with others for each new length, phase one would take longer than the work.
std::vector<int64_t> ComputedRequests(const Attention& attention) {
    std::vector<int64_t> all(static_cast<size_t>(attention.requests));
    std::iota(all.begin(), all.end(), 0);
    if (!attention.query.is_meta() || attention.key.tensors.size() > 1 || all.empty()) {
        return all;
    }
    const auto lastOfMost = [](const std::vector<int64_t>& counts) {
        return counts.rend() - std::max_element(counts.rbegin(), counts.rend()) - 1;
    };
    std::vector<int64_t> some{lastOfMost(attention.queryCounts), lastOfMost(attention.keyCounts),
                              all.back()};
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    return some;
}

Results ComputeGathered(const Attention& attention) {
    Results results;
    for (const int64_t request : ComputedRequests(attention)) {
        const Result result = AttendGathered(attention, request);
        results = results.out.defined() ? results : ResultsOf(attention, result.out.size(2));
        PutResult(attention, request, result, results);
    }
    return results.out.defined() ? results : ResultsOf(attention, 0);
}

void Compute(Call& call, bool incremental) {
    Named named(call);
    const Attention attention = Read(call, named, incremental);
    CheckBlockTable(attention);
    std::optional<Results> inPlace;
    if (StaysInPlace(attention)) {
        inPlace = ComputeInPlace(attention);
    }
    const Results results = inPlace ? *inPlace : ComputeGathered(attention);
    at::Tensor out = results.out;
    out = attention.outScale.defined() ? Rounded(out, Steps()) : out;
    const bool statistics = named.Flag("softmaxLseFlag");
    if (statistics && named.Has("softmaxLse")) {
        TORCH_CHECK_VALUE(named.View("softmaxLse")->dataType == ACL_FLOAT,
                          "softmaxLse is not of ACL_FLOAT; expected that dtype");
        named.CheckApart("attentionOut", "softmaxLse");
    }
    named.Put({{"attentionOut", out}, {"softmaxLse", statistics ? results.lse : at::Tensor()}});
}

}  // namespace

void InferAttention(Call& call) { Compute(call, false); }

void IncrementalAttention(Call& call) { Compute(call, true); }

}  // namespace advstep_operators
