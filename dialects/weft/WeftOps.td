//===- WeftOps.td - All operators, by family ----------------------------------------------------===//
#ifndef WEFT_OPS_TD
#define WEFT_OPS_TD

include "dialects/weft/WeftDialect.td"
include "dialects/weft/Aliases.td"
include "dialects/weft/Mesh.td"
include "dialects/weft/ops/Elementwise.td"
include "dialects/weft/ops/Activation.td"
include "dialects/weft/ops/Create.td"
include "dialects/weft/ops/Move.td"
include "dialects/weft/ops/Contraction.td"
include "dialects/weft/ops/Reduction.td"
include "dialects/weft/ops/Normalize.td"
include "dialects/weft/ops/Index.td"
include "dialects/weft/ops/Blocks.td"
include "dialects/weft/ops/Window.td"
include "dialects/weft/ops/Order.td"
include "dialects/weft/ops/Resize.td"
include "dialects/weft/ops/Scatter.td"
include "dialects/weft/ops/Kernel.td"
include "dialects/weft/ops/Control.td"

#endif
