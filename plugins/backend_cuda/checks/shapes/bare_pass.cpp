// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/checks/shapes/bare_pass.h"

#include "engine/base/to_size.h"

namespace backend_cuda {

using namespace engine;

Result<BarePass> BarePass::make(std::shared_ptr<Device> device, int strips) {
    BarePass made(std::move(device));
    const std::size_t count = toSize(strips) + 2;
    ENGINE_TRY(made.m_counters, made.reserve<unsigned>(count));
    ENGINE_TRY_DO(made.m_device->fillWithZeros(reinterpret_cast<std::byte*>(made.m_counters),
                                               count * sizeof(unsigned)));
    return made;
}

Result<void>
BarePass::run(Kernel kernel, const std::vector<Operation>& operations, PassArguments arguments) {
    ENGINE_TRY(const Operation* const list, upload(operations));
    const int blocks = m_device->facts().multiprocessors;
    arguments.operations = list;
    arguments.first = 0;
    arguments.end = static_cast<int>(operations.size());
    arguments.barrier = m_counters;
    arguments.barrierStart = m_barriersPassed;
    arguments.flag = m_counters + 1;
    arguments.arrivals = m_counters + 2;
    ENGINE_TRY_DO(m_device->launch(kernel, blocks, arguments));
    m_barriersPassed += static_cast<unsigned>(blocks * arguments.end);
    std::byte none;
    return m_device->download({&none, 1}, reinterpret_cast<const std::byte*>(list));
}

} // namespace backend_cuda
