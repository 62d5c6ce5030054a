"""Fails unless torch imports and computes in float64 what its definition says."""

import math
import sys

import torch

torch.manual_seed(1)
a, b = torch.randn(5, 7, dtype=torch.float64), torch.randn(7, 3, dtype=torch.float64)
product = [[sum(a[i, k].item() * b[k, j].item() for k in range(7)) for j in range(3)] for i in range(5)]
row = [math.exp(v) for v in a[0].tolist()]
checks = {
    "matmul": (a @ b)[2][1].item() - product[2][1],
    "softmax": torch.softmax(a, 1)[0][3].item() - row[3] / sum(row),
    "gelu": torch.nn.functional.gelu(a)[1][2].item()
    - 0.5 * a[1][2].item() * (1 + math.erf(a[1][2].item() / math.sqrt(2))),
}
wrong = {name: error for name, error in checks.items() if not abs(error) < 1e-13}
if wrong or torch.cuda.is_available() and "--no-gpu" in sys.argv:
    sys.exit(f"torch computes wrongly: {wrong}")
