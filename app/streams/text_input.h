// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace app {

/// A text that is read once from front to back: standard input, a file, or a pipe such as bash
/// makes of <(...). A byte order mark in front is no part of it. Thread: one.
class TextInput {
public:
    static TextInput standard();

    /// Errors: NotFound, InvalidInput for a folder, Io.
    static engine::Result<TextInput> open(const std::string& path);

    TextInput(TextInput&& other) noexcept;
    TextInput& operator=(TextInput&&) = delete;
    ~TextInput();

    /// The next line without its line feed; nothing at the end. Errors: Io; InvalidInput for a line
    /// of more than `mostBytes`, of which no more than that is kept.
    engine::Result<std::optional<std::string>> nextLine(std::size_t mostBytes);

    /// Everything that is left. Errors: Io; InvalidInput when it is more than `mostBytes`.
    engine::Result<std::string> rest(std::size_t mostBytes);

private:
    TextInput(std::string name, int descriptor)
        : m_name(std::move(name))
        , m_descriptor(descriptor) {}

    /// Reads more and appends it; false at the end.
    engine::Result<bool> readOn();

    /// What is handed out next.
    std::string withoutMark(std::string text);

    std::string m_name;
    int m_descriptor;
    std::string m_buffer; // read, but for the first m_taken bytes not yet handed out
    std::size_t m_taken = 0;
    bool m_isBegin = true; // nothing was handed out
};

} // namespace app
