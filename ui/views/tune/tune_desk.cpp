// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/tune_desk.h"

#include "ui/experiments/setup/prompt_files.h"
#include "ui/tuning/chat_prompts.h"
#include "ui/tuning/model/tuned_output.h"
#include "ui/views/tune/page/empty_tune.h"
#include "ui/views/tune/recipe/recipe_words.h"
#include "ui/views/tune/recipe/tune_recipe_panel.h"
#include "ui/views/tune/tune_words.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QPushButton>
#include <QSettings>

#include <utility>

namespace ui {

namespace {

constexpr const char* kPromptsKey = "tune/data";
constexpr const char* kRecipeKey = "tune/recipe";

/// Of LoRA, as the command has it.
constexpr qint64 kLoraRank = 32;

/// What LoRA trains for the attention and the MLP of all layers.
qint64 loraWeightsOf(const engine::ModelFacts& model) {
    const qint64 hidden = model.hiddenSize;
    const qint64 queries = qint64(model.headCount) * model.headDim;
    const qint64 keys = qint64(model.kvHeadCount) * model.headDim;
    const qint64 sizes =
        2 * (hidden + queries) + 2 * (hidden + keys) + 3 * (hidden + model.mlpSize);
    return kLoraRank * model.layerCount * sizes;
}

/// Of a layer like the model's own, the matrix that reads stream and token, and five norms.
qint64 draftWeightsOf(const engine::ModelFacts& model) {
    const qint64 hidden = model.hiddenSize;
    const qint64 queries = qint64(model.headCount) * model.headDim;
    const qint64 keys = qint64(model.kvHeadCount) * model.headDim;
    if (queries <= 0 || keys <= 0 || model.mlpSize <= 0)
        return 0;
    return hidden * (2 * hidden + 2 * (queries + keys) + 3 * qint64(model.mlpSize) + 5);
}

/// Whether most of its weights are; small tensors may be of another type.
bool isFloat32(const engine::ModelFacts& model) {
    return model.fileBytes > 3 * model.parameterCount; // one of float32 has four bytes
}

} // namespace

TuneDesk::TuneDesk(const ViewContext& context,
                   ViewMenu& menu,
                   MessageBar& messages,
                   QSettings& settings,
                   const TuningPlaces& places,
                   QObject* parent)
    : QObject(parent)
    , m_messages(messages)
    , m_settings(settings)
    , m_session(new TuningSession(places, this))
    , m_page(new TunePage(context, *m_session, menu))
    , m_recipe(new TuneRecipePanel(context.theme, *m_session)) {
    m_recipe->sources().setPaths(settings.value(kPromptsKey).toStringList());
    m_session->setRecipe(recipeOfKey(settings.value(kRecipeKey).toString()));
    connectParts();
}

void TuneDesk::connectParts() {
    connect(m_session, &TuningSession::faulted, this, [this](const QString& sentence) {
        tell(tr("A file of Tune cannot be read or written."), sentence);
    });
    connect(m_session, &TuningSession::refused, this, [this](const QString& sentence) {
        tell(tr("The training did not begin."), sentence);
    });
    connectUse();
    connect(m_page, &TunePage::actionAsked, this, &TuneDesk::act);
    connect(m_page, &TunePage::modelAsked, this, &TuneDesk::modelAsked);
    connect(m_page, &TunePage::left, m_session, &TuningSession::showLoadedModel);
    connect(m_page, &TunePage::filesDropped, this, &TuneDesk::addPrompts);
    connect(&m_page->emptyPage(), &EmptyTune::filesAsked, this, &TuneDesk::askForFiles);
    connect(m_recipe, &TuneRecipePanel::filesDropped, this, &TuneDesk::addPrompts);
    connect(m_recipe, &TuneRecipePanel::startAsked, this, &TuneDesk::start);
    connect(m_recipe, &TuneRecipePanel::recipeAsked, this, [this](TuningRecipe recipe) {
        m_session->setRecipe(recipe);
        m_settings.setValue(kRecipeKey, recipeKey(recipe));
    });
    connect(&m_recipe->sources(), &PromptSources::changed, this, &TuneDesk::keepPrompts);
    connect(&m_recipe->sources(), &PromptSources::filesAsked, this, &TuneDesk::askForFiles);
    connect(&m_recipe->sources(), &PromptSources::folderAsked, this, &TuneDesk::askForFolder);
}

void TuneDesk::connectUse() {
    const AdapterUse& use = m_session->adapterUse();
    connect(&use, &AdapterUse::placed, this, [this](const QString& before) {
        if (!before.isEmpty())
            tell(
                tr("The adapter takes the place of another one."),
                tr("The other one is kept as %1. The newest three of those that gave way are kept.")
                    .arg(QDir::toNativeSeparators(before)),
                false);
    });
    connect(&use, &AdapterUse::removed, this, [this] {
        tell(tr("The adapter was removed."),
             tr("Once the model is loaded again, it drafts without this adapter: with the one that "
                "comes with SWIFT Studio, if there is one for it."),
             false);
    });
    connect(&use, &AdapterUse::failed, this, [this](const QString& sentence) {
        tell(tr("Which adapter is used was not changed."), sentence);
    });
}

void TuneDesk::start(const TuningChoice& choice) {
    if (!choice.usesChats || m_chats == nullptr) {
        startWith(choice, {});
    } else if (!std::exchange(m_isReadingChats, true)) {
        readChatPrompts(*m_chats, this, [this, choice](const QByteArray& prompts) {
            m_isReadingChats = false;
            startWith(choice, prompts);
        });
    }
}

void TuneDesk::startWith(const TuningChoice& choice, const QByteArray& chatPrompts) {
    if (choice.usesChats && chatPrompts.isEmpty()) {
        tell(tr("The training did not begin."),
             tr("There is no chat yet in which you have asked something: untick My chats."));
        return;
    }
    if (m_session->showEarlier(choice)) {
        tell(tr("The training did not begin."),
             tr("There is an earlier training of %1, which is shown now. Start anew replaces it.")
                 .arg(choice.model.name),
             false);
        return;
    }
    const QString problem = choice.changesModel()
                                ? outputProblem(choice.output,
                                                choice.model,
                                                choice.recipe,
                                                m_session->replacedOutput(choice.model))
                                : QString();
    if (!problem.isEmpty()) {
        tell(tr("The training did not begin."), problem);
        return;
    }
    m_session->start(choice, chatPrompts);
    m_page->button(TunePage::Action::PauseOrGoOn)
        .setFocus(Qt::OtherFocusReason); // the button that began it rests now
}

void TuneDesk::useChats(ChatStore& chats) {
    m_chats = &chats;
    m_recipe->offerChats();
}

void TuneDesk::keepPrompts() { m_settings.setValue(kPromptsKey, m_recipe->sources().paths()); }

WorkNote TuneDesk::note() const {
    const QString state = tuningNoteText(*m_session);
    if (state.isEmpty())
        return {};
    TuningChoice told = m_session->choice();
    if (m_session->comparison().isRunning())
        told.recipe = m_session->comparison().recipe(); // whatever is shown
    return {tuningTitle(told), state, false};
}

void TuneDesk::useModel(const engine::ModelLoaded& loaded) {
    m_session->setModel(
        TuningModel{QFileInfo(QString::fromStdString(loaded.path)).absoluteFilePath(),
                    QString::fromStdString(loaded.model.name),
                    !loaded.model.silentCopies.empty(),
                    loaded.model.hiddenSize,
                    static_cast<qint64>(loaded.model.parameterCount),
                    loraWeightsOf(loaded.model),
                    isFloat32(loaded.model),
                    draftWeightsOf(loaded.model),
                    QString::fromStdString(loaded.fingerprint)});
}

void TuneDesk::forgetModel() { m_session->setModel(std::nullopt); }

void TuneDesk::setAnswering(bool isAnswering) { m_session->setHeld(isAnswering); }

void TuneDesk::addPrompts(const QStringList& paths) {
    if (m_session->isAtWork()) {
        tell(tr("The prompts were not added."),
             tr("What is chosen is fixed while a training runs."));
        return;
    }
    m_recipe->sources().add(paths);
    emit promptsAdded();
}

void TuneDesk::pauseOrGoOn() {
    if (m_session->state() == TuningState::Running)
        m_session->pause();
    else
        m_session->goOn();
}

void TuneDesk::compareOrStop() {
    if (m_session->comparison().isRunning())
        m_session->stopComparing();
    else
        m_session->compare();
}

void TuneDesk::act(TunePage::Action action) {
    switch (action) {
    case TunePage::Action::Stop:
        m_session->stop();
        return;
    case TunePage::Action::PauseOrGoOn:
        pauseOrGoOn();
        return;
    case TunePage::Action::Compare:
        compareOrStop();
        return;
    case TunePage::Action::Remove:
        m_session->removeUsedAdapter();
        return;
    case TunePage::Action::Use:
        m_session->useResult();
        return;
    case TunePage::Action::Reload:
        if (m_session->choice().changesModel())
            emit loadAsked(m_session->newModel(), decoderOf(m_session->choice().recipe));
        else
            emit reloadAsked(m_session->choice().model.path, m_session->choice().model.isPlanted);
        return;
    }
}

void TuneDesk::askForFiles() {
    auto* dialog = new QFileDialog(m_page, tr("Prompts to train on"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    dialog->setNameFilters(
        {tr("Prompts (%1)").arg(QLatin1String(kPromptFileNames)), tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, &TuneDesk::addPrompts);
    dialog->open();
}

void TuneDesk::askForFolder() {
    auto* dialog = new QFileDialog(m_page, tr("Folder with prompts to train on"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::filesSelected, this, &TuneDesk::addPrompts);
    dialog->open();
}

void TuneDesk::tell(const QString& headline, const QString& sentence, bool isError) {
    m_messages.show({isError ? Notice::Kind::Error : Notice::Kind::Info,
                     QStringLiteral("tune"),
                     headline,
                     sentence});
}

} // namespace ui
