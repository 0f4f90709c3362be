// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/recipe/tune_recipe_panel.h"

#include "ui/experiments/setup/prompt_files.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/tuning/model/tuned_output.h"
#include "ui/tuning/model/tuning_costs.h"
#include "ui/views/models/model_report.h"
#include "ui/views/tune/recipe/output_field.h"
#include "ui/views/tune/recipe/tuning_recipe_choice.h"
#include "ui/views/tune/tune_words.h"

#include <QCheckBox>
#include <QDragEnterEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QSpinBox>
#include <QThread>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {

constexpr int kMostMinutes = 7 * 24 * 60;
constexpr int kMostSelfPrompts = 100'000;

/// Of the file over its weights: they are stored in 8 bits, with a scale for each block.
constexpr double kBytesPerWeight = 1.06;

/// Of a time that is only about right: whole hours of many.
double rounded(double seconds) {
    constexpr double kHour = 3600.0;
    return seconds < 3.0 * kHour ? seconds : std::round(seconds / kHour) * kHour;
}

constexpr int kFewestAnswers = 1000; ///< tokens from which something can be learnt
constexpr int kMostAnswers = 1'000'000'000;

} // namespace

TuneRecipePanel::TuneRecipePanel(const Theme& theme, const TuningSession& session, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_session(session) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    setAcceptDrops(true);
    build();
    connect(m_sources, &PromptSources::changed, this, &TuneRecipePanel::showStart);
    connect(m_selfPrompts, &QSpinBox::valueChanged, this, &TuneRecipePanel::showStart);
    connect(m_chats, &QCheckBox::toggled, this, &TuneRecipePanel::showStart);
    connect(m_length, &SegmentedControl::chosen, this, &TuneRecipePanel::showCosts);
    connect(m_trained, &SegmentedControl::chosen, this, &TuneRecipePanel::showCosts);
    connect(m_minutes, &QSpinBox::valueChanged, this, &TuneRecipePanel::showCosts);
    connect(m_answers, &QSpinBox::valueChanged, this, &TuneRecipePanel::showCosts);
    connect(m_answers, &QSpinBox::editingFinished, this, [this] { // fewer are refused
        if (m_answers->value() > 0 && m_answers->value() < kFewestAnswers)
            m_answers->setValue(kFewestAnswers);
    });
    connect(m_output, &OutputField::changed, this, &TuneRecipePanel::showStart);
    connect(m_recipe, &TuningRecipeChoice::chosen, this, &TuneRecipePanel::recipeAsked);
    connect(m_start, &QPushButton::clicked, this, [this] { emit startAsked(choice()); });
    connect(&session, &TuningSession::changed, this, &TuneRecipePanel::showSession);
    connect(&theme, &Theme::changed, this, &TuneRecipePanel::restyle);
    restyle();
    showSession();
}

QLabel* TuneRecipePanel::addTitle(QVBoxLayout& form, const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("tone", QStringLiteral("bold"));
    label->setContentsMargins(0, m_theme.scaled(8), 0, 0);
    form.addWidget(label);
    return label;
}

QLabel* TuneRecipePanel::addNote(QVBoxLayout& form) {
    QLabel* label = plainLabel(m_form, true);
    label->setProperty("tone", QStringLiteral("small"));
    form.addWidget(label);
    return label;
}

TuneRecipePanel::Fact TuneRecipePanel::addFact(const QString& name) {
    const int row = m_facts->rowCount();
    const Fact fact{new QLabel(name), new LiveLabel(m_theme, TextRole::Figure, &Colours::text)};
    fact.name->setProperty("tone", QStringLiteral("small"));
    m_facts->addWidget(fact.name, row, 0);
    m_facts->addWidget(fact.value, row, 1, Qt::AlignRight);
    return fact;
}

void TuneRecipePanel::build() {
    m_form = new QWidget;
    m_form->setAttribute(Qt::WA_StyledBackground);
    m_form->setProperty("ground", QStringLiteral("panel"));
    auto* form = new QVBoxLayout(m_form);
    buildForm(*form);
    form->addStretch(1);
    m_scroll = new ColumnScroll;
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_form);
    m_foot = new QWidget;
    auto* foot = new QVBoxLayout(m_foot);
    QLabel* how = addNote(*foot);
    how->setText(tr("It trains in a process of its own at the lowest priority and waits while an "
                    "answer streams."));
    m_obstacle = addNote(*foot);
    m_start = new QPushButton;
    m_start->setProperty("kind", QStringLiteral("primary"));
    foot->addWidget(m_start, 0, Qt::AlignLeft);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_scroll, 1);
    column->addWidget(m_foot);
}

void TuneRecipePanel::showFact(const Fact& fact, const QString& value) {
    if (!value.isEmpty())
        fact.value->setText(value);
    fact.name->setVisible(!value.isEmpty());
    fact.value->setVisible(!value.isEmpty());
}

void TuneRecipePanel::buildForm(QVBoxLayout& form) {
    addTitle(form, tr("What to train"));
    m_recipe = new TuningRecipeChoice(m_theme);
    form.addWidget(m_recipe);
    buildPrompts(form);
    buildLength(form);
    buildCosts(form);
    buildResult(form);
}

void TuneRecipePanel::buildLength(QVBoxLayout& form) {
    addTitle(form, tr("How long"));
    m_length = new SegmentedControl(m_theme, tr("How long it trains"));
    m_length->setSegments({tr("Quick"), tr("Full"), tr("Overnight"), tr("Minutes")});
    m_length->setCurrentIndex(static_cast<int>(TuningLength::Full));
    form.addWidget(m_length, 0, Qt::AlignLeft);
    m_minutes = new QSpinBox;
    m_minutes->setRange(1, kMostMinutes);
    m_minutes->setValue(TuningChoice().minutes);
    m_minutes->setSuffix(tr(" min"));
    m_minutes->setAccessibleName(tr("Minutes for answers and training together"));
    form.addWidget(m_minutes, 0, Qt::AlignLeft);
    auto* name = new QLabel(tr("Answer tokens"));
    m_answers = new QSpinBox;
    m_answers->setRange(0, kMostAnswers);
    m_answers->setSingleStep(50'000);
    m_answers->setGroupSeparatorShown(true);
    m_answers->setSpecialValueText(tr("as above"));
    m_answers->setAccessibleName(name->text());
    m_answers->setToolTip(tr("How many tokens of the model's own answers are trained on, in place "
                             "of the number that goes with the length above"));
    name->setBuddy(m_answers);
    auto* row = new QHBoxLayout;
    row->addWidget(name, 1);
    row->addWidget(m_answers);
    form.addLayout(row);
    m_trainedTitle = addTitle(form, tr("Which weights learn"));
    m_trained = new SegmentedControl(m_theme, m_trainedTitle->text());
    m_trained->setSegments({tr("LoRA"), tr("All weights")});
    m_trained->setCurrentIndex(0);
    m_trained->segment(0)->setToolTip(
        tr("Two thin matrices beside each linear layer, which are added to it in the end: needs "
           "little memory and changes the model little. arXiv 2106.09685."));
    m_trained->segment(1)->setToolTip(tr("Needs about five times the memory"));
    form.addWidget(m_trained, 0, Qt::AlignLeft);
}

void TuneRecipePanel::buildCosts(QVBoxLayout& form) {
    addTitle(form, tr("What it costs"));
    m_facts = new QGridLayout;
    m_facts->setColumnStretch(1, 1);
    m_tokens = addFact(tr("Answers to learn from"));
    m_time = addFact(tr("Time on this computer"));
    m_memory = addFact(tr("Memory"));
    m_disk = addFact(tr("Disk while it runs"));
    m_weights = addFact(tr("Weights to train"));
    m_size = addFact(tr("Size of the result"));
    m_draftPrice = addFact(tr("A drafted token"));
    m_rowsPrice = addFact(tr("Checking 2, 3, 4 rows"));
    form.addLayout(m_facts);
}

void TuneRecipePanel::buildResult(QVBoxLayout& form) {
    addTitle(form, tr("What becomes of it"));
    m_use = new QCheckBox(tr("Draft with it for this model"));
    m_use->setToolTip(tr("From the next load of the model on, until it is removed"));
    m_use->setChecked(true);
    form.addWidget(m_use);
    m_output = new OutputField(m_theme);
    form.addWidget(m_output);
    m_outputNote = addNote(form);
    m_outputNote->setText(
        tr("The new model's folder; the model itself is only read. If the copy turns out worse "
           "than it, \"rejected\" is added to the folder's name."));
    m_output->line().setAccessibleDescription(m_outputNote->text());
}

void TuneRecipePanel::buildPrompts(QVBoxLayout& form) {
    addTitle(form, tr("From which prompts"));
    m_sources = new PromptSources(m_theme);
    form.addWidget(m_sources);
    auto* own = new QLabel(tr("Prompts that the model writes itself"));
    own->setWordWrap(true);
    m_selfPrompts = new QSpinBox;
    m_selfPrompts->setRange(0, kMostSelfPrompts);
    m_selfPrompts->setSingleStep(100);
    m_selfPrompts->setSpecialValueText(tr("none"));
    m_selfPrompts->setAccessibleName(own->text());
    m_selfPrompts->setToolTip(
        tr("The model is given what precedes a question in its chats, and writes the question "
           "itself, so that no data of anybody's is needed. Magpie, arXiv 2406.08464."));
    own->setBuddy(m_selfPrompts);
    auto* row = new QHBoxLayout;
    row->addWidget(own, 1);
    row->addWidget(m_selfPrompts);
    form.addLayout(row);
    m_chats = new QCheckBox(tr("My chats"));
    m_chats->setToolTip(tr("A copy of these questions lies beside the training until the next "
                           "training of this model begins"));
    form.addWidget(m_chats);
    m_chatsNote = addNote(form);
    m_chatsNote->setText(tr("Only the first question of each chat is read, with its files. Nothing "
                            "leaves this computer."));
    m_chats->setAccessibleDescription(m_chatsNote->text());
    m_chats->hide();
    m_chatsNote->hide();
}

void TuneRecipePanel::offerChats() {
    m_chats->show();
    m_chatsNote->show();
}

TuningChoice TuneRecipePanel::choice() const {
    TuningChoice choice;
    choice.model = m_session.model().value_or(TuningModel());
    choice.data = m_sources->paths();
    choice.selfPrompts = m_selfPrompts->value();
    choice.usesChats = m_chats->isChecked();
    choice.length = static_cast<TuningLength>(std::max(0, m_length->currentIndex()));
    choice.minutes = m_minutes->value();
    choice.isUsed = m_use->isChecked();
    choice.recipe = m_session.recipe();
    choice.tokens = m_answers->value();
    choice.isFull = choice.changesModel() && m_trained->currentIndex() == 1;
    choice.output = choice.changesModel() ? m_output->path() : QString();
    return choice;
}

/// The choices of a training that comes into sight; later ones are the user's.
void TuneRecipePanel::showSession() {
    m_recipe->setRecipe(m_session.recipe());
    m_output->setUsual(usualOutput(
        m_session.places().models, m_session.model().value_or(TuningModel()), m_session.recipe()));
    const bool isNew = std::exchange(m_number, m_session.number()) != m_session.number();
    if (isNew && m_session.state() != TuningState::None)
        showChoice(m_session.choice());
    for (QWidget* choice : std::initializer_list<QWidget*>{m_recipe,
                                                           m_sources,
                                                           m_selfPrompts,
                                                           m_chats,
                                                           m_length,
                                                           m_minutes,
                                                           m_answers,
                                                           m_trained,
                                                           m_use,
                                                           m_output})
        choice->setEnabled(!m_session.isAtWork());
    showRecipe();
    showCosts();
    showStart();
}

/// What makes sense for one recipe alone is hidden with the others.
void TuneRecipePanel::showRecipe() {
    const bool isCopy = m_session.recipe() != TuningRecipe::Draft;
    m_use->setVisible(!isCopy);
    for (QWidget* part :
         std::initializer_list<QWidget*>{m_trainedTitle, m_trained, m_output, m_outputNote})
        part->setVisible(isCopy);
}

void TuneRecipePanel::showChoice(const TuningChoice& choice) {
    m_sources->setPaths(choice.data);
    m_selfPrompts->setValue(choice.selfPrompts);
    m_chats->setChecked(choice.usesChats && !m_chats->isHidden());
    m_length->setCurrentIndex(static_cast<int>(choice.length));
    m_minutes->setValue(choice.minutes);
    m_answers->setValue(static_cast<int>(std::min<qint64>(choice.tokens, kMostAnswers)));
    m_trained->setCurrentIndex(choice.isFull ? 1 : 0);
    m_use->setChecked(choice.isUsed);
    if (choice.changesModel())
        m_output->setPath(choice.output);
}

/// What is at work, or what is left where no model is loaded, is of the model that was chosen then.
TuningModel TuneRecipePanel::shownModel() const {
    const TuningModel& ofTraining = m_session.choice().model;
    return m_session.isAtWork() ? ofTraining : m_session.model().value_or(ofTraining);
}

/// What was measured of a training of another model, or of other weights, says nothing about a
/// choice.
const TuningRun& TuneRecipePanel::shownRun(const TuningChoice& chosen) const {
    static const TuningRun unknown;
    const TuningChoice& trained = m_session.choice();
    const bool isOfChoice = chosen.model.isSame(trained.model) && chosen.isFull == trained.isFull;
    return isOfChoice ? m_session.run() : unknown;
}

void TuneRecipePanel::showCosts() {
    TuningChoice chosen = choice();
    chosen.model = shownModel();
    const bool isTimed = chosen.length == TuningLength::Minutes;
    m_minutes->setVisible(isTimed);
    const auto size = [](qint64 bytes) {
        return bytes > 0 ? sizeText(static_cast<std::uint64_t>(bytes)) : QString();
    };
    const auto atMost = [isTimed](const QString& text) {
        return isTimed && !text.isEmpty() ? tr("at most %1").arg(text) : text;
    };
    const TuningRun& run = shownRun(chosen);
    const TuningCosts costs = costsOf(chosen, run, QThread::idealThreadCount());
    showFact(m_tokens, atMost(countText(chosen.answerTokens(), tr("1 token"), tr("%1 tokens"))));
    const bool isGuess = !isTimed && !costs.isMeasured;
    const QString time = timeText(rounded(costs.seconds));
    showFact(m_time,
             costs.seconds <= 0.0 ? QString()
             : isGuess            ? tr("about %1, a guess until the first steps").arg(time)
                                  : tr("about %1").arg(time));
    m_time.value->setToolTip(isTimed ? QString()
                             : isGuess
                                 ? tr("Estimated from the size of the model and the cores of this "
                                      "processor; the first steps show it exactly")
                                 : tr("At the speed that this training had"));
    const QString memory = size(costs.memoryBytes);
    showFact(m_memory, memory.isEmpty() ? memory : tr("about %1").arg(memory));
    showFact(m_disk, atMost(size(costs.diskBytes)));
    const qint64 planned = !chosen.changesModel() ? chosen.model.draftWeights
                           : chosen.isFull        ? chosen.model.weights
                                                  : chosen.model.loraWeights;
    const qint64 trained = run.facts ? run.facts->trainedWeights : planned;
    const bool isCounted = run.facts || chosen.isFull;
    showFact(m_weights,
             trained <= 0 ? QString()
             : isCounted  ? numberText(trained)
                          : tr("about %1").arg(numberText(trained)));
    const qint64 about = chosen.changesModel()
                             ? costs.resultBytes
                             : static_cast<qint64>(static_cast<double>(trained) * kBytesPerWeight);
    showFact(m_size, size(run.done ? run.done->bytes : about));
    showPrices(run.prices);
}

/// As the program has measured them on this computer.
void TuneRecipePanel::showPrices(const std::optional<TuningPrices>& prices) {
    QStringList rows;
    for (const double price : prices ? prices->rows : std::vector<double>())
        rows << decimalText(price);
    showFact(m_draftPrice,
             prices ? tr("%1 of a plain step").arg(prices->draft, 0, 'f', 3) : QString());
    showFact(m_rowsPrice, rows.join(QStringLiteral(", ")));
}

void TuneRecipePanel::showStart() {
    const TuningObstacle obstacle = m_session.obstacle();
    QString reason = obstacleText(obstacle);
    if (obstacle == TuningObstacle::AtWork)
        reason = tr("What is chosen is fixed while it runs.");
    else if (reason.isEmpty() && !choice().hasPrompts())
        reason = tr("Add the prompts first: files, folders, or some that the model writes.");
    else if (reason.isEmpty() && m_session.recipe() != TuningRecipe::Draft)
        reason = outputProblem(m_output->path(),
                               shownModel(),
                               m_session.recipe(),
                               m_session.replacedOutput(shownModel()));
    m_obstacle->setText(reason);
    m_obstacle->setVisible(!reason.isEmpty());
    m_start->setEnabled(reason.isEmpty());
    const bool isAnew = m_session.state() != TuningState::None && m_session.model() &&
                        m_session.model()->isSame(m_session.choice().model);
    m_start->setText(isAnew ? tr("Start anew") : tr("Start"));
    m_start->setToolTip(isAnew ? tr("Without what was collected and trained before") : QString());
}

void TuneRecipePanel::restyle() {
    const int side = m_theme.scaled(12);
    m_form->layout()->setContentsMargins(side, m_theme.scaled(4), side, m_theme.scaled(10));
    m_form->layout()->setSpacing(m_theme.scaled(6));
    m_foot->layout()->setContentsMargins(side, m_theme.scaled(8), side, m_theme.scaled(8));
    m_foot->layout()->setSpacing(m_theme.scaled(6));
    m_facts->setVerticalSpacing(m_theme.scaled(2));
}

void TuneRecipePanel::dragEnterEvent(QDragEnterEvent* event) {
    if (!m_session.isAtWork() && !promptPathsOf(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void TuneRecipePanel::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    emit filesDropped(promptPathsOf(*event->mimeData()));
}

} // namespace ui
