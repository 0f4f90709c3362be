// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/load_options.h"

#include "ui/language/engine_words.h"
#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>

#include <algorithm>
#include <utility>
#include <variant>

namespace ui {

using namespace engine;

namespace {

constexpr int kLongestContext = 1 << 20;
constexpr int kContextStep = 512;

QSpinBox* makeSpin(int maximum, int step, QWidget* parent) {
    auto* spin = new QSpinBox(parent);
    spin->setRange(0, maximum);
    spin->setSingleStep(step);
    spin->setSpecialValueText(QObject::tr("Automatic"));
    spin->setKeyboardTracking(false);
    return spin;
}

/// Where `box` has the data `word`, else its first entry.
void choose(QComboBox& box, const QString& word) {
    box.setCurrentIndex(std::max(0, box.findData(word)));
}

/// Offers the choices of a setting and keeps what is chosen, where it is still offered.
void offer(QComboBox& box, const SettingInfo& setting) {
    const QSignalBlocker quiet(&box);
    const QString before = box.currentData().toString();
    box.clear();
    for (std::size_t i = 0; i < setting.choices.size(); ++i)
        box.addItem(setting.choiceTitles.empty() ? QString::fromStdString(setting.choices[i])
                                                 : engineText(setting.choiceTitles[i]),
                    QString::fromStdString(setting.choices[i]));
    choose(box, before);
}

} // namespace

LoadOptions::LoadOptions(std::vector<BackendInfo> backends, QWidget* parent)
    : QWidget(parent)
    , m_backends(std::move(backends))
    , m_backend(new QComboBox(this))
    , m_context(makeSpin(kLongestContext, kContextStep, this)) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    addBackends();
    addRow(*grid, tr("Backend"), m_backend);
    for (const BackendInfo& backend : m_backends)
        for (const SettingInfo& setting : backend.settings) {
            const bool isThere =
                std::any_of(m_fields.begin(), m_fields.end(), [&](const Field& field) {
                    return field.setting == setting.name;
                });
            if (isThere)
                continue;
            const Field& field = m_fields.emplace_back(makeField(setting));
            QWidget* widget = field.box != nullptr ? static_cast<QWidget*>(field.box) : field.spin;
            widget->setToolTip(engineText(setting.meaning));
            addRow(*grid, engineText(setting.title), widget);
        }
    addRow(*grid, tr("Context, tokens"), m_context);
    connect(m_backend, &QComboBox::currentIndexChanged, this, &LoadOptions::showChosen);
    connect(m_backend, &QComboBox::activated, this, &LoadOptions::changed);
    connect(m_context, &QSpinBox::valueChanged, this, &LoadOptions::changed);
    showChosen();
}

void LoadOptions::addBackends() {
    m_backend->addItem(tr("Automatic"), QString());
    for (const BackendInfo& backend : m_backends) {
        const QString name = QString::fromStdString(backend.name);
        m_backend->addItem(name, name);
        const auto devices = backend.devices();
        auto* item =
            qobject_cast<QStandardItemModel*>(m_backend->model())->item(m_backend->count() - 1);
        item->setEnabled(devices.hasValue());
        item->setToolTip(devices ? engineText(backend.summary) : tipOf(errorText(devices.error())));
    }
}

void LoadOptions::addRow(QGridLayout& grid, const QString& name, QWidget* field) {
    auto* label = new QLabel(name, this);
    label->setProperty("tone", "small");
    label->setBuddy(field);
    field->setAccessibleName(name);
    field->setFocusPolicy(Qt::StrongFocus);
    field->setProperty("form", "small");
    const int row = grid.rowCount();
    grid.addWidget(label, row, 0);
    grid.addWidget(field, row, 1);
}

LoadOptions::Field LoadOptions::makeField(const SettingInfo& setting) {
    Field field{.setting = setting.name};
    if (setting.kind == SettingKind::Integer) {
        field.spin = makeSpin(static_cast<int>(setting.maximum), 1, this);
        connect(field.spin, &QSpinBox::valueChanged, this, &LoadOptions::changed);
    } else {
        field.box = new QComboBox(this);
        offer(*field.box, setting);
        connect(field.box, &QComboBox::activated, this, &LoadOptions::changed);
    }
    return field;
}

const BackendInfo* LoadOptions::chosen() const {
    const std::string name = chosenBackend(m_backend->currentData().toString().toStdString());
    const auto found = std::find_if(m_backends.begin(), m_backends.end(), [&](const auto& backend) {
        return backend.name == name;
    });
    return found == m_backends.end() ? nullptr : &*found;
}

void LoadOptions::showChosen() {
    const BackendInfo* backend = chosen();
    for (const Field& field : m_fields) {
        const SettingInfo* setting = backend != nullptr ? backend->find(field.setting) : nullptr;
        if (field.spin != nullptr) {
            field.spin->setEnabled(setting != nullptr);
            continue;
        }
        if (setting != nullptr)
            offer(*field.box, *setting);
        field.box->setEnabled(setting != nullptr && setting->choices.size() > 1);
    }
}

LoadModel LoadOptions::command(const QString& path) const {
    LoadModel command{.path = path.toStdString(),
                      .backend = m_backend->currentData().toString().toStdString(),
                      .contextLength = m_context->value()};
    for (const Field& field : m_fields) {
        if (field.spin != nullptr && field.spin->isEnabled() && field.spin->value() > 0)
            command.settings.emplace(field.setting, static_cast<double>(field.spin->value()));
        else if (field.box != nullptr && field.box->isEnabled() && field.box->currentIndex() > 0)
            command.settings.emplace(field.setting,
                                     field.box->currentData().toString().toStdString());
    }
    return command;
}

void LoadOptions::setLoad(const LoadModel& load) {
    const QSignalBlocker quiet(this);
    choose(*m_backend, QString::fromStdString(load.backend));
    m_context->setValue(load.contextLength);
    for (const Field& field : m_fields) {
        const auto found = load.settings.find(field.setting);
        const SettingValue value = found == load.settings.end() ? SettingValue() : found->second;
        if (field.spin != nullptr)
            field.spin->setValue(std::holds_alternative<double>(value)
                                     ? static_cast<int>(std::get<double>(value))
                                     : 0);
        else
            choose(*field.box,
                   std::holds_alternative<std::string>(value)
                       ? QString::fromStdString(std::get<std::string>(value))
                       : QString());
    }
}

} // namespace ui
