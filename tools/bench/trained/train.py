"""Trains one of three small models and writes FOLDER/MODEL.onnx, FOLDER/MODEL.calls/000.npz, … to calibrate with, and FOLDER/MODEL.judged.npz:
calls nobody is calibrated with, and what is right there. Runs in the torch environment; some minutes of one processor, the same weights
each time on a processor of one make.

    python train.py FOLDER digits|bytes|photos
"""
import logging
import os
import shutil
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch.export import Dim

import networks

torch.cuda.is_current_stream_capturing = lambda: False  # of a driver that need not be there
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
CALLS = 32


class Digits:
    """Digits with noise; right is the label."""

    noise, draws = 0.5, 10

    def __init__(self, data):
        clean, self.labels = torch.from_numpy(data["digits"]), torch.from_numpy(data["labels"])
        self.trained, self.clean = 1200, clean
        self.images = self.noisy(clean, torch.Generator().manual_seed(13))
        self.steps, self.rate = 500, 3e-3

    def noisy(self, images, random):
        return images + self.noise * torch.randn(images.shape, generator=random)

    def loss(self, net, random):
        rows = torch.randint(self.trained, (64,), generator=random)
        return F.cross_entropy(net(self.noisy(self.clean[rows], random)), self.labels[rows])

    def example(self):
        return {"image": self.images[:2]}, ({0: Dim("batch", min=1, max=4096)},)

    def calls(self):
        return [{"image": self.images[i:i + 1]} for i in range(CALLS)]

    def judged(self):
        """Each image with noise of several draws: of one, two files differ by an image or two."""
        clean, labels, random = self.clean[self.trained:], self.labels[self.trained:], torch.Generator().manual_seed(17)
        return [({"image": image[None]}, label[None]) for _ in range(self.draws) for image, label in zip(self.noisy(clean, random), labels)]


class Bytes:
    """Texts; right is the next byte."""

    length = 128

    def __init__(self, data):
        self.text = torch.from_numpy(data["bytes"].astype(np.int64))
        self.trained = len(self.text) * 9 // 10
        self.steps, self.rate = 900, 1e-3

    def loss(self, net, random):
        starts = torch.randint(self.trained - self.length - 1, (16,), generator=random)
        rows = torch.stack([self.text[s:s + self.length + 1] for s in starts])
        return F.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

    def example(self):
        return ({"ids": self.text[:2 * 50].view(2, 50)}, ({0: Dim("batch", min=1, max=4096), 1: Dim("seq", min=2, max=256)},))

    def piece(self, start):
        return self.text[start:start + self.length].view(1, -1)

    def calls(self):
        return [{"ids": self.piece(i * (self.trained // CALLS))} for i in range(CALLS)]

    def judged(self):
        starts = range(self.trained, len(self.text) - self.length - 1, self.length)
        return [({"ids": self.piece(s)}, self.piece(s + 1)) for s in list(starts)[:128]]


class Photos:
    """Photographs at half of their resolution; right is the photograph."""

    def __init__(self, data):
        self.train, self.test = torch.from_numpy(data["photo_train"]), torch.from_numpy(data["photo_test"])
        self.steps, self.rate, self.side = 500, 1e-3, 64

    @staticmethod
    def half(photo):
        return F.avg_pool2d(photo, 2)

    def loss(self, net, random):
        rows = []
        for _ in range(8):
            y, x = (int(torch.randint(size - self.side, (1,), generator=random)) for size in self.train.shape[1:])
            rows.append(self.train[:, y:y + self.side, x:x + self.side])
        photos = torch.stack(rows)
        return F.l1_loss(net(self.half(photos)), photos)

    def example(self):
        sizes = {2: Dim("height", min=2, max=4096), 3: Dim("width", min=2, max=4096)}
        return {"image": torch.rand(2, 3, 24, 40)}, ({0: Dim("batch", min=1, max=4096), **sizes},)

    def pieces(self, photo, side=128):
        return [photo[None, :, y:y + side, x:x + side] for y in range(0, photo.shape[1] - side + 1, side)
                for x in range(0, photo.shape[2] - side + 1, side)]

    def calls(self):
        return [{"image": self.half(piece)} for piece in self.pieces(self.train, 96)[:CALLS]]

    def judged(self):
        return [({"image": self.half(piece)}, piece) for piece in self.pieces(self.test)]


TASKS = {"digits": Digits, "bytes": Bytes, "photos": Photos}


def trained(name, task):
    torch.manual_seed(11)
    net, random = networks.NETWORKS[name](), torch.Generator().manual_seed(12)
    rates = torch.optim.AdamW(net.parameters(), task.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(rates, task.rate, task.steps)
    for step in range(task.steps):
        rates.zero_grad()
        loss = task.loss(net, random)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        rates.step()
        schedule.step()
    net = networks.folded(net.eval()).requires_grad_(False)
    networks.rescale(net)
    return net, float(loss)


def write(folder, name, task, net):
    feed, shapes = task.example()
    program = torch.onnx.export(net, tuple(feed.values()), dynamo=True, opset_version=18, dynamic_shapes=shapes, input_names=list(feed),
                                output_names=["answer"], verbose=False, external_data=False)
    program.save(os.path.join(folder, name + ".onnx"))
    calls = os.path.join(folder, name + ".calls")
    shutil.rmtree(calls, ignore_errors=True)
    os.makedirs(calls)
    for i, feed in enumerate(task.calls()):
        np.savez(os.path.join(calls, f"{i:03}.npz"), **{key: value.contiguous().numpy() for key, value in feed.items()})
    arrays = {}
    for i, (feed, right) in enumerate(task.judged()):
        arrays.update({f"{i:04}/{key}": value.contiguous().numpy() for key, value in feed.items()})
        arrays[f"{i:04}/right"] = right.contiguous().numpy()
    np.savez(os.path.join(folder, name + ".judged.npz"), **arrays)


def main(folder, name):
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    begin = time.process_time()
    with np.load(os.path.join(folder, "data.npz")) as file:
        task = TASKS[name]({key: file[key] for key in file.files})
    net, loss = trained(name, task)
    write(folder, name, task, net)
    print(f"{name}: loss {loss:.4f} after {task.steps} steps, {time.process_time() - begin:.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
