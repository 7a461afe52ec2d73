// Lays out the columns that deciding kernels write answers to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/cuda/device_memory.hpp"
#include "kernels/cuda/decide_blocks.hpp"

namespace espalier {

// Returns columns of so many rows, each with room for the fits of so many layers of slices.
inline AnswerColumns LayOutColumns(std::size_t rows, std::int32_t layers, Packer& packer) {
  AnswerColumns columns;
  columns.status = packer.Leave<PlacementStatus>(rows);
  columns.level = packer.Leave<std::int8_t>(rows);
  columns.share_count = packer.Leave<std::int32_t>(rows);
  columns.share_end = packer.Leave<std::uint32_t>(rows);
  columns.fit = packer.Leave<Count>(rows);
  columns.total = packer.Leave<Count>(rows);
  columns.layers = layers;
  columns.layer_fits = packer.Leave<Count>(rows * static_cast<std::size_t>(layers));
  return columns;
}

}  // namespace espalier
