// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/program/screenshot_job.h"

#include "ui/files/whole_file.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QImage>
#include <QImageReader>

namespace ui {

using namespace engine;

namespace {

/// Ticks between the last event and the picture: layouts settle, every view is refreshed.
constexpr int kSettleTicks = 5;
constexpr int kPauseTicks = 50; ///< for the first trial of a search in the pause behind the answer

/// Stored in every picture.
const QString kMark = QStringLiteral("SWIFT Studio");
const QString kMarkName = QStringLiteral("Software");

} // namespace

ScreenshotJob::ScreenshotJob(Studio& studio, Request request)
    : m_studio(studio)
    , m_request(std::move(request)) {
    connect(&studio.bridge(), &EngineBridge::eventCame, this, &ScreenshotJob::onEvent);
    connect(&studio.bridge(), &EngineBridge::tickFinished, this, &ScreenshotJob::onTick);
}

bool ScreenshotJob::isOwnPicture(const QString& path) {
    return QImageReader(path, "png").text(kMarkName) == kMark;
}

void ScreenshotJob::onEvent(const EngineEvent& event) {
    if (const auto* step = event.as<StepFinished>()) {
        m_request.out(step->text);
    } else if (const auto* released = event.as<TextReleased>()) {
        m_request.out(released->text);
    } else if (event.as<PromptFinished>() != nullptr) {
        m_request.out("\n");
        m_isDone = !m_request.isReplay;
    } else if (const auto* failure = event.as<EngineFailed>()) {
        emit failed(failure->error);
    }
}

void ScreenshotJob::onTick() {
    if (m_request.isReplay && m_studio.bridge().isOver())
        m_isDone = true;
    const bool isReady = m_studio.run().model() != nullptr && m_studio.run().decoder() != nullptr;
    if (!m_request.isReplay && isReady && !m_isSent) {
        m_isSent = true;
        if (m_request.prompt.trimmed().isEmpty()) // nothing would be sent
            m_isDone = true;
        else
            m_studio.session().send(m_request.prompt);
    }
    if (m_isDone && !m_isTaken) {
        ++m_ticks;
        m_isTaken = isSettled();
        if (m_isTaken)
            take();
    }
}

/// Whether the views show what they will: a search may begin in the pause behind the answer.
bool ScreenshotJob::isSettled() const {
    const bool maySearch = m_isSent && !m_request.prompt.trimmed().isEmpty() &&
                           m_studio.run().decoder() != nullptr &&
                           m_studio.run().decoder()->name != "vanilla";
    const bool waits = maySearch && m_studio.run().search().trials().empty();
    return m_ticks >= (waits ? kPauseTicks : kSettleTicks);
}

void ScreenshotJob::take() {
    m_studio.window().showWorkspace(m_request.workspace);
    m_studio.bridge().refreshPictures();
    // What has another text now may want more room.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    QImage picture = m_studio.window().grab().toImage();
    picture.setText(kMarkName, kMark);
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    picture.save(&buffer, "PNG");
    const QString problem = saveWhole(buffer.data(), m_request.path);
    if (!problem.isEmpty()) {
        emit failed({ErrorCode::Io,
                     tr("The picture %1 could not be written (%2).")
                         .arg(m_request.path, problem)
                         .toStdString(),
                     tr("Name another file.").toStdString()});
        return;
    }
    emit finished();
}

} // namespace ui
