// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/runs/run_watcher.h"

namespace ui {

RunWatcher::RunWatcher(QObject* parent)
    : QObject(parent) {
    m_thread.setMaxThreadCount(1);
    m_timer.setInterval(kPeriodMs);
    connect(&m_timer, &QTimer::timeout, this, [this] {
        for (const QString& folder : std::as_const(m_atWork))
            look(folder);
    });
}

RunWatcher::~RunWatcher() {
    m_thread.clear();
    m_thread.waitForDone();
}

void RunWatcher::setAtWork(const QStringList& folders) {
    for (const QString& folder : std::as_const(m_atWork))
        if (!folders.contains(folder))
            look(folder); // what it wrote last
    m_atWork = folders;
    if (m_atWork.isEmpty())
        m_timer.stop();
    else if (!m_timer.isActive())
        m_timer.start();
}

void RunWatcher::look(const QString& folder) {
    if (folder.isEmpty() || m_asked.count(folder) > 1)
        return;
    m_asked << folder;
    m_thread.start([this, reader = readerOf(folder), folder] {
        RunPicturePtr picture = reader->read();
        // The destructor waits for this thread, so `this` is valid.
        QMetaObject::invokeMethod(
            this,
            [this, folder, picture = std::move(picture)] {
                m_asked.removeOne(folder);
                m_pictures[folder] = picture;
                emit pictureCame(picture);
            },
            Qt::QueuedConnection);
    });
}

void RunWatcher::readAnswers(const QString& folder, int prompt) {
    m_thread.start([this, reader = readerOf(folder), prompt] {
        // The destructor waits for this thread, so `this` is valid.
        QMetaObject::invokeMethod(
            this,
            [this, picture = reader->readAnswers(prompt)] { emit answersCame(picture); },
            Qt::QueuedConnection);
    });
}

std::shared_ptr<RunReader> RunWatcher::readerOf(const QString& folder) {
    std::shared_ptr<RunReader>& reader = m_readers[folder];
    if (reader == nullptr)
        reader = std::make_shared<RunReader>(folder);
    return reader;
}

} // namespace ui
