// SPDX-License-Identifier: Apache-2.0
// Charts of a report: what they show, in the colours that the report's style names.

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
    std::string xUnit;                             // of the values that a pointer reads
    std::vector<std::pair<double, double>> spans;  // of x; ascending
    std::vector<Series> series;
    bool fromZero = true;  // the steps begin and end at 0
    bool timed = true;     // x is time, and the chart zooms with the others of time
    double limit = 0;      // a dashed line; 0: none
    std::string limitName;
};

/// The place of a chart: title and legend. The report's program draws the chart there.
std::string FigureOf(const Plot& plot);

/// The chart as an object of JSON, for the report's program. Names are the report's own: none has
/// what JSON would write otherwise.
std::string ChartJson(const Plot& plot);

}  // namespace serve
