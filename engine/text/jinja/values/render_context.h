// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace engine::jinja {

class Object;

/// What one rendering may still use. Every builtin pays here for the work it is about to do, so no
/// template can hang the program or fill its memory. Thread: the one that renders.
class RenderContext {
public:
    RenderContext(std::uint64_t maxSteps, std::uint64_t maxTextBytes);
    RenderContext(const RenderContext&) = delete;
    RenderContext& operator=(const RenderContext&) = delete;
    ~RenderContext();

    /// Errors: the limit of steps is passed.
    Result<void> spend(std::uint64_t steps);

    /// Pays for reading through this many bytes.
    Result<void> spendReading(std::uint64_t bytes);

    /// Pays for asking Unicode about every character of this many bytes.
    Result<void> spendLookingUp(std::uint64_t bytes);

    /// Pays for a text of this size before it is made. Errors: longer than a text may become.
    Result<void> spendText(std::uint64_t bytes);

    std::uint64_t maxTextBytes() const { return m_maxTextBytes; }

    /// What raise_exception returns: its message goes to the user word for word.
    Error refuse(std::string message);

    bool isRefused() const { return m_isRefused; }

    /// Keeps an object until the end, when all of them let go of their values: objects that can
    /// change may form rings and chains of any length.
    void keep(std::shared_ptr<Object> object);

private:
    std::uint64_t m_maxSteps;
    std::uint64_t m_stepsLeft;
    std::uint64_t m_maxTextBytes;
    bool m_isRefused = false;
    std::vector<std::shared_ptr<Object>> m_kept;
};

/// The error of a template that does what the language does not allow ("'x' is undefined").
/// The interpreter adds the name of the template and the line.
Error templateError(std::string message);

/// The error of a template that passes a limit or uses what is not there.
Error templateLimit(std::string message);

} // namespace engine::jinja
