// SPDX-License-Identifier: GPL-3.0-only
#include "app/exit_codes.h"
#include "app/number_check.h"
#include "app/program_paths.h"
#include "app/streams/standard_output.h"
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/loading/files/output_place.h"
#include "engine/session/engine_session.h"
#include "engine/session/known_backends.h"
#include "ui/bridge/links/recording_link.h"
#include "ui/bridge/links/session_link.h"
#include "ui/files/clean_path.h"
#include "ui/language/language.h"
#include "ui/studio/program/end_signals.h"
#include "ui/studio/program/screenshot_job.h"
#include "ui/studio/program/single_instance.h"
#include "ui/studio/studio.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QIcon>
#include <QLibrary>
#include <QLibraryInfo>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// The options as typed.
struct Arguments {
    std::string model;
    std::string replay;
    double replaySpeed = 1.0;
    std::string screenshot;
    bool mayOverwrite = false;
    std::string prompt = "Explain in two sentences why the sky is blue.";
    std::string lesson;
    std::vector<std::string> files;
    std::string ask;
    std::string backend;
    std::string decoder;
    std::string workspace = "chat";
    std::string theme;
    std::string language;
    std::string size;
    bool isPlanted = false;
};

/// Parses "1440x900"; none for any other text.
std::optional<QSize> sizeOf(const std::string& text) {
    constexpr int kLargest = 16384;
    int width = 0;
    int height = 0;
    int end = 0;
    const bool isRead = std::sscanf(text.c_str(), "%5dx%5d%n", &width, &height, &end) == 2;
    if (!isRead || end != static_cast<int>(text.size()) || width < 1 || height < 1 ||
        width > kLargest || height > kLargest)
        return std::nullopt;
    return QSize(width, height);
}

const std::vector<std::string> kWorkspaces = {"chat", "inspect", "experiments", "learn", "tune"};

/// The name of its widget.
QString workspaceOf(const Arguments& arguments) {
    return QString::fromStdString(arguments.workspace + "_workspace");
}

std::vector<std::string> backendNames() {
    std::vector<std::string> names;
    for (const engine::BackendInfo& backend : engine::knownBackends(app::moduleFolder()))
        names.push_back(backend.name);
    return names;
}

QString translationsFolder() {
    return QString::fromStdString((app::resourceFolder() / "translations").string());
}

QStringList languageNames() {
    return QStringList(QStringLiteral("system")) + ui::languagesIn(translationsFolder());
}

void addOptions(CLI::App& cli, Arguments& arguments) {
    cli.add_option("--model",
                   arguments.model,
                   "Model folder or GGUF file; default: the model used last, or the default model");
    auto* planted = cli.add_flag(
        "--planted",
        arguments.isPlanted,
        "Begin with the lesson model made from it: each layer runs twice, and one of the two is a "
        "near-silent copy, so it is known which layers a search should skip");
    cli.add_option("--backend",
                   arguments.backend,
                   "What runs the model that is loaded: " +
                       fmt::format("{}", fmt::join(backendNames(), ", ")) +
                       "; the first one is the default")
        ->check(CLI::IsMember(backendNames()));
    auto* replay = cli.add_option("--replay",
                                  arguments.replay,
                                  "Show a recorded run (*.swiftrun) in every view, without a model")
                       ->excludes(planted);
    cli.add_option("--replay-speed",
                   arguments.replaySpeed,
                   "Speed of the replay, as a multiple of the recorded speed")
        ->transform(app::numberFrom(0.1, 1000.0))
        ->capture_default_str();
    auto* screenshot =
        cli.add_option("--screenshot",
                       arguments.screenshot,
                       "Answer the prompt (or play the recording), stream the answer to standard "
                       "output, draw the window into this PNG file and exit; needs no display, and "
                       "leaves chats and settings alone");
    cli.add_flag("--overwrite",
                 arguments.mayOverwrite,
                 "Let --screenshot replace any file; without this option, only an earlier picture "
                 "of the window is replaced");
    cli.add_option("--prompt", arguments.prompt, "The prompt for --screenshot; \"\" sends none")
        ->capture_default_str();
    cli.add_option("--lesson", arguments.lesson, "Begin this lesson (a .json file beside its .md)")
        ->excludes(screenshot)
        ->excludes(replay);
    cli.add_option("FILE",
                   arguments.files,
                   "Open this: a recipe of an experiment (*.swiftexp), files or folders with "
                   "prompts, or a recorded run (*.swiftrun)")
        ->excludes(screenshot)
        ->excludes(replay);
    cli.add_option(
           "--ask", arguments.ask, "Send this message in a new chat once the model is ready")
        ->excludes(screenshot)
        ->excludes(replay);
    cli.add_option("--decoder",
                   arguments.decoder,
                   "Decoder of the first answers: vanilla, auto, swift, ...; default: the one used "
                   "last, or auto")
        ->excludes(replay);
    cli.add_option("--workspace", arguments.workspace, "Workspace that --screenshot shows")
        ->check(CLI::IsMember(kWorkspaces))
        ->capture_default_str();
    cli.add_option("--language",
                   arguments.language,
                   "Language of the window, kept for the next start: " +
                       languageNames().join(QStringLiteral(", ")).toStdString())
        ->check(CLI::Validator(
            [](const std::string& name) {
                const QStringList names = languageNames();
                return names.contains(QString::fromStdString(name))
                           ? std::string()
                           : name + " is none of " + names.join(QStringLiteral(", ")).toStdString();
            },
            "NAME"));
    cli.add_option("--theme", arguments.theme, "light, dark or system; kept for the next start")
        ->check(CLI::IsMember({"light", "dark", "system"}));
    cli.add_option(
           "--size", arguments.size, "Window size in pixels; default for --screenshot: 1440x900")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return sizeOf(text) ? std::string() : "not of the form 1440x900: " + text;
            },
            "WIDTHxHEIGHT"));
}

/// A recording that is opened as a file is replayed. Errors: files beside a recording, or options
/// that --replay excludes.
engine::Result<void> takeRecording(Arguments& arguments) {
    const auto isRecording = [](const std::string& file) { return file.ends_with(".swiftrun"); };
    if (std::none_of(arguments.files.begin(), arguments.files.end(), isRecording))
        return {};
    if (arguments.files.size() > 1 || !arguments.lesson.empty() || arguments.isPlanted ||
        !arguments.ask.empty() || !arguments.decoder.empty())
        return engine::Error{engine::ErrorCode::InvalidInput,
                             "A recorded run (*.swiftrun) is replayed in a window of its own.",
                             "Name it alone."};
    arguments.replay = arguments.files.front();
    arguments.files.clear();
    return {};
}

/// A model is known by its whole path, whatever folder the program was started in.
QString wholePath(const std::string& path) { return ui::cleanPath(QString::fromStdString(path)); }

QStringList pathsOf(const std::vector<std::string>& files) {
    QStringList paths;
    for (const std::string& file : files)
        paths << wholePath(file);
    return paths;
}

/// Whether the X server answers that DISPLAY names: it may be gone, or let in other users only.
bool answersX() {
    QLibrary xcb(QStringLiteral("xcb"), 1);
    const auto connect = reinterpret_cast<void* (*)(const char*, int*)>(xcb.resolve("xcb_connect"));
    const auto hasError = reinterpret_cast<int (*)(void*)>(xcb.resolve("xcb_connection_has_error"));
    const auto disconnect = reinterpret_cast<void (*)(void*)>(xcb.resolve("xcb_disconnect"));
    if (connect == nullptr || hasError == nullptr || disconnect == nullptr)
        return true; // Qt will tell
    void* const connection = connect(nullptr, nullptr);
    const bool answers = hasError(connection) == 0;
    disconnect(connection);
    return answers;
}

/// Qt would abort if a display is named for which this Qt has no plugin, or that does not answer.
bool hasDisplay() {
    if (!qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        return true;
    if (!qEnvironmentVariableIsEmpty("DISPLAY") && answersX())
        return true;
    const QDir plugins(QLibraryInfo::path(QLibraryInfo::PluginsPath) +
                       QStringLiteral("/platforms"));
    return !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") &&
           !plugins.entryList({QStringLiteral("libqwayland*.so")}).isEmpty();
}

std::string withoutFullStop(std::string sentence) {
    while (!sentence.empty() && (sentence.back() == '.' || sentence.back() == '\n'))
        sentence.pop_back();
    return sentence;
}

int fail(const engine::Error& error) {
    std::fprintf(
        stderr, "error: %s. %s\n", withoutFullStop(error.message).c_str(), error.hint.c_str());
    return app::exitCodeOf(error.code);
}

/// Qt's warnings (no runtime folder, no window manager) do not help the user, for whom standard
/// error is meant when there is no window.
void tellFaultsOnly(QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "%s\n", qPrintable(text));
}

/// Errors that would otherwise appear only after the answer: no place for the picture, no model.
engine::Result<void> checkPicture(const Arguments& arguments, const ui::StudioOptions& options) {
    if (arguments.replay.empty() && options.modelPath.isEmpty())
        return engine::Error{engine::ErrorCode::NotFound,
                             "There is no model to answer with: the default model was not fetched.",
                             "Run installer/run.sh, or name a model with --model."};
    return engine::checkOutput(
        {.path = arguments.screenshot,
         .inputs = {options.modelPath.toStdString(), arguments.replay},
         .isOwn = [](const std::filesystem::path& path) -> engine::Result<bool> {
             return ui::ScreenshotJob::isOwnPicture(QString::fromStdString(path.string()));
         },
         .mayOverwrite = arguments.mayOverwrite,
         .overwriteOption = "--overwrite"});
}

/// Whether swift-run has the module that trains; opening it would bring LibTorch into the window.
bool hasTrainer() {
    std::error_code ignored;
    return std::filesystem::exists(app::moduleFolder() / "libtrainer_torch.so", ignored);
}

/// A picture leaves chats and settings unchanged. A replay saves no chats, and another window may
/// have their file open.
ui::StudioOptions optionsOf(const Arguments& arguments, const QTemporaryDir& scratch) {
    const bool isPicture = !arguments.screenshot.empty();
    const QString data = isPicture || !arguments.replay.empty()
                             ? scratch.path()
                             : QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    const QString config =
        isPicture ? scratch.path()
                  : QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation);
    QDir().mkpath(data);
    QDir().mkpath(config);
    ui::StudioOptions options;
    options.chatsPath = data + QStringLiteral("/chats.sqlite");
    options.settingsPath = config + QStringLiteral("/swift-studio.ini");
    options.translationsFolder = translationsFolder();
    options.lessonPath = QString::fromStdString(arguments.lesson);
    options.lessonsFolder = QString::fromStdString((app::resourceFolder() / "lessons").string());
    options.presetsFolder = QString::fromStdString((app::resourceFolder() / "presets").string());
    options.ownPresetsFolder = config + QStringLiteral("/presets");
    options.experiments.program =
        QCoreApplication::applicationDirPath() + QStringLiteral("/swift-run");
    options.experiments.recipes =
        QString::fromStdString((app::resourceFolder() / "recipes").string());
    options.experiments.folder = data + QStringLiteral("/experiments");
    options.experiments.examples = QString::fromStdString(app::exampleFolder().string());
    options.tuning.program = options.experiments.program;
    options.tuning.folder = data + QStringLiteral("/tuning");
    options.tuning.hasTrainer = hasTrainer();
    options.tuning.models = data + QStringLiteral("/models");
    options.replayName = QFileInfo(QString::fromStdString(arguments.replay)).fileName();
    options.isModelAskedFor = !arguments.model.empty() || !arguments.screenshot.empty();
    options.backend = QString::fromStdString(arguments.backend);
    options.backends = engine::knownBackends(app::moduleFolder());
    options.files = pathsOf(arguments.files);
    options.firstMessage = QString::fromStdString(arguments.ask);
    options.decoder = QString::fromStdString(arguments.decoder);
    options.isPlanted = arguments.isPlanted;
    options.defaultModelPath = wholePath(app::defaultModelPath().string());
    std::error_code ignored;
    if (!arguments.model.empty())
        options.modelPath = wholePath(arguments.model);
    else if (std::filesystem::exists(app::defaultModelPath(), ignored))
        options.modelPath = options.defaultModelPath;
    return options;
}

ui::StartRequest requestOf(const Arguments& arguments) {
    return {arguments.model.empty() ? QString() : wholePath(arguments.model),
            QString::fromStdString(arguments.backend),
            QString::fromStdString(arguments.decoder),
            QString::fromStdString(arguments.ask),
            arguments.isPlanted,
            pathsOf(arguments.files)};
}

engine::Result<std::unique_ptr<ui::EngineLink>> makeLink(const Arguments& arguments) {
    if (arguments.replay.empty())
        return ui::makeSessionLink({.moduleFolder = app::moduleFolder(),
                                    .dataFolder = engine::defaultDataFolder(),
                                    .loader = engine::makeModelLoader(app::moduleFolder(),
                                                                      app::packedCacheOptions(),
                                                                      app::adapterFolder())});
    const double speed = arguments.screenshot.empty() ? arguments.replaySpeed : 0.0;
    ENGINE_TRY(auto link, ui::RecordingLink::open(arguments.replay, speed));
    return std::unique_ptr<ui::EngineLink>(std::move(link));
}

/// Without the texts of a language the window is English; the user is told why.
void applyLanguage(const QString& settingsPath, const Arguments& arguments) {
    QSettings settings(settingsPath, QSettings::IniFormat);
    if (!arguments.language.empty())
        ui::keepLanguage(settings, QString::fromStdString(arguments.language));
    const QString language = ui::languageOf(ui::keptLanguage(settings),
                                            ui::languagesIn(translationsFolder()),
                                            QLocale::system().uiLanguages());
    if (const auto used = ui::useLanguage(language, translationsFolder()); !used)
        fail(used.error());
}

void applyLooks(ui::Studio& studio, const Arguments& arguments) {
    if (arguments.theme == "dark")
        studio.window().setTheme(ui::ThemeChoice::Dark);
    else if (arguments.theme == "light")
        studio.window().setTheme(ui::ThemeChoice::Light);
    else if (arguments.theme == "system")
        studio.window().setTheme(ui::ThemeChoice::System);
    // The off-screen platform has a small screen; a picture must not depend on it.
    const std::string usual = arguments.screenshot.empty() ? "" : "1440x900";
    if (const auto size = sizeOf(arguments.size.empty() ? usual : arguments.size))
        studio.window().resize(*size);
    if (!arguments.screenshot.empty())
        studio.window().resetLayouts();
}

/// The exit code of a start whose requests the open window took over; none for the first.
std::optional<int> handedOver(ui::SingleInstance& instance, const ui::StartRequest& request) {
    switch (instance.begin(request)) {
    case ui::SingleInstance::Outcome::HandedOver:
        return app::kSuccess;
    case ui::SingleInstance::Outcome::NoAnswer:
        return fail({engine::ErrorCode::Io,
                     "SWIFT Studio is already open, but its window does not respond.",
                     "Close that window, or end its process, and start again."});
    case ui::SingleInstance::Outcome::First:
        break;
    }
    return std::nullopt;
}

int run(QApplication& application, const Arguments& arguments) {
    const bool isPicture = !arguments.screenshot.empty();
    const QTemporaryDir scratch;
    const ui::StudioOptions studioOptions = optionsOf(arguments, scratch);
    applyLanguage(studioOptions.settingsPath, arguments);
    ui::SingleInstance instance(studioOptions.settingsPath);
    // Pictures and replays save no chats, so they work beside the window.
    if (!isPicture && arguments.replay.empty())
        if (const auto ended = handedOver(instance, requestOf(arguments)))
            return *ended;
    auto link = makeLink(arguments);
    if (!link)
        return fail(link.error());
    if (isPicture)
        if (const auto checked = checkPicture(arguments, studioOptions); !checked)
            return fail(checked.error());
    ui::Studio studio(std::move(link).value(), studioOptions);
    applyLooks(studio, arguments);
    QObject::connect(&studio, &ui::Studio::replayAsked, [](const QString& path) {
        QProcess::startDetached(QCoreApplication::applicationFilePath(),
                                {QStringLiteral("--replay"), path});
    });
    QObject::connect(&instance, &ui::SingleInstance::asked, &studio, &ui::Studio::takeStart);
    std::optional<ui::EndSignals> endSignals;
    if (!isPicture) // an incomplete run is not a success
        QObject::connect(
            &endSignals.emplace(), &ui::EndSignals::endAsked, &studio, &ui::Studio::closeNow);
    std::unique_ptr<ui::ScreenshotJob> job;
    if (isPicture) {
        job = std::make_unique<ui::ScreenshotJob>(
            studio,
            ui::ScreenshotJob::Request{QString::fromStdString(arguments.screenshot),
                                       QString::fromStdString(arguments.prompt),
                                       !arguments.replay.empty(),
                                       workspaceOf(arguments),
                                       app::StandardOutput::write});
        app::StandardOutput::onLoss([] { QCoreApplication::exit(app::kIo); });
        QObject::connect(job.get(), &ui::ScreenshotJob::finished, &application, [] {
            QCoreApplication::exit(app::kSuccess);
        });
        QObject::connect(job.get(),
                         &ui::ScreenshotJob::failed,
                         &application,
                         [](const engine::Error& error) { QCoreApplication::exit(fail(error)); });
        studio.window().showWorkspace(workspaceOf(arguments));
    }
    studio.window().show();
    studio.start();
    const int exitCode = application.exec();
    app::StandardOutput::onLoss(nullptr);
    return exitCode;
}

/// The exit code; lost output is an error, too.
int finish(int exitCode) {
    const auto written = app::StandardOutput::finish();
    return written ? exitCode : fail(written.error());
}

} // namespace

int main(int argc, char** argv) {
    app::holdStandardStreams();
    // As in swift-run: LibTorch's threads must not spin for long beside other work.
    setenv("GOMP_SPINCOUNT", "20000", 0);
    CLI::App options("SWIFT Studio: chat with a language model on this computer, watch how its "
                     "answers are decoded, and speed them up by self-speculation.",
                     "swift-studio");
    Arguments arguments;
    addOptions(options, arguments);
    options.set_version_flag("--version", "swift-studio " SWIFT_STUDIO_VERSION);
    try {
        options.parse(argc, argv);
    } catch (const CLI::Success& request) { // --help, --version
        std::ostringstream text;
        options.exit(request, text, text);
        app::StandardOutput::write(text.str());
        return finish(app::kSuccess);
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr,
                     "error: %s. swift-studio --help lists the options.\n",
                     withoutFullStop(error.what()).c_str());
        return app::kUsage;
    }
    if (const auto taken = takeRecording(arguments); !taken)
        return fail(taken.error());
    if (!hasDisplay()) {
        if (arguments.screenshot.empty()) {
            std::fputs("error: there is no display that answers. With --screenshot FILE the window "
                       "is drawn into a file instead.\n",
                       stderr);
            return app::kUsage;
        }
        setenv("QT_QPA_PLATFORM", "offscreen", 1);
    }
    if (!arguments.screenshot.empty())
        qInstallMessageHandler(tellFaultsOnly);
    QApplication::setHighDpiScaleFactorRoundingPolicy(
        Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("swift-studio"));
    QApplication::setApplicationDisplayName(QStringLiteral("SWIFT Studio"));
    QApplication::setApplicationVersion(QStringLiteral(SWIFT_STUDIO_VERSION));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/app_icon/swift-studio.svg")));
    return finish(run(application, arguments));
}
