// SPDX-License-Identifier: Apache-2.0
// Tests of the settings file: values, sections, errors.

#include <gtest/gtest.h>

#include "acl/acl_base.h"
#include "src/base/settings.h"
#include "support/settings.h"
#include "support/table.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

TEST(SettingsJsonTest, StringsAndWholeNumbersAreTaken) {
    const support::TempFile file(R"({"advance_step": {"ADVANCE_STEP_SOC": "sim:7",
        "ADVANCE_STEP_DEVICES": 3, "ADVANCE_STEP_CORE_ORDER": 18446744073709551615}})");
    SettingsFile contents;
    ASSERT_TRUE(unit::Succeeds(ReadSettingsFile(file.Path(), &contents)));
    EXPECT_EQ(contents.texts, (SettingTexts{{"ADVANCE_STEP_SOC", "sim:7"},
                                            {"ADVANCE_STEP_DEVICES", "3"},
                                            {"ADVANCE_STEP_CORE_ORDER", "18446744073709551615"}}));
}

TEST(SettingsJsonTest, OtherTopLevelKeysAreIgnored) {
    const support::TempFile file(
        R"({"dump": {"ADVANCE_STEP_DEVICES": 3}, "ADVANCE_STEP_THREADS": 2, "max_opqueue_num": 1})");
    SettingsFile contents;
    ASSERT_TRUE(unit::Succeeds(ReadSettingsFile(file.Path(), &contents)));
    EXPECT_TRUE(contents.texts.empty());
}

TEST(SettingsJsonTest, EmptySectionIsNoSetting) {
    const support::TempFile file(R"({"advance_step": {}})");
    SettingsFile contents;
    ASSERT_TRUE(unit::Succeeds(ReadSettingsFile(file.Path(), &contents)));
    EXPECT_TRUE(contents.texts.empty());
}

struct BadFileCase {
    const char* name;
    const char* text;
    int32_t code;
    const char* part;  // of the message
};

class BadSettingsFileTest : public testing::TestWithParam<BadFileCase> {};

TEST_P(BadSettingsFileTest, IsRefused) {
    const support::TempFile file(GetParam().text);
    SettingsFile contents;
    EXPECT_TRUE(unit::FailsWith(GetParam().code, ReadSettingsFile(file.Path(), &contents),
                                {file.Path(), GetParam().part, "expected"}));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSettingsFileTest,
    testing::Values(BadFileCase{"Empty", "", ACL_ERROR_PARSE_FILE, "not JSON"},
                    BadFileCase{"Torn", R"({"advance_step": {)", ACL_ERROR_PARSE_FILE, "not JSON"},
                    BadFileCase{"Tail", "{} x", ACL_ERROR_PARSE_FILE, "not JSON"},
                    BadFileCase{"Words", "devices=2", ACL_ERROR_PARSE_FILE, "not JSON"},
                    BadFileCase{"List", "[1, 2]", ACL_ERROR_PARSE_FILE, "JSON object"},
                    BadFileCase{"SectionIsNumber", R"({"advance_step": 3})",
                                ACL_ERROR_FILE_ATTR_INVALID, "3"},
                    BadFileCase{"SectionIsList", R"({"advance_step": []})",
                                ACL_ERROR_FILE_ATTR_INVALID, "is a list"},
                    BadFileCase{"SectionIsNull", R"({"advance_step": null})",
                                ACL_ERROR_FILE_ATTR_INVALID, "null"},
                    BadFileCase{"UnknownName", R"({"advance_step": {"DEVICES": 2}})",
                                ACL_ERROR_FILE_ATTR_INVALID, "\"DEVICES\""},
                    BadFileCase{"Fraction", R"({"advance_step": {"ADVANCE_STEP_DEVICES": 2.5}})",
                                ACL_ERROR_FILE_ATTR_INVALID, "2.5"},
                    BadFileCase{"Bool", R"({"advance_step": {"ADVANCE_STEP_DEVICES": true}})",
                                ACL_ERROR_FILE_ATTR_INVALID, "true"},
                    BadFileCase{"Nested", R"({"advance_step": {"ADVANCE_STEP_SOC": {}}})",
                                ACL_ERROR_FILE_ATTR_INVALID, "is an object"}),
    support::CaseName());

TEST(SettingsJsonTest, MissingFileIsNamed) {
    SettingsFile contents;
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_INVALID_FILE,
                                ReadSettingsFile("no/such/settings.json", &contents),
                                {"configPath", "no/such/settings.json"}));
}

TEST(SettingsJsonTest, DirectoryCannotBeRead) {
    SettingsFile contents;
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_INVALID_FILE, ReadSettingsFile(".", &contents),
                                {"configPath", "cannot be read"}));
}

}  // namespace
}  // namespace advstep
