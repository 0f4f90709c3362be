// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/skip_sets/shelf/skip_set_shelf.h"

#include "ui/shell/figure_text.h"

#include <QFileInfo>
#include <QPointer>
#include <QUndoCommand>
#include <QUndoStack>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

std::vector<std::string> tasksOf(const std::vector<NamedSkipSet>& sets) {
    std::vector<std::string> tasks;
    for (const NamedSkipSet& set : sets)
        tasks.push_back(set.task);
    return tasks;
}

/// A change that the engine has made already; one of the loaded model's sets does nothing once
/// another model is loaded.
class ShelfChange : public QUndoCommand {
public:
    ShelfChange(SkipSetShelf& shelf,
                const SkipSetsListed& after,
                const SkipSetOwner& owner,
                const QString& what)
        : QUndoCommand(what)
        , m_shelf(&shelf)
        , m_model(after.own.fingerprint)
        , m_owner(owner)
        , m_before(after.lost) {
        for (const std::string& task : after.taken)
            if (const NamedSkipSet* set = shelf.find(task, owner.fingerprint))
                m_after.push_back(*set);
    }

    void undo() override { exchange(m_after, m_before); }

    void redo() override {
        if (std::exchange(m_isDone, false))
            return;
        exchange(m_before, m_after);
    }

private:
    void exchange(std::vector<NamedSkipSet>& gone, const std::vector<NamedSkipSet>& back) {
        if (m_shelf != nullptr && m_shelf->isGoingBack())
            return;
        if (m_shelf != nullptr && !m_shelf->isAsked())
            gone = nowThere(gone, back);
        if (m_shelf == nullptr || !m_shelf->exchange(m_model, m_owner, tasksOf(gone), back, *this))
            setObsolete(true);
    }

    /// A search may have found another set for a task meanwhile: it goes now, and comes back when
    /// the exchange is reversed.
    std::vector<NamedSkipSet> nowThere(const std::vector<NamedSkipSet>& gone,
                                       const std::vector<NamedSkipSet>& back) const {
        std::vector<std::string> tasks = tasksOf(gone);
        for (const std::string& task : tasksOf(back))
            if (std::ranges::find(tasks, task) == tasks.end())
                tasks.push_back(task);
        std::vector<NamedSkipSet> there;
        for (const std::string& task : tasks)
            if (const NamedSkipSet* set = m_shelf->find(task, m_owner.fingerprint))
                there.push_back(*set);
        return there;
    }

    QPointer<SkipSetShelf> m_shelf;
    std::string m_model;
    SkipSetOwner m_owner;
    std::vector<NamedSkipSet> m_before;
    std::vector<NamedSkipSet> m_after;
    bool m_isDone = true; ///< the stack calls redo() when it gets the command
};

/// "3 sets"
QString setsText(std::size_t count) {
    return countText(
        static_cast<qint64>(count), SkipSetShelf::tr("1 set"), SkipSetShelf::tr("%1 sets"));
}

/// Of an experiment's run that has this title, for a model that is not loaded, if it is named.
QString keptText(const SkipSetsListed& listed, const QString& run, const QString& model) {
    if (!listed.taken.empty() && !model.isEmpty())
        return countText(
                   static_cast<qint64>(listed.taken.size()),
                   SkipSetShelf::tr("1 set of \u201C%2\u201D is kept in the library of %3 now."),
                   SkipSetShelf::tr("%1 sets of \u201C%2\u201D are kept in the library of %3 now."))
            .arg(run, model);
    if (!listed.taken.empty())
        return countText(static_cast<qint64>(listed.taken.size()),
                         SkipSetShelf::tr("1 set of \u201C%2\u201D is kept in the library now."),
                         SkipSetShelf::tr("%1 sets of \u201C%2\u201D are kept in the library now."))
            .arg(run);
    return listed.kept.empty() && listed.leftOut.empty()
               ? SkipSetShelf::tr("The library has these sets already.")
               : QString();
}

QString importText(const SkipSetsListed& listed,
                   const QString& path,
                   const QString& run,
                   const QString& model) {
    QString text = run.isEmpty()
                       ? SkipSetShelf::tr("%1 imported from %2.")
                             .arg(setsText(listed.taken.size()), QFileInfo(path).fileName())
                       : keptText(listed, run, model);
    if (!listed.kept.empty())
        text += u' ' + (listed.kept.size() == 1
                            ? SkipSetShelf::tr("\u201C%1\u201D has a set already and keeps it.")
                                  .arg(shownTask(listed.kept.front()))
                            : SkipSetShelf::tr("%1 tasks have a set already and keep it.")
                                  .arg(listed.kept.size()));
    if (!listed.leftOut.empty())
        text += u' ' + QString::fromStdString(listed.leftOut.front());
    if (listed.leftOut.size() > 1)
        text +=
            u' ' + SkipSetShelf::tr("And %1 more cannot be used.").arg(listed.leftOut.size() - 1);
    return text.trimmed();
}

/// A number that no other shelf's request has.
std::uint64_t nextSkipSetRequest() {
    static std::uint64_t newest = 0;
    return ++newest;
}

bool mayChangeSets(const EngineEvent& event) {
    return event.as<ModelLoaded>() || event.as<ModelUnloaded>() || event.as<PromptFinished>() ||
           event.as<PhaseChanged>() || event.as<PlanChanged>();
}

} // namespace

QString shownTask(const std::string& task) {
    const QString name = QString::fromStdString(task).simplified();
    return name.isEmpty() ? SkipSetShelf::tr("(no name)") : name;
}

SkipSetShelf::SkipSetShelf(EngineBridge& bridge,
                           const RunStore& store,
                           QUndoStack& undoStack,
                           QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_store(store)
    , m_undoStack(undoStack) {
    connect(&bridge, &EngineBridge::eventCame, this, &SkipSetShelf::follow);
}

const NamedSkipSet* SkipSetShelf::find(const std::string& task,
                                       const std::string& fingerprint) const {
    const ModelSkipSets* model = &m_listed.own;
    if (!fingerprint.empty() && fingerprint != model->fingerprint) {
        const auto other =
            std::ranges::find(m_listed.others, fingerprint, &ModelSkipSets::fingerprint);
        if (other == m_listed.others.end())
            return nullptr;
        model = &*other;
    }
    const auto found = std::ranges::find(model->sets, task, &NamedSkipSet::task);
    return found == model->sets.end() ? nullptr : &*found;
}

void SkipSetShelf::setWatched(bool isWatched) {
    m_isWatched = isWatched;
    if (isWatched)
        list();
}

template <typename Command>
bool SkipSetShelf::ask(Command command, Done done, std::function<void()> refused) {
    command.requestId = m_request = nextSkipSetRequest();
    if (!m_bridge.send(std::move(command))) {
        emit told(m_bridge.isReplay()
                      ? tr("Nothing was changed: a recording is shown, and no engine runs.")
                      : busyText(),
                  Offer::None);
        return false;
    }
    m_waiting[m_request] = {std::move(done), std::move(refused)};
    return true;
}

/// One question at a time; another one follows if something happened meanwhile.
bool SkipSetShelf::list() {
    if (m_bridge.isReplay())
        return false;
    m_isStale = m_listRequest != 0;
    if (m_isStale)
        return true;
    if (!ask(ListSkipSets{}, {}))
        return false;
    m_listRequest = m_request;
    return true;
}

void SkipSetShelf::follow(const EngineEvent& event) {
    if (const auto* listed = event.as<SkipSetsListed>(); listed && !m_bridge.isReplay()) {
        take(*listed);
    } else if (const auto* failed = event.as<EngineFailed>();
               failed && failed->task.find("skip_set") != std::string::npos &&
               m_waiting.contains(failed->requestId)) {
        const auto asked = m_waiting.extract(failed->requestId);
        if (failed->requestId == m_listRequest)
            m_listRequest = 0;
        const bool isOfChange = asked.mapped().refused != nullptr;
        if (isOfChange)
            asked.mapped().refused();
        emit changed(); // what was typed into the list is not there
        emit told(errorText(failed->error), Offer::None);
        if (isOfChange)
            list(); // it was asked for with other sets in mind
    } else if (m_isWatched && mayChangeSets(event)) {
        list();
    }
}

/// The reply to this shelf or to another one.
void SkipSetShelf::take(const SkipSetsListed& listed) {
    auto asked = m_waiting.extract(listed.requestId);
    if (listed.requestId == m_listRequest)
        m_listRequest = 0;
    m_before.clear();
    if (listed.own.fingerprint == m_listed.own.fingerprint)
        m_before = std::move(m_listed.own.sets);
    m_listed = listed;
    m_isKnown = true;
    if (!asked.empty() && asked.mapped().done)
        asked.mapped().done(m_listed);
    if (!asked.empty() && !listed.note.empty())
        emit told(QString::fromStdString(listed.note), Offer::None);
    emit listedAnew();
    emit changed();
    if (m_listRequest == 0 && std::exchange(m_isStale, false))
        list();
}

/// Whether a task has the set that it had before, which must not be taken back then.
bool SkipSetShelf::isUnchanged(const std::string& task) const {
    const NamedSkipSet* set = find(task);
    return set != nullptr && std::ranges::find(m_before, *set) != m_before.end() &&
           std::ranges::find(m_listed.lost, task, &NamedSkipSet::task) == m_listed.lost.end();
}

void SkipSetShelf::noteChange(const QString& what,
                              const QString& sentence,
                              const SkipSetOwner& owner) {
    m_isNoting = true;
    m_undoStack.push(new ShelfChange(*this, m_listed, owner, what));
    m_isNoting = false;
    emit told(sentence, Offer::Undo);
}

void SkipSetShelf::remove(const std::string& task) {
    ask(ChangeSkipSets{.removed = {task}}, [this, task](const SkipSetsListed&) {
        noteChange(tr("delete the skip set \u201C%1\u201D").arg(shownTask(task)),
                   tr("Deleted \u201C%1\u201D.").arg(shownTask(task)));
    });
}

void SkipSetShelf::rename(const std::string& task, const std::string& name) {
    ask(RenameSkipSet{.task = task, .name = name}, [this, task, name](const SkipSetsListed&) {
        noteChange(tr("rename the skip set \u201C%1\u201D").arg(shownTask(task)),
                   tr("\u201C%1\u201D is called \u201C%2\u201D now.")
                       .arg(shownTask(task), shownTask(name)));
    });
}

void SkipSetShelf::importFrom(const QString& path,
                              bool replaces,
                              const QString& run,
                              const SkipSetOwner& owner) {
    ask(ImportSkipSets{.path = path.toStdString(), .replaces = replaces, .owner = owner},
        [this, path, run, owner](const SkipSetsListed& listed) {
            const bool isOwn =
                owner.fingerprint.empty() || owner.fingerprint == listed.own.fingerprint;
            if (isOwn)
                std::erase_if(m_listed.taken,
                              [this](const std::string& task) { return isUnchanged(task); });
            const QString sentence = importText(
                listed, path, run, isOwn ? QString() : QString::fromStdString(owner.model));
            m_replaceablePath = path;
            m_replaceableOwner = owner;
            if (!listed.taken.empty())
                noteChange(tr("import skip sets"), sentence, owner);
            if (!listed.kept.empty() || listed.taken.empty())
                emit told(sentence, listed.kept.empty() ? Offer::None : Offer::Replace);
        });
}

void SkipSetShelf::exportTo(const QString& path,
                            const std::vector<std::string>& tasks,
                            SkipSetForm form) {
    ask(ExportSkipSets{.path = path.toStdString(), .tasks = tasks, .form = form},
        [this, path](const SkipSetsListed& listed) {
            emit told(tr("%1 exported to %2.").arg(setsText(listed.taken.size()), path),
                      Offer::None);
        });
}

bool SkipSetShelf::exchange(const std::string& fingerprint,
                            const SkipSetOwner& owner,
                            const std::vector<std::string>& removed,
                            const std::vector<NamedSkipSet>& added,
                            const QUndoCommand& change) {
    const bool isLoaded = fingerprint == m_listed.own.fingerprint && m_store.model() != nullptr;
    if (owner.fingerprint.empty() && !isLoaded) {
        emit told(tr("Nothing was changed: the skip sets were those of another model."),
                  Offer::None);
        return false;
    }
    return ask(ChangeSkipSets{.removed = removed, .added = added, .owner = owner},
               {},
               [this, refused = &change] { goBackOver(refused); });
}

/// What the engine refused is not done: it can be asked for again once nothing stands in its way,
/// and no further change drops it. It is there no longer if the stack has forgotten it meanwhile.
void SkipSetShelf::goBackOver(const QUndoCommand* change) {
    const int at = m_undoStack.index();
    m_isGoingBack = true;
    if (at < m_undoStack.count() && m_undoStack.command(at) == change)
        m_undoStack.redo(); // it was to be taken back
    else if (at > 0 && m_undoStack.command(at - 1) == change)
        m_undoStack.undo();
    m_isGoingBack = false;
}

} // namespace ui
