// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace engine {

// Text that nobody has reason to trust (the names of files and tasks, what a model wrote) for the
// formats of the reports. Bytes that are no UTF-8, and control characters, become U+FFFD.

/// Without anything that a printer cannot show, in one line.
std::string printableText(std::string_view text);

/// For XML and HTML, inside elements and quoted attributes.
std::string escapedXml(std::string_view text);

/// For one line of Markdown, also inside a table.
std::string escapedMarkdown(std::string_view text);

/// For LaTeX in text mode; the Greek letters and signs of the reports become their commands.
std::string escapedLatex(std::string_view text);

/// A field of a CSV file (RFC 4180), quoted if necessary. A text that a spreadsheet would take for
/// a formula begins with an apostrophe.
std::string csvField(std::string_view text);

} // namespace engine
