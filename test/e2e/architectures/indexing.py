"""Networks that address by data: graphs, detection heads, selections."""

import torch
from torch import nn
from torch.nn import functional as F

from registry import architecture, floats, integers, mask, sizes

GRAPH = {"nodes": floats("nodes", 8), "edges": integers("nodes", 2, "edges")}
GRAPH_SIZES = sizes("nodes edges", (7, 12), (1, 1), (20, 55), (4, 0))


class GraphConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(16, 12), nn.Linear(20, 8)

    def forward(self, nodes, edges):
        source, target = edges[0], edges[1]
        message = F.relu(self.message(torch.cat([nodes[source], nodes[target]], -1)))
        total = torch.zeros(nodes.shape[0], 12, dtype=nodes.dtype).index_add(0, target, message)
        count = torch.zeros(nodes.shape[0], dtype=nodes.dtype).index_add(0, target, torch.ones_like(target, dtype=nodes.dtype))
        return self.update(torch.cat([nodes, total / count.clamp(min=1)[:, None]], -1))


# The TorchScript exporter writes index_add without a reduction: its file computes something else than torch.
@architecture(GRAPH, ["y"], GRAPH_SIZES, exporters=("dynamo",))
def graph_convolution():
    return GraphConvolution()


class GraphAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project, self.score = nn.Linear(8, 8), nn.Linear(16, 1)

    def forward(self, nodes, edges):
        x = self.project(nodes)
        source, target = edges.unbind(0)
        e = F.leaky_relu(self.score(torch.cat([x[source], x[target]], -1)), 0.2).squeeze(-1)
        most = torch.full((nodes.shape[0],), -1e9, dtype=x.dtype).scatter_reduce(0, target, e, "amax")
        weight = torch.exp(e - most[target])
        total = torch.zeros(nodes.shape[0], dtype=x.dtype).scatter_add(0, target, weight)
        weight = weight / total[target]
        index = target[:, None].expand(-1, 8)
        return torch.zeros_like(x).scatter_add(0, index, weight[:, None] * x[source])


@architecture(GRAPH, ["y"], GRAPH_SIZES)
def graph_attention():
    return GraphAttention()


class PointNet(nn.Module):
    """Nearest neighbours of points, then features of the neighbourhood."""

    def __init__(self):
        super().__init__()
        self.edge, self.head = nn.Linear(6, 16), nn.Linear(16, 4)

    def forward(self, points):
        distance = ((points[:, :, None] - points[:, None]) ** 2).sum(-1)
        near = distance.topk(3, -1, largest=False).indices
        b, n, k = near.shape
        index = near.reshape(b, n * k, 1).expand(-1, -1, 3)
        neighbours = points.gather(1, index).reshape(b, n, k, 3)
        edge = torch.cat([neighbours - points[:, :, None], points[:, :, None].expand(-1, -1, k, -1)], -1)
        return self.head(F.relu(self.edge(edge)).amax(2)).amax(1)


@architecture({"points": floats("batch", "points", 3)}, ["logits"], sizes("batch points", (2, 9), (1, 3), (3, 40)))
def point_neighbours():
    return PointNet()


class DetectionHead(nn.Module):
    """The best boxes of all cells: TopK over anchors, gather, decode."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 16, 3, 2, 1), nn.SiLU())
        self.classes, self.boxes = nn.Conv2d(16, 2 * 5, 1), nn.Conv2d(16, 2 * 4, 1)

    def forward(self, image):
        x = self.stem(image)
        b, _, h, w = x.shape
        scores = self.classes(x).reshape(b, 2, 5, h, w).permute(0, 3, 4, 1, 2).reshape(b, -1, 5).sigmoid()
        boxes = self.boxes(x).reshape(b, 2, 4, h, w).permute(0, 3, 4, 1, 2).reshape(b, -1, 4)
        y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        centers = torch.stack([x, y], -1).reshape(-1, 1, 2).expand(-1, 2, 2).reshape(1, -1, 2).to(image.dtype)
        corners = torch.cat([centers + boxes[..., :2] - boxes[..., 2:].exp(), centers + boxes[..., :2] + boxes[..., 2:].exp()], -1)
        best, label = scores.max(-1)
        top, index = best.topk(6, -1)
        return top, label.gather(1, index), corners.gather(1, index[..., None].expand(-1, -1, 4)) * 4


@architecture({"image": floats("batch", 3, "height", "width")}, ["scores", "labels", "boxes"],
              sizes("batch height width", (2, 32, 24), (1, 12, 8), (3, 33, 29)))
def detection_head():
    return DetectionHead()


class Matching(nn.Module):
    """The cheap half of greedy suppression: pairwise overlaps of sorted boxes."""

    def forward(self, boxes, scores):
        order = scores.argsort(-1, descending=True)
        b = boxes[order]
        low, high = torch.maximum(b[:, None, :2], b[None, :, :2]), torch.minimum(b[:, None, 2:], b[None, :, 2:])
        inside = (high - low).clamp(min=0).prod(-1)
        area = (b[:, 2:] - b[:, :2]).abs().prod(-1)
        overlap = inside / (area[:, None] + area[None] - inside + 1e-6)
        later = torch.triu(overlap, 1).amax(0)
        return scores[order] * (1 - later), order


@architecture({"boxes": floats("boxes", 4), "scores": floats("boxes")}, ["kept", "order"],
              sizes("boxes", (7,), (1,), (40,)))
def box_overlaps():
    return Matching()


class Selection(nn.Module):
    """Positive elements, and the rows of the mask: sizes that only the data decides."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, x, kept):
        rows = x[kept == 1]
        return self.layer(rows), x[x > 0], (kept == 0).nonzero()


@architecture({"x": floats("batch", "time", 6), "kept": mask("batch", "time")}, ["y", "positive", "dropped"],
              sizes("batch time", (2, 9), (1, 1), (3, 20)))
def selection():
    return Selection()


class Recommender(nn.Module):
    """Embeddings of categories, their pairwise products, a network on top."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, 8) for n in (11, 5, 23))
        self.dense, self.top = nn.Linear(6, 8), nn.Sequential(nn.Linear(14, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, dense, categories):
        x = [F.relu(self.dense(dense))] + [t(categories[:, i]) for i, t in enumerate(self.tables)]
        z = torch.stack(x, 1)
        pairs = torch.bmm(z, z.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, -1)
        return self.top(torch.cat([x[0], pairs[:, i, j]], 1)).sigmoid()


@architecture({"dense": floats("batch", 6), "categories": integers(5, "batch", 3)}, ["probability"],
              sizes("batch", (4,), (1,), (17,)))
def recommender():
    return Recommender()


class DeformableSampling(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.offset = nn.Conv2d(3, 8, 1), nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, image):
        b, _, h, w = image.shape
        y = torch.linspace(-1, 1, 5, dtype=image.dtype)
        grid = torch.stack(torch.meshgrid(y, y, indexing="xy"), -1)[None].expand(b, -1, -1, -1)
        move = F.adaptive_avg_pool2d(self.offset(image), 1).permute(0, 2, 3, 1)
        return F.grid_sample(self.value(image), grid + 0.1 * move, mode="bilinear", padding_mode="border", align_corners=False)


@architecture({"image": floats("batch", 3, "height", "width")}, ["y"], sizes("batch height width", (2, 9, 12), (1, 1, 1), (3, 20, 7)))
def deformable_sampling():
    return DeformableSampling()
