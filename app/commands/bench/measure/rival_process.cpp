// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/measure/rival_process.h"

#include "app/commands/options/text_options.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <poll.h>
#include <spawn.h>
#include <system_error>

namespace app {

using namespace engine;

namespace {

constexpr int kPollMs = 100;

/// Starts the program with `channel` as its standard input and output; 0 when that fails.
pid_t spawnChild(const RivalLaunch& launch, int channel) {
    std::vector<std::string> words;
    for (const auto& part : launch.command)
        words.push_back(part.string());
    words.push_back(launch.model.string());
    words.push_back(std::to_string(launch.threads));
    words.push_back(std::to_string(launch.contextLength));
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, channel, STDOUT_FILENO);
    pid_t process = 0;
    const int failure =
        posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure == 0 ? process : 0;
}

} // namespace

RivalProcess::RivalProcess(const RivalLaunch& launch, pid_t process, int channel)
    : m_name(launch.name)
    , m_hint(launch.hint)
    , m_process(process)
    , m_channel(channel)
    , m_stop(launch.stop) {}

RivalProcess::~RivalProcess() {
    close(m_channel);
    // It has nothing to save, and may be in the middle of a long pass.
    kill(m_process, SIGKILL);
    waitpid(m_process, nullptr, 0);
}

Error RivalProcess::childError(const std::string& message) const {
    return {ErrorCode::Io, fmt::format("The {} process failed: {}.", m_name, message), m_hint};
}

Result<void> RivalProcess::checkParts(const RivalLaunch& launch) {
    for (const std::filesystem::path& part : launch.command) {
        std::error_code ignored;
        if (!std::filesystem::exists(part, ignored))
            return Error{
                ErrorCode::NotFound,
                fmt::format("What drives {} was not found at {}.", launch.name, part.string()),
                launch.hint};
    }
    return {};
}

Result<std::unique_ptr<RivalProcess>> RivalProcess::start(const RivalLaunch& launch) {
    ENGINE_TRY_DO(checkParts(launch));
    std::array<int, 2> ends = {-1, -1}; // ours, the child's; a socket reports a dead reader as an
                                        // error, not a signal
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return Error{ErrorCode::Io,
                     fmt::format("No pipe to {} could be created.", launch.name),
                     "Close other programs and try again."};
    const pid_t process = spawnChild(launch, ends[1]);
    close(ends[1]);
    if (process == 0) {
        close(ends[0]);
        return Error{ErrorCode::NotFound,
                     fmt::format("{} cannot be started.", launch.command.front().string()),
                     launch.hint};
    }
    std::unique_ptr<RivalProcess> rival(new RivalProcess(launch, process, ends[0]));
    ENGINE_TRY_DO(rival->awaitReady());
    return rival;
}

Result<void> RivalProcess::awaitReady() {
    ENGINE_TRY(const std::string line, readLine());
    const auto first = nlohmann::json::parse(line, nullptr, false);
    if (first.is_object() && first.value("ready", false)) {
        m_version = first.value("version", "unknown");
        return {};
    }
    const std::string said = first.is_object()
                                 ? first.value("error", std::string("it is not ready"))
                                 : "its output is not JSON";
    if (first.is_object() && first.value("missing", false))
        return Error{
            ErrorCode::NotFound, fmt::format("{} cannot be run: {}.", m_name, said), m_hint};
    return childError(said);
}

Result<RivalAnswer> RivalProcess::decode(std::span<const TokenId> prompt,
                                         std::span<const TokenId> endIds,
                                         int maxTokens) {
    ENGINE_TRY_DO(ask(fmt::format("prompt {}", fmt::join(prompt, ","))));
    ENGINE_TRY_DO(ask(fmt::format("ends {}", fmt::join(endIds, ","))));
    ENGINE_TRY(const auto said, ask(fmt::format("decode {}", maxTokens)));
    try {
        return RivalAnswer{said.at("tokens").get<std::vector<TokenId>>(),
                           said.at("prompt_ms").get<double>(),
                           said.at("decode_ms").get<double>()};
    } catch (const nlohmann::json::exception&) {
        return childError("its answer lacks tokens or times");
    }
}

Result<double> RivalProcess::prefillMs(std::span<const TokenId> prompt) {
    ENGINE_TRY_DO(ask(fmt::format("prompt {}", fmt::join(prompt, ","))));
    ENGINE_TRY(const auto said, ask("prefill"));
    if (!said.contains("ms") || !said["ms"].is_number())
        return childError("its answer lacks a time");
    return said["ms"].get<double>();
}

Result<nlohmann::json> RivalProcess::ask(const std::string& command) {
    const std::string line = command + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t count = send(m_channel, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (count <= 0)
            return childError("it has ended");
        sent += static_cast<std::size_t>(count);
    }
    return readAnswer();
}

Result<nlohmann::json> RivalProcess::readAnswer() {
    ENGINE_TRY(const std::string line, readLine());
    auto said = nlohmann::json::parse(line, nullptr, false);
    if (!said.is_object())
        return childError("its output is not JSON");
    if (said.contains("error"))
        return childError(said["error"].is_string() ? said["error"].get<std::string>()
                                                    : std::string("it gave no reason"));
    return said;
}

Result<std::string> RivalProcess::readLine() {
    while (true) {
        if (const std::size_t end = m_received.find('\n'); end != std::string::npos) {
            std::string line = m_received.substr(0, end);
            m_received.erase(0, end + 1);
            return line;
        }
        pollfd waiting = {m_channel, POLLIN, 0};
        const int ready = poll(&waiting, 1, kPollMs);
        if (m_stop.stop_requested())
            return cancelledError();
        if (ready <= 0)
            continue;
        std::array<char, 4096> bytes{};
        const ssize_t count = read(m_channel, bytes.data(), bytes.size());
        if (count <= 0)
            return childError("it has ended");
        m_received.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

} // namespace app
