// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/network/row_math.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>

namespace trainer_torch {

at::Tensor product(const at::Tensor& in, const at::Tensor& weight) {
    if (in.scalar_type() == weight.scalar_type())
        return at::linear(in, weight);
    return at::linear(in.to(weight.scalar_type()), weight).to(in.scalar_type());
}

void addTo(at::Tensor& sum, const at::Tensor& part) { sum = sum.defined() ? sum + part : part; }

at::Tensor normalise(const at::Tensor& in, const at::Tensor& weight, double epsilon) {
    return in * in.mul(in).mean(in.dim() - 1, true).add(epsilon).rsqrt() * weight;
}

at::Tensor rotate(const at::Tensor& heads, const Angles& angles) {
    const std::int64_t half = heads.size(2) / 2;
    const at::Tensor first = heads.narrow(2, 0, half);
    const at::Tensor second = heads.narrow(2, half, half);
    return at::cat({first * angles.cosines - second * angles.sines,
                    second * angles.cosines + first * angles.sines},
                   2);
}

} // namespace trainer_torch
