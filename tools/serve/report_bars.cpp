// SPDX-License-Identifier: Apache-2.0
// Draws bars on a logarithmic axis.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report_chart.h"

namespace serve {
namespace {

// Units of the viewBox.
constexpr double kBarWidth = 720, kBarTop = 12, kBarBottom = 46, kBarHeight = 24;
constexpr double kNames = 110;  // left of the axis
constexpr double kNumbers = 80;

using BarText = std::back_insert_iterator<std::string>;

// 1, 10, 100, 1 k, ... 1 M
std::string PowerOfTen(int exponent) {
    static const char* const units[] = {"", " k", " M", " G", " T", " P", " E"};
    return fmt::format("1{:0>{}}{}", "", exponent % 3, units[exponent / 3]);
}

void DrawBarLabel(BarText out, double x, double y, const char* anchor, const std::string& text,
                  const std::string& more = "") {
    fmt::format_to(out, R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>)", x, y, anchor,
                   more, Escape(text));
}

}  // namespace

std::string DrawBars(const std::string& id, const std::string& title, const std::string& xAxis,
                     const std::vector<Bar>& bars) {
    double most = 1;
    for (const Bar& bar : bars) {
        most = std::max(most, bar.value);
    }
    // One place for 0, then a decade each from 1 on.
    const double decades = std::ceil(std::log10(most)) + 1;
    const double width = (kBarWidth - kNames - kNumbers) / decades;
    const auto place = [&](double value) {
        return kNames + (value < 1 ? 0 : (1 + std::log10(value)) * width);
    };
    const double bottom = kBarTop + kBarHeight * static_cast<double>(bars.size());
    std::string figure;
    const BarText out(figure);
    fmt::format_to(out,
                   "<figure id=\"{}\">\n<figcaption>{}</figcaption>\n"
                   R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img">)"
                   "<title>{}</title>\n",
                   id, Escape(title), kBarWidth, bottom + kBarBottom, Escape(title));
    for (int decade = 0; decade <= static_cast<int>(decades); ++decade) {
        const double value = decade == 0 ? 0 : std::pow(10, decade - 1);
        fmt::format_to(out,
                       R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)",
                       place(value), place(value), kBarTop, bottom);
        DrawBarLabel(out, place(value), bottom + 17, "middle",
                     decade == 0 ? "0" : PowerOfTen(decade - 1));
    }
    DrawBarLabel(out, (kNames + kBarWidth - kNumbers) / 2, bottom + kBarBottom - 8, "middle", xAxis,
                 R"( class="axis-name")");
    double y = kBarTop;
    for (const Bar& bar : bars) {
        fmt::format_to(
            out,
            "\n<g><title>{}: {}</title>"
            R"(<rect class="hover" x="0" width="{}" y="{:.1f}" height="{:.1f}"/>)"
            R"(<rect class="bar" x="{:.1f}" width="{:.1f}" y="{:.1f}" height="{:.1f}"/>)",
            Escape(bar.name), Escape(bar.note), kBarWidth, y, kBarHeight, kNames,
            place(bar.value) - kNames, y + 4, kBarHeight - 8);
        DrawBarLabel(out, kNames - 8, y + 16, "end", bar.name);
        DrawBarLabel(out, place(bar.value) + 6, y + 16, "start", Readable(bar.value),
                     R"( class="number")");
        fmt::format_to(out, "</g>");
        y += kBarHeight;
    }
    fmt::format_to(out, "\n</svg>\n</figure>\n");
    return figure;
}

}  // namespace serve
