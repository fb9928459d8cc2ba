// SPDX-License-Identifier: Apache-2.0
// Charts as SVG text, in the colours that the report's style names.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace serve {

/// Text as it may stand in HTML, XML and their attributes.
std::string Escape(const std::string& text);

/// A number with as many digits as a reader wants: 12.3, 1,234, 0.0456.
std::string Readable(double value);

struct Series {
    std::string name;
    std::string colour;  // a class of the style
    bool filled = false;
    std::vector<double> values;  // one for each span
};

/// What series have in common: values are constant over spans of x, and 0 in wide gaps.
struct Plot {
    std::string id;
    std::string title;
    std::string xAxis;  // names with units
    std::string yAxis;
    std::string xUnit;                             // of the hover titles
    std::vector<std::pair<double, double>> spans;  // of x; ascending
    std::vector<Series> series;
    bool fromZero = true;  // the steps begin and end at 0
    bool timed = true;     // x is time, and the chart zooms with the others of time
    double limit = 0;      // a dashed line; 0: none
    std::string limitName;
};

/// A figure: title, legend, axes, steps, and a hover title for every span.
std::string DrawPlot(const Plot& plot);

/// The same as an object of JSON, for the report's program. Names are the report's own: none has
/// what JSON would write otherwise.
std::string ChartJson(const Plot& plot);

struct Bar {
    std::string name;
    std::string note;
    double value;
};

/// Horizontal bars on a logarithmic axis, each with its number.
std::string DrawBars(const std::string& id, const std::string& title, const std::string& xAxis,
                     const std::vector<Bar>& bars);

}  // namespace serve
