// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace app {

/// The program's output. Results go to standard output; with `json` every line of it is one JSON
/// object, and readable text goes to standard error. Thread: main.
class Console {
public:
    explicit Console(bool json)
        : m_json(json) {}

    bool isJson() const { return m_json; }

    /// Streams the text of a result; on a terminal without control characters, because model output
    /// could otherwise control it. Standard error with --json.
    void text(std::string_view text) const;

    /// One line of a result, ended with a newline.
    void line(std::string_view text) const;

    /// A readable line on standard error, never part of a result.
    static void note(std::string_view text);

    /// One JSON object as a line of standard output; nothing without --json.
    void jsonLine(const nlohmann::ordered_json& object) const;

    /// The same for a line that is already composed.
    void rawJsonLine(std::string_view object) const;

    /// The sentence and the hint; with --json also an {"event":"error",...} line.
    void error(const engine::Error& error) const;

private:
    bool m_json;
};

/// A progress bar on standard error, drawn only when that is a terminal; gone when destroyed.
class ProgressBar {
public:
    explicit ProgressBar(std::string label);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// `part` from 0 to 1.
    void show(double part);

private:
    std::string m_label;
    bool m_isTerminal;
    int m_shownPercent = -1;
};

/// A line on standard error that is written over, drawn only when that is a terminal; gone when
/// destroyed.
class StatusLine {
public:
    StatusLine();
    ~StatusLine();
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    void show(std::string_view text);

    /// Clears the line until the next show(), so that other lines can be written.
    void clear();

private:
    bool m_isTerminal;
    bool m_isShown = false;
};

/// `text` in a form that cannot control a terminal: control characters other than line feed and tab
/// become U+FFFD.
std::string withoutControlCharacters(std::string_view text);

} // namespace app
