// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/tuning_files.h"

#include "ui/files/whole_file.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>

#include <algorithm>
#include <array>

namespace ui {

namespace {

constexpr QLatin1String kTuningFormat("swift-studio-tuning");
constexpr qint64 kMostEventBytes = 64 << 20;

struct NamedTuningState {
    TuningState state;
    const char* name;
};

constexpr std::array kTuningStates = {
    NamedTuningState{TuningState::Running, "running"},
    NamedTuningState{TuningState::Paused, "paused"},
    NamedTuningState{TuningState::Stopping, "stopping"},
    NamedTuningState{TuningState::Stopped, "stopped"},
    NamedTuningState{TuningState::Failed, "failed"},
    NamedTuningState{TuningState::Finished, "finished"},
};

/// Letters and digits of the model's name, and a hash of its path: two models may have one name.
QString folderNameOf(const TuningModel& model) {
    constexpr qsizetype kNameLength = 40;
    constexpr qsizetype kHashDigits = 8;
    QString name;
    for (const QChar letter : model.name.left(kNameLength))
        name += letter.isLetterOrNumber() && letter.unicode() < 128 ? letter.toLower() : u'-';
    QByteArray key = model.path.toUtf8();
    if (model.isPlanted)
        key += " planted";
    const QByteArray hash = QCryptographicHash::hash(key, QCryptographicHash::Sha256).toHex();
    return name + u'-' + QString::fromLatin1(hash.left(kHashDigits));
}

QString runPath(const QString& folder) { return folder + QStringLiteral("/run.json"); }

QString comparisonPath(const QString& folder) { return folder + QStringLiteral("/compared.jsonl"); }

QString eventsPath(const QString& folder) { return folder + QStringLiteral("/events.jsonl"); }

/// Empty, or the system's description of the failure.
QString writeEvent(const QString& path, const QByteArray& line, QIODevice::OpenMode how) {
    QFile file(path);
    const bool isWritten =
        file.open(QIODevice::WriteOnly | how) && file.write(line) == line.size() && file.flush();
    return isWritten ? QString() : file.errorString();
}

} // namespace

TuningFiles::TuningFiles(QObject* parent)
    : QObject(parent) {
    m_thread.setMaxThreadCount(1);
}

TuningFiles::~TuningFiles() { m_thread.waitForDone(); }

void TuningFiles::setPlace(const QString& root, const TuningModel& model, TuningRecipe recipe) {
    m_folder = root.isEmpty() ? QString() : root + u'/' + folderNameOf(model);
    if (!root.isEmpty() && recipe != TuningRecipe::Draft)
        m_folder += u'-' + recipeKey(recipe);
}

bool TuningFiles::hasWork(const QString& output) const {
    return !m_folder.isEmpty() && QFileInfo::exists(output + QStringLiteral(".work/plan.json"));
}

std::optional<KeptTuning> TuningFiles::read() {
    m_thread.waitForDone();
    QFile file(runPath(m_folder));
    if (m_folder.isEmpty() || !file.open(QIODevice::ReadOnly))
        return std::nullopt;
    const QJsonObject json = QJsonDocument::fromJson(file.readAll()).object();
    const auto choice = tuningChoiceOf(json[QLatin1String("choice")].toObject());
    if (json[QLatin1String("format")].toString() != kTuningFormat || !choice)
        return std::nullopt;
    KeptTuning kept{*choice,
                    TuningState::Stopped,
                    json[QLatin1String("sentence")].toString(),
                    json[QLatin1String("fingerprint")].toString()};
    const QString state = json[QLatin1String("state")].toString();
    if (state == QLatin1String("failed"))
        kept.state = TuningState::Failed;
    else if (state == QLatin1String("finished"))
        kept.state = TuningState::Finished;
    return kept;
}

std::vector<QByteArray> TuningFiles::readEvents() {
    m_thread.waitForDone();
    std::vector<QByteArray> lines;
    QFile file(eventsPath(m_folder));
    if (m_folder.isEmpty() || !file.open(QIODevice::ReadOnly))
        return lines;
    for (const QByteArray& line : file.read(kMostEventBytes).split('\n'))
        if (!line.isEmpty())
            lines.push_back(line);
    return lines;
}

template <typename Task> void TuningFiles::later(Task task) {
    if (!m_folder.isEmpty())
        m_thread.start([this, folder = m_folder, task = std::move(task)] {
            QDir().mkpath(folder);
            task(folder);
        });
}

/// From the thread, for which the destructor waits.
void TuningFiles::tell(const QString& sentence) {
    QMetaObject::invokeMethod(
        this, [this, sentence] { emit failed(sentence); }, Qt::QueuedConnection);
}

void TuningFiles::tellOfTraining(const QString& path, const QString& problem) {
    if (!problem.isEmpty())
        tell(tr("The training goes on, but %1 cannot be written (%2). Check the folder's "
                "permissions and the free space.")
                 .arg(QDir::toNativeSeparators(path), problem));
}

void TuningFiles::tellOfComparison(const QString& path, const QString& problem) {
    if (!problem.isEmpty())
        tell(tr("The comparison is shown, but not kept: %1 cannot be written (%2). Check the "
                "folder's permissions and the free space.")
                 .arg(QDir::toNativeSeparators(path), problem));
}

void TuningFiles::write(const KeptTuning& kept) {
    const auto* state = std::ranges::find(kTuningStates, kept.state, &NamedTuningState::state);
    if (state == kTuningStates.end())
        return;
    const QJsonObject json{{QStringLiteral("format"), kTuningFormat},
                           {QStringLiteral("version"), 1},
                           {QStringLiteral("choice"), toJson(kept.choice)},
                           {QStringLiteral("state"), QLatin1String(state->name)},
                           {QStringLiteral("sentence"), kept.sentence},
                           {QStringLiteral("fingerprint"), kept.fingerprint}};
    later([this, bytes = QJsonDocument(json).toJson()](const QString& folder) {
        tellOfTraining(runPath(folder), saveWhole(bytes, runPath(folder)));
    });
}

void TuningFiles::appendEvent(const QByteArray& line) {
    later([this, bytes = line + '\n'](const QString& folder) {
        tellOfTraining(eventsPath(folder),
                       writeEvent(eventsPath(folder), bytes, QIODevice::Append));
    });
}

QByteArray TuningFiles::readComparison() {
    m_thread.waitForDone();
    QFile file(comparisonPath(m_folder));
    return !m_folder.isEmpty() && file.open(QIODevice::ReadOnly) ? file.read(kMostEventBytes)
                                                                 : QByteArray();
}

void TuningFiles::writeComparison(const QByteArray& lines) {
    later([this, lines](const QString& folder) {
        if (lines.isEmpty())
            QFile::remove(comparisonPath(folder));
        else
            tellOfComparison(comparisonPath(folder), saveWhole(lines, comparisonPath(folder)));
    });
}

QString TuningFiles::writeChatPrompts(const QByteArray& lines) {
    const QString path = chatPromptsPath(adapter());
    if (lines.isEmpty()) {
        QFile::remove(path);
        return {};
    }
    QDir().mkpath(m_folder);
    return saveWholePrivately(lines, path);
}

void TuningFiles::clearEvents() {
    later([this](const QString& folder) {
        tellOfTraining(eventsPath(folder), writeEvent(eventsPath(folder), {}, QIODevice::Truncate));
    });
}

} // namespace ui
