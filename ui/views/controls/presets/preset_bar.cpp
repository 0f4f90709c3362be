// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/presets/preset_bar.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

using namespace engine;

PresetBar::PresetBar(const Theme& theme, PresetShelf& shelf, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_shelf(shelf)
    , m_choices(1) {
    build();
    makeMenu();
    connect(m_box, &QComboBox::activated, this, [this](int index) {
        choose(static_cast<std::size_t>(index));
        applyChosen();
    });
    connect(m_chip, &QPushButton::clicked, this, &PresetBar::showDifferences);
    connect(&theme, &Theme::changed, this, &PresetBar::adoptTheme);
    adoptTheme();
}

void PresetBar::build() {
    m_box = new QComboBox(this);
    m_box->setObjectName("presets");
    m_box->setAccessibleName(tr("Preset"));
    m_box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_box->setMinimumContentsLength(8);
    m_box->setFocusPolicy(Qt::StrongFocus);
    m_chip = new QPushButton(this);
    m_chip->setObjectName("changed");
    m_chip->setCheckable(false);
    m_chip->setProperty("form", "small");
    m_chip->hide();
    m_more = new QToolButton(this);
    m_more->setObjectName("presetMenu");
    m_more->setAccessibleName(tr("Save, load and delete presets"));
    m_more->setToolTip(m_more->accessibleName());
    m_more->setPopupMode(QToolButton::InstantPopup);
    m_problem = plainLabel(this, true);
    m_problem->setObjectName("problem");
    m_problem->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 0, 8, 0);
    layout->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    row->addWidget(m_box, 1);
    row->addWidget(m_chip);
    row->addWidget(m_more);
    layout->addLayout(row);
    layout->addWidget(m_problem);
}

void PresetBar::makeMenu() {
    auto* menu = new QMenu(m_more);
    connect(menu->addAction(tr("Save as preset\u2026")),
            &QAction::triggered,
            this,
            &PresetBar::askForName);
    connect(menu->addAction(tr("Load a preset file\u2026")),
            &QAction::triggered,
            this,
            &PresetBar::askForFile);
    m_removeAction = menu->addAction(tr("Delete this preset\u2026"));
    connect(m_removeAction, &QAction::triggered, this, &PresetBar::askBeforeRemoving);
    m_more->setMenu(menu);
}

void PresetBar::adoptTheme() {
    m_box->setFont(m_theme.font(TextRole::Small));
    m_problem->setFont(m_theme.font(TextRole::Tiny));
    setTextColour(*m_problem, m_theme.colours().warning);
    const int size = m_theme.scaled(16);
    m_more->setIconSize({size, size});
    m_more->setIcon(makeIcon(IconName::More, m_theme.colours().muted, m_theme.colours().disabled));
    const QString accent = m_theme.colours().accent.name();
    m_chip->setStyleSheet(
        QStringLiteral("QPushButton { color: %1; border-color: %1; }").arg(accent));
}

void PresetBar::setDecoder(const DecoderInfo& decoder, const SettingValues& settings) {
    m_decoder = decoder;
    m_settings = settings;
    fill();
    choose(nearest());
}

void PresetBar::fill() {
    QStringList problems = m_shelf.problems();
    m_choices.clear();
    auto defaults = resolveSettings(m_decoder, {});
    Preset plain;
    plain.name = tr("Defaults");
    m_choices.push_back({plain, defaults ? defaults.value() : m_settings});
    for (const Preset& preset : m_shelf.presets()) {
        if (preset.decoder != m_decoder.name)
            continue;
        auto resolved = resolveSettings(m_decoder, preset.values);
        if (resolved)
            m_choices.push_back({preset, std::move(resolved).value()});
        else
            problems << tr("The preset %1 was ignored: %2")
                            .arg(preset.name, QString::fromStdString(resolved.error().message));
    }
    m_box->clear();
    for (const Choice& choice : m_choices) {
        m_box->addItem(shownName(choice.preset));
        m_box->setItemData(m_box->count() - 1, tipOf(shownMeaning(choice.preset)), Qt::ToolTipRole);
    }
    setProblem(problems.join(QLatin1Char('\n')));
}

std::size_t PresetBar::nearest() const {
    std::size_t best = 0;
    std::size_t fewest = m_settings.size() + 1;
    for (std::size_t i = 0; i < m_choices.size(); ++i) {
        std::size_t differing = 0;
        for (const auto& [name, value] : m_settings) {
            const auto found = m_choices[i].resolved.find(name);
            differing += found == m_choices[i].resolved.end() || found->second != value ? 1 : 0;
        }
        // Among equally near presets, a named one says more than "Defaults".
        if (differing < fewest || (differing == fewest && best == 0)) {
            best = i;
            fewest = differing;
        }
    }
    return best;
}

void PresetBar::choose(std::size_t index) {
    m_chosen = index < m_choices.size() ? index : 0;
    m_box->setCurrentIndex(static_cast<int>(m_chosen));
    setTip(*m_box, shownMeaning(m_choices[m_chosen].preset));
    m_removeAction->setEnabled(m_choices[m_chosen].preset.isOwn);
    emit referenceChanged();
}

void PresetBar::chooseByName(const QString& name) {
    for (std::size_t i = m_choices.size(); i-- > 0;) // own presets come after bundled ones
        if (m_choices[i].preset.name == name) {
            choose(i);
            return;
        }
    choose(0);
}

void PresetBar::applyChosen() { emit applyWanted(reference(), referenceName()); }

void PresetBar::setDifferences(std::vector<SettingDifference> differences) {
    m_differences = std::move(differences);
    const auto count = static_cast<int>(m_differences.size());
    m_chip->setText(tr("%1 changed").arg(count));
    m_chip->setAccessibleName(countText(count,
                                        tr("1 setting differs from %2. Click to show it"),
                                        tr("%1 settings differ from %2. Click to show them"))
                                  .arg(referenceName()));
    setTip(*m_chip, tr("Differences from %1").arg(referenceName()));
    m_chip->setVisible(count > 0);
}

void PresetBar::saveAs(const QString& name) { save(present(), name); }

/// The current settings, without a name.
Preset PresetBar::present() const {
    Preset preset;
    preset.decoder = m_decoder.name;
    preset.values = m_settings;
    return preset;
}

void PresetBar::save(Preset preset, const QString& name) {
    const bool isShown = preset.decoder == m_decoder.name;
    preset.name = name;
    const auto saved = m_shelf.save(std::move(preset));
    if (!saved) {
        setProblem(errorText(saved.error()));
        return;
    }
    emit shelfChanged();
    fill();
    if (isShown)
        chooseByName(name.simplified());
    else
        choose(nearest());
}

void PresetBar::load(const QString& path) {
    auto preset = readPreset(path);
    if (!preset) {
        setProblem(errorText(preset.error()));
        return;
    }
    const QString name = preset.value().name;
    if (preset.value().decoder != m_decoder.name) {
        setProblem(tr("The preset %1 is for another decoder, %2. Choose that decoder first.")
                       .arg(name, QString::fromStdString(preset.value().decoder)));
        return;
    }
    if (const auto resolved = resolveSettings(m_decoder, preset.value().values); !resolved) {
        setProblem(tr("The preset %1 cannot be used: %2").arg(name, errorText(resolved.error())));
        return;
    }
    if (const auto saved = m_shelf.save(std::move(preset).value()); !saved) {
        setProblem(errorText(saved.error()));
        return;
    }
    emit shelfChanged();
    fill();
    chooseByName(name);
    applyChosen();
}

void PresetBar::removeChosen() { remove(Preset(m_choices[m_chosen].preset)); }

void PresetBar::remove(const Preset& preset) {
    const auto removed = m_shelf.remove(preset);
    if (!removed) {
        setProblem(errorText(removed.error()));
        return;
    }
    emit shelfChanged();
    fill();
    choose(nearest());
}

QString PresetBar::problem() const { return m_problem->text(); }

void PresetBar::setProblem(const QString& problem) {
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
}

/// Another decoder may be chosen while the dialog is open, as when a model was loaded.
void PresetBar::askForName() {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Save as preset"));
    dialog->setLabelText(tr("Name of the preset:"));
    connect(dialog,
            &QInputDialog::textValueSelected,
            this,
            [this, preset = present()](const QString& name) { save(preset, name); });
    dialog->open();
}

void PresetBar::askForFile() {
    auto* dialog =
        new QFileDialog(this, tr("Load a preset file"), QString(), tr("Presets (*.json)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &PresetBar::load);
    dialog->open();
}

/// The one that is named goes, whatever is chosen by then.
void PresetBar::askBeforeRemoving() {
    auto* box = new QMessageBox(QMessageBox::NoIcon,
                                tr("Delete the preset?"),
                                tr("%1 will be deleted from the disk.").arg(referenceName()),
                                QMessageBox::Cancel,
                                this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText);
    const QPushButton* button = box->addButton(tr("Delete"), QMessageBox::DestructiveRole);
    connect(button, &QPushButton::clicked, this, [this, preset = m_choices[m_chosen].preset] {
        remove(preset);
    });
    box->open();
}

void PresetBar::showDifferences() {
    auto* popup = new ChangesPopup(m_theme, m_differences, referenceName(), this);
    connect(popup, &ChangesPopup::resetAllWanted, this, &PresetBar::applyChosen);
    popup->adjustSize();
    popup->move(mapToGlobal(QPoint(width() - popup->width() - 8, height() + 4)));
    popup->show();
}

/// Moving to another window resets fonts and colours.
void PresetBar::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    adoptTheme();
}

} // namespace ui
