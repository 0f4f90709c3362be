// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"

#include <nlohmann/json_fwd.hpp>

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// Another program's answer to a prompt.
struct RivalAnswer {
    std::vector<engine::TokenId> tokens;
    double promptMs = 0.0; ///< all but the prompt's last token
    double decodeMs = 0.0; ///< everything after that
};

/// How to start the child process.
struct RivalLaunch {
    std::string name; ///< for messages, as "llama.cpp"
    std::string hint; ///< what to do where a part is missing
    /// The program, and files that it is given first. tests/benchmarks/llama_cpp_bench.py describes
    /// the protocol and the arguments that follow.
    std::vector<std::filesystem::path> command;
    std::filesystem::path model;
    int threads = 1;
    int contextLength = 0;
    std::stop_token stop = {}; ///< polled while waiting for an answer
};

/// Another program in a process of its own, driven through pipes with one line per command. The
/// process ends with this object. Thread: one.
class RivalProcess {
public:
    /// Waits until the model is loaded. Errors: NotFound when a part of the command, or what that
    /// needs, is missing (with the hint); Cancelled; Io when the child ends.
    static engine::Result<std::unique_ptr<RivalProcess>> start(const RivalLaunch& launch);

    /// Whether all parts of the command are there. Errors: NotFound (with the hint).
    static engine::Result<void> checkParts(const RivalLaunch& launch);

    ~RivalProcess();
    RivalProcess(const RivalProcess&) = delete;
    RivalProcess& operator=(const RivalProcess&) = delete;

    const std::string& version() const { return m_version; }

    /// At most `maxTokens` tokens, always the most probable one. Errors: Cancelled; Io.
    engine::Result<RivalAnswer> decode(std::span<const engine::TokenId> prompt,
                                       std::span<const engine::TokenId> endIds,
                                       int maxTokens);

    /// Milliseconds of reading the whole prompt. Errors: Cancelled; Io.
    engine::Result<double> prefillMs(std::span<const engine::TokenId> prompt);

private:
    RivalProcess(const RivalLaunch& launch, pid_t process, int channel);

    engine::Result<void> awaitReady();
    engine::Result<nlohmann::json> ask(const std::string& command);
    engine::Result<nlohmann::json> readAnswer();
    engine::Result<std::string> readLine();
    engine::Error childError(const std::string& message) const;

    std::string m_name;
    std::string m_hint;
    pid_t m_process;
    int m_channel; // both ends of the connection
    std::stop_token m_stop;
    std::string m_received; // beyond the last line
    std::string m_version;
};

} // namespace app
