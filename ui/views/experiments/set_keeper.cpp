// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/set_keeper.h"

#include "engine/experiments/report/found_sets.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QUndoStack>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

const QString kKeptSetsNotice = QStringLiteral("kept_sets");
constexpr qint64 kMostSetBytes = 16 << 20; ///< of a file of sets; the engine refuses larger ones

} // namespace

SetKeeper::SetKeeper(const ViewContext& context, MessageBar& messages, QObject* parent)
    : QObject(parent)
    , m_context(context)
    , m_messages(messages)
    , m_shelf(context.bridge, context.store, context.undoStack) {
    connect(&m_shelf, &SkipSetShelf::told, this, &SetKeeper::tell);
    connect(&context.undoStack, &QUndoStack::indexChanged, this, [this](int index) {
        if (index != m_undoIndex && !m_shelf.isNoting()) // undone, or another change is the newest
            forgetUndo();
    });
}

void SetKeeper::setRun(const QString& title, const RunPicturePtr& picture) {
    m_title = title;
    m_run = picture != nullptr && picture->facts != nullptr ? picture : nullptr;
    m_file.clear();
    if (m_run != nullptr) {
        const QString file =
            m_run->folder + QStringLiteral("/report/") + QLatin1String(engine::kFoundSetsName);
        if (QFileInfo(file).isFile())
            m_file = file;
    }
    emit changed();
}

QString SetKeeper::obstacle() const {
    if (m_context.bridge.isReplay())
        return tr("A recording is shown, so nothing can be changed.");
    if (m_run == nullptr)
        return tr("Choose a finished experiment first.");
    return m_file.isEmpty() || m_run->facts->plan.models.empty()
               ? tr("The report of this experiment holds no skip sets.")
               : QString();
}

QString SetKeeper::tip() const {
    const QString why = obstacle();
    return why.isEmpty() ? tr("Takes the skip sets that this experiment has found into the library "
                              "of the model that it ran, where they can be used and compared.")
                         : why;
}

/// The models of the run of which the file has sets; a set that names no model may be of any. Of a
/// file that cannot be read the engine says what is wrong.
std::vector<engine::SkipSetOwner> SetKeeper::owners() const {
    QFile file(m_file);
    const QJsonObject sets = file.open(QIODevice::ReadOnly)
                                 ? QJsonDocument::fromJson(file.read(kMostSetBytes)).object()
                                 : QJsonObject();
    const auto hasSets = [&](const std::string& fingerprint) {
        return std::any_of(sets.begin(), sets.end(), [&](const QJsonValue& set) {
            const QJsonValue owner = set[QLatin1String("fingerprint")];
            return !owner.isString() || owner.toString().toStdString() == fingerprint;
        });
    };
    std::vector<engine::SkipSetOwner> owners;
    for (const engine::RunModel& model : m_run->facts->plan.models) {
        const bool isNew =
            std::ranges::find(owners, model.identity, &engine::SkipSetOwner::fingerprint) ==
            owners.end();
        if (isNew && (sets.isEmpty() || hasSets(model.identity)))
            owners.push_back({model.identity, model.name, model.layers});
    }
    return owners;
}

void SetKeeper::keep() {
    if (!canKeep())
        return;
    forgetUndo();
    m_keptTitle = m_title;
    const std::vector<engine::SkipSetOwner> models = owners();
    m_isForOne = models.size() < 2;
    if (models.empty())
        m_messages.show({Notice::Kind::Info,
                         kKeptSetsNotice,
                         tr("The report of this experiment holds no skip sets.")});
    for (const engine::SkipSetOwner& model : models)
        m_shelf.importFrom(m_file, false, m_keptTitle, model);
}

/// Of several models each has a sentence; what was taken in at once is undone at once.
void SetKeeper::tell(const QString& sentence, SkipSetShelf::Offer offer) {
    const engine::SkipSetOwner owner = m_shelf.replaceableOwner();
    if (offer == SkipSetShelf::Offer::Undo) {
        const int index = m_context.undoStack.index();
        m_undoFrom = m_undoIndex < 0 ? index - 1 : m_undoFrom;
        m_undoIndex = index;
    }
    Notice notice{Notice::Kind::Info, kKeptSetsNotice, sentence};
    if (!m_isForOne)
        notice.id += u'/' + QString::fromStdString(owner.fingerprint);
    if (offer == SkipSetShelf::Offer::Replace)
        notice.choices.push_back(
            {tr("Replace them"),
             [this, file = m_shelf.replaceablePath(), title = m_keptTitle, owner] {
                 m_shelf.importFrom(file, true, title, owner);
                 forgetUndo(); // and this notice with it
             }});
    if (offer != SkipSetShelf::Offer::None && m_undoIndex >= 0) {
        notice.choices.push_back({m_isForOne ? tr("Undo") : tr("Undo all"), [this] { undo(); }});
        m_undoNotices << notice.id;
    }
    m_messages.show(std::move(notice));
}

void SetKeeper::undo() {
    const int from = m_undoFrom; // the first one that is undone withdraws the offer
    while (m_context.undoStack.index() > from)
        m_context.undoStack.undo();
}

void SetKeeper::forgetUndo() {
    m_undoIndex = -1;
    for (const QString& id : std::exchange(m_undoNotices, QStringList()))
        m_messages.withdraw(id);
}

} // namespace ui
