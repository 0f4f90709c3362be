// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/recording/run_recording.h"
#include "ui/bridge/links/engine_link.h"
#include "ui/bridge/links/playback.h"

#include <filesystem>
#include <memory>
#include <optional>

namespace ui {

/// A recorded run that gives its events at their recorded times, so that every view works without a
/// model. Events from before the recording began come at once; going back gives all events again.
/// Of several conversations, the first that was asked something is shown, and a note says so.
/// Commands are refused. Thread: UI. A damaged record ends the replay with an engine::EngineFailed.
class RecordingLink : public EngineLink {
public:
    /// `speed` times as fast as it was recorded; 0 = all at once. Errors: those of RunReader::open.
    static engine::Result<std::unique_ptr<RecordingLink>>
    open(const std::filesystem::path& path,
         double speed,
         Playback::Clock clock = std::chrono::steady_clock::now);

    bool send(engine::EngineCommand) override { return false; }

    std::vector<engine::EngineEvent> takeEvents() override;

    bool isOver() const override { return m_isAtEnd && !m_scan && m_playback.isAtEnd(); }

    bool takeRewind() override;

    Playback* playback() override { return &m_playback; }

private:
    RecordingLink(std::filesystem::path path,
                  engine::RunReader reader,
                  std::optional<engine::RunReader> scan,
                  Playback playback,
                  std::uint64_t conversation)
        : m_path(std::move(path))
        , m_conversation(conversation)
        , m_reader(std::move(reader))
        , m_scan(std::move(scan))
        , m_playback(std::move(playback)) {}

    void lookAhead();
    void tellOthers(std::vector<engine::EngineEvent>& events);
    bool readNext(std::vector<engine::EngineEvent>& events);

    std::filesystem::path m_path;
    std::uint64_t m_conversation; ///< that is shown
    bool m_hasReportedOthers = false;
    std::optional<engine::RunReader> m_reader; ///< what is shown
    std::optional<engine::RunReader> m_scan;   ///< reads ahead, until the length is known
    Playback m_playback;
    std::optional<engine::EngineEvent> m_next;
    double m_shown = 0.0; ///< time of the newest event that was given out
    bool m_isAtEnd = false;
};

} // namespace ui
