// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/parameters_view.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/theme/tip_text.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/controls/kept_settings.h"
#include "ui/views/controls/sampling_settings.h"
#include "ui/views/controls/settings/setting_text.h"
#include "ui/views/search_offer/skip_set_finder.h"
#include "ui/views/search_offer/swift_forecast.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QRandomGenerator>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

using namespace engine;

namespace {

constexpr quint32 kSeedsToDraw = 1'000'000'000;

ViewInfo viewInfo() {
    return {"parameters",
            QObject::tr("Parameters"),
            QObject::tr("The settings of the decoder and of sampling. Each setting says when a "
                        "change takes effect; F1 explains the current one."),
            Topic::Model | Topic::Decoder | Topic::Search | Topic::Speed,
            EngineBridge::kFiguresMs};
}

QString changeText(const SettingInfo& setting, const SettingValue& value) {
    return QObject::tr("%1 to %2").arg(settingTitle(setting).whole(), shownValue(setting, value));
}

} // namespace

ParametersView::ParametersView(const ViewContext& viewContext,
                               const PresetFolders& folders,
                               QWidget* parent)
    : View(viewContext, viewInfo(), parent)
    , m_shelf(folders.bundled, folders.own)
    , m_pending(viewContext.bridge, viewContext.undoStack) {
    build();
    connect(m_form, &SettingsForm::edited, this, &ParametersView::changeSetting);
    connect(m_sampling, &SettingsForm::edited, this, &ParametersView::changeSampling);
    connect(m_presets, &PresetBar::applyWanted, this, &ParametersView::applyPreset);
    connect(m_presets, &PresetBar::referenceChanged, this, &ParametersView::showValues);
    connect(m_presets, &PresetBar::shelfChanged, this, &ParametersView::presetsChanged);
    connect(&m_pending,
            &PendingChanges::refused,
            this,
            [this](const RunChange& change, const Error& error) {
                // The window reports errors of a decoder; they do not concern the current one's
                // settings, and neither do changes that were meant for it.
                if (std::holds_alternative<ChooseDecoder>(change.after) ||
                    error.code == ErrorCode::Cancelled)
                    refreshView(info().topics);
                else
                    showRefused(change, error);
            });
    connect(m_decoderBox, &QComboBox::activated, this, [this](int index) {
        chooseDecoder(m_decoderBox->itemData(index).toString().toStdString());
    });
    connect(m_useSwift, &QPushButton::clicked, this, [this] { chooseDecoder("swift"); });
    connect(&theme(), &Theme::changed, this, &ParametersView::adoptTheme);
    adoptTheme();
    refreshView(info().topics);
}

void ParametersView::build() {
    auto* page = new QWidget;
    page->setProperty("ground", "panel");
    m_presets = new PresetBar(theme(), m_shelf, this);
    m_form = new SettingsForm(theme(), page);
    m_empty = plainLabel(page, true);
    m_empty->setContentsMargins(12, 12, 12, 4);
    m_useSwift = new QPushButton(tr("Use SWIFT"), page);
    m_swiftNote = plainLabel(page, true);
    m_swiftNote->setObjectName("swift_note");
    auto* swiftPart = new QVBoxLayout;
    swiftPart->setContentsMargins(12, 4, 12, 8);
    swiftPart->setSpacing(4);
    // The button tells the forecast, too; in a low dock it would be below what is seen.
    swiftPart->addWidget(m_useSwift, 0, Qt::AlignLeft);
    swiftPart->addWidget(m_swiftNote);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 4, 0, 8);
    column->setSpacing(0);
    QWidget* head = makeDecoderPart();
    for (QLabel* label : {m_summary, m_empty, m_swiftNote})
        label->setProperty("tone", "muted");
    column->addWidget(m_explanation);
    column->addWidget(m_empty);
    column->addLayout(swiftPart);
    column->addWidget(m_form);
    column->addWidget(makeSamplingPart());
    column->addStretch(1);
    m_scroll = new ColumnScroll(this);
    m_scroll->setWidget(page);
    // The decoder whose settings are shown stays visible.
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 8, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(head);
    layout->addSpacing(6);
    layout->addWidget(m_presets);
    layout->addSpacing(4);
    layout->addWidget(m_scroll, 1);
}

QWidget* ParametersView::makeDecoderPart() {
    auto* part = new QWidget;
    m_decoderBox = new QComboBox(part);
    m_decoderBox->setObjectName("decoders");
    m_decoderBox->setAccessibleName(tr("Decoder"));
    m_decoderBox->setFocusPolicy(Qt::StrongFocus);
    m_decoderBox->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_decoderBox->setMinimumContentsLength(6);
    m_waiting = plainLabel(part, true);
    m_waiting->setObjectName("waiting");
    m_waiting->hide();
    m_summary = plainLabel(part, true);
    m_summary->setObjectName("summary");
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    row->addWidget(m_decoderBox, 1);
    row->addWidget(makeLevels());
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(12, 0, 8, 0);
    column->setSpacing(4);
    column->addLayout(row);
    column->addWidget(m_waiting);
    column->addWidget(m_summary);
    column->addWidget(makeExplanation(), 0, Qt::AlignLeft);
    return part;
}

/// One line until it is opened: the paragraph scrolls with the settings.
QWidget* ParametersView::makeExplanation() {
    m_howItWorks = new QToolButton(this);
    m_howItWorks->setObjectName("how_it_works");
    m_howItWorks->setText(tr("How it works"));
    m_howItWorks->setAccessibleName(tr("How the decoder works"));
    m_howItWorks->setCheckable(true);
    m_howItWorks->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_howItWorks->setArrowType(Qt::RightArrow);
    m_howItWorks->setAutoRaise(true);
    m_howItWorks->setFocusPolicy(Qt::StrongFocus);
    connect(m_howItWorks, &QToolButton::toggled, this, &ParametersView::setExplained);
    m_explanation = plainLabel(this, true);
    m_explanation->setContentsMargins(12, 0, 8, 8);
    m_explanation->setObjectName("explanation");
    m_explanation->setAccessibleName(tr("How the decoder works"));
    m_explanation->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_explanation->hide();
    return m_howItWorks;
}

void ParametersView::setExplained(bool isExplained) {
    const QSignalBlocker blocker(m_howItWorks);
    m_howItWorks->setChecked(isExplained);
    m_howItWorks->setArrowType(isExplained ? Qt::DownArrow : Qt::RightArrow);
    showDecoder();
    if (isExplained)
        m_scroll->verticalScrollBar()->setValue(0);
}

QString ParametersView::explanation() const {
    return m_explanation->isVisibleTo(this) ? m_explanation->text() : QString();
}

QWidget* ParametersView::makeSamplingPart() {
    auto* part = new QWidget;
    m_samplingTitle = new QLabel(tr("Sampling"), part);
    m_samplingTitle->setContentsMargins(12, 12, 12, 0);
    m_sampling = new SettingsForm(theme(), part);
    m_sampling->setSettings(samplingSettings());
    auto* dice = new QToolButton(part);
    dice->setObjectName("dice");
    dice->setAccessibleName(tr("Draw another seed"));
    dice->setToolTip(dice->accessibleName());
    SettingRow* seed = m_sampling->row("seed");
    seed->addButton(dice);
    connect(dice, &QToolButton::clicked, this, [this, seed] {
        changeSampling(seed,
                       static_cast<double>(QRandomGenerator::global()->bounded(kSeedsToDraw)));
    });
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_samplingTitle);
    column->addWidget(m_sampling);
    return part;
}

void ParametersView::adoptTheme() {
    const int size = theme().scaled(16);
    const Colours& colours = theme().colours();
    for (const auto& [name, icon] :
         {std::pair("dice", IconName::Dice), std::pair("explain", IconName::Help)}) {
        auto* button = findChild<QToolButton*>(name);
        button->setIconSize({size, size});
        button->setIcon(makeIcon(icon, colours.muted, colours.disabled));
    }
    m_samplingTitle->setFont(theme().font(TextRole::DockTitle));
    m_decoderBox->setFont(theme().font(TextRole::Small));
    m_waiting->setFont(theme().font(TextRole::Small));
    m_summary->setFont(theme().font(TextRole::Tiny));
    m_howItWorks->setFont(theme().font(TextRole::Small));
    m_explanation->setFont(theme().font(TextRole::Small));
    m_swiftNote->setFont(theme().font(TextRole::Small));
}

/// "Simple | All" and "?" are in the view, because a narrow dock's title drops its legend.
QWidget* ParametersView::makeLevels() {
    auto* part = new QWidget;
    m_levels = new SegmentedControl(theme(), tr("Which settings to show"), part);
    m_levels->setSegments({tr("Simple"), tr("All")});
    m_levels->setCurrentIndex(0);
    connect(m_levels, &SegmentedControl::chosen, this, [this](int index) {
        setSimple(index == 0);
        emit simpleChosen(index == 0);
    });
    auto* explain = new QToolButton(part);
    explain->setObjectName("explain");
    explain->setCheckable(true);
    explain->setAccessibleName(tr("Explain every setting"));
    explain->setToolTip(tr("Explain every setting; F1 explains only the current one"));
    connect(explain, &QToolButton::toggled, this, [this](bool isOn) {
        m_form->setHelpShown(isOn);
        m_sampling->setHelpShown(isOn);
    });
    auto* row = new QHBoxLayout(part);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    row->addWidget(m_levels);
    row->addWidget(explain);
    return part;
}

FigureTable ParametersView::table() const {
    FigureTable made{{tr("Setting"), m_presets->referenceName(), tr("Now"), tr("Acts")}, {}};
    for (const SettingRow* row : m_form->rows()) {
        const SettingInfo& setting = row->setting();
        made.rows.push_back({settingTitle(setting).whole(),
                             shownValue(setting, valueIn(m_presets->reference(), setting)),
                             row->valueText(),
                             effectText(setting.effect)});
    }
    return made;
}

void ParametersView::setSimple(bool isSimple) {
    m_form->setSimple(isSimple);
    m_sampling->setSimple(isSimple);
    m_levels->setCurrentIndex(isSimple ? 0 : 1);
    showDecoder();
}

void ParametersView::showSetting(const std::string& name) {
    SettingRow* row = m_form->row(name);
    if (row == nullptr)
        row = m_sampling->row(name);
    if (row == nullptr)
        return;
    if (row->isHidden())
        setSimple(false);
    m_scroll->widget()->layout()->activate();
    m_scroll->ensureWidgetVisible(row);
    row->takeFocus();
    // A view that is only being shown gets its size later.
    QMetaObject::invokeMethod(
        this,
        [this, shown = QPointer(row)] {
            if (shown)
                m_scroll->ensureWidgetVisible(shown);
        },
        Qt::QueuedConnection);
}

void ParametersView::refreshView(Topics changed) {
    if (changed & (Topic::Model | Topic::Decoder)) {
        showDecoders();
        showDecoder();
        showValues();
    }
    showNotes();
    showSwift();
}

/// What choosing SWIFT will cost or gain; behind that, what it did.
void ParametersView::showSwift() {
    const DecoderInfo* decoder = next().info();
    const bool isKnown = decoder != nullptr && m_decoderBox->findData("swift") >= 0;
    const bool isChosen = isKnown && decoder->name == "swift";
    const QString forecast = !isChosen            ? forecastSentence(store())
                             : next().isWaiting() ? QString() // it has done nothing yet
                                                  : forecastCheck(store());
    m_useSwift->setVisible(isKnown && !isChosen);
    m_useSwift->setText(forecastAction(store(), tr("Use SWIFT")));
    m_useSwift->setAccessibleDescription(forecast);
    m_swiftNote->setVisible(isKnown && (!isChosen || !forecast.isEmpty()));
    m_swiftNote->setText(isChosen || !forecast.isEmpty() ? forecast
                         : searchesBeside(store())
                             ? tr("What SWIFT would gain or cost here is known a moment after an "
                                  "answer of some 50 tokens.")
                             : tr("What SWIFT would gain or cost here is known a moment after an "
                                  "answer of some 50 tokens with Auto that searches beside it."));
}

void ParametersView::showDecoders() {
    std::vector<DecoderInfo> known;
    if (store().model() != nullptr)
        known = store().model()->decoders;
    else if (store().decoder() != nullptr)
        known = {*store().decoder()};
    m_decoderBox->clear();
    for (const DecoderInfo& decoder : known) {
        m_decoderBox->addItem(QString::fromStdString(decoder.title),
                              QString::fromStdString(decoder.name));
        m_decoderBox->setItemData(m_decoderBox->count() - 1,
                                  tipOf(QString::fromStdString(decoder.summary)),
                                  Qt::ToolTipRole);
    }
    m_decoderBox->setEnabled(!known.empty());
}

void ParametersView::showDecoder() {
    const DecoderInfo* decoder = next().info();
    const QString waiting = waitingSentence(context());
    m_waiting->setText(waiting);
    m_waiting->setVisible(!waiting.isEmpty());
    const bool hasRows = decoder != nullptr && !decoder->settings.empty();
    m_presets->setVisible(hasRows);
    m_form->setVisible(hasRows);
    m_empty->setVisible(!hasRows);
    m_summary->setVisible(decoder != nullptr && !m_form->isSimple());
    showExplanation();
    if (decoder == nullptr) {
        m_empty->setText(tr("Open a model to see its settings."));
        return;
    }
    const QString title = QString::fromStdString(decoder->title);
    m_empty->setText(tr("%1 has no settings. The other decoders are compared with it.").arg(title));
    m_summary->setText(QString::fromStdString(
        decoder->source.empty() ? decoder->summary : decoder->summary + ' ' + decoder->source));
    m_decoderBox->setCurrentIndex(m_decoderBox->findData(QString::fromStdString(decoder->name)));
    setTip(*m_decoderBox, m_summary->text());
    if (m_hasDecoder && m_decoderName == decoder->name)
        return;
    m_hasDecoder = true;
    m_decoderName = decoder->name;
    m_form->setSettings(decoder->settings);
    m_presets->setDecoder(*decoder, next().settings());
}

/// A recording of an older version has none.
void ParametersView::showExplanation() {
    const DecoderInfo* decoder = next().info();
    const bool hasOne = decoder != nullptr && !decoder->explanation.empty();
    m_howItWorks->setVisible(hasOne);
    m_explanation->setText(hasOne ? QString::fromStdString(decoder->explanation) : QString());
    m_explanation->setVisible(hasOne && m_howItWorks->isChecked());
}

void ParametersView::showValues() {
    m_sampling->setValues(valuesOf(comingSampling()));
    if (!m_hasDecoder)
        return;
    m_presets->setSettings(usersSettings());
    m_form->setReference(m_presets->reference(), m_presets->referenceName());
    m_form->setValues(next().settings());
    m_presets->setDifferences(m_form->differences());
}

SettingValues ParametersView::usersSettings() const {
    return m_finder == nullptr || next().isWaiting() ? next().settings()
                                                     : m_finder->usersSettings();
}

SamplingOptions ParametersView::usersSampling() const {
    return m_usersSampling ? m_usersSampling() : store().sampling();
}

SamplingOptions ParametersView::comingSampling() {
    if (m_pending.isEmpty() || m_askedSampling == usersSampling())
        m_askedSampling.reset();
    return m_askedSampling.value_or(usersSampling());
}

void ParametersView::showNotes() {
    const DecoderInfo* waiting = next().isWaiting() ? next().info() : nullptr;
    const SettingValues values = next().settings();
    for (SettingRow* row : m_form->rows())
        row->setNote(waiting != nullptr ? needNote(*waiting, values, row->setting().name)
                                        : settingNote(store(), row->setting().name));
}

/// A profile also changes other settings, so the undo restores all of them.
void ParametersView::changeSetting(SettingRow* row, const SettingValue& value) {
    const SettingInfo& setting = row->setting();
    RunChange change;
    change.text = changeText(setting, value);
    change.setting = setting.name;
    change.visit = row->visit();
    const SettingValues users = usersSettings();
    change.after = ChangeSettings{{{setting.name, value}}, 0, m_decoderName};
    change.before = ChangeSettings{setting.name == kProfileSetting
                                       ? users
                                       : SettingValues{{setting.name, valueIn(users, setting)}},
                                   0,
                                   m_decoderName};
    request(std::move(change));
}

void ParametersView::changeSampling(SettingRow* row, const SettingValue& value) {
    const QString problem = samplingProblem(row->setting().name, value);
    if (!problem.isEmpty()) {
        row->setProblem(problem);
        return;
    }
    RunChange change;
    change.text = changeText(row->setting(), value);
    change.setting = row->setting().name;
    change.visit = row->visit();
    const SamplingOptions before = comingSampling();
    const SamplingOptions after = samplingOf({{row->setting().name, value}}, before);
    change.before = ChangeSampling{before};
    change.after = ChangeSampling{after};
    m_askedSampling = after;
    request(std::move(change));
}

void ParametersView::applyPreset(const SettingValues& values, const QString& name) {
    m_presets->setProblem({}); // it concerned another one
    RunChange change;
    change.text = tr("preset %1").arg(name);
    change.before = ChangeSettings{usersSettings(), 0, m_decoderName};
    change.after = ChangeSettings{values, 0, m_decoderName};
    request(std::move(change));
}

void ParametersView::chooseDecoder(const std::string& name) {
    if (next().name() == name)
        return;
    setFrozen(false); // its settings are shown
    const SettingValues users =
        m_finder == nullptr ? store().settings() : m_finder->usersSettings();
    request(decoderChange(context(), name, m_kept, users));
}

void ParametersView::request(RunChange change) {
    const RunChange asked = change;
    if (m_pending.request(std::move(change)))
        return;
    const bool isReplay = m_pending.isReplay();
    const QString why =
        isReplay ? tr("A recording is shown, so nothing can be changed.") : busyText();
    const QString hint = isReplay ? tr("Open a model to try this setting.") : QString();
    showRefused(asked, {ErrorCode::Unsupported, why.toStdString(), hint.toStdString()});
}

void ParametersView::showRefused(const RunChange& change, const Error& error) {
    const bool isSampling = std::holds_alternative<ChangeSampling>(change.after);
    SettingRow* row = (isSampling ? m_sampling : m_form)->row(change.setting);
    const SettingValue typed = row != nullptr ? row->value() : SettingValue();
    if (isSampling)
        m_askedSampling.reset(); // those that wait behind it have its value, too
    refreshView(info().topics);  // back to what is set
    if (row != nullptr && row->setting().kind == SettingKind::Text)
        row->editor()->setValue(typed); // to be corrected, not typed again
    const QString sentence = errorText(error);
    if (row != nullptr)
        row->setProblem(sentence);
    else
        m_presets->setProblem(sentence);
}

/// Moving to another window resets fonts and colours.
void ParametersView::showEvent(QShowEvent* event) {
    View::showEvent(event);
    adoptTheme();
}

} // namespace ui
