"""Writes FOLDER/data.npz, what the three models are trained on and judged by, out of files that Python packages bring. Runs in the environment of scikit-learn.

    python data.py FOLDER
digits and labels: scikit-learn's handwritten digits, four times as large. bytes: the text of Python's own documentation.
photo_train and photo_test: scikit-learn's two photographs, from 0 to 1.
"""
import os
import pydoc_data.topics
import sys

import numpy as np
from sklearn.datasets import load_digits, load_sample_images

SCALE = 4


def digits(random):
    """Images of 32 by 32, in an order of chance: in their own those of one writer stand together."""
    pictures = load_digits()
    images = np.repeat(np.repeat(pictures.images / 16, SCALE, 1), SCALE, 2)
    order = random.permutation(len(images))
    return images[order, None].astype(np.float32), pictures.target[order].astype(np.int64)


def main(folder):
    images, labels = digits(np.random.default_rng(7))
    text = "\n".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics))
    train, test = (np.ascontiguousarray(photo.transpose(2, 0, 1) / 255).astype(np.float32) for photo in load_sample_images().images)
    np.savez(os.path.join(folder, "data.npz"), digits=images, labels=labels, bytes=np.frombuffer(text.encode(), np.uint8),
             photo_train=train, photo_test=test)


if __name__ == "__main__":
    main(*sys.argv[1:])
