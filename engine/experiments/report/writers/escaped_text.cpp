// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/writers/escaped_text.h"

#include "engine/loading/files/readable_text.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace engine {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Calls `use` with one whole character after the other.
template <typename Use> void forEachCharacter(std::string_view text, const Use& use) {
    while (!text.empty()) {
        const std::size_t length = utf8CharacterLength(text);
        const auto first = static_cast<unsigned char>(text.front());
        const bool isControl = first < 0x20U && first != '\n' && first != '\t';
        // U+FFFE and U+FFFF are no characters in XML.
        const bool isForbidden = length == 3 && (text.substr(0, 3) == "\xEF\xBF\xBE" ||
                                                 text.substr(0, 3) == "\xEF\xBF\xBF");
        use(length == 0 || isControl || isForbidden || first == 0x7FU ? kReplacement
                                                                      : text.substr(0, length));
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
}

using Replacements = std::map<std::string_view, std::string_view>;

std::string replaced(std::string_view text, const Replacements& replacements) {
    std::string made;
    forEachCharacter(text, [&](std::string_view character) {
        const auto found = replacements.find(character);
        made += found == replacements.end() ? character : found->second;
    });
    return made;
}

bool isNumber(std::string_view text) {
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end;
}

} // namespace

std::string printableText(std::string_view text) {
    return replaced(text, {{"\n", " "}, {"\t", " "}});
}

std::string escapedXml(std::string_view text) {
    static const Replacements kEntities = {
        {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}};
    return replaced(text, kEntities);
}

std::string escapedMarkdown(std::string_view text) {
    static const Replacements kEscapes = {{"\\", "\\\\"},
                                          {"`", "\\`"},
                                          {"*", "\\*"},
                                          {"_", "\\_"},
                                          {"[", "\\["},
                                          {"]", "\\]"},
                                          {"#", "\\#"},
                                          {"|", "\\|"},
                                          {"<", "&lt;"},
                                          {">", "&gt;"},
                                          {"&", "&amp;"},
                                          {"~", "\\~"},
                                          {"!", "\\!"},
                                          {"\n", " "},
                                          {"\t", " "}};
    return replaced(text, kEscapes);
}

std::string escapedLatex(std::string_view text) {
    static const Replacements kCommands = {{"\\", "\\textbackslash{}"},
                                           {"{", "\\{"},
                                           {"}", "\\}"},
                                           {"$", "\\$"},
                                           {"&", "\\&"},
                                           {"#", "\\#"},
                                           {"%", "\\%"},
                                           {"_", "\\_"},
                                           {"^", "\\textasciicircum{}"},
                                           {"~", "\\textasciitilde{}"},
                                           {"<", "\\textless{}"},
                                           {">", "\\textgreater{}"},
                                           {"|", "\\textbar{}"},
                                           {"[", "{[}"}, // no option of a command before it
                                           {"]", "{]}"},
                                           {"*", "{*}"},
                                           {"\"", "\\symbol{34}"}, // in every font encoding
                                           {"×", "$\\times$"},
                                           {"±", "$\\pm$"},
                                           {"−", "$-$"},
                                           {"–", "--"},
                                           {"α", "$\\alpha$"},
                                           {"γ", "$\\gamma$"},
                                           {"▲", "$\\uparrow$"},
                                           {"▼", "$\\downarrow$"},
                                           {kReplacement, "?"},
                                           {"…", "\\ldots{}"},
                                           {"\n", " "},
                                           {"\t", " "}};
    return replaced(text, kCommands);
}

std::string csvField(std::string_view text) {
    std::string made;
    if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != text.npos &&
        !isNumber(text))
        made = "'";
    forEachCharacter(text, [&](std::string_view character) { made += character; });
    if (made.find_first_of(",\"\r\n") == made.npos)
        return made;
    std::string quoted = "\"";
    for (const char letter : made)
        quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return quoted + "\"";
}

} // namespace engine
