// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/tuning_files.h"

#include "ui/files/whole_file.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QUuid>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

namespace {

constexpr QLatin1String kTuningFormat("swift-studio-tuning");
constexpr QLatin1String kBefore(".before");
constexpr qint64 kMostEventBytes = 64 << 20;
constexpr qint64 kMostComparedBytes = 1 << 20;

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

QString runPath(const QString& folder) { return folder + QStringLiteral("/run.json"); }

bool isKeptIn(const QString& folder) { return QFileInfo::exists(runPath(folder)); }

/// Empty if it cannot be read.
QJsonObject recordIn(const QString& folder) {
    QFile file(runPath(folder));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                          : QJsonObject();
}

QString fingerprintIn(const QJsonObject& record) {
    return record[QLatin1String("fingerprint")].toString();
}

/// Letters and digits of the model's name, and a hash of its path: two models may have one name.
/// For a model that is not known better, and where earlier versions kept all trainings.
QString nameByPath(const TuningModel& model) {
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

/// The newest training of the model that is kept under another path, from which the model was moved
/// or copied; empty if there is none.
QString folderByOtherPath(const QString& root, const TuningModel& model, TuningRecipe recipe) {
    QString newest;
    QDateTime time;
    for (const QFileInfo& entry :
         QDir(root).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
        const QString folder = root + u'/' + entry.fileName();
        const QJsonObject record = recordIn(folder);
        const QString key =
            record[QLatin1String("choice")].toObject()[QLatin1String("recipe")].toString();
        if (fingerprintIn(record) != model.fingerprint || recipeOfKey(key) != recipe)
            continue;
        const QDateTime written = QFileInfo(runPath(folder)).lastModified();
        if (newest.isEmpty() || written > time) {
            newest = folder;
            time = written;
        }
    }
    return newest;
}

/// Empty: nothing is kept.
QString folderOf(const QString& root, const TuningModel& model, TuningRecipe recipe) {
    if (root.isEmpty())
        return {};
    const QString end = recipe == TuningRecipe::Draft ? QString() : u'-' + recipeKey(recipe);
    const QString byPath = root + u'/' + nameByPath(model) + end;
    if (model.fingerprint.isEmpty())
        return byPath;
    const QString own = root + u'/' + model.fingerprint + end;
    if (isKeptIn(own))
        return own;
    if (isKeptIn(byPath)) { // unless another model lay there then
        const QString told = fingerprintIn(recordIn(byPath));
        if (told.isEmpty() || told == model.fingerprint)
            return byPath;
    }
    const QString byOtherPath = folderByOtherPath(root, model, recipe);
    return byOtherPath.isEmpty() ? own : byOtherPath;
}

QString comparisonPath(const QString& folder) { return folder + QStringLiteral("/compared.jsonl"); }

QString eventsPath(const QString& folder) { return folder + QStringLiteral("/events.jsonl"); }

/// Empty, or the system's description of the failure.
QString writeEvent(const QString& path, const QByteArray& line, QIODevice::OpenMode how) {
    QFile file(path);
    const bool isWritten =
        file.open(QIODevice::WriteOnly | how) && file.write(line) == line.size() && file.flush();
    return isWritten ? QString() : file.errorString();
}

/// The record of a training, or why it cannot be understood.
struct ReadRecord {
    KeptTuning kept;
    QString problem;
};

ReadRecord recordOf(const QByteArray& bytes) {
    QJsonParseError fault;
    const QJsonObject json = QJsonDocument::fromJson(bytes, &fault).object();
    if (fault.error != QJsonParseError::NoError)
        return {{},
                TuningFiles::tr("line %1: %2")
                    .arg(bytes.left(fault.offset).count('\n') + 1)
                    .arg(fault.errorString())};
    const auto choice = tuningChoiceOf(json[QLatin1String("choice")].toObject());
    if (json[QLatin1String("format")].toString() != kTuningFormat || !choice)
        return {{}, TuningFiles::tr("it lacks what a training has")};
    KeptTuning kept{*choice,
                    TuningState::Stopped,
                    json[QLatin1String("sentence")].toString(),
                    fingerprintIn(json)};
    kept.choice.model.fingerprint = kept.fingerprint;
    const QString state = json[QLatin1String("state")].toString();
    if (state == QLatin1String("failed"))
        kept.state = TuningState::Failed;
    else if (state == QLatin1String("finished"))
        kept.state = TuningState::Finished;
    return {std::move(kept), {}};
}

/// What all events of the file say together.
TuningRun runOf(const QString& path) {
    TuningRun run;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return run;
    for (const QByteArray& line : file.read(kMostEventBytes).split('\n'))
        if (const auto event = tuningEventOf(line))
            run.apply(*event);
    return run;
}

} // namespace

TuningFiles::TuningFiles(QObject* parent)
    : QObject(parent)
    , m_window(QUuid::createUuid().toByteArray(QUuid::WithoutBraces)) {
    m_thread.setMaxThreadCount(1);
}

TuningFiles::~TuningFiles() { m_thread.waitForDone(); }

void TuningFiles::setPlace(const QString& root, const TuningModel& model, TuningRecipe recipe) {
    const QString folder = folderOf(root, model, recipe);
    if (std::exchange(m_folder, folder) != folder)
        m_record.reset();
}

bool TuningFiles::isKept(const QString& root, const TuningModel& model, TuningRecipe recipe) {
    return !root.isEmpty() && isKeptIn(folderOf(root, model, recipe));
}

bool TuningFiles::take() {
    m_lock.reset();
    if (m_folder.isEmpty())
        return true;
    QDir().mkpath(m_folder);
    auto lock = std::make_unique<QLockFile>(m_folder + QStringLiteral("/window.lock"));
    lock->setStaleLockTime(0); // however long a training takes, its lock is no old one
    if (!lock->tryLock() && lock->error() == QLockFile::LockFailedError)
        return false;
    m_lock = std::move(lock);
    return true;
}

bool TuningFiles::isOutdated() const {
    QFile file(runPath(m_folder));
    const QByteArray now =
        m_record && file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    return !now.isEmpty() && now != *m_record && !now.contains(m_window);
}

bool TuningFiles::hasWork(const QString& output) const {
    return !m_folder.isEmpty() && QFileInfo::exists(output + QStringLiteral(".work/plan.json"));
}

void TuningFiles::read(std::function<void(StoredTuning)> done) {
    m_thread.start([this, folder = m_folder, done = std::move(done)] {
        StoredTuning stored = folder.isEmpty() ? StoredTuning() : readFolder(folder);
        QMetaObject::invokeMethod(
            this,
            [this, folder, done, stored = std::move(stored)] {
                if (folder == m_folder)
                    m_record = stored.record;
                done(stored);
            },
            Qt::QueuedConnection);
    });
}

/// From the thread.
StoredTuning TuningFiles::readFolder(const QString& folder) {
    QString path = runPath(folder);
    const QString name = QDir::toNativeSeparators(path);
    QFile file(path);
    if (!file.exists())
        return {};
    const QByteArray bytes = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    if (file.error() != QFile::NoError) {
        tell(tr("%1 cannot be read (%2), so the training is not shown.")
                 .arg(name, file.errorString()));
        return {};
    }
    file.close();
    ReadRecord record = recordOf(bytes);
    if (record.problem.isEmpty())
        return {std::move(record.kept), runOf(eventsPath(folder)), bytes};
    tell(tr("%1 is damaged (%2), so the training is not shown. The file was kept as %3.")
             .arg(name, record.problem, setAside(path)));
    return {};
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
                           {QStringLiteral("fingerprint"), kept.fingerprint},
                           {QStringLiteral("window"), QString::fromLatin1(m_window)}};
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

void TuningFiles::readComparison(std::function<void(QByteArray)> done) {
    m_thread.start([this, folder = m_folder, done = std::move(done)] {
        QFile file(comparisonPath(folder));
        const bool isOpen = !folder.isEmpty() && file.open(QIODevice::ReadOnly);
        QMetaObject::invokeMethod(
            this,
            [done, lines = isOpen ? file.read(kMostComparedBytes) : QByteArray()] { done(lines); },
            Qt::QueuedConnection);
    });
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

void TuningFiles::keepChatPrompts() {
    const QString path = chatPromptsPath(adapter());
    QFile::remove(path + kBefore);
    if (QFileInfo(path).isFile())
        QFile::rename(path, path + kBefore);
}

void TuningFiles::endChatPrompts(bool areNeeded) {
    const QString path = chatPromptsPath(adapter());
    if (!areNeeded) {
        QFile::remove(path + kBefore);
        return;
    }
    QFile::remove(path);
    QFile::rename(path + kBefore, path);
}

void TuningFiles::clearEvents() {
    later([this](const QString& folder) {
        tellOfTraining(eventsPath(folder), writeEvent(eventsPath(folder), {}, QIODevice::Truncate));
    });
}

} // namespace ui
