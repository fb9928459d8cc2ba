// SPDX-License-Identifier: Apache-2.0
// Joins the parts of a page, and writes what every page has.

#include "report_page.h"

#include <fmt/format.h>

#include <ctime>

#include "chart_library.h"
#include "help_text.h"
#include "report_chart.h"
#include "report_script.h"
#include "report_style.h"

namespace serve {
namespace {

using Json = nlohmann::ordered_json;

// What XML would take for markup stands in a section of its own.
std::string Program(const char* id, const std::string& text) {
    return fmt::format("<script id=\"{}\">//<![CDATA[\n{}\n//]]></script>\n", id, text);
}

bool HasChartLibrary() { return !ChartLibrary().empty(); }

}  // namespace

std::string EmbeddedText(const Json& json) {
    std::string text;
    // A path may be any bytes; JSON is UTF-8.
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
        if (c == '<' || c == '>' || c == '&') {
            text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            text += c;
        }
    }
    return text;
}

std::string Embedded(const char* id, const Json& json) {
    return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id,
                       EmbeddedText(json));
}

std::string PathText(const std::string& path) {
    const std::string quoted = Json(path).dump(-1, ' ', false, Json::error_handler_t::replace);
    return Escape(Json::parse(quoted).get<std::string>());
}

std::string Origin(const Options& options) {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char date[sizeof("2026-01-01 00:00 UTC")] = "";
    (void)std::strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &utc);
    return fmt::format("<p id=\"origin\">{}, {}{}{}{}</p>\n", Escape(VersionText("serve")), date,
                       options.command.empty() ? "" : ": <code>", PathText(options.command),
                       options.command.empty() ? "" : "</code>");
}

std::string ChartsOf(const std::string& figures, const std::string& use) {
    if (!HasChartLibrary()) {
        return "<p>There are no charts: libjs-dygraphs was not installed when serve was "
               "built.</p>\n";
    }
    return "<p>" + use +
           " <button id=\"whole\" type=\"button\" hidden=\"hidden\">Whole run</button></p>\n"
           "<noscript><p>The charts need JavaScript.</p></noscript>\n<main>\n" +
           figures + "</main>\n";
}

std::string Page(const PageParts& parts) {
    std::string page =
        "<!DOCTYPE html>\n"
        "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<title>serve</title>\n<style>" +
        ChartLibraryStyle() + kReportStyle +
        "</style>\n</head>\n<body>\n<h1>serve: " + parts.title + "</h1>\n" + parts.body + parts.end;
    if (HasChartLibrary()) {
        page += "<script type=\"application/json\" id=\"charts\">" + parts.charts + "</script>\n" +
                Program("dygraphs", ChartLibrary()) + Program("program", kReportScript);
    }
    return page + "</body>\n</html>\n";
}

}  // namespace serve
