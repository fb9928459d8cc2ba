// SPDX-License-Identifier: Apache-2.0
// Reads the axes of a sweep, finds its front, and shows it as a table, as JSON and as a page.

#include "option_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "report_chart.h"
#include "report_page.h"

namespace serve {
namespace {

using Json = nlohmann::ordered_json;
using Trials = std::vector<OptionTrial>;

constexpr std::array<std::string_view, 7> kSwept = {
    "max-seqs", "token-budget", "blocks", "scheduler", "block-size", "free-ratio", "speculative"};
constexpr size_t kMostCombinations = 1000;

double TokensPerSecond(const Statistics& s) {
    return s.virtualSeconds > 0 ? static_cast<double>(s.generatedTokens) / s.virtualSeconds : 0;
}

double Goodput(const Statistics& s) {
    return s.virtualSeconds > 0 ? static_cast<double>(s.good) / s.virtualSeconds : 0;
}

// Less is better in each.
std::array<double, 3> CostsOf(const Statistics& s) {
    return {-TokensPerSecond(s), s.latency.ttft.p99, s.latency.tpot.p99};
}

SweepAxis ParseAxis(const std::string& text) {
    const size_t equals = text.find('=');
    SweepAxis axis{text.substr(0, equals), {}};
    if (equals == std::string::npos) {
        throw std::runtime_error(fmt::format(
            "--sweep {}: expected rate, or OPTION=VALUE,VALUE,..., as max-seqs=64,128", text));
    }
    if (std::find(kSwept.begin(), kSwept.end(), axis.option) == kSwept.end()) {
        throw std::runtime_error(fmt::format("--sweep {}: {} is not swept over; expected one of {}",
                                             text, axis.option, fmt::join(kSwept, ", ")));
    }
    for (size_t begin = equals + 1; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        axis.values.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return axis;
}

// What a row has behind the values of the axes.
std::vector<std::string> Cells(const OptionTrial& trial) {
    const Statistics& s = trial.statistics;
    std::vector<std::string> cells = {fmt::format("{:.1f}", TokensPerSecond(s)),
                                      fmt::format("{:.3f}", s.latency.ttft.p99),
                                      fmt::format("{:.4f}", s.latency.tpot.p99)};
    if (trial.options.targets.Any()) {
        cells.push_back(fmt::format("{:.4f}", Goodput(s)));
    }
    cells.push_back(std::to_string(s.peakBlocks));
    cells.push_back(std::to_string(s.preemptions));
    cells.emplace_back(!s.Good() ? "did not complete" : trial.isFront ? "front" : "");
    return cells;
}

// All of the table, its head first.
std::vector<std::vector<std::string>> Rows(const std::vector<SweepAxis>& axes,
                                           const Trials& trials) {
    std::vector<std::vector<std::string>> rows(1);
    for (const SweepAxis& axis : axes) {
        rows[0].push_back(axis.option);
    }
    const bool targets = !trials.empty() && trials[0].options.targets.Any();
    for (const char* name : {"tokens/s", "TTFT p99 (s)", "TPOT p99 (s)", targets ? "goodput" : "",
                             "peak blocks", "preemptions"}) {
        if (*name != '\0') {
            rows[0].emplace_back(name);
        }
    }
    rows[0].emplace_back("");
    for (const OptionTrial& trial : trials) {
        rows.push_back(trial.values);
        const std::vector<std::string> cells = Cells(trial);
        rows.back().insert(rows.back().end(), cells.begin(), cells.end());
    }
    return rows;
}

std::string Named(const std::vector<SweepAxis>& axes, const OptionTrial& trial) {
    std::string text;
    for (size_t i = 0; i < axes.size(); ++i) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axes[i].option, trial.values[i]);
    }
    return text;
}

// A chart of points: the throughput, what the front has there and what the others have.
Json PointsChart(const char* id, const char* yAxis, const std::vector<SweepAxis>& axes,
                 const Trials& trials, double (*valueOf)(const Statistics&)) {
    std::vector<const OptionTrial*> ordered;
    for (const OptionTrial& trial : trials) {
        if (trial.statistics.Good()) {
            ordered.push_back(&trial);
        }
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
        return TokensPerSecond(a->statistics) < TokensPerSecond(b->statistics);
    });
    Json points = Json::array();
    Json notes = Json::array();
    for (const OptionTrial* trial : ordered) {
        const Json value = valueOf(trial->statistics);
        points.push_back({TokensPerSecond(trial->statistics), trial->isFront ? value : Json(),
                          trial->isFront ? Json() : value});
        notes.push_back(Named(axes, *trial));
    }
    return {{"id", id},
            {"xAxis", "generated tokens per virtual second"},
            {"yAxis", yAxis},
            {"xUnit", "tokens/s"},
            {"timed", false},
            {"limit", 0},
            {"series",
             {{{"name", "the front"}, {"colour", "blue"}, {"filled", false}},
              {{"name", "the others"}, {"colour", "orange"}, {"filled", false}}}},
            {"points", points},
            {"notes", notes}};
}

std::string Figure(const char* id, const char* title) {
    Plot plot;
    plot.id = id;
    plot.title = title;
    plot.series = {{"the front", "blue", false, {}}, {"the others", "orange", false, {}}};
    return FigureOf(plot);
}

std::string HtmlTable(const std::vector<std::vector<std::string>>& rows) {
    std::string text = "<div class=\"table\"><table id=\"trials\">\n";
    for (size_t row = 0; row < rows.size(); ++row) {
        text += "<tr>";
        for (size_t column = 0; column < rows[row].size(); ++column) {
            const char* tag = row == 0 || column == 0 ? "th" : "td";
            // The name of the column, for a phone, which shows a run as a list.
            const std::string name =
                row == 0 ? "" : fmt::format(" data-name=\"{}\"", Escape(rows[0][column]));
            text += fmt::format("<{}{}>{}</{}>", tag, name, Escape(rows[row][column]), tag);
        }
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

}  // namespace

std::vector<SweepAxis> ParseAxes(const std::vector<std::string>& texts) {
    std::vector<SweepAxis> axes;
    size_t combinations = 1;
    for (const std::string& text : texts) {
        SweepAxis axis = ParseAxis(text);
        for (const SweepAxis& earlier : axes) {
            if (earlier.option == axis.option) {
                throw std::runtime_error(
                    fmt::format("--sweep {}: {} has values already", text, axis.option));
            }
        }
        combinations *= axis.values.size();
        if (combinations > kMostCombinations) {
            throw std::runtime_error(
                fmt::format("--sweep {}: makes more than {} runs; expected fewer values", text,
                            kMostCombinations));
        }
        axes.push_back(std::move(axis));
    }
    return axes;
}

std::vector<std::vector<std::string>> CombinationsOf(const std::vector<SweepAxis>& axes) {
    std::vector<std::vector<std::string>> combinations(1);
    for (const SweepAxis& axis : axes) {
        std::vector<std::vector<std::string>> longer;
        for (const std::vector<std::string>& values : combinations) {
            for (const std::string& value : axis.values) {
                longer.push_back(values);
                longer.back().push_back(value);
            }
        }
        combinations = std::move(longer);
    }
    return combinations;
}

void MarkFront(Trials& trials) {
    const auto beats = [](const OptionTrial& a, const OptionTrial& b) {
        const auto costs = CostsOf(a.statistics);
        const auto others = CostsOf(b.statistics);
        bool better = false;
        for (size_t i = 0; i < costs.size(); ++i) {
            if (costs[i] > others[i]) {
                return false;
            }
            better = better || costs[i] < others[i];
        }
        return better;
    };
    for (OptionTrial& trial : trials) {
        trial.isFront = trial.statistics.Good() &&
                        std::none_of(trials.begin(), trials.end(), [&](const OptionTrial& other) {
                            return other.statistics.Good() && beats(other, trial);
                        });
    }
}

std::string SweepTable(const std::vector<SweepAxis>& axes, const Trials& trials) {
    const std::vector<std::vector<std::string>> rows = Rows(axes, trials);
    std::vector<size_t> widths(rows[0].size());
    for (const std::vector<std::string>& row : rows) {
        for (size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        std::string line;
        for (size_t column = 0; column + 1 < row.size(); ++column) {
            line += fmt::format("  {:>{}}", row[column], widths[column]);
        }
        text += line + (row.back().empty() ? "" : "  " + row.back()) + "\n";
    }
    return text;
}

Json SweepJson(const std::vector<SweepAxis>& axes, const Trials& trials) {
    Json names = Json::object();
    for (const SweepAxis& axis : axes) {
        names[axis.option] = axis.values;
    }
    Json list = Json::array();
    for (const OptionTrial& trial : trials) {
        Json json = {{"front", trial.isFront}};
        json.update(SummaryJson(trial.options, trial.statistics));
        list.push_back(json);
    }
    return {{"axes", names}, {"trials", list}};
}

std::string SweepPage(const std::vector<SweepAxis>& axes, const Trials& trials) {
    const Options& options = trials.front().options;
    const Json charts = {PointsChart("ttft", "p99 of the time to first token (s)", axes, trials,
                                     [](const Statistics& s) { return s.latency.ttft.p99; }),
                         PointsChart("tpot", "p99 of the time per output token (s)", axes, trials,
                                     [](const Statistics& s) { return s.latency.tpot.p99; })};
    const auto front =
        std::count_if(trials.begin(), trials.end(), [](const OptionTrial& t) { return t.isFront; });
    PageParts parts;
    parts.title = PathText(options.TraceName().substr(options.TraceName().rfind('/') + 1));
    parts.body = fmt::format(
        "<p>{} runs of one trace, {} of them on the front: no other run has as many tokens by "
        "virtual second in as little time to the first token and for each token. Virtual time is "
        "that of a modelled accelerator.</p>\n",
        trials.size(), front);
    parts.body += ChartsOf(Figure("ttft", "Time to first token over throughput") +
                               Figure("tpot", "Time per output token over throughput"),
                           "Drag over a chart, or spread two fingers, to zoom it.") +
                  "<h2>Runs</h2>\n" + HtmlTable(Rows(axes, trials));
    parts.end = Origin(options) + Embedded("summary", SweepJson(axes, trials));
    parts.charts = EmbeddedText(charts);
    return Page(parts);
}

}  // namespace serve
