// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/studio/studio.h"

#include <QObject>
#include <QString>

#include <functional>
#include <string_view>

namespace ui {

/// Runs a prompt without a user (or waits for a replay's end), draws the window into a PNG file and
/// ends. The answer goes to `out` as it is generated. Thread: UI.
class ScreenshotJob : public QObject {
    Q_OBJECT

public:
    struct Request {
        QString path;
        QString prompt; ///< empty: the picture is taken when the model is loaded or the replay over
        bool isReplay = false;
        QString workspace = QStringLiteral("chat_workspace"); ///< its objectName()
        std::function<void(std::string_view)> out = {}; ///< what the answer's text is handed to
    };

    ScreenshotJob(Studio& studio, Request request);

    /// Whether a file is such a picture.
    static bool isOwnPicture(const QString& path);

signals:
    /// The picture is on the disk.
    void finished();

    /// There will be no picture, because of an error of the engine or the disk.
    void failed(const engine::Error& error);

private:
    void onEvent(const engine::EngineEvent& event);
    void onTick();
    bool isSettled() const;
    void take();

    Studio& m_studio;
    Request m_request;
    bool m_isSent = false;
    bool m_isDone = false; ///< everything to show has arrived
    int m_ticks = 0;       ///< since the answer or the recording ended
    bool m_isTaken = false;
};

} // namespace ui
