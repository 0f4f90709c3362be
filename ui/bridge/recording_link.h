// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/run_recording.h"
#include "ui/bridge/engine_link.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace ui {

/// A recorded run, its events in their own time: every view without a model. Commands are refused.
/// Thread: UI. A damaged record ends the replay; it is told as an engine::EngineFailed.
class RecordingLink : public EngineLink {
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    /// `speed` times as fast as it was recorded; 0 = all at once. Errors: those of RunReader::open.
    static engine::Result<std::unique_ptr<RecordingLink>>
    open(const std::filesystem::path& path,
         double speed,
         Clock clock = std::chrono::steady_clock::now);

    bool send(engine::EngineCommand) override { return false; }

    std::vector<engine::EngineEvent> takeEvents() override;

    bool isOver() const override { return m_isOver; }

private:
    RecordingLink(engine::RunReader reader, double speed, Clock clock)
        : m_reader(std::move(reader))
        , m_speed(speed)
        , m_clock(std::move(clock)) {}

    bool readNext(std::vector<engine::EngineEvent>& events);
    bool isDue(double time);

    engine::RunReader m_reader;
    double m_speed;
    Clock m_clock;
    std::optional<engine::EngineEvent> m_next;
    std::optional<std::chrono::steady_clock::time_point> m_start;
    double m_firstTime = 0.0;
    bool m_isOver = false;
};

} // namespace ui
