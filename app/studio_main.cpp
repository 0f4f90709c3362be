// SPDX-License-Identifier: GPL-3.0-only
#include "app/program_paths.h"
#include "engine/decoding/skip_set_memory.h"
#include "engine/session/engine_session.h"
#include "ui/bridge/recording_link.h"
#include "ui/bridge/session_link.h"
#include "ui/studio/screenshot_job.h"
#include "ui/studio/studio.h"

#include <QApplication>
#include <QDir>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <memory>
#include <string>

namespace {

/// What was typed.
struct Arguments {
    std::string model;
    std::string replay;
    double replaySpeed = 1.0;
    std::string screenshot;
    std::string prompt = "Explain in two sentences why the sky is blue.";
    std::string workspace = "chat";
    std::string theme;
    std::string size;
};

void addOptions(CLI::App& app, Arguments& arguments) {
    app.add_option(
        "--model", arguments.model, "Model folder or GGUF file; without it, the default model");
    app.add_option("--replay",
                   arguments.replay,
                   "Show a recorded run (*.swiftrun) in every view, without a model");
    app.add_option("--replay-speed", arguments.replaySpeed, "Times as fast as it was recorded")
        ->check(CLI::Range(0.1, 1000.0))
        ->capture_default_str();
    app.add_option("--screenshot",
                   arguments.screenshot,
                   "Answer the prompt (or play the recording), stream the answer to standard "
                   "output, draw the window into this PNG file and exit; needs no display");
    app.add_option("--prompt", arguments.prompt, "What --screenshot asks; \"\" asks nothing")
        ->capture_default_str();
    app.add_option("--workspace", arguments.workspace, "Workspace shown by --screenshot")
        ->check(CLI::IsMember({"chat", "inspect"}))
        ->capture_default_str();
    app.add_option("--theme", arguments.theme, "light, dark or system, kept for the next start")
        ->check(CLI::IsMember({"light", "dark", "system"}));
    app.add_option("--size", arguments.size, "Window size in pixels, for example 1440x900");
}

bool hasDisplay() {
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
            return true;
    return false;
}

int fail(const engine::Error& error) {
    std::fprintf(stderr, "error: %s %s\n", error.message.c_str(), error.hint.c_str());
    return 1;
}

/// A picture is nobody's work: it leaves chats and settings as they are.
ui::StudioOptions studioOptions(const Arguments& arguments, const QTemporaryDir* scratch) {
    const QString data = scratch != nullptr
                             ? scratch->path()
                             : QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    const QString config =
        scratch != nullptr ? scratch->path()
                           : QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation);
    QDir().mkpath(data);
    QDir().mkpath(config);
    ui::StudioOptions options;
    options.chatsPath = data + QStringLiteral("/chats.sqlite");
    options.settingsPath = config + QStringLiteral("/swift-studio.ini");
    options.presetsFolder = QString::fromStdString((app::resourceFolder() / "presets").string());
    options.ownPresetsFolder = config + QStringLiteral("/presets");
    options.replayName = QFileInfo(QString::fromStdString(arguments.replay)).fileName();
    options.isModelAskedFor = !arguments.model.empty() || !arguments.screenshot.empty();
    std::error_code ignored;
    if (!arguments.model.empty())
        options.modelPath = QString::fromStdString(arguments.model);
    else if (std::filesystem::exists(app::defaultModelPath(), ignored))
        options.modelPath = QString::fromStdString(app::defaultModelPath().string());
    return options;
}

engine::Result<std::unique_ptr<ui::EngineLink>> makeLink(const Arguments& arguments) {
    if (arguments.replay.empty())
        return ui::makeSessionLink(
            {.moduleFolder = app::moduleFolder(), .dataFolder = engine::defaultDataFolder()});
    const double speed = arguments.screenshot.empty() ? arguments.replaySpeed : 0.0;
    ENGINE_TRY(auto link, ui::RecordingLink::open(arguments.replay, speed));
    return std::unique_ptr<ui::EngineLink>(std::move(link));
}

void applyLooks(ui::Studio& studio, const Arguments& arguments) {
    if (arguments.theme == "dark")
        studio.window().setTheme(ui::ThemeChoice::Dark);
    else if (arguments.theme == "light")
        studio.window().setTheme(ui::ThemeChoice::Light);
    else if (arguments.theme == "system")
        studio.window().setTheme(ui::ThemeChoice::System);
    int width = 0;
    int height = 0;
    if (std::sscanf(arguments.size.c_str(), "%dx%d", &width, &height) == 2 && width > 0 &&
        height > 0)
        studio.window().resize(width, height);
}

int run(QApplication& application, const Arguments& arguments) {
    const bool isPicture = !arguments.screenshot.empty();
    auto link = makeLink(arguments);
    if (!link)
        return fail(link.error());
    const auto scratch = isPicture ? std::make_unique<QTemporaryDir>() : nullptr;
    ui::Studio studio(std::move(link).value(), studioOptions(arguments, scratch.get()));
    studio.theme().applyTo(application);
    applyLooks(studio, arguments);
    QObject::connect(&studio, &ui::Studio::replayAsked, [](const QString& path) {
        QProcess::startDetached(QCoreApplication::applicationFilePath(),
                                {QStringLiteral("--replay"), path});
    });
    std::unique_ptr<ui::ScreenshotJob> job;
    if (isPicture) {
        job = std::make_unique<ui::ScreenshotJob>(
            studio,
            ui::ScreenshotJob::Request{QString::fromStdString(arguments.screenshot),
                                       QString::fromStdString(arguments.prompt),
                                       !arguments.replay.empty(),
                                       arguments.workspace == "inspect" ? 1 : 0,
                                       stdout});
        QObject::connect(
            job.get(), &ui::ScreenshotJob::finished, &application, &QCoreApplication::exit);
        studio.window().showWorkspace(arguments.workspace == "inspect" ? 1 : 0);
    }
    studio.window().show();
    studio.start();
    return application.exec();
}

} // namespace

int main(int argc, char** argv) {
    CLI::App options("SWIFT Studio: chat with a language model on this computer, sped up by "
                     "self-speculation, and watch how it works.",
                     "swift-studio");
    Arguments arguments;
    addOptions(options, arguments);
    options.set_version_flag("--version", SWIFT_STUDIO_VERSION);
    CLI11_PARSE(options, argc, argv);
    if (!hasDisplay()) {
        if (arguments.screenshot.empty()) {
            std::fputs(
                "error: there is no display. With --screenshot FILE the window is drawn into "
                "a file instead.\n",
                stderr);
            return 1;
        }
        setenv("QT_QPA_PLATFORM", "offscreen", 1);
    }
    QApplication::setHighDpiScaleFactorRoundingPolicy(
        Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("swift-studio"));
    QApplication::setApplicationDisplayName(QStringLiteral("SWIFT Studio"));
    QApplication::setApplicationVersion(QStringLiteral(SWIFT_STUDIO_VERSION));
    return run(application, arguments);
}
