// SPDX-License-Identifier: Apache-2.0
// Draws the charts: axes, ticks, labels and lines.

#include "report_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "grouped.h"

namespace serve {
namespace {

// Units of the viewBox.
constexpr double kWidth = 720, kHeight = 270;
constexpr double kLeft = 68, kRight = 14, kTop = 12, kBottom = 46;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;

using Text = std::back_insert_iterator<std::string>;

// 1, 2 or 5 times a power of ten, of which `most` at most fit into range.
double TickWidth(double range, int most) {
    double width = std::pow(10, std::floor(std::log10(range / most)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
        if (range / (width * factor) <= most) {
            return width * factor;
        }
    }
    return width * 10;
}

// The multiples of the width of ticks between two values: at most `most` and one. They are counted,
// since a sum of values may be rounded to the value that it was.
std::vector<double> Ticks(double from, double to, int most) {
    const double width = TickWidth(to - from, most);
    std::vector<double> ticks;
    for (int i = 0; i <= most; ++i) {
        const double tick = (std::ceil(from / width) + i) * width;
        if (tick <= to) {
            ticks.push_back(tick);
        }
    }
    return ticks;
}

// From values to places.
struct Scale {
    double x0, x1, y1;

    double X(double x) const { return kLeft + (x - x0) / (x1 - x0) * kPlotWidth; }
    double Y(double y) const { return kTop + kPlotHeight - y / y1 * kPlotHeight; }
};

Scale ScaleOf(const Plot& plot) {
    double most = plot.limit;
    for (const Series& series : plot.series) {
        for (const double value : series.values) {
            most = std::max(most, value);
        }
    }
    Scale scale{0, 1, most > 0 ? most * 1.05 : 1};
    if (!plot.spans.empty()) {
        scale.x0 = plot.spans.front().first;
        scale.x1 = plot.spans.back().second;
    }
    return scale;
}

void DrawLabel(Text out, double x, double y, const char* anchor, const std::string& text,
               const std::string& more = "") {
    fmt::format_to(out, R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>)", x, y, anchor,
                   more, Escape(text));
}

void DrawAxes(Text out, const Plot& plot, const Scale& scale) {
    for (const double y : Ticks(0, scale.y1, 5)) {
        fmt::format_to(out,
                       R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)",
                       kLeft, kWidth - kRight, scale.Y(y), scale.Y(y));
        DrawLabel(out, kLeft - 8, scale.Y(y) + 4, "end", Readable(y));
    }
    for (const double x : Ticks(scale.x0, scale.x1, 8)) {
        fmt::format_to(out,
                       R"(<line class="axis" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)",
                       scale.X(x), scale.X(x), scale.Y(0), scale.Y(0) + 5);
        DrawLabel(out, scale.X(x), scale.Y(0) + 19, "middle", Readable(x));
    }
    fmt::format_to(out, R"(<line class="axis" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)",
                   kLeft, kWidth - kRight, scale.Y(0), scale.Y(0));
    DrawLabel(out, kLeft + kPlotWidth / 2, kHeight - 6, "middle", plot.xAxis,
              R"( class="axis-name")");
    DrawLabel(out, 0, 0, "middle", plot.yAxis,
              fmt::format(R"x( class="axis-name" transform="translate(14 {:.1f}) rotate(-90)")x",
                          kTop + kPlotHeight / 2));
}

// Steps, down to 0 where spans do not touch.
std::string StepPath(const Plot& plot, const Series& series, const Scale& scale) {
    std::string path;
    const Text out(path);
    const double gap = (scale.x1 - scale.x0) / 200;  // a shorter one could not be seen
    for (size_t i = 0; i < plot.spans.size(); ++i) {
        const auto [from, to] = plot.spans[i];
        if (i == 0) {
            fmt::format_to(out, "M{:.1f} {:.1f}", scale.X(from),
                           scale.Y(plot.fromZero ? 0 : series.values[0]));
        } else if (from - plot.spans[i - 1].second > gap) {
            fmt::format_to(out, "V{:.1f}H{:.1f}", scale.Y(0), scale.X(from));
        }
        fmt::format_to(out, "V{:.1f}H{:.1f}", scale.Y(series.values[i]), scale.X(to));
    }
    if (plot.fromZero && !plot.spans.empty()) {
        fmt::format_to(out, "V{:.1f}", scale.Y(0));
    }
    return path;
}

// An invisible strip over each span, which a pointer can rest on.
void DrawHoverTitles(Text out, const Plot& plot, const Scale& scale) {
    for (size_t i = 0; i < plot.spans.size(); ++i) {
        const auto [from, to] = plot.spans[i];
        std::string text = fmt::format("{} to {} {}", Readable(from), Readable(to), plot.xUnit);
        for (const Series& series : plot.series) {
            text += fmt::format("\n{}: {}", series.name, Readable(series.values[i]));
        }
        fmt::format_to(
            out,
            R"(<rect class="hover" x="{:.2f}" width="{:.2f}" y="{}" height="{}"><title>{}</title></rect>)",
            scale.X(from), scale.X(to) - scale.X(from), kTop, kPlotHeight, Escape(text));
    }
}

void DrawLegend(Text out, const Plot& plot) {
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

std::string DrawPlot(const Plot& plot) {
    std::string figure;
    const Text out(figure);
    const Scale scale = ScaleOf(plot);
    fmt::format_to(out, "<figure id=\"{}\">\n<figcaption>{}</figcaption>\n", plot.id,
                   Escape(plot.title));
    DrawLegend(out, plot);
    fmt::format_to(out,
                   R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img">)"
                   "<title>{}</title>\n",
                   kWidth, kHeight, Escape(plot.title));
    DrawAxes(out, plot, scale);
    for (const Series& series : plot.series) {
        fmt::format_to(out, "\n<path class=\"{}{}\" d=\"{}\"/>", series.colour,
                       series.filled ? " filled" : "", StepPath(plot, series, scale));
    }
    if (plot.limit > 0) {
        fmt::format_to(out,
                       R"(<line class="limit" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)",
                       kLeft, kWidth - kRight, scale.Y(plot.limit), scale.Y(plot.limit));
    }
    fmt::format_to(out, "\n");
    DrawHoverTitles(out, plot, scale);
    fmt::format_to(out, "\n</svg>\n</figure>\n");
    return figure;
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
