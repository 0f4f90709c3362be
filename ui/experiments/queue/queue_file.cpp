// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/queue/queue_file.h"

#include "ui/files/whole_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>

#include <utility>

namespace ui {

namespace {

constexpr QLatin1String kQueueFormat("swift-studio-experiments");

} // namespace

QueueFile::QueueFile(QString path, QObject* parent)
    : QObject(parent)
    , m_path(std::move(path)) {
    m_thread.setMaxThreadCount(1);
}

QueueFile::~QueueFile() { m_thread.waitForDone(); }

QueueFile::Content QueueFile::read() {
    Content content;
    QFile file(m_path);
    if (m_path.isEmpty() || !file.exists())
        return content;
    const QByteArray bytes = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    QJsonParseError fault;
    const QJsonObject json = QJsonDocument::fromJson(bytes, &fault).object();
    if (json.value(QLatin1String("format")).toString() == kQueueFormat) {
        content.isGoing = json.value(QLatin1String("is_going")).toBool();
        for (const QJsonValue& value : json.value(QLatin1String("jobs")).toArray())
            if (auto job = jobFrom(value.toObject()))
                content.jobs.push_back(*std::move(job));
        return content;
    }
    QString why = tr("it holds something else");
    if (file.error() != QFile::NoError)
        why = file.errorString();
    else if (fault.error != QJsonParseError::NoError)
        why = tr("line %1: %2")
                  .arg(bytes.left(fault.offset).count('\n') + 1)
                  .arg(fault.errorString());
    file.close();
    m_problem = tr("The list of your experiments cannot be read (%1). It was kept as %2; the "
                   "experiments themselves are not affected.")
                    .arg(why, setAside(m_path));
    return content;
}

void QueueFile::write(const Content& content) {
    if (m_path.isEmpty())
        return;
    QJsonArray jobs;
    for (const ExperimentJob& job : content.jobs)
        jobs.append(toJson(job));
    const QJsonObject json{{QStringLiteral("format"), kQueueFormat},
                           {QStringLiteral("version"), 1},
                           {QStringLiteral("is_going"), content.isGoing},
                           {QStringLiteral("jobs"), jobs}};
    m_thread.clear(); // an older list that is not written yet
    m_thread.start([this, path = m_path, bytes = QJsonDocument(json).toJson()] {
        QDir().mkpath(QFileInfo(path).absolutePath());
        const QString problem = saveWhole(bytes, path);
        if (problem.isEmpty())
            return;
        // The destructor waits for this thread, so `this` is valid.
        QMetaObject::invokeMethod(
            this,
            [this, path, problem] {
                emit failed(tr("The list of your experiments cannot be written to %1 (%2). Check "
                               "the folder's permissions and the free space.")
                                .arg(QDir::toNativeSeparators(path), problem));
            },
            Qt::QueuedConnection);
    });
}

} // namespace ui
