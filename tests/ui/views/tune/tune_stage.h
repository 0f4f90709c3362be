// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/view_stage.h"
#include "tests/ui/tuning/scripted_tuning.h"
#include "ui/plots/line_plot.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/tune/curves/tune_curve_view.h"
#include "ui/views/tune/recipe/tune_recipe_panel.h"
#include "ui/views/tune/tune_desk.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTest>

#include <algorithm>
#include <memory>
#include <string>

namespace support {

/// The workspace Tune with a script in place of swift-run, for a test class to inherit.
class TuneStage {
protected:
    using Action = ui::TunePage::Action;
    using Script = ScriptedTuning;

    struct Desk {
        Script script;
        ViewStage stage;
        QSettings settings{script.path(QStringLiteral("studio.ini")), QSettings::IniFormat};
        ui::MessageBar messages{stage.theme};
        ui::ViewMenu menu{stage.theme, messages, nullptr};
        std::unique_ptr<QWidget> window;
        std::unique_ptr<ui::TuneDesk> desk;

        void open(const ui::TuningPlaces& places) {
            close();
            desk =
                std::make_unique<ui::TuneDesk>(stage.context(), menu, messages, settings, places);
            window = std::make_unique<QWidget>();
            auto* row = new QHBoxLayout(window.get());
            row->addWidget(&desk->recipe());
            row->addWidget(&desk->page(), 1);
            window->resize(1440, 860);
            window->show();
        }

        /// The window before what it shows, as the program does.
        void close() {
            window.reset();
            desk.reset();
        }

        ~Desk() { close(); }
    };

    std::unique_ptr<Desk> m_desk;

    ui::TuneDesk& desk() { return *m_desk->desk; }

    ui::TunePage& page() { return desk().page(); }

    ui::TuneRecipePanel& recipe() { return desk().recipe(); }

    Script& script() { return m_desk->script; }

    ui::TuningState state() { return desk().session().state(); }

    /// And all that is known of it.
    void loadModel(const std::string& name = "Tiny") {
        engine::ModelLoaded loaded = loadedModel(30, 1000);
        loaded.path = "/models/" + name;
        loaded.model.name = name;
        loaded.model.hiddenSize = 576;
        desk().useModel(loaded);
        QTRY_VERIFY(!desk().session().isReading());
    }

    void addPrompts() { desk().addPrompts({script().path(QStringLiteral("prompts.jsonl"))}); }

    void start() {
        loadModel();
        addPrompts();
        QTest::mouseClick(&recipe().startButton(), Qt::LeftButton);
    }

    void click(Action action) { QTest::mouseClick(&page().button(action), Qt::LeftButton); }

    bool isShown(Action action) { return page().button(action).isVisible(); }

    static bool says(QWidget& within, const QString& words) {
        const auto says = [&](const auto* label) {
            return label->isVisible() && label->text().contains(words);
        };
        return std::ranges::any_of(within.findChildren<QLabel*>(), says) ||
               std::ranges::any_of(within.findChildren<ui::LiveLabel*>(), says);
    }

    ui::TuneView& view(const char* id) {
        for (ui::TuneView* one : page().views())
            if (one->info().id == QLatin1String(id))
                return *one;
        qFatal("no such view");
    }

    ui::LinePlot& plot(const char* id) { return static_cast<ui::TuneCurveView&>(view(id)).plot(); }

    static QByteArrayList someSteps() {
        return {Script::started(),
                Script::collected(1'200'000),
                Script::stepped(100, 5.0),
                Script::evaluated(100, 0.4),
                Script::stepped(200, 4.0),
                Script::evaluated(200, 0.62)};
    }

    /// Four prompts of `of`, on which the layer is a gain.
    static QByteArrayList gains(int of) {
        QByteArrayList lines;
        for (int i = 1; i <= 4; ++i)
            lines += Script::compared(i, 200, 100, 160, of);
        return lines;
    }

    void finish() {
        script().say(QByteArrayList{Script::prices()} + someSteps() +
                     QByteArrayList{Script::done(QStringLiteral("/result"))});
        script().endBy("done");
        start();
        QTRY_VERIFY(state() == ui::TuningState::Finished);
    }
};

} // namespace support
