// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/set_keeper.h"

#include "engine/experiments/report/found_sets.h"

#include <QFileInfo>
#include <QUndoStack>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

const QString kKeptSetsNotice = QStringLiteral("kept_sets");

} // namespace

SetKeeper::SetKeeper(const ViewContext& context, MessageBar& messages, QObject* parent)
    : QObject(parent)
    , m_context(context)
    , m_messages(messages)
    , m_shelf(context.bridge, context.store, context.undoStack) {
    connect(&context.bridge, &EngineBridge::eventCame, this, &SetKeeper::follow);
    connect(&m_shelf, &SkipSetShelf::told, this, &SetKeeper::tell);
    connect(&m_shelf, &SkipSetShelf::listedAnew, this, [this] { m_isTold = true; });
    connect(&m_shelf, &SkipSetShelf::changed, this, &SetKeeper::changed);
    connect(&context.undoStack, &QUndoStack::indexChanged, this, [this](int index) {
        if (m_undoIndex >= 0 && index != m_undoIndex) { // undone, or another change is the newest
            m_undoIndex = -1;
            m_messages.withdraw(kKeptSetsNotice);
        }
    });
}

void SetKeeper::setRun(const QString& title, const RunPicturePtr& picture) {
    m_title = title;
    m_run = picture != nullptr && picture->facts != nullptr ? picture : nullptr;
    m_file.clear();
    if (m_run != nullptr) {
        const QString file =
            m_run->folder + QStringLiteral("/report/") + QLatin1String(engine::kFoundSetsName);
        if (QFileInfo::exists(file))
            m_file = file;
    }
    askOnce();
    emit changed();
}

/// What is stored names the model; it is asked for once a model, and only if there are sets.
void SetKeeper::askOnce() {
    if (!m_isAsked && !m_file.isEmpty() && m_context.store.model() != nullptr)
        m_isAsked = m_shelf.list();
}

void SetKeeper::follow(const engine::EngineEvent& event) {
    if (event.as<engine::ModelLoaded>() == nullptr && event.as<engine::ModelUnloaded>() == nullptr)
        return;
    m_isAsked = m_isTold = false;
    askOnce();
    emit changed();
}

bool SetKeeper::isOfLoadedModel() const {
    const std::string& loaded = m_shelf.listed().own.fingerprint;
    return !loaded.empty() &&
           std::ranges::find(m_run->facts->plan.models, loaded, &engine::RunModel::identity) !=
               m_run->facts->plan.models.end();
}

QString SetKeeper::obstacle() const {
    if (m_context.bridge.isReplay())
        return tr("A recording is shown, so nothing can be changed.");
    if (m_run == nullptr)
        return tr("Choose a finished experiment first.");
    if (m_file.isEmpty())
        return tr("The report of this experiment holds no skip sets.");
    if (m_context.store.model() == nullptr || (m_isTold && !isOfLoadedModel())) {
        QStringList models;
        for (const engine::RunModel& model : m_run->facts->plan.models)
            models << QString::fromStdString(model.name);
        return tr("The skip sets of this experiment are for %1: load that model first.")
            .arg(models.join(QStringLiteral(", ")));
    }
    return m_isTold ? QString() : tr("The stored skip sets are being read.");
}

QString SetKeeper::tip() const {
    const QString why = obstacle();
    return why.isEmpty() ? tr("Takes the skip sets that this experiment has found into the library "
                              "of the loaded model, where they can be used and compared.")
                         : why;
}

void SetKeeper::keep() {
    if (!canKeep())
        return;
    m_keptTitle = m_title;
    m_shelf.importFrom(m_file, false, m_keptTitle);
}

void SetKeeper::tell(const QString& sentence, SkipSetShelf::Offer offer) {
    m_undoIndex = offer == SkipSetShelf::Offer::Undo ? m_context.undoStack.index() : -1;
    Notice notice{Notice::Kind::Info, kKeptSetsNotice, sentence};
    if (offer == SkipSetShelf::Offer::Undo)
        notice.choices.push_back({tr("Undo"), [this] { m_context.undoStack.undo(); }});
    else if (offer == SkipSetShelf::Offer::Replace)
        notice.choices.push_back(
            {tr("Replace them"), [this, file = m_shelf.replaceablePath(), title = m_keptTitle] {
                 m_shelf.importFrom(file, true, title);
             }});
    m_messages.show(std::move(notice));
}

} // namespace ui
