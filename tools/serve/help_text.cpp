// SPDX-License-Identifier: Apache-2.0
// Wraps the texts of --help, and makes that of --version.

#include "help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

#include "advance_step/version.h"

namespace serve {
namespace {

constexpr size_t kNameColumns = 28;  // columns of the names of options
constexpr size_t kTextColumns = 52;  // columns behind them

// Breaks a text at blanks. CLI11 puts the lines behind the first below it.
std::string Wrapped(const std::string& text) {
    std::istringstream words(text);
    std::string wrapped;
    size_t column = 0;
    for (std::string word; words >> word;) {
        if (column > 0 && column + 1 + word.size() > kTextColumns) {
            wrapped += "\n";
            column = 0;
        }
        wrapped += (column > 0 ? " " : "") + word;
        column += (column > 0 ? 1 : 0) + word.size();
    }
    return wrapped;
}

class HelpFormatter : public CLI::Formatter {
 public:
    std::string make_option_desc(const CLI::Option* option) const override {
        return Wrapped(CLI::Formatter::make_option_desc(option));
    }
    // The checks of a value would be words behind its name; the text of the option has them.
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string shown;
        if (!option->get_option_text().empty()) {
            return " " + option->get_option_text();
        }
        if (option->get_type_size() != 0) {
            const std::string type = option->get_type_name();
            shown += type.empty() ? "" : " " + type.substr(0, type.find_first_of(": "));
            shown += option->get_default_str().empty() ? "" : "=" + ShortDefault(option);
        }
        return shown;
    }

 private:
    // The path of the sample is as long as that of the folder in which it is.
    static std::string ShortDefault(const CLI::Option* option) {
        const std::string text = option->get_default_str();
        const size_t slash = text.rfind('/');
        return slash == std::string::npos ? text : text.substr(slash + 1);
    }
};

}  // namespace

std::string VersionText(const std::string& name) {
    int32_t major = 0;
    int32_t minor = 0;
    int32_t patch = 0;
    (void)advstepGetVersion(&major, &minor, &patch);
    return fmt::format("{} {} (libadvance_step {}.{}.{})", name, ADVSTEP_VERSION_STRING, major,
                       minor, patch);
}

void AddHelpAndVersion(CLI::App& app, const std::string& name) {
    const auto formatter = std::make_shared<HelpFormatter>();
    formatter->column_width(kNameColumns);
    app.formatter(formatter);
    app.name(name);
    app.set_version_flag("--version", VersionText(name), "Print the versions and exit");
}

}  // namespace serve
