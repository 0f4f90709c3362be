// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/settings/setting_editor.h"

#include "ui/views/controls/settings/setting_scale.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

constexpr int kSettleMs = 200;

double numberOf(const SettingValue& value) {
    const double* number = std::get_if<double>(&value);
    return number != nullptr ? *number : 0.0;
}

QString textOf(const SettingValue& value) {
    const std::string* text = std::get_if<std::string>(&value);
    return text != nullptr ? QString::fromStdString(*text) : QString();
}

QHBoxLayout* rowLayout(QWidget* widget) {
    auto* layout = new QHBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    return layout;
}

/// Numbers and whole numbers.
class NumberEditor : public SettingEditor {
public:
    NumberEditor(const Theme& theme, const SettingInfo& setting, QWidget* parent)
        : SettingEditor(parent)
        , m_theme(theme)
        , m_scale(setting.minimum,
                  setting.maximum,
                  setting.kind == SettingKind::Integer,
                  std::get<double>(setting.initial))
        , m_slider(new QSlider(Qt::Horizontal, this))
        , m_spin(new QDoubleSpinBox(this)) {
        const QString name = settingTitle(setting).whole();
        m_slider->setObjectName("slider");
        m_slider->setAccessibleName(tr("%1, slider").arg(name));
        m_slider->setRange(0, m_scale.lastPosition());
        m_slider->setPageStep(std::max(1, m_scale.lastPosition() / 10));
        m_slider->setVisible(m_scale.hasSlider());
        m_spin->setObjectName("spin");
        m_spin->setAccessibleName(name);
        m_spin->setLocale(QLocale::c());
        m_spin->setRange(setting.minimum, setting.maximum);
        m_spin->setDecimals(m_scale.decimals());
        m_spin->setSingleStep(m_scale.step());
        m_spin->setKeyboardTracking(false);
        auto* layout = rowLayout(this);
        layout->addWidget(m_slider, 1);
        layout->addWidget(m_spin, m_scale.hasSlider() ? 0 : 1);
        connectControls();
        adopt();
        connect(&theme, &Theme::changed, this, &NumberEditor::adopt);
    }

    SettingValue value() const override { return m_spin->value(); }

    void setValue(const SettingValue& value) override {
        const QSignalBlocker quietSlider(m_slider);
        const QSignalBlocker quietSpin(m_spin);
        m_spin->setValue(numberOf(value));
        m_slider->setValue(m_scale.positionOf(m_spin->value()));
    }

    bool isBusy() const override {
        const auto* line = m_spin->findChild<QLineEdit*>();
        return SettingEditor::isBusy() || m_slider->isSliderDown() ||
               (m_spin->hasFocus() && line != nullptr && line->isModified());
    }

    QWidget* mainControl() const override {
        return m_scale.hasSlider() ? static_cast<QWidget*>(m_slider) : m_spin;
    }

private:
    void connectControls() {
        connect(m_slider, &QSlider::valueChanged, this, [this](int position) {
            const QSignalBlocker quiet(m_spin);
            m_spin->setValue(m_scale.valueAt(position));
            if (!m_slider->isSliderDown())
                settleSoon();
        });
        connect(m_slider, &QSlider::sliderReleased, this, [this] { commitNow(); });
        connect(m_spin, &QDoubleSpinBox::valueChanged, this, [this](double value) {
            const QSignalBlocker quiet(m_slider);
            m_slider->setValue(m_scale.positionOf(value));
            settleSoon();
        });
        connect(m_spin, &QDoubleSpinBox::editingFinished, this, [this] {
            if (auto* line = m_spin->findChild<QLineEdit*>())
                line->setModified(false);
            commitNow();
        });
    }

    void adopt() {
        m_spin->setFont(m_theme.font(TextRole::Figure));
        if (m_scale.hasSlider())
            m_spin->setFixedWidth(std::max(m_theme.scaled(74), neededWidth()));
    }

    /// Wide enough for the longest number of the range. The style's own hint ignores the padding of
    /// the line edit within the box.
    int neededWidth() const {
        const auto* line = m_spin->findChild<QLineEdit*>();
        m_spin->ensurePolished();
        line->ensurePolished();
        const QFontMetrics metrics(m_spin->font());
        const int padding = line->minimumSizeHint().width() - metrics.maxWidth();
        return m_spin->sizeHint().width() + std::max(0, padding);
    }

    const Theme& m_theme;
    SettingScale m_scale;
    QSlider* m_slider;
    QDoubleSpinBox* m_spin;
};

class FlagEditor : public SettingEditor {
public:
    FlagEditor(const SettingInfo& setting, QWidget* parent)
        : SettingEditor(parent)
        , m_box(new QCheckBox(this)) {
        m_box->setObjectName("flag");
        m_box->setAccessibleName(settingTitle(setting).whole());
        rowLayout(this)->addWidget(m_box, 1);
        connect(m_box, &QCheckBox::clicked, this, [this] { commitNow(); });
        connect(m_box, &QCheckBox::toggled, this, [this] { showState(); });
        showState();
    }

    SettingValue value() const override { return m_box->isChecked() ? 1.0 : 0.0; }

    void setValue(const SettingValue& value) override { m_box->setChecked(numberOf(value) != 0.0); }

    QWidget* mainControl() const override { return m_box; }

private:
    void showState() { m_box->setText(m_box->isChecked() ? tr("On") : tr("Off")); }

    QCheckBox* m_box;
};

class ChoiceEditor : public SettingEditor {
public:
    ChoiceEditor(const SettingInfo& setting, QWidget* parent)
        : SettingEditor(parent)
        , m_box(new QComboBox(this)) {
        m_box->setObjectName("choice");
        m_box->setAccessibleName(settingTitle(setting).whole());
        for (const std::string& choice : setting.choices)
            m_box->addItem(QString::fromStdString(choice));
        rowLayout(this)->addWidget(m_box, 1);
        connect(m_box, &QComboBox::activated, this, [this] { commitNow(); });
    }

    SettingValue value() const override { return m_box->currentText().toStdString(); }

    void setValue(const SettingValue& value) override {
        m_box->setCurrentIndex(m_box->findText(textOf(value)));
    }

    QWidget* mainControl() const override { return m_box; }

private:
    QComboBox* m_box;
};

class TextEditor : public SettingEditor {
public:
    TextEditor(const SettingInfo& setting, QWidget* parent)
        : SettingEditor(parent)
        , m_line(new QLineEdit(this)) {
        m_line->setObjectName("line");
        m_line->setAccessibleName(settingTitle(setting).whole());
        m_line->setPlaceholderText(tr("empty"));
        rowLayout(this)->addWidget(m_line, 1);
        connect(m_line, &QLineEdit::editingFinished, this, [this] {
            m_line->setModified(false);
            commitNow();
        });
    }

    SettingValue value() const override { return m_line->text().toStdString(); }

    void setValue(const SettingValue& value) override {
        if (m_line->text() != textOf(value))
            m_line->setText(textOf(value));
        m_line->setCursorPosition(0);
        m_line->setModified(false);
    }

    bool isBusy() const override { return m_line->hasFocus() && m_line->isModified(); }

    QWidget* mainControl() const override { return m_line; }

private:
    QLineEdit* m_line;
};

} // namespace

SettingEditor::SettingEditor(QWidget* parent)
    : QWidget(parent) {
    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettleMs);
    connect(&m_settle, &QTimer::timeout, this, &SettingEditor::committed);
}

void SettingEditor::commitNow() {
    m_settle.stop();
    emit committed();
}

SettingEditor* makeSettingEditor(const Theme& theme, const SettingInfo& setting, QWidget* parent) {
    switch (setting.kind) {
    case SettingKind::Number:
    case SettingKind::Integer:
        return new NumberEditor(theme, setting, parent);
    case SettingKind::Flag:
        return new FlagEditor(setting, parent);
    case SettingKind::Choice:
        return new ChoiceEditor(setting, parent);
    case SettingKind::Text:
        break;
    }
    return new TextEditor(setting, parent);
}

} // namespace ui
