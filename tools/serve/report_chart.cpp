// SPDX-License-Identifier: Apache-2.0
// Writes the places of charts and their data.

#include "report_chart.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "grouped.h"

namespace serve {
namespace {

using Text = std::back_insert_iterator<std::string>;

void WriteLegend(Text out, const Plot& plot) {
    fmt::format_to(out, R"(<p class="legend">)");
    for (const Series& series : plot.series) {
        fmt::format_to(out, R"(<span class="series"><i class="{}"></i>{}<b></b></span> )",
                       series.colour, Escape(series.name));
    }
    if (plot.limit > 0) {
        fmt::format_to(out, R"(<span><i class="limit"></i>{}</span>)", Escape(plot.limitName));
    }
    fmt::format_to(out, "<output></output></p>\n");
}

}  // namespace

std::string Escape(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            default:
                // What XML knows no way to write.
                escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
        }
    }
    return escaped;
}

std::string Readable(double value) {
    const double size = std::fabs(value);
    if (size < 1e-12) {
        return "0";
    }
    if (size < 100 && std::fabs(value - std::round(value)) > size * 1e-6) {
        return fmt::format("{:.3g}", value);
    }
    return Grouped(fmt::format("{:.0f}", value));
}

std::string FigureOf(const Plot& plot) {
    std::string figure;
    const Text out(figure);
    fmt::format_to(out, "<figure id=\"{}\">\n<figcaption>{}</figcaption>\n", plot.id,
                   Escape(plot.title));
    WriteLegend(out, plot);
    return figure + "</figure>\n";
}

std::string ChartJson(const Plot& plot) {
    std::string json;
    const Text out(json);
    fmt::format_to(out, R"({{"id":"{}","xAxis":"{}","yAxis":"{}","xUnit":"{}","fromZero":{},)",
                   plot.id, plot.xAxis, plot.yAxis, plot.xUnit, plot.fromZero);
    fmt::format_to(out, R"("timed":{},"limit":{:.6g},"limitName":"{}","spans":[)", plot.timed,
                   plot.limit, plot.limitName);
    const char* comma = "";
    for (const auto& [from, to] : plot.spans) {
        fmt::format_to(out, "{}[{:.9g},{:.9g}]", std::exchange(comma, ","), from, to);
    }
    fmt::format_to(out, R"(],"series":[)");
    comma = "";
    for (const Series& series : plot.series) {
        fmt::format_to(out, R"({}{{"name":"{}","colour":"{}","filled":{},"values":[)",
                       std::exchange(comma, ","), series.name, series.colour, series.filled);
        const char* inner = "";
        for (const double value : series.values) {
            fmt::format_to(out, "{}{:.6g}", std::exchange(inner, ","), value);
        }
        fmt::format_to(out, "]}}");
    }
    return json + "]}";
}

}  // namespace serve
