// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/settings_dialog.h"

#include "ui/language/language.h"
#include "ui/shell/widgets/column_scroll.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

QLabel* placeLabel(const QString& path, QWidget* parent) {
    auto* label = new QLabel(path, parent);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setWordWrap(true);
    label->setProperty("tone", "muted");
    return label;
}

QComboBox* languageBox(QSettings& settings, const QString& folder, QWidget* parent) {
    auto* languages = new QComboBox(parent);
    languages->addItem(SettingsDialog::tr("Same as the system"), QStringLiteral("system"));
    for (const QString& code : languagesIn(folder))
        languages->addItem(languageTitle(code), code);
    languages->setCurrentIndex(std::max(0, languages->findData(keptLanguage(settings))));
    languages->setAccessibleName(SettingsDialog::tr("Language"));
    QObject::connect(languages, &QComboBox::activated, parent, [languages, &settings](int index) {
        keepLanguage(settings, languages->itemData(index).toString());
    });
    return languages;
}

} // namespace

SettingsDialog::SettingsDialog(const Theme& theme,
                               MainWindow& window,
                               AnswerDefaults& answers,
                               QSettings& settings,
                               const Places& places)
    : QDialog(&window)
    , m_theme(theme) {
    setWindowTitle(tr("Settings"));
    setMinimumWidth(theme.scaled(480));
    auto* themes = new QComboBox(this);
    themes->addItem(tr("Same as the system"), static_cast<int>(ThemeChoice::System));
    themes->addItem(tr("Light"), static_cast<int>(ThemeChoice::Light));
    themes->addItem(tr("Dark"), static_cast<int>(ThemeChoice::Dark));
    themes->addItem(tr("High contrast, light"), static_cast<int>(ThemeChoice::HighContrastLight));
    themes->addItem(tr("High contrast, dark"), static_cast<int>(ThemeChoice::HighContrastDark));
    themes->setCurrentIndex(themes->findData(static_cast<int>(theme.choice())));
    themes->setAccessibleName(tr("Theme"));
    connect(themes, &QComboBox::currentIndexChanged, this, [themes, &window](int index) {
        window.setTheme(static_cast<ThemeChoice>(themes->itemData(index).toInt()));
    });
    auto* size = new QSpinBox(this);
    size->setRange(Theme::kSmallestPercent, Theme::kLargestPercent);
    size->setSingleStep(10);
    size->setSuffix(QStringLiteral(" %"));
    size->setValue(theme.textPercent());
    size->setAccessibleName(tr("Text size"));
    connect(size, &QSpinBox::valueChanged, this, [&window](int percent) {
        window.setTextPercent(percent);
    });
    auto* motion = new QCheckBox(tr("Reduce motion"), this);
    motion->setToolTip(tr("Pictures that move, such as those of Slow motion, jump to what they "
                          "show instead."));
    motion->setChecked(theme.reducesMotion());
    connect(motion, &QCheckBox::toggled, &window, &MainWindow::setReducedMotion);
    auto* keys = new QPushButton(tr("Keyboard shortcuts..."), this);
    connect(keys, &QPushButton::clicked, this, &SettingsDialog::shortcutsAsked);
    auto* tasks = new QCheckBox(tr("Recognise the task of a prompt"), this);
    tasks->setToolTip(
        tr("Names each answer's task by what its prompt looks like to the model. "
           "Numbers that describe the prompt, not its words, are kept for this beside "
           "the skip sets. The text of an answer never depends on it."));
    tasks->setChecked(answers.recognisesTasks());
    connect(tasks, &QCheckBox::toggled, &answers, &AnswerDefaults::setRecognisesTasks);
    m_form = new QWidget;
    auto* form = new QFormLayout(m_form);
    form->setContentsMargins({});
    form->setHorizontalSpacing(theme.scaled(16));
    form->setVerticalSpacing(theme.scaled(10));
    form->addRow(tr("Language"), languageBox(settings, places.translations, this));
    auto* whenLanguage = new QLabel(tr("Another language takes effect at the next start."), this);
    whenLanguage->setProperty("tone", "small");
    form->addRow(QString(), whenLanguage);
    form->addRow(tr("Theme"), themes);
    form->addRow(tr("Text size"), size);
    form->addRow(tr("Motion"), motion);
    form->addRow(tr("Keys"), keys);
    form->addRow(tr("Tasks"), tasks);
    form->addRow(tr("Chats"), placeLabel(places.chats, this));
    form->addRow(tr("Your presets"), placeLabel(places.presets, this));
    form->addRow(tr("Settings"), placeLabel(places.settings, this));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(
        theme.scaled(20), theme.scaled(20), theme.scaled(20), theme.scaled(16));
    rows->setSpacing(theme.scaled(16));
    m_scroll = new ColumnScroll(this); // on a low screen, or with large text
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_form);
    rows->addWidget(m_scroll, 1);
    rows->addWidget(buttons);
}

/// Places may take several lines in the width that there is. All of them are read without scrolling
/// where the screen is high enough.
bool SettingsDialog::event(QEvent* event) {
    const bool isTaken = QDialog::event(event);
    const bool isLaidOut =
        event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize;
    if (!isLaidOut || m_scroll == nullptr)
        return isTaken;
    const int beside = layout()->totalMinimumSize().height() - m_scroll->minimumSizeHint().height();
    const int wanted =
        beside + m_form->layout()->totalHeightForWidth(m_scroll->viewport()->width());
    const int title = m_theme.scaled(32); // of the desktop's frame
    const int height = std::min(wanted, screen()->availableSize().height() - title);
    if (height != minimumHeight())
        setMinimumHeight(height);
    return isTaken;
}

} // namespace ui
