// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/render_context.h"

#include "engine/text/jinja/values/containers.h"

namespace engine::jinja {

namespace {

// One step pays for this many bytes, so that a million steps read 32 MB at most.
constexpr std::uint64_t kBytesPerStep = 32;
// What has to look up every character's properties is ten times slower.
constexpr std::uint64_t kBytesPerSlowStep = 8;

} // namespace

RenderContext::RenderContext(std::uint64_t maxSteps, std::uint64_t maxTextBytes)
    : m_maxSteps(maxSteps)
    , m_stepsLeft(maxSteps)
    , m_maxTextBytes(maxTextBytes) {}

RenderContext::~RenderContext() {
    for (const auto& object : m_kept)
        object->releaseValues();
}

void RenderContext::keep(std::shared_ptr<Object> object) { m_kept.push_back(std::move(object)); }

Result<void> RenderContext::spend(std::uint64_t steps) {
    if (steps > m_stepsLeft) {
        m_stepsLeft = 0;
        return templateLimit(fmt::format("it takes more than {} steps", m_maxSteps));
    }
    m_stepsLeft -= steps;
    return {};
}

Result<void> RenderContext::spendReading(std::uint64_t bytes) {
    return spend(bytes / kBytesPerStep);
}

Result<void> RenderContext::spendLookingUp(std::uint64_t bytes) {
    return spend(bytes / kBytesPerSlowStep);
}

Result<void> RenderContext::spendText(std::uint64_t bytes) {
    if (bytes > m_maxTextBytes)
        return templateLimit(fmt::format("a text grows beyond {} bytes", m_maxTextBytes));
    // Memory is dearer than reading: all texts ever made stay below 16 MB.
    return spend(2 * bytes / kBytesPerStep);
}

Error RenderContext::refuse(std::string message) {
    m_isRefused = true;
    return {ErrorCode::InvalidInput, std::move(message), {}};
}

Error templateError(std::string message) {
    return {ErrorCode::InvalidInput, std::move(message), {}};
}

Error templateLimit(std::string message) {
    return {ErrorCode::Unsupported, std::move(message), {}};
}

} // namespace engine::jinja
