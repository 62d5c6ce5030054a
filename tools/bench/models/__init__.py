"""The measured models as plain PyTorch modules with a fixed seed. Only MiniLM has its real weights.

    net = models.build("resnet50")
"""


def build(name):
    import torch
    from . import decoder, encoder, vision
    torch.manual_seed(1234)
    makers = {**encoder.MAKERS, **decoder.MAKERS, **vision.MAKERS}
    return makers[name]().eval().requires_grad_(False)
