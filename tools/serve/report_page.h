// SPDX-License-Identifier: Apache-2.0
// The shell of a report: one HTML page that needs nothing else, with its charts' program.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "serve_options.h"

namespace serve {

/// What a page has of its own, as HTML that is also well-formed XML.
struct PageParts {
    std::string title;
    std::string body;
    std::string end;     // behind it: what nobody reads first, and the data
    std::string charts;  // a list of JSON, for the program; each has a figure in the body
};

/// With the library and the program, if the build has found dygraphs.
std::string Page(const PageParts& parts);

/// The charts of a body, with a word on how to use them; without the library, a word that there
/// are none.
std::string ChartsOf(const std::string& figures, const std::string& use);

/// JSON as it may stand in a script element, for readers of HTML and of XML alike.
std::string EmbeddedText(const nlohmann::ordered_json& json);
/// The same in an element of its own.
std::string Embedded(const char* id, const nlohmann::ordered_json& json);
/// As UTF-8, and fit for HTML.
std::string PathText(const std::string& path);
/// The version, the time and the command line.
std::string Origin(const Options& options);

}  // namespace serve
