// SPDX-License-Identifier: Apache-2.0
#include "app/streams/console.h"

#include "app/streams/standard_output.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace app {

namespace {

/// Standard error. If it cannot be written, there is no way to report that.
void writeError(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

constexpr std::array kErrorNames = {"InvalidInput",
                                    "NotFound",
                                    "Unsupported",
                                    "CorruptFile",
                                    "NoMemory",
                                    "Io",
                                    "Numeric",
                                    "Device",
                                    "Cancelled",
                                    "Internal"};
static_assert(kErrorNames.size() == static_cast<std::size_t>(engine::ErrorCode::Internal) + 1);

} // namespace

std::string withoutControlCharacters(std::string_view text) {
    constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
    std::string safe;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
        const bool isC1 = byte == 0xC2 && next >= 0x80 && next <= 0x9F;
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || isC1) {
            safe += kReplacement;
            i += isC1 ? 1 : 0;
        } else {
            safe += text[i];
        }
    }
    return safe;
}

void Console::text(std::string_view text) const {
    const bool isTerminal = isatty(m_json ? STDERR_FILENO : STDOUT_FILENO) != 0;
    const std::string safe = isTerminal ? withoutControlCharacters(text) : std::string();
    const std::string_view shown = isTerminal ? std::string_view(safe) : text;
    if (m_json)
        writeError(shown);
    else
        StandardOutput::write(shown);
}

void Console::line(std::string_view text) const { this->text(std::string(text) + "\n"); }

void Console::note(std::string_view text) { writeError(withoutControlCharacters(text) + "\n"); }

void Console::jsonLine(const nlohmann::ordered_json& object) const {
    // ASCII only: for some readers, U+2028 and similar characters would end a line.
    rawJsonLine(object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

void Console::rawJsonLine(std::string_view object) const {
    if (m_json)
        StandardOutput::write(std::string(object) + "\n");
}

void Console::error(const engine::Error& error) const {
    note("swift-run: " + error.message);
    if (!error.hint.empty())
        note("  " + error.hint);
    jsonLine({{"event", "error"},
              {"code", kErrorNames.at(static_cast<std::size_t>(error.code))},
              {"message", error.message},
              {"hint", error.hint}});
}

ProgressBar::ProgressBar(std::string label)
    : m_label(std::move(label))
    , m_isTerminal(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
    if (m_isTerminal && m_shownPercent >= 0)
        writeError("\r\033[K");
}

void ProgressBar::show(double part) {
    const int percent = static_cast<int>(std::clamp(part, 0.0, 1.0) * 100.0);
    if (!m_isTerminal || percent == m_shownPercent)
        return;
    m_shownPercent = percent;
    constexpr int kWidth = 30;
    const auto filled = static_cast<std::size_t>(percent * kWidth / 100);
    writeError(fmt::format("\r\033[K{} [{}{}] {} %  (Ctrl+C cancels)",
                           m_label,
                           std::string(filled, '#'),
                           std::string(kWidth - filled, ' '),
                           percent));
}

StatusLine::StatusLine()
    : m_isTerminal(isatty(STDERR_FILENO) != 0) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::show(std::string_view text) {
    if (!m_isTerminal)
        return;
    m_isShown = true;
    writeError(fmt::format("\r\033[K{}", withoutControlCharacters(text)));
}

void StatusLine::clear() {
    if (m_isShown)
        writeError("\r\033[K");
    m_isShown = false;
}

} // namespace app
