// SPDX-License-Identifier: Apache-2.0
// The aclopAttr calls. Messages of refused operators show the attributes.

#include "src/cann/op_attributes.h"

#include <sstream>

#include "src/cann/boundary.h"

using namespace advstep::cann;

namespace {

void Write(std::ostream& out, bool value) { out << (value ? "true" : "false"); }
void Write(std::ostream& out, uint8_t value) { Write(out, value != 0); }
void Write(std::ostream& out, int64_t value) { out << value; }
void Write(std::ostream& out, float value) { out << value; }
void Write(std::ostream& out, aclDataType value) { out << "dtype " << static_cast<int>(value); }
void Write(std::ostream& out, const char* value) { out << '"' << value << '"'; }

// Sets an attribute to the text that `write` makes. If `write` fails the attribute does not change.
template <typename WriteValue>
aclError Set(const char* call, aclopAttr* attr, const char* name, WriteValue&& write) {
    return Boundary(call, [&]() -> Outcome {
        if (attr == nullptr) {
            return Null("attr");
        }
        if (name == nullptr) {
            return Null("attrName");
        }
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text.exceptions(std::ios::badbit);  // a lack of memory would cut the text off otherwise
        Outcome outcome = write(text);
        if (outcome.code == ACL_SUCCESS) {
            attr->texts[name] = text.str();
        }
        return outcome;
    });
}

template <typename Value>
aclError SetOne(const char* call, aclopAttr* attr, const char* name, Value value) {
    return Set(call, attr, name, [&](std::ostream& text) -> Outcome {
        Write(text, value);
        return {};
    });
}

template <typename Value>
Outcome WriteList(std::ostream& text, int number, const Value* values) {
    if (number < 0) {
        return Negative("numValues", number);
    }
    if (number > 0 && values == nullptr) {
        return Null("values");
    }
    text << '[';
    for (int i = 0; i < number; ++i) {
        text << (i == 0 ? "" : ", ");
        Write(text, values[i]);
    }
    text << ']';
    return {};
}

template <typename Value>
aclError SetList(const char* call, aclopAttr* attr, const char* name, int number,
                 const Value* values) {
    return Set(call, attr, name,
               [&](std::ostream& text) { return WriteList(text, number, values); });
}

}  // namespace

aclopAttr* aclopCreateAttr(void) {
    aclopAttr* const attr = new (std::nothrow) aclopAttr;
    if (attr == nullptr) {
        advstepRecordFailure("aclopCreateAttr", ACL_ERROR_BAD_ALLOC, "the host is out of memory");
    }
    return attr;
}

void aclopDestroyAttr(const aclopAttr* attr) { delete attr; }

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
    return SetOne("aclopSetAttrBool", attr, attrName, attrValue);
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
    return SetOne("aclopSetAttrInt", attr, attrName, attrValue);
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
    return SetOne("aclopSetAttrFloat", attr, attrName, attrValue);
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
    return Set("aclopSetAttrString", attr, attrName, [&](std::ostream& text) -> Outcome {
        if (attrValue == nullptr) {
            return Null("attrValue");
        }
        Write(text, attrValue);
        return {};
    });
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
    return SetOne("aclopSetAttrDataType", attr, attrName, attrValue);
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues,
                              const uint8_t* values) {
    return SetList("aclopSetAttrListBool", attr, attrName, numValues, values);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues,
                             const int64_t* values) {
    return SetList("aclopSetAttrListInt", attr, attrName, numValues, values);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues,
                               const float* values) {
    return SetList("aclopSetAttrListFloat", attr, attrName, numValues, values);
}

aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues,
                                const char** values) {
    return Set("aclopSetAttrListString", attr, attrName, [&](std::ostream& text) -> Outcome {
        for (int i = 0; values != nullptr && i < numValues; ++i) {
            if (values[i] == nullptr) {
                return Null(("values[" + std::to_string(i) + "]").c_str());
            }
        }
        return WriteList(text, numValues, values);
    });
}

aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues,
                                  const aclDataType values[]) {
    return SetList("aclopSetAttrListDataType", attr, attrName, numValues, values);
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists,
                                 const int* numValues, const int64_t* const values[]) {
    return Set("aclopSetAttrListListInt", attr, attrName, [&](std::ostream& text) -> Outcome {
        if (numLists < 0) {
            return Negative("numLists", numLists);
        }
        if (numLists > 0 && (numValues == nullptr || values == nullptr)) {
            return Null(numValues == nullptr ? "numValues" : "values");
        }
        text << '[';
        for (int i = 0; i < numLists; ++i) {
            text << (i == 0 ? "" : ", ");
            Outcome outcome = WriteList(text, numValues[i], values[i]);
            if (outcome.code != ACL_SUCCESS) {
                return outcome;
            }
        }
        text << ']';
        return {};
    });
}
